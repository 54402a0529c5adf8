package kit

import (
	"strings"

	"github.com/rivo/uniseg"
)

// tabCells is what a tab takes wherever it stands: what is indented lines up.
const tabCells = 4

// Spaced puts spaces for the tabs of a line, as they are drawn.
func Spaced(s string) string { return strings.ReplaceAll(s, "\t", strings.Repeat(" ", tabCells)) }

// Cluster cuts the first character, as a person counts it, off a text and returns
// its width in cells; 0 for a mark that stands alone.
func Cluster(s string) (cluster, rest string, width int) {
	if len(s) > 1 && s[0] >= 0x20 && s[0] < 0x7f && s[1] >= 0x20 && s[1] < 0x7f {
		return s[:1], s[1:], 1
	}
	if s != "" && s[0] == '\t' {
		return s[:1], s[1:], tabCells
	}
	cluster, rest, width, _ = uniseg.FirstGraphemeClusterInString(s, -1)
	return cluster, rest, width
}

// Width of one line of clean text in cells, as the screen counts them.
func Width(s string) int {
	for i := 0; i < len(s); i++ {
		if s[i] < 0x20 || s[i] >= 0x7f {
			return uniseg.StringWidth(s) + tabCells*strings.Count(s, "\t")
		}
	}
	return len(s)
}

// Cut returns the longest beginning of s that takes at most width cells, and the
// rest. Whole characters only.
func Cut(s string, width int) (head, rest string) {
	used := 0
	for tail := s; tail != ""; {
		_, next, w := Cluster(tail)
		if used += w; used > width {
			return s[:len(s)-len(tail)], tail
		}
		tail = next
	}
	return s, ""
}

// Clip shortens a line to width cells; what is cut ends in the ellipsis, where there
// is room for it.
func Clip(s string, width int, ellipsis string) string {
	if width <= 0 {
		return ""
	}
	head, rest := Cut(s, width)
	if rest == "" {
		return s
	}
	room := width - Width(ellipsis)
	if room < 0 {
		return head
	}
	head, _ = Cut(s, room)
	return head + ellipsis
}

// Piece is one line on the screen of a longer text.
type Piece struct {
	Text string // tabs stay
	// Goes tells that it goes on the line of the piece before; Gap stood between the two.
	Goes bool
	Gap  string
}

// Wrap breaks clean text into lines of at most width cells: at line ends, then at
// spaces, else between characters. There is always one line; a character that is
// wider than the width stands alone. Tabs become spaces.
func Wrap(text string, width int) []string { return texts(WrapPieces(Spaced(text), width)) }

// WrapPieces is Wrap, with what it takes to join the lines again.
func WrapPieces(text string, width int) []Piece {
	width = max(width, 1)
	var out []Piece
	for line := range strings.SplitSeq(text, "\n") {
		out = wrapLine(out, line, width)
	}
	return out
}

func texts(pieces []Piece) []string {
	out := make([]string, len(pieces))
	for i, p := range pieces {
		out[i] = p.Text
	}
	return out
}

const blanks = " \t"

func wrapLine(out []Piece, line string, width int) []Piece {
	next := Piece{}
	// end puts a piece down; what is between it and the rest is the gap of the next one.
	end := func(text, gap string) {
		next.Text = text
		out = append(out, next)
		next = Piece{Goes: true, Gap: gap}
	}
	for {
		head, rest := Cut(line, width)
		if rest == "" {
			end(line, "")
			return out
		}
		if head == "" {
			head, rest, _ = Cluster(line)
		}
		gap := ""
		if rest != "" && strings.IndexByte(blanks, rest[0]) >= 0 {
			text := strings.TrimRight(head, blanks)
			rest = strings.TrimLeft(rest, blanks)
			gap = line[len(text) : len(line)-len(rest)]
			head = text
		} else if i := strings.LastIndexAny(head, blanks); i > 0 && strings.TrimLeft(head[:i], blanks) != "" {
			rest = line[i+1:]
			head = strings.TrimRight(head[:i], blanks)
			gap = line[len(head) : i+1]
		}
		end(head, gap)
		if line = rest; line == "" {
			return out
		}
	}
}

// ChopPieces breaks clean text into lines of at most width cells between characters
// only, and keeps every space: for output and code. It comes with what it takes to join
// the lines again.
func ChopPieces(text string, width int) []Piece {
	width = max(width, 1)
	var out []Piece
	for line := range strings.SplitSeq(text, "\n") {
		for goes := false; ; goes = true {
			head, rest := Cut(line, width)
			if head == "" && rest != "" {
				head, rest, _ = Cluster(line)
			}
			out = append(out, Piece{Text: head, Goes: goes})
			if rest == "" {
				break
			}
			line = rest
		}
	}
	return out
}
