package ignore

import "strings"

// named are the classes of the form [:name:].
var named = map[string]func(c byte) bool{
	"alnum":  func(c byte) bool { return letter(c) || digit(c) },
	"alpha":  letter,
	"blank":  func(c byte) bool { return c == ' ' || c == '\t' },
	"cntrl":  func(c byte) bool { return c < ' ' || c == 0x7f },
	"digit":  digit,
	"graph":  func(c byte) bool { return c > ' ' && c < 0x7f },
	"lower":  func(c byte) bool { return c >= 'a' && c <= 'z' },
	"print":  func(c byte) bool { return c >= ' ' && c < 0x7f },
	"punct":  func(c byte) bool { return c > ' ' && c < 0x7f && !letter(c) && !digit(c) },
	"space":  func(c byte) bool { return c == ' ' || c == '\t' || c == '\n' || c == '\r' },
	"upper":  func(c byte) bool { return c >= 'A' && c <= 'Z' },
	"xdigit": func(c byte) bool { return digit(c) || c|0x20 >= 'a' && c|0x20 <= 'f' },
}

func digit(c byte) bool  { return c >= '0' && c <= '9' }
func letter(c byte) bool { return c|0x20 >= 'a' && c|0x20 <= 'z' }

// compileClass reads a bracket expression at the start of text and returns its
// size in bytes, 0 for one without an end or with a class nobody knows.
func compileClass(text string) (*[256]bool, int) {
	var set [256]bool
	i := 1
	negated := i < len(text) && (text[i] == '!' || text[i] == '^')
	if negated {
		i++
	}
	last := -1 // what a range would start with
	for first := true; ; first = false {
		if i >= len(text) {
			return nil, 0
		}
		c := text[i]
		switch {
		case c == ']' && !first:
			if negated {
				for b := range set {
					set[b] = !set[b]
				}
			}
			set['/'] = false
			return &set, i + 1
		case c == '\\':
			if i++; i >= len(text) {
				return nil, 0
			}
			set[text[i]], last = true, int(text[i])
			i++
		case c == '-' && last >= 0 && i+1 < len(text) && text[i+1] != ']':
			if i++; text[i] == '\\' {
				if i++; i >= len(text) {
					return nil, 0
				}
			}
			for b := last; b <= int(text[i]); b++ {
				set[b] = true
			}
			last = -1
			i++
		case c == '[' && strings.HasPrefix(text[i:], "[:"):
			end := strings.IndexByte(text[i+2:], ']')
			if end < 0 {
				return nil, 0
			}
			name, closed := strings.CutSuffix(text[i+2:i+2+end], ":")
			if !closed {
				set['['], last = true, '['
				i++
				continue
			}
			in, known := named[name]
			if !known {
				return nil, 0
			}
			for b := range set {
				set[b] = set[b] || in(byte(b))
			}
			last = -1
			i += 2 + end + 1
		default:
			set[c], last = true, int(c)
			i++
		}
	}
}
