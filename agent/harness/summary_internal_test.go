package harness

import "testing"

// The line that stands for a call in a question and in /policy hides nothing of it.
func TestSummaryHidesNothing(t *testing.T) {
	got := summaryOf("bash", []byte(`{"command":"go test ./... \u001b]0; touch pwned \u0007"}`))
	if want := `bash go test ./... \x1b]0; touch pwned \x07`; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}
