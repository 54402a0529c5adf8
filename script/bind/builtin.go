package bind

import (
	"fmt"
	"maps"
	"sync"

	"go.starlark.net/lib/math"
	"go.starlark.net/starlark"
	"go.starlark.net/starlarkstruct"

	"starling/bus"
	"starling/bus/compose"
	"starling/script"
	"starling/script/limits"
)

// call is the call a word is used in.
type call struct {
	*script.Call
	thread *starlark.Thread
}

// ran tells whether a command or a tool makes the call, which somebody ran.
func (c *call) ran() bool {
	kind := c.Cause()
	return kind == script.Command || kind == script.Tool
}

// builtin is one word of the plugin API.
type builtin struct {
	name string
	// registers marks a word that works only while apply runs.
	registers bool
	// service that must be in inject, for registrations.
	service string
	run     func(p *Plugin, c *call, args starlark.Tuple, kwargs []starlark.Tuple) (starlark.Value, error)
}

// builtins returns every function of the API, by its name as written; a dot
// parts module and function.
func builtins() []builtin {
	all := []builtin{
		onWord, toolWord, commandWord, provideWord, effectWord,
		invokeWord, hasServiceWord, emitWord, attemptWord, clipWord, notifyWord, logWord,
		refuse("block"), refuse("block_and_stop"), refuse("reject"), refuse("stop"),
		allowWord, askWord, denyWord, answerWord, originalWord, answerQuestionWord, newSessionWord,
	}
	all = append(all, execWord, envWord, laterWord, stateWord, saveStateWord, configWord, tokenWord, homeWord, promptWord, runWord)
	all = append(all, inertWords()...)
	all = append(all, surfaceWords()...)
	all = append(all, httpWords()...)
	all = append(all, modelWords()...)
	all = append(all, infoWords()...)
	all = append(all, fsWords()...)
	for _, name := range later {
		all = append(all, unavailable(name))
	}
	return all
}

// later are the words of versions to come. They exist so that a plugin that uses
// one is told so instead of reading about an unknown name.
var later = []string{
	"http.serve", "vote",
}

func unavailable(name string) builtin {
	return builtin{name: name, run: func(*Plugin, *call, starlark.Tuple, []starlark.Tuple) (starlark.Value, error) {
		return nil, notAvailable(name)
	}}
}

func notAvailable(name string) error {
	return fmt.Errorf("%s is not available in this version of starling", name)
}

// words and names are worked out once: for each of many plugins they would cost
// more than reading a small one.
var (
	words = sync.OnceValue(builtins)
	names = sync.OnceValue(func() map[string]bool {
		names := map[string]bool{"math": true, "time": true, "ui": true}
		for _, name := range limits.Names() {
			names[name] = true
		}
		for _, b := range words() {
			top, _ := split(b.name)
			names[top] = true
		}
		return names
	})
)

// Names returns the predeclared names of a plugin file.
func Names() map[string]bool { return maps.Clone(names()) }

// Compile rewrites the operators of a file into checked ones and resolves its
// names against the plugin API.
func Compile(p *script.Program) error { return p.Compile(names(), limits.Rewrite) }

func split(name string) (module, function string) {
	for i := range name {
		if name[i] == '.' {
			return name[:i], name[i+1:]
		}
	}
	return name, ""
}

// predeclared makes the names of one plugin, as far as it uses them.
func (p *Plugin) predeclared() starlark.StringDict {
	names := starlark.StringDict{"math": math.Module, "ui": uiModule}
	for name, v := range p.host.guards.of(p.prog.Decl().Limits) {
		if p.prog.Uses(name) {
			names[name] = v
		}
	}
	if p.prog.Uses("time") {
		names["time"] = p.timeModule()
	}
	modules := map[string]starlark.StringDict{}
	for _, b := range words() {
		module, function := split(b.name)
		if !p.prog.Uses(module) {
			continue
		}
		fn := starlark.NewBuiltin(b.name, p.guarded(b))
		if function == "" {
			names[b.name] = fn
			continue
		}
		if modules[module] == nil {
			modules[module] = starlark.StringDict{}
		}
		modules[module][function] = fn
	}
	for name, members := range modules {
		names[name] = &starlarkstruct.Module{Name: name, Members: members}
	}
	return names
}

// guarded checks what every registration has in common, then runs the word.
func (p *Plugin) guarded(b builtin) func(*starlark.Thread, *starlark.Builtin, starlark.Tuple, []starlark.Tuple) (starlark.Value, error) {
	return func(thread *starlark.Thread, _ *starlark.Builtin, args starlark.Tuple, kwargs []starlark.Tuple) (starlark.Value, error) {
		c := &call{Call: script.CallOf(thread), thread: thread}
		switch reading := c.Call == nil || c.Info().Kind == script.Loading; {
		case reading && b.registers:
			return nil, tooEarly(b.name)
		case reading:
			return nil, fmt.Errorf("%s does not work while the file is read: call it in apply or in a callback", b.name)
		}
		if b.registers && (p.scope == nil || c.Info().Kind != script.Apply) {
			return nil, fmt.Errorf("%s works only inside apply: registered later, there would be no mount to undo it with", b.name)
		}
		if b.service != "" && !p.injects(b.service) {
			return nil, notInjected(b.name, b.service)
		}
		v, err := b.run(p, c, args, kwargs)
		if recordedWords[b.name] {
			p.keep(c.Context(), b.name, v, err)
		}
		return v, err
	}
}

// registry returns what stands under a key of the host, for the plugin's realm.
func (p *Plugin) registry(key string) (any, error) {
	if found, own := p.own[key]; own {
		return found, nil
	}
	return p.view.Get(key)
}

// register puts a registration into the host's registry of that key, as the
// plugin's realm for it says.
func register[T any](p *Plugin, key, label string, v T) error {
	found, err := p.registry(key)
	if err != nil {
		return err
	}
	registry, ok := found.(interface{ Slot() bus.Slot[T] })
	if !ok {
		return fmt.Errorf("the service %q is no registry of the host", key)
	}
	compose.Register(p.scope, registry.Slot(), label, v)
	return nil
}
