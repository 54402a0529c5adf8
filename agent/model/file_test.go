package model_test

import (
	"errors"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"starling/agent/model"
)

const full = `{
  "version": 1,
  "models": [
    {"id": "acme/big", "name": "Big", "provider": "acme", "api": "openai-completions",
     "base_url": "https://api.acme.example/v1/", "api_key_env": "ACME_API_KEY", "api_key_command": "pass acme",
     "reasoning": true, "input": ["text", "image"], "context_window": 200000, "max_tokens": 8000,
     "cost": {"input": 1.5, "output": 6, "cache_read": 0.1, "cache_write": 2},
     "compat": {"profile": "deepseek", "tool_name": true, "max_tokens_field": "none"},
     "thinking_levels": ["low", "max"], "headers": {"X-Team": "blue"}},
    {"id": "tiny", "base_url": "http://127.0.0.1:1/v1", "compat": "ollama"}
  ]
}`

func TestParse(t *testing.T) {
	models, err := model.Parse("models.json", []byte(full))
	if err != nil {
		t.Fatal(err)
	}
	yes, none := true, "none"
	want := []model.Model{
		{
			ID: "acme/big", Name: "Big", Provider: "acme", API: model.OpenAICompletions,
			BaseURL: "https://api.acme.example/v1", KeyEnv: "ACME_API_KEY", KeyCommand: "pass acme",
			Reasoning: true, Input: []string{"text", "image"}, ContextWindow: 200000, MaxTokens: 8000,
			Cost:           model.Cost{Input: 1.5, Output: 6, CacheRead: 0.1, CacheWrite: 2},
			Compat:         model.Compat{Profile: "deepseek", ToolName: &yes, MaxTokens: &none},
			ThinkingLevels: []model.Level{model.Low, model.Max}, Headers: map[string]string{"X-Team": "blue"},
		},
		{ID: "tiny", API: model.OpenAICompletions, BaseURL: "http://127.0.0.1:1/v1", Compat: model.Compat{Profile: "ollama"}},
	}
	if d := cmp.Diff(want, models); d != "" {
		t.Errorf("(-want +got):\n%s", d)
	}
	p := models[0].Profile()
	if p.MaxTokens != "none" || !p.ToolName || !p.ReasoningRequired || p.ReasoningBack != "reasoning_content" {
		t.Errorf("the profile is %+v", p)
	}
}

// One fault a case, at its place; the sound model beside it still counts.
func TestFaults(t *testing.T) {
	for name, c := range map[string]struct{ field, want string }{
		"unknown field":    {`"colour": 1`, `2:3: unknown field "colour" of a model; there are api, api_key_command`},
		"id of a number":   {`"id": 1`, `2:9: id: want text, not a number`},
		"empty id":         {`"id": ""`, `2:9: id: want one line`},
		"api":              {`"api": "soap"`, `2:10: api "soap": there is no such wire format`},
		"base_url":         {`"base_url": "api.example.com"`, `2:15: base_url: want an address`},
		"base_url of file": {`"base_url": "file:///x"`, `base_url: want an address`},
		"user in base_url": {`"base_url": "https://me:pw@x/v1"`, `without a user`},
		"a key as name":    {`"api_key_env": "sk-secret-canary"`, `2:18: api_key_env: want the name of a variable`},
		"reasoning":        {`"reasoning": "yes"`, `2:16: reasoning: want true or false, not text`},
		"input":            {`"input": ["sound"]`, `2:12: input "sound": want text or image`},
		"input no list":    {`"input": "text"`, `input: want a list of texts, not text`},
		"context_window":   {`"context_window": 1.5`, `2:21: context_window: want a whole number`},
		"max_tokens":       {`"max_tokens": -1`, `max_tokens: want a whole number`},
		"cost":             {`"cost": 3`, `cost: want an object, not a number`},
		"cost field":       {`"cost": {"in": 3}`, `2:12: unknown field "in" of cost`},
		"cost below zero":  {`"cost": {"input": -3}`, `2:21: cost.input: want US dollars`},
		"profile":          {`"compat": "acme"`, `2:13: compat: there is no profile "acme"; write one of compatible, openai`},
		"compat field":     {`"compat": {"x": 1}`, `2:14: unknown field "x" of compat; there are profile, max_tokens_field`},
		"compat word":      {`"compat": {"system_role": "boss"}`, `compat.system_role: want one of system, developer, user`},
		"compat flag":      {`"compat": {"stream": 1}`, `stream: want true or false`},
		"level":            {`"thinking_levels": ["hard"]`, `thinking level "hard": there is no such level`},
		"header":           {`"headers": {"a b": "c"}`, `2:15: headers: "a b" is no header`},
		"header of lines":  {`"headers": {"a": "b\r\nc"}`, `headers: "a" is no header of one line`},
		"twice":            {`"name": "a", "name": "b"`, `2:16: "name" is there twice`},
		"null":             {`"name": null`, `name: want text, not null`},
	} {
		entry := `{"id": "x", "base_url": "http://h", ` + "\n  " + c.field + `}`
		if strings.HasPrefix(c.field, `"id"`) {
			entry = "{\n  " + c.field + `, "base_url": "http://h"}`
		} else if strings.HasPrefix(c.field, `"base_url"`) {
			entry = "{\n  " + c.field + `, "id": "x"}`
		}
		src := `{"version": 1, "models": [{"id": "sound", "base_url": "http://h"}, ` + entry + `]}`
		models, err := model.Parse("m.json", []byte(src))
		if err == nil || !strings.Contains(err.Error(), c.want) || !regexp.MustCompile(`^m\.json:\d+:\d+: `).MatchString(err.Error()) {
			t.Errorf("%s: got %v, want %s", name, err, c.want)
		}
		if err != nil && strings.Contains(err.Error(), "canary") {
			t.Errorf("%s: the error shows a key: %v", name, err)
		}
		if name != "twice" && (len(models) != 1 || models[0].ID != "sound") {
			t.Errorf("%s: the sound model does not count: %v", name, models)
		}
	}
}

func TestWholeFileFaults(t *testing.T) {
	for src, want := range map[string]string{
		``:                              "m.json:1:1: no JSON",
		`{"version": 1,}`:               "m.json:1:15: no JSON",
		`[]`:                            `want {"version": 1, "models": [...]}, not a list`,
		`{}`:                            `"version": 1 is missing`,
		`{"version": "1"}`:              "version: want 1",
		`{"version": 2, "x": 1}`:        "m.json:1:13: version 2 is newer than this starling",
		`{"version": 1, "model": []}`:   `m.json:1:16: unknown field "model"`,
		`{"version": 1, "models": {}}`:  "models: want a list, not an object",
		`{"version": 1, "models": [1]}`: "a model: want an object, not a number",
		"{\"version\": 1, \"models\": [\n {\"name\": \"ü\"}]}":                                                 `m.json:2:2: a model: "id" is missing`,
		`{"version": 1, "models": [{"id": "a", "base_url": "http://h"}, {"id": "a", "base_url": "http://i"}]}`: `model "a" is there twice`,
		"\xff": "no UTF-8",
		`{"version": 1, "models": ` + strings.Repeat("[", 100) + strings.Repeat("]", 100) + `}`: "values inside each other",
	} {
		if _, err := model.Parse("m.json", []byte(src)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: got %v, want %s", src, err, want)
		}
	}
}

func TestReadFile(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "models.json")
	if models, err := model.ReadFile(path); models != nil || err != nil {
		t.Errorf("an absent file: %v, %v", models, err)
	}
	if err := os.WriteFile(path, []byte("\xef\xbb\xbf"+full), 0o600); err != nil {
		t.Fatal(err)
	}
	if models, err := model.ReadFile(path); len(models) != 2 || err != nil {
		t.Errorf("%v, %v", models, err)
	}
	if _, err := model.ReadFile(dir); err == nil || errors.Is(err, os.ErrNotExist) {
		t.Errorf("a folder: %v", err)
	}
}

func FuzzParse(f *testing.F) {
	f.Add([]byte(full))
	f.Add([]byte(`{"version":1,"models":[{"id":1,"cost":{"input":1e400}}]}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		models, err := model.Parse("m.json", data)
		for _, m := range models {
			if m.ID == "" || m.BaseURL == "" {
				t.Fatalf("a model without id or address: %+v, %v", m, err)
			}
			m.Profile()
		}
	})
}
