package view

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Reveal returns text for a person who decides by it: nothing of it is gone. What could
// steer a terminal, what shows nothing and what is no UTF-8 is spelled out, as in
// \x1b; line ends and tabs stay. Cleaning the result changes nothing.
func Reveal(text string) string {
	if plain(text) {
		return text
	}
	var b strings.Builder
	b.Grow(len(text) + 16)
	before := '\n'
	for i := 0; i < len(text); {
		r, size := utf8.DecodeRuneInString(text[i:])
		switch {
		case r == utf8.RuneError && size == 1:
			fmt.Fprintf(&b, `\x%02x`, text[i])
		case r == '\n' || r == '\t' || shows(r, before):
			b.WriteString(text[i : i+size])
		case r == '\r':
			b.WriteString(`\r`)
		case r < 0x80:
			fmt.Fprintf(&b, `\x%02x`, r)
		case r < 0x10000:
			fmt.Fprintf(&b, `\u%04x`, r)
		default:
			fmt.Fprintf(&b, `\U%08x`, r)
		}
		before = r
		i += size
	}
	return b.String()
}

// RevealLine is Reveal for one line: line ends and tabs become spaces.
func RevealLine(text string) string { return oneLine(Reveal(text)) }

func oneLine(text string) string {
	if !strings.ContainsAny(text, "\n\t") {
		return text
	}
	return strings.NewReplacer("\n", " ", "\t", " ").Replace(text)
}

// shows tells whether r can be seen behind another character.
func shows(r, before rune) bool {
	switch {
	case r == ' ' || r == '\u3000':
		return true
	case Steers(r) || blank(r):
		return false
	case r == '\u200c' || r == '\u200d' || r >= 0xfe00 && r <= 0xfe0f: // parts of a sign, as in a family
		return before >= 0x80 && (unicode.IsPrint(before) && !blank(before))
	case unicode.In(r, unicode.Mn, unicode.Me): // stands on the one before
		return before != '\n' && before != '\t' && !Steers(before)
	}
	return unicode.IsPrint(r)
}

// blank tells whether a character that Unicode calls printable shows nothing.
func blank(r rune) bool {
	switch r {
	case 0x34f, 0x115f, 0x1160, 0x17b4, 0x17b5, 0x2800, 0x3164, 0xffa0: // fillers
		return true
	}
	return r >= 0x180b && r <= 0x180f || r >= 0xe0100 && r <= 0xe01ef // other selectors
}
