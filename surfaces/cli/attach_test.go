package cli_test

import (
	"encoding/base64"
	"strings"
	"testing"
)

// Files go to the model with the prompt, images as they are, and are in the session: a
// later run has them too. A tool that reads an image shows it to the model.
func TestAttach(t *testing.T) {
	const png = "\x89PNG\r\n\x1a\nTHEPIXELS"
	uri := "data:image/png;base64," + base64.StdEncoding.EncodeToString([]byte(png))
	l := newLab(t, func(w *reply, n int, _ string) {
		if n == 1 {
			w.send(data(toolCall(0, "c1", "read", `{"path":"other.png"}`), finish("tool_calls")))
			return
		}
		w.send(says("seen"))
	})
	l.models(`"input": ["text", "image"]`)
	l.write("shot.png", png)
	l.write("ws/other.png", png+"2")
	l.write("ws/notes.txt", "remember\n")
	if e := l.run("--attach", "../shot.png", "--attach", "notes.txt", "what is this?"); e.code != 0 || !strings.Contains(e.stdout, "seen") {
		t.Fatal(e)
	}
	if e := l.run("--continue", "and the other one?"); e.code != 0 {
		t.Fatal(e)
	}
	sent := l.sent()
	if len(sent) != 3 {
		t.Fatalf("%d requests", len(sent))
	}
	for i, r := range sent {
		for _, want := range []string{uri + `"`, "shot.png: PNG image, 17 bytes]", `notes.txt:\n1\tremember`, "what is this?"} {
			if !strings.Contains(r.body, want) {
				t.Errorf("request %d has no %s:\n%s", i, want, r.body)
			}
		}
	}
	if other := base64.StdEncoding.EncodeToString([]byte(png + "2")); !strings.Contains(sent[2].body, other) || !strings.Contains(sent[2].body, "other.png: PNG image, 18 bytes]") {
		t.Errorf("what the tool read is not in\n%s", sent[2].body)
	}
}

// What cannot be sent is said before anything runs.
func TestAttachRefuses(t *testing.T) {
	l := newLab(t, func(w *reply, _ int, _ string) { w.send(says("seen")) })
	l.write("ws/shot.png", "\x89PNG\r\n\x1a\n")
	l.write("ws/zip", "PK\x03\x04")
	for _, c := range []struct {
		args []string
		want string
	}{
		{[]string{"--attach", "absent", "look"}, "absent: no such file"},
		{[]string{"--attach", "zip", "look"}, "zip is binary (ZIP archive"},
		{[]string{"--attach", "shot.png", "look"}, "shot.png is a PNG image of 8 bytes: this model takes no images"},
	} {
		if e := l.run(c.args...); e.code != 1 || !strings.Contains(e.stderr, c.want) {
			t.Errorf("%q: %v", c.args, e)
		}
	}
	if e := l.run("--attach", "shot.png"); e.code != 2 || !strings.Contains(e.stderr, "a session needs a terminal") {
		t.Errorf("a session without a terminal: %v", e)
	}
	if n := len(l.sent()); n != 0 {
		t.Errorf("%d requests", n)
	}
}
