package surfaces

import (
	"unicode"
	"unicode/utf8"
)

// Cluster returns the length in bytes of what a person takes for the first
// character of s: a rune with its marks, a joined emoji, a flag, a CRLF. It is what a
// caret steps over; what it is on screen is the screen's to say.
func Cluster(s string) int {
	r, n := utf8.DecodeRuneInString(s)
	if n == 0 {
		return 0
	}
	if r == '\r' && len(s) > 1 && s[1] == '\n' {
		return 2
	}
	if r < 0x20 {
		return n
	}
	flag := regional(r)
	for n < len(s) {
		next, size := utf8.DecodeRuneInString(s[n:])
		switch {
		case flag && regional(next):
			flag = false
		case extends(next):
		case r == joiner && unicode.In(next, unicode.So, unicode.Sk):
		default:
			return n
		}
		r = next
		n += size
	}
	return n
}

const joiner = '\u200d'

func regional(r rune) bool { return r >= 0x1f1e6 && r <= 0x1f1ff }

// extends tells whether r belongs to the character before it.
func extends(r rune) bool {
	return r == joiner || unicode.In(r, unicode.Mn, unicode.Me, unicode.Mc, unicode.Variation_Selector) || r >= 0x1f3fb && r <= 0x1f3ff
}

// before returns where the cluster that ends at i begins.
func before(s string, i int) int {
	// Clusters are found from the left only; a line is short enough.
	start := 0
	for j := i - 1; j >= 0; j-- {
		if s[j] == '\n' {
			start = j + 1
			break
		}
	}
	if start == i {
		return max(i-1, 0)
	}
	at := start
	for at < i {
		n := at + Cluster(s[at:])
		if n >= i {
			return at
		}
		at = n
	}
	return at
}
