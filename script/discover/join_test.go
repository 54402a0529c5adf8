package discover_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"sort"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"starling/script/discover"
)

func sorted(lines []string) []string {
	sort.Strings(lines)
	return lines
}

func TestJoin(t *testing.T) {
	for _, c := range []struct {
		name     string
		files    map[string]string
		flags    []string
		none     bool   // --no-plugins
		approved string // names of approved workspace files; "" for all
		want     []string
		errs     []string
	}{
		{
			name:  "switched off, the workspace's word over the home's",
			files: map[string]string{"home/plugins/a.star": "", "home/plugins/b.star": "1", "home/plugins.json": `[{"id": "a", "disabled": true}, {"id": "b", "disabled": true}]`, "ws/.starling/plugins.json": `[{"id": "b", "disabled": false}]`},
			want:  []string{"home a home/plugins/a.star off: switched off in plugins.json", "home b home/plugins/b.star"},
		},
		{
			name:  "the command line is not overruled",
			files: map[string]string{"home/plugins/a.star": "1", "f/a.star": "", "home/plugins.json": `[{"id": "a", "disabled": true, "url": "../g/a.star"}]`, "g/a.star": "2"},
			flags: []string{"f/a.star"},
			want:  []string{"flag a f/a.star hides g/a.star"},
		},
		{
			name:  "a url adds and replaces",
			files: map[string]string{"home/plugins/a.star": "", "f/x.star": "1", "f/d/main.star": "2", "home/plugins.json": `[{"id": "a", "url": "../f/x.star"}, {"id": "new", "url": "../f/d"}]`},
			want:  []string{"home a f/x.star", "home new f/d/main.star"},
		},
		{
			name:  "a url of the workspace hides the home's when it is approved",
			files: map[string]string{"home/plugins/a.star": "", "ws/a.star": "1", "ws/.starling/plugins.json": `[{"id": "a", "url": "../a.star"}]`},
			want:  []string{"workspace a ws/a.star hides home/plugins/a.star"},
		},
		{
			name:     "and nothing when it is not",
			files:    map[string]string{"home/plugins/a.star": "", "ws/a.star": "1", "ws/.starling/plugins.json": `[{"id": "a", "url": "../a.star"}, {"id": "n", "url": "../n.star"}]`, "ws/n.star": "2"},
			approved: "other",
			want:     []string{"home a home/plugins/a.star", "workspace a ws/a.star off: not approved hides home/plugins/a.star", "workspace n ws/n.star off: not approved"},
		},
		{
			name:     "an unapproved url leaves the approved file in its place",
			files:    map[string]string{"home/plugins/a.star": "", "ws/.starling/plugins/a.star": "1", "ws/b.star": "2", "ws/.starling/plugins.json": `[{"id": "a", "url": "../b.star"}]`},
			approved: "ws/.starling/plugins/a.star",
			want: []string{
				"workspace a ws/.starling/plugins/a.star hides home/plugins/a.star",
				"workspace a ws/b.star off: not approved hides ws/.starling/plugins/a.star",
			},
		},
		{
			name:  "an approved url takes the place of the workspace's file",
			files: map[string]string{"home/plugins/a.star": "", "ws/.starling/plugins/a.star": "1", "ws/b.star": "2", "ws/.starling/plugins.json": `[{"id": "a", "url": "../b.star"}]`},
			want:  []string{"workspace a ws/b.star hides home/plugins/a.star"},
		},
		{
			name:  "one file by two names is one plugin",
			files: map[string]string{"home/plugins/a.star": "", "home/plugins.json": `[{"id": "b", "url": "plugins/a.star"}]`},
			want:  []string{"home a home/plugins/a.star", "notice home/plugins/a.star was found more than once, as plugin a and b; it is loaded once, as home plugin a"},
		},
		{
			name: "however many routes lead to a file, one notice tells it",
			files: map[string]string{
				"home/plugins/p.star": "x", "home/plugins.json": `[{"id": "p", "url": "plugins/p.star"}]`,
				"ws/.starling/plugins/p.star": "->home/plugins/p.star", "ws/.starling/plugins.json": `[{"id": "q", "url": "plugins/p.star"}]`,
			},
			flags: []string{"home/plugins/p.star"},
			want: []string{
				"flag p home/plugins/p.star",
				"notice plugin p: home/plugins/p.star and ws/.starling/plugins/p.star are one file; it is loaded once, as flag plugin p",
			},
		},
		{
			name:  "unknown ids, each with its place; a broken url is an error of its own",
			files: map[string]string{"home/plugins.json": "[{\"id\": \"x\"},\n {\"id\": \"y\", \"url\": \"gone.star\"}]", "ws/.starling/plugins.json": `[{"id": "x", "disabled": true}]`},
			errs: []string{
				`home/plugins.json:1:2: no plugin is called "x"; a row that adds one needs "url"`,
				`ws/.starling/plugins.json:1:2: no plugin is called "x"; a row that adds one needs "url"`,
			},
		},
		{
			name:  "with --no-plugins nothing is added and nothing is missing",
			files: map[string]string{"f/a.star": "", "f/b.star": "1", "home/plugins.json": `[{"id": "b", "url": "../f/b.star"}, {"id": "x"}]`},
			flags: []string{"f/a.star"}, none: true,
			want: []string{"flag a f/a.star"},
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			root := tree(t, c.files)
			o := options(root)
			o.Flags, o.Discover = c.flags, !c.none
			if c.approved != "" {
				o.Approved = func(f discover.File) bool { return f.Path == filepath.Join(root, c.approved) }
			}
			found, err := discover.Find(o)
			if err != nil {
				t.Fatal(err)
			}
			before := rows(t, root, found)
			joined, errs := discover.ReadSettings(o, anyBytes).Join(o, found)
			if d := cmp.Diff(c.want, rows(t, root, joined)); d != "" {
				t.Errorf("want -, got +\n%s", d)
			}
			if d := cmp.Diff(c.errs, said(root, errs)); d != "" {
				t.Errorf("errors: want -, got +\n%s", d)
			}
			if d := cmp.Diff(before, rows(t, root, found)); d != "" {
				t.Errorf("what was found changed: %s", d)
			}
		})
	}
}

// Whatever the file holds: no crash, every error has a place, what is read is
// plain, and a file the standard reader refuses yields nothing.
func FuzzPluginsJSON(f *testing.F) {
	for _, seed := range []string{
		`[]`, `[{"id": "a", "disabled": true}]`, "\xef\xbb\xbf[{\"id\":\"a\"}]", `[{"id": "a", "config": {"x": [1, 2.5e3, null, "ü"]}}]`,
		`[{"id": "a", "isolate": {"s": true, "t": "box", "u": false}}]`, `[{"id": "a", "url": "x.star"}, {"id": "a"}]`, `{"id": 1`,
		`[{"id": "a", "id": "b", "x": {"y": 1, "y": 2}}]`, "[\n\n,]", `["\ud800"]`, `[[[[[[]]]]]]`,
	} {
		f.Add(seed)
	}
	root := f.TempDir()
	f.Fuzz(func(t *testing.T, content string) {
		write(t, filepath.Join(root, "plugins.json"), content)
		s := discover.ReadSettings(discover.Options{Home: root}, nil)
		for _, err := range s.Errors {
			place := strings.TrimPrefix(err.Error(), root+"/plugins.json:")
			if line, rest, ok := strings.Cut(place, ":"); !ok || line == "" || rest == "" || line[0] < '1' || line[0] > '9' {
				t.Errorf("no place: %v", err)
			}
		}
		valid := json.Valid([]byte(strings.TrimPrefix(content, "\xef\xbb\xbf")))
		if !valid && (len(s.Rows) != 0 || len(s.Errors) == 0) {
			t.Errorf("%q is no JSON: rows %v, errors %v", content, s.Rows, s.Errors)
		}
		for id, r := range s.Rows {
			if id != r.ID || id == "" || len(r.At) != 1 {
				t.Errorf("row %q: %+v", id, r)
			}
			if _, err := json.Marshal(s.Config(id)); err != nil {
				t.Errorf("config of %s: %v", id, err)
			}
		}
	})
}

func write(t *testing.T, path, content string) {
	t.Helper()
	if err := os.WriteFile(path, []byte(content), 0o644); err != nil {
		t.Fatal(err)
	}
}
