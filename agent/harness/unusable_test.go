package harness_test

import (
	"strings"
	"testing"

	"starling/agent/harness"
)

// A model in a format this version does not speak is offered nowhere; where it is
// the only one, the error says why.
func TestModelThatCannotBeUsed(t *testing.T) {
	const later = `{"id": "later", "provider": "mine", "api": "anthropic-messages", "base_url": "http://127.0.0.1:1/v1"}`
	p := newPlace(t)
	p.options.Host = "terminal"
	p.options.Model = ""
	p.write("home/models.json", `{"version": 1, "models": [`+later+`, {"id": "now", "base_url": "http://127.0.0.1:1/v1"}]}`)
	e := p.start()
	for _, m := range e.Models() {
		if strings.Contains(m.ID, "later") {
			t.Errorf("%s can be chosen", m.ID)
		}
	}
	if _, err := e.SetModel("later"); err == nil || !strings.Contains(err.Error(), "its api anthropic-messages is not usable in this version") {
		t.Errorf("chosen: %v", err)
	}
	if got := e.Status().Model; got != "now" {
		t.Errorf("%s answers", got)
	}
	p.write("home/models.json", `{"version": 1, "models": [`+later+`]}`)
	if _, err := harness.New(t.Context(), p.options); err == nil || !strings.Contains(err.Error(), "model mine/later: its api") {
		t.Errorf("the only one: %v", err)
	}
}
