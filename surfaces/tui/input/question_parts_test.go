package input

import (
	"fmt"
	"strings"
	"testing"

	"starling/bus/event"
	"starling/bus/view"
)

// On a small screen a person sees how what would run begins, the first reason, and the
// keys; a mark says that there is more, and scrolling shows all of it.
func TestSmallQuestion(t *testing.T) {
	lines := func(n int) string {
		var b strings.Builder
		for i := range n {
			fmt.Fprintf(&b, "make part-%d\n", i)
		}
		return b.String()
	}
	const reason = "mode ask: a command of class change asks"
	long := strings.Repeat("it says why at length ", 20) + "and ends here"
	for name, q := range map[string]struct {
		summary, detail string
		reasons         []string
		risk            string
		begins          string // what of it must be seen at once
	}{
		"one line":          {"bash make part-0", "make part-0", []string{reason}, "change", "make part-0"},
		"nine lines":        {"bash make part-0 …", lines(9), []string{reason}, "change", "make part-0"},
		"a script":          {"bash make part-0 …", lines(60), []string{reason}, "destructive", "make part-0"},
		"a long line":       {"bash echo one", "echo one " + strings.Repeat("and another ", 30), []string{reason}, "change", "echo one"},
		"a diff":            {"edit internal/http/login.go", "--- a/login.go\n+++ b/login.go\n@@ -1 +1,40 @@\n" + strings.Repeat("+x\n", 40), []string{reason}, "change", "edit internal/http/login.go"},
		"a long summary":    {"write " + strings.Repeat("a/very/long/path/", 8), lines(3), []string{reason}, "change", "a/very/long/path"},
		"nothing below":     {"send a message to all of them", "", []string{reason}, "network", "send a message"},
		"many reasons":      {"bash make part-0 …", lines(20), []string{reason, "rule ask bash(make *)", "plugin guard: it is Friday", "plugin other: it is late in the day", "rule ask *"}, "destructive", "make part-0"},
		"a long reason":     {"bash make part-0 …", lines(3), []string{long, reason}, "destructive", "make part-0"},
		"all of it is long": {"write " + strings.Repeat("a/very/long/path/", 8), lines(60), []string{long, reason}, "destructive", "a/very/long/path"},
	} {
		for _, size := range []struct{ w, h int }{{40, 12}, {40, 10}, {60, 14}, {80, 24}} {
			t.Run(fmt.Sprintf("%s, %dx%d", name, size.w, size.h), func(t *testing.T) {
				h := newHost(t, "none", false)
				s, _ := newQuestions(t, h, nil)
				s.o.Running = func() bool { return true }
				s.Ask(&event.QuestionEvent{
					ID: "1", Kind: "permission", Tool: strings.Fields(q.summary)[0], Summary: q.summary, Detail: q.detail,
					Reasons: q.reasons, Risk: q.risk, Origin: "main", Floor: true,
					Options: []string{view.AnswerYes, view.AnswerAlways, view.AnswerNo, view.AnswerEdit},
				})
				first := show(t, s, size.w, size.h)
				for _, want := range []string{q.begins, cutWords(q.reasons[0], size.w-6), "y yes", "a always", "n no", "e edit", "Esc stops the run"} {
					if !strings.Contains(first, want) {
						t.Errorf("%q is not seen at once:\n%s", want, first)
					}
				}
				all, more := first, first
				for strings.Contains(more, "↓") {
					pressOn(h, s, "<pagedown>")
					next := show(t, s, size.w, size.h)
					if next == more {
						t.Fatalf("it says that there is more, and does not scroll:\n%s", next)
					}
					all, more = all+next, next
				}
				squeezed := squeeze(all)
				for _, want := range append([]string{q.detail, "Only a person may allow this.", "risk: " + q.risk}, q.reasons[:min(len(q.reasons), 4)]...) {
					for _, l := range strings.Split(want, "\n") {
						if len(squeeze(l)) < size.w && !strings.Contains(squeezed, squeeze(l)) {
							t.Errorf("%q is nowhere:\n%s", l, all)
						}
					}
				}
				if strings.Contains(q.reasons[0], "ends here") && !strings.Contains(squeezed, "endshere") {
					t.Errorf("the reason has no end:\n%s", all)
				}
			})
		}
	}
}

// cutWords is the first words of a text that fit a width.
func cutWords(text string, width int) string {
	if len(text) <= width {
		return text
	}
	text = text[:width]
	return text[:strings.LastIndexByte(text, ' ')]
}

// squeeze leaves out what a frame, a bar and a broken line put between characters.
func squeeze(text string) string {
	return strings.NewReplacer(" ", "", "\n", "", "│", "").Replace(text)
}
