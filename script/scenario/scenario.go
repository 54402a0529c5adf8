package scenario

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"go.starlark.net/starlark"

	"starling/bus/spec"
	"starling/script"
	"starling/script/limits"
	"starling/script/value"
)

// Load runs a scenario file and returns its steps in order. path stands in
// errors.
func Load(path string, src []byte) ([]spec.Step, error) {
	prog, err := script.ParseModule("scenario", path, src)
	if err != nil {
		return nil, err
	}
	r := &recorder{reading: true}
	names := r.names()
	known := make(map[string]bool, len(names))
	for name := range names {
		known[name] = true
	}
	if err := prog.Compile(known, limits.Rewrite); err != nil {
		return nil, err
	}
	r.inst = prog.New(script.Env{Predeclared: names})
	if err := r.inst.Load(context.Background()); err != nil {
		return nil, err
	}
	r.reading = false
	if r.guards != nil {
		return nil, fmt.Errorf("%s: expect needs an answer after it", r.guards[0].at)
	}
	if len(r.answers) == 0 {
		return nil, fmt.Errorf("%s: no answer in it: add say(\"…\")", path)
	}
	steps := make([]spec.Step, len(r.answers))
	for i, a := range r.answers {
		steps[i] = a.step
	}
	return steps, nil
}

// recorder collects answers while the file runs. Afterwards it only makes those
// of replies and changes nothing.
type recorder struct {
	inst    *script.Instance
	reading bool
	answers []*answer
	guards  []guard // of the next answer
}

type guard struct {
	texts []string
	at    string
}

// answer is what say, call, calls and fail_turn return.
type answer struct {
	step   spec.Step
	guards []guard
	kind   string
}

func (a *answer) String() string        { return "<" + a.kind + ">" }
func (a *answer) Type() string          { return "answer" }
func (a *answer) Freeze()               {}
func (a *answer) Truth() starlark.Bool  { return true }
func (a *answer) Hash() (uint32, error) { return 0, errors.New("unhashable: answer") }

type builtin func(t *starlark.Thread, name string, args starlark.Tuple, kwargs []starlark.Tuple) (starlark.Value, error)

func (r *recorder) names() starlark.StringDict {
	names := starlark.StringDict{}
	for name, v := range limits.Predeclared(limits.Defaults()) {
		names[name] = v
	}
	for name, f := range map[string]builtin{
		"say": r.say, "call": r.call, "calls": r.calls, "expect": r.expect, "fail_turn": r.failTurn, "reply": r.reply,
	} {
		names[name] = starlark.NewBuiltin(name, func(t *starlark.Thread, b *starlark.Builtin, args starlark.Tuple, kwargs []starlark.Tuple) (starlark.Value, error) {
			return f(t, b.Name(), args, kwargs)
		})
	}
	return names
}

// record makes a an answer of the file while it is read.
func (r *recorder) record(a *answer) starlark.Value {
	if !r.reading {
		return a
	}
	a.guard(r.guards)
	r.guards = nil
	r.answers = append(r.answers, a)
	return a
}

// guard makes the answer wait for texts in the last message.
func (a *answer) guard(list []guard) {
	a.guards = append(a.guards, list...)
	var texts, quoted []string
	for _, g := range a.guards {
		for _, text := range g.texts {
			texts = append(texts, text)
			quoted = append(quoted, strconv.Quote(text))
		}
	}
	if len(texts) == 0 {
		return
	}
	a.step.MatchText = "text with " + strings.Join(quoted, " and ")
	a.step.Match = func(last string) bool {
		for _, text := range texts {
			if !strings.Contains(last, text) {
				return false
			}
		}
		return true
	}
}

// maxDelay is an hour: longer is a slip of the keyboard.
const maxDelay = 3_600_000

func (r *recorder) say(_ *starlark.Thread, name string, args starlark.Tuple, kwargs []starlark.Tuple) (starlark.Value, error) {
	a := &answer{kind: name}
	if err := starlark.UnpackArgs(name, args, kwargs, "text", &a.step.Text, "thinking?", &a.step.Thinking, "delay_ms?", &a.step.DelayMS); err != nil {
		return nil, err
	}
	if a.step.DelayMS < 0 || a.step.DelayMS > maxDelay {
		return nil, fmt.Errorf("%s: delay_ms must be from 0 to %d", name, maxDelay)
	}
	return r.record(a), nil
}

func (r *recorder) failTurn(_ *starlark.Thread, name string, args starlark.Tuple, kwargs []starlark.Tuple) (starlark.Value, error) {
	a := &answer{kind: name}
	if err := starlark.UnpackArgs(name, args, kwargs, "text", &a.step.Error); err != nil {
		return nil, err
	}
	if a.step.Error == "" {
		return nil, fmt.Errorf("%s: the text says why the turn fails and cannot be empty", name)
	}
	return r.record(a), nil
}

// call takes the tool's arguments as keywords, or as one dict where a name of
// them is no keyword.
func (r *recorder) call(_ *starlark.Thread, name string, args starlark.Tuple, kwargs []starlark.Tuple) (starlark.Value, error) {
	tool := ""
	var given *starlark.Dict
	if err := starlark.UnpackPositionalArgs(name, args, nil, 1, &tool, &given); err != nil {
		return nil, err
	}
	if tool == "" {
		return nil, fmt.Errorf("%s: the name of the tool is empty", name)
	}
	if given == nil {
		given = starlark.NewDict(len(kwargs))
		for _, kv := range kwargs {
			if err := given.SetKey(kv[0], kv[1]); err != nil {
				return nil, fmt.Errorf("%s: %w", name, err)
			}
		}
	} else if len(kwargs) > 0 {
		return nil, fmt.Errorf("%s: arguments come as one dict or as keywords, not both", name)
	}
	raw, err := value.ToJSON(given)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, value.Named("arguments", err))
	}
	return r.record(&answer{kind: name, step: spec.Step{Calls: []spec.StepCall{{Name: tool, Arguments: json.RawMessage(raw)}}}}), nil
}

// calls joins answers into one. While the file is read they were recorded one by
// one as they were made, and are taken back.
func (r *recorder) calls(_ *starlark.Thread, name string, args starlark.Tuple, kwargs []starlark.Tuple) (starlark.Value, error) {
	var list *starlark.List
	if err := starlark.UnpackArgs(name, args, kwargs, "calls", &list); err != nil {
		return nil, err
	}
	joined := &answer{kind: name}
	var guards []guard
	for i := range list.Len() {
		a, ok := list.Index(i).(*answer)
		if !ok || a.kind != "call" && (a.kind != "say" || i > 0) {
			return nil, fmt.Errorf("%s: item %d must come from call (the first one may come from say)", name, i)
		}
		if a.kind == "say" {
			joined.step.Text, joined.step.Thinking, joined.step.DelayMS = a.step.Text, a.step.Thinking, a.step.DelayMS
		}
		joined.step.Calls = append(joined.step.Calls, a.step.Calls...)
		guards = append(guards, a.guards...)
		r.takeBack(a)
	}
	if len(joined.step.Calls) == 0 {
		return nil, fmt.Errorf("%s: the list holds no call", name)
	}
	joined.guard(guards)
	return r.record(joined), nil
}

func (r *recorder) takeBack(a *answer) {
	if !r.reading {
		return
	}
	for i, other := range r.answers {
		if other == a {
			r.answers = append(r.answers[:i], r.answers[i+1:]...)
			return
		}
	}
}

func (r *recorder) expect(t *starlark.Thread, name string, args starlark.Tuple, kwargs []starlark.Tuple) (starlark.Value, error) {
	var what starlark.Value
	if err := starlark.UnpackArgs(name, args, kwargs, "text", &what); err != nil {
		return nil, err
	}
	if !r.reading {
		return nil, fmt.Errorf("%s: a reply sees the last message itself", name)
	}
	g := guard{at: t.CallFrame(1).Pos.String()}
	items := []starlark.Value{what}
	if list, ok := what.(*starlark.List); ok {
		items = items[:0]
		for i := range list.Len() {
			items = append(items, list.Index(i))
		}
	}
	for _, item := range items {
		text, ok := starlark.AsString(item)
		if !ok || text == "" {
			return nil, fmt.Errorf("%s: want a text or a list of texts that are not empty, got %s", name, value.Format(item, 40))
		}
		g.texts = append(g.texts, text)
	}
	if len(g.texts) == 0 {
		return nil, fmt.Errorf("%s: the list is empty", name)
	}
	r.guards = append(r.guards, g)
	return starlark.None, nil
}

func (r *recorder) reply(_ *starlark.Thread, name string, args starlark.Tuple, kwargs []starlark.Tuple) (starlark.Value, error) {
	var fn starlark.Callable
	if err := starlark.UnpackArgs(name, args, kwargs, "fn", &fn); err != nil {
		return nil, err
	}
	if !r.reading {
		return nil, fmt.Errorf("%s: a reply cannot answer with another reply", name)
	}
	a := &answer{kind: name}
	a.step.Reply = func(ctx context.Context, last string) (spec.Step, error) {
		v, err := r.inst.Call(ctx, script.CallInfo{Kind: script.Reply, What: name}, fn, starlark.Tuple{starlark.String(last)}, nil)
		if err != nil {
			return spec.Step{}, err
		}
		made, ok := v.(*answer)
		if !ok {
			return spec.Step{}, fmt.Errorf("reply: the function must return what say, call, calls or fail_turn return, not %s", value.Format(v, 60))
		}
		return made.step, nil
	}
	return r.record(a), nil
}
