package match

import (
	"bytes"
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/aymanbagabas/go-udiff"
)

// splices replaces the text that stands at n of a projection. Where it differs
// from the original, only the characters that old and new text do not share are
// replaced: what the model could not see it did not ask to change.
func (s *search) splices(e Edit, in, old *projection, n int) []Splice {
	from, to := in.start(n), in.end(n+len(old.text))
	if string(s.body[from:to]) == e.Old {
		return []Splice{s.splice(from, to, e.New, 0, in, n)}
	}
	var out []Splice
	for _, d := range udiff.Lines(e.Old, e.New) {
		start, end, text := d.Start, d.End, d.New
		prefix := commonPrefix(e.Old[start:end], text)
		for prefix > 0 && !in.whole(n+old.projected(start+prefix)) {
			prefix--
		}
		start, text = start+prefix, text[prefix:]
		suffix := commonSuffix(e.Old[start:end], text)
		for suffix > 0 && !in.whole(n+old.projected(end-suffix)) {
			suffix--
		}
		end, text = end-suffix, text[:len(text)-suffix]
		a, b := n+old.projected(start), n+old.projected(end)
		switch {
		case b > a:
			out = append(out, s.splice(in.start(a), in.end(b), text, in.kinds(a, b), in, a))
		case a > n:
			out = append(out, s.splice(in.end(a), in.end(a), text, 0, in, a))
		default:
			out = append(out, s.splice(in.start(a), in.start(a), text, 0, in, a))
		}
	}
	return out
}

// splice translates the line ends of a new text, and \xNN where it stands for a
// byte that is no text and is among the replaced ones.
func (s *search) splice(from, to int, text string, k kind, in *projection, n int) Splice {
	if k&odd != 0 {
		for i := in.last(n); i < len(in.tokens) && (i < 0 || in.tokens[i].orig < to); i++ {
			if i < 0 || in.tokens[i].kind != odd || in.tokens[i].orig < from {
				continue
			}
			c := s.body[in.tokens[i].orig]
			text = strings.ReplaceAll(text, fmt.Sprintf(`\x%02X`, c), string([]byte{c}))
		}
	}
	if strings.Contains(text, "\n") && !strings.Contains(text, "\r") {
		if end := s.lineEnd(from, to); end != "\n" {
			text = strings.ReplaceAll(text, "\n", end)
		}
	}
	if s.skip > 0 && from == 0 {
		text = strings.TrimPrefix(text, bom)
	}
	return Splice{From: s.skip + from, To: s.skip + to, New: text}
}

// lineEnd is how lines end where the bytes from to to are: inside of them, behind
// them, before them.
func (s *search) lineEnd(from, to int) string {
	at := bytes.IndexByte(s.body[from:to], '\n')
	if at >= 0 {
		at += from
	} else if at = bytes.IndexByte(s.body[to:], '\n'); at >= 0 {
		at += to
	} else {
		at = bytes.LastIndexByte(s.body[:from], '\n')
	}
	if at > 0 && s.body[at-1] == '\r' {
		return "\r\n"
	}
	return "\n"
}

// commonPrefix is how many bytes, in whole characters, both texts start with.
func commonPrefix(a, b string) int {
	n := 0
	for n < len(a) && n < len(b) && a[n] == b[n] {
		n++
	}
	for n > 0 && !(boundary(a, n) && boundary(b, n)) {
		n--
	}
	return n
}

func commonSuffix(a, b string) int {
	n := 0
	for n < len(a) && n < len(b) && a[len(a)-1-n] == b[len(b)-1-n] {
		n++
	}
	for n > 0 && !(boundary(a, len(a)-n) && boundary(b, len(b)-n)) {
		n--
	}
	return n
}

// boundary tells that a cut at n parts no character and no \r\n.
func boundary(s string, n int) bool {
	if n == 0 || n == len(s) {
		return true
	}
	return utf8.RuneStart(s[n]) && !(s[n-1] == '\r' && s[n] == '\n')
}
