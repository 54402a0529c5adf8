package harness_test

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"starling/agent/harness"
	"starling/bus/event"
	"starling/bus/view"
)

// trusting answers questions about trust one after the other; "" is no answer.
func trusting(answers ...string) func(event.QuestionEvent) (view.Answer, bool) {
	return func(q event.QuestionEvent) (view.Answer, bool) {
		if q.Kind != "trust" || len(answers) == 0 {
			return view.Answer{Value: "yes"}, q.Kind != "trust"
		}
		a := answers[0]
		answers = answers[1:]
		return view.Answer{Value: a}, a != ""
	}
}

// asked are the questions about trust so far.
func (h *person) trustQuestions() []event.QuestionEvent {
	return slices.DeleteFunc(h.questions(), func(q event.QuestionEvent) bool { return q.Kind != "trust" })
}

func says(p *place, e *harness.Engine) string {
	r, err := e.Command(context.Background(), "say", "")
	if err != nil {
		return err.Error()
	}
	return strings.Join(r.Lines, " ")
}

// approve answers the question of the start.
func (p *place) approve() {
	p.t.Helper()
	w, err := harness.OpenWorkspace(p.options)
	if err != nil {
		p.t.Fatal(err)
	}
	if err := w.Approve(); err != nil {
		p.t.Fatal(err)
	}
}

const plugged = "ws/.starling/plugins/w.star"

// A file of the workspace that changed asks with its difference; trusted it runs and
// stays so, refused the approved version goes on, and each version asks once.
func TestTrustLiveWorkspace(t *testing.T) {
	p := newPlace(t)
	p.write(plugged, command("one"))
	p.approve()
	e, h := p.atTerminal(trusting("version", "no", ""))
	if got := says(p, e); got != "one" {
		t.Fatalf("%s\n%s", got, p.said())
	}
	p.write(plugged, strings.Replace(command("two"), "\ndef", "\nuses = [\"exec:git\"]\ndef", 1))
	p.eventually("the trusted version", func() bool { return says(p, e) == "two" })
	asked := h.trustQuestions()
	if len(asked) != 1 {
		t.Fatalf("%d questions: %+v", len(asked), asked)
	}
	for _, want := range []string{"exec:git", "[new]", "-    command(\"say\", \"d\", lambda args: \"one\")", "+    command(\"say\", \"d\", lambda args: \"two\")"} {
		if !strings.Contains(asked[0].Detail, want) {
			t.Errorf("the question lacks %q:\n%s", want, asked[0].Detail)
		}
	}
	if strings.Join(asked[0].Options, " ") != "version edits no" || !asked[0].Floor || !strings.Contains(asked[0].Summary, "plugin w") {
		t.Errorf("%+v", asked[0])
	}
	p.write(plugged, command("three"))
	p.eventually("the refusal", func() bool { return strings.Contains(p.said(), "not trusted: plugin w: what ran goes on") })
	p.write(plugged, command("four"))
	p.eventually("a third question", func() bool { return len(h.trustQuestions()) == 3 })
	if got := says(p, e); got != "two" {
		t.Errorf("nobody trusted %s", got)
	}
	// A look at the disk does not ask again.
	p.write("home/plugins/other.star", "def apply(ctx): pass\n")
	p.eventually("the other", func() bool { return p.state(e, "other") == "active" })
	if n := len(h.trustQuestions()); n != 3 {
		t.Errorf("%d questions: %+v", n, h.trustQuestions())
	}
	p.write(plugged, strings.Replace(command("two"), "\ndef", "\nuses = [\"exec:git\"]\ndef", 1))
	w, err := harness.OpenWorkspace(p.options)
	if err != nil || len(w.Question().Subjects) != 0 {
		t.Errorf("the answer is not stored: %v %+v", err, w.Question())
	}
}

// A new plugin of the workspace asks, and its words are not asked about twice.
func TestTrustLiveNewPlugin(t *testing.T) {
	p := newPlace(t)
	e, h := p.atTerminal(trusting("version"))
	p.write(plugged, strings.Replace(command("one"), "\ndef", "\nuses = [\"exec\", \"net\"]\ndef", 1))
	p.eventually("the plugin", func() bool { return says(p, e) == "one" })
	if n := len(h.trustQuestions()); n != 1 {
		t.Errorf("%d questions", n)
	}
}

// What stood there at the start was asked about then.
func TestTrustLiveNotAgain(t *testing.T) {
	p := newPlace(t)
	p.write(plugged, command("one"))
	e, h := p.atTerminal(trusting("version"))
	p.write("home/plugins/other.star", "def apply(ctx): pass\n")
	p.eventually("the other", func() bool { return p.state(e, "other") == "active" })
	if got := p.state(e, "w"); got != "inactive: not approved" || len(h.trustQuestions()) != 0 {
		t.Errorf("%s, %+v", got, h.trustQuestions())
	}
	// /trust asks for it.
	said, err := e.Trust(t.Context(), true)
	if err != nil || !strings.Contains(said, "loaded w") || says(p, e) != "one" {
		t.Errorf("%q %v", said, err)
	}
	if said, err := e.Trust(t.Context(), true); err != nil || !strings.Contains(said, "nothing") {
		t.Errorf("%q %v", said, err)
	}
	if said, err := e.Trust(t.Context(), false); err != nil || !strings.Contains(said, "1 answers taken back") || p.state(e, "w") != "inactive: not approved" {
		t.Errorf("%q %v %s", said, err, p.state(e, "w"))
	}
}

// An answer that cannot be stored is told of, and counts until the end all the same.
func TestTrustLiveNotStored(t *testing.T) {
	p := newPlace(t)
	p.write(plugged, command("one"))
	p.write("home/trust.lock/in-the-way", "")
	e, _ := p.atTerminal(trusting("version"))
	said, err := e.Trust(t.Context(), true)
	if err != nil || !strings.Contains(said, "loaded w") || says(p, e) != "one" {
		t.Errorf("%q %v, %s", said, err, p.state(e, "w"))
	}
	if !strings.Contains(p.said(), "not stored") || strings.Contains(p.said(), "another starling") {
		t.Error(p.said())
	}
}

// A home plugin that asks for a new word asks the person; a plugin answers nothing.
func TestTrustLiveNewWord(t *testing.T) {
	p := newPlace(t)
	p.write("home/plugins/eager.star", `uses = ["permit"]
def apply(ctx):
    def hear(e):
        if e.kind == "trust":
            r = attempt(lambda: answer_question(e.id, "version"))
            notify("eager: %s" % r.error)
    on("code/question", hear)
`)
	p.write("home/plugins/a.star", command("one"))
	e, h := p.atTerminal(trusting("version"))
	p.write("home/plugins/a.star", strings.Replace(command("two"), "\ndef", "\nuses = [\"net\"]\ndef", 1))
	p.eventually("the version with a word", func() bool { return says(p, e) == "two" })
	asked := h.trustQuestions()
	if len(asked) != 1 || !strings.Contains(asked[0].Detail, "net") || !strings.Contains(asked[0].Detail, "(home)") {
		t.Errorf("%+v", asked)
	}
	p.eventually("the refusal", func() bool { return strings.Contains(p.said(), "eager: ") })
	if !strings.Contains(p.said(), "only a person answers whether code is trusted") {
		t.Error(p.said())
	}
}

// A file that changed while a run is alive asks, whoever's it is; the run goes on.
func TestTrustLiveInARun(t *testing.T) {
	// In one step: half of it would be a version of its own.
	write := func(text string) string {
		return `call("bash", command = "cat > PLUGIN~ <<'X'\n` + strings.NewReplacer("\n", "\\n", `"`, `\"`).Replace(command(text)) + `X\nmv PLUGIN~ PLUGIN")`
	}
	for name, c := range map[string]struct {
		answers []string
		want    string
	}{
		"version":   {[]string{"version"}, "two"},
		"no":        {[]string{"no"}, "one"},
		"no answer": {[]string{""}, "one"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := newPlace(t)
			file := filepath.Join(p.home, "plugins", "a.star")
			p.write("home/plugins/a.star", command("one"))
			p.options.Mode, p.options.AllowPaths = "yolo", []string{p.home + "/**"}
			p.scenario(strings.ReplaceAll(write("two"), "PLUGIN", file) + "\nsay(\"done\")\n")
			e, h := p.atTerminal(trusting(c.answers...))
			if o := p.prompt(e, "go"); o.Stop != "end" || p.read("home/plugins/a.star") != command("two") {
				t.Fatalf("%+v\n%s", o, transcriptText(e))
			}
			p.eventually("the question", func() bool { return len(h.trustQuestions()) == 1 })
			if c.want == "two" {
				p.eventually("the version", func() bool { return says(p, e) == "two" })
			}
			if name == "no" {
				p.eventually("the word on it", func() bool { return strings.Contains(p.said(), "not trusted") })
			}
			if got := says(p, e); got != c.want {
				t.Errorf("%s runs\n%s", got, p.said())
			}
			if q := h.trustQuestions()[0]; !strings.Contains(strings.Join(q.Reasons, " "), "while a run is alive") || !strings.Contains(q.Detail, "+    command") {
				t.Errorf("%+v", q)
			}
		})
	}
}

// Edits that are trusted in this session load unasked, between turns; a new word
// asks all the same.
func TestTrustLiveEdits(t *testing.T) {
	p := newPlace(t)
	p.write(plugged, command("one"))
	p.approve()
	e, h := p.atTerminal(trusting("edits", ""))
	p.write(plugged, command("two"))
	p.eventually("the first edit", func() bool { return says(p, e) == "two" })
	p.write(plugged, command("three"))
	p.eventually("the next edit", func() bool { return says(p, e) == "three" })
	if n := len(h.trustQuestions()); n != 1 {
		t.Errorf("%d questions", n)
	}
	p.write(plugged, strings.Replace(command("four"), "\ndef", "\nuses = [\"net\"]\ndef", 1))
	p.eventually("a question", func() bool { return len(h.trustQuestions()) == 2 })
	if got := says(p, e); got != "three" {
		t.Errorf("%s runs", got)
	}
}

// A home plugin whose file goes in a run goes when a person says so.
func TestTrustLiveRemoval(t *testing.T) {
	p := newPlace(t)
	p.write("home/plugins/a.star", command("one"))
	p.options.Mode, p.options.AllowPaths = "yolo", []string{p.home + "/**"}
	file := filepath.Join(p.home, "plugins", "a.star")
	p.scenario("call(\"bash\", command = \"rm " + file + "\")\nsay(\"done\")\n")
	e, h := p.atTerminal(trusting("version"))
	p.prompt(e, "go")
	if _, err := os.Stat(file); err == nil {
		t.Fatal(transcriptText(e))
	}
	p.eventually("the removal", func() bool { return p.state(e, "a") == "absent" })
	if q := h.trustQuestions(); len(q) != 1 || !strings.Contains(q[0].Detail, "its file is gone") {
		t.Errorf("%+v", q)
	}
}

// Settings of a workspace ask too, and count when they are trusted.
func TestTrustLiveSettings(t *testing.T) {
	p := newPlace(t)
	p.write("home/plugins/a.star", "inject = [\"commands\"]\ndef apply(ctx):\n    command(\"say\", \"d\", lambda args: config().get(\"text\", \"none\"))\n")
	e, h := p.atTerminal(trusting("version"))
	if got := says(p, e); got != "none" {
		t.Fatal(got)
	}
	p.write("ws/.starling/plugins/a.json", `{"text": "set"}`)
	p.eventually("the settings", func() bool { return says(p, e) == "set" })
	if q := h.trustQuestions(); len(q) != 1 || !strings.Contains(q[0].Detail, `a.text = "set"`) {
		t.Errorf("%+v", q)
	}
}

// Who trusts edits before the session begins is not asked about them.
func TestTrustEditsFromTheStart(t *testing.T) {
	p := newPlace(t)
	p.write(plugged, command("one"))
	p.approve()
	p.options.EditUnits = []string{"plugin/w"}
	e, h := p.atTerminal(nobody)
	p.write(plugged, command("two"))
	p.eventually("the edit", func() bool { return says(p, e) == "two" })
	if q := h.trustQuestions(); len(q) != 0 {
		t.Errorf("%+v", q)
	}
}

// Commands of the workspace that changed ask as its plugins do.
func TestTrustLiveCommands(t *testing.T) {
	p := newPlace(t)
	p.write("ws/.starling/commands/ship.md", "Ship it.")
	p.approve()
	e, h := p.atTerminal(trusting("version"))
	if got := e.Commands(); len(got) != 1 || got[0].Description != "Ship it." {
		t.Fatalf("%+v\n%s", got, p.said())
	}
	p.write("ws/.starling/commands/ship.md", "Sink it.")
	p.eventually("the new text", func() bool {
		got := e.Commands()
		return len(got) == 1 && got[0].Description == "Sink it."
	})
	if q := h.trustQuestions(); len(q) != 1 || !strings.Contains(q[0].Detail, "+Sink it.") {
		t.Errorf("%+v", q)
	}
}

// A version that does not run, in the place of one that did not, is no reload.
func TestNothingIsReloaded(t *testing.T) {
	p := newPlace(t)
	p.write(plugged, command("one"))
	e, h := p.atTerminal(trusting())
	if got := p.state(e, "w"); got != "inactive: not approved" {
		t.Fatal(got)
	}
	p.write(plugged, command("two"))
	p.eventually("the question", func() bool { return len(h.trustQuestions()) == 1 })
	if said := p.said(); strings.Contains(said, "reloaded") || strings.Contains(said, "loaded w") {
		t.Errorf("it says %s", said)
	}
}
