package bind_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"

	"starling/bus/chat"
	"starling/script/bind"
)

// fakeModels answers with what it was asked.
type fakeModels struct {
	running, most atomic.Int64
	release       chan struct{} // when not nil, answers wait for it
	cost          float64
}

func (f *fakeModels) Check(name, thinking string) error {
	switch {
	case name != "small":
		return fmt.Errorf("there is no model %q; there is small", name)
	case thinking != "off":
		return fmt.Errorf("there is no level %q; there is off", thinking)
	}
	return nil
}

func (f *fakeModels) Ask(ctx context.Context, plugin string, q bind.Question) bind.Reply {
	if n := f.running.Add(1); n > f.most.Load() {
		f.most.Store(n)
	}
	defer f.running.Add(-1)
	if f.release != nil {
		select {
		case <-f.release:
		case <-ctx.Done():
			return bind.Reply{Err: ctx.Err(), Usage: chat.Usage{Cost: f.cost}}
		}
	}
	text := fmt.Sprintf("%s %s %s %s %d", plugin, q.System, q.Messages[len(q.Messages)-1].Text(), q.Thinking, q.MaxTokens)
	if strings.Contains(text, "fail") {
		return bind.Reply{Err: errors.New("overloaded"), Stop: chat.StopError}
	}
	return bind.Reply{Text: text, Stop: chat.StopEnd, Usage: chat.Usage{Input: 1, Output: 2, CacheRead: 3, Cost: f.cost}}
}

func (f *fakeModels) List() []bind.ModelInfo {
	return []bind.ModelInfo{{ID: "p/small", Name: "small", Provider: "p", InputCost: 1, OutputCost: 2}}
}

func TestModelAsk(t *testing.T) {
	const ask = `model.ask({"model": "small", "system": "sys", "messages": [{"role": "user", "text": "hi"}], "max_tokens": 9})`
	for _, c := range []struct{ name, uses, expr, want string }{
		{"no word", ``, ask, `needs "model" in uses`},
		{"waits", `"model"`, ask + `.text`, "p sys hi off 9"},
		{"fields", `"model"`, `"%s %s %s %d %s" % [(r.ok, r.error, r.stop, r.usage.output, r.cost) for r in [` + ask + `]][0]`, "True None end 2 0.25"},
		{"unknown model", `"model"`, `model.ask({"model": "big", "messages": [{"role": "user", "text": "hi"}]})`, `there is no model "big"; there is small`},
		{"unknown level", `"model"`, `model.ask({"model": "small", "thinking": "hard", "messages": [{"role": "user", "text": "hi"}]}, reply = print)`, `there is no level "hard"; there is off`},
		{"no messages", `"model"`, `model.ask({"model": "small", "messages": []})`, "the request needs messages"},
		{"a system message", `"model"`, `model.ask({"model": "small", "messages": [{"role": "system", "text": "x"}]})`, "the system text has a field of its own"},
		{"unknown field", `"model"`, `model.ask({"mode": "small"})`, `did you mean "model"?`},
		{"a failure", `"model"`, `"%s %s" % [(r.ok, r.error) for r in [model.ask({"model": "small", "messages": [{"role": "user", "text": "fail"}]})]][0]`, "False overloaded"},
		{"list", `"model"`, `model.list()[0].id + str(model.list()[0].output_cost)`, "p/small2.0"},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := newWorld(t)
			w.models(&fakeModels{cost: 0.25})
			if got := w.one(c.uses, c.expr); !strings.Contains(got, c.want) {
				t.Errorf("got %q, want %q", got, c.want)
			}
		})
	}
}

// A listener must not wait for a model; with a reply it gets an id at once. The
// ceiling of the word holds over a reload, and unloading cancels.
func TestModelAskReply(t *testing.T) {
	w := newWorld(t)
	models := &fakeModels{cost: 0.6, release: make(chan struct{})}
	w.models(models)
	src := `
inject = ["tools"]
uses = ["model:1"]
def apply(ctx):
    request = {"model": "small", "messages": [{"role": "user", "text": "hi"}]}
    on("agent/run-end", lambda e: log(attempt(model.ask, request).error))
    def go(args):
        ids = [model.ask(request, reply = lambda r: log("got %d %s" % (r.id, r.text))) for _ in range(args["n"])]
        return "%s %d" % (ids, model.busy())
    tool("go", "d", {}, go)
    tool("cancel", "d", {}, lambda args: str([model.cancel(args["id"]), model.cancel(99)]))
`
	w.load(map[string]string{"p": src})
	w.active("p")
	w.sendRunEnd()
	if !strings.Contains(w.said(), "a listener must not wait for a model") {
		t.Error(w.said())
	}
	if r, err := w.run("go", `{"n":2}`); err != nil || r.Content != "[1, 2] 2" {
		t.Fatalf("%+v %v", r, err)
	}
	eventually(t, func() bool { return models.running.Load() == 2 })
	if r, err := w.run("cancel", `{"id":1}`); err != nil || r.Content != "[True, False]" {
		t.Errorf("%+v %v", r, err)
	}
	close(models.release)
	eventually(t, func() bool { return strings.Contains(w.said(), "log p: got 2 p") })
	if strings.Contains(w.said(), "got 1") {
		t.Error("a cancelled request was answered")
	}
	eventually(t, func() bool { return models.running.Load() == 0 })
	// Two requests of 0.60 are over the dollar of the word, also after a reload.
	if err := w.runtime.Replace(w.ids["p"], w.component("p", src+"# edited\n")); err != nil {
		t.Fatal(err)
	}
	w.settle()
	if _, err := w.run("go", `{"n":1}`); err == nil || !strings.Contains(err.Error(), "has spent the $1 that model:1 in uses") {
		t.Errorf("%v", err)
	}
}

// At most 16 requests of all plugins run together; those of an unloaded plugin
// end and answer nothing.
func TestModelAskTogether(t *testing.T) {
	w := newWorld(t)
	models := &fakeModels{release: make(chan struct{})}
	w.models(models)
	w.load(map[string]string{"p": `
inject = ["tools"]
uses = ["model"]
def apply(ctx):
    def go(args):
        for _ in range(40):
            model.ask({"model": "small", "messages": [{"role": "user", "text": "hi"}]}, reply = lambda r: log("answered"))
    tool("go", "d", {}, go)
`})
	w.active("p")
	if _, err := w.run("go", "{}"); err != nil {
		t.Fatal(err)
	}
	eventually(t, func() bool { return models.running.Load() == 16 })
	if err := w.runtime.Unmount(w.ids["p"]); err != nil {
		t.Fatal(err)
	}
	w.settle()
	eventually(t, func() bool { return models.running.Load() == 0 })
	if models.most.Load() > 16 || strings.Contains(w.said(), "answered") {
		t.Errorf("%d ran together\n%s", models.most.Load(), w.said())
	}
}

// What can be read without a word: nothing before the session, everything in it.
func TestInfo(t *testing.T) {
	const expr = `"%s|%s|%s|%s|%s" % (system_prompt(), [f.path for f in agents_md()], [s.name for s in skills()], [t.name for t in tool_list()], session().id + session().messages()[0]["text"] if session() else None)`
	if got := newWorld(t).one(``, expr); got != "|[]|[]|[]|None" {
		t.Errorf("before the session: %q", got)
	}
	w := newWorld(t)
	w.info(bind.Info{
		SystemPrompt: func() string { return "sys" },
		Instructions: func() []bind.TextFile { return []bind.TextFile{{Path: "AGENTS.md", Text: "x"}} },
		Skills:       func() []bind.SkillInfo { return []bind.SkillInfo{{Name: "review"}} },
		Tools:        func() []bind.ToolInfo { return []bind.ToolInfo{{Name: "read"}} },
		Session: func() (bind.SessionInfo, bool) {
			return bind.SessionInfo{ID: "s1", Messages: func() []chat.Message { return []chat.Message{chat.TextMessage(chat.User, "hi")} }}, true
		},
	})
	if got := w.one(``, expr); got != `sys|["AGENTS.md"]|["review"]|["read"]|s1hi` {
		t.Errorf("in the session: %q", got)
	}
}

func TestPrompt(t *testing.T) {
	w := newWorld(t)
	var queued []string
	w.prompts(func(plugin, text string) error { queued = append(queued, plugin+": "+text); return nil })
	if got := w.one(`"prompt"`, `str([prompt("go on"), attempt(prompt, "").error])`); got != `[None, "prompt: the text must not be empty"]` || len(queued) != 1 || queued[0] != "p: go on" {
		t.Errorf("%q %q", got, queued)
	}
	w = newWorld(t)
	if got := w.one(``, `prompt("x")`); !strings.Contains(got, `needs "prompt" in uses`) {
		t.Error(got)
	}
}
