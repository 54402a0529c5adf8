package input

import (
	"slices"
	"strings"
	"testing"
)

// A file that is put in stands apart from what is written, goes with it, and can be taken
// out again with all others; a paste stays.
func TestAttachAndDetach(t *testing.T) {
	d := newDesk(t)
	d.keys("look")
	d.e.AttachFile("a.png")
	d.e.AttachFile("b c.txt")
	d.e.Paste(strings.Repeat("x\n", 20))
	d.e.AttachFile("d\n.txt")
	if got, want := d.e.Text(), "look @a.png @\"b c.txt\" "+strings.Repeat("x\n", 20)+" @\"d .txt\" "; got != want {
		t.Errorf("the text is %q, want %q", got, want)
	}
	if got := d.e.Attached(); !slices.Equal(got, []string{"a.png", "b c.txt", "d .txt"}) {
		t.Errorf("attached: %q", got)
	}
	d.e.Detach()
	if got, want := d.e.Text(), "look "+strings.Repeat("x\n", 20)+" "; got != want || len(d.e.Attached()) > 0 {
		t.Errorf("after that %q with %q, want %q", got, d.e.Attached(), want)
	}
	d.keys("<alt+z>")
	if got := d.e.Attached(); len(got) != 3 {
		t.Errorf("a step back brings %q", got)
	}
}

// A line that is dropped takes no mark from another one.
func TestDropQueued(t *testing.T) {
	for _, c := range []struct {
		marked, drop, want int
		ok                 bool
		left               string
	}{
		{-1, 0, -1, true, "b c"},
		{2, 0, 1, true, "b c"},
		{1, 1, 1, true, "a c"},
		{2, 2, 1, true, "a b"},
		{0, 2, 0, true, "a b"},
		{1, 3, 1, false, "a b c"},
		{1, -1, 1, false, "a b c"},
	} {
		d := newDesk(t)
		for _, text := range []string{"a", "b", "c"} {
			d.e.queue.Push(Entry{Text: text})
		}
		d.e.marked = c.marked
		ok := d.e.DropQueued(c.drop)
		var left []string
		for _, e := range d.e.queue.Entries() {
			left = append(left, e.Text)
		}
		if ok != c.ok || d.e.marked != c.want || strings.Join(left, " ") != c.left {
			t.Errorf("marked %d, drop %d: %v, marked %d, left %q", c.marked, c.drop, ok, d.e.marked, left)
		}
	}
}
