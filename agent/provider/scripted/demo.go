package scripted

import (
	"context"
	"encoding/json"
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"time"
	"unicode"

	"starling/agent/provider"
	"starling/bus/chat"
	"starling/bus/spec"
)

// Demo is a scripted demo and not a language model: a handful of rules looks
// for a file name and a verb in the prompt, calls one tool, and says what the
// tool returned. It needs no network and no key.
//
// Every prompt gets a text answer after one call at most.
func Demo() *Provider { return DemoOn(Clock) }

// DemoOn is the demo on another clock.
func DemoOn(sleep Sleep) *Provider { return &Provider{sleep: sleep, next: demo} }

// demoDelay makes the stream visible without making anybody wait.
const demoDelay = 2 * time.Millisecond

func demo(_ context.Context, req provider.Request) (spec.Step, error) {
	step := answer(req)
	step.DelayMS = int(demoDelay / time.Millisecond)
	return step, nil
}

func answer(req provider.Request) spec.Step {
	prompt, call, result := situation(req.Messages)
	if result != nil {
		return spec.Step{Text: report(call, *result)}
	}
	plan := demoPlan{prompt: prompt, lower: strings.ToLower(prompt), file: fileIn(prompt), offered: req.Tools}
	if step, ok := plan.call(); ok {
		return step
	}
	return spec.Step{Text: plan.explain()}
}

// situation finds the newest prompt and, when a tool has answered since, the
// call and its result.
func situation(messages []chat.Message) (prompt string, call chat.Block, result *chat.Block) {
	at := len(messages) - 1
	for at >= 0 && messages[at].Role != chat.User {
		at--
	}
	if at < 0 {
		return "", chat.Block{}, nil
	}
	for _, m := range messages[at+1:] {
		for i, b := range m.Blocks {
			switch b.Kind {
			case chat.Call:
				call = b
			case chat.Result:
				result = &m.Blocks[i]
			}
		}
	}
	return messages[at].Text(), call, result
}

type demoPlan struct {
	prompt, lower, file string
	offered             []spec.Tool
}

// call decides which tool to use, if any.
func (p demoPlan) call() (spec.Step, bool) {
	if p.file == "" {
		return spec.Step{}, false
	}
	switch {
	case p.asksCount():
		if t, ok := p.tool("word_count"); ok {
			return calling(t, "I count the words of "+p.file+".", map[string]any{pathParameter(t): p.file})
		}
		if p.asks("write", "create") || !p.asks("read", "show") {
			return spec.Step{}, false
		}
	case p.asks("write", "create", "save", "put"):
		t, ok := p.tool("write")
		content, found := contentIn(p.prompt, p.file)
		if !ok || !found {
			return spec.Step{}, false
		}
		return calling(t, "I write "+p.file+".", map[string]any{"path": p.file, "content": content})
	}
	if t, ok := p.tool("read"); ok && p.asks("read", "show", "summarise", "summarize", "open", "print", "display", "what", "cat", "look") {
		return calling(t, "I read "+p.file+".", map[string]any{pathParameter(t): p.file})
	}
	return spec.Step{}, false
}

func (p demoPlan) asksCount() bool {
	return p.asks("count", "many") && p.asks("word", "words")
}

func (p demoPlan) asks(verbs ...string) bool {
	for _, word := range strings.FieldsFunc(p.lower, func(r rune) bool { return !unicode.IsLetter(r) }) {
		for _, v := range verbs {
			if word == v {
				return true
			}
		}
	}
	return false
}

func (p demoPlan) tool(name string) (spec.Tool, bool) {
	for _, t := range p.offered {
		if t.Name == name {
			return t, true
		}
	}
	return spec.Tool{}, false
}

func calling(t spec.Tool, text string, arguments map[string]any) (spec.Step, bool) {
	b, err := json.Marshal(arguments)
	if err != nil {
		return spec.Step{}, false
	}
	return spec.Step{Text: text, Calls: []spec.StepCall{{Name: t.Name, Arguments: b}}}, true
}

// explain says what answers here and what to try.
func (p demoPlan) explain() string {
	const who = "I am the offline demo: a few rules that call tools, not a language model. "
	switch {
	case p.file != "" && p.asksCount():
		return who + "To count the words of " + p.file + " I need a tool named word_count; no plugin offers one now."
	case p.file != "" && p.asks("write", "create", "save", "put"):
		return who + "To write a file, name it and quote the text: write \"hello\" to notes.txt."
	}
	return who + "Try: show README.md, or: write \"hello\" to notes.txt; " +
		"with a tool named word_count also: count the words in README.md."
}

// pathParameter is the parameter of a tool that takes a path: "path" or "file",
// else the first required one, else "path".
func pathParameter(t spec.Tool) string {
	var schema struct {
		Properties map[string]json.RawMessage `json:"properties"`
		Required   []string                   `json:"required"`
	}
	if json.Unmarshal(t.Parameters, &schema) != nil {
		return "path"
	}
	for _, name := range []string{"path", "file", "filename", "file_path"} {
		if _, ok := schema.Properties[name]; ok {
			return name
		}
	}
	if len(schema.Required) > 0 {
		return schema.Required[0]
	}
	return "path"
}

// report says what a tool returned, in the tool's own words.
func report(call, result chat.Block) string {
	var arguments map[string]any
	_ = json.Unmarshal([]byte(call.Arguments), &arguments) // without them there is no file to name
	file := "the file"
	for _, name := range []string{"path", "file", "filename", "file_path"} {
		if s, ok := arguments[name].(string); ok {
			file = s
		}
	}
	content := strings.TrimRight(result.Text, "\n")
	if result.IsError {
		return fmt.Sprintf("The call of %s did not work. The tool says: %s", result.Name, content)
	}
	switch result.Name {
	case "word_count":
		if n, ok := wordsIn(content); ok {
			return fmt.Sprintf("%s has %d %s.", file, n, plural(n, "word"))
		}
		return fmt.Sprintf("The tool says about %s: %s", file, content)
	case "read":
		return excerpt(file, content)
	}
	return "Done: " + content + "."
}

// expression is compiled when the demo first needs it, not when starling starts.
func expression(text string) func() *regexp.Regexp {
	return sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(text) })
}

// counted finds how a tool words its count: "12", or "12 words" among others.
var counted = expression(`^\s*(\d+)\s*$|\b(\d+) words?\b`)

func wordsIn(content string) (int, bool) {
	m := counted().FindStringSubmatch(content)
	if m == nil {
		return 0, false
	}
	n, err := strconv.Atoi(m[1] + m[2]) // one of them is empty
	return n, err == nil
}

// shownLines is how much of a file the demo repeats.
const shownLines = 12

func excerpt(file, content string) string {
	lines := strings.Split(content, "\n")
	rest := len(lines) - shownLines
	if rest <= 0 {
		return fmt.Sprintf("This is %s:\n\n%s", file, content)
	}
	return fmt.Sprintf("This is how %s begins; a scripted demo cannot summarise it:\n\n%s\n\n… and %d more %s.",
		file, strings.Join(lines[:shownLines], "\n"), rest, plural(rest, "line"))
}

func plural(n int, word string) string {
	if n == 1 {
		return word
	}
	return word + "s"
}

// fileIn returns the first word of a prompt that looks like a file: with a
// letter, and a dot or a slash inside; "" for none. Quoted text is no name.
func fileIn(prompt string) string {
	for _, field := range strings.Fields(quotedText().ReplaceAllString(prompt, " ")) {
		word := strings.Trim(field, "`\"'()[]{}<>,;:!?*")
		word = strings.TrimRight(word, ".")
		if strings.Contains(word, "://") || !strings.ContainsFunc(word, unicode.IsLetter) {
			continue
		}
		if i := strings.IndexAny(word, "./"); i >= 0 && word != "and/or" && word != "e.g" && word != "i.e" {
			return word
		}
	}
	return ""
}

var (
	quotedText = expression(`(?s)"[^"]*\s[^"]*"|“[^”]*\s[^”]*”`)
	anyQuoted  = expression("(?s)\"([^\"]*)\"|“([^”]*)”|(?:^|\\s)'([^']*)'|`([^`]*)`")
	between    = expression(`(?is)\b(?:write|save|put)\s+(.+?)\s+(?:to|into|in)\s+(?:the\s+)?(?:a\s+)?(?:new\s+)?(?:file\s+)?$`)
	following  = expression(`(?is)^\W*\s*(?:with|containing|saying|that says)\s+(?:the\s+)?(?:text\s+|content\s+|words?\s+)?(.+)$`)
)

// contentIn finds the text a prompt wants written: in quotes, else between verb
// and file name, else behind the name.
func contentIn(prompt, file string) (string, bool) {
	for _, m := range anyQuoted().FindAllStringSubmatch(prompt, -1) {
		if text := m[1] + m[2] + m[3] + m[4]; text != file {
			return text, true
		}
	}
	before, after, _ := strings.Cut(prompt, file)
	if m := between().FindStringSubmatch(strings.TrimRight(before, " `\"'") + " "); m != nil {
		return m[1], true
	}
	if m := following().FindStringSubmatch(after); m != nil {
		return strings.TrimSpace(m[1]), true
	}
	if text, ok := strings.CutPrefix(strings.TrimLeft(after, "`\"' "), ":"); ok && strings.TrimSpace(text) != "" {
		return strings.TrimSpace(text), true
	}
	return "", false
}
