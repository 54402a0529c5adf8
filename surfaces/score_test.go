package surfaces_test

import (
	"strings"
	"testing"

	"pgregory.net/rapid"

	"starling/surfaces"
)

// Whatever characters of a text are typed in their order, it answers.
func TestScore(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.StringMatching(`[a-zA-Z漢/._]{0,12}`).Draw(t, "text")
		var query strings.Builder
		for _, r := range text {
			if rapid.Bool().Draw(t, "keep") {
				query.WriteRune(r)
			}
		}
		if _, ok := surfaces.Score(query.String(), text); !ok {
			t.Fatalf("%q does not answer %q", text, query.String())
		}
		if _, ok := surfaces.Score(text+"#", text); ok {
			t.Fatal("a character that is not there was found")
		}
	})
}
