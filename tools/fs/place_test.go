package fs_test

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"starling/bus/spec"
	"starling/tools/fs"
	"starling/trust"
)

// Files of further folders are worked on as those of the workspace; links lead
// from one to the other and nowhere else.
func TestFurtherFolders(t *testing.T) {
	base, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	ws, more, out := filepath.Join(base, "ws"), filepath.Join(base, "more"), filepath.Join(base, "out")
	for _, dir := range []string{ws, more, out, filepath.Join(more, ".git/hooks"), filepath.Join(ws, "sub"), filepath.Join(base, "far/deep")} {
		if err := os.MkdirAll(dir, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	for link, to := range map[string]string{ws + "/to": "../more", more + "/back": ws + "/back", more + "/away": "../out/x", base + "/side": "more", base + "/hop": "far/deep", base + "/home": "ws/sub"} {
		if err := os.Symlink(to, link); err != nil {
			t.Fatal(err)
		}
	}
	jail, err := trust.NewJail(more)
	if err != nil {
		t.Fatal(err)
	}
	defer jail.Close()
	d := deskWith(t, ws, fs.Options{Folders: []*trust.Jail{jail}, Home: base})
	for _, c := range []struct{ path, name, abs string }{
		{more + "/a", more + "/a", more + "/a"},
		{"to/b", more + "/b", more + "/b"},
		{"to/back", "back", ws + "/back"},
		{"../more/c", more + "/c", more + "/c"},
		{base + "/side/d", more + "/d", more + "/d"},
		{"~/more/e", more + "/e", more + "/e"},
		{"~/ws/f", "f", ws + "/f"},
		{"~/out/g", out + "/g", ""},
		{"to/away", out + "/x", ""},
		{more + "/../out/y", out + "/y", ""},
		{base + "/hop/../y", base + "/far/y", ""}, // behind a link, ".." is the parent of where it leads
		{"../hop/../z", base + "/far/z", ""},
		{"~/hop/../new/z", base + "/far/new/z", ""},
		{base + "/home/../h", "h", ws + "/h"},
		{"../home/../new/h", "new/h", ws + "/new/h"},
		{more + "/.git/hooks/z", more + "/.git/hooks/z", ""},
	} {
		a := args{"path": c.path, "content": "x"}
		tool, _, _ := d.reg.Lookup("write")
		b, _ := json.Marshal(a)
		if got, all := tool.Paths(b); !all || !slices.Equal(got, []string{c.name}) {
			t.Errorf("paths of %s = %v, %v; want %s", c.path, got, all, c.name)
		}
		r, err := d.call("write", a)
		if c.abs == "" {
			if err == nil {
				t.Errorf("%s: %q", c.path, r.Content)
			}
			continue
		}
		if got, e := os.ReadFile(c.abs); err != nil || e != nil || string(got) != "x" {
			t.Errorf("%s: %v, %v, %q", c.path, err, e, got)
		}
	}
	if names, err := os.ReadDir(out); err != nil || len(names) > 0 {
		t.Errorf("outside: %v, %v", names, err)
	}
	if got := d.out("grep", args{"pattern": "x", "path": more}); got != more+"/a:1:x\n"+more+"/b:1:x\n"+more+"/c:1:x\n"+more+"/d:1:x\n"+more+"/e:1:x\n" {
		t.Errorf("grep: %q", got)
	}
}

// What was permitted is worked on outside of every folder, and nothing beside it.
func TestPermit(t *testing.T) {
	base, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	ws, out := filepath.Join(base, "ws"), filepath.Join(base, "out")
	if err := errors.Join(os.MkdirAll(ws, 0o755), os.MkdirAll(out, 0o755), os.WriteFile(out+"/a", []byte("old\n"), 0o644),
		os.Symlink("a", out+"/link"), os.Symlink(out, ws+"/out")); err != nil {
		t.Fatal(err)
	}
	d := deskWith(t, ws, fs.Options{})
	do := func(ctx context.Context, name string, a args) (string, error) {
		tool, _, _ := d.reg.Lookup(name)
		b, _ := json.Marshal(a)
		r, err := tool.Execute(ctx, spec.ToolCall{Arguments: b})
		return r.Content, err
	}
	ctx := fs.Permit(fs.Permit(t.Context(), out+"/a", out+"/new/deep/n"), ".git/config")
	for _, c := range []struct {
		tool string
		a    args
		want string
	}{
		{"read", args{"path": out + "/a"}, "1\told\n"},
		{"read", args{"path": "../out/link"}, "1\told\n"},
		{"edit", args{"path": "out/a", "edits": edits("old", "new")}, "edited " + out + "/a (1 edit, +1 -1 lines); now:\n1\tnew\n"},
		{"write", args{"path": out + "/new/deep/n", "content": "x"}, "created " + out + "/new/deep/n (1 byte, 1 line)"},
		{"write", args{"path": ".git/config", "content": "x"}, "created .git/config (1 byte, 1 line)"},
		{"grep", args{"path": out + "/a", "pattern": "new"}, out + "/a:1:new\n"},
	} {
		if r, err := do(t.Context(), c.tool, c.a); err == nil {
			t.Errorf("%s %v without a permit: %q", c.tool, c.a, r)
		}
		if r, err := do(ctx, c.tool, c.a); err != nil || r != c.want {
			t.Errorf("%s %v: %q, %v; want %q", c.tool, c.a, r, err, c.want)
		}
	}
	for tool, a := range map[string]args{"read": {"path": out + "/b"}, "write": {"path": out + "/b", "content": ""}, "ls": {"path": out}} {
		if r, err := do(ctx, tool, a); !errors.Is(err, trust.ErrOutside) {
			t.Errorf("%s beside: %q, %v", tool, r, err)
		}
	}
	if r, err := do(fs.Permit(ctx, out), "ls", args{"path": "out"}); err != nil || r != "a  4\nlink -> a\nnew/\n" {
		t.Errorf("ls of a permitted folder: %q, %v", r, err)
	}
	// A folder on the way becomes a link after it was permitted.
	ctx = fs.Permit(t.Context(), out+"/new/deep/n", out+"/new/deep/m")
	if err := errors.Join(os.Rename(out+"/new", out+"/moved"), os.Symlink("moved", out+"/new")); err != nil {
		t.Fatal(err)
	}
	for tool, a := range map[string]args{"read": {"path": out + "/new/deep/n"}, "write": {"path": out + "/new/deep/m", "content": ""}} {
		if r, err := do(ctx, tool, a); err == nil {
			t.Errorf("%s through a link that came later: %q", tool, r)
		}
	}
}
