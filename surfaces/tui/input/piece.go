package input

import (
	"fmt"
	"slices"
	"strings"

	"github.com/rivo/uniseg"

	"starling/bus/view"
	"starling/surfaces/tui/kit"
)

// foldMark stands in a text for a fold. No other text can hold it: cleaning takes
// control characters away.
const foldMark = '\x01'

// fold is shown as one character, [label], and is more than it shows.
type fold struct {
	label string
	// text is what it stands for: a long paste, or the name of an attached file.
	text string
	// file is the path of an attached file.
	file string
}

func fileFold(path string) fold { return fold{label: "file " + path, text: Mention(path), file: path} }

func (f fold) String() string { return "[" + f.label + "]" }

// piece is text with its folds, one for each mark, in order. It is a value: nothing
// of it is changed in place, so undo can keep one.
type piece struct {
	text  string
	folds []fold
}

func plainPiece(s string) piece { return piece{text: s} }

func foldPiece(f fold) piece { return piece{text: string(foldMark), folds: []fold{f}} }

func marks(s string) int { return strings.Count(s, string(foldMark)) }

// place is where the i-th mark of a text stands.
func place(s string, i int) int {
	for at := range len(s) {
		if s[at] != foldMark {
			continue
		}
		if i == 0 {
			return at
		}
		i--
	}
	return len(s)
}

// cut returns the bytes from up to to, with their folds.
func (p piece) cut(from, to int) piece {
	if len(p.folds) == 0 {
		return piece{text: p.text[from:to]}
	}
	first := marks(p.text[:from])
	n := marks(p.text[from:to])
	return piece{text: p.text[from:to], folds: p.folds[first : first+n : first+n]}
}

func (p piece) join(q piece) piece {
	switch {
	case p.text == "":
		return q
	case q.text == "":
		return p
	}
	return piece{text: p.text + q.text, folds: slices.Concat(p.folds, q.folds)}
}

// replace puts q in the place of the bytes from up to to.
func (p piece) replace(from, to int, q piece) piece {
	return p.cut(0, from).join(q).join(p.cut(to, len(p.text)))
}

// whole is the text with its folds unfolded.
func (p piece) whole() string {
	if len(p.folds) == 0 {
		return p.text
	}
	var b strings.Builder
	i := 0
	for _, r := range p.text {
		if r == foldMark {
			b.WriteString(p.folds[i].text)
			i++
			continue
		}
		b.WriteRune(r)
	}
	return b.String()
}

// files are the paths that are attached, in order.
func (p piece) files() []string {
	var out []string
	for _, f := range p.folds {
		if f.file != "" {
			out = append(out, f.file)
		}
	}
	return out
}

// foldLines and foldBytes are what a paste must exceed to be folded: less than that
// is better read than hidden, and fits the input of a small terminal.
const (
	foldLines = 8
	foldBytes = 800
)

// pasted returns a paste as it stands in the text: its line ends made one kind,
// cleaned, and folded when it is long.
func pasted(s string) piece {
	s = tidy(s)
	lines := strings.Count(s, "\n")
	if !strings.HasSuffix(s, "\n") {
		lines++
	}
	switch {
	case lines > foldLines:
		return foldPiece(fold{label: fmt.Sprintf("pasted %s lines", kit.Grouped(lines)), text: s})
	case len(s) > foldBytes:
		return foldPiece(fold{label: fmt.Sprintf("pasted %s characters", kit.Grouped(uniseg.GraphemeClusterCount(s))), text: s})
	}
	return plainPiece(s)
}

// tidy cleans a text and gives its lines one kind of end.
func tidy(s string) string {
	if strings.IndexByte(s, '\r') >= 0 {
		s = strings.ReplaceAll(s, "\r\n", "\n")
		s = strings.ReplaceAll(s, "\r", "\n")
	}
	return view.Clean(s)
}

// cluster returns the length in bytes of the character s begins with, and its cells;
// tabs and folds are one.
func cluster(s string) (n, cells int) {
	if s == "" {
		return 0, 0
	}
	switch c := s[0]; {
	case c == '\t':
		return 1, tabCells
	case c < 0x20: // control characters join nothing
		return 1, 0
	case c < 0x80 && (len(s) == 1 || s[1] < 0x80):
		return 1, 1
	}
	c, _, w, _ := uniseg.FirstGraphemeClusterInString(s, -1)
	return len(c), w
}

// tabCells is what a tab takes: editors of one line of thought need no stops.
const tabCells = 4

// before returns where the character that ends at i begins. Characters are found
// from the left only, so it looks from the beginning of the line.
func before(s string, i int) int {
	if i <= 0 {
		return 0
	}
	at := strings.LastIndexByte(s[:i], '\n') + 1
	if at == i {
		return i - 1
	}
	// ASCII before and at the place needs no look.
	if s[i-1] < 0x80 && (i < 2 || s[i-2] < 0x80) {
		return i - 1
	}
	for at < i {
		n, _ := cluster(s[at:])
		if at+n >= i {
			return at
		}
		at += n
	}
	return at
}

// settle moves i back to the beginning of the character it is in.
func settle(s string, i int) int {
	i = min(max(i, 0), len(s))
	if i == 0 || i == len(s) || s[i] < 0x80 && s[i-1] < 0x80 {
		return i
	}
	at := strings.LastIndexByte(s[:i], '\n') + 1
	for at < i {
		n, _ := cluster(s[at:])
		if at+n > i {
			return at
		}
		at += n
	}
	return at
}
