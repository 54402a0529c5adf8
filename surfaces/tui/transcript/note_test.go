package transcript

import "testing"

// What came of a call in a few words: of a command its own output counts, not the notes
// behind it, and of a failure its reason.
func TestNoteOf(t *testing.T) {
	for _, c := range []struct {
		content, details string
		isError          bool
		want             string
		failed           bool
	}{
		{content: "[exit status 0, no output]", details: `{"status": 0, "lines": 0}`, want: "no output"},
		{content: "done\n[still running in the background: pid 7]", details: `{"status": 0, "lines": 1}`, want: "1 line"},
		{content: "a\nb\n", details: `{"status": 0, "lines": 2}`, want: "2 lines"},
		{content: "a\n[exit status 3]", details: `{"status": 3, "lines": 1}`, isError: true, want: "status 3", failed: true},
		{content: "bad arguments, 2 faults:\n- missing \"path\"\n- unknown \"old\"", isError: true, want: `bad arguments, 2 faults: missing "path"`, failed: true},
		{content: "it failed:", isError: true, want: "it failed:", failed: true},
		{content: "no such file\nmore", isError: true, want: "no such file", failed: true},
		{content: "one\ntwo", want: "2 lines"},
		{content: " \n", want: ""},
	} {
		note, failed := NoteOf(Result{Content: c.content, Details: []byte(c.details), IsError: c.isError}, false)
		if note != c.want && note != c.want+" " || failed != c.failed {
			t.Errorf("%q %s: %q, failed %t", c.content, c.details, note, failed)
		}
	}
}
