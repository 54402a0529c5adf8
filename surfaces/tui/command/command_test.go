package command_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"starling/bus/view"
	"starling/surfaces"
	"starling/surfaces/tui/command"
	"starling/surfaces/tui/input"
	"starling/surfaces/tui/kit"
)

func run(s command.Session, line string) command.Reply {
	name, args, _ := command.Split(line)
	return command.Run(context.Background(), s, name, args)
}

func text(r command.Reply) string {
	return strings.TrimSpace(r.Body.Text(500, kit.SignsFor(false)))
}

// TestRun: what a line asks the engine for, and what is said.
func TestRun(t *testing.T) {
	for _, c := range []struct {
		line string
		did  []string
		want string // in what is said
		warn bool
		do   command.Action
		arg  string
	}{
		{line: "/model acme/small", did: []string{"model acme/small"}, want: "the model is acme/small"},
		{line: "/model acme/large high", did: []string{"model acme/large", "think high"}, want: "thinking is high"},
		{line: "/model a b c", want: "takes a name and a level", warn: true},
		{line: "/think low", did: []string{"think low"}, want: "thinking is low"},
		{line: "/think xhigh", did: []string{"think xhigh"}, want: "thinking is"},
		{line: "/think meduim", want: `there is no level "meduim"; did you mean "medium"?`, warn: true},
		{line: "/mode plan", did: []string{"mode plan"}, want: "mode plan: only what reads may run"},
		{line: "/new", did: []string{`switch ""`}, want: "another session", do: command.Renew},
		{line: "/new thing", want: "/new takes nothing behind it", warn: true},
		{line: "/resume s-3", did: []string{`switch "s-3"`}, want: "the session s-3 goes on", do: command.Renew},
		{line: "/clear", want: "the conversation goes on", do: command.ClearScreen},
		{line: "/quit", do: command.Quit},
		{line: "/sidebar", want: "are hidden", do: command.Sidebar, arg: "off"},
		{line: "/sidebar off", want: "are hidden", do: command.Sidebar, arg: "off"},
		{line: "/sidebar on", want: "are shown", do: command.Sidebar, arg: "on"},
		{line: "/sidebar of", want: `did you mean "off"?`, warn: true},
		{line: "/theme light", want: "the theme is light", do: command.SetTheme, arg: "light"},
		{line: "/theme ligth", want: `did you mean "light"?`, warn: true},
		{line: "/queue drop", want: "dropped: 2", do: command.DropQueue},
		{line: "/queue drop 2", want: "dropped: then run the tests", do: command.DropQueue, arg: "2"},
		{line: "/queue drop 3", want: `from 1 to 2, not "3"`, warn: true},
		{line: "/queue drop it", want: `from 1 to 2, not "it"`, warn: true},
		{line: "/steer and\tthis", do: command.Steer, arg: "and\tthis"},
		{line: "/steer", want: "takes the line to send", warn: true},
		{line: "/queue x", want: `there is no argument "x"`, warn: true},
		{line: "/ps stop 3", did: []string{"stop 3"}, want: "process 3 is told to end"},
		{line: "/ps stop three", want: `not "three"`, warn: true},
		{line: "/ps kill 3", want: "it is stop", warn: true},
		{line: "/reload guard", did: []string{`reload "guard"`}, want: "3 plugins are loaded: guard, second, tests"},
		{line: "/reload gaurd", want: `there is no plugin "gaurd"; did you mean "guard"?`, warn: true},
		{line: "/plugins zzzzzz", want: "/plugins shows those there are", warn: true},
		{line: "/trust approve", did: []string{"trust true"}, want: "what the workspace brings counts"},
		{line: "/trust revoke", did: []string{"trust false"}, want: "nothing of the workspace counts"},
		{line: "/trust yes", want: "it is approve, revoke", warn: true},
		{line: "/panel todos", do: command.ShowPanel},
		{line: "/panel panel/todos", do: command.ShowPanel},
		{line: "/panel form", want: "is closed", warn: true},
		{line: "/panel tsts", want: `did you mean "tests"?`, warn: true},
		{line: "/panel clock", want: `there is no panel "clock"`, warn: true},
		{line: "/copy code", want: "copied the last code"},
		{line: "/copy everything", want: "there is no part", warn: true},
		{line: "/help /model", want: "/model [NAME [LEVEL]]"},
		{line: "/help nothing-like-it", want: "/help shows those there are", warn: true},
		{line: "/deploy now please", did: []string{`command deploy "now please"`}, want: "deployed\nto staging"},
		{line: "/deploy:2", did: []string{`command deploy:2 ""`}, want: "again"},
		{line: "/fix", did: []string{`command fix ""`}, want: ""},
		{line: "/modle", want: "there is no command /modle; did you mean /model?", warn: true},
		{line: "/deplyo", want: "did you mean /deploy?", warn: true},
		{line: "/zzzzzzzz", want: "/help shows those there are", warn: true},
	} {
		t.Run(c.line, func(t *testing.T) {
			s := day()
			r := run(s, c.line)
			if d := cmp.Diff(c.did, s.did); d != "" {
				t.Errorf("asked for (-want +got):\n%s", d)
			}
			if got := text(r); !strings.Contains(got, c.want) || r.Warn != c.warn && !strings.HasPrefix(c.line, "/reload") {
				t.Errorf("said %q (warning %v), want %q in it", got, r.Warn, c.want)
			}
			if r.Do != c.do || r.Arg != c.arg {
				t.Errorf("action %d %q, want %d %q", r.Do, r.Arg, c.do, c.arg)
			}
			if c.do == command.ShowPanel && r.Panel != (surfaces.ID{Plugin: "panel", Name: "todos"}) {
				t.Errorf("panel %s", r.Panel)
			}
		})
	}
}

// TestErrors: an error of the engine reaches the person whole, names the plugin it
// comes from, and does nothing else.
func TestErrors(t *testing.T) {
	for _, line := range []string{
		"/model acme/small", "/think low", "/mode plan", "/new", "/resume s-3", "/ps stop 3", "/reload", "/reload guard", "/trust approve", "/deploy x",
	} {
		s := day()
		s.err = errors.New("deploy.star:3:1: the moon is in the way")
		r := run(s, line)
		want := "deploy.star:3:1: the moon is in the way"
		if strings.HasPrefix(line, "/deploy") {
			want = "/deploy of the plugin release: " + want
		}
		if !r.Warn || text(r) != want || r.Do != command.None {
			t.Errorf("%s: %q, warning %v, action %d", line, text(r), r.Warn, r.Do)
		}
	}
}

// TestWhileRunning: what may not change under a run is refused before the engine is
// asked; what waits for the next turn says so.
func TestWhileRunning(t *testing.T) {
	s := day()
	s.running = true
	for _, line := range []string{"/new", "/resume s-3"} {
		if r := run(s, line); !r.Warn || r.Do != command.None || !strings.Contains(text(r), "stop it with Esc first") {
			t.Errorf("%s: %q", line, text(r))
		}
	}
	if len(s.did) > 0 {
		t.Errorf("asked for %q", s.did)
	}
	if got := text(run(s, "/model acme/small")); got != "the model is acme/small, from the next turn on" {
		t.Errorf("model: %q", got)
	}
	s.said = "high is lowered to medium"
	if got := text(run(s, "/think high")); got != s.said {
		t.Errorf("a note of the engine: %q", got)
	}
}

// TestEmpty: a command with nothing to show says so.
func TestEmpty(t *testing.T) {
	for _, line := range []string{"/context", "/cost", "/queue", "/tools", "/skills", "/ps", "/plugins", "/trust", "/policy", "/sessions", "/resume", "/panel", "/copy", "/reload", "/model"} {
		r := run(&fake{mode: "ask"}, line)
		if got := shown(r, 80); len(strings.Fields(got)) < 3 {
			t.Errorf("%s says %q", line, got)
		}
	}
}

// press does what a key of a reply does with a row.
func press(t *testing.T, r command.Reply, chord, id string) command.Reply {
	t.Helper()
	var keys []command.Key
	switch {
	case r.Pick != nil:
		keys = r.Pick.Keys
		if !slices.ContainsFunc(r.Pick.Items, func(i command.Item) bool { return i.ID == id }) {
			t.Fatalf("there is no item %q", id)
		}
	case r.View != nil:
		keys = r.View.Keys
		lines := r.View.Load(context.Background()).Lines(100, kit.SignsFor(false))
		if id != "" && !slices.ContainsFunc(lines, func(l command.Line) bool { return l.ID == id }) {
			t.Fatalf("there is no row %q", id)
		}
	}
	i := slices.IndexFunc(keys, func(k command.Key) bool { return k.Chord == chord })
	if i < 0 {
		t.Fatalf("there is no key %s", chord)
	}
	if id == "" && !keys[i].Whole {
		t.Fatalf("the key %s needs a row", chord)
	}
	return keys[i].Do(context.Background(), id)
}

// TestKeys: what keys of choices and views do.
func TestKeys(t *testing.T) {
	for _, c := range []struct {
		line, chord, id string
		did             []string
		want            string
	}{
		{"/model", "enter", "acme/small", []string{"model acme/small"}, "the model is acme/small"},
		{"/think", "enter", "high", []string{"think high"}, "thinking is high"},
		{"/mode", "enter", "yolo", []string{"mode yolo"}, "mode yolo"},
		{"/resume", "enter", "s-5", []string{`switch "s-5"`}, ""},
		{"/sessions", "enter", "s-3", []string{`switch "s-3"`}, ""},
		{"/theme", "enter", "none", nil, ""},
		{"/ps", "x", "3", []string{"stop 3"}, "told to end"},
		{"/plugins", "r", "guard", []string{`reload "guard"`}, "3 plugins are loaded"},
		{"/plugins", "b", "broken", []string{"restore broken"}, "broken is back"},
		{"/plugins guard", "b", "", []string{"restore guard"}, "guard is back"},
		{"/plugins guard", "r", "", []string{`reload "guard"`}, "3 plugins"},
		{"/trust", "a", "", []string{"trust true"}, "counts"},
		{"/policy", "x", "deny\x00edit(vendor/**)\x00~/.starling/rules.json", []string{"forget deny edit(vendor/**)"}, "does not hold any more"},
	} {
		t.Run(strings.ReplaceAll(c.line+" "+c.chord, "/", ""), func(t *testing.T) {
			s := day()
			r := press(t, run(s, c.line), c.chord, c.id)
			if d := cmp.Diff(c.did, s.did); d != "" {
				t.Errorf("asked for (-want +got):\n%s", d)
			}
			if !strings.Contains(text(r), c.want) || r.Warn && !strings.HasPrefix(c.line, "/plugins") {
				t.Errorf("said %q, want %q in it", text(r), c.want)
			}
		})
	}
	// A model with levels asks for one of them next, details open a page of their own,
	// and a rule that is gone is not taken back twice.
	s := day()
	if next := press(t, run(s, "/model"), "enter", "acme/large"); next.Pick == nil || next.Pick.Title != "thinking of acme/large" {
		t.Errorf("no levels are asked for: %+v", next)
	}
	for line, id := range map[string]string{"/plugins": "nag", "/ps": "1", "/trust": "fresh"} {
		if next := press(t, run(s, line), "enter", id); next.View == nil || !strings.Contains(next.View.Title, id) {
			t.Errorf("%s: no details of %s", line, id)
		}
	}
	// All approvals go only behind a question, whose first answer keeps them.
	s.did = nil
	sure := press(t, run(s, "/trust"), "x", "")
	if sure.Pick == nil || sure.Pick.Items[sure.Pick.Mark].ID != "keep" || len(s.did) != 0 {
		t.Fatalf("x takes them back at once: %+v, %v", sure, s.did)
	}
	if r := press(t, sure, "enter", "keep"); len(s.did) != 0 || !strings.Contains(text(r), "stay") {
		t.Errorf("%q %v", text(r), s.did)
	}
	if r := press(t, sure, "enter", "back"); strings.Join(s.did, "") != "trust false" || !strings.Contains(text(r), "nothing of the workspace") {
		t.Errorf("%q %v", text(r), s.did)
	}
	r := run(s, "/policy")
	s.rules = nil
	if got := r.View.Keys[0].Do(context.Background(), "deny\x00x\x00y"); !got.Warn {
		t.Error("a rule that is gone was taken back")
	}
	if r := press(t, run(s, "/policy"), "m", ""); r.Pick == nil {
		t.Error("no mode is asked for")
	}
}

// TestLive: a view reads anew what it shows.
func TestLive(t *testing.T) {
	s := day()
	v := run(s, "/plugins").View
	at := func() string { return v.Load(context.Background()).Text(100, kit.SignsFor(true)) }
	if strings.Contains(at(), "nag     active") {
		t.Fatal("nag is active at first")
	}
	s.plugins[2].State, s.plugins[2].Reason, s.plugins[2].Registrations = "active", "", []string{"on agent/turn-end"}
	if got := at(); !strings.Contains(got, "nag     active") || !strings.Contains(got, "on agent/turn-end") {
		t.Errorf("it still shows\n%s", got)
	}
}

// What is wrong with a plugin that runs stands in its row; what it needs and has is not
// waited for; a file that does not load is a warning beside what was done.
func TestWhatIsWrong(t *testing.T) {
	s := day()
	s.plugins[0].Notes, s.plugins[0].Inject = []string{"guard.star:2:1: got newline; the version before it goes on"}, []string{"tools"}
	page := func(line string) string {
		return run(s, line).View.Load(context.Background()).Text(120, kit.SignsFor(true))
	}
	if got := page("/plugins"); !strings.Contains(got, "guard.star:2:1") {
		t.Errorf("not listed:\n%s", got)
	}
	if got := page("/plugins guard"); !strings.Contains(got, "needs         tools") || strings.Contains(got, "waits for") {
		t.Errorf("waits for what it has:\n%s", got)
	}
	s.plugins[0].Missing = []string{"tools"}
	if got := page("/plugins guard"); !strings.Contains(got, "waits for     tools") {
		t.Errorf("waits for nothing:\n%s", got)
	}
	s.said, s.err = "reloaded second", errors.New("guard.star:2:1: got newline")
	if r := run(s, "/reload"); !r.Warn || !strings.HasPrefix(text(r), "reloaded second\nguard.star:2:1: got newline\n3 plugins are loaded") {
		t.Errorf("%v %q", r.Warn, text(r))
	}
}

// TestReloadNames: a reload tells how many plugins are loaded, and which.
func TestReloadNames(t *testing.T) {
	for n, want := range map[int]string{0: "no plugin is loaded", 1: "1 plugin is loaded: guard", 2: "2 plugins are loaded: guard, second"} {
		s := day()
		s.plugins, s.said = s.plugins[:n], "reloaded"
		if got := text(run(s, "/reload")); got != "reloaded\n"+want {
			t.Errorf("%d: %q", n, got)
		}
	}
	s := day()
	s.plugins = s.plugins[:2]
	if r := run(s, "/reload"); r.Warn {
		t.Error("a reload of plugins that all run is a warning")
	}
}

// TestList: built-ins win, then the person's own, then plugins with their names.
func TestList(t *testing.T) {
	list := command.List(day())
	var tail []string
	seen := map[string]int{}
	for _, c := range list {
		if seen[c.Name]++; seen[c.Name] > 1 {
			t.Errorf("%s stands twice", c.Name)
		}
		if c.Description == "" {
			t.Errorf("%s says nothing", c.Name)
		}
		if c.Name == "help" && c.From != "" {
			t.Error("a plugin has /help")
		}
	}
	for _, c := range list[len(list)-3:] {
		tail = append(tail, c.Name+" "+c.From)
	}
	if want := []string{"fix ", "deploy release", "deploy:2 zeta"}; !slices.Equal(tail, want) {
		t.Errorf("the list ends with %q, want %q", tail, want)
	}
	for _, name := range strings.Fields("help model think new clear resume sessions tools ps plugins reload trust policy mode skills sidebar context cost quit") {
		if seen[name] != 1 {
			t.Errorf("/%s is missing", name)
		}
	}
}

// TestBuiltinsWin: a plugin's command of a built-in name is never run.
func TestBuiltinsWin(t *testing.T) {
	s := day()
	s.replies["quit"] = view.CommandReply{Lines: []string{"never"}}
	if r := run(s, "/quit"); r.Do != command.Quit || len(s.did) > 0 {
		t.Errorf("a plugin ran in the place of /quit: %q", s.did)
	}
}

func TestComplete(t *testing.T) {
	for _, c := range []struct {
		name, args string
		want       []string
	}{
		{"model", "", []string{"acme/large", "acme/small", "demo"}},
		{"model", "acme/large ", []string{"acme/large off", "acme/large low", "acme/large medium", "acme/large high"}},
		{"model", "nothing ", nil},
		{"think", "", []string{"off", "low", "medium", "high"}},
		{"mode", "", []string{"plan", "ask", "auto-edit", "yolo"}},
		{"resume", "", []string{"s-7", "s-5", "s-3"}},
		{"reload", "", []string{"guard", "second", "nag", "tests", "broken", "fresh"}},
		{"ps", "", []string{"stop 3"}},
		{"panel", "", []string{"panel/todos", "tests/tests"}},
		{"sidebar", "", []string{"on", "off"}},
		{"trust", "", []string{"approve", "revoke"}},
		{"quit", "", nil},
		{"deploy", "to ", []string{"to staging", "to production"}},
	} {
		list, err := command.Complete(context.Background(), day(), c.name, c.args)
		var got []string
		for _, x := range list {
			got = append(got, x.Text)
			if c.name == "deploy" && x.From != "release" {
				t.Errorf("a completion of /deploy comes from %q", x.From)
			}
			// The editor takes them as they are.
			_ = input.Candidate(x)
		}
		if err != nil || !slices.Equal(got, c.want) {
			t.Errorf("/%s %s: %q, %v; want %q", c.name, c.args, got, err, c.want)
		}
	}
	if _, err := command.Complete(context.Background(), day(), "unheard", ""); err == nil {
		t.Error("an unknown command has completions")
	}
}

func TestSplit(t *testing.T) {
	for _, c := range []struct {
		in, name, args string
		ok             bool
	}{
		{"/model", "model", "", true},
		{"  /model  acme  high ", "model", "acme  high", true},
		{"/fix\n12", "fix", "12", true},
		{"/usr/bin/env is missing", "usr/bin/env", "is missing", false},
		{"/", "", "", false},
		{"/ x", "", "x", false},
		{"model", "", "", false},
		{"", "", "", false},
	} {
		name, args, ok := command.Split(c.in)
		if name != c.name || args != c.args || ok != c.ok {
			t.Errorf("%q: %q %q %v", c.in, name, args, ok)
		}
	}
}

// TestNextMode: a key alone goes round the modes and never lets everything run.
func TestNextMode(t *testing.T) {
	seen := []string{"yolo"}
	for range 4 {
		seen = append(seen, command.NextMode(seen[len(seen)-1]))
	}
	if want := []string{"yolo", "ask", "auto-edit", "plan", "ask"}; !slices.Equal(seen, want) {
		t.Errorf("round: %q, want %q", seen, want)
	}
}
