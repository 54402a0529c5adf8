package command

import (
	"strconv"
	"strings"
	"unicode/utf8"
)

var ansiLetters = map[byte]byte{
	'a': 7, 'b': 8, 'e': 27, 'E': 27, 'f': 12, 'n': 10, 'r': 13, 't': 9, 'v': 11,
	'\\': '\\', '\'': '\'', '"': '"', '?': '?',
}

// ansiC decodes the escapes of $'…'. false: shells differ about it.
func ansiC(s string) (string, bool) {
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		if s[i] != '\\' || i+1 == len(s) {
			b.WriteByte(s[i])
			continue
		}
		i++
		if c, ok := ansiLetters[s[i]]; ok {
			b.WriteByte(c)
			continue
		}
		base, most, at := 16, 0, i+1
		switch c := s[i]; {
		case c >= '0' && c <= '7':
			base, most, at = 8, 3, i
		case c == 'x':
			most = 2
		case c == 'u':
			most = 4
		case c == 'U':
			most = 8
		default: // control characters and what is no escape
			return b.String(), false
		}
		end := at
		for end < len(s) && end-at < most && isDigit(s[end], base) {
			end++
		}
		n, err := strconv.ParseUint(s[at:end], base, 32)
		if err != nil || n == 0 || n > 127 && most < 4 {
			return b.String(), false // a zero ends the word; other bytes are a matter of the locale
		}
		if n > utf8.MaxRune {
			return b.String(), false
		}
		b.WriteRune(rune(n))
		i = end - 1
	}
	return b.String(), true
}

func isDigit(c byte, base int) bool {
	switch {
	case c >= '0' && c <= '7':
		return true
	case base == 8:
		return false
	}
	return c >= '8' && c <= '9' || c >= 'a' && c <= 'f' || c >= 'A' && c <= 'F'
}
