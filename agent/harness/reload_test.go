package harness_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"testing"
	"time"

	"starling/bus/view"
)

// command makes a plugin whose command says a text.
func command(text string) string {
	return fmt.Sprintf("inject = [\"commands\"]\ndef apply(ctx):\n    command(\"say\", \"d\", lambda args: %q)\n", text)
}

// A saved file of the home is running a blink later in an idle session; a file
// that does not load-check leaves the old one running; a deleted one goes.
func TestReloadIdle(t *testing.T) {
	p := newPlace(t)
	p.write("home/plugins/a.star", command("one"))
	e := p.start()
	say := func() string {
		r, err := e.Command(context.Background(), "say", "")
		if err != nil {
			return err.Error()
		}
		return strings.Join(r.Lines, " ")
	}
	if got := say(); got != "one" {
		t.Fatalf("at the start %q\n%s", got, p.said())
	}
	p.write("home/plugins/a.star", command("two"))
	p.eventually("the edit", func() bool { return say() == "two" })

	p.write("home/plugins/a.star", "def apply(ctx)\n")
	p.eventually("the fault", func() bool { return strings.Contains(p.said(), "a.star:2:1") })
	if got := say(); got != "two" || !strings.Contains(p.said(), "the version before it goes on") {
		t.Errorf("after a broken save %q\n%s", got, p.said())
	}
	p.write("home/plugins/a.star", command("three"))
	p.eventually("the mended file", func() bool { return say() == "three" })

	p.write("home/plugins/b.star", "inject = [\"nothing\"]\ndef apply(ctx): pass\n")
	p.eventually("a new file", func() bool { return p.state(e, "b") == "pending: waiting for nothing" })
	if err := os.Remove(filepath.Join(p.home, "plugins", "a.star")); err != nil {
		t.Fatal(err)
	}
	p.eventually("the removal", func() bool { return p.state(e, "a") == "absent" })
}

// What keeps plugins from being watched is told once.
func TestWatchingThatFailsIsTold(t *testing.T) {
	p := newPlace(t)
	for i := range 12 { // two links each, to the next: thousands of ways through
		here, next := fmt.Sprintf("home/plugins/n%d", i), filepath.Join(p.home, "plugins", fmt.Sprintf("n%d", i+1))
		p.write(here+"/lib.star", "")
		for _, link := range []string{"l", "r"} {
			if err := os.Symlink(next, filepath.Join(p.root, here, link)); err != nil {
				t.Fatal(err)
			}
		}
	}
	p.write("home/plugins/n12/lib.star", "")
	p.write("home/plugins/a.star", command("one"))
	all := p.warnings()
	e, _ := p.atTerminal(nobody)
	p.eventually("the notice", func() bool { return p.warned(all, "the rest is not watched") })
	p.write("home/plugins/a.star", command("two"))
	p.eventually("the reload", func() bool { return says(p, e) == "two" })
	if n := strings.Count(p.said(), "the rest is not watched"); n != 1 {
		t.Errorf("told %d times", n)
	}
}

// When the new apply fails, nothing of it remains and the old code is not
// silently resumed; Restore brings the last good version back.
func TestReloadFailsThenRestore(t *testing.T) {
	p := newPlace(t)
	p.write("home/plugins/a.star", command("good"))
	e := p.start()
	p.write("home/plugins/a.star", command("bad")+"    fail(\"no\")\n")
	p.eventually("the failure", func() bool {
		return strings.HasPrefix(p.state(e, "a"), "failed: apply: home/plugins/a.star:4:9: fail: no")
	})
	if r, err := e.Command(context.Background(), "say", ""); err != nil || r.Found {
		t.Errorf("a command of a failed plugin: %+v %v", r, err)
	}
	if err := e.Restore(context.Background(), "a"); err != nil {
		t.Fatal(err)
	}
	if r, err := e.Command(context.Background(), "say", ""); err != nil || strings.Join(r.Lines, "") != "good" {
		t.Errorf("after restore: %+v %v", r, err)
	}
	if err := e.Restore(context.Background(), "a"); err == nil {
		t.Error("there is nothing before the good version")
	}
	if err := e.Restore(context.Background(), "zz"); err == nil {
		t.Error("there is no plugin zz")
	}
}

// One key leads back to the last version that was good, past several that were active
// and failed, and again to one further back; a file that changes counts anew.
func TestRestoreGoesPastWhatFailed(t *testing.T) {
	p := newPlace(t)
	p.options.Model = "demo"
	panel := func(text, view string) string {
		return "inject = [\"commands\", \"surfaces\"]\ndef apply(ctx):\n    command(\"say\", \"d\", lambda args: " + strconv.Quote(text) + ")\n" +
			"    surface(\"v\", {\"kind\": \"side\", \"side\": \"left\"}, lambda m: " + view + ")\n"
	}
	p.write("home/plugins/a.star", panel("first", `{"type": "text", "text": "x"}`))
	e, _ := p.atTerminal(nobody)
	p.eventually("the first", func() bool { return says(p, e) == "first" })
	p.write("home/plugins/a.star", panel("second", `{"type": "text", "text": "x"}`))
	p.eventually("the second", func() bool { return says(p, e) == "second" })
	for i, text := range []string{"third", "fourth", "fifth"} {
		p.write("home/plugins/a.star", panel(text, fmt.Sprint(7+i)))
		p.eventually(text, func() bool { return says(p, e) == text && strings.Contains(notesOf(e, "a"), "must be a widget") })
	}
	for _, want := range []string{"second", "first"} {
		if err := e.Restore(t.Context(), "a"); err != nil {
			t.Fatal(err)
		}
		if got := says(p, e); got != want {
			t.Errorf("it is %q, want %q", got, want)
		}
		other := "other-" + want
		p.write("home/plugins/"+other+".star", command("x"))
		p.eventually("another file", func() bool { return strings.HasPrefix(p.state(e, other), "active") })
		if got := says(p, e); got != want {
			t.Errorf("after a look at the disk it is %q, want %q", got, want)
		}
	}
	if err := e.Restore(t.Context(), "a"); err == nil {
		t.Error("there is nothing before the first")
	}
	p.write("home/plugins/a.star", panel("sixth", `{"type": "text", "text": "x"}`))
	p.eventually("the mended file", func() bool { return says(p, e) == "sixth" && notesOf(e, "a") == "" })
}

// Loaded files, settings and plugins.json reload too.
func TestReloadOfOtherFiles(t *testing.T) {
	p := newPlace(t)
	p.write("home/plugins/d/main.star", "load(\"./util.star\", \"text\")\ninject = [\"commands\"]\ndef apply(ctx):\n    command(\"say\", \"d\", lambda args: text() + str(config()))\n")
	p.write("home/plugins/d/util.star", "def text(): return \"one \"\n")
	e := p.start()
	say := func() string {
		r, err := e.Command(context.Background(), "say", "")
		if err != nil {
			return err.Error()
		}
		return strings.Join(r.Lines, " ")
	}
	if got := say(); got != "one {}" {
		t.Fatalf("%q\n%s", got, p.said())
	}
	p.write("home/plugins/d/util.star", "def text(): return \"two \"\n")
	p.eventually("the loaded file", func() bool { return say() == "two {}" })
	p.write("home/plugins/d.json", `{"k": 1}`)
	p.eventually("the settings", func() bool { return say() == `two {"k": 1}` })
	p.write("home/plugins.json", `[{"id": "d", "config": {"k": 2}}]`)
	p.eventually("plugins.json", func() bool { return say() == `two {"k": 2}` })
	p.write("home/plugins.json", `[{"id": "d", "disabled": true}]`)
	p.eventually("the switch", func() bool { return p.state(e, "d") == "inactive: switched off in plugins.json" })
	p.write("home/plugins.json", `[]`)
	p.eventually("the switch back", func() bool { return say() == `two {"k": 1}` })
}

// A file that changed while a run is alive is noted and not loaded, nor after
// the run; with --trust-edits it is loaded between turns.
func TestReloadInMidRun(t *testing.T) {
	guard := func(word string) string {
		return fmt.Sprintf("def apply(ctx):\n    on(\"agent/tool-call\", lambda e: block(%q) if e.name == \"write\" else None)\n", word)
	}
	const steps = `
call("write", path = "x", content = "1")
expect("old rule")
call("edit_plugin")
call("pause")
call("write", path = "x", content = "2")
say("done")
`
	for _, trusted := range []bool{false, true} {
		t.Run(strconv.FormatBool(trusted), func(t *testing.T) {
			p := newPlace(t)
			p.write("home/plugins/guard.star", guard("old rule"))
			// The model edits the guard by a tool of another plugin's shell, as it
			// could with any command.
			p.write("home/plugins/tools.star", fmt.Sprintf(`
inject = ["tools"]
uses = ["exec"]
def apply(ctx):
    tool("edit_plugin", "d", {}, lambda args: exec("cp %[1]s/next.star %[1]s/home/plugins/guard.star").output)
    tool("pause", "d", {}, lambda args: exec("touch %[1]s/pausing; until [ -e %[1]s/seen ]; do sleep 0.02; done").output)
`, p.root))
			p.write("next.star", guard("new rule"))
			p.scenario(steps)
			p.options.TrustEdits = trusted
			e := p.start()
			const note = "guard: it changed while a run is alive; not loaded"
			ended := make(chan view.Outcome, 1)
			go func() { ended <- p.prompt(e, "go") }()
			p.eventually("the change is seen", func() bool {
				_, err := os.Stat(filepath.Join(p.root, "pausing"))
				return err == nil && (e.Waits() || strings.Contains(p.said(), note) || strings.Contains(p.said(), "reloaded guard"))
			})
			p.write("seen", "")
			if o := <-ended; o.Stop != "end" {
				t.Fatalf("%+v\n%s", o, p.said())
			}
			last := lastResult(e)
			want := "old rule"
			if trusted {
				want = "new rule"
			}
			if !strings.Contains(last, want) {
				t.Errorf("the last write was answered %q, want %q\n%s", last, want, p.said())
			}
			if strings.Contains(p.said(), note) == trusted {
				t.Errorf("noted=%v with trust=%v\n%s", !trusted, trusted, p.said())
			}
			if !trusted {
				// Also after the run nobody was asked.
				time.Sleep(500 * time.Millisecond)
				if s, err := e.Reload(context.Background(), ""); err != nil || !strings.Contains(s, "reloaded guard") {
					t.Errorf("a person asks: %q %v", s, err)
				}
			}
		})
	}
}

// Whatever --trust-edits says, a new capability word needs a person.
func TestNewWordIsNotLoadedUnasked(t *testing.T) {
	p := newPlace(t)
	p.write("home/plugins/a.star", command("one"))
	p.options.TrustEdits = true
	e := p.start()
	p.write("home/plugins/a.star", "uses = [\"exec\"]\n"+command("two"))
	p.eventually("the note", func() bool { return strings.Contains(p.said(), "also asks for exec, which needs a person") })
	r, err := e.Command(context.Background(), "say", "")
	if err != nil || strings.Join(r.Lines, "") != "one" {
		t.Errorf("%+v %v", r, err)
	}
}

// Many reloads leave memory and goroutines flat. RELOADS sets the number.
func TestReloadsLeaveNothing(t *testing.T) {
	n := 200
	if s := os.Getenv("RELOADS"); s != "" {
		n, _ = strconv.Atoi(s)
	}
	p := newPlace(t)
	p.options.Host = "eval" // without the watcher: the reloads are made here
	p.write("home/plugins/svc.star", "provides = [\"svc\"]\ndef apply(ctx):\n    provide(\"svc\", {\"f\": lambda: 1})\n")
	src := `
inject = ["tools", "commands", "svc"]
def apply(ctx):
    kept = []
    on("agent/tool-call", lambda e: kept.append(1))
    on("agent/event", lambda e: None)
    tool("t", "d", {}, lambda args: invoke("svc", "f"))
    command("c", "d", lambda args: None)
    effect(lambda: kept.append(2), lambda: kept.append(3))
# `
	p.write("home/plugins/a.star", src)
	e := p.start()
	ctx := context.Background()
	// What was let go a moment ago may still hang on a timer: the least of three
	// seconds counts.
	measure := func() (heap uint64, routines int) {
		for range 30 {
			runtime.GC()
			var m runtime.MemStats
			runtime.ReadMemStats(&m)
			if n := runtime.NumGoroutine(); heap == 0 || m.HeapAlloc < heap {
				heap, routines = m.HeapAlloc, n
			}
			time.Sleep(100 * time.Millisecond)
		}
		return heap, routines
	}
	reload := func(i int) {
		p.write("home/plugins/a.star", src+strconv.Itoa(i))
		if s, err := e.Reload(ctx, ""); err != nil || s != "reloaded a" {
			t.Fatalf("reload %d: %q %v\n%s", i, s, err, p.said())
		}
	}
	for i := range n / 4 {
		reload(-i - 1)
	}
	heap, routines := measure()
	for i := range n {
		reload(i)
	}
	heapAfter, routinesAfter := measure()
	// One life of this plugin kept would be some 100 kB a reload; the rest is what
	// caches and pools hold.
	if grown := int64(heapAfter) - int64(heap); grown > 6<<20 {
		t.Errorf("%d reloads grew the heap by %d bytes", n, grown)
	}
	if routinesAfter > routines+5 {
		t.Errorf("%d goroutines before, %d after", routines, routinesAfter)
	}
}

// After five hot reloads one event is handled once, by the newest version, and
// everything the plugin registered stands once.
func TestOldListenersDoNotSurvive(t *testing.T) {
	p := newPlace(t)
	src := func(n int) string {
		return fmt.Sprintf(`
inject = ["tools", "commands"]
uses = ["fs.write"]
def apply(ctx):
    on("agent/turn-end", lambda e: fs.append("count.txt", "version %d\n"))
    tool("counted", "d", {}, lambda args: "x")
    command("counted", "d", lambda args: "version %d")
`, n, n)
	}
	p.write("home/plugins/count.star", src(0))
	p.scenario("say(\"done\")\n")
	e := p.start()
	registered := func() string {
		for _, row := range e.Plugins() {
			if row.Name == "count" {
				return strings.Join(row.Registrations, ", ")
			}
		}
		return ""
	}
	before := registered()
	for n := 1; n <= 5; n++ {
		p.write("home/plugins/count.star", src(n))
		p.eventually(fmt.Sprintf("version %d", n), func() bool {
			r, err := e.Command(context.Background(), "counted", "")
			return err == nil && strings.Join(r.Lines, "") == fmt.Sprintf("version %d", n)
		})
	}
	if o := p.prompt(e, "go"); o.Text != "done" {
		t.Fatalf("%+v\n%s", o, p.said())
	}
	if got := p.read("ws/count.txt"); got != "version 5\n" {
		t.Errorf("the event was handled as %q", got)
	}
	if got := registered(); got != before {
		t.Errorf("registrations %s, before %s", got, before)
	}
	if r, err := e.Command(context.Background(), "counted:2", ""); err != nil || r.Found {
		t.Errorf("a second command stands: %+v %v", r, err)
	}
}
