package transcript

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/gdamore/tcell/v2"
	"pgregory.net/rapid"

	"starling/bus/view"
	"starling/surfaces/tui/kit"
)

// lab is a transcript on a simulated screen.
type lab struct {
	*Transcript
	screen tcell.SimulationScreen
	t      testing.TB
}

func newLab(t testing.TB, w, h int) *lab {
	screen := tcell.NewSimulationScreen("UTF-8")
	if err := screen.Init(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(screen.Fini)
	th, err := kit.NewTheme("dark")
	if err != nil {
		t.Fatal(err)
	}
	l := &lab{New(th, kit.SignsFor(false)), screen, t}
	l.resize(w, h)
	return l
}

func (l *lab) resize(w, h int) {
	l.screen.SetSize(w, h)
	l.SetRect(0, 0, w, h)
}

// rows draws and returns what is on the screen.
func (l *lab) rows() []string {
	l.screen.Clear()
	l.Draw(l.screen)
	w, h := l.screen.Size()
	out := make([]string, h)
	for y := range h {
		var b strings.Builder
		for x := 0; x < w; {
			text, _, n := l.screen.Get(x, y)
			b.WriteString(text)
			x += max(n, 1)
		}
		out[y] = strings.TrimRight(b.String(), " ")
	}
	return out
}

func (l *lab) fill(lines int) {
	var b strings.Builder
	for i := range lines {
		fmt.Fprintf(&b, "line %d of what was said\n\n", i)
	}
	l.Write(b.String(), false)
	l.EndReply()
}

func firstText(rows []string) string {
	for _, r := range rows {
		if strings.TrimSpace(r) != "" {
			return strings.TrimSpace(r)
		}
	}
	return ""
}

// Bug report F-02: text is shown as it is spelled: tags of other screens, escape sequences taken out,
// wide and joined characters whole.
func TestLiteral(t *testing.T) {
	const tags = `[red]x[-] [YELLOW] ["a"]b[""] [::b] arr[0] [x[]`
	for name, put := range map[string]func(*lab, string){
		"person":   func(l *lab, s string) { l.Person(s) },
		"notice":   func(l *lab, s string) { l.Notice(view.Notice{Text: s}) },
		"source":   func(l *lab, s string) { l.Notice(view.Notice{From: s, Text: "x"}) },
		"reply":    func(l *lab, s string) { l.Write("```\n"+s+"\n```\n", false) },
		"thinking": func(l *lab, s string) { l.Write(s, true) },
		"call":     func(l *lab, s string) { l.Begin("1", "bash", fmt.Sprintf(`{"command":%q}`, s)) },
		"tool":     func(l *lab, s string) { l.Begin("1", s, `{}`) },
		"refusal":  func(l *lab, s string) { l.Begin("1", "x", `{}`); l.Refuse("1", "g", s) },
		"output": func(l *lab, s string) {
			l.Begin("1", "x", `{}`)
			l.Finish("1", Result{Content: s + "\nmore"})
			l.Show("1")
		},
	} {
		t.Run(name, func(t *testing.T) {
			l := newLab(t, 120, 10)
			put(l, tags)
			rows := l.rows()
			y := slices.IndexFunc(rows, func(row string) bool { return strings.Contains(row, tags) })
			if y < 0 {
				t.Fatalf("not spelled as it is:\n%s", strings.Join(rows, "\n"))
			}
			at := kit.Width(rows[y][:strings.Index(rows[y], tags)])
			_, first, _ := l.screen.Get(at, y)
			for x := at; x < at+len(tags); x++ {
				if _, style, _ := l.screen.Get(x, y); style != first {
					t.Fatalf("a tag changes the style of cell %d in %q", x, rows[y])
				}
			}
			for y := range 10 {
				for x := range 120 {
					text, _, _ := l.screen.Get(x, y)
					if strings.ContainsFunc(text, view.Steers) {
						t.Errorf("cell %d,%d steers: %q", x, y, text)
					}
				}
			}
			put(l, "\x1b[2J\x1b]0;t\aa\u202eb\u009b1m\r")
			for _, r := range l.rows() {
				if strings.ContainsFunc(r, view.Steers) {
					t.Errorf("a row steers: %q", r)
				}
			}
		})
	}
}

func TestCharacters(t *testing.T) {
	l := newLab(t, 14, 8)
	l.Person("漢字漢字漢字漢字 👩‍👩‍👧‍👦👩‍👩‍👧‍👦 שלום e\u0301")
	want := " ▌ 漢字漢字漢\n ▌ 字漢字 👩‍👩‍👧‍👦👩‍👩‍👧‍👦\n ▌ שלום e\u0301"
	got := strings.TrimRight(strings.Join(l.rows(), "\n"), "\n")
	if got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

// Bug report F-04: what is read stays where it is while more comes and the width changes.
func TestReading(t *testing.T) {
	l := newLab(t, 60, 20)
	for i := range 500 {
		l.Write(fmt.Sprintf("Paragraph %d says something that is longer than half of a narrow screen.\n\n", i), false)
	}
	l.rows()
	l.Page(-1)
	l.rows()
	l.Page(-1)
	before := firstText(l.rows())
	for i := range 200 {
		l.Write(fmt.Sprintf("new line %d\n\n", i), false)
		rows := l.rows()
		if got := firstText(rows); got != before {
			t.Fatalf("after %d lines the first is %q, was %q", i+1, got, before)
		}
		if !strings.Contains(rows[19], "new output") {
			t.Fatalf("no mark: %q", rows[19])
		}
	}
	for _, width := range []int{33, 47, 80, 20, 60} {
		l.resize(width, 20)
		got := firstText(l.rows())
		number := strings.Fields(before)[1]
		if !strings.HasPrefix(got, "Paragraph "+number+" ") {
			t.Fatalf("at %d columns the first is %q, was %q", width, got, before)
		}
	}
	l.End()
	rows := l.rows()
	if last := strings.TrimSpace(rows[19]); !l.Follows() || last != "new line 199" {
		t.Errorf("the end is %q", last)
	}
	l.Write("one more\n", false)
	if last := strings.TrimSpace(l.rows()[19]); last != "one more" {
		t.Errorf("it does not follow: %q", last)
	}
}

// Scrolling by any steps shows consecutive rows of one text, whatever the width was.
func TestScrollProperty(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		l := newLab(t, 40, 8)
		n := rapid.IntRange(1, 30).Draw(rt, "blocks")
		for i := range n {
			switch rapid.IntRange(0, 4).Draw(rt, "kind") {
			case 0:
				l.Person(strings.Repeat("word ", rapid.IntRange(1, 60).Draw(rt, "words")))
			case 1:
				l.Write(strings.Repeat("漢字 text ", rapid.IntRange(1, 40).Draw(rt, "words")), rapid.Bool().Draw(rt, "thinking"))
			case 2:
				id := fmt.Sprint(i)
				l.Begin(id, "bash", `{"command":"make"}`)
				l.Finish(id, Result{Content: strings.Repeat("out\n", i)})
			case 3:
				l.Notice(view.Notice{Text: "note"})
			case 4:
				l.EndReply()
			}
		}
		for range rapid.IntRange(1, 20).Draw(rt, "steps") {
			if rapid.IntRange(0, 5).Draw(rt, "resize") == 0 {
				l.resize(rapid.IntRange(6, 60).Draw(rt, "w"), rapid.IntRange(1, 12).Draw(rt, "h"))
			}
			l.rows()
			l.Scroll(rapid.IntRange(-20, 20).Draw(rt, "by"))
			rows := l.rows()
			var all []string
			w, h := l.screen.Size()
			if err := l.Text(w, func(s string) error { all = append(all, s); return nil }); err != nil {
				rt.Fatal(err)
			}
			if l.fresh {
				rows = rows[:h-1]
			}
			text := "\n" + strings.Join(all, "\n") + strings.Repeat("\n", h+1)
			if !strings.Contains(text, "\n"+strings.Join(rows, "\n")) {
				rt.Fatalf("these rows are no part of the text:\n%s\n---\n%s", strings.Join(rows, "\n"), text)
			}
			if len(all) >= h && strings.TrimSpace(strings.Join(rows, "")) == "" && len(rows) > 3 {
				rt.Fatalf("an empty screen:\n%s", strings.Join(rows, "\n"))
			}
		}
	})
}

// Streaming in any portions shows the same as all at once.
func TestPortions(t *testing.T) {
	text := "# Head\n\nSome *text* here.\n\n```go\nfunc main() {}\n```\n\n" + strings.Repeat("- item one\n- item two\n\nparagraph\n\n", 600) +
		"```\n" + strings.Repeat("code line\n", 3000) + "```\nend\n"
	whole := newLab(t, 50, 12)
	whole.Write(text, false)
	want := textOf(t, whole, 50)
	r := rand.New(rand.NewPCG(1, 2))
	parts := newLab(t, 50, 12)
	for rest := text; rest != ""; {
		n := min(1+r.IntN(300), len(rest))
		parts.Write(rest[:n], false)
		rest = rest[n:]
		if r.IntN(20) == 0 {
			parts.rows()
		}
	}
	if got := textOf(t, parts, 50); got != want {
		t.Error("portions show something else")
	}
	if strings.Count(want, "code line") != 3000 || strings.Contains(want, "```") {
		t.Errorf("code that is cut is no code any more: %d lines, fences %v", strings.Count(want, "code line"), strings.Contains(want, "```"))
	}
}

func textOf(t *testing.T, l *lab, width int) string {
	t.Helper()
	var b strings.Builder
	if err := l.Text(width, func(s string) error { b.WriteString(s + "\n"); return nil }); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

func TestCalls(t *testing.T) {
	l := newLab(t, 70, 30)
	l.Begin("1", "read", `{"path":"internal/http/login.go"}`)
	l.Finish("1", Result{Content: "x", Details: []byte(`{"from_line":1,"to_line":84,"total_lines":84}`)})
	l.Begin("2", "edit", `{"path":"internal/http/login.go","edits":[]}`)
	diff := "--- a\n+++ b\n@@ -1,2 +1,7 @@\n a\n+b1\n+b2\n+b3\n+b4\n+b5\n c\n"
	l.Finish("2", Result{Content: "ok", Details: []byte(`{"diff":` + fmt.Sprintf("%q", diff) + `,"added":5,"removed":0}`)})
	l.Begin("3", "bash", `{"command":"rm -rf build"}`)
	l.Refuse("3", "guard", "removal needs a person")
	l.Begin("4", "bash", `{"command":"make\nmake test"}`)
	l.Output("4", "one\ntwo\nthree\nfour\n")
	l.Begin("5", "bash", `{"command":"false"}`)
	l.Finish("5", Result{Content: strings.Repeat("out\n", 40), Details: []byte(`{"status":1}`)})
	want := ` ● read   internal/http/login.go                             84 lines
 ● edit   internal/http/login.go                                +5 −0
   │   2 + b1
   │   3 + b2
   │   4 + b3
   └ 5 more lines
 ✗ bash   rm -rf build       blocked by guard: removal needs a person
 ● bash   make …
   │ two
   │ three
   │ four
 ✗ bash   false                                              status 1`
	if got := strings.TrimRight(strings.Join(l.rows(), "\n"), "\n"); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
	// A click opens the output as far as it is shown folded, another one all of it.
	click := func(y int) {
		l.Mouse(kit.Mouse{Action: kit.Press, Button: tcell.ButtonPrimary, X: 2, Y: y})
		l.Mouse(kit.Mouse{Action: kit.Release, Button: tcell.ButtonPrimary, X: 2, Y: y})
	}
	click(11)
	if got := strings.Join(l.rows(), "\n"); strings.Count(got, "│ out") != 15 || !strings.Contains(got, "25 more lines") {
		t.Errorf("folded:\n%s", got)
	}
	click(11)
	if got := textOf(t, l, 70); strings.Count(got, "│ out") != 40 {
		t.Errorf("open:\n%s", got)
	}
	l.End()
}

// Sequences that are cut between two pieces of output leave nothing behind, and a line
// that is written over again shows its last text.
func TestOutputInPieces(t *testing.T) {
	for _, done := range []bool{false, true} {
		l := newLab(t, 60, 10)
		l.Begin("1", "shell", `{"command":"make"}`)
		for _, piece := range []string{"\x1b[3", "1mred\x1b", "[0m\n10%\r5", "0%\r100%\r\nd", "one\r\n"} {
			l.Output("1", piece)
		}
		if done {
			l.Settle("1", "status 0", false)
			l.Show("1")
		}
		if got := strings.Join(l.rows(), "\n"); !strings.Contains(got, "│ red\n   │ 100%\n   │ done") {
			t.Errorf("done %v:\n%s", done, got)
		}
	}
}

func TestSelect(t *testing.T) {
	l := newLab(t, 30, 6)
	l.Person("first line\nsecond line\nthird line")
	l.rows()
	copied := ""
	l.Copy = func(s string) { copied = s }
	b := tcell.ButtonPrimary
	l.Mouse(kit.Mouse{Action: kit.Press, Button: b, X: 9, Y: 0})
	l.Mouse(kit.Mouse{Action: kit.Drag, Button: b, X: 8, Y: 1})
	l.rows()
	l.Mouse(kit.Mouse{Action: kit.Release, Button: b, X: 8, Y: 1})
	if want := "line\nsecond"; copied != want {
		t.Errorf("copied %q, want %q", copied, want)
	}
}

// Thoughts are one line until they are asked for.
func TestThinking(t *testing.T) {
	l := newLab(t, 40, 10)
	l.Write("first thought\nsecond thought\n", true)
	l.Write("The answer.", false)
	if got := strings.Join(l.rows(), "\n"); strings.Contains(got, "second") || !strings.Contains(got, "thinking first thought") {
		t.Errorf("folded:\n%s", got)
	}
	l.ToggleThinking()
	if got := strings.Join(l.rows(), "\n"); !strings.Contains(got, "second thought") {
		t.Errorf("open:\n%s", got)
	}
}

// Output that is shown folded from the start opens with all the others, and a click
// goes on from what is seen.
func TestOpenShownOutput(t *testing.T) {
	l := newLab(t, 60, 60)
	l.Command("make")
	l.Begin("!1", "shell", "")
	l.Show("!1")
	for i := range 40 {
		l.Output("!1", fmt.Sprintf("line %d.\n", i))
	}
	l.Settle("!1", "exited(0)", false)
	l.Begin("2", "bash", `{"command":"ls"}`)
	l.Finish("2", Result{Content: strings.Repeat("a file\n", 40)})
	count := func(text string) int { return strings.Count(strings.Join(l.rows(), "\n"), text) }
	if n, m := count("line "), count("a file"); n != 15 || m != 0 {
		t.Errorf("%d and %d lines at first", n, m)
	}
	l.StepOutput()
	if n, m := count("line "), count("a file"); n != 40 || m != 15 {
		t.Errorf("%d and %d lines when all is open", n, m)
	}
	l.StepOutput()
	l.StepOutput()
	if n, m := count("line "), count("a file"); n != 15 || m != 0 {
		t.Errorf("%d and %d lines when it is folded again", n, m)
	}
	l.Mouse(kit.Mouse{Action: kit.Press, Button: tcell.Button1, X: 3, Y: 4})
	l.Mouse(kit.Mouse{Action: kit.Release, Button: tcell.Button1, X: 3, Y: 4})
	if n := count("line "); n != 40 {
		t.Errorf("%d lines after a click", n)
	}
}

// What is read comes back with the width, however often that changes meanwhile: the place
// does not wander to the beginning of a row each time.
func TestReadingAtManyWidths(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		l := newLab(t, 80, 10)
		for i := range rapid.IntRange(1, 4).Draw(rt, "blocks") {
			var text strings.Builder
			for j := range rapid.IntRange(20, 300).Draw(rt, "words") {
				fmt.Fprintf(&text, "%d.%d%s", i, j, rapid.SampledFrom([]string{" ", " ", " ", " 漢字 ", "\n\n"}).Draw(rt, "gap"))
			}
			if rapid.Bool().Draw(rt, "person") {
				l.Person(text.String())
			} else {
				l.Write(text.String(), false)
				l.EndReply()
			}
		}
		l.rows()
		l.Scroll(-rapid.IntRange(1, 40).Draw(rt, "back"))
		before := l.rows()
		if l.Follows() {
			return // all of it fits
		}
		for range rapid.IntRange(1, 12).Draw(rt, "changes") {
			l.resize(rapid.IntRange(12, 120).Draw(rt, "width"), 10)
			if l.rows(); l.Follows() {
				return // the end is in sight
			}
		}
		l.resize(80, 10)
		if after := l.rows(); after[0] != before[0] {
			rt.Fatalf("the first row was\n%q\nand is\n%q", before[0], after[0])
		}
	})
}
