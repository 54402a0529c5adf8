package input

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/gdamore/tcell/v2"
	"github.com/google/go-cmp/cmp"

	"starling/bus/event"
	"starling/bus/view"
	"starling/surfaces/tui/kit"
)

func permission() *event.QuestionEvent {
	return &event.QuestionEvent{
		ID: "1", Kind: "permission", Tool: "bash", Summary: "bash: rm -rf build", Detail: "rm -rf build",
		Reasons: []string{"mode ask: a command of class change asks"}, Origin: "main",
		Options: []string{view.AnswerYes, view.AnswerAlways, view.AnswerNo, view.AnswerEdit},
		Always:  []string{"bash(rm -rf build)"}, Arguments: json.RawMessage(`{"command":"rm -rf build"}`),
	}
}

func questionOn(t testing.TB, h *host, q *event.QuestionEvent) *question {
	t.Helper()
	d := newQuestion(h, q, nil)
	d.now, d.when, d.after, d.asked = h.now, h.when, h.after, h.clock
	return d
}

// pressOn presses keys as a person who reads first.
func pressOn(h *host, m kit.Modal, spelled string) {
	for _, ev := range spell(spelled) {
		h.wait(time.Second)
		m.Key(ev)
	}
	h.wait(time.Second)
}

type said struct {
	ID string
	A  view.Answer
}

// desk of questions: what was answered, with the clock of the host.
func newQuestions(t testing.TB, h *host, check func(string, json.RawMessage) error) (*Questions, *[]said) {
	var answers []said
	s := NewQuestions(QuestionsOptions{
		Host: h, Check: check,
		Answer: func(id string, a view.Answer) { answers = append(answers, said{id, a}) },
	})
	s.made = func(d *question) { d.now, d.when, d.after, d.asked = h.now, h.when, h.after, h.clock }
	return s, &answers
}

func show(t testing.TB, m kit.Modal, w, h int) string {
	s := simulation(t, w, h)
	r := m.Room(kit.Rect{W: w, H: h})
	m.SetRect(r.X, r.Y, r.W, r.H)
	m.Draw(s)
	return picture(s)
}

func TestAnswers(t *testing.T) {
	ask := &event.QuestionEvent{ID: "1", Kind: "question", Detail: "Which colour?", Options: []string{"red", "blue"}}
	free := &event.QuestionEvent{ID: "1", Kind: "question", Detail: "Why?"}
	trust := &event.QuestionEvent{ID: "1", Kind: "trust", Detail: "@@ -1 +1 @@\n-a\n+b\n", Options: []string{view.AnswerTrust, view.AnswerTrustEdits, view.AnswerNo}}
	plain := permission()
	plain.Options = []string{view.AnswerYes, view.AnswerNo}
	for _, c := range []struct {
		name, keys string
		q          *event.QuestionEvent
		want       *view.Answer
	}{
		{"yes", "y", permission(), &view.Answer{Value: "yes"}},
		{"no", "n<enter>", permission(), &view.Answer{Value: "no"}},
		{"no with a why", "nuse make clean<enter>", permission(), &view.Answer{Value: "no", Why: "use make clean"}},
		{"no, back, yes", "nno<esc>y", permission(), &view.Answer{Value: "yes"}},
		{"Esc is no", "<esc>", permission(), &view.Answer{Value: "no"}},
		{"always in this session", "as", permission(), &view.Answer{Value: "always"}},
		{"always in this workspace", "aw", permission(), &view.Answer{Value: "always", Everywhere: true}},
		{"always, back", "a<esc>", permission(), nil},
		{"always has a second step", "ay", permission(), nil},
		{"no always where there is none", "as", plain, nil},
		{"no edit where there is none", "e<enter>", plain, nil},
		{"Enter is no answer", "<enter>", permission(), nil},
		{"nor is a blank", " ", permission(), nil},
		{"edit", "e<ctrl+home><down><end><left><backspace><backspace><backspace><backspace><backspace>tmp<enter>", permission(), &view.Answer{Value: "edit", Arguments: json.RawMessage("{\n  \"command\": \"rm -rf tmp\"\n}")}},
		{"edit that is no JSON", "e<backspace><enter>", permission(), nil},
		{"an option by number", "2", ask, &view.Answer{Value: "blue"}},
		{"an option by mark", "<down><enter>", ask, &view.Answer{Value: "blue"}},
		{"no such option", "3", ask, nil},
		{"own words", "tgreen<enter>", ask, &view.Answer{Value: "green"}},
		{"no answer", "<esc>", ask, &view.Answer{}},
		{"free text", "because<ctrl+j>so<enter>", free, &view.Answer{Value: "because\nso"}},
		{"an empty text is none", "<enter>", free, nil},
		{"trust this version", "y", trust, &view.Answer{Value: "version"}},
		{"trust edits", "e", trust, &view.Answer{Value: "edits"}},
		{"trust not", "n", trust, &view.Answer{Value: "no"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			h := newHost(t, "none", false)
			s, answers := newQuestions(t, h, nil)
			s.Ask(c.q)
			show(t, s, 80, 24)
			pressOn(h, s, c.keys)
			var want []said
			if c.want != nil {
				want = []said{{"1", *c.want}}
			}
			if diff := cmp.Diff(want, *answers); diff != "" {
				t.Error(diff)
			}
			if s.Done() != (c.want != nil) {
				t.Errorf("done: %v", s.Done())
			}
		})
	}
}

// Enter answers with an option only when it is in sight: the view follows the mark, and
// where it began elsewhere the first Enter shows it.
func TestOptionsOutOfSight(t *testing.T) {
	long := &event.QuestionEvent{
		ID: "1", Kind: "question", Detail: strings.Repeat("What is meant by this? ", 30),
		Options: []string{strings.Repeat("red ", 40), "green", "blue"},
	}
	for _, size := range [][2]int{{40, 12}, {80, 15}, {80, 24}, {200, 60}} {
		h := newHost(t, "none", false)
		s, answers := newQuestions(t, h, nil)
		s.Ask(long)
		w, rows := size[0], size[1]
		screen := show(t, s, w, rows)
		for _, option := range []string{"1  red", "2  green", "3  blue"} {
			if !strings.Contains(screen, option) {
				pressOn(h, s, "<enter>")
				if len(*answers) > 0 {
					t.Fatalf("%d columns, %d rows: %s was answered unseen:\n%s", w, rows, option, screen)
				}
				screen = show(t, s, w, rows)
			}
			if !strings.Contains(screen, option) {
				t.Fatalf("%d columns, %d rows: %s is not in sight:\n%s", w, rows, option, screen)
			}
			if option != "3  blue" {
				pressOn(h, s, "<down>")
				screen = show(t, s, w, rows)
			}
		}
		pressOn(h, s, "<up><enter>") // without a frame between
		if len(*answers) != 1 || (*answers)[0].A.Value != "green" {
			t.Errorf("%d columns, %d rows: %+v", w, rows, *answers)
		}
	}
}

// Nothing typed before a question could be read answers it.
func TestTypedAhead(t *testing.T) {
	const keys = "y<enter>an<esc>es2t"
	for name, c := range map[string]struct {
		typed func(h *host, s *Questions)
	}{
		"before the first frame": {func(h *host, s *Questions) {
			for _, ev := range spell(keys) {
				s.Key(ev)
			}
			show(t, s, 80, 24)
		}},
		"in the first 300 ms": {func(h *host, s *Questions) {
			show(t, s, 80, 24)
			h.wait(299 * time.Millisecond)
			s.Key(eventOf("y"))
		}},
		"in the queue when it opened": {func(h *host, s *Questions) {
			then := h.clock
			show(t, s, 80, 24)
			h.wait(time.Minute) // the loop was busy; the keys are as old as before
			s.open[0].when = func(*tcell.EventKey) time.Time { return then }
			for _, ev := range spell(keys) {
				s.Key(ev)
			}
		}},
		"while somebody goes on typing": {func(h *host, s *Questions) {
			show(t, s, 80, 24)
			for range 40 {
				h.wait(100 * time.Millisecond)
				s.Key(eventOf("y"))
			}
		}},
		"after a pause, words that are for something else": {func(h *host, s *Questions) {
			show(t, s, 80, 24)
			h.wait(500 * time.Millisecond)
			for _, ev := range spell("this yes") {
				s.Key(ev)
				h.wait(120 * time.Millisecond)
			}
			h.wait(time.Second)
		}},
		"for the question before": {func(h *host, s *Questions) {
			first := permission()
			first.ID = "0"
			s.open = append([]*question{questionOn(t, h, first)}, s.open...)
			show(t, s, 80, 24)
			h.wait(time.Second)
			s.Settled("0")
			show(t, s, 80, 24)
			s.Key(eventOf("y"))
		}},
		"as a paste": {func(h *host, s *Questions) {
			show(t, s, 80, 24)
			h.wait(time.Second)
			s.Paste("y\n")
		}},
		"as a paste that comes as keys": {func(h *host, s *Questions) {
			show(t, s, 80, 24)
			h.wait(time.Second)
			for _, ev := range spell("yes, as said\n") {
				s.Key(ev)
			}
			h.wait(time.Second)
		}},
		"as a click": {func(h *host, s *Questions) {
			show(t, s, 80, 24)
			h.wait(time.Second)
			for y := range 24 {
				s.Mouse(kit.Mouse{Action: kit.Press, Button: tcell.Button1, X: 10, Y: y})
			}
		}},
	} {
		t.Run(name, func(t *testing.T) {
			h := newHost(t, "none", false)
			s, answers := newQuestions(t, h, nil)
			s.Ask(permission())
			c.typed(h, s)
			if len(*answers) > 0 || s.Len() != 1 {
				t.Fatalf("answered %v", *answers)
			}
			if show(t, s, 80, 24); s.open[0].stage != choosing {
				t.Fatalf("stage %v", s.open[0].stage)
			}
			s.open[0].when = h.when
			pressOn(h, s, "y")
			if len(*answers) != 1 {
				t.Error("and then it takes no answer")
			}
		})
	}
}

func TestQuestionsOneAfterAnother(t *testing.T) {
	h := newHost(t, "none", false)
	s, answers := newQuestions(t, h, nil)
	for _, id := range []string{"a", "b", "c"} {
		q := permission()
		q.ID = id
		s.Ask(q)
	}
	if text := show(t, s, 80, 24); !strings.Contains(text, "(2 more)") {
		t.Errorf("how many wait is not said:\n%s", text)
	}
	pressOn(h, s, "y")
	s.Settled("b")
	s.Settled("unknown")
	show(t, s, 80, 24)
	s.RefuseAll()
	want := []said{{"a", view.Answer{Value: "yes"}}, {"c", view.Answer{Value: "no"}}}
	if diff := cmp.Diff(want, *answers); diff != "" {
		t.Error(diff)
	}
	if !s.Done() || s.Key(eventOf("y")) {
		t.Error("there is still one")
	}
}

// Edited arguments are held against the schema beside the event loop; an answer that
// comes after another edit is dropped.
func TestEditChecked(t *testing.T) {
	h := newHost(t, "none", false)
	fault := errors.New("arguments.command: is missing")
	var checked []string
	s, answers := newQuestions(t, h, func(tool string, arguments json.RawMessage) error {
		checked = append(checked, string(arguments))
		return fault
	})
	s.Ask(permission())
	show(t, s, 80, 24)
	pressOn(h, s, "e<enter>")
	if text := show(t, s, 80, 24); !strings.Contains(text, fault.Error()) || len(*answers) > 0 {
		t.Fatalf("the fault is not shown:\n%s", text)
	}
	fault = nil
	h.hold = true
	pressOn(h, s, "<enter>x")
	for _, f := range h.held {
		f()
	}
	if len(*answers) > 0 {
		t.Fatalf("sent %v, which was edited meanwhile", *answers)
	}
	h.hold = false
	pressOn(h, s, "<backspace><enter>")
	if len(*answers) != 1 || string((*answers)[0].A.Arguments) != "{\n  \"command\": \"rm -rf build\"\n}" {
		t.Fatalf("answers %v", *answers)
	}
	if len(checked) != 3 {
		t.Errorf("checked %d times", len(checked))
	}
}

// What a question shows cannot steer the terminal, is spelled as it will run, and the
// frame is the program's.
func TestQuestionForeign(t *testing.T) {
	h := newHost(t, "none", false)
	q := permission()
	q.Detail = "echo  two  spaces\x1b[2J\x1b]0;x\a [red]x[-]\ty\r\n\u202eevil\u202c"
	q.Summary, q.Origin = "bash\x1b[31m [::b]", "plugin [red]x\x1b[0m"
	q.Reasons = []string{"[YELLOW] \x1b[7m[\"a\"]b[\"\"]"}
	text := show(t, questionOn(t, h, q), 80, 24)
	for _, want := range []string{`echo  two  spaces\x1b[2J\x1b]0;x\x07 [red]x[-]    y\r`, `\u202eevil\u202c`, `bash\x1b[31m [::b]`, `plugin [red]x\x1b[0m`, `[YELLOW] \x1b[7m["a"]b[""]`} {
		if !strings.Contains(text, want) {
			t.Errorf("%q is not shown:\n%s", want, text)
		}
	}
	if strings.ContainsAny(text, "\x1b\u202e\a") {
		t.Errorf("control characters:\n%q", text)
	}
}

func TestCountdown(t *testing.T) {
	h := newHost(t, "none", false)
	s, _ := newQuestions(t, h, nil)
	s.Ask(permission())
	if text := show(t, s, 80, 24); !strings.Contains(text, "5:00") {
		t.Errorf("five minutes:\n%s", text)
	}
	h.wait(61 * time.Second)
	if text := show(t, s, 80, 24); !strings.Contains(text, "3:59") {
		t.Errorf("a minute later:\n%s", text)
	}
	h.wait(time.Hour)
	if text := show(t, s, 80, 24); !strings.Contains(text, "0:00") {
		t.Errorf("long after:\n%s", text)
	}
}

// TestReadable: what is edited reads as it was meant, and means the same JSON.
func TestReadable(t *testing.T) {
	for _, c := range []struct{ in, want string }{
		{`{"c":"a \u003e b \u0026\u0026 c \u003C d"}`, "{\n  \"c\": \"a > b && c < d\"\n}"},
		{`{"c":"\\u003e stays"}`, "{\n  \"c\": \"\\\\u003e stays\"\n}"},
		{`{"c":"\u0000\\\u003e\"\u00e9"}`, "{\n  \"c\": \"\\u0000\\\\>\\\"\\u00e9\"\n}"},
		{`{"c":1e400}`, "{\n  \"c\": 1e400\n}"},
		{`no JSON \`, `no JSON \`},
		{"{\"c\":\"a\u009d0;b\u009c\u202e\U000e0041\"}", "{\n  \"c\": \"a\\u009d0;b\\u009c\\u202e\\udb40\\udc41\"\n}"},
	} {
		if got := indented(json.RawMessage(c.in)); got != c.want {
			t.Errorf("%s reads %s, want %s", c.in, got, c.want)
		}
	}
}

// FuzzReadable: no text changes what it means.
func FuzzReadable(f *testing.F) {
	for _, seed := range []string{"a > b", `\u003e`, "\\<&\u2028", ""} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		data, err := json.Marshal(map[string]string{"c": text})
		if err != nil {
			t.Fatal(err)
		}
		var want, got map[string]string
		if err := json.Unmarshal(data, &want); err != nil {
			t.Fatal(err)
		}
		if err := json.Unmarshal([]byte(indented(data)), &got); err != nil || got["c"] != want["c"] {
			t.Errorf("%q became %q, %v", want["c"], got["c"], err)
		}
	})
}

// A person sees what class the call is of and who makes it, the main agent too.
func TestQuestionSaysRiskAndOrigin(t *testing.T) {
	for _, origin := range []string{"main", "plugin tidy"} {
		q := permission()
		q.Risk, q.Origin = "destructive", origin
		h := newHost(t, "none", false)
		got := show(t, questionOn(t, h, q), 80, 24)
		if !strings.Contains(got, "risk: destructive "+h.Signs().Dot+" from: "+origin) {
			t.Errorf("%s", got)
		}
	}
}
