package bind_test

import (
	"os"
	"os/exec"
	"strings"
	"testing"

	"starling/surfaces"
)

// shownPlugin is a plugin as docs/plugins.md shows it.
func shownPlugin(t *testing.T, name string) string {
	t.Helper()
	page, err := os.ReadFile("../../docs/plugins.md")
	if err != nil {
		t.Fatal(err)
	}
	_, rest, found := strings.Cut(string(page), "```python\n# "+name+".star\n")
	text, _, ended := strings.Cut(rest, "```\n")
	if !found || !ended {
		t.Fatalf("the page shows no %s.star", name)
	}
	return text
}

// TestPageCommits: the whole panel of the page does what the page says.
func TestPageCommits(t *testing.T) {
	if _, err := exec.LookPath("git"); err != nil {
		t.Fatal("git is needed here")
	}
	w := newWorld(t)
	w.load(map[string]string{"commits": shownPlugin(t, "commits")})
	w.active("commits")
	h := w.panels()
	id := surfaces.ID{Plugin: "commits", Name: "commits"}
	w.shown(h)
	if p, ok := h.Panel(id); !ok || p.Open() || p.Err != "" {
		t.Fatalf("outside a repository it is there %v, open %v, %s", ok, p.Open(), p.Err)
	}
	git := func(args ...string) string {
		t.Helper()
		c := exec.Command("git", append([]string{"-C", w.dir, "-c", "user.name=a", "-c", "user.email=a@example.org"}, args...)...)
		out, err := c.CombinedOutput()
		if err != nil {
			t.Fatalf("git %q: %v\n%s", args, err, out)
		}
		return strings.TrimSpace(string(out))
	}
	git("init", "-q")
	git("commit", "-q", "--allow-empty", "-m", "first\tone")
	git("commit", "-q", "--allow-empty", "-m", "second")
	w.sendRunEnd()
	b := board{w, h, id}
	b.until("second")
	hash := git("log", "-1", "--format=%h")
	if got := b.text(); !strings.HasPrefix(got, hash+" second\n") || !strings.HasSuffix(got, "first\tone") && !strings.HasSuffix(got, "first one") {
		t.Errorf("it shows %q", got)
	}
	b.key("enter")
	if want := "prompt of commits: Explain the commit " + hash + "."; !strings.Contains(w.said(), want) {
		t.Errorf("%q was not typed:\n%s", want, w.said())
	}
	git("commit", "-q", "--allow-empty", "-m", "third")
	if !b.key("r") {
		t.Error("r was not consumed")
	}
	b.until("third")
	if p := b.panel(); p.Widgets[p.Focus].Index != 1 {
		t.Errorf("the mark is at %d and not on the commit it was on", p.Widgets[p.Focus].Index)
	}
}
