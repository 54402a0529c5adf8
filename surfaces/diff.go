package surfaces

import (
	"strconv"
	"strings"

	"github.com/aymanbagabas/go-udiff"

	"starling/bus/view"
)

// DiffLine is one line of a unified diff.
type DiffLine struct {
	// Sign is '+', '-' or ' ' for a line of the text, '@' for the head of a part and
	// '=' for the name of a file.
	Sign byte
	// Old and New are the line's numbers, from 1; 0 where it is not in that text.
	Old, New int
	Text     string // revealed, without sign and line end
}

// Style of the line.
func (l DiffLine) Style() Style {
	switch l.Sign {
	case '+':
		return Good
	case '-':
		return Bad
	case '@':
		return Dim
	case '=':
		return Bold
	}
	return 0
}

// diffContext is how many unchanged lines stand around a change.
const diffContext = 3

// DiffLines returns the lines of a diff widget: those of its patch, else what turns
// Before into After, without the names of files.
func (n *Node) DiffLines() []DiffLine {
	if n.Patch != "" {
		return PatchLines(n.Patch)
	}
	return DiffTexts(n.Before, n.After)
}

// DiffTexts returns what turns one text into another, with three lines around each
// change; nothing when they are equal.
func DiffTexts(before, after string) []DiffLine {
	before, after = view.Reveal(before), view.Reveal(after)
	edits := udiff.Lines(before, after)
	patch, err := udiff.ToUnified("a", "b", before, edits, diffContext)
	if err != nil { // edits of the library itself always fit
		return nil
	}
	lines := PatchLines(patch)
	for len(lines) > 0 && lines[0].Sign == '=' {
		lines = lines[1:]
	}
	return lines
}

// noLineEnd is what stands in a diff below a last line without a line end.
const noLineEnd = `\ No newline at end of file`

// PatchLines reads a unified diff; nothing of its lines is hidden, but that a text ends
// without a line end is said once. What is no part of one, such as a commit message,
// comes as names of files do.
func PatchLines(patch string) []DiffLine {
	if patch == "" {
		return nil
	}
	var out []DiffLine
	// left are the lines the part at hand still has, of each text.
	oldAt, newAt, oldLeft, newLeft := 0, 0, 0, 0
	marked := false
	for text := range strings.SplitSeq(strings.TrimSuffix(view.Reveal(patch), "\n"), "\n") {
		l := DiffLine{Sign: '=', Text: text}
		sign := byte(' ') // some tools drop the space of an empty line
		if text != "" {
			sign = text[0]
		}
		switch {
		case text == noLineEnd && marked:
			continue
		case sign == '\\':
			l.Sign, marked = '@', marked || text == noLineEnd
		case sign == '+' && newLeft > 0:
			l = DiffLine{Sign: '+', New: newAt, Text: text[1:]}
			newAt, newLeft = newAt+1, newLeft-1
		case sign == '-' && oldLeft > 0:
			l = DiffLine{Sign: '-', Old: oldAt, Text: text[1:]}
			oldAt, oldLeft = oldAt+1, oldLeft-1
		case sign == ' ' && oldLeft > 0 && newLeft > 0:
			l = DiffLine{Sign: ' ', Old: oldAt, New: newAt, Text: strings.TrimPrefix(text, " ")}
			oldAt, oldLeft, newAt, newLeft = oldAt+1, oldLeft-1, newAt+1, newLeft-1
		default:
			if o, on, n, nn, ok := partHead(text); ok {
				l.Sign = '@'
				oldAt, oldLeft, newAt, newLeft = o, on, n, nn
			} else {
				oldLeft, newLeft = 0, 0
			}
		}
		out = append(out, l)
	}
	return out
}

// partHead reads "@@ -12,3 +12,4 @@ …".
func partHead(line string) (oldAt, oldCount, newAt, newCount int, ok bool) {
	rest, found := strings.CutPrefix(line, "@@ -")
	if !found {
		return 0, 0, 0, 0, false
	}
	before, rest, found := strings.Cut(rest, " +")
	after, _, end := strings.Cut(rest, " @@")
	if !found || !end {
		return 0, 0, 0, 0, false
	}
	oldAt, oldCount, ok = span(before)
	if !ok {
		return 0, 0, 0, 0, false
	}
	newAt, newCount, ok = span(after)
	return oldAt, oldCount, newAt, newCount, ok
}

// span reads "12,3", or "12" for one line.
func span(s string) (at, count int, ok bool) {
	first, second, two := strings.Cut(s, ",")
	at, err := strconv.Atoi(first)
	if err != nil || at < 0 {
		return 0, 0, false
	}
	if !two {
		return at, 1, true
	}
	count, err = strconv.Atoi(second)
	return at, count, err == nil && count >= 0
}
