package script_test

import (
	"slices"
	"testing"

	"starling/script"
)

func TestLiterals(t *testing.T) {
	p, err := script.Parse("p", "p.star", []byte(`
HOST = "https://example.org/"
def apply(ctx):
    exec(["git", "push"])
    http.get(HOST + "a")
    fs.read("a" + "b")
    fs.read(ctx.cwd)
    env.get("CI")
    print("not one")
`))
	if err != nil {
		t.Fatal(err)
	}
	want := []string{"env.get CI", "exec git push", "fs.read ab", "http.get https://example.org/a"}
	if got := script.Literals(p); !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}

// A guard that keeps on under another name may subscribe to anything.
func TestEventsOfAnAlias(t *testing.T) {
	p, err := script.Parse("p", "p.star", []byte("def apply(ctx):\n    listen = on\n    listen(\"agent/tool-call\", lambda e: None)\n"))
	if err != nil {
		t.Fatal(err)
	}
	if got := p.Decl().Events; !slices.Equal(got, []string{""}) {
		t.Errorf("events %q", got)
	}
}
