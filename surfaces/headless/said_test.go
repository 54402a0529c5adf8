package headless_test

import (
	"testing"

	"starling/surfaces/headless"
)

// Each line says who speaks, so that several faults can be told apart in a log.
func TestSaid(t *testing.T) {
	for text, want := range map[string]string{
		"":                 "",
		"one":              "starling: one",
		"one\n":            "starling: one",
		"one\ntwo\n":       "starling: one\nstarling: two",
		"one\n\n two":      "starling: one\n\nstarling:  two",
		"red \x1b[31mtext": "starling: red text",
	} {
		if got := headless.Said(text); got != want {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
}
