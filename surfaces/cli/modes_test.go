package cli_test

import (
	"slices"
	"testing"

	"starling/surfaces/tui/command"
	"starling/trust/permit"
)

// The terminal names the modes itself: it may not import what decides by them.
func TestModesOfTheTerminal(t *testing.T) {
	var shown, known []string
	for _, m := range command.Modes() {
		shown = append(shown, m.Name)
	}
	for _, m := range permit.Modes {
		known = append(known, string(m))
	}
	slices.Sort(shown)
	slices.Sort(known)
	if !slices.Equal(shown, known) {
		t.Errorf("the terminal offers %q, there are %q", shown, known)
	}
}
