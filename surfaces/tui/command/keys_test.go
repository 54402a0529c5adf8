package command_test

import (
	"context"
	"slices"
	"strings"
	"testing"

	"starling/surfaces/tui/command"
	"starling/surfaces/tui/input"
	"starling/surfaces/tui/kit"
)

// Every action is explained, and a person's own keys are shown.
func TestKeyTable(t *testing.T) {
	own := map[string]string{"f9": "undo", "ctrl+_": "", "ctrl+/": "", "alt+z": "", "F10": "thoughts", "ctrl+t": "", "f6": "", "shift+f6": "", "up": "", "ctrl-p": ""}
	keys, others, err := command.Bind(own)
	if err != nil {
		t.Fatal(err)
	}
	shown := map[string]string{} // by help
	for _, g := range command.KeyGroups(keys, others) {
		for _, k := range g.Keys {
			if k.Help == "" || k.Keys == "" || shown[k.Help] != "" {
				t.Errorf("%s: %q has no help of its own", g.Title, k.Keys)
			}
			shown[k.Help] = k.Keys
		}
	}
	if n := len(input.Actions()) + len(command.Globals()); len(shown) < n-3 { // three are taken away
		t.Errorf("%d keys are shown of %d", len(shown), n)
	}
	for help, want := range map[string]string{
		"undo": "F9", "show or fold what the model thinks": "F10", "go to the next panel, then back to the prompt": "",
		"clear the prompt; twice, leave": "Ctrl-C", "a line up; at the top, what was sent before": "",
		"in the first line of the prompt: mark the last one that waits": "",
	} {
		if shown[help] != want {
			t.Errorf("%s: shown at %q, want %q", help, shown[help], want)
		}
	}
	for _, table := range []map[string]string{texts(command.DefaultShortcuts()), texts(input.DefaultKeys())} {
		for chord, action := range table {
			if got, err := command.CheckKey(kit.Spell(chord), action); chord != "esc" && chord != "ctrl+c" && chord != "alt+shift+z" && (err != nil || got != chord) {
				t.Errorf("%s, %s: %q, %v", chord, action, got, err)
			}
		}
	}
}

func texts[A ~string](table map[string]A) map[string]string {
	out := map[string]string{}
	for chord, action := range table {
		out[chord] = string(action)
	}
	return out
}

func TestBind(t *testing.T) {
	for name, c := range map[string]struct {
		own     map[string]string
		keys    map[string]input.Action
		others  map[string]command.Global
		problem string
	}{
		"none":               {nil, map[string]input.Action{"enter": input.Send}, map[string]command.Global{"esc": command.Stop}, ""},
		"another sends":      {map[string]string{"Ctrl-S": "send", "enter": "newline", "ctrl+w": ""}, map[string]input.Action{"ctrl+s": input.Send, "enter": input.Newline, "ctrl+w": ""}, nil, ""},
		"one action a key":   {map[string]string{"ctrl+k": "mode", "end": "line-end", "home": "beginning"}, map[string]input.Action{"ctrl+k": "", "end": input.LineEnd, "home": ""}, map[string]command.Global{"ctrl+k": command.NextModeOf, "end": "", "home": command.Beginning}, ""},
		"the page of keys":   {map[string]string{"?": ""}, nil, map[string]command.Global{"?": "", "f1": command.Keys}, ""},
		"undo as elsewhere":  {map[string]string{"ctrl+z": "undo"}, map[string]input.Action{"ctrl+z": input.Undo}, map[string]command.Global{"ctrl+z": ""}, ""},
		"none sends":         {map[string]string{"enter": "newline"}, nil, nil, `no key is left that sends; give one the action "send"`},
		"no action":          {map[string]string{"f2": "fly"}, nil, nil, `there is no action "fly"; it is one of attach, `},
		"nearly an action":   {map[string]string{"f2": "newlin"}, nil, nil, `there is no action "newlin"; did you mean "newline"?`},
		"what always leaves": {map[string]string{"Ctrl-C": "send"}, nil, nil, `"Ctrl-C": Ctrl-C stops and leaves, whatever else is bound`},
		"text":               {map[string]string{"x": "send"}, nil, nil, `"x" alone is text; put ctrl+ or alt+ before it, as in "alt+x"`},
		"space":              {map[string]string{" ": "send"}, nil, nil, `alone is text`},
		"no key":             {map[string]string{"f13": "send"}, nil, nil, `there is no key "f13"`},
	} {
		keys, others, err := command.Bind(c.own)
		if c.problem != "" {
			if err == nil || !strings.Contains(err.Error(), c.problem) {
				t.Errorf("%s: %v, want %s", name, err, c.problem)
			}
			continue
		}
		if err != nil {
			t.Errorf("%s: %v", name, err)
		}
		for chord, want := range c.keys {
			if keys[chord] != want {
				t.Errorf("%s: %s edits %q, want %q", name, chord, keys[chord], want)
			}
		}
		for chord, want := range c.others {
			if others[chord] != want {
				t.Errorf("%s: %s does %q, want %q", name, chord, others[chord], want)
			}
		}
	}
	if names := command.ActionNames(); len(slices.Compact(names)) != len(input.Actions())+len(command.Globals()) {
		t.Errorf("an action is there twice: %q", names)
	}
}

// own is a session with keys of a person.
type own struct {
	*fake
	keys   input.Keymap
	others command.Shortcuts
}

func (o own) Keys() input.Keymap           { return o.keys }
func (o own) Shortcuts() command.Shortcuts { return o.others }

// What commands say of keys are those of the person.
func TestKeysInTexts(t *testing.T) {
	keys, others, err := command.Bind(map[string]string{"f7": "up", "up": "", "ctrl+p": "", "f8": "stop"})
	if err != nil {
		t.Fatal(err)
	}
	s := own{day(), keys, others}
	for args, want := range map[string]string{"queue": "F7 in the prompt marks one", "help keys": "Esc, F8"} {
		name, args, _ := strings.Cut(args, " ")
		r := command.Run(context.Background(), s, name, args)
		body := r.Body
		if r.View != nil {
			body = r.View.Load(context.Background())
		}
		if text := body.Text(100, kit.SignsFor(false)); !strings.Contains(text, want) {
			t.Errorf("/%s %s lacks %q:\n%s", name, args, want, text)
		}
	}
}
