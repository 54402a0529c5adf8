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
	n, ok := f.parse()
	if !ok {
		return nil
	}
	items, ok := n.content.([]node)
	if !ok {
		f.fail(n.at, "must be a list of objects, not %s", n.kind())
		return nil
	}
	var rows []Row
	seen := map[string]bool{}
	for _, item := range items {
		members, ok := item.content.([]member)
		if !ok {
			f.fail(item.at, "a row is an object, not %s", item.kind())
			continue
		}
		row, ok := f.row(item.at, members, dir, bundle)
		switch {
		case !ok:
		case seen[row.ID]:
			f.fail(item.at, "plugin %q has a row above; put both into one", row.ID)
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
	f := &jsonFile{path: path, data: data}
	rows := f.rows(filepath.Dir(path), nil)
	return rows, f.errs
}

// ReadObject reads the text of a settings file that stands at path, as ReadRows;
// it is false when nothing of it applies.
func ReadObject(path string, data []byte) (map[string]any, bool, []error) {
	f := &jsonFile{path: path, data: data}
	config, ok := f.settings()
	return config, ok, f.errs
}

// row reads one row. A field that is wrong is left out; without an id it is false.
func (f *jsonFile) row(at int, members []member, dir string, bundle trust.Bundle) (Row, bool) {
	row := Row{At: []string{f.place(at)}}
	fields := map[string]member{}
	twice := map[string]bool{}
	for _, m := range members {
		if m.again { // already an error; neither counts
			twice[m.key] = true
		}
		fields[m.key] = m
		if !rowField(m.key) {
			f.fail(m.at, "unknown field %q; a row has id, disabled, config, url, isolate", m.key)
		}
	}
	for key := range twice {
		delete(fields, key)
	}
	if !f.id(at, fields, twice["id"], &row) {
		return Row{}, false
	}
	if m, ok := fields["disabled"]; ok {
		f.disabled(m.value, &row)
	}
	if m, ok := fields["config"]; ok {
		f.config(m.value, &row)
	}
	if m, ok := fields["url"]; ok {
		f.url(m.value, dir, bundle, &row)
		row.badURL = row.URL == ""
	}
	if m, ok := fields["isolate"]; ok {
		f.isolate(m.value, &row)
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
		f.fail(at, `a row needs "id", the name of the plugin`)
		return false
	}
	id, ok := m.value.content.(string)
	if !ok {
		f.fail(m.value.at, `"id" must be text, not %s`, m.value.kind())
		return false
	}
	if err := checkName(id); err != nil {
		f.fail(m.value.at, "%v", err)
		return false
	}
	row.ID = id
	return true
}

func (f *jsonFile) disabled(n node, row *Row) {
	off, ok := n.content.(bool)
	if !ok {
		f.fail(n.at, `"disabled" must be true or false, not %s`, n.kind())
		return
	}
	row.Disabled = &off
}

func (f *jsonFile) config(n node, row *Row) {
	members, ok := n.content.([]member)
	if !ok {
		f.fail(n.at, `"config" must be an object, not %s`, n.kind())
		return
	}
	if n.doubtful {
		return
	}
	if config, ok := f.plainObject(members); ok {
		row.Config = config
	}
}

func (f *jsonFile) isolate(n node, row *Row) {
	members, ok := n.content.([]member)
	if !ok {
		f.fail(n.at, `"isolate" must be an object of service names, not %s`, n.kind())
		return
	}
	if n.doubtful {
		return
	}
	isolate := map[string]Isolation{}
	for _, m := range members {
		name, named := m.value.content.(string)
		private, truth := m.value.content.(bool)
		switch {
		case m.key == "":
			f.fail(m.at, `"isolate" needs the name of a service`)
		case named && name == "":
			f.fail(m.value.at, `a realm needs a name; true is a private one`)
		case named:
			isolate[m.key] = Isolation{Realm: name}
		case truth:
			isolate[m.key] = Isolation{Off: !private}
		default:
			f.fail(m.value.at, `"isolate" of %q must be true, false or the name of a realm, not %s`, m.key, m.value.kind())
		}
	}
	row.Isolate = isolate
}

// url reads the place of a plugin and adds its bytes to the bundle.
func (f *jsonFile) url(n node, dir string, bundle trust.Bundle, row *Row) {
	url, ok := n.content.(string)
	switch {
	case !ok:
		f.fail(n.at, `"url" must be text, not %s`, n.kind())
		return
	case url == "":
		f.fail(n.at, `"url" is empty; name a file`)
		return
	case strings.Contains(url, "://"):
		f.fail(n.at, `"url" is the path of a file, never of the network: %q`, url)
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
		f.fail(n.at, `"url": %v`, err)
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
	data, err := readRegular(path, SourceLimit)
	if err == nil {
		bundle[name] = data
	}
	return err
}
