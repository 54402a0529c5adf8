package input

import (
	"strings"

	"github.com/gdamore/tcell/v2"

	"starling/surfaces/tui/kit"
)

// field is a text in a dialog.
type field struct {
	b      *buffer
	keys   Keymap
	single bool // one line: line ends become spaces
	width  int
	top    int
	lay    *layout
	of     int // version of the text that lay is of
}

func newField(text string, single bool, keys Keymap) *field {
	f := &field{b: newBuffer(), keys: keys, single: single, width: 40}
	f.b.set(f.piece(text))
	return f
}

func (f *field) piece(s string) piece {
	if f.single {
		return plainPiece(kit.CleanLine(s))
	}
	return plainPiece(tidy(s))
}

func (f *field) text() string { return f.b.p.whole() }

func (f *field) layout() *layout {
	if f.lay == nil || f.of != f.b.version || f.lay.width != max(f.width-1, 1) {
		f.lay, f.of = newLayout(f.b.p, f.width), f.b.version
	}
	return f.lay
}

// key edits; false for Send and for what is no key of a text.
func (f *field) key(ev *tcell.EventKey) bool {
	if r := letter(ev); r != 0 {
		f.b.typed(r)
		return true
	}
	switch a := f.keys[chord(ev)]; {
	case a == Newline && f.single:
		return true
	default:
		return f.b.act(a, f.layout)
	}
}

// sends tells whether a chord says that the text is ready.
func (f *field) sends(c string) bool {
	return f.keys[c] == Send || f.single && c == "enter"
}

func (f *field) paste(text string) {
	if f.single {
		text = strings.TrimRight(text, "\r\n")
	}
	f.b.insert(f.piece(text))
}

// rows it fills at a width.
func (f *field) rows(w int) int {
	f.width = w
	return len(f.layout().rows)
}

// draw paints the text and puts the cursor on the caret.
func (f *field) draw(s tcell.Screen, r kit.Rect, t *kit.Theme, cursor bool) {
	if r.W <= 0 || r.H <= 0 {
		return
	}
	f.width = r.W
	l := f.layout()
	at := l.rowOf(f.b.caret)
	f.top = max(min(max(f.top, at-r.H+1), at, len(l.rows)-r.H), 0)
	for i := range min(r.H, len(l.rows)-f.top) {
		l.draw(s, r.X, r.Y+i, r.W, f.top+i, t)
	}
	if cursor {
		s.ShowCursor(r.X+min(l.column(f.b.caret), r.W-1), r.Y+at-f.top)
	}
}
