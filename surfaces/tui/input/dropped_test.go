package input

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestDroppedImage(t *testing.T) {
	for text, want := range map[string]string{
		"/tmp/shot.png":                      "/tmp/shot.png",
		" /tmp/a\\ b\\(1\\).JPG \n":          "/tmp/a b(1).JPG",
		"'/tmp/it is.webp'":                  "/tmp/it is.webp",
		`"/tmp/a b.gif"`:                     "/tmp/a b.gif",
		"file:///tmp/a%20b.jpeg":             "/tmp/a b.jpeg",
		"file://localhost/tmp/a.png":         "/tmp/a.png",
		"~/shot.png":                         "~/shot.png",
		"file://elsewhere/tmp/a.png":         "",
		"shot.png":                           "",
		"/tmp/notes.txt":                     "",
		"see /tmp/shot.png":                  "",
		"/tmp/a.png\n/tmp/b.png":             "",
		"'/tmp/a.png":                        "",
		"":                                   "",
		"https://example.com/pictures/a.png": "",
	} {
		if got := droppedImage(text); got != want {
			t.Errorf("%q is %q, want %q", text, got, want)
		}
	}
}

// An image that is dropped on the terminal is attached where its path would stand; one step
// back it is the path. What is written meanwhile stays where it is.
func TestDropAttaches(t *testing.T) {
	d := newDesk(t)
	looked := ""
	d.e.o.Exists = func(path string) bool { looked = path; return path != "/tmp/absent.png" }
	d.keys("see ")
	d.e.Paste("/tmp/a\\ b.png")
	d.keys("now<enter>")
	want := []Entry{{Text: `see @"/tmp/a b.png" now`, Attached: []string{"/tmp/a b.png"}}}
	if diff := cmp.Diff(want, d.sent); diff != "" || looked != "/tmp/a b.png" {
		t.Error(diff)
	}
	d.e.Paste("/tmp/absent.png")
	if got := d.e.Text(); got != "/tmp/absent.png" {
		t.Errorf("no such file: %q", got)
	}
	d.keys("<ctrl+a><ctrl+k>")
	d.e.Paste("/tmp/a.png")
	d.keys("<ctrl+_>")
	if got := d.e.Text(); got != "/tmp/a.png" {
		t.Errorf("one step back is %q", got)
	}
}
