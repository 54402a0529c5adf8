package input

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/gdamore/tcell/v2"
	"github.com/rivo/uniseg"
	"pgregory.net/rapid"

	"starling/bus/view"
	"starling/surfaces/tui/kit"
)

// model is the editor a child would write: a text, a caret, and every state before.
type model struct {
	text  string
	caret int
}

// ends are the places between characters, the ends among them.
func ends(s string) []int {
	out := []int{0}
	g := uniseg.NewGraphemes(s)
	for g.Next() {
		_, to := g.Positions()
		out = append(out, to)
	}
	return out
}

func (m *model) left() int {
	at := 0
	for _, e := range ends(m.text) {
		if e < m.caret {
			at = e
		}
	}
	return at
}

func (m *model) right() int {
	for _, e := range ends(m.text) {
		if e > m.caret {
			return e
		}
	}
	return m.caret
}

func (m *model) insert(s string) {
	m.text = m.text[:m.caret] + s + m.text[m.caret:]
	m.caret += len(s)
	if !slices.Contains(ends(m.text), m.caret) {
		m.caret = m.right()
	}
}

func (m *model) remove(from, to int) {
	m.text = m.text[:from] + m.text[to:]
	m.caret = from
	if !slices.Contains(ends(m.text), m.caret) {
		m.caret = m.right()
	}
}

var pieces = []string{
	"a", "b", " ", "_", "-", "\n", "\t", "é", "e", "\u0301", "漢", "字", "👩", "\u200d", "👧", "🇩", "🇪", "\ufe0f", "ا", "ש", "ก", "ำ", "\u0600",
}

func TestBufferProperty(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		b, m := newBuffer(), &model{}
		for range rapid.IntRange(0, 40).Draw(t, "steps") {
			before := b.p
			switch op := rapid.SampledFrom([]string{"type", "type", "type", "paste", "left", "right", "backspace", "delete", "home", "end", "undo"}).Draw(t, "op"); op {
			case "type":
				r, _ := utf8.DecodeRuneInString(rapid.SampledFrom(pieces).Draw(t, "r"))
				b.typed(r)
				m.insert(string(r))
			case "paste":
				s := strings.Join(rapid.SliceOfN(rapid.SampledFrom(pieces), 0, 8).Draw(t, "s"), "")
				b.insert(pasted(s))
				m.insert(s)
			case "left":
				b.act(Left, nil)
				m.caret = m.left()
			case "right":
				b.act(Right, nil)
				m.caret = m.right()
			case "backspace":
				b.act(Backspace, nil)
				m.remove(m.left(), m.caret)
			case "delete":
				b.act(Delete, nil)
				m.remove(m.caret, m.right())
			case "home":
				b.act(LineStart, nil)
				m.caret = strings.LastIndex(m.text[:m.caret], "\n") + 1
			case "end":
				b.act(LineEnd, nil)
				if i := strings.Index(m.text[m.caret:], "\n"); i >= 0 {
					m.caret += i
				} else {
					m.caret = len(m.text)
				}
			case "undo":
				// There and back is where it was.
				was := state{b.p, b.caret}
				if len(b.undo) > 0 {
					b.act(Undo, nil)
					b.act(Redo, nil)
				}
				if b.p.text != was.p.text || b.caret != was.caret {
					t.Fatalf("undo and redo: %q %d, want %q %d", b.p.text, b.caret, was.p.text, was.caret)
				}
			}
			if b.p.text != m.text || b.caret != m.caret {
				t.Fatalf("from %q: %q %d, want %q %d", before.text, b.p.text, b.caret, m.text, m.caret)
			}
		}
		// All the way back is the beginning, all the way forth the end.
		final := b.p.whole()
		for len(b.undo) > 0 {
			b.act(Undo, nil)
		}
		if b.p.text != "" {
			t.Fatalf("undone to %q", b.p.text)
		}
		for len(b.redo) > 0 {
			b.act(Redo, nil)
		}
		if b.p.whole() != final {
			t.Fatalf("redone to %q, want %q", b.p.whole(), final)
		}
	})
}

// text with folds, by which cut and join are held against plain strings.
func aPiece(t *rapid.T, label string) piece {
	var p piece
	for i := range rapid.IntRange(0, 6).Draw(t, label) {
		if rapid.IntRange(0, 3).Draw(t, "fold") == 0 {
			p = p.join(foldPiece(fold{label: fmt.Sprint(i), text: fmt.Sprintf("<paste %d>\n", i)}))
			continue
		}
		p = p.join(plainPiece(strings.Join(rapid.SliceOfN(rapid.SampledFrom(pieces), 0, 6).Draw(t, "text"), "")))
	}
	return p
}

func TestPieceProperty(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p, q := aPiece(t, "p"), aPiece(t, "q")
		to := settle(p.text, rapid.IntRange(0, len(p.text)).Draw(t, "to"))
		from := settle(p.text, rapid.IntRange(0, to).Draw(t, "from"))
		got := p.replace(from, to, q)
		want := p.cut(0, from).whole() + q.whole() + p.cut(to, len(p.text)).whole()
		if got.whole() != want || marks(got.text) != len(got.folds) {
			t.Fatalf("%q, want %q; %d folds of %d", got.whole(), want, len(got.folds), marks(got.text))
		}
		if a, b := p.cut(0, to), p.cut(to, len(p.text)); a.join(b).whole() != p.whole() {
			t.Fatal("two halves are not the whole")
		}
	})
}

func TestLayoutProperty(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p := aPiece(t, "p")
		w := rapid.IntRange(1, 30).Draw(t, "width")
		l := newLayout(p, w)
		at := 0
		for i, r := range l.rows {
			if r.from != at {
				t.Fatalf("row %d begins at %d, the one before ended at %d", i, r.from, at)
			}
			row := p.text[r.from:r.to]
			if strings.Contains(row, "\n") {
				t.Fatalf("row %q", row)
			}
			if n, _ := cluster(row); l.cells(i) > l.width && n < len(row) {
				t.Fatalf("row %q is %d wide, of %d", row, l.cells(i), l.width)
			}
			at = r.to
			if at < len(p.text) && p.text[at] == '\n' {
				at++
			}
		}
		if at != len(p.text) {
			t.Fatalf("the rows end at %d of %d", at, len(p.text))
		}
		// Every place has a row and a column that lead back to it.
		for _, caret := range ends(p.text) {
			i, column := l.rowOf(caret), l.column(caret)
			if r := l.rows[i]; caret < r.from || caret > r.to {
				t.Fatalf("caret %d is not in row %v", caret, r)
			}
			back := l.at(i, column)
			if column < l.width && back != caret && l.column(back) != column {
				t.Fatalf("caret %d is at %d,%d, where %d is", caret, i, column, back)
			}
		}
	})
}

var keyNames = []string{
	"enter", "tab", "backtab", "esc", "up", "down", "left", "right", "home", "end", "pageup", "pagedown", "delete", "backspace",
	"ctrl+j", "alt+enter", "ctrl+alt+m", "ctrl+w", "ctrl+k", "ctrl+u", "ctrl+y", "alt+z", "alt+_", "ctrl+_", "alt+t", "alt+d", "alt+b", "alt+f",
	"ctrl+o", "ctrl+g", "ctrl+left", "ctrl+right", "ctrl+home", "ctrl+end", "shift+enter",
}

// drive presses what bytes say on an editor and holds what must always hold.
func drive(t testing.TB, data []byte) {
	d := newDesk(t)
	d.e.o.External = func(string) {}
	d.e.SetCommands([]view.Command{{Name: "model"}, {Name: "mode"}})
	s := simulation(t, 30, 10)
	queued := false
	for len(data) > 1 {
		op, arg := data[0], data[1]
		data = data[2:]
		gap := 100 * time.Millisecond
		if op&0x80 != 0 {
			gap = time.Millisecond
		}
		d.wait(gap)
		switch op & 0x7f % 8 {
		case 0, 1, 2:
			r, _ := utf8.DecodeRuneInString(append(slices.Clone(pieces), "/", "@", "!", "漢")[int(arg)%(len(pieces)+4)])
			d.e.Key(tcell.NewEventKey(tcell.KeyRune, r, 0))
		case 3, 4:
			d.e.Key(eventOf(keyNames[int(arg)%len(keyNames)]))
		case 5:
			d.e.Paste(strings.Repeat("x\r\n漢\t", int(arg)%12))
		case 6:
			if len(d.asked) > 0 {
				d.e.Offer(d.asked[len(d.asked)-1].Gen, []Candidate{{Text: "a b"}, {Text: "dir/"}, {Text: "漢.go"}})
			}
			if !queued {
				d.e.Queue().Push(Entry{Text: "waits"})
				queued = true
			}
		case 7:
			w, h := int(arg)%31, int(arg)/31+1
			d.e.SetRect(0, 10-h, w, h)
			d.e.Mouse(kit.Mouse{Action: kit.Press, X: int(arg) % 33, Y: int(arg) % 10})
		}
		d.e.Rows(30)
		s.HideCursor()
		d.e.Draw(s)
		d.e.DrawPopup(s)
		b := d.e.b
		if !slices.Contains(ends(b.p.text), b.caret) {
			t.Fatalf("the caret %d is in a character of %q", b.caret, b.p.text)
		}
		if marks(b.p.text) != len(b.p.folds) {
			t.Fatalf("%d folds of %q", len(b.p.folds), b.p.text)
		}
		if whole := b.p.whole(); strings.ContainsFunc(whole, func(r rune) bool { return unicode.IsControl(r) && r != '\n' && r != '\t' }) {
			t.Fatalf("control characters in %q", whole)
		}
		s.Show()
		x, y, w, h := d.e.GetRect()
		if cx, cy, visible := s.GetCursor(); visible && w > 0 && (cx < x || cx >= x+w || cy < y || cy >= y+h) {
			t.Fatalf("the cursor %d,%d is outside of %d,%d %dx%d", cx, cy, x, y, w, h)
		}
	}
	for _, e := range d.sent {
		if strings.TrimSpace(e.Text) == "" && len(e.Attached) == 0 {
			t.Fatal("an empty entry was sent")
		}
	}
}

func FuzzKeys(f *testing.F) {
	f.Add([]byte{0, 26, 0, 27, 6, 0, 3, 1, 3, 0})
	f.Add([]byte{5, 11, 0, 10, 3, 0, 0x80, 10, 0x80, 10, 0x83, 0, 0x83, 14})
	f.Add([]byte{0, 25, 6, 0, 4, 28, 7, 33, 3, 4, 3, 12})
	f.Fuzz(func(t *testing.T, data []byte) {
		if len(data) > 400 {
			data = data[:400]
		}
		drive(t, data)
	})
}

// A modal at any size stays in its room, and no key breaks it.
func TestModalProperty(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		h := newHost(t, rapid.SampledFrom(kit.ThemeNames()).Draw(rt, "theme"), rapid.Bool().Draw(rt, "ascii"))
		var m kit.Modal
		if rapid.Bool().Draw(rt, "question") {
			s, _ := newQuestions(t, h, nil)
			for range 3 {
				q := permission()
				q.Kind = rapid.SampledFrom([]string{"permission", "trust", "question"}).Draw(rt, "kind")
				q.Detail = strings.Repeat(rapid.SampledFrom([]string{"", "漢字 x", "a\n", "@@ -1 +1 @@\n-a\n+b\n", "\t"}).Draw(rt, "detail"), rapid.IntRange(0, 20).Draw(rt, "n"))
				s.Ask(q)
			}
			m = s
		} else {
			p := NewPicker(PickerOptions{Host: h, Title: "漢字", Actions: []PickAction{{"enter", "take", func(Item) bool { return false }}}})
			var items []Item
			for i := range rapid.IntRange(0, 20).Draw(rt, "items") {
				items = append(items, Item{Text: fmt.Sprint("item 漢字 ", i), Note: "note", Detail: strings.Repeat("detail ", i)})
			}
			p.SetItems(items)
			m = p
		}
		for range 6 {
			w, hh := rapid.IntRange(1, 100).Draw(rt, "w"), rapid.IntRange(1, 30).Draw(rt, "h")
			s := simulation(t, w+4, hh+4)
			kit.Fill(s, kit.Rect{W: w + 4, H: hh + 4}, "#", tcell.StyleDefault)
			screen := kit.Rect{X: 2, Y: 2, W: w, H: hh}
			if m.Done() {
				return
			}
			r := m.Room(screen)
			if r.X < 2 || r.Y < 2 || r.X+r.W > w+2 || r.Y+r.H > hh+2 {
				rt.Fatalf("room %v of %v", r, screen)
			}
			m.SetRect(r.X, r.Y, r.W, r.H)
			m.Draw(s)
			s.Show()
			cells, full, _ := s.GetContents()
			for i, c := range cells {
				if !r.Has(i%full, i/full) && string(c.Runes) != "#" {
					rt.Fatalf("%q at %d,%d is outside of %v", string(c.Runes), i%full, i/full, r)
				}
			}
			h.wait(time.Second)
			for range 4 {
				m.Key(eventOf(rapid.SampledFrom(append(slices.Clone(keyNames), "n", "a", "e", "t", "x", "9")).Draw(rt, "key")))
			}
			m.Paste("漢\nx")
			m.Mouse(kit.Mouse{Action: kit.Press, X: r.X + 2, Y: r.Y + 3})
			m.Mouse(kit.Mouse{Action: kit.WheelDown, X: r.X, Y: r.Y})
		}
	})
}

// cells of a row.
func (l *layout) cells(i int) int {
	r, n := l.rows[i], 0
	mark := marks(l.p.text[:r.from])
	for at := r.from; at < r.to; {
		size, w := cluster(l.p.text[at:r.to])
		if l.p.text[at] == foldMark {
			w = width(l.p.folds[mark].String())
			mark++
		}
		n += w
		at += size
	}
	return n
}
