package docs_test

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"

	"starling/agent/harness"
	"starling/bus/event"
	"starling/bus/view"
	"starling/script"
	"starling/script/bind"
	"starling/script/discover"
	"starling/script/limits"
	"starling/trust"
)

const pluginsPage = "docs/plugins.md"

// file is one file of a plugin shown on a page.
type file struct {
	name string // as its first line says: NAME.star or NAME/main.star
	block
}

func (f file) dir() string { return path.Dir(f.name) }

// plugin tells whether the file is one, and not loaded by another.
func (f file) plugin() bool { return f.dir() == "." || path.Base(f.name) == "main.star" }

// pluginName of the file.
func (f file) pluginName() string {
	if f.dir() == "." {
		return strings.TrimSuffix(f.name, ".star")
	}
	return f.dir()
}

// shownFiles returns the Starlark blocks of a page. Each begins with its name; one
// that is no whole file begins with "# fragment".
func shownFiles(t *testing.T, page string) map[string]file {
	t.Helper()
	files := map[string]file{}
	for _, b := range blocks(page) {
		if b.lang != "python" {
			continue
		}
		first, _, _ := strings.Cut(b.text, "\n")
		name := strings.TrimPrefix(first, "# ")
		switch {
		case name == "fragment":
		case !strings.HasSuffix(name, ".star"):
			t.Errorf("line %d: a block begins with its file name or with # fragment, not with %q", b.line, first)
		default:
			files[name] = file{name, b}
		}
	}
	return files
}

// TestPluginBlocksCompile: every complete plugin on the page is read and resolved.
func TestPluginBlocksCompile(t *testing.T) {
	files := shownFiles(t, page(t, pluginsPage))
	plugins := 0
	for _, f := range files {
		if !f.plugin() {
			continue
		}
		plugins++
		prog, err := script.Parse(f.pluginName(), f.name, []byte(f.text))
		if err != nil {
			t.Errorf("line %d: %v", f.line, err)
			continue
		}
		if len(prog.Loads()) > 0 {
			err = prog.Link(func(name string) ([]byte, error) {
				lib, ok := files[path.Join(f.dir(), name)]
				if !ok {
					return nil, fmt.Errorf("the page does not show %s", name)
				}
				return []byte(lib.text), nil
			})
			if err != nil {
				t.Errorf("line %d: %v", f.line, err)
			}
		}
		if err := bind.Compile(prog); err != nil {
			t.Errorf("line %d: %v", f.line, err)
		}
		if prog.Decl().Doc == "" {
			t.Errorf("line %d: the plugin says nothing about itself", f.line)
		}
	}
	if plugins < 8 {
		t.Fatalf("only %d plugins were seen", plugins)
	}
}

// put writes a file and returns its path.
func put(t *testing.T, dir, name, text string) string {
	t.Helper()
	full := filepath.Join(dir, filepath.FromSlash(name))
	if err := os.MkdirAll(filepath.Dir(full), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(full, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return full
}

// heard collects notices.
type heard struct {
	mu   sync.Mutex
	list []view.Notice
}

func (h *heard) notify(n view.Notice) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.list = append(h.list, n)
}

// run starts an engine with these plugins, plays a scenario, closes it, and returns
// the rows of the plugins and what was said.
func run(t *testing.T, plugins []string, scenario string) ([]view.Plugin, []view.Notice) {
	t.Helper()
	h := &heard{}
	workspace := t.TempDir()
	o := harness.Options{
		Home: t.TempDir(), Cwd: workspace, Workspace: workspace, Plugins: plugins, NoPlugins: true,
		Model: "script:" + put(t, workspace, "steps.star", scenario), Notify: h.notify,
	}
	e, err := harness.New(context.Background(), o)
	if err != nil {
		t.Fatal(err)
	}
	e.Prompt(context.Background(), "go")
	rows := e.Plugins()
	if err := e.Close(context.Background()); err != nil {
		t.Error(err)
	}
	return rows, h.list
}

// TestPluginBlocksRun: all plugins of the page load together, probes included, and
// a run goes through them without a fault.
func TestPluginBlocksRun(t *testing.T) {
	dir := t.TempDir()
	var plugins []string
	for _, f := range shownFiles(t, page(t, pluginsPage)) {
		if full := put(t, dir, f.name, f.text); f.plugin() {
			plugins = append(plugins, full)
		}
	}
	slices.Sort(plugins)
	rows, said := run(t, plugins, `
calls([call("read", path = "steps.star"), call("note_add", text = "x")])
call("read", path = "steps.star")
call("write", path = "CHANGELOG.md", content = "x")
expect("Blocked by changelog")
say("done")
`)
	if len(rows) != len(plugins) {
		t.Errorf("%d rows for %d plugins", len(rows), len(plugins))
	}
	for _, row := range rows {
		if row.State != "active" {
			t.Errorf("%s is %s: %s", row.Name, row.State, row.Reason)
		}
	}
	for _, n := range said {
		if n.Warn {
			t.Errorf("[%s] %s", n.From, n.Text)
		}
	}
}

// recorder notes the name of every event once, in the order they came first.
const recorder = `"""Records the order of events."""
inject = ["tools"]
def apply(ctx):
    def work(args):
        h = later(timeout_s = 5)
        h.progress("half")
        h.done("whole")
        return h
    tool("work", "Works.", {}, work)
    seen = {}
    def note(e):
        if e.event not in seen:
            seen[e.event] = True
            notify(e.event)
    for name in EVENTS:
        on(name, note)
EVENTS = %s
`

// TestEventOrder: a run announces its events in the order the page gives.
func TestEventOrder(t *testing.T) {
	want := eventOrder(t)
	names, err := json.Marshal(want)
	if err != nil {
		t.Fatal(err)
	}
	plugin := put(t, t.TempDir(), "recorder.star", fmt.Sprintf(recorder, names))
	_, said := run(t, []string{plugin}, "calls([call(\"work\"), call(\"bash\", command = \"touch x\")])\nsay(\"done\")\n")
	var got []string
	for _, n := range said {
		if n.From == "recorder" {
			got = append(got, n.Text)
		}
	}
	if !slices.Equal(got, want) {
		t.Errorf("a run announced\n%q\nthe page says\n%q", got, want)
	}
}

// TestJSONBlocks: lists go through the reader of plugins.json, objects through that
// of settings files.
func TestJSONBlocks(t *testing.T) {
	seen := 0
	for _, b := range blocks(page(t, pluginsPage)) {
		if b.lang != "json" {
			continue
		}
		seen++
		home := t.TempDir()
		name := "plugins/some.json"
		if strings.HasPrefix(b.text, "[") {
			name = "plugins.json"
			var list []struct{ URL string }
			if err := json.Unmarshal([]byte(b.text), &list); err != nil {
				t.Errorf("line %d: %v", b.line, err)
			}
			for _, row := range list {
				if row.URL != "" {
					put(t, home, row.URL, "def apply(ctx):\n    pass\n")
				}
			}
		}
		put(t, home, name, b.text)
		s := discover.ReadSettings(discover.Options{Home: home}, nil)
		for _, err := range s.Errors {
			t.Errorf("line %d: %v", b.line, err)
		}
		if len(s.Rows) == 0 && len(s.Config("some")) == 0 {
			t.Errorf("line %d: nothing of the block applied", b.line)
		}
	}
	if seen < 2 {
		t.Fatalf("only %d blocks were seen", seen)
	}
}

// TestEventsAreDocumented: the table has every event, and none besides.
func TestEventsAreDocumented(t *testing.T) {
	var got []string
	for _, cells := range rows(section(t, page(t, pluginsPage), "Events")) {
		name := strings.Trim(cells[0], "`")
		if event.InFamily(name) {
			got = append(got, name)
		}
	}
	slices.Sort(got)
	if !slices.Equal(got, event.Names()) {
		t.Errorf("the table has %q, want %q", got, event.Names())
	}
}

var identifier = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]*$`)

// TestNamesAreDocumented: every word of the plugin API is mentioned, those that only
// guard an operation left out: they are no identifiers or Starlark's own.
func TestNamesAreDocumented(t *testing.T) {
	guards := map[string]bool{}
	for _, name := range limits.Names() {
		guards[name] = true
	}
	mentioned := map[string]bool{}
	for _, span := range spans(page(t, pluginsPage)) {
		mentioned[regexp.MustCompile(`^[A-Za-z_]*`).FindString(span)] = true
	}
	for name := range bind.Names() {
		if identifier.MatchString(name) && !guards[name] && !mentioned[name] {
			t.Errorf("%s is a word of the plugin API and is not mentioned", name)
		}
	}
}

// reach asks every word what happens when it is called.
const reach = `"""Calls every word."""
uses = ["model", "prompt"]
WORDS = [%s]
def apply(ctx):
    def look(e):
        for name, word in WORDS:
            r = attempt(word)
            if not r.ok and "is not available in this version" in r.error:
                notify(name)
    on("agent/run-start", look)
`

// asking are the words that look at their arguments first.
var asking = map[string]string{
	"model.ask": `lambda: model.ask({"model": "m", "messages": [{"role": "user", "text": "t"}]}, reply = print)`,
	"prompt":    `lambda: prompt("text")`,
}

// TestMissingWords: the last section names exactly the words that are not available
// yet, and every event of a later version in it is one.
func TestMissingWords(t *testing.T) {
	text := section(t, page(t, pluginsPage), "Not in this version")
	words, rest, ok := strings.Cut(text, "\n\n")
	if strings.TrimSpace(words) == "" {
		words, rest, ok = strings.Cut(rest, "\n\n")
	}
	if !ok {
		t.Fatal("the section has one paragraph")
	}
	documented := map[string]bool{}
	for _, span := range spans(words) {
		documented[span] = true
	}
	asked := []string{"http.serve", "model.ask", "model.list"}
	for name := range bind.Names() {
		if identifier.MatchString(name) && !slices.Contains([]string{"fs", "http", "model", "env", "random", "json", "math", "time", "ui", "fail"}, name) {
			asked = append(asked, name)
		}
	}
	slices.Sort(asked)
	var list []string
	for _, name := range asked {
		call := name
		if with := asking[name]; with != "" {
			call = with
		}
		list = append(list, fmt.Sprintf("(%q, %s)", name, call))
	}
	plugin := put(t, t.TempDir(), "reach.star", fmt.Sprintf(reach, strings.Join(list, ", ")))
	_, said := run(t, []string{plugin}, "say(\"done\")\n")
	missing := map[string]bool{}
	for _, n := range said {
		if n.From == "reach" && !n.Warn {
			missing[n.Text] = true
		}
	}
	for _, name := range asked {
		if missing[name] != documented[name] {
			t.Errorf("%s: missing %v, the page says %v", name, missing[name], documented[name])
		}
	}
	if len(missing) == 0 {
		t.Error("no word was found missing; the section and this test can go")
	}
	events := 0
	for _, span := range spans(rest) {
		if event.InFamily(span) && !slices.Contains(event.Names(), span) {
			events++
			if !event.Later(span) {
				t.Errorf("%s is no event of a later version", span)
			}
		}
	}
	if events == 0 {
		t.Error("no event of a later version was seen")
	}
}

// TestCapabilities: the table quotes the sentences of the trust question, and no word
// is left out.
func TestCapabilities(t *testing.T) {
	text := section(t, page(t, pluginsPage), "Capabilities")
	for _, cells := range rows(text) {
		word, err := trust.ParseWord(strings.Trim(cells[0], "`"))
		if err != nil {
			t.Error(err)
			continue
		}
		if got := cells[len(cells)-1]; got != word.Sentence() {
			t.Errorf("%s: the page says %q, the question %q", word, got, word.Sentence())
		}
	}
	for _, kind := range []trust.Kind{
		trust.FSRead, trust.FSWrite, trust.Exec, trust.Net, trust.Listen, trust.Model, trust.Env, trust.Prompt, trust.Steer, trust.Permit,
	} {
		if !slices.Contains(spans(text), string(kind)) {
			t.Errorf("the word %s is not mentioned", kind)
		}
	}
}

// TestLimits: the table has the defaults of the code.
func TestLimits(t *testing.T) {
	size := limits.Defaults()
	want := map[string]string{
		"steps":                    grouped(script.DefaultSteps),
		"one string":               fmt.Sprintf("%d MiB", size.String>>20),
		"one list, tuple or range": grouped(size.List) + " items",
		"one dict or set":          grouped(size.Dict) + " items",
		"one integer":              fmt.Sprintf("%d Kbit", size.Int>>10),
		"calls inside each other, across plugins":     fmt.Sprint(script.MaxNesting),
		"depth of a value printed or written as JSON": fmt.Sprint(size.Depth),
		"a file": fmt.Sprintf("%d MiB, UTF-8, no NUL", script.MaxSource>>20),
	}
	for _, cells := range rows(section(t, page(t, pluginsPage), "Limits")) {
		if value, ok := want[cells[0]]; ok {
			if cells[1] != value {
				t.Errorf("%s: the page says %s, the code %s", cells[0], cells[1], value)
			}
			delete(want, cells[0])
		}
	}
	for name := range want {
		t.Errorf("the table has no row %q", name)
	}
}

// grouped writes a number with a space between groups of three digits.
func grouped(n int) string {
	s := fmt.Sprint(n)
	for i := len(s) - 3; i > 0; i -= 3 {
		s = s[:i] + " " + s[i:]
	}
	return s
}
