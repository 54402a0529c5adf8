package trust

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Sanitize makes foreign text safe to print on one line: what a terminal would
// act on, what turns the reading direction and what cannot be seen is written
// as an escape such as \x1b or \u202e, so that it shows instead of working.
// Line breaks and tabs are escaped too.
func Sanitize(s string) string { return sanitize(s, false) }

func sanitize(s string, keepTabs bool) string {
	var out strings.Builder
	for i := 0; i < len(s); {
		r, wide := utf8.DecodeRuneInString(s[i:])
		switch {
		case r == utf8.RuneError && wide == 1:
			fmt.Fprintf(&out, `\x%02x`, s[i])
		case r == '\n':
			out.WriteString(`\n`)
		case r == '\r':
			out.WriteString(`\r`)
		case r == '\t' && keepTabs:
			out.WriteByte('\t')
		case r == '\t':
			out.WriteString(`\t`)
		case unicode.IsPrint(r) && !blank(r):
			out.WriteString(s[i : i+wide])
		case r < 0x80:
			fmt.Fprintf(&out, `\x%02x`, r)
		case r < 0x10000:
			fmt.Fprintf(&out, `\u%04x`, r)
		default:
			fmt.Fprintf(&out, `\U%08x`, r)
		}
		i += wide
	}
	return out.String()
}

// blank tells whether a character that Unicode calls printable shows nothing.
func blank(r rune) bool {
	switch {
	case r >= 0xfe00 && r <= 0xfe0f, r >= 0xe0100 && r <= 0xe01ef: // variation selectors
		return true
	case r >= 0x180b && r <= 0x180f, r == 0x17b4, r == 0x17b5, r == 0x034f:
		return true
	}
	return r == 0x115f || r == 0x1160 || r == 0x3164 || r == 0xffa0 || r == 0x2800 // fillers
}

// clip shortens text to at most limit characters and says how much is missing.
func clip(s string, limit int) string {
	if utf8.RuneCountInString(s) <= limit {
		return s
	}
	runes := []rune(s)
	return fmt.Sprintf("%s… (%d more characters)", string(runes[:limit]), len(runes)-limit)
}
