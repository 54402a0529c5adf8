package input

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/gdamore/tcell/v2"
	"github.com/google/go-cmp/cmp"

	"starling/bus/view"
	"starling/surfaces/tui/kit"
)

func TestKeys(t *testing.T) {
	for _, c := range []struct{ name, keys, want string }{
		{"typing", "héllo 漢", "héllo 漢|"},
		{"a line, four ways", "a<shift+enter>b<alt+enter>c<ctrl+alt+m>d<ctrl+j>e", "a\nb\nc\nd\ne|"},
		{"left over a wide character", "a漢b<left><left>x", "ax|漢b"},
		{"backspace takes a family", "a👩‍👩‍👧<backspace>", "a|"},
		{"a mark joins its letter", "e\u0301<left>", "|e\u0301"},
		{"delete", "abc<home><delete>", "|bc"},
		{"words", "one two-three<ctrl+left>X<alt+b><alt+b>Y", "one Y|two-Xthree"},
		{"word right", "one two<ctrl+a><alt+f>!", "one!| two"},
		{"kill word and yank twice", "one two<ctrl+w><ctrl+y><ctrl+y>", "one twotwo|"},
		{"kills in a row come back together", "one two three<ctrl+w><ctrl+w><ctrl+y>", "one two three|"},
		{"kill to the end", "one two<home><alt+f><ctrl+k>", "one|"},
		{"kill the line end", "a<ctrl+j>b<up><end><ctrl+k>", "a|b"},
		{"kill to the head", "a<ctrl+j>bc<left><ctrl+u>", "a\n|c"},
		{"next word", "one two<home><alt+d>", "| two"},
		{"undo takes a word", "one two<ctrl+_>", "one|"},
		{"undo and redo", "one two<alt+z><alt+z><alt+_>", "one|"},
		{"undo a kill", "one two<ctrl+u><alt+z>", "one two|"},
		{"swap", "teh<left><alt+t>", "the|"},
		{"up keeps the column over a short line", "abcdef<ctrl+j>x<ctrl+j>abcdef<up><up>|", "abcdef||\nx\nabcdef"},
		{"home and end of a line", "ab<ctrl+j>cd<up><home>1<end>2", "1ab2|\ncd"},
		{"start and end of the text", "ab<ctrl+j>cd<ctrl+home>1<ctrl+end>2", "1ab\ncd2|"},
	} {
		d := newDesk(t)
		d.keys(c.keys)
		text := d.e.Text()
		at := d.e.b.caret
		got := text[:at] + "|" + text[at:]
		if got != c.want {
			t.Errorf("%s: %q: got %q, want %q", c.name, c.keys, got, c.want)
		}
		if len(d.sent) > 0 {
			t.Errorf("%s: sent %v", c.name, d.sent)
		}
	}
}

func TestSend(t *testing.T) {
	d := newDesk(t)
	d.keys("  <enter>look at @a.go and (@b/c.go), mail me@example.org<ctrl+j>!<enter>")
	want := []Entry{{Text: "  look at @a.go and (@b/c.go), mail me@example.org\n!"}}
	if diff := cmp.Diff(want, d.sent); diff != "" {
		t.Error(diff)
	}
	if !d.e.Empty() {
		t.Errorf("left over: %q", d.e.Text())
	}
}

// A paste, bracketed or as a burst of keys: one entry, one step back, nothing sent
// before Enter, and then once.
func TestPaste(t *testing.T) {
	const lines = 10_000
	sent := strings.Repeat("a\tb\r\n", lines/2) + "\x1b[201~\x07" + strings.Repeat("c\r\n", lines/2-1) + "end"
	want := strings.Repeat("a\tb\n", lines/2) + strings.Repeat("c\n", lines/2-1) + "end"
	for name, put := range map[string]func(*desk){
		"bracketed": func(d *desk) { d.e.Paste(sent) },
		"burst":     func(d *desk) { burstOf(d, sent, 0) },
		"burst in pieces": func(d *desk) {
			burstOf(d, sent, 20*time.Millisecond)
		},
	} {
		t.Run(name, func(t *testing.T) {
			d := newDesk(t)
			d.keys("see:")
			start := time.Now()
			put(d)
			d.wait(time.Second)
			took := time.Since(start)
			got := strings.ReplaceAll(d.e.Text(), "[201~", "") // of a burst the escape is a key
			if got != "see:"+want {
				t.Fatalf("the text differs: %d bytes, want %d; begins %q", len(got), len(want)+4, got[:40])
			}
			if len(d.sent) > 0 {
				t.Fatalf("sent %d entries", len(d.sent))
			}
			t.Logf("%d bytes in %v", len(sent), took)
			if rows := d.e.Rows(80); rows > 3 {
				t.Errorf("%d rows: it is not folded", rows)
			}
			d.keys("<enter>")
			if len(d.sent) != 1 || len(d.sent[0].Text) < len(want) {
				t.Fatalf("sent %d entries", len(d.sent))
			}
		})
	}
}

// A paste that comes as keys and with holes, as over a slow connection, sends no half of
// itself; Enter by itself sends, and so does what is typed at once long after.
func TestPasteWithHoles(t *testing.T) {
	d := newDesk(t)
	for _, piece := range []string{"a\rb", "\rc\r", "d\r", "\re"} {
		burstOf(d, piece, 0)
		d.wait(300 * time.Millisecond)
		if len(d.sent) > 0 {
			t.Fatalf("behind %q it sent %q", piece, d.sent[0].Text)
		}
	}
	burstOf(d, "\r", 0)
	d.wait(time.Second)
	burstOf(d, "hello\r", 0)
	d.wait(time.Second)
	if diff := cmp.Diff([]Entry{{Text: "a\nb\nc\nd\n\ne"}, {Text: "hello"}}, d.sent); diff != "" {
		t.Error(diff)
	}
}

// burstOf presses what a terminal without bracketed paste sends, with a hole of gap
// between every 128 bytes.
func burstOf(d *desk, text string, gap time.Duration) {
	for i, r := range []rune(text) {
		if i%128 == 127 && gap > 0 {
			d.wait(gap)
		}
		switch r {
		case '\r':
			d.e.Key(tcell.NewEventKey(tcell.KeyEnter, 0, 0))
		case '\n':
			d.e.Key(tcell.NewEventKey(tcell.KeyCtrlJ, 0, tcell.ModCtrl))
		case '\t':
			d.e.Key(tcell.NewEventKey(tcell.KeyTab, 0, 0))
		case '\a':
			d.e.Key(tcell.NewEventKey(tcell.KeyCtrlG, 0, tcell.ModCtrl))
		case '\x1b':
			// Escape and [ are a key of a terminal, nothing that is text.
		default:
			d.e.Key(tcell.NewEventKey(tcell.KeyRune, r, 0))
		}
	}
}

// Programs type fast for a person: what is one line and ends in Enter is sent.
func TestFastTyping(t *testing.T) {
	d := newDesk(t)
	burstOf(d, "hello\r", 0)
	d.wait(time.Second)
	if diff := cmp.Diff([]Entry{{Text: "hello"}}, d.sent); diff != "" {
		t.Error(diff)
	}
	d.e.SetCommands([]view.Command{{Name: "model"}, {Name: "mode"}, {Name: "quit"}})
	burstOf(d, "/qu\t", 0)
	d.wait(time.Second)
	if got := d.e.Text(); got != "/quit " {
		t.Errorf("completed: %q", got)
	}
	d.keys("<ctrl+u>")
	burstOf(d, "/qu\t\r", 0)
	d.wait(time.Second)
	if len(d.sent) != 2 || d.sent[1].Text != "/quit" {
		t.Errorf("sent %v", d.sent)
	}
}

// A line end waits while more input is known to be on its way.
func TestPending(t *testing.T) {
	d := newDesk(t)
	pending := true
	d.e.o.Pending = func() bool { return pending }
	d.keys("ab")
	d.e.Key(eventOf("enter"))
	d.wait(time.Second)
	if len(d.sent) != 0 {
		t.Fatal("sent while input was waiting")
	}
	pending = false
	d.wait(time.Second)
	if len(d.sent) != 1 {
		t.Fatalf("sent %d entries", len(d.sent))
	}
}

func TestUndoPaste(t *testing.T) {
	d := newDesk(t)
	d.keys("a b")
	for range 3 {
		d.e.Paste("x\ny")
	}
	d.e.Paste(strings.Repeat("line\n", 500))
	if got := d.e.b.p.text; got != "a bx\nyx\nyx\ny\x01" {
		t.Fatalf("text %q", got)
	}
	d.keys("<alt+z><alt+z>")
	if got := d.e.Text(); got != "a bx\nyx\ny" {
		t.Errorf("after undo %q", got)
	}
	d.keys("<alt+_><alt+_><backspace>")
	if got := d.e.Text(); got != "a bx\nyx\nyx\ny" {
		t.Errorf("one backspace takes the folded paste: %q", got)
	}
}

// The cursor of the terminal is on the caret, two cells for a wide character counted.
func TestCursor(t *testing.T) {
	s := simulation(t, 20, 8)
	d := newDesk(t)
	at := func(what string, x, y int) {
		t.Helper()
		d.e.SetRect(0, 4, 20, 4)
		s.Clear()
		d.e.Draw(s)
		s.Show()
		if gx, gy, visible := s.GetCursor(); !visible || gx != x || gy != y {
			t.Errorf("%s: cursor %d,%d %v, want %d,%d\n%s", what, gx, gy, visible, x, y, picture(s))
		}
	}
	at("empty", 3, 5)
	d.keys("漢字a")
	at("wide characters", 8, 5)
	d.keys("<left><left>")
	at("left past a wide one", 5, 5)
	d.keys("x")
	at("inserted", 6, 5)
	d.keys("<end>" + strings.Repeat("<ctrl+j>l", 5))
	at("scrolled", 4, 7)
	d.keys("<up><up><up><up>")
	at("scrolled back", 4, 5)
	d.keys("<ctrl+end><ctrl+j>" + strings.Repeat("漢", 8))
	at("a full row goes on in the next", 5, 7)
	d.keys("<ctrl+j>👩‍👩‍👧<left>")
	at("a family is one character", 3, 7)
	// On a dialog too.
	q := questionOn(t, d.host, permission())
	q.SetRect(0, 0, 20, 8)
	q.Draw(s)
	d.wait(time.Second)
	pressOn(d.host, q, "n漢")
	s.Clear()
	q.Draw(s)
	s.Show()
	if x, _, visible := s.GetCursor(); !visible || x != 2+2+2 {
		t.Errorf("dialog: cursor at %d %v\n%s", x, visible, picture(s))
	}
}

func TestHistory(t *testing.T) {
	d := newDesk(t)
	d.keys("one<enter>two<ctrl+j>lines<enter>one<enter>")
	if diff := cmp.Diff([]string{"two\nlines", "one"}, d.e.o.History.entries); diff != "" {
		t.Fatal(diff)
	}
	d.keys("draft<up>")
	if got := d.e.Text(); got != "one" {
		t.Fatalf("up: %q", got)
	}
	d.keys("!<up>")
	if got := d.e.Text(); got != "two\nlines" {
		t.Fatalf("up twice: %q", got)
	}
	d.keys("<up><up><down><down>")
	if got := d.e.Text(); got != "one!" {
		t.Fatalf("what was changed is kept: %q", got)
	}
	d.keys("<down>")
	if got := d.e.Text(); got != "draft" {
		t.Fatalf("the draft is kept: %q", got)
	}
	d.keys("<down>")
	if got := d.e.Text(); got != "draft" {
		t.Fatalf("below the draft is nothing: %q", got)
	}

	var file strings.Builder
	if err := d.e.o.History.Save(&file); err != nil {
		t.Fatal(err)
	}
	again := NewHistory()
	if err := again.Load(strings.NewReader("no json\n" + file.String() + `"es\u001b[31mcape"` + "\n")); err == nil {
		t.Error("the damaged line is not told")
	}
	if diff := cmp.Diff([]string{"two\nlines", "one", "escape"}, again.entries); diff != "" {
		t.Error(diff)
	}
	for i := range HistoryLimit + 10 {
		again.Add(strings.Repeat("x", i+1))
	}
	for range 2 {
		again.Add(strings.Repeat("y", HistoryBytes+1))
		again.Add(strings.Repeat("z", HistoryBytes+2))
	}
	if n := len(again.entries); n != HistoryLimit {
		t.Errorf("%d entries", n)
	}
	if p, ok := again.move(-1, piece{}); !ok || p.whole() != strings.Repeat("z", HistoryBytes+2) || len(p.folds) != 1 {
		t.Error("the newest large one is not there, folded")
	}
	if p, ok := again.move(-1, piece{}); !ok || len(p.text) != HistoryLimit+10 {
		t.Errorf("before it are %d bytes, not the newest small one", len(p.text))
	}
	file.Reset()
	if err := again.Save(&file); err != nil || strings.Contains(file.String(), "z") {
		t.Errorf("a large one is on disk, %v", err)
	}
	if slices.ContainsFunc(again.Typed(), large) {
		t.Error("a large one is to be stored")
	}
}

func TestQueue(t *testing.T) {
	d := newDesk(t)
	q := d.e.Queue()
	for _, text := range []string{"first", "second", "third"} {
		q.Push(Entry{Text: text})
	}
	d.keys("draft<up><up><delete>")
	if diff := cmp.Diff([]Entry{{Text: "first"}, {Text: "third"}}, q.Entries()); diff != "" {
		t.Fatal(diff)
	}
	d.keys("<enter>")
	if got := d.e.Text(); got != "third\ndraft" || q.Len() != 1 {
		t.Fatalf("taken back: %q, %d wait", got, q.Len())
	}
	d.keys("<ctrl+home><up><ctrl+alt+m>")
	if diff := cmp.Diff([]Entry{{Text: "first"}}, d.steered); diff != "" {
		t.Fatal(diff)
	}
	if _, ok := q.Pop(); ok {
		t.Error("the queue is not empty")
	}
	q.Push(Entry{Text: "fourth", Attached: []string{"a.png"}})
	d.keys("<ctrl+home><up>x")
	if got := d.e.Text(); got != "xthird\ndraft" {
		t.Errorf("a character goes to the text: %q", got)
	}
	d.keys("<up><enter>")
	d.keys("<enter>")
	if len(d.sent) != 1 || len(d.sent[0].Attached) != 1 {
		t.Errorf("the file is lost: %+v", d.sent)
	}
}

// A run that ends takes the first line while another is marked: the keys are still for
// the one that was marked, and for the text once it is gone.
func TestQueueMarkStaysOnItsLine(t *testing.T) {
	d := newDesk(t)
	q := d.e.Queue()
	for _, text := range []string{"first", "second", "third"} {
		q.Push(Entry{Text: text})
	}
	d.keys("<up><up>")
	q.Pop()
	d.keys("<delete>")
	if diff := cmp.Diff([]Entry{{Text: "third"}}, q.Entries()); diff != "" {
		t.Error(diff)
	}
	q.Pop()
	d.keys("x<delete>")
	if got := d.e.Text(); got != "x" || q.Len() != 0 {
		t.Errorf("%q is written, %d wait", got, q.Len())
	}
}

func TestDefaultKeys(t *testing.T) {
	for chord, action := range DefaultKeys() {
		if chord == "ctrl+z" || chord == "ctrl+c" || chord == "esc" || chord == "f6" {
			t.Errorf("%s is the program's, not for %s", chord, action)
		}
	}
}

func TestMouse(t *testing.T) {
	s := simulation(t, 30, 8)
	d := newDesk(t)
	d.e.SetRect(0, 3, 30, 5)
	d.e.Queue().Push(Entry{Text: "waits"})
	d.keys("one<ctrl+j>漢字")
	d.e.Draw(s)
	d.e.Mouse(kit.Mouse{Action: kit.Press, X: 6, Y: 6})
	d.keys("|")
	if got := d.e.Text(); got != "one\n漢|字" {
		t.Errorf("a press in the second half of a wide character: %q", got)
	}
	d.e.Mouse(kit.Mouse{Action: kit.Press, X: 20, Y: 5})
	d.keys("|")
	if got := d.e.Text(); got != "one|\n漢|字" {
		t.Errorf("a press behind the end: %q", got)
	}
	d.e.Mouse(kit.Mouse{Action: kit.Press, X: 5, Y: 4})
	d.keys("<delete>")
	if d.e.Queue().Len() != 0 {
		t.Error("the queued line was not marked")
	}
	if d.e.Mouse(kit.Mouse{Action: kit.Press, X: 5, Y: 0}) {
		t.Error("a press elsewhere was taken")
	}
}

// An entry of the history opens no list, which would take the keys that go on.
func TestHistoryOpensNoList(t *testing.T) {
	d := newDesk(t)
	d.e.SetCommands([]view.Command{{Name: "model"}, {Name: "mode"}})
	for _, text := range []string{"first", "/mode", "/model x", "look at @a", "last"} {
		d.e.o.History.Add(text)
	}
	for _, want := range []string{"last", "look at @a", "/model x", "/mode", "first", "first"} {
		d.keys("<up>")
		if got := d.e.Text(); got != want || d.e.pop.open {
			t.Fatalf("up: %q with a list %v, want %q", got, d.e.pop.open, want)
		}
	}
	for _, want := range []string{"/mode", "/model x", "look at @a", "last", ""} {
		d.keys("<down>")
		if got := d.e.Text(); got != want || d.e.pop.open {
			t.Fatalf("down: %q with a list %v, want %q", got, d.e.pop.open, want)
		}
	}
	d.keys("<up><up><up><up>l")
	if got := d.e.Text(); got != "/model" || !d.e.pop.open {
		t.Errorf("%q with a list %v: what is typed then opens it", got, d.e.pop.open)
	}
}
