package input

import (
	"strings"
	"testing"
)

// Beside a short name the note has the room that the name leaves; a long one leaves it half.
func TestNotesOfAPicker(t *testing.T) {
	note := "reading runs, a change asks first (now)"
	for _, c := range []struct{ text, want string }{
		{"ask", note},
		{strings.Repeat("long-name ", 6), "…"},
	} {
		h := newHost(t, "none", false)
		p := NewPicker(PickerOptions{Host: h, Title: "mode", Items: []Item{{Text: c.text, Note: note}}})
		if got := show(t, p, 60, 12); !strings.Contains(got, c.want) {
			t.Errorf("%q:\n%s", c.text, got)
		}
	}
}
