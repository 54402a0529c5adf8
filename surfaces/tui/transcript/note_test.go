package transcript

import (
	"fmt"
	"strings"
	"testing"
)

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

// Of a command of the person that prints without end the end is kept, and it is said what
// is not.
func TestOutputSaysWhatIsLost(t *testing.T) {
	l := newLab(t, 60, 20)
	l.Begin("1", "shell", `{"command":"seq"}`)
	n := 0
	for range 2000 {
		var chunk strings.Builder
		for range 20 {
			n++
			fmt.Fprintf(&chunk, "line %d\n", n)
		}
		l.Output("1", chunk.String())
	}
	l.Settle("1", "exited(0)", false)
	out := l.calls["1"].block.(*Call).output
	var lost int
	if _, err := fmt.Sscanf(out, "[%d lines before this one are no longer kept]", &lost); err != nil {
		t.Fatalf("%.80q: %v", out, err)
	}
	if kept := strings.Count(out, "\n") - 1; lost+kept != n || !strings.HasSuffix(out, fmt.Sprintf("line %d\n", n)) {
		t.Errorf("%d lines are said to be lost and %d kept of %d; the end is %q", lost, kept, n, out[len(out)-20:])
	}
}
