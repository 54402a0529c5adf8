package command_test

import (
	"strings"
	"testing"

	"starling/bus/view"
	"starling/surfaces/tui/kit"
)

// What /policy says of a call hides nothing of it.
func TestPolicyHidesNothing(t *testing.T) {
	s := &fake{}
	s.answers = []view.Decision{{Tool: "bash", Summary: "bash true \x1b]0; touch pwned \x07", Effect: "allow", By: "person", Why: "\u009dy\u009c"}}
	r := run(s, "/policy")
	text := r.View.Load(t.Context())
	got := text.Text(120, kit.SignsFor(false))
	for _, want := range []string{`bash true \x1b]0; touch pwned \x07`, `\u009dy\u009c`} {
		if !strings.Contains(got, want) {
			t.Errorf("%q is not shown:\n%s", want, got)
		}
	}
}
