package input

import (
	"strings"
	"testing"

	"starling/bus/event"
)

// What a summary says is not said again above the text that begins with it, however it
// was cut or laid out; a summary that says anything else stands.
func TestToldOnce(t *testing.T) {
	for name, c := range map[string]struct {
		tool, summary, detail string
		head                  string
	}{
		"a command":                {"bash", "bash make all", "make all", ""},
		"a tool and a colon":       {"bash", "bash: make all", "make all", ""},
		"of several lines":         {"bash", "bash make all …", "make all\nmake more", ""},
		"of many characters":       {"bash", "bash " + strings.Repeat("x", 120) + "…", strings.Repeat("x", 300), ""},
		"with a tab":               {"bash", "bash cut -d' ' f", "cut -d'\t' f", ""},
		"arguments":                {"send", `send {"to":"a b","n":1}`, "{\n  \"to\": \"a b\",\n  \"n\": 1\n}", ""},
		"a question":               {"question", "Which one?", "Which one?\nOf these:", ""},
		"nothing":                  {"question", "", "Which one?", ""},
		"a file and a diff":        {"edit", "edit a.go", "--- a.go\n+++ a.go\n", "edit a.go"},
		"another command":          {"bash", "bash make all", "make", "bash make all"},
		"no text below":            {"bash", "bash make all", "", "bash make all"},
		"a name that begins alike": {"go", "gopher", "pher", "gopher"},
		"a trust question":         {"", "trust plugin w?", "plugin w touches nothing", "trust plugin w?"},
	} {
		if got := Tell(&event.QuestionEvent{Kind: "permission", Tool: c.tool, Summary: c.summary, Detail: c.detail}, "·").Head; got != c.head {
			t.Errorf("%s: %q, want %q", name, got, c.head)
		}
	}
}

// A text that is too long is cut where it is asked about, of whatever kind the question
// is, and it says so.
func TestToldCut(t *testing.T) {
	for _, kind := range []string{"permission", "trust", "question"} {
		q := &event.QuestionEvent{Kind: kind, Detail: "\xff" + strings.Repeat("é", shownBytes/2)}
		got := Tell(q, "·")
		if want := q.Detail[:shownBytes-1]; got.What != want || !strings.Contains(got.Cut, "last 2 bytes") {
			t.Errorf("%s: %d bytes, want %d; %q", kind, len(got.What), len(want), got.Cut)
		}
		d := newQuestion(newHost(t, "none", false), q, nil)
		if !strings.Contains(bodyText(d, 80, 24), "are left out") {
			t.Errorf("%s: the screen does not say that something is left out", kind)
		}
	}
}
