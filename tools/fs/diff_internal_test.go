package fs

import (
	"slices"
	"strings"
	"testing"

	"github.com/aymanbagabas/go-udiff"
	"pgregory.net/rapid"

	"starling/tools/fs/match"
)

// The lines of any splices lead from the old text to the new one, and no line at their
// ends is both taken away and put in.
func TestLineEditsAreTheChange(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.StringOfN(rapid.RuneFrom([]rune("ab\n\r\u00e9")), 0, 40, -1)
		old := text.Draw(t, "old")
		at := rapid.SliceOfNDistinct(rapid.IntRange(0, len(old)), 0, 8, rapid.ID[int]).Draw(t, "at")
		slices.Sort(at)
		var p match.Plan
		for i := 0; i+1 < len(at); i += 2 {
			p.Splices = append(p.Splices, match.Splice{From: at[i], To: at[i+1], New: text.Draw(t, "new")})
		}
		want := string(p.Apply([]byte(old)))
		edits := lineEdits(old, p.Splices)
		got, err := udiff.Apply(old, edits)
		if err != nil || got != want {
			t.Fatalf("%+v gives %q, not %q (%v)", edits, got, want, err)
		}
		for _, e := range edits {
			gone, come := strings.SplitAfter(old[e.Start:e.End], "\n"), strings.SplitAfter(e.New, "\n")
			if e.Start < e.End && e.New != "" && (gone[0] == come[0]) && gone[0] != "" {
				t.Errorf("%q is taken away and put in: %+v", gone[0], e)
			}
		}
	})
}
