package tui

import (
	"testing"

	"starling/bus/event"
)

// A question of the line mode hides nothing of what it asks about.
func TestLinesHideNothing(t *testing.T) {
	e := &engine{}
	l := newPlain(t, e)
	l.sees("/help")
	l.s.onQuestion(&event.QuestionEvent{
		ID: "q", Kind: "permission", Summary: "bash true \x1b]0; touch pwned \x07", Detail: "true \x1b]0;\nrm -rf precious\n# \x07",
		Reasons: []string{"reads \x1b]0;this\x07"}, Options: []string{"yes", "no"},
	})
	for _, want := range []string{`bash true \x1b]0; touch pwned \x07`, "│ true \\x1b]0;\n│ rm -rf precious\n│ # \\x07", `reads \x1b]0;this\x07`} {
		l.sees(want)
	}
	l.line("/quit")
	if err := l.in.Close(); err != nil {
		t.Error(err)
	}
	l.ends()
}
