package discover

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"sort"
	"strings"
	"syscall"

	"starling/trust"
)

// SwitchedOff is the Off reason of a plugin that plugins.json disables.
const SwitchedOff = "switched off in plugins.json"

const composition = "plugins.json"

// Row is what plugins.json says about one plugin, the workspace's fields over the
// home's.
type Row struct {
	ID string
	// Disabled is nil when no row says it.
	Disabled *bool
	// Config is plain data (see bus/spec); nil when no row has it.
	Config map[string]any
	// URL is the file or folder to load instead, absolute; empty for none.
	URL string
	// Isolate by service key; nil when no row has it.
	Isolate map[string]Isolation
	// At are the places of the rows, PATH:LINE:COL, the home's first.
	At []string
	// badURL: it has a url, which is an error of its own.
	badURL bool
}

// Isolation is the realm a plugin sees a service key in.
type Isolation struct {
	// Off puts the key back into the default realm.
	Off bool
	// Realm is shared by name; "" is a private one.
	Realm string
}

// Realms returns the realms of a plugin that declares some itself: the row's
// keys over its own, those switched off left out.
func (r Row) Realms(declared map[string]string) map[string]string {
	realms := map[string]string{}
	for key, realm := range declared {
		realms[key] = realm
	}
	for key, is := range r.Isolate {
		if is.Off {
			delete(realms, key)
			continue
		}
		realms[key] = is.Realm
	}
	return realms
}

// Unit is a file of the workspace that configures plugins, with the bytes a
// person has to approve.
type Unit struct {
	Name    string // as in the trust store
	Path    string
	Bundle  trust.Bundle
	Applied bool // it was approved, and counts
}

// Settings are plugins.json and the settings files plugins/NAME.json of home and
// workspace.
type Settings struct {
	// Rows by id.
	Rows map[string]Row
	// Units are the workspace's files, applied or not, by name.
	Units []Unit
	// Errors for people; each starts with PATH:LINE:COL, or the path of a file
	// that could not be read. What they name does not apply, everything else does.
	Errors []error

	layers []layer
}

// layer is what one folder says: weaker layers come first.
type layer struct {
	origin Origin
	rows   []Row
	files  map[string]map[string]any // settings files by plugin name
}

// ReadSettings reads the settings of o.Home and o.Workspace. A file of the
// workspace counts only when approved says so for its unit and exactly these
// bytes; nil approves none.
func ReadSettings(o Options, approved func(unit string, b trust.Bundle) bool) Settings {
	s := Settings{Rows: map[string]Row{}}
	if o.Home != "" {
		s.readLayer(Home, o.Home, func(Unit) bool { return true })
	}
	if root := dotFolder(o.Workspace); root != "" && !samePath(root, o.Home) {
		s.readLayer(Workspace, root, func(u Unit) bool {
			u.Applied = approved != nil && approved(u.Name, u.Bundle)
			s.Units = append(s.Units, u)
			return u.Applied
		})
	}
	for _, l := range s.layers {
		for _, row := range l.rows {
			s.Rows[row.ID] = row.over(s.Rows[row.ID])
		}
	}
	return s
}

// over puts the fields this row has over those of a weaker one.
func (r Row) over(weaker Row) Row {
	if r.Disabled == nil {
		r.Disabled = weaker.Disabled
	}
	if r.Config == nil {
		r.Config = weaker.Config
	}
	if r.URL == "" {
		r.URL = weaker.URL
	}
	if r.Isolate == nil {
		r.Isolate = weaker.Isolate
	}
	r.At = append(append([]string(nil), weaker.At...), r.At...)
	return r
}

// readLayer reads one folder. counts decides for each file whether it applies.
func (s *Settings) readLayer(origin Origin, root string, counts func(Unit) bool) {
	l := layer{origin: origin, files: map[string]map[string]any{}}
	if file, ok := s.open(filepath.Join(root, composition)); ok {
		bundle := trust.Bundle{composition: file.Data}
		rows := file.rows(filepath.Dir(file.Path), bundle)
		if counts(Unit{Name: trust.UnitComposition, Path: file.Path, Bundle: bundle}) {
			l.rows = rows
			s.Errors = append(s.Errors, file.Errs...)
		}
	}
	for _, name := range s.settingsNames(filepath.Join(root, "plugins"), origin) {
		file, ok := s.open(filepath.Join(root, "plugins", name+".json"))
		if !ok {
			continue
		}
		bundle := trust.Bundle{name + ".json": file.Data}
		if !counts(Unit{Name: trust.SettingsUnit(name), Path: file.Path, Bundle: bundle}) {
			continue
		}
		if config, ok := file.settings(); ok {
			l.files[name] = config
		}
		s.Errors = append(s.Errors, file.Errs...)
	}
	s.layers = append(s.layers, l)
}

func (s *Settings) open(path string) (*jsonFile, bool) {
	data, err := trust.ReadRegular(path, jsonLimit)
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ENOTDIR) {
		return nil, false
	}
	if err != nil {
		s.Errors = append(s.Errors, err)
		return nil, false
	}
	return newJSONFile(path, data), true
}

// settingsNames lists the plugins a folder has settings files for, sorted.
func (s *Settings) settingsNames(dir string, origin Origin) []string {
	entries, err := os.ReadDir(dir)
	if err != nil {
		if origin == Home && !errors.Is(err, fs.ErrNotExist) { // of a workspace Find tells
			s.Errors = append(s.Errors, err)
		}
		return nil
	}
	var names []string
	for _, e := range entries {
		name, ok := strings.CutSuffix(e.Name(), ".json")
		if ok && !e.IsDir() && !strings.HasPrefix(name, ".") && checkName(name) == nil {
			names = append(names, name)
		}
	}
	sort.Strings(names)
	return names
}

// settings reads a settings file: one object. One that is doubtful does not apply.
func (f *jsonFile) settings() (map[string]any, bool) {
	n, ok := f.Parse()
	if !ok || n.Doubtful {
		return nil, false
	}
	members, ok := n.Content.([]member)
	if !ok {
		f.Fail(n.At, "settings are an object, not %s", n.Kind())
		return nil, false
	}
	return f.plainObject(members)
}

// Config returns the settings of a plugin, from the weakest to the strongest:
// plugins/NAME.json of the home, of the workspace, then config of plugins.json
// (the workspace's, where it has one, in place of the home's). A stronger one
// replaces whole keys of the object, and nothing inside them.
func (s Settings) Config(name string) map[string]any {
	merged := map[string]any{}
	put := func(object map[string]any) {
		for key, value := range object {
			merged[key] = value
		}
	}
	for _, l := range s.layers {
		put(l.files[name])
	}
	put(s.Rows[name].Config)
	return merged
}
