package harness_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"starling/agent/harness"
	"starling/bus/view"
	"starling/surfaces"
)

// warned are the notices that warn.
func (p *place) warnings() *[]string {
	var all []string
	show := p.options.Notify
	p.options.Notify = func(n view.Notice) {
		show(n)
		if n.Warn {
			p.mu.Lock()
			defer p.mu.Unlock()
			all = append(all, strings.ReplaceAll(n.Text, p.root+"/", ""))
		}
	}
	return &all
}

func (p *place) warned(all *[]string, text string) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return strings.Contains(strings.Join(*all, "\n"), text)
}

// post sends a message to a surface of the plugin pane.
func post(e *harness.Engine, surface, name string) {
	e.Panels().Post(surfaces.ID{Plugin: "pane", Name: surface}, surfaces.Message{Kind: surfaces.UserMessage, Name: name}, nil)
}

// notesOf are the notes of a plugin as it is listed.
func notesOf(e *harness.Engine, name string) string {
	for _, row := range e.Plugins() {
		if row.Name == name {
			return strings.Join(row.Notes, "\n")
		}
	}
	return "absent"
}

// What is wrong with plugins at the start is a warning each, before the first prompt, on
// a screen as well as without one.
func TestStartTellsWhatIsWrong(t *testing.T) {
	tool := "inject = [\"tools\"]\ndef apply(ctx):\n    tool(\"look\", \"Looks.\", {}, lambda args: \"\")\n"
	for _, host := range []string{"headless", "terminal"} {
		p := newPlace(t)
		p.write("home/plugins/a.star", tool)
		p.write("home/plugins/b.star", tool)
		p.write("home/plugins/bad name.star", tool)
		p.write("home/plugins/fails.star", "def apply(ctx):\n    fail(\"no\")\n")
		p.write("home/plugins/odd.star", "def apply(ctx)\n")
		p.write("home/plugins/waits.star", "inject = [\"mail\"]\ndef apply(ctx): pass\n")
		p.write("home/plugins.json", `[{"id": "a", "surprise": 1}]`)
		p.options.Host = host
		all := p.warnings()
		p.start()
		p.mu.Lock()
		warnings := slices.Clone(*all)
		p.mu.Unlock()
		for _, want := range []string{
			"tool look of b is not in effect: the name belongs to a",
			`plugin bad name failed: the name "bad name" may hold letters, digits`,
			"plugin fails failed: apply: home/plugins/fails.star:2:9: fail: no",
			"plugin odd failed: home/plugins/odd.star:2:1",
			"plugin waits is pending: waiting for mail",
			`unknown field "surprise"`,
		} {
			n := 0
			for _, text := range warnings {
				if strings.Contains(text, want) {
					n++
				}
			}
			if n != 1 {
				t.Errorf("%s: %d warnings say %q:\n%s", host, n, want, strings.Join(warnings, "\n"))
			}
		}
	}
}

// A reload that leaves a plugin dead is no success: it warns with the reason, of those
// that lean on it, too, and the head counts them apart from those that wait.
func TestReloadThatFailsIsTold(t *testing.T) {
	const provider = "provides = [\"svc\"]\ndef apply(ctx):\n    provide(\"svc\", {\"f\": lambda: 1})\n"
	p := newPlace(t)
	p.write("home/plugins/a.star", provider)
	p.write("home/plugins/leans.star", "inject = [\"svc\"]\ndef apply(ctx): pass\n")
	all := p.warnings()
	e, _ := p.atTerminal(nobody)
	p.write("home/plugins/a.star", provider+"    fail(\"no\")\n")
	p.eventually("the failure", func() bool { return p.warned(all, "plugin a failed: apply: home/plugins/a.star:4:9: fail: no") })
	p.eventually("who leans on it", func() bool { return p.warned(all, "plugin leans is pending: waiting for svc") })
	if strings.Contains(p.said(), "reloaded a") {
		t.Errorf("told as a success:\n%s", p.said())
	}
	if s := e.Status(); s.Failed != 1 || s.Waiting != 1 {
		t.Errorf("%d failed, %d wait", s.Failed, s.Waiting)
	}
	// Asked for by a person: neither "reloaded".
	if said, err := e.Reload(t.Context(), "a"); err != nil || strings.Contains(said, "loaded a") {
		t.Errorf("%q %v", said, err)
	}
	p.write("home/plugins/a.star", "def apply(ctx)\n")
	p.eventually("the place", func() bool { return p.warned(all, "home/plugins/a.star:2:1") })
	p.write("home/plugins/a.star", provider)
	p.eventually("both again", func() bool { return p.state(e, "a") == "active" && p.state(e, "leans") == "active" })
	if s := e.Status(); s.Failed+s.Waiting != 0 {
		t.Errorf("%d failed, %d wait", s.Failed, s.Waiting)
	}
}

// What is wrong with a plugin now stands with it: a file that does not load, a version
// that was brought back, listeners that are off, panels that fail.
func TestPluginsSayWhatIsWrong(t *testing.T) {
	p := newPlace(t)
	p.write("home/plugins/a.star", command("one"))
	p.write("home/plugins/deaf.star", "inject = [\"commands\"]\ndef apply(ctx):\n    on(\"agent/run-end\", lambda e: fail(\"ouch\"))\n")
	p.write("home/plugins/pane.star", `inject = ["surfaces"]
def apply(ctx):
    def update(model, msg):
        if msg.kind == "msg":
            fail("cannot update")
        return model
    surface("s", {"kind": "side", "side": "left"}, lambda m: {"type": "text", "text": "good"}, update = update)
    surface("v", {"kind": "side", "side": "left"}, lambda m: fail("cannot draw"))
`)
	p.options.Model = "demo"
	e, _ := p.atTerminal(nobody)
	p.write("home/plugins/a.star", "def apply(ctx)\n")
	p.eventually("the file", func() bool {
		return strings.Contains(notesOf(e, "a"), "a.star:2:1") && strings.Contains(notesOf(e, "a"), "the version before it goes on")
	})
	p.write("home/plugins/a.star", command("two"))
	p.eventually("the mended file", func() bool { return says(p, e) == "two" && notesOf(e, "a") == "" })
	if err := e.Restore(t.Context(), "a"); err != nil {
		t.Fatal(err)
	}
	if got := notesOf(e, "a"); !strings.Contains(got, "an older version was brought back") {
		t.Errorf("%q", got)
	}
	for range 3 {
		p.prompt(e, "go")
	}
	p.eventually("the listener", func() bool { return strings.Contains(notesOf(e, "deaf"), "agent/run-end is switched off") })
	if log := strings.Join(e.PluginLog("deaf", 10), "\n"); !strings.Contains(log, "ouch") || !strings.Contains(log, "deaf.star:3") {
		t.Errorf("the log has %s", log)
	}
	if _, err := e.Reload(t.Context(), "deaf"); err != nil || notesOf(e, "deaf") != "" {
		t.Errorf("after a reload: %q %v", notesOf(e, "deaf"), err)
	}
	p.eventually("the view", func() bool { return strings.Contains(notesOf(e, "pane"), "cannot draw") })
	post(e, "s", "x")
	p.eventually("the update", func() bool { return strings.Contains(notesOf(e, "pane"), "cannot update") })
}

// A stored model that the view fails of is left behind by /reload NAME, and only then.
func TestReloadResetsWhatFails(t *testing.T) {
	p := newPlace(t)
	p.write("home/plugins/pane.star", `inject = ["surfaces"]
def apply(ctx):
    def update(model, msg):
        if msg.kind == "msg":
            model[msg.name] = 1
        return model
    def view(m):
        return {"type": "text", "text": "n %d" % (7 // (1 - m.get("bad", 0)) + m["n"])}
    for name in ["s", "other"]:
        surface(name, {"kind": "side", "side": "left"}, view, init = lambda: {"n": 0}, update = update)
`)
	e, _ := p.atTerminal(nobody)
	p.eventually("the panels", func() bool { // a message to one that is not there yet is lost
		for _, panel := range e.Panels().Panels() {
			if panel.Tree == nil {
				return false
			}
		}
		return len(e.Panels().Panels()) == 2
	})
	post(e, "other", "n")
	post(e, "s", "bad")
	p.eventually("the fault", func() bool { return strings.Contains(notesOf(e, "pane"), `surface "s": view`) })
	if _, err := e.Reload(t.Context(), ""); err != nil {
		t.Fatal(err)
	}
	if notesOf(e, "pane") == "" {
		t.Error("a plain reload took the model away")
	}
	said, err := e.Reload(t.Context(), "pane")
	if err != nil || !strings.Contains(said, `surface "s" begins anew with its init`) || strings.Contains(said, "other") {
		t.Errorf("%q %v", said, err)
	}
	p.eventually("the panel", func() bool {
		text := ""
		for _, panel := range e.Panels().Panels() {
			if panel.Tree != nil {
				text += panel.ID.Name + "=" + panel.Tree.Text + " "
			}
		}
		return text == "s=n 7 other=n 8 " && notesOf(e, "pane") == ""
	})
}

// What a person refused stays out, also of /reload, until they name it or the file
// changes; the question says so, and of what is new nothing is said to go on.
func TestRefusedStaysOut(t *testing.T) {
	p := newPlace(t)
	p.write("home/plugins/a.star", command("one"))
	e, h := p.atTerminal(trusting("no", "no", "version"))
	eager := "uses = [\"net\"]\n" + command("two")
	p.write("home/plugins/a.star", eager)
	p.eventually("the refusal", func() bool { return strings.Contains(p.said(), ": what ran goes on") })
	if q := h.trustQuestions()[0]; !strings.Contains(q.Detail, "With no, what ran goes on until its file changes or /reload NAME asks again.") {
		t.Errorf("the question does not say what no means:\n%s", q.Detail)
	}
	if said, err := e.Reload(t.Context(), ""); err != nil || !strings.Contains(said, "a stays as it is: you refused its new version") || says(p, e) != "one" {
		t.Errorf("%q %v, %s runs", said, err, says(p, e))
	}
	if got := notesOf(e, "a"); !strings.Contains(got, "also asks for net") {
		t.Errorf("listed with %q", got)
	}
	p.write("home/plugins/new.star", "uses = [\"exec\"]\ndef apply(ctx): pass\n")
	p.eventually("the second refusal", func() bool { return strings.Contains(p.said(), ": it does not run") })
	if q := h.trustQuestions()[1]; strings.Contains(q.Detail, "goes on") || !strings.Contains(q.Detail, "With no, it does not run") {
		t.Errorf("of a new plugin:\n%s", q.Detail)
	}
	if _, err := e.Reload(t.Context(), ""); err != nil || p.state(e, "new") != "inactive: you refused it; /reload new asks again" {
		t.Errorf("%s %v", p.state(e, "new"), err)
	}
	if said, err := e.Reload(t.Context(), "new"); err != nil || !strings.Contains(said, "you are asked about new once more") {
		t.Errorf("%q %v", said, err)
	}
	p.eventually("the new one", func() bool { return p.state(e, "new") == "active" })
	if n := len(h.trustQuestions()); n != 3 {
		t.Errorf("%d questions", n)
	}
	p.write("home/plugins/a.star", command("three"))
	p.eventually("another version", func() bool { return says(p, e) == "three" })
}

// Of the workspace, too: the approved version goes on over /reload.
func TestRefusedOfTheWorkspaceStaysOut(t *testing.T) {
	p := newPlace(t)
	p.write(plugged, command("one"))
	p.approve()
	e, h := p.atTerminal(trusting("no", "version"))
	p.write(plugged, command("two"))
	p.eventually("the refusal", func() bool { return strings.Contains(p.said(), ": what ran goes on") })
	if _, err := e.Reload(t.Context(), ""); err != nil || says(p, e) != "one" {
		t.Errorf("%s runs, %v", says(p, e), err)
	}
	if _, err := e.Reload(t.Context(), "w"); err != nil {
		t.Fatal(err)
	}
	p.eventually("the version", func() bool { return says(p, e) == "two" })
	if n := len(h.trustQuestions()); n != 2 {
		t.Errorf("%d questions", n)
	}
}

// A look at the disk takes no approved plugin away for a version nobody approved, not
// while the person is asked and not after their no.
func TestReloadKeepsTheApprovedVersion(t *testing.T) {
	for _, answer := range []string{"", "no"} {
		p := newPlace(t)
		p.write(plugged, command("one"))
		p.approve()
		e, h := p.atTerminal(trusting(answer, "version"))
		p.write(plugged, command("two"))
		for range 2 { // by whom it is seen first, this or the watcher, is one
			if _, err := e.Reload(t.Context(), ""); err != nil || says(p, e) != "one" {
				t.Errorf("%q: %s runs, %v\n%s", answer, says(p, e), err, p.said())
			}
			p.eventually("the question", func() bool { return len(h.trustQuestions()) == 1 })
		}
		if q := h.trustQuestions()[0]; !strings.Contains(q.Detail, "With no, what ran goes on") {
			t.Errorf("the question says\n%s", q.Detail)
		}
		if answer == "no" { // stored by then
			p.eventually("the refusal", func() bool { return strings.Contains(p.said(), "not trusted: plugin w") })
		}
		// Only a person who takes the approval back takes it away.
		if _, err := e.Trust(t.Context(), false); err != nil || p.state(e, "w") != "inactive: not approved" {
			t.Errorf("after the revoke it is %s, %v", p.state(e, "w"), err)
		}
	}
}

// Whose edits were trusted, by an answer or from the start, is asked about again once
// the approvals were taken back.
func TestRevokeEndsTrustedEdits(t *testing.T) {
	for _, flag := range []bool{false, true} {
		p := newPlace(t)
		p.write(plugged, command("one"))
		p.approve()
		answers := []string{"edits", ""}
		if flag {
			p.options.EditUnits, p.options.TrustEdits, answers = []string{"plugin/w"}, true, []string{""}
		}
		e, h := p.atTerminal(trusting(answers...))
		p.write(plugged, command("two"))
		p.eventually("the edit", func() bool { return says(p, e) == "two" })
		before := len(h.trustQuestions())
		if _, err := e.Trust(t.Context(), false); err != nil {
			t.Fatal(err)
		}
		if got := p.state(e, "w"); got != "inactive: not approved" {
			t.Errorf("flag %v: after the revoke %s", flag, got)
		}
		p.write(plugged, command("three"))
		p.eventually("a question", func() bool { return len(h.trustQuestions()) == before+1 })
		if got := p.state(e, "w"); got != "inactive: not approved" {
			t.Errorf("flag %v: an edit after the revoke is %s", flag, got)
		}
	}
}

// A models.json that cannot be read ends the start with the line that a listing of the
// models gives.
func TestStartNamesThePlaceInModels(t *testing.T) {
	p := newPlace(t)
	p.options.Model = ""
	p.write("home/models.json", "{\"models\": [\n  {\"id\": 5,}\n]}\n")
	_, listed := harness.Models(p.options)
	if listed == nil {
		t.Fatal("it can be read")
	}
	_, err := harness.New(t.Context(), p.options)
	if err == nil || !strings.Contains(err.Error(), listed.Error()) || !strings.HasPrefix(err.Error(), listed.Error()) || !strings.Contains(err.Error(), "mend the file") {
		t.Errorf("%v\nlisted as %v", err, listed)
	}
	if strings.Contains(p.said(), "models.json") {
		t.Errorf("said twice: %s", p.said())
	}
	p.options.Model = "demo"
	e := p.start()
	if e.Status().Model != "demo" || !strings.Contains(p.said(), "models.json") {
		t.Errorf("with another model: %s", p.said())
	}
}

// The cost that is shown is that of the session as a whole: what it had cost when it
// was gone on with, and not what others cost in between.
func TestStatusCountsTheSession(t *testing.T) {
	p := newPlace(t)
	server := serve(t, func(int, string) (int, string) { return 200, say("fine") }) // each request costs $0.00012
	p.useServer(server)
	cost := func(e *harness.Engine) string { return fmt.Sprintf("%.5f", e.Status().Cost) }
	e, _ := p.atTerminal(nobody)
	p.prompt(e, "one")
	first := e.SessionID()
	if got := cost(e); got != "0.00012" {
		t.Errorf("$%s", got)
	}
	if err := e.Switch(t.Context(), ""); err != nil {
		t.Fatal(err)
	}
	if got := cost(e); got != "0.00000" {
		t.Errorf("a new session cost $%s", got)
	}
	p.prompt(e, "two")
	if err := e.Switch(t.Context(), first); err != nil {
		t.Fatal(err)
	}
	if got := cost(e); got != "0.00012" {
		t.Errorf("the first one cost $%s", got)
	}
	p.prompt(e, "three")
	if got := cost(e); got != "0.00024" {
		t.Errorf("gone on with it cost $%s", got)
	}
	if err := e.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
	p.options.Resume = first
	again, _ := p.atTerminal(nobody)
	if got := cost(again); got != "0.00024" {
		t.Errorf("resumed it cost $%s", got)
	}
}
