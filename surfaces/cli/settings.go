package cli

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"

	"starling/surfaces"
	"starling/surfaces/tui"
	"starling/surfaces/tui/command"
	"starling/trust"
	"starling/trust/jsonplace"
)

const (
	settingsVersion = 1
	settingsLimit   = 1 << 20 // bytes of config.json
)

// settingsFile is what a person sets for every session, in the home.
func settingsFile(home string) string { return filepath.Join(home, "config.json") }

// settings are the keys of config.json, by name.
var settings = []struct {
	name string
	read func(f *settingsReader, v jsonplace.Value)
}{
	{"bell", func(f *settingsReader, v jsonplace.Value) { f.flag("bell", v, func(on bool) { f.o.Bell = on }) }},
	{"forget", func(f *settingsReader, v jsonplace.Value) { f.flag("forget", v, func(on bool) { f.o.Forget = on }) }},
	{"keys", (*settingsReader).keys},
	{"mouse", func(f *settingsReader, v jsonplace.Value) { f.flag("mouse", v, func(on bool) { f.o.NoMouse = !on }) }},
	{"theme", (*settingsReader).theme},
	{"version", func(*settingsReader, jsonplace.Value) {}}, // looked at before all else
}

// SettingNames lists the keys of config.json.
func SettingNames() []string {
	var all []string
	for _, s := range settings {
		all = append(all, s.name)
	}
	return all
}

// ReadSettings reads config.json. Its faults are for people; each names the file and,
// within it, line and column. What they name does not apply, everything else does. A
// file that is not there sets nothing.
func ReadSettings(path string) (o tui.Options, faults []error) {
	data, err := trust.ReadRegular(path, settingsLimit)
	if errors.Is(err, fs.ErrNotExist) {
		return o, nil
	}
	if err != nil {
		return o, []error{fmt.Errorf("%w; the settings are left out", err)}
	}
	f := &settingsReader{File: jsonplace.File{Path: path, Data: data}, o: &o}
	if v, ok := f.Parse(); ok {
		f.root(v)
	}
	return o, f.Errs
}

// settingsReader is config.json on its way into options.
type settingsReader struct {
	jsonplace.File
	o *tui.Options
}

func (f *settingsReader) root(v jsonplace.Value) {
	members, ok := v.Content.([]jsonplace.Member)
	if !ok {
		f.Fail(v.At, `want an object, such as {"theme": "dark"}, not %s`, v.Kind())
		return
	}
	for _, m := range members {
		if m.Key == "version" && !f.version(m.Value) {
			return
		}
	}
	for _, m := range members {
		i := slices.Index(SettingNames(), m.Key)
		switch {
		case m.Again: // told already; the first one counts
		case i >= 0:
			settings[i].read(f, m.Value)
		default:
			f.Fail(m.At, "there is no setting %q; %s", m.Key, meantOf(m.Key, SettingNames(), "there are "))
		}
	}
}

// version tells whether this is a version that is read. A newer one is refused whole.
func (f *settingsReader) version(v jsonplace.Value) bool {
	number, _ := v.Content.(json.Number)
	switch n, err := number.Int64(); {
	case err != nil || n < 1:
		f.Fail(v.At, "version: want %d, or leave it out", settingsVersion)
		return false
	case n > settingsVersion:
		f.Fail(v.At, "version %d is newer than this starling, which reads %d: update starling", n, settingsVersion)
		return false
	}
	return true
}

func (f *settingsReader) flag(name string, v jsonplace.Value, set func(bool)) {
	on, ok := v.Content.(bool)
	if !ok {
		f.Fail(v.At, "%s: want true or false, not %s", name, v.Kind())
		return
	}
	set(on)
}

func (f *settingsReader) theme(v jsonplace.Value) {
	name, ok := v.Content.(string)
	switch {
	case !ok:
		f.Fail(v.At, "theme: want one of %s, not %s", strings.Join(command.Themes(), ", "), v.Kind())
	case !slices.Contains(command.Themes(), name):
		f.Fail(v.At, "theme: there is no theme %q; %s", name, meantOf(name, command.Themes(), "it is one of "))
	default:
		f.o.Theme = name
	}
}

// keys reads one object, key to action. A fault of one leaves the others.
func (f *settingsReader) keys(v jsonplace.Value) {
	members, ok := v.Content.([]jsonplace.Member)
	if !ok {
		f.Fail(v.At, `keys: want an object, such as {"ctrl+s": "send"}, not %s`, v.Kind())
		return
	}
	own := map[string]string{}
	for _, m := range members {
		if m.Again {
			continue
		}
		action, ok := m.Value.Content.(string)
		if !ok {
			f.Fail(m.Value.At, `keys: %q: want the name of an action, "" for none, not %s`, m.Key, m.Value.Kind())
			continue
		}
		chord, err := command.CheckKey(m.Key, action)
		if _, twice := own[chord]; err == nil && twice {
			err = fmt.Errorf("%q is a key that is there already, written otherwise; keep one", m.Key)
		}
		if err != nil {
			f.Fail(m.At, "keys: %v", err)
			continue
		}
		own[chord] = action
	}
	if _, _, err := command.Bind(own); err != nil {
		f.Fail(v.At, "keys: %v; the usual keys are kept", err)
		return
	}
	f.o.Keys = own
}

// meantOf says which name was meant, or which there are.
func meantOf(name string, all []string, lead string) string {
	if meant := surfaces.Nearest(name, all); meant != "" {
		return fmt.Sprintf("did you mean %q?", meant)
	}
	return lead + strings.Join(all, ", ")
}
