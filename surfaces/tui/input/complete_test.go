package input

import (
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"starling/bus/view"
)

func commandDesk(t *testing.T) *desk {
	d := newDesk(t)
	d.e.SetCommands([]view.Command{
		{Name: "model", Description: "choose a model"}, {Name: "mode"}, {Name: "compact"}, {Name: "todos", Description: "the list", From: "todos"}, {Name: "todos:2", From: "other"},
	})
	return d
}

func shownOf(d *desk) []string {
	if !d.e.pop.open {
		return nil
	}
	var out []string
	for _, c := range d.e.pop.shown {
		out = append(out, c.Text)
	}
	return out
}

func TestCommandCompletion(t *testing.T) {
	for _, c := range []struct {
		keys  string
		shown []string
		text  string
		sent  string
	}{
		{keys: "/", shown: []string{"model", "mode", "compact", "todos", "todos:2"}, text: "/"},
		{keys: "/mod", shown: []string{"mode", "model"}, text: "/mod"},
		{keys: "/mode", shown: []string{"mode", "model"}, text: "/mode"},
		{keys: "/tds", shown: []string{"todos", "todos:2"}, text: "/tds"},
		{keys: "/mo<tab>", text: "/mode "},
		{keys: "/mo<down><tab>", text: "/model "},
		{keys: "/mo<up><tab>", text: "/model "},
		{keys: "/com<enter>", text: "/compact "},
		{keys: "/mode<enter>", sent: "/mode"},
		{keys: "/com<enter><enter>", sent: "/compact"},
		{keys: "/nothing<enter>", sent: "/nothing"},
		{keys: "/mo<esc>", text: "/mo"},
		{keys: "/mo<esc>d", text: "/mod"},
		{keys: "/mo<esc><tab>", shown: []string{"mode", "model"}, text: "/mo"},
		{keys: "/mo<esc><backspace><backspace><backspace>/mo", shown: []string{"mode", "model"}, text: "/mo"},
		{keys: "/etc/passwd", text: "/etc/passwd"},
		{keys: "a /mo", text: "a /mo"},
		{keys: "/mo<ctrl+j>x", text: "/mo\nx"},
		{keys: "/com x<ctrl+home><right><right>m<backspace><tab>", text: "/compact x"},
	} {
		d := commandDesk(t)
		d.keys(c.keys)
		if diff := cmp.Diff(c.shown, shownOf(d)); diff != "" {
			t.Errorf("%s: %s", c.keys, diff)
		}
		if got := d.e.Text(); got != c.text {
			t.Errorf("%s: %q, want %q", c.keys, got, c.text)
		}
		sent := ""
		if len(d.sent) > 0 {
			sent = d.sent[0].Text
		}
		if sent != c.sent {
			t.Errorf("%s: sent %q, want %q", c.keys, sent, c.sent)
		}
	}
}

// An answer to what was typed before is dropped.
func TestLateAnswer(t *testing.T) {
	d := commandDesk(t)
	d.keys("/model a")
	old := d.asked[len(d.asked)-1]
	d.keys("b")
	now := d.asked[len(d.asked)-1]
	if diff := cmp.Diff(Request{Gen: now.Gen, Kind: Arguments, Name: "model", Text: "ab"}, now); diff != "" || old.Gen == now.Gen {
		t.Fatal(diff)
	}
	if d.e.Offer(old.Gen, []Candidate{{Text: "a-late"}}) || d.e.pop.open {
		t.Error("a late answer was taken")
	}
	if !d.e.Offer(now.Gen, []Candidate{{Text: "ab-one"}, {Text: "ab-two\x1b[31m"}, {Text: "other"}}) {
		t.Error("the answer was dropped")
	}
	if diff := cmp.Diff([]string{"ab-one", "ab-two"}, shownOf(d)); diff != "" {
		t.Error(diff)
	}
	d.keys("<esc>")
	if d.e.Offer(now.Gen, []Candidate{{Text: "ab"}}) {
		t.Error("an answer opened a closed list")
	}
	d.keys("<tab>")
	d.e.Offer(d.asked[len(d.asked)-1].Gen, []Candidate{{Text: "ab-one"}, {Text: "ab-two"}})
	d.keys("<down><enter><enter>")
	if len(d.sent) != 1 || d.sent[0].Text != "/model ab-two" {
		t.Errorf("sent %v", d.sent)
	}
	// Nobody chose: what is written is sent.
	d.keys("/model ab")
	d.e.Offer(d.asked[len(d.asked)-1].Gen, []Candidate{{Text: "ab-one"}})
	d.keys("<enter>")
	if len(d.sent) != 2 || d.sent[1].Text != "/model ab" {
		t.Errorf("sent %v", d.sent)
	}
}

func TestFiles(t *testing.T) {
	d := newDesk(t)
	offer := func(paths ...string) {
		t.Helper()
		var all []Candidate
		for _, p := range paths {
			all = append(all, Candidate{Text: p})
		}
		if !d.e.Offer(d.asked[len(d.asked)-1].Gen, all) {
			t.Fatal("the answer was dropped")
		}
	}
	d.keys("see @mai")
	if r := d.asked[len(d.asked)-1]; r.Kind != Files || r.Text != "mai" {
		t.Fatalf("asked %+v", r)
	}
	offer("cmd/main.go", "main.go", "a main file.md")
	if diff := cmp.Diff([]string{"cmd/main.go", "main.go", "a main file.md"}, shownOf(d)); diff != "" {
		t.Errorf("files stay in their order: %s", diff)
	}
	d.keys("<down><enter>")
	if got := d.e.Text(); got != "see @main.go " {
		t.Fatalf("cited: %q", got)
	}
	d.keys("and @file")
	offer("a main file.md")
	d.keys("<tab>@src")
	offer("src/")
	d.keys("<tab>")
	if got := d.e.Text(); got != `see @main.go and @"a main file.md" @src/` {
		t.Fatalf("a folder goes on: %q", got)
	}
	if r := d.asked[len(d.asked)-1]; r.Text != "src/" {
		t.Fatalf("asked %+v", r)
	}
	offer("src/logo.png")
	d.keys("<ctrl+o><enter>")
	want := []Entry{{Text: `see @main.go and @"a main file.md" @src/logo.png`, Attached: []string{"src/logo.png"}}}
	if diff := cmp.Diff(want, d.sent); diff != "" {
		t.Error(diff)
	}
	n := len(d.asked)
	d.keys("mail me@example.org")
	if len(d.asked) != n {
		t.Errorf("an address is no file: %+v", d.asked[n:])
	}
}

func TestRank(t *testing.T) {
	files := []string{"docs/readme.md", "surfaces/tui/input/editor.go", "surfaces/tui/app.go", "agent/editor_test.go", "Makefile", "main.go", "cmd/xmain/go.mod"}
	nth := func(i int) string { return files[i] }
	for _, c := range []struct{ query, first string }{
		{"editor", "surfaces/tui/input/editor.go"},
		{"main", "main.go"},
		{"maingo", "main.go"},
		{"sti/ed", "surfaces/tui/input/editor.go"},
		{"tapp", "surfaces/tui/app.go"},
		{"MF", ""},
		{"Mf", "Makefile"},
		{"mf", "Makefile"},
		{"zzz", ""},
	} {
		first := ""
		if got := rank(c.query, len(files), nth); len(got) > 0 {
			first = files[got[0]]
		}
		if first != c.first {
			t.Errorf("%q: %q, want %q", c.query, first, c.first)
		}
	}
	if got := rank("", len(files), nth); !slices.IsSorted(got) || len(got) != len(files) {
		t.Errorf("nothing typed: %v", got)
	}
}
