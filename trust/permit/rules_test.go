package permit_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"starling/trust/permit"
)

// room is a folder of starling with rules in it, and a workspace.
func room(t *testing.T, rules string) (file, workspace string) {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	file, workspace = filepath.Join(dir, "home", "rules.json"), filepath.Join(dir, "ws")
	if err := os.MkdirAll(workspace, 0o700); err != nil {
		t.Fatal(err)
	}
	if rules != "" {
		put(t, file, strings.ReplaceAll(rules, "WS", workspace))
	}
	return file, workspace
}

func put(t *testing.T, file, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

func load(t *testing.T, file, workspace string) *permit.Rules {
	t.Helper()
	r, err := permit.Load(file, workspace)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// listed is the list as lines of source, effect and rule.
func listed(r *permit.Rules) []string {
	var lines []string
	for _, l := range r.List() {
		lines = append(lines, fmt.Sprintf("%s: %s %s", l.Source, l.Effect, l.Rule))
	}
	return lines
}

func TestLayers(t *testing.T) {
	file, ws := room(t, `{"version": 1, "allow": ["bash(git status)"], "deny": ["bash(rm *)", "bash(rm  *)"],
		"workspaces": {"WS": {"ask": ["edit(a)"]}, "/other": {"allow": ["*"]}}}`)
	r := load(t, file, ws).With(permit.FromFlag, permit.Deny, rule(t, "fetch"))
	if err := r.Always(permit.FromWorkspace, rule(t, "bash(make)"), rule(t, "bash(ls)")); err != nil {
		t.Fatal(err)
	}
	if err := r.Always(permit.FromSession, rule(t, "bash(pwd)")); err != nil {
		t.Fatal(err)
	}
	if err := r.Always(permit.FromHome, rule(t, "bash(git status)")); err != nil {
		t.Fatal(err)
	}
	want := []string{
		"flag: deny fetch", "session: allow bash(pwd)",
		"workspace: ask edit(a)", "workspace: allow bash(make)", "workspace: allow bash(ls)",
		"rules.json: allow bash(git status)", "rules.json: deny bash(rm *)",
	}
	if diff := cmp.Diff(want, listed(r)); diff != "" {
		t.Errorf("in this session (-want +got)\n%s", diff)
	}
	link := filepath.Join(filepath.Dir(ws), "link")
	if err := os.Symlink(ws, link); err != nil {
		t.Fatal(err)
	}
	later := []string{
		"workspace: allow bash(make)", "workspace: allow bash(ls)", "workspace: ask edit(a)",
		"rules.json: allow bash(git status)", "rules.json: deny bash(rm *)",
	}
	for _, dir := range []string{ws, link, ws + "/"} {
		if diff := cmp.Diff(later, listed(load(t, file, dir))); diff != "" {
			t.Errorf("in the next, from %s (-want +got)\n%s", dir, diff)
		}
	}
	if diff := cmp.Diff(later[3:], listed(load(t, file, filepath.Dir(ws)))); diff != "" {
		t.Errorf("in another workspace (-want +got)\n%s", diff)
	}

	for _, l := range r.List() {
		if err := r.Remove(l); err != nil {
			t.Errorf("%+v: %v", l, err)
		}
		if err := r.Remove(l); err == nil || !strings.Contains(err.Error(), "/policy") {
			t.Errorf("removed again %+v: %v", l, err)
		}
	}
	if got := append(listed(r), listed(load(t, file, ws))...); got != nil {
		t.Errorf("after removing all: %q", got)
	}
	if diff := cmp.Diff([]string{"workspace: allow *"}, listed(load(t, file, "/other"))); diff != "" {
		t.Errorf("the rules of another workspace (-want +got)\n%s", diff)
	}
	if info, err := os.Stat(file); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("the file: %v, %v", info.Mode(), err)
	}
	free := load(t, "", ws)
	if err := free.Always(permit.FromHome, rule(t, "bash")); err != nil || !cmp.Equal(listed(free), []string{"session: allow bash"}) {
		t.Errorf("without a file: %v, %q", err, listed(free))
	}
	var none *permit.Rules
	if none.List() != nil {
		t.Error("no rules are some")
	}
}

// A change from outside counts from the next start, and is not lost by a change
// from inside.
func TestChangesFromOutside(t *testing.T) {
	file, ws := room(t, "")
	r := load(t, file, ws)
	put(t, file, `{"version": 1, "allow": ["*"], "deny": ["bash(rm *)"]}`)
	if err := r.Always(permit.FromHome, rule(t, "edit(a)")); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"rules.json: allow edit(a)"}, listed(r)); diff != "" {
		t.Errorf("now (-want +got)\n%s", diff)
	}
	want := []string{"rules.json: allow *", "rules.json: allow edit(a)", "rules.json: deny bash(rm *)"}
	if diff := cmp.Diff(want, listed(load(t, file, ws))); diff != "" {
		t.Errorf("later (-want +got)\n%s", diff)
	}
}

// A file that cannot be read whole is not used at all: a rule that denies could be
// lost.
func TestUnreadableFiles(t *testing.T) {
	for _, c := range []struct{ text, place, want string }{
		{"", ":1:1:", "no JSON"},
		{"{", ":1:2:", "no JSON"},
		{"{\n  \"version\": 1,\n  \"allow\": [\"a\",]\n}", ":3:17:", "no JSON"},
		{`[]`, ":1:1:", "rules must be an object"},
		{`{}`, ":1:1:", `add "version": 1`},
		{`{"version": "1"}`, ":1:13:", `write "version": 1`},
		{`{"version": 0}`, ":1:13:", `write "version": 1`},
		{`{"version": null}`, ":1:13:", `write "version": 1`},
		{`{"version": 1.0}`, ":1:13:", `write "version": 1`},
		{`{"version": 2, "future": 1}`, "", "use a newer starling"},
		{`{"version": 1, "alow": []}`, ":1:16:", `unknown field "alow"`},
		{`{"version": 1, "Deny": []}`, ":1:16:", `unknown field "Deny"`},
		{`{"version": 1, "deny": "bash"}`, ":1:24:", "must be a list of rules"},
		{`{"version": 1, "deny": null}`, ":1:24:", "must be a list of rules"},
		{`{"version": 1, "deny": ["bash", 1]}`, ":1:33:", "must be a list of rules"},
		{`{"version": 1, "deny": ["bash"], "deny": []}`, ":1:34:", "is there twice"},
		{"{\"version\": 1,\n \"ask\": [\"é\", \"bash(rm *)\"]}", ":2:10:", `rule "é"`},
		{"{\"version\": 1,\n \"ask\": [\"bash\", \"bash(rm && *)\"]}", ":2:18:", `rule "bash(rm && *)"`},
		{`{"version": 1, "workspaces": []}`, ":1:30:", "workspaces must be an object"},
		{`{"version": 1, "workspaces": {"a": {}}}`, ":1:31:", "no absolute path"},
		{`{"version": 1, "workspaces": {"/a/": {}}}`, ":1:31:", "no absolute path"},
		{`{"version": 1, "workspaces": {"/a": []}}`, ":1:37:", "must be an object of allow, ask and deny"},
		{`{"version": 1, "workspaces": {"/a": {"version": 1}}}`, ":1:38:", `unknown field "version"`},
		{`{"version": 1, "workspaces": {"/a": {"deny": ["x("]}}}`, ":1:47:", `rule "x("`},
		{`{"version": 1, "workspaces": {"/a": {}, "/a": {}}}`, ":1:41:", "is there twice"},
		{`{"version": 1} {}`, ":1:16:", "no JSON"},
		{"{\"version\": 1, \"deny\": [\"a\xff\"]}", ":1:27:", "no UTF-8"},
		{strings.Repeat(" ", 1<<20) + `{"version": 1}`, "", "more than 1048576"},
	} {
		file, ws := room(t, "")
		put(t, file, c.text)
		r, err := permit.Load(file, ws)
		if err == nil || r != nil || !strings.HasPrefix(err.Error(), file+c.place) || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%.80q: got %v, %v; want %s and %q", c.text, r, err, c.place, c.want)
		}
	}
	file, ws := room(t, `{"version": 1}`)
	if err := os.Remove(file); err != nil {
		t.Fatal(err)
	}
	if err := syscall.Mkfifo(file, 0o600); err != nil {
		t.Fatal(err)
	}
	if r, err := permit.Load(file, ws); err == nil || r != nil || err.Error() != file+": not a regular file" {
		t.Errorf("a pipe in its place: %v %v", r, err)
	}
}

// What cannot be stored counts until exit, and the error says why.
func TestRulesThatCannotBeStored(t *testing.T) {
	type place struct {
		name, want string
		spoil      func(file string) error
	}
	for _, c := range []place{
		{"the file was broken meanwhile", ":1:2: no JSON", func(file string) error { return os.WriteFile(file, []byte("{"), 0o600) }},
		{"the lock is no file", "rules.lock", func(file string) error { return os.MkdirAll(filepath.Join(filepath.Dir(file), "rules.lock"), 0o700) }},
		{"the file is a folder", "rules.json", func(file string) error {
			if err := os.Remove(file); err != nil {
				return err
			}
			return os.Mkdir(file, 0o700)
		}},
		{"the home is a file", "home", func(file string) error {
			if err := os.RemoveAll(filepath.Dir(file)); err != nil {
				return err
			}
			return os.WriteFile(filepath.Dir(file), nil, 0o600)
		}},
		{"no room", "", func(file string) error { return os.WriteFile(file, []byte(full()), 0o600) }},
	} {
		t.Run(c.name, func(t *testing.T) {
			file, ws := room(t, `{"version": 1, "deny": ["edit"]}`)
			r := load(t, file, ws)
			if err := c.spoil(file); err != nil {
				t.Fatal(err)
			}
			err := r.Always(permit.FromWorkspace, rule(t, "bash(make)"))
			if err == nil || !strings.Contains(err.Error(), "counts until exit but is not stored") || !strings.Contains(err.Error(), c.want) {
				t.Errorf("got %v, want %q", err, c.want)
			}
			want := []string{"session: allow bash(make)", "rules.json: deny edit"}
			if diff := cmp.Diff(want, listed(r)); diff != "" {
				t.Errorf("(-want +got)\n%s", diff)
			}
			if c.name == "no room" {
				return // a rule less is room
			}
			err = r.Remove(r.List()[1])
			if err == nil || !strings.Contains(err.Error(), "until exit but still stored") {
				t.Errorf("removed: %v", err)
			}
			if diff := cmp.Diff(want[:1], listed(r)); diff != "" {
				t.Errorf("(-want +got)\n%s", diff)
			}
		})
	}
}

// full is a file of rules to which no rule can be added.
func full() string {
	var b strings.Builder
	b.WriteString(`{"version":1,"deny":["edit"`)
	for i := 0; b.Len() < 1<<20-1100; i++ {
		fmt.Fprintf(&b, `,"x(n=%d%s)"`, i, strings.Repeat("a", 900))
	}
	return b.String() + "]}" + strings.Repeat(" ", 1<<20-b.Len()-2)
}

// A link to the file stays a link.
func TestRulesThroughALink(t *testing.T) {
	file, ws := room(t, "")
	kept := filepath.Join(filepath.Dir(ws), "kept.json")
	put(t, kept, `{"version": 1}`)
	if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(kept, file); err != nil {
		t.Fatal(err)
	}
	if err := load(t, file, ws).Always(permit.FromHome, rule(t, "bash(make)")); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"rules.json: allow bash(make)"}, listed(load(t, kept, ws))); diff != "" {
		t.Error(diff)
	}
	if info, err := os.Lstat(file); err != nil || info.Mode()&os.ModeSymlink == 0 {
		t.Errorf("%v, %v", info, err)
	}
}

// Several sessions that store at once lose nothing, while others decide.
func TestConcurrentWriters(t *testing.T) {
	file, ws := room(t, "")
	const sessions, each = 4, 8
	var wg sync.WaitGroup
	for s := range sessions {
		r := load(t, file, ws)
		for i := range each {
			wg.Go(func() {
				scope := permit.FromHome
				if i%2 == 0 {
					scope = permit.FromWorkspace
				}
				mine, err := permit.ParseRule(fmt.Sprintf("bash(x %d %d)", s, i))
				if err == nil {
					err = r.Always(scope, mine)
				}
				if err == nil && i%4 == 0 {
					err = r.Remove(permit.Listed{Rule: mine, Effect: permit.Allow, Source: scope})
				}
				if err != nil {
					t.Error(err)
				}
			})
			wg.Go(func() {
				p := policy(t, permit.ModeAsk)
				p.Rules = r
				permit.Decide(bash(line(part("x"))), p, nil)
			})
		}
	}
	wg.Wait()
	if got, want := len(load(t, file, ws).List()), sessions*each*3/4; got != want {
		t.Errorf("%d rules, want %d", got, want)
	}
	left, err := filepath.Glob(filepath.Join(filepath.Dir(file), ".rules*"))
	if err != nil || len(left) > 0 {
		t.Errorf("left behind: %q, %v", left, err)
	}
}

// What is stored reads back, whatever was added and taken back in which order.
func TestPropertyFileRoundTrip(t *testing.T) {
	file, ws := room(t, "")
	rapid.Check(t, func(rt *rapid.T) {
		if err := os.RemoveAll(filepath.Dir(file)); err != nil {
			rt.Fatal(err)
		}
		r := load(t, file, ws)
		for range rapid.IntRange(0, 8).Draw(rt, "steps") {
			if have := r.List(); len(have) > 0 && rapid.Bool().Draw(rt, "remove") {
				if err := r.Remove(rapid.SampledFrom(have).Draw(rt, "which")); err != nil {
					rt.Fatal(err)
				}
				continue
			}
			one, err := permit.ParseRule(spelling().Draw(rt, "rule"))
			if err != nil {
				continue
			}
			if err := r.Always(rapid.SampledFrom([]permit.Source{permit.FromHome, permit.FromWorkspace}).Draw(rt, "scope"), one); err != nil {
				rt.Fatal(err)
			}
		}
		if diff := cmp.Diff(listed(r), listed(load(t, file, ws))); diff != "" {
			rt.Fatalf("(-session +file)\n%s", diff)
		}
	})
}

// A file is read whole or refused with its place, and what was read writes a file
// that reads the same.
func FuzzRulesFile(f *testing.F) {
	for _, text := range []string{
		`{"version": 1}`, `{"version": 1, "allow": ["bash(git status)", "edit(src/**)"], "ask": [], "deny": ["*"]}`,
		`{"version": 1, "workspaces": {"/a/b": {"deny": ["fetch(*.example.org)"]}}}`, `{"version": 2}`, `{"version": 1, "x": {}}`, "\xef\xbb\xbf{\"version\": 1}", `[1`,
	} {
		f.Add([]byte(text))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		once, err := permit.Reencode(data)
		if err != nil {
			if !strings.HasPrefix(err.Error(), "rules.json") {
				t.Fatalf("the error %v does not name the file", err)
			}
			return
		}
		twice, err := permit.Reencode(once)
		if err != nil || string(twice) != string(once) {
			t.Fatalf("%s\nwas read back as\n%s\n%v", once, twice, err)
		}
	})
}
