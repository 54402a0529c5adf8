package view

import (
	"strings"
	"unicode/utf8"
)

// Clean returns text that cannot steer a terminal: escape sequences, control
// bytes (but line ends and tabs), C1 controls, bidi overrides and bytes that are
// no UTF-8 are gone, and the payload of a control string up to its end or the end of
// its line. Join chunks before cleaning: a sequence cut in two passes. Where a person
// decides by a text, Reveal it instead.
func Clean(text string) string {
	return filter(text, func(r rune) bool { return r == '\n' || r == '\t' })
}

// CleanLine is Clean for one line: line ends and tabs become spaces.
func CleanLine(text string) string {
	return oneLine(Clean(text))
}

func filter(text string, keep func(rune) bool) string {
	if plain(text) {
		return text
	}
	var b strings.Builder
	b.Grow(len(text))
	for i := 0; i < len(text); {
		if n := sequence(text[i:]); n > 0 {
			i += n
			continue
		}
		r, size := utf8.DecodeRuneInString(text[i:])
		if bad := r == utf8.RuneError && size == 1; !bad && (keep(r) || !Steers(r)) {
			b.WriteString(text[i : i+size])
		}
		i += size
	}
	return b.String()
}

// plain is the fast path: printable ASCII, line ends and tabs.
func plain(s string) bool {
	for i := 0; i < len(s); i++ {
		if c := s[i]; c >= 0x7f || c < 0x20 && c != '\n' && c != '\t' {
			return false
		}
	}
	return true
}

// Steers tells whether a terminal may take r for more than text: control
// characters (line ends and tabs are among them), direction marks, line
// separators and invisible tags.
func Steers(r rune) bool {
	switch {
	case r < 0x20, r >= 0x7f && r < 0xa0: // C0, DEL, C1
		return true
	case r >= 0x202a && r <= 0x202e, r >= 0x2066 && r <= 0x2069, r == 0x200e, r == 0x200f, r == 0x061c: // bidi
		return true
	case r == 0x2028, r == 0x2029, r >= 0xe0000 && r <= 0xe007f: // line separators, tags
		return true
	}
	return false
}

// sequence returns the length of the escape sequence s begins with, 0 for none.
func sequence(s string) int {
	body := ""
	switch {
	case strings.HasPrefix(s, "\x1b"):
		if len(s) == 1 {
			return 1
		}
		body = s[1:]
	case strings.HasPrefix(s, "\u009b"): // CSI as C1
		return 2 + csi(s[2:])
	case len(s) > 1 && s[0] == 0xc2 && strings.IndexByte("\x90\x98\x9d\x9e\x9f", s[1]) >= 0: // DCS, SOS, OSC, PM, APC as C1
		return 2 + controlString(s[2:])
	default:
		return 0
	}
	switch body[0] {
	case '[':
		return 2 + csi(body[1:])
	case ']', 'P', 'X', '^', '_': // OSC, DCS, SOS, PM, APC
		return 2 + controlString(body[1:])
	}
	// Any other: intermediates, then one final byte.
	for i := 0; i < len(body); i++ {
		if body[i] >= 0x30 && body[i] <= 0x7e {
			return 1 + i + 1
		}
		if body[i] < 0x20 || body[i] > 0x7e {
			return 1 + i
		}
	}
	return len(s)
}

// controlString returns the length of a string up to BEL or ST, which may be a C1; one
// that is not ended on its line eats nothing of the next.
func controlString(s string) int {
	for i := 0; i < len(s); i++ {
		switch {
		case s[i] == '\n':
			return i
		case s[i] == '\a':
			return i + 1
		case strings.HasPrefix(s[i:], "\x1b\\"), strings.HasPrefix(s[i:], "\u009c"):
			return i + 2
		}
	}
	return len(s)
}

// csi returns the length of parameters, intermediates and the final byte.
func csi(s string) int {
	for i := 0; i < len(s); i++ {
		if s[i] >= 0x40 && s[i] <= 0x7e {
			return i + 1
		}
		if s[i] < 0x20 || s[i] > 0x7e {
			return i
		}
	}
	return len(s)
}
