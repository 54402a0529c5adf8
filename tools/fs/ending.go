package fs

import (
	"bytes"
	"strings"
)

const byteOrderMark = "\uFEFF"

// manner is how a text file is written: what a new content of it keeps.
type manner struct {
	mark bool // a byte order mark stands before the text
	crlf bool // every line ends with CRLF
}

// mannerOf reads it off the start of a file and its line breaks.
func mannerOf(head []byte, breaks, crlf int) manner {
	if binary(head) != "" {
		return manner{}
	}
	return manner{mark: bytes.HasPrefix(head, []byte(byteOrderMark)), crlf: breaks > 0 && breaks == crlf}
}

// mannerOfText is that of a content as a whole.
func mannerOfText(text string) manner {
	return mannerOf([]byte(text[:min(len(text), sniffed)]), strings.Count(text, "\n"), strings.Count(text, "\r\n"))
}

// of is a new content in the manner of the old one. A content that has CRLF
// somewhere says itself how its lines end.
func (m manner) of(content string) string {
	if m.crlf && !strings.Contains(content, "\r\n") {
		content = strings.ReplaceAll(content, "\n", "\r\n")
	}
	if m.mark && content != "" && !strings.HasPrefix(content, byteOrderMark) {
		content = byteOrderMark + content
	}
	return content
}

// note tells what of a content was not as it was given.
func (m manner) note(given, written string) string {
	if given == written {
		return ""
	}
	var kept []string
	if m.mark && !strings.HasPrefix(given, byteOrderMark) {
		kept = append(kept, "its byte order mark")
	}
	if m.crlf && strings.Count(given, "\n") > strings.Count(given, "\r\n") {
		kept = append(kept, "its line ends, CRLF")
	}
	return "[the file keeps " + strings.Join(kept, " and ") + "]"
}
