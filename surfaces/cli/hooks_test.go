package cli_test

import (
	"context"
	"fmt"
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"starling/agent"
	"starling/agent/harness"
	"starling/bus/event"
)

// listenAll is a guard that keeps locked.txt and writes down every event with all
// its fields, except the ticks of the clock.
func listenAll() string {
	var names []string
	for _, name := range event.Names() {
		if !event.Later(name) && name != event.Tick.Name() {
			names = append(names, quote(name))
		}
	}
	return `uses = ["fs.write"]
def apply(ctx):
    seen = []
    def field(e, name):
        v = getattr(e, name)
        if type(v) == "builtin_function_or_method" or type(v) == "function":
            return name + "()"
        return "%s=%r" % (name, v)
    def see(e):
        seen.append(e.event + " " + " ".join([field(e, name) for name in dir(e) if name not in ["event", "cx"]]))
        if e.event == "code/session-end":
            fs.write("events.txt", "\n".join(seen))
        if e.event == "agent/tool-call" and e.name == "write" and "locked.txt" in e.paths:
            return block("locked.txt is kept")
    for name in [` + strings.Join(names, ", ") + `]:
        on(name, see)
`
}

// a guard that listens to every event hears the same ones, with the same
// arguments and in the same order, in every output format, in a program that uses the
// engine as a library and in a terminal; and what it guards stays.
func TestA06SameEventsEverywhere(t *testing.T) {
	lists := map[string]string{}
	hows := []string{"text", "json", "stream-json", "library"}
	if onScreen != nil {
		hows = append(hows, "terminal", "lines")
	}
	for _, how := range hows {
		l := newLab(t, func(w *reply, n int, _ string) {
			if n == 0 {
				w.send(data(delta(`"reasoning_content":"hm"`), content("I look "), content("and write"),
					toolCall(0, "c1", "write", `{"path":"locked.txt","content":"changed"}`), toolCall(1, "c2", "read", `{"path":"a.txt"}`), toolCall(2, "c3", "nothing", ""), finish("tool_calls")))
				return
			}
			w.send(says("finished"))
		})
		l.write("ws/locked.txt", "by hand")
		l.write("ws/a.txt", "hello\n")
		l.write("home/plugins/all.star", listenAll())
		if how == "library" {
			l.embed("go")
		} else if how == "terminal" {
			onScreen(l, "xterm-256color", "go", "finished")
		} else if how == "lines" {
			onScreen(l, "dumb", "go", "finished")
		} else if e := l.run("--output", how, "go"); e.code != 0 {
			t.Fatalf("%s: %v", how, e)
		}
		if got := l.read("ws/locked.txt"); got != "by hand" {
			t.Errorf("%s: locked.txt is %q", how, got)
		}
		text := strings.ReplaceAll(l.read("ws/events.txt"), l.root, "ROOT")
		if how == "terminal" || how == "lines" {
			// Where a person reads along there is no finish tool, and so there are fewer tokens.
			text = strings.ReplaceAll(text, "question\"", "question, finish\"")
		}
		text = regexp.MustCompile(` tokens=\d+`).ReplaceAllString(text, "")
		lists[how] = regexp.MustCompile(`\d{8}-\d{6}-\d{3}-[0-9a-f]{8}`).ReplaceAllString(text, "ID")
	}
	for how, list := range lists {
		if d := cmp.Diff(strings.Split(lists["text"], "\n"), strings.Split(list, "\n")); d != "" {
			t.Errorf("%s (-text +%s):\n%s", how, how, d)
		}
	}
	at := 0
	for _, name := range []string{
		"code/session-start ", "agent/prompt ", "code/system-prompt ", "agent/run-start ", "agent/turn-start ", "agent/request ", "agent/event ", "agent/message ",
		"agent/tool-call ", "agent/tool-call ", "agent/tool-result ", "agent/tool-result ", "agent/tool-result ", "agent/turn-end ",
		"agent/turn-start ", "agent/message ", "agent/turn-end ", "agent/run-end ", "code/session-end ",
	} {
		i := strings.Index(lists["text"][at:], name)
		if i < 0 {
			t.Fatalf("no %s in its place in\n%s", name, lists["text"])
		}
		at += i + len(name)
	}
	for _, field := range []string{`text="go"`, `"path": "locked.txt"`, "locked.txt is kept", "is_error=True"} {
		if !strings.Contains(lists["text"], field) {
			t.Errorf("no %s in\n%s", field, lists["text"])
		}
	}
}

// onScreen runs a prompt in a session in a terminal and leaves it after the answer;
// nil where no terminal can be opened.
var onScreen func(l *lab, term, prompt, answer string)

// embed runs a prompt as an embedding program does.
func (l *lab) embed(prompt string) {
	l.t.Helper()
	env := map[string]string{}
	for _, pair := range l.env {
		name, value, _ := strings.Cut(pair, "=")
		env[name] = value
	}
	e, err := harness.New(l.t.Context(), harness.Options{
		Home: l.home, UserHome: l.root, Cwd: l.ws, Environ: l.env,
		LookupEnv: func(name string) (string, bool) { v, ok := env[name]; return v, ok },
	})
	if err != nil {
		l.t.Fatal(err)
	}
	if o := e.Prompt(l.t.Context(), prompt); o.Stop != "end" {
		l.t.Errorf("%+v", o)
	}
	if err := e.Close(context.Background()); err != nil {
		l.t.Error(err)
	}
}

// a turn-end hook that always asks to go on is stopped by the host and
// named; so is a model that calls tools without an end; an interrupt ends both at
// any time.
func TestA07EndlessRuns(t *testing.T) {
	const nagger = `uses = ["steer"]
def apply(ctx):
    on("agent/turn-end", lambda e: e.cx.push_user("continue, not finished") if e.cx.task != "call" else None)
`
	newRun := func(t *testing.T) *lab {
		l := newLab(t, func(w *reply, n int, body string) {
			if strings.Contains(body, `"content":"call"`) {
				w.send(data(toolCall(0, fmt.Sprint("c", n), "read", `{"path":"a.txt"}`), finish("tool_calls")))
				return
			}
			w.send(says("done"))
		})
		l.write("ws/a.txt", "hello\n")
		l.write("home/plugins/nagger.star", nagger)
		return l
	}
	t.Run("a hook", func(t *testing.T) {
		l := newRun(t)
		r, e := l.json("go")
		if e.code != 3 || r.Stop != "limit" || len(l.sent()) != agent.MaxForced+1 || strings.Count(e.stderr, "a limit ended the run: nagger asked to go on") != 1 || strings.Count(e.stderr, "nagger asked") != 1 {
			t.Errorf("%d requests, %v", len(l.sent()), e)
		}
	})
	t.Run("calls alone", func(t *testing.T) {
		l := newRun(t)
		r, e := l.json("call")
		if e.code != 3 || r.Stop != "limit" || len(l.sent()) != agent.DefaultMaxTurns || !strings.Contains(r.Why, fmt.Sprintf("limit of %d turns", agent.DefaultMaxTurns)) {
			t.Errorf("%d requests, %v", len(l.sent()), e)
		}
	})
	for _, prompt := range []string{"go", "call"} {
		t.Run("interrupted "+prompt, func(t *testing.T) {
			l := newRun(t)
			answer := l.answer
			l.answer = func(w *reply, n int, body string) {
				if n == 3 {
					w.hang()
					return
				}
				answer(w, n, body)
			}
			p := l.start("--quiet", prompt)
			l.eventually("the fourth request", func() bool { return len(l.sent()) == 4 })
			p.signal(os.Interrupt)
			if e := p.wait(); e.code != 130 || len(l.sent()) != 4 {
				t.Errorf("%d requests, %v", len(l.sent()), e)
			}
		})
	}
}

// two tools of one plugin, called 200 times in one reply each, change what
// the plugin keeps without losing a change; what is global cannot be changed, and
// the model is told so. The race detector sees the whole program.
func TestA08TwoToolsOfOnePlugin(t *testing.T) {
	l := newLab(t, func(w *reply, n int, _ string) {
		switch {
		case n < 200:
			w.send(data(toolCall(0, fmt.Sprint("a", n), "one", ""), toolCall(1, fmt.Sprint("b", n), "two", ""), finish("tool_calls")))
		case n == 200:
			w.send(data(toolCall(0, "c", "count", ""), toolCall(1, "d", "bad", ""), finish("tool_calls")))
		default:
			w.send(says("done"))
		}
	})
	l.write("home/plugins/both.star", `inject = ["tools"]
LIST = []
def apply(ctx):
    seen = []
    def add(name):
        def run(args):
            n = len(seen)
            for _ in range(50): pass
            seen.append(name)
            if len(seen) != n + 1:
                fail("somebody came in between")
            return str(len(seen))
        return run
    tool("one", "d", {}, add("one"))
    tool("two", "d", {}, add("two"))
    tool("count", "d", {}, lambda args: "%d of %d" % (len([s for s in seen if s == "one"]), len(seen)))
    tool("bad", "d", {}, lambda args: LIST.append(1))
`)
	if e := l.run("--quiet", "--max-turns", "300", "go"); e.code != 0 || e.stdout != "done\n" {
		t.Fatal(e)
	}
	sent := l.sent()
	if len(sent) != 202 {
		t.Fatalf("%d requests", len(sent))
	}
	m := messages(t, sent[201].body)
	if count, bad := m[len(m)-2].text(), m[len(m)-1].text(); count != "200 of 400" || !strings.Contains(bad, "frozen") || !strings.Contains(bad, "both.star") {
		t.Errorf("count %q, a global: %q", count, bad)
	}
}
