package discover_test

import (
	"fmt"
	"math/big"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"starling/script/discover"
	"starling/trust"
)

func anyBytes(string, trust.Bundle) bool { return true }

func options(root string) discover.Options {
	return discover.Options{
		Home: filepath.Join(root, "home"), Workspace: filepath.Join(root, "ws"), Cwd: root, Discover: true,
		Approved: func(discover.File) bool { return true },
	}
}

// said prints errors relative to root.
func said(root string, errs []error) []string {
	var out []string
	for _, err := range errs {
		out = append(out, strings.ReplaceAll(err.Error(), root+"/", ""))
	}
	return out
}

// row prints one merged row.
func row(root string, r discover.Row) string {
	out := r.ID
	if r.Disabled != nil {
		out += fmt.Sprintf(" disabled=%v", *r.Disabled)
	}
	if r.Config != nil {
		out += fmt.Sprintf(" config=%v", r.Config)
	}
	if r.URL != "" {
		out += " url=" + strings.TrimPrefix(r.URL, root+"/")
	}
	if r.Isolate != nil {
		out += fmt.Sprintf(" isolate=%+v", r.Isolate)
	}
	return out
}

func TestPluginsJSON(t *testing.T) {
	for _, c := range []struct {
		name, content string
		rows          []string
		errs          []string
	}{
		{name: "empty list", content: "[]\n"},
		{
			name:    "every field",
			content: `[{"id": "a", "disabled": true, "config": {"n": 1, "deep": {"x": [null, 1.5]}}, "url": "../f/a.star", "isolate": {"shell": true, "tools": "box", "todos": false}}]`,
			rows:    []string{"a disabled=true config=map[deep:map[x:[<nil> 1.5]] n:1] url=f/a.star isolate=map[shell:{Off:false Realm:} todos:{Off:true Realm:} tools:{Off:false Realm:box}]"},
		},
		{name: "a byte order mark", content: "\xef\xbb\xbf[{\"id\": \"a\", \"x\": 1}]", rows: []string{"a"}, errs: []string{`1:14: unknown field "x"; a row has id, disabled, config, url, isolate`}},
		{name: "no list", content: ` {"id": "a"}`, errs: []string{"1:2: must be a list of objects, not an object"}},
		{name: "empty", content: "", errs: []string{"1:1: no JSON: unexpected end of JSON input"}},
		{name: "cut off", content: "[\n {\"id\": \"a\"},", errs: []string{"2:14: no JSON: unexpected end of JSON input"}},
		{name: "a comma too many", content: "[\n  {\"id\": \"ä\",}\n]", errs: []string{`2:14: no JSON: invalid character '}' looking for beginning of object key string`}},
		{name: "a comment", content: "[] // x", errs: []string{`1:4: no JSON: invalid character '/' after top-level value`}},
		{name: "no UTF-8", content: "[{\"id\": \"a\xff\"}]", errs: []string{"1:11: a byte that is no UTF-8"}},
		{name: "too deep", content: strings.Repeat("[", 300) + strings.Repeat("]", 300), errs: []string{"1:202: more than 200 values inside each other"}},
		{
			name:    "rows that are none; the rest applies",
			content: "[1, null, \"a\", [],\n {\"id\": \"b\", \"disabled\": true}]",
			rows:    []string{"b disabled=true"},
			errs:    []string{"1:2: a row is an object, not a number", "1:5: a row is an object, not null", "1:11: a row is an object, not text", "1:16: a row is an object, not a list"},
		},
		{
			name:    "ids",
			content: "[{}, {\"id\": 1}, {\"id\": \"a b\"}, {\"id\": \"a\"}, {\"id\": \"a\", \"disabled\": true}]",
			rows:    []string{"a"},
			errs: []string{
				`1:2: a row needs "id", the name of the plugin`, `1:13: "id" must be text, not a number`,
				`1:24: the name "a b" may hold letters, digits, '.', '_' and '-' only`,
				`1:45: plugin "a" has a row above; put both into one`,
			},
		},
		{
			name:    "wrong types; the other fields apply",
			content: "[{\"id\": \"a\",\n\"disabled\": \"yes\",\n\"config\": [],\n\"url\": 1,\n\"isolate\": true},\n{\"id\": \"b\", \"disabled\": null, \"config\": {\"x\": 1}}]",
			rows:    []string{"a", "b config=map[x:1]"},
			errs: []string{
				`2:13: "disabled" must be true or false, not text`, `3:11: "config" must be an object, not a list`, `4:8: "url" must be text, not a number`,
				`5:12: "isolate" must be an object of service names, not true or false`, `6:25: "disabled" must be true or false, not null`,
			},
		},
		{
			name:    "unknown fields; names are exact",
			content: `[{"id": "a", "Disabled": true, "disabled": false}]`,
			rows:    []string{"a disabled=false"},
			errs:    []string{`1:14: unknown field "Disabled"; a row has id, disabled, config, url, isolate`},
		},
		{
			name:    "a key twice: nobody knows which was meant",
			content: `[{"id": "a", "disabled": true, "disabled": false, "config": {"x": {"y": 1, "y": 2}}, "isolate": {"s": true, "s": true}}, {"id": "b", "id": "c"}]`,
			rows:    []string{"a"},
			errs: []string{
				`1:32: "disabled" is there twice; keep one`, `1:76: "y" is there twice; keep one`,
				`1:109: "s" is there twice; keep one`, `1:134: "id" is there twice; keep one`,
			},
		},
		{
			name:    "isolate",
			content: `[{"id": "a", "isolate": {"": true, "b": "", "c": 1, "d": true}}]`,
			rows:    []string{"a isolate=map[d:{Off:false Realm:}]"},
			errs: []string{
				`1:26: "isolate" needs the name of a service`, `1:41: a realm needs a name; true is a private one`,
				`1:50: "isolate" of "c" must be true, false or the name of a realm, not a number`,
			},
		},
		{
			name:    "numbers that do not fit",
			content: `[{"id": "a", "config": {"x": [1e999]}}, {"id": "b", "config": {"x": ` + strings.Repeat("9", 20000) + `}}]`,
			rows:    []string{"a", "b"},
			errs:    []string{"1:31: a number this large does not fit", "1:69: a number of more than 19728 digits does not fit"},
		},
		{
			name: "urls",
			content: `[{"id": "a", "url": "https://example.org/a.star"}, {"id": "b", "url": "file:///x.star"}, {"id": "c", "url": ""},
{"id": "d", "url": "gone.star"}, {"id": "e", "url": "../f"}, {"id": "f", "url": "../f/a.txt"}, {"id": "g", "url": "../f/dir"}, {"id": "h", "url": "../f/dir/main.star"}]`,
			rows: []string{"a", "b", "c", "d", "e", "f", "g url=f/dir", "h url=f/dir/main.star"},
			errs: []string{
				`1:21: "url" is the path of a file, never of the network: "https://example.org/a.star"`,
				`1:71: "url" is the path of a file, never of the network: "file:///x.star"`, `1:109: "url" is empty; name a file`,
				`2:20: "url": stat home/gone.star: no such file or directory`, `2:53: "url": folder f holds no main.star`, `2:81: "url": f/a.txt is no .star file`,
			},
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			root := tree(t, map[string]string{"home/plugins.json": c.content, "f/a.star": "", "f/a.txt": "", "f/dir/main.star": ""})
			s := discover.ReadSettings(options(root), nil)
			var rows, errs []string
			for _, r := range s.Rows {
				rows = append(rows, row(root, r))
			}
			for _, err := range said(root, s.Errors) {
				rest, ok := strings.CutPrefix(err, "home/plugins.json:")
				if !ok {
					t.Errorf("the error does not name the file: %s", err)
				}
				errs = append(errs, rest)
			}
			if d := cmp.Diff(c.rows, sorted(rows)); d != "" {
				t.Errorf("rows: want -, got +\n%s", d)
			}
			if d := cmp.Diff(c.errs, errs); d != "" {
				t.Errorf("errors: want -, got +\n%s", d)
			}
		})
	}
}

func TestNumbersKeepTheirType(t *testing.T) {
	root := tree(t, map[string]string{"home/plugins.json": `[{"id": "a", "config": {"i": -3, "zero": -0, "f": 3.0, "e": 1e2, "big": 123456789012345678901234567890}}]`})
	big, _ := new(big.Int).SetString("123456789012345678901234567890", 10)
	want := map[string]any{"i": int64(-3), "zero": int64(0), "f": 3.0, "e": 100.0, "big": big}
	got := discover.ReadSettings(options(root), nil).Config("a")
	if len(got) != len(want) {
		t.Errorf("got %v", got)
	}
	for key, value := range want {
		if fmt.Sprintf("%T %v", got[key], got[key]) != fmt.Sprintf("%T %v", value, value) {
			t.Errorf("%s: got %T %v, want %T %v", key, got[key], got[key], value, value)
		}
	}
}

// The workspace's fields stand over the home's, one by one.
func TestRowsMergeByField(t *testing.T) {
	root := tree(t, map[string]string{
		"home/plugins.json":         `[{"id": "a", "disabled": true, "config": {"x": 1, "y": 1}, "url": "a.star", "isolate": {"s": true}}, {"id": "h", "disabled": true}]`,
		"ws/.starling/plugins.json": `[{"id": "w", "disabled": true}, {"id": "a", "disabled": false, "config": {"x": 2}, "isolate": {}}]`,
		"home/a.star":               "",
	})
	s := discover.ReadSettings(options(root), anyBytes)
	if len(s.Errors) != 0 {
		t.Error(s.Errors)
	}
	var rows []string
	for _, r := range s.Rows {
		rows = append(rows, row(root, r))
	}
	want := []string{"a disabled=false config=map[x:2] url=home/a.star isolate=map[]", "h disabled=true", "w disabled=true"}
	if d := cmp.Diff(want, sorted(rows)); d != "" {
		t.Error(d)
	}
	at := []string{root + "/home/plugins.json:1:2", root + "/ws/.starling/plugins.json:1:33"}
	if d := cmp.Diff(at, s.Rows["a"].At); d != "" {
		t.Error(d)
	}
}

// The order of settings, weakest first; whole keys are replaced.
func TestConfigOrder(t *testing.T) {
	files := map[string]string{
		"home/plugins/a.json":          `{"from": "home file", "1": {"deep": 1}, "home file": 1}`,
		"ws/.starling/plugins/a.json":  `{"from": "workspace file", "1": {"other": 1}, "workspace file": 1}`,
		"home/plugins.json":            `[{"id": "a", "config": {"from": "home row", "home row": 1}}]`,
		"ws/.starling/plugins.json":    `[{"id": "a", "config": {"from": "workspace row"}}]`,
		"home/plugins/b.json":          `{"x": 1}`,
		"home/plugins/.hidden.json":    `{`,
		"home/plugins/not a name.json": `{`,
		"home/plugins/dir.json/x":      "",
	}
	for _, c := range []struct {
		without []string
		want    string
	}{
		{nil, "map[1:map[other:1] from:workspace row home file:1 workspace file:1]"},
		{[]string{"ws/.starling/plugins.json"}, "map[1:map[other:1] from:home row home file:1 home row:1 workspace file:1]"},
		{[]string{"ws/.starling/plugins.json", "home/plugins.json"}, "map[1:map[other:1] from:workspace file home file:1 workspace file:1]"},
		{[]string{"ws/.starling/plugins.json", "home/plugins.json", "ws/.starling/plugins/a.json"}, "map[1:map[deep:1] from:home file home file:1]"},
	} {
		some := map[string]string{}
		for name, content := range files {
			some[name] = content
		}
		for _, name := range c.without {
			delete(some, name)
		}
		root := tree(t, some)
		s := discover.ReadSettings(options(root), anyBytes)
		if len(s.Errors) != 0 {
			t.Error(s.Errors)
		}
		if got := fmt.Sprint(s.Config("a")); got != c.want {
			t.Errorf("without %v: got %s, want %s", c.without, got, c.want)
		}
		if got := fmt.Sprint(s.Config("b")) + fmt.Sprint(s.Config("c")); got != "map[x:1]map[]" {
			t.Errorf("others: %s", got)
		}
	}
}

func TestSettingsFilesAreObjects(t *testing.T) {
	for content, want := range map[string]string{
		`[1]`:                             "1:1: settings are an object, not a list",
		` "x"`:                            "1:2: settings are an object, not text",
		"{\n\"a\": 1,\n\"a\": 2}":         `3:1: "a" is there twice; keep one`,
		"{\"a\": {\"b\": 1e999}}":         "1:13: a number this large does not fit",
		"{\"a\"}":                         "1:5: no JSON: invalid character '}' after object key",
		strings.Repeat(" ", 1<<20) + "{}": "more than 1048576 bytes",
	} {
		root := tree(t, map[string]string{"home/plugins/a.json": content, "home/plugins/b.json": `{"x": 1}`})
		s := discover.ReadSettings(options(root), nil)
		errs := said(root, s.Errors)
		if len(errs) != 1 || !strings.HasPrefix(errs[0], "home/plugins/a.json:") || !strings.HasSuffix(errs[0], want) {
			t.Errorf("%.20q: got %q, want %q", content, errs, want)
		}
		if a, b := fmt.Sprint(s.Config("a")), fmt.Sprint(s.Config("b")); a != "map[]" || b != "map[x:1]" {
			t.Errorf("%.20q: a %s, b %s", content, a, b)
		}
	}
}

// Nothing of the workspace counts unapproved; the units say what to approve.
func TestUnapprovedSettings(t *testing.T) {
	root := tree(t, map[string]string{
		"home/plugins/guard.star":         "",
		"home/plugins/guard.json":         `{"level": "high"}`,
		"ws/.starling/plugins/guard.json": `{"level": "none"}`,
		"ws/.starling/plugins.json":       `[{"id": "guard", "disabled": true, "config": {"level": "none"}, "nonsense": 1}, {"id": "new", "url": "../tools/new"}]`,
		"ws/tools/new/main.star":          "main",
		"ws/tools/new/lib/a.star":         "lib",
		"ws/tools/new/readme.txt":         "text",
	})
	seen := map[string]trust.Bundle{}
	s := discover.ReadSettings(options(root), func(unit string, b trust.Bundle) bool {
		seen[unit] = b
		return false
	})
	if len(s.Errors) != 0 || len(s.Rows) != 0 || fmt.Sprint(s.Config("guard")) != "map[level:high]" {
		t.Errorf("errors %v, rows %v, config %v", s.Errors, s.Rows, s.Config("guard"))
	}
	found, err := discover.Find(options(root))
	if err != nil {
		t.Fatal(err)
	}
	joined, errs := s.Join(options(root), found)
	if d := cmp.Diff([]string{"home guard home/plugins/guard.star"}, rows(t, root, joined)); d != "" || errs != nil {
		t.Errorf("%s %v", d, errs)
	}
	var units []string
	for _, u := range s.Units {
		units = append(units, fmt.Sprintf("%s %s %v %v", u.Name, strings.TrimPrefix(u.Path, root+"/"), u.Applied, u.Bundle.Names()))
		if seen[u.Name].Digest() != u.Bundle.Digest() {
			t.Errorf("%s: the bytes asked about are not those listed", u.Name)
		}
	}
	want := []string{
		"plugins.json ws/.starling/plugins.json false [plugins.json url/new/lib/a.star url/new/main.star]",
		"settings/guard.json ws/.starling/plugins/guard.json false [guard.json]",
	}
	if d := cmp.Diff(want, units); d != "" {
		t.Error(d)
	}
	// One changed byte of what a url names is another bundle.
	before := s.Units[0].Bundle.Digest()
	if err := os.WriteFile(filepath.Join(root, "ws/tools/new/lib/a.star"), []byte("lob"), 0o644); err != nil {
		t.Fatal(err)
	}
	if after := discover.ReadSettings(options(root), nil).Units[0].Bundle.Digest(); after == before {
		t.Error("the digest stayed")
	}
	// Approving one leaves the other out.
	s = discover.ReadSettings(options(root), func(unit string, _ trust.Bundle) bool { return unit == "settings/guard.json" })
	if len(s.Rows) != 0 || fmt.Sprint(s.Config("guard")) != "map[level:none]" || !s.Units[1].Applied {
		t.Errorf("rows %v, config %v, units %v", s.Rows, s.Config("guard"), s.Units)
	}
}

func TestTheHomeIsNoWorkspace(t *testing.T) {
	root := tree(t, map[string]string{"user/.starling/plugins.json": `[{"id": "a"}]`})
	s := discover.ReadSettings(discover.Options{Home: root + "/user/.starling", Workspace: root + "/user"}, nil)
	if len(s.Units) != 0 || len(s.Rows) != 1 || len(s.Rows["a"].At) != 1 {
		t.Errorf("units %v, rows %v", s.Units, s.Rows)
	}
	if s := discover.ReadSettings(discover.Options{}, nil); len(s.Errors)+len(s.Rows)+len(s.Units) != 0 {
		t.Errorf("without folders: %v", s)
	}
}

func TestOddFiles(t *testing.T) {
	root := tree(t, map[string]string{"home/plugins.json/x": "", "home/plugins": "a file"})
	errs := said(root, discover.ReadSettings(options(root), nil).Errors)
	if len(errs) != 2 || errs[0] != "home/plugins.json: not a regular file" || !strings.Contains(errs[1], "home/plugins: not a directory") {
		t.Errorf("got %q", errs)
	}
}

func TestLargeFolders(t *testing.T) {
	files := map[string]string{"ws/.starling/plugins.json": `[{"id": "a", "url": "../many"}, {"id": "b", "url": "../huge"}, {"id": "c", "url": "../long"}]`}
	for i := range 2001 {
		files[fmt.Sprintf("ws/many/%d.txt", i)] = ""
	}
	mib := strings.Repeat("#", 1<<20)
	for i := range 9 {
		files[fmt.Sprintf("ws/huge/%d.star", i)] = mib
	}
	files["ws/many/main.star"], files["ws/huge/main.star"], files["ws/long/main.star"] = "", "", mib+"#"
	root := tree(t, files)
	var got []string
	for _, err := range said(root, discover.ReadSettings(options(root), anyBytes).Errors) {
		got = append(got, strings.TrimPrefix(err, "ws/.starling/plugins.json:"))
	}
	want := []string{
		`1:21: "url": folder ws/many holds more than 2000 entries`,
		`1:52: "url": folder ws/huge holds more than 8388608 bytes of .star files`,
		`1:83: "url": ws/long/main.star: more than 1048576 bytes`,
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
}

func TestRealms(t *testing.T) {
	r := discover.Row{Isolate: map[string]discover.Isolation{"shell": {Off: true}, "tools": {Realm: "box"}, "todos": {}}}
	declared := map[string]string{"shell": "", "tools": "", "memory": "m"}
	if d := cmp.Diff(map[string]string{"tools": "box", "todos": "", "memory": "m"}, r.Realms(declared)); d != "" {
		t.Error(d)
	}
	if len(declared) != 3 {
		t.Error("what the plugin declared was changed")
	}
}
