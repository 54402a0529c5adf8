package discover_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"starling/script/discover"
)

// tree makes files (content) and links (values starting with "->") below a
// fresh folder.
func tree(t *testing.T, files map[string]string) string {
	t.Helper()
	root := t.TempDir()
	var links []string
	for name, content := range files {
		path := filepath.Join(root, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if strings.HasPrefix(content, "->") {
			links = append(links, name)
			continue
		}
		if err := os.WriteFile(path, []byte(content), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	for _, name := range links {
		if err := os.Symlink(filepath.Join(root, files[name][2:]), filepath.Join(root, name)); err != nil {
			t.Fatal(err)
		}
	}
	return root
}

// rows prints what Find found, one line a file, paths relative to root.
func rows(t *testing.T, root string, found discover.Found) []string {
	t.Helper()
	var lines []string
	rel := func(s string) string { return strings.ReplaceAll(s, root+"/", "") }
	for _, f := range found.Files {
		line := string(f.Origin) + " " + f.Name + " " + rel(f.Path)
		if f.Off != "" {
			line += " off: " + f.Off
		}
		if f.Err != nil {
			line += " error: " + rel(f.Err.Error())
		}
		if f.Hides != "" {
			line += " hides " + rel(f.Hides)
		}
		lines = append(lines, line)
	}
	for _, n := range found.Notices {
		lines = append(lines, "notice "+rel(n))
	}
	return lines
}

func TestFind(t *testing.T) {
	yes := func(discover.File) bool { return true }
	for _, c := range []struct {
		name     string
		files    map[string]string
		flags    []string
		none     bool // --no-plugins
		approved func(discover.File) bool
		want     []string
	}{
		{
			name:  "both layouts, by name; tests, dot files and other files are none",
			files: map[string]string{"home/plugins/b.star": "", "home/plugins/a/main.star": "", "home/plugins/a/util.star": "", "home/plugins/b_test.star": "", "home/plugins/.c.star": "", "home/plugins/d.txt": "", "home/plugins/e/other.star": ""},
			want:  []string{"home a home/plugins/a/main.star", "home b home/plugins/b.star"},
		},
		{
			name:  "a workspace file is not approved and hides nothing",
			files: map[string]string{"home/plugins/a.star": "", "ws/.starling/plugins/a.star": "x"},
			want:  []string{"home a home/plugins/a.star", "workspace a ws/.starling/plugins/a.star off: not approved hides home/plugins/a.star"},
		},
		{
			name:     "an approved workspace file hides the home's",
			files:    map[string]string{"home/plugins/a.star": "", "ws/.starling/plugins/a.star": "x"},
			approved: yes,
			want:     []string{"workspace a ws/.starling/plugins/a.star hides home/plugins/a.star"},
		},
		{
			name:  "a flag hides both, and counts without discovery",
			files: map[string]string{"home/plugins/a.star": "", "f/a.star": "x"},
			flags: []string{"f/a.star"},
			want:  []string{"flag a f/a.star hides home/plugins/a.star"},
		},
		{
			name:  "without discovery only flags, in argument order",
			files: map[string]string{"home/plugins/h.star": "", "f/z.star": "", "f/a/main.star": "1"},
			flags: []string{"f/z.star", "f/a"}, none: true,
			want: []string{"flag z f/z.star", "flag a f/a/main.star"},
		},
		{
			name:  "file and folder of one name",
			files: map[string]string{"home/plugins/a.star": "", "home/plugins/a/main.star": "", "home/plugins/ok.star": ""},
			want:  []string{"home a home/plugins/a/main.star error: both home/plugins/a/main.star and home/plugins/a.star are plugin a; remove one of them", "home ok home/plugins/ok.star"},
		},
		{
			name:  "one file by three routes is one plugin",
			files: map[string]string{"home/plugins/p.star": "x", "ws/.starling/plugins/p.star": "->home/plugins/p.star"},
			flags: []string{"home/plugins/p.star"},
			want: []string{
				"flag p home/plugins/p.star",
				"notice plugin p: home/plugins/p.star and ws/.starling/plugins/p.star are one file; it is loaded once, as flag",
			},
		},
		{
			name:  "two flags of one name",
			files: map[string]string{"f/a.star": "", "g/a.star": "x"},
			flags: []string{"f/a.star", "g/a.star"},
			want:  []string{"flag a f/a.star", "flag a g/a.star error: --plugin: f/a.star and g/a.star are both named a; rename one of them"},
		},
		{
			name:  "bad names and missing files are listed with the reason",
			files: map[string]string{"home/plugins/a b.star": ""},
			flags: []string{"nowhere.star"},
			want: []string{
				`home a b home/plugins/a b.star error: the name "a b" may hold letters, digits, '.', '_' and '-' only`,
				"flag nowhere nowhere.star error: --plugin: there is no file nowhere.star",
			},
		},
		{
			name: "an approved file that cannot load hides nothing",
			files: map[string]string{
				"home/plugins/a.star": "", "ws/.starling/plugins/a.star": "", "ws/.starling/plugins/a/main.star": "",
			},
			approved: yes,
			want: []string{
				"home a home/plugins/a.star",
				"workspace a ws/.starling/plugins/a/main.star error: both ws/.starling/plugins/a/main.star and ws/.starling/plugins/a.star are plugin a; remove one of them hides home/plugins/a.star",
			},
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			root := tree(t, c.files)
			found, err := discover.Find(discover.Options{
				Home: filepath.Join(root, "home"), Workspace: filepath.Join(root, "ws"), Cwd: root,
				Flags: c.flags, Discover: !c.none, Approved: c.approved,
			})
			if err != nil {
				t.Fatal(err)
			}
			if d := cmp.Diff(c.want, rows(t, root, found)); d != "" {
				t.Errorf("want -, got +\n%s", d)
			}
		})
	}
}

// A plugins folder that cannot be listed ends a start when it is the home's; a
// clone cannot stop a run with one.
func TestFindUnlistable(t *testing.T) {
	plant := map[string]func(dir string) error{
		"a file": func(dir string) error { return os.WriteFile(dir, nil, 0o600) },
		"a loop": func(dir string) error { return os.Symlink(filepath.Base(dir), dir) },
	}
	for name, make := range plant {
		for _, place := range []string{"ws/.starling", "ws/.starling/plugins", "home/plugins", "home"} {
			t.Run(name+" "+place, func(t *testing.T) {
				root := tree(t, map[string]string{"ws/.git/HEAD": "", "f/a.star": ""})
				path := filepath.Join(root, place)
				if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
					t.Fatal(err)
				}
				if err := make(path); err != nil {
					t.Fatal(err)
				}
				o := discover.Options{Home: filepath.Join(root, "home"), Workspace: filepath.Join(root, "ws"), Flags: []string{filepath.Join(root, "f/a.star")}, Discover: true}
				found, err := discover.Find(o)
				if strings.HasPrefix(place, "home") {
					if err == nil || !strings.Contains(err.Error(), "mend it, or start with --no-plugins") || strings.Count(err.Error(), root) != 1 {
						t.Errorf("of the home: %v", err)
					}
					return
				}
				if err != nil || len(found.Files) != 1 || len(found.Notices) != 1 || !strings.Contains(found.Notices[0], "nothing of it counts") {
					t.Errorf("%+v %v", found, err)
				}
				if s := discover.ReadSettings(o, nil); len(s.Errors) > 0 && name == "a file" {
					t.Errorf("told twice: %v", s.Errors)
				}
			})
		}
	}
}

// A folder whose main.star cannot be looked at may have been a plugin: it is
// listed with its fault.
func TestFindDanglingMain(t *testing.T) {
	root := tree(t, map[string]string{"home/plugins/g/other.txt": "", "home/plugins/d/main.star/x": ""})
	if err := os.Symlink("/nowhere/guard.star", filepath.Join(root, "home/plugins/g/main.star")); err != nil {
		t.Fatal(err)
	}
	found, err := discover.Find(discover.Options{Home: filepath.Join(root, "home"), Discover: true})
	if err != nil || len(found.Files) != 1 || found.Files[0].Name != "g" || found.Files[0].Err == nil {
		t.Errorf("%+v %v", found, err)
	}
}

func TestFindWorkspace(t *testing.T) {
	root := tree(t, map[string]string{
		"user/.starling/config.json": "", "user/plain/deep/x": "", "user/repo/.git/HEAD": "", "user/repo/sub/deep/x": "",
		"user/repo/inner/.starling/plugins/a.star": "",
	})
	user := filepath.Join(root, "user")
	for cwd, want := range map[string]string{
		"user/repo/sub/deep": "user/repo",
		"user/repo/inner":    "user/repo/inner",
		"user/plain/deep":    "user/plain/deep", // the home folder is no workspace
		"user":               "user",
	} {
		if got := discover.FindWorkspace(filepath.Join(root, cwd), user); got != filepath.Join(root, want) {
			t.Errorf("from %s: got %s, want %s", cwd, strings.TrimPrefix(got, root), want)
		}
	}
}
