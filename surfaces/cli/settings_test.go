package cli_test

import (
	"encoding/json"
	"errors"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"starling/surfaces/cli"
	"starling/surfaces/tui"
)

func TestReadSettings(t *testing.T) {
	for name, c := range map[string]struct {
		text string
		want tui.Options
		told []string // line:column and text, in order
	}{
		"nothing":    {`{}`, tui.Options{}, nil},
		"everything": {`{"version": 1, "theme": "light", "bell": true, "mouse": false, "forget": true, "keys": {"Ctrl-S": "send", "f2": "thoughts"}}`, tui.Options{Theme: "light", Bell: true, NoMouse: true, Forget: true, Keys: map[string]string{"ctrl+s": "send", "f2": "thoughts"}}, nil},
		"off":        {`{"theme": "auto", "bell": false, "mouse": true, "forget": false, "keys": {}}`, tui.Options{Theme: "auto", Keys: map[string]string{}}, nil},
		"unknown":    {"{\n  \"theem\": \"dark\",\n  \"bell\": true, \"colour\": 1}", tui.Options{Bell: true}, []string{`2:3: there is no setting "theem"; did you mean "theme"?`, `3:17: there is no setting "colour"; there are bell, forget, keys, mouse, theme, version`}},
		"types": {`{"theme": 1, "bell": "yes", "mouse": null, "forget": [], "keys": []}`, tui.Options{}, []string{
			"1:11: theme: want one of auto, dark, light, none, not a number", "1:22: bell: want true or false, not text", "1:38: mouse: want true or false, not null",
			"1:54: forget: want true or false, not a list", `1:66: keys: want an object, such as {"ctrl+s": "send"}, not a list`,
		}},
		"theme":      {`{"theme": "drak", "bell": true}`, tui.Options{Bell: true}, []string{`1:11: theme: there is no theme "drak"; did you mean "dark"?`}},
		"theme, far": {`{"theme": "solarized"}`, tui.Options{}, []string{`1:11: theme: there is no theme "solarized"; it is one of auto, dark, light, none`}},
		"keys": {"{\"keys\": {\"crtl+s\": \"send\",\n\"f3\": \"snd\",\n\"f4\": 4,\n\"esc\": \"\",\n\"Alt-X\": \"undo\", \"alt+x\": \"redo\", \"x\": \"undo\"}}", tui.Options{Keys: map[string]string{"alt+x": "undo"}}, []string{
			`1:11: keys: "crtl+s": there is no key "crtl+s"; did you mean "ctrl+s"?`, `2:1: keys: there is no action "snd"; did you mean "send"?`,
			`3:7: keys: "f4": want the name of an action, "" for none, not a number`, `4:1: keys: "esc": Esc stops and leaves, whatever else is bound; take another key`,
			`5:18: keys: "alt+x" is a key that is there already, written otherwise; keep one`, `5:35: keys: "x" alone is text; put ctrl+ or alt+ before it, as in "alt+x"`,
		}},
		"no key sends":  {`{"keys": {"enter": "newline"}, "bell": true}`, tui.Options{Bell: true}, []string{`1:10: keys: no key is left that sends; give one the action "send"; the usual keys are kept`}},
		"twice":         {`{"bell": true, "bell": false}`, tui.Options{Bell: true}, []string{`1:16: "bell" is there twice; keep one`}},
		"twice inside":  {`{"keys": {"f2": "undo", "f2": "redo"}}`, tui.Options{Keys: map[string]string{"f2": "undo"}}, []string{`1:25: "f2" is there twice; keep one`}},
		"newer":         {`{"bell": true, "version": 2}`, tui.Options{}, []string{`1:27: version 2 is newer than this starling, which reads 1: update starling`}},
		"no version":    {`{"bell": true, "version": "1"}`, tui.Options{}, []string{`1:27: version: want 1, or leave it out`}},
		"no object":     {`[]`, tui.Options{}, []string{`1:1: want an object, such as {"theme": "dark"}, not a list`}},
		"broken":        {"{\n\"bell\": true,\n}", tui.Options{}, []string{`3:1: no JSON: invalid character '}' looking for beginning of object key string`}},
		"cut":           {`{"bell": tr`, tui.Options{}, []string{`1:11: no JSON: invalid character ' ' in literal true (expecting 'u')`}},
		"empty":         {``, tui.Options{}, []string{`1:1: no JSON: unexpected end of JSON input`}},
		"no UTF-8":      {"{\"\xff\": 1}", tui.Options{}, []string{`1:3: a byte that is no UTF-8`}},
		"steering text": {"{\"\\u001b[2J\": 1}", tui.Options{}, []string{`1:2: there is no setting "\x1b[2J"; there are bell, forget, keys, mouse, theme, version`}},
	} {
		path := filepath.Join(t.TempDir(), "config.json")
		if err := os.WriteFile(path, []byte(c.text), 0o600); err != nil {
			t.Fatal(err)
		}
		got, faults := cli.ReadSettings(path)
		if got.Theme != c.want.Theme || got.Bell != c.want.Bell || got.NoMouse != c.want.NoMouse || got.Forget != c.want.Forget || !maps.Equal(got.Keys, c.want.Keys) {
			t.Errorf("%s: %+v, want %+v", name, got, c.want)
		}
		var told []string
		for _, f := range faults {
			told = append(told, strings.TrimPrefix(f.Error(), path+":"))
		}
		if !slices.Equal(told, c.told) {
			t.Errorf("%s: told\n%s\nwant\n%s", name, strings.Join(told, "\n"), strings.Join(c.told, "\n"))
		}
		// Whatever is left of a file, a session starts with it.
		got.Plain = true
		if _, err := tui.New(got); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// A file that cannot be read is told, one that is not there is none.
func TestReadSettingsFile(t *testing.T) {
	dir := t.TempDir()
	big := filepath.Join(dir, "big.json")
	if err := os.WriteFile(big, make([]byte, 1<<20+1), 0o600); err != nil {
		t.Fatal(err)
	}
	for path, want := range map[string]string{
		filepath.Join(dir, "none.json"): "", dir: dir + ": not a regular file; the settings are left out",
		big: big + ": more than 1048576 bytes; the settings are left out", os.DevNull: os.DevNull + ": not a regular file; the settings are left out",
	} {
		_, faults := cli.ReadSettings(path)
		if got := errors.Join(faults...); want == "" && got != nil || want != "" && (got == nil || got.Error() != want) {
			t.Errorf("%s: %v, want %q", path, got, want)
		}
	}
}

// Whatever a file holds, its faults have places, and a session starts with what is left.
func TestReadSettingsProperty(t *testing.T) {
	path := filepath.Join(t.TempDir(), "config.json")
	word := rapid.OneOf(rapid.SampledFrom([]string{"theme", "bell", "mouse", "forget", "keys", "version", "dark", "send", "undo", "", "enter", "ctrl+s", "Ctrl--", "alt+", "F1"}), rapid.String())
	value := rapid.OneOf(
		rapid.Custom(func(t *rapid.T) any { return word.Draw(t, "text") }), rapid.Custom(func(t *rapid.T) any { return rapid.Bool().Draw(t, "bool") }),
		rapid.Custom(func(t *rapid.T) any { return rapid.Float64Range(-1e9, 1e9).Draw(t, "number") }),
		rapid.Custom(func(t *rapid.T) any { return rapid.MapOf(word, word).Draw(t, "object") }), rapid.Just[any](nil),
	)
	rapid.Check(t, func(t *rapid.T) {
		text, err := json.Marshal(rapid.MapOf(word, value).Draw(t, "settings"))
		if err != nil {
			t.Fatal(err)
		}
		text = text[:rapid.SampledFrom([]int{len(text), len(text), len(text) / 2}).Draw(t, "length")]
		if err := os.WriteFile(path, text, 0o600); err != nil {
			t.Fatal(err)
		}
		o, faults := cli.ReadSettings(path)
		for _, fault := range faults {
			if !strings.HasPrefix(fault.Error(), path+":") {
				t.Errorf("a fault without a place: %v", fault)
			}
		}
		o.Plain = true
		if _, err := tui.New(o); err != nil {
			t.Errorf("no session starts with %s: %v", text, err)
		}
	})
}
