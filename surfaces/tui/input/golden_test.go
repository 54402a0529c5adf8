package input

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"starling/bus/event"
	"starling/bus/view"
	"starling/surfaces/internal/golden"
	"starling/surfaces/tui/kit"
)

// sizes of the golden screens.
var sizes = []struct{ w, h int }{{40, 12}, {80, 24}, {120, 40}}

func TestGoldenEditor(t *testing.T) {
	for _, size := range sizes {
		for _, ascii := range []bool{false, true} {
			name := fmt.Sprintf("editor-%dx%d", size.w, size.h)
			if ascii {
				if size.w != 40 {
					continue
				}
				name += "-ascii"
			}
			var out strings.Builder
			add := func(title string, d *desk) {
				s := simulation(t, size.w, size.h)
				n := min(d.e.Rows(size.w), size.h/3)
				d.e.SetRect(0, size.h-n, size.w, n)
				d.e.Draw(s)
				d.e.DrawPopup(s)
				fmt.Fprintf(&out, "== %s\n%s", title, strings.TrimLeft(picture(s), "\n"))
			}
			desk := func() *desk {
				d := newDesk(t)
				d.host.signs = kit.SignsFor(ascii)
				d.e.o.Placeholder = "What shall we do? / for commands"
				d.e.SetCommands([]view.Command{
					{Name: "model", Description: "choose another model"},
					{Name: "mode", Description: "what runs without a question"},
					{Name: "memory", Description: "notes that are kept between sessions, to look at, add and forget"},
					{Name: "todos", Description: "[red]the list[-]", From: "todos"},
				})
				return d
			}
			d := desk()
			add("empty", d)
			d.keys("and log the [red]refused[-] 漢字 addresses, all of them, 👩‍👩‍👧 too")
			add("text", d)
			d = desk()
			d.keys("!ls -l")
			add("shell", d)
			d = desk()
			d.keys("look at ")
			d.e.Paste(strings.Repeat("x\n", 10_000))
			d.keys("and ")
			d.e.AttachFile("img/a b.png")
			add("folded paste and file", d)
			d = desk()
			for i := range 6 {
				d.e.Queue().Push(Entry{Text: fmt.Sprintf("queued line %d\nsecond", i+1)})
			}
			add("queue", d)
			d.keys("<up>")
			add("queue, marked", d)
			d = desk()
			d.keys("/m")
			add("commands", d)
			d.keys("<down>")
			add("commands, moved", d)
			d = desk()
			d.keys("/to")
			add("a plugin's command", d)
			d = desk()
			d.keys("see @ma")
			d.e.Offer(d.asked[len(d.asked)-1].Gen, []Candidate{{Text: "main.go"}, {Text: "cmd/main.go"}, {Text: "docs/[red]ma.md"}})
			add("files", d)
			golden.Compare(t, name, out.String())
		}
	}
}

// The border says that a line is for the shell: in colour, and in words without.
func TestShellBorder(t *testing.T) {
	for _, theme := range kit.ThemeNames() {
		d := newDesk(t)
		d.host.theme, _ = kit.NewTheme(theme)
		s := simulation(t, 40, 4)
		look := func() (string, bool) {
			d.e.SetRect(0, 0, 40, 4)
			d.e.Draw(s)
			text := picture(s)
			cells, _, _ := s.GetContents()
			return text, cells[0].Style == d.host.theme.Shell
		}
		if text, red := look(); strings.Contains(text, "shell") || red && theme != "none" {
			t.Errorf("%s: a prompt looks like a command:\n%s", theme, text)
		}
		d.keys("!ls")
		if text, red := look(); !strings.Contains(text, "shell") || !red {
			t.Errorf("%s: a command looks like a prompt:\n%s", theme, text)
		}
	}
}

func TestGoldenQuestions(t *testing.T) {
	diff := permission()
	diff.Tool, diff.Summary = "edit", "edit internal/http/login.go"
	diff.Detail = "--- a/login.go\n+++ b/login.go\n@@ -39,3 +39,5 @@\n \tip := r.RemoteAddr\n+\tif !limiter.Allow(ip) {\n+\t\thttp.Error(w, \"slow down\", 429)\n-\t_ = ip\n \treturn nil\n"
	diff.Origin = "agent reviewer"
	floor := permission()
	floor.Floor, floor.Options = true, []string{view.AnswerYes, view.AnswerNo, view.AnswerEdit}
	floor.Detail = "cd build &&\n  git push --force origin main && " + strings.Repeat("echo a long line of a command ", 6)
	floor.Reasons = []string{"safety floor: a forced push rewrites what others have"}
	long := permission()
	long.Detail = strings.Repeat("echo one of many lines\n", 60)
	for _, c := range []struct {
		name, keys string
		q          *event.QuestionEvent
	}{
		{"command", "", permission()},
		{"diff", "", diff},
		{"floor", "", floor},
		{"long", "<pagedown>", long},
		{"always", "a", permission()},
		{"why", "nuse make clean", permission()},
		{"edit", "e", permission()},
		{"edit-fault", "e<backspace><enter>", permission()},
		{"options", "<down>", &event.QuestionEvent{
			ID: "1", Kind: "question", Tool: "question", Origin: "main", Summary: "Which store?",
			Detail: "Which store shall the sessions have? Both are there already.", Options: []string{"files in the home, one a session", "the database that the tests use"},
		}},
		{"words", "neither", &event.QuestionEvent{ID: "1", Kind: "question", Detail: "What is the name of the branch?"}},
		{"trust", "", &event.QuestionEvent{
			ID: "1", Kind: "trust", Summary: "plugin guard changed while a run was alive",
			Detail: "plugin guard  .starling/plugins/guard.star\n  may: fs.read\n@@ -1 +1 @@\n-x = 1\n+x = 2\n", Options: []string{view.AnswerTrust, view.AnswerTrustEdits, view.AnswerNo},
		}},
	} {
		var out strings.Builder
		for _, size := range sizes[:2] {
			h := newHost(t, "none", false)
			s, _ := newQuestions(t, h, nil)
			s.Ask(c.q)
			show(t, s, size.w, size.h)
			pressOn(h, s, c.keys)
			h.clock = s.open[0].asked.Add(12 * time.Second)
			fmt.Fprintf(&out, "== %dx%d\n%s", size.w, size.h, show(t, s, size.w, size.h))
		}
		golden.Compare(t, "question-"+c.name, out.String())
	}
}

func TestGoldenPicker(t *testing.T) {
	var out strings.Builder
	for _, size := range sizes[:2] {
		for _, keys := range []string{"", "go<down>", "zzz"} {
			p := NewPicker(PickerOptions{
				Host: newHost(t, "none", false), Title: "sessions",
				Items: []Item{
					{Text: "add a rate limit", Note: "2 hours ago", Detail: "12 messages\nin shop"},
					{Text: "[red]going on[-] with 漢字 and a title that is rather long for it", Note: "yesterday", Detail: "@@ -1 +1 @@\n-a\n+b\n"},
					{Text: "go modules", Note: "in May"},
				},
				Actions: []PickAction{{"enter", "go on", nil}, {"ctrl+d", "delete", nil}},
			})
			pressOn(newHost(t, "none", false), p, keys)
			fmt.Fprintf(&out, "== %dx%d %s\n%s", size.w, size.h, keys, show(t, p, size.w, size.h))
		}
	}
	golden.Compare(t, "picker", out.String())
}
