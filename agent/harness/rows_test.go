package harness_test

import (
	"path/filepath"
	"testing"
)

// A session shows of each plugin what it is for and where its file lies, also of one
// that does not run.
func TestRowsSayWhatAPluginIsFor(t *testing.T) {
	p := newPlace(t)
	p.write("home/plugins/fine.star", "\"\"\"Does\nfine things.\"\"\"\ndef apply(ctx):\n    pass\n")
	p.write("home/plugins/waits.star", "# Waits for mail.\ninject = [\"mail\"]\ndef apply(ctx):\n    pass\n")
	p.write("home/plugins/broken.star", "\"\"\"Is broken.\"\"\"\ndef apply(ctx):\n    nothing_there()\n")
	want := map[string]string{"fine": "Does fine things.", "waits": "Waits for mail.", "broken": "Is broken."}
	seen := 0
	for _, row := range p.start().Plugins() {
		text, ours := want[row.Name]
		if !ours {
			continue
		}
		seen++
		if row.Description != text || filepath.Base(row.Path) != row.Name+".star" {
			t.Errorf("%s (%s): %q at %q", row.Name, row.State, row.Description, row.Path)
		}
	}
	if seen != len(want) {
		t.Errorf("%d rows", seen)
	}
}
