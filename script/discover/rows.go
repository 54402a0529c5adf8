package discover

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"starling/trust"
)

// Limits of a folder that a url names.
const (
	SourceLimit = 1 << 20 // bytes of one file, as for every plugin
	folderLimit = 8 << 20 // bytes of all of them
	folderItems = 2000    // entries of any kind
)

// rows reads plugins.json: a list of objects. dir is what urls start from; the
// bytes they name are added to the bundle, as they are part of what is approved;
// without a bundle they are not looked for.
func (f *jsonFile) rows(dir string, bundle trust.Bundle) []Row {
	n, ok := f.Parse()
	if !ok {
		return nil
	}
	items, ok := n.Content.([]node)
	if !ok {
		f.Fail(n.At, "must be a list of objects, not %s", n.Kind())
		return nil
	}
	var rows []Row
	seen := map[string]bool{}
	for _, item := range items {
		members, ok := item.Content.([]member)
		if !ok {
			f.Fail(item.At, "a row is an object, not %s", item.Kind())
			continue
		}
		row, ok := f.row(item.At, members, dir, bundle)
		switch {
		case !ok:
		case seen[row.ID]:
			f.Fail(item.At, "plugin %q has a row above; put both into one", row.ID)
		default:
			seen[row.ID] = true
			rows = append(rows, row)
		}
	}
	return rows
}

// ReadRows reads the text of a plugins.json that stands at path. Nothing that a
// url names is opened. The errors are for people; what they name does not apply.
func ReadRows(path string, data []byte) ([]Row, []error) {
	f := newJSONFile(path, data)
	rows := f.rows(filepath.Dir(path), nil)
	return rows, f.Errs
}

// ReadObject reads the text of a settings file that stands at path, as ReadRows;
// it is false when nothing of it applies.
func ReadObject(path string, data []byte) (map[string]any, bool, []error) {
	f := newJSONFile(path, data)
	config, ok := f.settings()
	return config, ok, f.Errs
}

// row reads one row. A field that is wrong is left out; without an id it is false.
func (f *jsonFile) row(at int, members []member, dir string, bundle trust.Bundle) (Row, bool) {
	row := Row{At: []string{f.Place(at)}}
	fields := map[string]member{}
	twice := map[string]bool{}
	for _, m := range members {
		if m.Again { // already an error; neither counts
			twice[m.Key] = true
		}
		fields[m.Key] = m
		if !rowField(m.Key) {
			f.Fail(m.At, "unknown field %q; a row has id, disabled, config, url, isolate", m.Key)
		}
	}
	for key := range twice {
		delete(fields, key)
	}
	if !f.id(at, fields, twice["id"], &row) {
		return Row{}, false
	}
	if m, ok := fields["disabled"]; ok {
		f.disabled(m.Value, &row)
	}
	if m, ok := fields["config"]; ok {
		f.config(m.Value, &row)
	}
	if m, ok := fields["url"]; ok {
		f.url(m.Value, dir, bundle, &row)
		row.badURL = row.URL == ""
	}
	if m, ok := fields["isolate"]; ok {
		f.isolate(m.Value, &row)
	}
	return row, true
}

func rowField(key string) bool {
	switch key {
	case "id", "disabled", "config", "url", "isolate":
		return true
	}
	return false
}

func (f *jsonFile) id(at int, fields map[string]member, twice bool, row *Row) bool {
	m, ok := fields["id"]
	switch {
	case twice:
		return false
	case !ok:
		f.Fail(at, `a row needs "id", the name of the plugin`)
		return false
	}
	id, ok := m.Value.Content.(string)
	if !ok {
		f.Fail(m.Value.At, `"id" must be text, not %s`, m.Value.Kind())
		return false
	}
	if err := checkName(id); err != nil {
		f.Fail(m.Value.At, "%v", err)
		return false
	}
	row.ID = id
	return true
}

func (f *jsonFile) disabled(n node, row *Row) {
	off, ok := n.Content.(bool)
	if !ok {
		f.Fail(n.At, `"disabled" must be true or false, not %s`, n.Kind())
		return
	}
	row.Disabled = &off
}

func (f *jsonFile) config(n node, row *Row) {
	members, ok := n.Content.([]member)
	if !ok {
		f.Fail(n.At, `"config" must be an object, not %s`, n.Kind())
		return
	}
	if n.Doubtful {
		return
	}
	if config, ok := f.plainObject(members); ok {
		row.Config = config
	}
}

func (f *jsonFile) isolate(n node, row *Row) {
	members, ok := n.Content.([]member)
	if !ok {
		f.Fail(n.At, `"isolate" must be an object of service names, not %s`, n.Kind())
		return
	}
	if n.Doubtful {
		return
	}
	isolate := map[string]Isolation{}
	for _, m := range members {
		name, named := m.Value.Content.(string)
		private, truth := m.Value.Content.(bool)
		switch {
		case m.Key == "":
			f.Fail(m.At, `"isolate" needs the name of a service`)
		case named && name == "":
			f.Fail(m.Value.At, `a realm needs a name; true is a private one`)
		case named:
			isolate[m.Key] = Isolation{Realm: name}
		case truth:
			isolate[m.Key] = Isolation{Off: !private}
		default:
			f.Fail(m.Value.At, `"isolate" of %q must be true, false or the name of a realm, not %s`, m.Key, m.Value.Kind())
		}
	}
	row.Isolate = isolate
}

// url reads the place of a plugin and adds its bytes to the bundle.
func (f *jsonFile) url(n node, dir string, bundle trust.Bundle, row *Row) {
	url, ok := n.Content.(string)
	switch {
	case !ok:
		f.Fail(n.At, `"url" must be text, not %s`, n.Kind())
		return
	case url == "":
		f.Fail(n.At, `"url" is empty; name a file`)
		return
	case strings.Contains(url, "://"):
		f.Fail(n.At, `"url" is the path of a file, never of the network: %q`, url)
		return
	}
	path := filepath.FromSlash(url)
	if !filepath.IsAbs(path) {
		path = filepath.Join(dir, path)
	}
	if bundle == nil {
		row.URL = filepath.Clean(path)
		return
	}
	file, err := located(filepath.Clean(path))
	if err == nil {
		err = addSources(bundle, "url/"+row.ID, file)
	}
	if err != nil {
		f.Fail(n.At, `"url": %v`, err)
		return
	}
	row.URL = filepath.Clean(path)
}

// located finds the plugin at a path: a .star file, or a folder with main.star.
func located(path string) (File, error) {
	info, err := os.Stat(path)
	if err != nil {
		return File{}, err
	}
	file := File{Path: path}
	switch {
	case info.IsDir():
		file.Dir, file.Path = path, filepath.Join(path, "main.star")
		if info, err := os.Stat(file.Path); err != nil || !info.Mode().IsRegular() {
			return File{}, fmt.Errorf("folder %s holds no main.star", path)
		}
	case !info.Mode().IsRegular() || !strings.HasSuffix(path, ".star"):
		return File{}, fmt.Errorf("%s is no .star file", path)
	case filepath.Base(path) == "main.star":
		file.Dir = filepath.Dir(path)
	}
	file.Real = resolve(file.Path)
	return file, nil
}

// addSources adds the file, or every .star file of its folder, to the bundle.
func addSources(bundle trust.Bundle, prefix string, file File) error {
	if file.Dir == "" {
		return addSource(bundle, prefix+"/"+filepath.Base(file.Path), file.Path)
	}
	items, size := 0, 0
	return filepath.WalkDir(file.Dir, func(path string, e fs.DirEntry, err error) error {
		if items++; err == nil && items > folderItems {
			err = fmt.Errorf("folder %s holds more than %d entries", file.Dir, folderItems)
		}
		if err != nil || e.IsDir() || !strings.HasSuffix(path, ".star") {
			return err
		}
		rel, err := filepath.Rel(file.Dir, path)
		if err != nil {
			return err
		}
		name := prefix + "/" + filepath.ToSlash(rel)
		if err := addSource(bundle, name, path); err != nil {
			return err
		}
		if size += len(bundle[name]); size > folderLimit {
			return fmt.Errorf("folder %s holds more than %d bytes of .star files", file.Dir, folderLimit)
		}
		return nil
	})
}

func addSource(bundle trust.Bundle, name, path string) error {
	data, err := trust.ReadRegular(path, SourceLimit)
	if err == nil {
		bundle[name] = data
	}
	return err
}
