package trust

import (
	"bytes"
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/aymanbagabas/go-udiff"
)

// Limits of a diff: a file larger than diffBytes on either side is only named,
// and a diff longer than diffLines is cut, saying so.
const (
	diffBytes = 1 << 20
	diffLines = 2000
)

// Diff of two bundles as a unified diff, file by file, sorted by name; empty
// when nothing changed. Contents are not sanitised.
func Diff(old, next Bundle) string {
	both := Bundle{}
	for name := range old {
		both[name] = nil
	}
	for name := range next {
		both[name] = nil
	}
	var out strings.Builder
	for _, name := range both.Names() {
		before, was := old[name]
		after, is := next[name]
		if was == is && bytes.Equal(before, after) {
			continue
		}
		out.WriteString(diffFile(name, before, after, was, is))
	}
	return cutLines(out.String(), diffLines)
}

func diffFile(name string, before, after []byte, was, is bool) string {
	name = Sanitize(name) // a line break in a name would forge lines of the diff
	from, to := "approved/"+name, "now/"+name
	if !was {
		from = "(new file)"
	}
	if !is {
		to = "(removed)"
	}
	if utf8.Valid(before) && utf8.Valid(after) && len(before) <= diffBytes && len(after) <= diffBytes {
		if body := udiff.Unified(from, to, string(before), string(after)); body != "" {
			return body
		}
	}
	return fmt.Sprintf("--- %s\n+++ %s\n%d bytes became %d bytes, not shown as text\n", from, to, len(before), len(after))
}

func cutLines(s string, limit int) string {
	count, end := 0, 0
	for line := range strings.Lines(s) {
		if count < limit {
			end += len(line)
		}
		count++
	}
	if count <= limit {
		return s
	}
	return fmt.Sprintf("%s… %d more lines; read the files before you trust them\n", s[:end], count-limit)
}
