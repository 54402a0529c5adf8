package harness_test

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"starling/agent/harness"
)

// shell is a plugin with a tool that runs one line of shell: what a model with
// any command tool can do.
const shellPlugin = `
inject = ["tools"]
uses = ["exec"]
def apply(ctx):
    tool("sh", "d", {"type": "object", "properties": {"line": {"type": "string"}}}, lambda a: exec(a["line"]).output)
    tool("later", "d", {"type": "object", "properties": {"line": {"type": "string"}}}, lambda a: exec(a["line"], reply=lambda o: None) and "started")
`

// planted leaves a file behind as soon as it is loaded.
const planted = "uses = [\"exec\"]\ndef apply(ctx): exec(\"touch pwned\")\n"

// settledDisk waits until the engine's picture of the disk is old enough to be
// told from a change.
func settledDisk(p *place, e *harness.Engine) {
	p.eventually("a quiet disk", func() bool {
		if e.SameOnDisk() {
			return true
		}
		if _, err := e.Reload(context.Background(), ""); err != nil {
			p.t.Fatal(err)
		}
		time.Sleep(60 * time.Millisecond)
		return false
	})
}

// What a run leaves on the disk in its last moment is noted before the run is
// over, with words or without them, new or an edit, and is not loaded later.
func TestLastMomentOfARun(t *testing.T) {
	for _, c := range []struct{ name, line, note string }{
		{"a new file", "cp ../planted.star ../new && mv ../new ../home/plugins/new.star", "new: it changed while a run is alive"},
		{"a new file without words", "cp ../plain.star ../new && mv ../new ../home/plugins/new.star", "new: it changed while a run is alive"},
		{"a folder that was there", "cp ../planted.star ../new && mv ../new ../home/plugins/empty/main.star", "empty: it changed while a run is alive"},
		{"an edit of the same length and time", "cp -p ../home/plugins/old.star ../ref && cp ../edit.star ../home/plugins/old.star && touch -r ../ref ../home/plugins/old.star", "old: it changed while a run is alive"},
		{"a switch", "printf '[{\"id\": \"old\", \"disabled\": true}]' > ../home/plugins.json", "old: it changed while a run is alive"},
		{"a url", "printf '[{\"id\": \"far\", \"url\": \"../planted.star\"}]' > ../home/plugins.json", "far: it changed while a run is alive"},
		{"settings", "printf '{\"k\": 1}' > ../home/plugins/old.json", "old: it changed while a run is alive"},
		{"a process that outlives the run", "sleep 0.7; cp ../plain.star ../new && mv ../new ../home/plugins/new.star", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			p := newPlace(t)
			p.write("home/plugins/sh.star", shellPlugin)
			p.write("home/plugins/old.star", "def apply(ctx): print(1)\n")
			p.write("home/plugins/empty/other.txt", "")
			p.write("edit.star", "def apply(ctx): print(2)\n")
			p.write("plain.star", "def apply(ctx): pass\n")
			p.write("planted.star", planted)
			tool := "sh"
			if c.note == "" {
				tool = "later"
			}
			p.scenario("call(" + quoted(tool) + ", line = " + quoted(c.line) + ")\nsay(\"done\")\n")
			e := p.start()
			settledDisk(p, e)
			if o := p.prompt(e, "go"); o.Text != "done" {
				t.Fatalf("%+v\n%s", o, p.said())
			}
			if !strings.Contains(p.said(), c.note) {
				t.Fatalf("the run was over and nothing was noted\n%s", p.said())
			}
			if c.note == "" {
				p.eventually("the plant", func() bool { return p.read("home/plugins/new.star") != "" })
			}
			// The watcher has had its say once it tells of this file.
			p.write("home/plugins/after.star", "def apply(ctx)\n")
			p.eventually("the watcher", func() bool { return strings.Contains(p.said(), "after.star:2:1") })
			for _, name := range []string{"new", "empty", "far"} {
				if got := p.state(e, name); got != "absent" {
					t.Errorf("%s is %s\n%s", name, got, p.said())
				}
			}
			if got := p.state(e, "old"); got != "active" {
				t.Errorf("old is %s", got)
			}
			if _, err := os.Stat(filepath.Join(p.ws, "pwned")); err == nil {
				t.Errorf("a planted plugin ran\n%s", p.said())
			}
		})
	}
}

func quoted(s string) string {
	return `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`).Replace(s) + `"`
}

// A run that changed nothing costs no reading.
func TestQuietRunReadsNothing(t *testing.T) {
	p := newPlace(t)
	p.write("home/plugins/a.star", "def apply(ctx): pass\n")
	p.write("home/plugins/d/main.star", "load(\"./util.star\", \"f\")\ndef apply(ctx): f()\n")
	p.write("home/plugins/d/util.star", "def f(): pass\n")
	e := p.start()
	settledDisk(p, e)
	p.prompt(e, "go")
	if !e.SameOnDisk() {
		t.Error("a run that touched nothing looks like a change")
	}
	p.write("home/plugins/d/util.star", "def f(): return 1\n")
	if e.SameOnDisk() {
		t.Error("an edit of a loaded file is not seen")
	}
}

// Idle, a new file of the home is loaded at once, unless it asks for words: those
// need a person.
func TestNewFileWithWordsNeedsAPerson(t *testing.T) {
	p := newPlace(t)
	e := p.start()
	p.write("home/plugins/words.star", planted)
	p.eventually("the note", func() bool {
		return strings.Contains(p.said(), "words: it is new and asks for exec, which needs a person; start again to load it")
	})
	p.write("home/plugins/plain.star", "def apply(ctx): pass\n")
	p.eventually("the plain one", func() bool { return p.state(e, "plain") == "active" })
	if got := p.state(e, "words"); got != "absent" {
		t.Errorf("words is %s", got)
	}
	if s, err := e.Reload(context.Background(), ""); err != nil || !strings.Contains(s, "loaded words") {
		t.Errorf("a person asks: %q %v", s, err)
	}
}

// Whatever --trust-edits says, a fail_closed plugin is not taken away while a run
// is alive.
func TestFailClosedIsNotTakenAwayInMidRun(t *testing.T) {
	for _, c := range []struct{ name, line string }{
		{"removed", "rm ../home/plugins/guard.star"},
		{"switched off", "printf '[{\"id\": \"guard\", \"disabled\": true}]' > ../home/plugins.json"},
		{"renamed", "mv ../home/plugins/guard.star ../home/plugins/.guard.star"},
	} {
		t.Run(c.name, func(t *testing.T) {
			p := newPlace(t)
			p.write("home/plugins/sh.star", shellPlugin)
			p.write("home/plugins/guard.star", "fail_closed = True\ndef apply(ctx): on(\"agent/tool-call\", lambda e: block(\"guarded\") if e.name == \"write\" else None)\n")
			p.options.TrustEdits = true
			p.scenario("call(\"sh\", line = " + quoted(c.line) + ")\ncall(\"sh\", line = \"sleep 1\")\ncall(\"write\", path = \"x\", content = \"1\")\nexpect(\"guarded\")\nsay(\"one\")\ncall(\"write\", path = \"x\", content = \"1\")\nexpect(\"guarded\")\nsay(\"two\")\n")
			e := p.start()
			settledDisk(p, e)
			for _, want := range []string{"one", "two"} {
				if o := p.prompt(e, "go"); o.Text != want {
					t.Fatalf("%+v\n%s", o, p.said())
				}
			}
			if !strings.Contains(p.said(), "guard: it was taken away while a run is alive and it is fail_closed, which needs a person") {
				t.Errorf("nothing is noted\n%s", p.said())
			}
			if p.read("ws/x") != "" || p.state(e, "guard") != "active" {
				t.Errorf("the guard is %s\n%s", p.state(e, "guard"), p.said())
			}
		})
	}
}
