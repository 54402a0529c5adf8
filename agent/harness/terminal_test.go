package harness_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"starling/agent"
	"starling/agent/harness"
	"starling/bus/chat"
	"starling/bus/event"
	"starling/bus/view"
	"starling/surfaces"
)

// command runs a command and returns what it shows.
func (p *place) command(e *harness.Engine, name, args string) string {
	p.t.Helper()
	r, err := e.Command(context.Background(), name, args)
	if err != nil {
		p.t.Fatalf("/%s: %v\n%s", name, err, p.said())
	}
	return strings.Join(r.Lines, "\n")
}

// nobody is a screen that answers no question.
func nobody(event.QuestionEvent) (view.Answer, bool) { return view.Answer{}, false }

const sessionsSeen = `inject = ["commands"]
def apply(ctx):
    seen = []
    ids = {}
    def name(id):
        if not id:
            return "none"
        if id not in ids:
            ids[id] = "s%d" % (len(ids) + 1)
        return ids[id]
    on("code/session-start", lambda e: seen.append("start %s %s %s" % (name(e.id), e.reason, e.restored)))
    on("code/session-end", lambda e: seen.append("end %s %s messages=%d" % (name(e.id), e.reason, len(session().messages()))))
    command("seen", "Tells.", lambda args: seen)
    command("fresh", "Begins anew.", lambda args: new_session())
`

// A person goes from one session to another and back: conversation, to-do list and
// folder come with it, plugins hear of both ends, and each file holds its own.
func TestSwitch(t *testing.T) {
	p := newPlace(t)
	p.write("ws/sub/x", "")
	p.write("home/plugins/seen.star", sessionsSeen)
	p.scenario(`
calls([call("todo", items = [{"text": "first", "status": "pending"}]), call("bash", command = "cd sub")])
say("one")
call("bash", command = "pwd")
say("two")
call("bash", command = "pwd")
say("three")
`)
	p.options.Allow = []string{"bash"}
	e, _ := p.atTerminal(nobody)
	p.prompt(e, "a first prompt")
	first := e.SessionID()
	if err := e.Switch(t.Context(), "nothing like it"); err == nil {
		t.Error("there is no such session")
	}
	if err := e.Switch(t.Context(), first); err != nil || len(e.Transcript()) == 0 {
		t.Errorf("to the same: %v", err)
	}
	if err := e.Switch(t.Context(), ""); err != nil {
		t.Fatal(err)
	}
	if len(e.Transcript()) != 0 || e.SessionID() != "" {
		t.Errorf("a new session has %d messages, id %q", len(e.Transcript()), e.SessionID())
	}
	p.prompt(e, "another prompt")
	second := e.SessionID()
	if got := lastResult(e); !strings.HasPrefix(got, p.ws+"\n") {
		t.Errorf("the new session is in %s", got)
	}
	list, err := e.Sessions()
	if err != nil || len(list) != 2 || list[0].ID != second || list[0].Title != "another prompt" || list[1].Title != "a first prompt" ||
		list[1].Messages != 5 || list[1].Folder != p.ws || list[1].Changed.IsZero() {
		t.Errorf("%v %+v", err, list)
	}
	if err := e.Switch(t.Context(), first); err != nil {
		t.Fatal(err)
	}
	if got := len(e.Transcript()); got != 5 || e.SessionID() != first {
		t.Errorf("%d messages of %s", got, e.SessionID())
	}
	p.prompt(e, "third")
	if got := lastResult(e); !strings.HasPrefix(got, filepath.Join(p.ws, "sub")+"\n") {
		t.Errorf("the first session goes on in %s", got)
	}
	want := "start s1 new False\nend s1 switch messages=5\nstart s2 switch False\nend s2 switch messages=4\nstart s1 switch True"
	if got := p.command(e, "seen", ""); got != want {
		t.Errorf("plugins heard\n%s\nwant\n%s", got, want)
	}
	if got := p.command(e, "fresh", ""); got != "" || len(e.Transcript()) != 0 {
		t.Errorf("new_session(): %q, %d messages", got, len(e.Transcript()))
	}
	list, err = e.Sessions()
	if err != nil || len(list) != 2 || list[0].ID != first || list[0].Messages != 9 || list[1].Messages != 4 {
		t.Errorf("%v %+v", err, list)
	}
}

// Another conversation has read nothing: what changed since the one before it read a
// file is no news to it.
func TestSwitchForgetsReads(t *testing.T) {
	p := newPlace(t)
	p.write("ws/a.txt", "one\ntwo\n")
	p.scenario(`
call("read", path = "a.txt")
say("read")
call("edit", path = "a.txt", edits = [{"old_text": "two", "new_text": "2"}])
say("refused")
call("edit", path = "a.txt", edits = [{"old_text": "two", "new_text": "2"}])
say("edited")
`)
	p.options.Allow = []string{"edit", "read"}
	e, _ := p.atTerminal(nobody)
	p.prompt(e, "read it")
	p.write("ws/a.txt", "1\ntwo\n")
	p.prompt(e, "edit it")
	if got := lastResult(e); !strings.Contains(got, "changed by somebody else") {
		t.Errorf("in the conversation that read it: %s", got)
	}
	p.write("ws/a.txt", "eins\ntwo\n")
	if err := e.Switch(t.Context(), ""); err != nil {
		t.Fatal(err)
	}
	p.prompt(e, "edit it")
	if got := p.read("ws/a.txt"); got != "eins\n2\n" {
		t.Errorf("the file holds %q: %s", got, lastResult(e))
	}
}

// While a run goes nothing takes its place, and a second prompt is refused.
func TestSwitchInARun(t *testing.T) {
	p := newPlace(t)
	p.write("home/plugins/seen.star", sessionsSeen)
	p.scenario(`say("one")`)
	var errs []error
	var second view.Outcome
	var e *harness.Engine
	p.options.Allow = []string{"bash"}
	p.scenario(`
call("question", question = "now?")
say("one")
`)
	e, _ = p.atTerminal(func(event.QuestionEvent) (view.Answer, bool) {
		errs = append(errs, e.Switch(context.Background(), ""))
		_, err := e.Command(context.Background(), "fresh", "")
		errs = append(errs, err)
		second = e.Prompt(context.Background(), "at once")
		return view.Answer{Value: "yes"}, true
	})
	if o := p.prompt(e, "go"); o.Stop != "end" || len(e.Transcript()) != 4 {
		t.Errorf("%+v", o)
	}
	if len(errs) != 2 || !errors.Is(errs[0], agent.ErrRunning) || !errors.Is(errs[1], agent.ErrRunning) {
		t.Errorf("%v", errs)
	}
	if second.Stop != "error" || !strings.Contains(second.Why, "a run is going") {
		t.Errorf("%+v", second)
	}
}

// A command that wants a new session gets one headless too, with a word on it.
func TestNewSessionHeadless(t *testing.T) {
	p := newPlace(t)
	p.write("home/plugins/seen.star", sessionsSeen)
	e := p.start()
	p.prompt(e, "hello")
	first := e.SessionID()
	if r, err := e.Command(t.Context(), "fresh", ""); err != nil || !r.Renewed {
		t.Errorf("%+v %v", r, err)
	}
	if !strings.Contains(p.said(), "the next prompt begins a new session") {
		t.Error(p.said())
	}
	p.prompt(e, "hello again")
	if e.SessionID() == first || len(e.Transcript()) != 2 {
		t.Errorf("session %s after %s, %d messages", e.SessionID(), first, len(e.Transcript()))
	}
}

// A rule for the session ends with it, one of a flag does not.
func TestSwitchForgetsSessionRules(t *testing.T) {
	p := newPlace(t)
	p.options.Mode, p.options.Allow = "ask", []string{"write"}
	p.scenario(`
call("bash", command = "touch a")
say("one")
`)
	e, _ := p.atTerminal(saying(view.AnswerAlways))
	p.prompt(e, "go")
	if got := len(e.Rules()); got != 2 {
		t.Fatalf("%d rules: %+v", got, e.Rules())
	}
	if err := e.Switch(t.Context(), ""); err != nil {
		t.Fatal(err)
	}
	if got := e.Rules(); len(got) != 1 || got[0].Rule != "write" {
		t.Errorf("%+v", got)
	}
}

// What a person typed behind ! runs unasked, streams, and is cited where they want.
func TestShellLine(t *testing.T) {
	p := newPlace(t)
	p.options.Mode, p.options.Deny = "plan", []string{"bash"}
	e, h := p.atTerminal(nobody)
	var out strings.Builder
	end, err := e.Shell(t.Context(), "printf 'h\\303'; sleep 0.05; printf '\\251'; exit 3", false, func(s string) { out.WriteString(s) })
	if err != nil || end != (view.Ended{Status: "exited(3)", Failed: true}) || out.String() != "hé" || len(e.Transcript()) != 0 {
		t.Errorf("%+v %v: %q, %d messages", end, err, out.String(), len(e.Transcript()))
	}
	if _, err := e.Shell(t.Context(), " ", true, nil); err == nil {
		t.Error("an empty line ran")
	}
	end, err = e.Shell(t.Context(), "echo out; echo err >&2", true, nil)
	if err != nil || end != (view.Ended{Status: "exited(0)"}) {
		t.Errorf("%+v %v", end, err)
	}
	messages := e.Transcript()
	if len(messages) != 1 || messages[0].Role != chat.User {
		t.Fatalf("%+v", messages)
	}
	for _, want := range []string{"echo out; echo err >&2", "exited(0)", "out\nerr"} {
		if !strings.Contains(messages[0].Text(), want) {
			t.Errorf("no %q in %q", want, messages[0].Text())
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	end, err = e.Shell(ctx, "echo begun; sleep 300", false, func(string) { cancel() })
	if err != nil || end != (view.Ended{Status: "cancelled", Failed: true}) {
		t.Errorf("%+v %v", end, err)
	}
	end, err = e.Shell(t.Context(), "kill -9 $$", false, nil)
	if err != nil || !end.Failed {
		t.Errorf("%+v %v", end, err)
	}
	if rows := e.Processes(); len(rows) == 0 || rows[0].Origin != "tui" {
		t.Errorf("%+v", rows)
	}
	if len(h.questions()) != 0 {
		t.Errorf("asked %+v", h.questions())
	}
	id := e.SessionID()
	if id == "" || !strings.Contains(p.read("home/sessions/"+id+".jsonl"), "echo out") {
		t.Errorf("session %q does not hold it", id)
	}
}

func TestNoteAndSteer(t *testing.T) {
	p := newPlace(t)
	p.scenario(`
call("question", question = "now?")
say("one")
say("two")
`)
	var e *harness.Engine
	e, _ = p.atTerminal(func(event.QuestionEvent) (view.Answer, bool) {
		if err := e.Steer("and that"); err != nil {
			t.Error(err)
		}
		return view.Answer{Value: "yes"}, true
	})
	if err := e.Steer("nobody"); !errors.Is(err, agent.ErrNoRun) {
		t.Errorf("%v", err)
	}
	if err := e.Note(" "); err == nil {
		t.Error("an empty note was taken")
	}
	p.prompt(e, "go")
	if !strings.Contains(transcriptText(e), "and that") {
		t.Error(transcriptText(e))
	}
}

func TestStatus(t *testing.T) {
	p := newPlace(t)
	p.write("ws/.git/HEAD", "ref: refs/heads/feature/x\n")
	p.write("home/models.json", `{"version": 1, "models": [
		{"id": "small", "provider": "local", "api": "openai-completions", "base_url": "http://127.0.0.1:1/v1", "context_window": 1000, "reasoning": true, "thinking_levels": ["low", "high"]},
		{"id": "plain", "provider": "local", "api": "openai-completions", "base_url": "http://127.0.0.1:1/v1"}
	]}`)
	p.write("home/plugins/waits.star", "inject = [\"nothing\"]\ndef apply(ctx): pass\n")
	p.write("home/plugins/fails.star", "def apply(ctx): fail(\"no\")\n")
	p.options.Model, p.options.Think = "small", "high"
	e, _ := p.atTerminal(nobody)
	s := e.Status()
	if s.Workspace != "ws" || s.Branch != "feature/x" || s.Model != "local/small" || s.Thinking != "high" || s.Mode != "yolo" ||
		s.Context != 1000 || s.Tokens < 100 || s.Waiting != 1 || s.Failed != 1 || s.Session != "" {
		t.Errorf("%+v", s)
	}
	models := e.Models()
	if len(models) != 3 || models[0].ID != "local/small" || strings.Join(models[0].Levels, " ") != "low high" || models[0].Context != 1000 || models[2].ID != "demo" {
		t.Errorf("%+v", models)
	}
	if len(models[2].Levels) == 0 {
		t.Error("the demo takes every level and lists none")
	}
	// What no list has is listed once somebody asked for it: there is a way back.
	p.write("ws/steps.star", "say(\"x\")\n")
	script := "script:" + filepath.Join(p.ws, "steps.star")
	for _, name := range []string{script, "small"} {
		if _, err := e.SetModel(name); err != nil {
			t.Fatal(err)
		}
		if models := e.Models(); len(models) != 4 || models[3].ID != script || models[3].Name != "script:steps.star" {
			t.Errorf("with %s: %+v", name, models)
		}
	}
	// A level outlives a model that does not have it.
	if note, err := e.SetModel("plain"); err != nil || note == "" || e.Status().Thinking == "high" {
		t.Errorf("%q %v %+v", note, err, e.Status())
	}
	if _, err := e.SetModel("small"); err != nil || e.Status().Thinking != "high" {
		t.Errorf("%v %+v", err, e.Status())
	}
	if note, err := e.SetThinking("medium"); err != nil || note == "" || e.Status().Thinking != "low" {
		t.Errorf("%q %v %+v", note, err, e.Status())
	}
	for _, bad := range []string{"", "nothing such"} {
		if _, err := e.SetModel(bad); err == nil {
			t.Errorf("there is no model %q", bad)
		}
	}
	if _, err := e.SetThinking("much"); err == nil {
		t.Error("there is no level much")
	}
	if _, err := e.SetModel("demo"); err != nil {
		t.Fatal(err)
	}
	if o := p.prompt(e, "hello"); o.Stop != "end" || e.Status().Session == "" {
		t.Errorf("%+v %+v", o, e.Status())
	}
	for content, want := range map[string]string{
		"0123456789012345678901234567890123456789\n": "0123456",
		"": "", "nonsense": "", "ref: refs/heads/\x1b[31mred\n": "red",
	} {
		p.write("ws/.git/HEAD", content)
		if got := e.Status().Branch; got != want {
			t.Errorf("HEAD %q: branch %q", content, got)
		}
	}
}

// A linked work tree names its folder in a file.
func TestBranchOfWorktree(t *testing.T) {
	p := newPlace(t)
	p.write("main/.git/worktrees/w/HEAD", "ref: refs/heads/side\n")
	if err := os.RemoveAll(filepath.Join(p.ws, ".git")); err != nil {
		t.Fatal(err)
	}
	p.write("ws/.git", "gitdir: ../main/.git/worktrees/w\n")
	e, _ := p.atTerminal(nobody)
	if got := e.Status().Branch; got != "side" {
		t.Errorf("branch %q", got)
	}
}

func TestToolsAndRecheck(t *testing.T) {
	p := newPlace(t)
	p.write("home/plugins/own.star", "inject = [\"tools\"]\ndef apply(ctx):\n    tool(\"own\", \"Mine.\", {}, lambda args: \"x\", risk=\"network\")\n")
	p.write("home/skills/draw/SKILL.md", "---\nname: draw\ndescription: Draws.\n---\ntext\n")
	e, _ := p.atTerminal(nobody)
	found := map[string]view.Tool{}
	for _, tool := range e.Tools() {
		found[tool.Name] = tool
	}
	if own := found["own"]; own.From != "own" || own.Risk != "network" || own.Description != "Mine." {
		t.Errorf("%+v", own)
	}
	if bash := found["bash"]; bash.From != "" || bash.Description == "" {
		t.Errorf("%+v", bash)
	}
	if err := e.Recheck("bash", json.RawMessage(`{"command": "ls"}`)); err != nil {
		t.Error(err)
	}
	if err := e.Recheck("bash", json.RawMessage(`{"command": 1}`)); err == nil {
		t.Error("a number is no command")
	}
	if err := e.Recheck("gone", json.RawMessage(`{}`)); err == nil {
		t.Error("there is no tool gone")
	}
	if got := e.Skills(); len(got) != 1 || got[0].Name != "draw" || got[0].Description != "Draws." || filepath.Base(got[0].Path) != "SKILL.md" {
		t.Errorf("%+v", got)
	}
}

func TestPluginLog(t *testing.T) {
	p := newPlace(t)
	p.write("home/plugins/chatty.star", "inject = [\"commands\"]\ndef apply(ctx):\n    command(\"talk\", \"d\", lambda args: log(args))\n")
	e, _ := p.atTerminal(nobody)
	for i := range 5 {
		p.command(e, "talk", fmt.Sprintf("line %d", i))
	}
	got := e.PluginLog("chatty", 2)
	if len(got) != 2 || !strings.HasSuffix(got[0], "line 3") || !strings.HasSuffix(got[1], "line 4") {
		t.Errorf("%q", got)
	}
	for _, name := range []string{"quiet", "../plugins/chatty.star", "", ".."} {
		if got := e.PluginLog(name, 10); got != nil {
			t.Errorf("%q: %q", name, got)
		}
	}
	if got := e.PluginLog("chatty", 0); got != nil {
		t.Errorf("no lines: %q", got)
	}
}

// Panels are there from the start, tick, and queue prompts like a typed line; a
// plugin that always asks for more ends.
func TestPanels(t *testing.T) {
	p := newPlace(t)
	p.write("home/plugins/panel.star", `inject = ["surfaces", "commands"]
uses = ["prompt"]
def apply(ctx):
    ticks = []
    on("code/tick", lambda e: ticks.append(1))
    command("ticks", "Tells.", lambda args: "many" if len(ticks) > 1 else "few")
    command("panels", "Tells.", lambda args: ["%s %s" % (s["plugin"], s["open"]) for s in invoke("surfaces", "list")])
    def update(model, msg):
        if msg.kind == "tick":
            model["n"] = model["n"] + 1
            return model
        if msg.kind == "msg":
            return [prompt_with(msg.payload)]
        return model
    surface("box", {"kind": "side", "side": "right"}, lambda m: ui.text("n %d" % m["n"]), init=lambda: {"n": 0}, update=update, tick=True)
    on("agent/run-end", lambda e: prompt("more"))
`)
	queued := make(chan string, 100)
	changed := make(chan surfaces.ID, 1000)
	p.options.Screen = harness.Screen{
		Queued: func(from, text string) error { queued <- from + ": " + text; return nil },
		Panels: surfaces.Options{Changed: func(id surfaces.ID) {
			select {
			case changed <- id:
			default:
			}
		}},
	}
	e, _ := p.atTerminal(nobody)
	id := surfaces.ID{Plugin: "panel", Name: "box"}
	p.eventually("ticks of the panel", func() bool {
		panel, ok := e.Panels().Panel(id)
		return ok && panel.Tree != nil && !strings.Contains(panel.Tree.Text, "n 0") && panel.Tree.Text != ""
	})
	p.eventually("code/tick", func() bool { return p.command(e, "ticks", "") == "many" })
	if got := p.command(e, "panels", ""); got != "panel True" {
		t.Errorf("panels %q", got)
	}
	if got := <-changed; got != id {
		t.Errorf("changed %v", got)
	}
	e.Panels().Post(id, surfaces.Message{Kind: surfaces.UserMessage, Name: "x", Payload: "from the panel"}, nil)
	if got := <-queued; got != "panel: from the panel" {
		t.Errorf("queued %q", got)
	}
	// What waits on the screen is run by it; a chain of them ends, a typed line
	// begins a new one.
	for range 2 {
		p.prompt(e, "typed")
		n := 0
		for more := true; more; n++ {
			select {
			case line := <-queued:
				p.prompt(e, strings.TrimPrefix(line, "panel: "))
			default:
				more = false
			}
			if n > 50 {
				t.Fatal("the chain does not end")
			}
		}
		if n < 3 {
			t.Errorf("the chain ended after %d", n)
		}
	}
	if !strings.Contains(p.said(), "too many prompts are queued") {
		t.Error(p.said())
	}
}

// Every host but the terminal has no panels.
func TestNoPanels(t *testing.T) {
	p := newPlace(t)
	e := p.start()
	if e.Panels() != nil {
		t.Error("headless has panels")
	}
}

// A plugin whose completion never comes costs a person nothing more.
func TestComplete(t *testing.T) {
	p := newPlace(t)
	p.write("home/plugins/c.star", `inject = ["commands"]
limits = {"time_ms": 0, "steps": 0}
def apply(ctx):
    command("fast", "d", lambda args: None, complete=lambda args: [args + "x", args + "y"])
    command("none", "d", lambda args: None)
    command("bad", "d", lambda args: None, complete=lambda args: fail("no"))
    def slow(args):
        n = 0
        for i in range(1000):
            for j in range(1000):
                for k in range(1000):
                    n += 1
        return []
    command("slow", "d", lambda args: None, complete=slow)
`)
	e, _ := p.atTerminal(nobody)
	if got, err := e.Complete(t.Context(), "fast", "a"); err != nil || strings.Join(got, " ") != "ax ay" {
		t.Errorf("%v %v\n%s", got, err, p.said())
	}
	if got, err := e.Complete(t.Context(), "none", "a"); err != nil || got != nil {
		t.Errorf("%v %v", got, err)
	}
	if got, err := e.Complete(t.Context(), "gone", "a"); err != nil || got != nil {
		t.Errorf("%v %v", got, err)
	}
	if _, err := e.Complete(t.Context(), "bad", "a"); err == nil {
		t.Error("a fault is not told")
	}
	for range 3 {
		if got, _ := e.Complete(t.Context(), "slow", "a"); got != nil {
			t.Errorf("%v", got)
		}
	}
}

// A guard that is not there does not end the start: the person reads why, and what
// it guards is refused until it is mended.
func TestAbsentGuardInTerminal(t *testing.T) {
	p := newPlace(t)
	p.write("home/plugins/guard.star", "fail_closed = True\ndef apply(ctx):\n    on(\"agent/prompt\", lambda e: None)\n    fail(\"no\")\n")
	e, _ := p.atTerminal(nobody)
	if !strings.Contains(p.said(), "plugin guard failed") || e.Status().Failed != 1 {
		t.Errorf("%s\n%+v", p.said(), e.Status())
	}
	if o := p.prompt(e, "go"); o.Stop != "rejected" || !strings.Contains(o.Why, "fail_closed") {
		t.Errorf("%+v", o)
	}
	p.write("home/plugins/guard.star", "fail_closed = True\ndef apply(ctx):\n    on(\"agent/prompt\", lambda e: None)\n")
	p.eventually("the guard", func() bool { return p.state(e, "guard") == "active" })
	if o := p.prompt(e, "go"); o.Stop != "end" {
		t.Errorf("%+v", o)
	}
}

// What is said before the first prompt is said when the session begins.
func TestGreetingsInTerminal(t *testing.T) {
	p := newPlace(t)
	p.options.Model = ""
	e, _ := p.atTerminal(nobody)
	if n := strings.Count(p.said(), "no model is configured"); n != 1 {
		t.Errorf("told %d times: %s", n, p.said())
	}
	p.prompt(e, "hello")
	if n := strings.Count(p.said(), "no model is configured"); n != 1 {
		t.Errorf("told %d times: %s", n, p.said())
	}
}
