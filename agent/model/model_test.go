package model_test

import (
	"context"
	"errors"
	"strings"
	"sync"
	"testing"

	"pgregory.net/rapid"

	"starling/agent/model"
	"starling/bus/chat"
)

func named(names ...string) []model.Model {
	var models []model.Model
	for _, n := range names {
		provider, id, _ := strings.Cut(n, "|")
		models = append(models, model.Model{Provider: provider, ID: id})
	}
	return models
}

func TestResolve(t *testing.T) {
	models := named("router|acme/big-2", "router|acme/small", "acme|big-2", "acme|big-20", "local|Qwen", "|plain")
	for name, want := range map[string]string{
		"router/acme/big-2": "router/acme/big-2",
		"acme/big-2":        "acme/big-2",
		"acme/small":        "router/acme/small",
		"small":             "router/acme/small",
		"big-20":            "acme/big-20",
		"qwen":              "local/Qwen",
		" plain ":           "plain",
		"pla":               "plain",
		"sm":                "router/acme/small",
		"local":             "local/Qwen",
	} {
		m, err := model.Resolve(name, models)
		if err != nil || m.FullName() != want {
			t.Errorf("%q: got %s, %v; want %s", name, m.FullName(), err, want)
		}
	}
	for name, want := range map[string]string{
		"big":    `model "big": it could be acme/big-2, acme/big-20; write one of these`,
		"router": "it could be router/acme/big-2, router/acme/small",
		"smal1":  "there is no such model; near it are router/acme/small",
		"xyzzyx": "there is no such model; there are router/acme/big-2,",
		"":       "the name is empty",
	} {
		if m, err := model.Resolve(name, models); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: got %s, %v; want %s", name, m.FullName(), err, want)
		}
	}
	if _, err := model.Resolve("x", nil); err == nil || !strings.Contains(err.Error(), "models.json") {
		t.Errorf("no models: %v", err)
	}
}

// The full name always finds its model, whatever others are called.
func TestResolveFullName(t *testing.T) {
	part := rapid.StringMatching(`[a-c]{1,2}(/[a-c]{1,2})?`)
	rapid.Check(t, func(t *rapid.T) {
		seen := map[string]bool{}
		var models []model.Model
		for range rapid.IntRange(1, 8).Draw(t, "n") {
			m := model.Model{Provider: rapid.StringMatching(`[a-c]{1,2}`).Draw(t, "provider"), ID: part.Draw(t, "id")}
			if !seen[m.FullName()] {
				seen[m.FullName()] = true
				models = append(models, m)
			}
		}
		for _, m := range models {
			got, err := model.Resolve(m.FullName(), models)
			if err != nil || got.FullName() != m.FullName() {
				t.Fatalf("%s: got %s, %v", m.FullName(), got.FullName(), err)
			}
		}
	})
}

func TestThink(t *testing.T) {
	few := model.Model{ID: "m", ThinkingLevels: []model.Level{model.XHigh, model.Low, model.Medium}}
	for _, c := range []struct {
		m    model.Model
		want model.Level
		got  model.Level
	}{
		{few, model.Low, model.Low},
		{few, model.High, model.Medium},
		{few, model.Max, model.XHigh},
		{few, model.Off, model.Low},
		{model.Model{ID: "m"}, model.High, model.Off},
		{model.Model{ID: "m", Reasoning: true}, model.Max, model.High},
		{model.Model{ID: "m", Reasoning: true}, model.Minimal, model.Off},
	} {
		got, note := c.m.Think(c.want)
		if got != c.got || (note == "") != (got == c.want) || note != "" && !strings.Contains(note, string(got)) {
			t.Errorf("%s of %v: got %s, %q; want %s", c.want, c.m.Levels(), got, note, c.got)
		}
	}
	for _, l := range model.Ladder() {
		if got, err := model.ParseLevel(strings.ToUpper(string(l))); got != l || err != nil {
			t.Errorf("%s: %s, %v", l, got, err)
		}
	}
	if _, err := model.ParseLevel("hard"); err == nil || !strings.Contains(err.Error(), "xhigh") {
		t.Errorf("got %v", err)
	}
}

func TestCost(t *testing.T) {
	c := model.Cost{Input: 2, Output: 8, CacheRead: 0.5, CacheWrite: 4}
	got := c.Of(chat.Usage{Input: 1_000_000, Output: 500_000, CacheRead: 2_000_000, CacheWrite: 250_000})
	if got != 8 {
		t.Errorf("got %v", got)
	}
}

func TestProfileIsKnownByAddress(t *testing.T) {
	for _, c := range []struct {
		m    model.Model
		want string
	}{
		{model.Model{BaseURL: "https://api.openai.com/v1"}, "openai"},
		{model.Model{BaseURL: "https://eu.api.openai.com/v1"}, "openai"},
		{model.Model{BaseURL: "https://api.openai.com.evil.example/v1"}, "compatible"},
		{model.Model{BaseURL: "https://API.DeepSeek.com"}, "deepseek"},
		{model.Model{BaseURL: "http://localhost:11434/v1", Provider: "ollama"}, "ollama"},
		{model.Model{BaseURL: "https://api.openai.com/v1", Compat: model.Compat{Profile: "none"}}, "none"},
		{model.Model{BaseURL: "http://x"}, "compatible"},
	} {
		named := c.m
		named.Compat.Profile = c.want
		if c.m.Profile() != named.Profile() {
			t.Errorf("%+v is not %s", c.m, c.want)
		}
	}
	for _, name := range model.Profiles() {
		p := model.Model{Compat: model.Compat{Profile: name}}.Profile()
		if p.SystemRole == "" || p.MaxTokens == "" || p.Thinking == "" || p.ReasoningBack == "" || p.EmptyContent == "" {
			t.Errorf("profile %s has empty fields: %+v", name, p)
		}
	}
}

func env(pairs ...string) func(string) string {
	m := map[string]string{}
	for _, p := range pairs {
		k, v, _ := strings.Cut(p, "=")
		m[k] = v
	}
	return func(k string) string { return m[k] }
}

func TestFromEnvironment(t *testing.T) {
	if _, _, ok := model.FromEnvironment(env("OPENAI_API_KEY= ")); ok {
		t.Error("an empty variable counts")
	}
	m, note, ok := model.FromEnvironment(env("GROQ_API_KEY=canary-key"))
	if !ok || m.Provider != "groq" || m.KeyEnv != "GROQ_API_KEY" || !strings.HasPrefix(m.BaseURL, "https://api.groq.com/") {
		t.Errorf("got %+v, %v", m, ok)
	}
	if !strings.Contains(note, "GROQ_API_KEY") || !strings.Contains(note, m.FullName()) || strings.Contains(note, "canary") {
		t.Errorf("note %q", note)
	}
	m, _, _ = model.FromEnvironment(env("OPENAI_API_KEY=x", "OPENAI_BASE_URL=http://127.0.0.1:9/v1"))
	if m.BaseURL != "http://127.0.0.1:9/v1" || m.Profile() != (model.Model{}).Profile() {
		t.Errorf("the key of another server would go to %s", m.BaseURL)
	}
	if m, ok := model.Named("openrouter/acme/big", env("OPENROUTER_API_KEY=x")); !ok || m.ID != "acme/big" || m.KeyEnv != "OPENROUTER_API_KEY" {
		t.Errorf("got %+v, %v", m, ok)
	}
	for _, name := range []string{"openrouter", "openrouter/", "openai/x", "acme/x"} {
		if m, ok := model.Named(name, env("OPENROUTER_API_KEY=x")); ok {
			t.Errorf("%s: got %+v", name, m)
		}
	}
	for name, want := range map[string]string{"openai/x": "OPENAI_API_KEY", "openrouter/x": "", "openai/": "", "openai": "", "acme/x": ""} {
		if got := model.MissingKey(name, env("OPENROUTER_API_KEY=x")); got != want {
			t.Errorf("%s lacks %q, want %q", name, got, want)
		}
	}
}

func TestKeys(t *testing.T) {
	ctx := t.Context()
	key := model.NewKey(model.Model{KeyEnv: "A_KEY"}, env("A_KEY= abc\n"), nil)
	if got, err := key.Get(ctx); got != "abc" || err != nil {
		t.Errorf("got %q, %v", got, err)
	}
	if got, err := model.NewKey(model.Model{}, env(), nil).Get(ctx); got != "" || err != nil {
		t.Errorf("no key: %q, %v", got, err)
	}
	if _, err := model.NewKey(model.Model{KeyEnv: "A_KEY"}, env(), nil).Get(ctx); err == nil || !strings.Contains(err.Error(), "set A_KEY") {
		t.Errorf("got %v", err)
	}
	if _, err := model.NewKey(model.Model{KeyEnv: "A_KEY"}, env("A_KEY=canary\nx"), nil).Get(ctx); err == nil || strings.Contains(err.Error(), "canary") {
		t.Errorf("got %v", err)
	}
	if _, err := model.NewKey(model.Model{KeyCommand: "x"}, env(), nil).Get(ctx); err == nil {
		t.Error("a command without a runner")
	}
}

func TestKeyCommand(t *testing.T) {
	ran := 0
	run := func(_ context.Context, command string) (string, error) {
		ran++
		if command != "pass acme" {
			t.Errorf("ran %q", command)
		}
		return " abc \n", nil
	}
	key := model.NewKey(model.Model{KeyEnv: "A_KEY", KeyCommand: "pass acme"}, env(), run)
	var all sync.WaitGroup
	for range 8 {
		all.Go(func() {
			if got, err := key.Get(t.Context()); got != "abc" || err != nil {
				t.Errorf("got %q, %v", got, err)
			}
		})
	}
	all.Wait()
	if ran != 1 {
		t.Errorf("the command ran %d times", ran)
	}
	key.Drop()
	if _, err := key.Get(t.Context()); err != nil || ran != 2 {
		t.Errorf("after a drop: %v, ran %d times", err, ran)
	}
	for _, out := range []string{"", "  \n", "canary\ncanary"} {
		key := model.NewKey(model.Model{KeyCommand: "x"}, env(), func(context.Context, string) (string, error) { return out, nil })
		if _, err := key.Get(t.Context()); err == nil || strings.Contains(err.Error(), "canary") {
			t.Errorf("%q: %v", out, err)
		}
	}
	boom := errors.New("boom")
	key = model.NewKey(model.Model{KeyCommand: "x"}, env(), func(context.Context, string) (string, error) { return "", boom })
	if _, err := key.Get(t.Context()); !errors.Is(err, boom) {
		t.Errorf("got %v", err)
	}
}

// Who waits for another's command stops waiting with its own context.
func TestKeyCommandWaits(t *testing.T) {
	running, free := make(chan struct{}), make(chan struct{})
	key := model.NewKey(model.Model{KeyCommand: "x"}, env(), func(context.Context, string) (string, error) {
		close(running)
		<-free
		return "abc", nil
	})
	first := make(chan error, 1)
	go func() { _, err := key.Get(context.Background()); first <- err }()
	<-running
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := key.Get(ctx); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
	close(free)
	if err := <-first; err != nil {
		t.Error(err)
	}
}
