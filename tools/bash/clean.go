package bash

import (
	"fmt"
	"strings"
	"unicode/utf8"
)

// clean makes of output what a terminal would be left with, as plain text: escape
// sequences are gone, of a line that was written over again and again its last
// state stays, backspaces took what was before them, and bytes that are no text are
// \xNN (odd). Clean text comes back as it is.
func clean(s string) (text string, odd bool) {
	if isPlain(s) {
		return s, false
	}
	var b strings.Builder
	b.Grow(len(s))
	for line := range strings.Lines(s) {
		body, end := strings.CutSuffix(line, "\n")
		odd = cleanLine(&b, body) || odd
		if end {
			b.WriteByte('\n')
		}
	}
	return b.String(), odd
}

// isPlain tells whether s is valid text without control bytes.
func isPlain(s string) bool {
	for i := 0; i < len(s); i++ {
		if c := s[i]; c < 0x20 && c != '\n' && c != '\t' || c == 0x7f {
			return false
		}
	}
	return utf8.ValidString(s)
}

// cleanLine adds a line without its line break.
func cleanLine(b *strings.Builder, line string) (odd bool) {
	line = lastState(withoutSequences(line))
	for len(line) > 0 {
		r, n := utf8.DecodeRuneInString(line)
		switch {
		case r == utf8.RuneError && n == 1, r < 0x20 && r != '\t' && r != '\a', r == 0x7f:
			fmt.Fprintf(b, `\x%02X`, line[0])
			odd = true
		case r != '\a':
			b.WriteString(line[:n])
		}
		line = line[n:]
	}
	return odd
}

// lastState is the part of a line after its last carriage return that has text in
// it, with backspaces done.
func lastState(line string) string {
	if strings.IndexByte(line, '\r') >= 0 {
		line = strings.TrimRight(line, "\r")
		line = line[strings.LastIndexByte(line, '\r')+1:]
	}
	if strings.IndexByte(line, '\b') < 0 {
		return line
	}
	kept := make([]byte, 0, len(line))
	for i := 0; i < len(line); i++ {
		if line[i] != '\b' {
			kept = append(kept, line[i])
			continue
		}
		_, n := utf8.DecodeLastRune(kept)
		kept = kept[:len(kept)-n]
	}
	return string(kept)
}

// withoutSequences drops escape sequences. One that does not end on its line loses
// its introducer alone, so that it cannot swallow text.
func withoutSequences(line string) string {
	at := strings.IndexByte(line, 0x1b)
	if at < 0 {
		return line
	}
	var b strings.Builder
	b.Grow(len(line))
	for at >= 0 {
		b.WriteString(line[:at])
		line = line[at:]
		line = line[sequence(line):]
		at = strings.IndexByte(line, 0x1b)
	}
	b.WriteString(line)
	return b.String()
}

// sequence returns the length of the escape sequence that s, which starts with ESC,
// begins with; at least 1.
func sequence(s string) int {
	if len(s) == 1 {
		return 1
	}
	switch s[1] {
	case '[': // CSI: parameters, intermediates, a final byte
		for i := 2; i < len(s); i++ {
			if s[i] >= 0x40 && s[i] <= 0x7e {
				return i + 1
			}
			if s[i] < 0x20 || s[i] > 0x7e {
				return i
			}
		}
		return len(s)
	case ']', 'P', 'X', '^', '_': // strings, up to BEL or ST
		for i := 2; i < len(s); i++ {
			if s[i] == '\a' {
				return i + 1
			}
			if s[i] == 0x1b {
				if i+1 < len(s) && s[i+1] == '\\' {
					return i + 2
				}
				break
			}
		}
		return 2
	}
	i := 1 // intermediates, then one final byte
	for i < len(s) && s[i] >= 0x20 && s[i] <= 0x2f {
		i++
	}
	if i < len(s) && s[i] >= 0x30 && s[i] <= 0x7e {
		i++
	}
	return i
}

// oddBytes counts the bytes of s that no text has.
func oddBytes(s string) int {
	odd := 0
	for i := 0; i < len(s); {
		r, n := utf8.DecodeRuneInString(s[i:])
		switch {
		case r == utf8.RuneError && n == 1:
			odd++
		case r < 0x20 && !strings.ContainsRune("\n\t\r\a\b\f\v\x1b", r):
			odd++
		}
		i += n
	}
	return odd
}
