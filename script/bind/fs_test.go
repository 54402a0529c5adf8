package bind_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// Files: a word and its scope, by the name a plugin gives and by where links
// lead.
func TestFiles(t *testing.T) {
	for _, c := range []struct{ name, uses, do, want string }{
		{"no word", ``, `fs.read("a.txt")`, `fs.read: needs "fs.read:a.txt" in uses`},
		{"read", `"fs.read"`, `fs.read("a.txt")`, "hello"},
		{"read absolute", `"fs.read"`, `fs.read(ctx.workspace + "/a.txt")`, "hello"},
		{"read in scope", `"fs.read:docs/**"`, `fs.read("docs/x.md")`, "docs x"},
		{"read out of scope", `"fs.read:docs/**"`, `fs.read("a.txt")`, `needs "fs.read:a.txt" in uses`},
		{"read of the folder of the scope", `"fs.read:docs/**"`, `fs.read("docs")`, "docs is a directory"},
		{"read by dots", `"fs.read:docs/**"`, `fs.read("docs/../a.txt")`, `needs "fs.read:a.txt" in uses`},
		{"read outside", `"fs.read"`, `fs.read("../outside.txt")`, `in uses`},
		{"a link that stays inside", `"fs.read"`, `fs.read("in.txt")`, "hello"},
		{"a link that leads out", `"fs.read"`, `fs.read("out.txt")`, "outside"},
		{"a link out of the scope", `"fs.read:docs/**"`, `fs.read("docs/link.txt")`, "link.txt"},
		{"a folder link out", `"fs.read"`, `fs.read("outdir/outside.txt")`, "outside"},
		{"exists", `"fs.read"`, `str([fs.exists("a.txt"), fs.exists("nope")])`, "[True, False]"},
		{"list", `"fs.read"`, `str(fs.list("docs"))`, `["link.txt", "x.md"]`},
		{"list a scope's folder", `"fs.read:docs/**"`, `str(fs.list("docs"))`, `["link.txt", "x.md"]`},
		{"stat", `"fs.read"`, `"%d %s %s" % (fs.stat("a.txt").size, fs.stat("docs").is_dir, fs.stat("a.txt").name)`, "5 True a.txt"},
		{"missing", `"fs.read"`, `fs.read("nope")`, "nope"},
		{"read is not write", `"fs.read"`, `fs.write("b.txt", "x")`, `needs "fs.write:b.txt" in uses`},
		{"write", `"fs.write", "fs.read"`, `[fs.write("new/dir/b.txt", "x"), fs.append("new/dir/b.txt", "y"), fs.read("new/dir/b.txt")][2]`, "xy"},
		{"write in a scope that does not exist yet", `"fs.write:out/deep/**", "fs.read"`, `[fs.write("out/deep/b.txt", "x"), fs.read("out/deep/b.txt")][1]`, "x"},
		{"write out of scope", `"fs.write:out/**"`, `fs.write("b.txt", "x")`, `needs "fs.write:b.txt" in uses`},
		{"write through a link out", `"fs.write"`, `fs.write("out.txt", "x")`, "outside"},
		{"write through a dangling link out", `"fs.write"`, `fs.write("dangling.txt", "x")`, "outside"},
		{"remove", `"fs.write", "fs.read"`, `str([fs.remove("a.txt"), fs.exists("a.txt")])`, "[None, False]"},
		{"remove a link", `"fs.write", "fs.read"`, `str([fs.remove("in.txt"), "in.txt" in fs.list("."), fs.read("a.txt")])`, `[None, False, "hello"]`},
		{"remove a dangling link", `"fs.write", "fs.read"`, `str([fs.remove("dangling.txt"), "dangling.txt" in fs.list(".")])`, "[None, False]"},
		{"remove a link that leads out", `"fs.write", "fs.read"`, `str([fs.remove("out.txt"), "out.txt" in fs.list(".")])`, "[None, False]"},
		{"remove through a folder link out", `"fs.write"`, `fs.remove("outdir/outside.txt")`, "outside"},
		{"remove through a folder link to the floor", `"fs.write"`, `fs.remove("dot/x")`, "cannot be written by a plugin"},
		{"a link that stays in the workspace", `"fs.read:docs/**"`, `fs.read("docs/link.txt")`, `a.txt: needs "fs.read:a.txt" in uses`},
		{"write git's head", `"fs.write"`, `fs.write(".git/HEAD", "x")`, "cannot be written by a plugin"},
		{"write git's index of another case", `"fs.write"`, `fs.write(".Git/index", "x")`, "cannot be written by a plugin"},
		{"remove git's folder", `"fs.write"`, `fs.remove(".git")`, "cannot be written by a plugin"},
		{"write a hook of husky", `"fs.write"`, `fs.write(".husky/pre-commit", "x")`, "cannot be written by a plugin"},
		{"write a plugin", `"fs.write"`, `fs.write(".starling/plugins/x.star", "x")`, "cannot be written by a plugin: it is a file of starling itself"},
		{"write a plugin by a link", `"fs.write"`, `fs.write("dot/plugins/x.star", "x")`, "cannot be written by a plugin"},
		{"write a hook", `"fs.write"`, `fs.write(".git/hooks/pre-commit", "x")`, "cannot be written by a plugin"},
		{"append to CI", `"fs.write"`, `fs.append(".github/workflows/ci.yml", "x")`, "cannot be written by a plugin"},
		{"remove configuration", `"fs.write"`, `fs.remove(".git/config")`, "cannot be written by a plugin"},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := newWorld(t)
			outside := filepath.Join(filepath.Dir(w.dir), "outside.txt")
			w.write("a.txt", "hello")
			w.write("docs/x.md", "docs x")
			w.write(".git/config", "")
			w.write(".starling/x", "")
			w.write("../outside.txt", "secret")
			for from, to := range map[string]string{
				"in.txt": "a.txt", "out.txt": outside, "docs/link.txt": filepath.Join(w.dir, "a.txt"),
				"outdir": filepath.Dir(w.dir), "dangling.txt": filepath.Join(filepath.Dir(w.dir), "new.txt"), "dot": ".starling",
			} {
				if err := os.Symlink(to, filepath.Join(w.dir, from)); err != nil {
					t.Fatal(err)
				}
			}
			w.load(map[string]string{"p": fmt.Sprintf(`
inject = ["tools"]
uses = [%s]
def apply(ctx):
    tool("t", "d", {}, lambda args: %s)
`, c.uses, c.do)})
			w.active("p")
			r, err := w.run("t", "{}")
			got := r.Content
			if err != nil {
				got = err.Error()
			}
			if !strings.Contains(got, c.want) || strings.Contains(got, "secret") {
				t.Errorf("got %q, want %q", got, c.want)
			}
			if data, _ := os.ReadFile(outside); string(data) != "secret" {
				t.Errorf("the file outside is now %q", data)
			}
			if _, err := os.Stat(filepath.Join(filepath.Dir(w.dir), "new.txt")); err == nil {
				t.Error("something was written outside")
			}
		})
	}
}

// Outside the workspace only what the word names.
func TestFilesOutside(t *testing.T) {
	w := newWorld(t)
	other := t.TempDir()
	for name, content := range map[string]string{"notes/a.md": "note", "secret.md": "secret"} {
		path := filepath.Join(other, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(content), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Symlink(filepath.Join(other, "secret.md"), filepath.Join(other, "notes", "link.md")); err != nil {
		t.Fatal(err)
	}
	w.load(map[string]string{"p": fmt.Sprintf(`
inject = ["tools"]
uses = ["fs.read:%[1]s/notes/**"]
def apply(ctx):
    tool("t", "d", {}, lambda args: fs.read("%[1]s/" + args["f"]))
`, other)})
	w.active("p")
	if r, err := w.run("t", `{"f":"notes/a.md"}`); err != nil || r.Content != "note" {
		t.Errorf("%+v %v", r, err)
	}
	for _, f := range []string{"secret.md", "notes/../secret.md", "notes/link.md"} {
		if r, err := w.run("t", fmt.Sprintf(`{"f":%q}`, f)); err == nil {
			t.Errorf("%s was read: %q", f, r.Content)
		}
	}
}

// A lock keeps everybody else out, ends with the plugin, and needs the word.
func TestFileLocks(t *testing.T) {
	const src = `
inject = ["tools"]
uses = ["fs.write"]
def apply(ctx):
    tool("NAME", "d", {}, lambda a: str({"lock": fs.lock, "unlock": fs.unlock}[a["do"]]("run/x.lock")))
`
	w := newWorld(t)
	w.load(map[string]string{"a": strings.ReplaceAll(src, "NAME", "a"), "b": strings.ReplaceAll(src, "NAME", "b")})
	w.active("a", "b")
	do := func(plugin, what string) string {
		r, err := w.run(plugin, `{"do":"`+what+`"}`)
		if err != nil {
			return err.Error()
		}
		return r.Content
	}
	for _, step := range []struct{ plugin, do, want string }{
		{"a", "lock", "True"},
		{"a", "lock", "True"},
		{"b", "lock", "False"},
		{"b", "unlock", "None"},
		{"b", "lock", "False"},
		{"a", "unlock", "None"},
		{"b", "lock", "True"},
		{"a", "lock", "False"},
	} {
		if got := do(step.plugin, step.do); got != step.want {
			t.Fatalf("%+v: got %s", step, got)
		}
	}
	if err := w.runtime.Unmount(w.ids["b"]); err != nil {
		t.Fatal(err)
	}
	w.settle()
	if got := do("a", "lock"); got != "True" {
		t.Errorf("after the holder left: %s", got)
	}
}
