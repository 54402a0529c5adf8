package discover

import (
	"fmt"
	"slices"
	"sort"
)

// Join applies the rows of plugins.json to what Find found with the same
// options: a row with a url adds a plugin or replaces where it is loaded from,
// disabled switches it off. A file of --plugin stays as the command line says,
// and with --no-plugins nothing is added. A file that the workspace's url names
// is the workspace's: it needs o.Approved, and until then hides nothing. The
// errors are rows of plugins nobody found.
func (s Settings) Join(o Options, found Found) (Found, []error) {
	joined := Found{
		Files: append([]File(nil), found.Files...),
		said:  append([]string(nil), found.said...),
	}
	for _, o := range found.ones {
		joined.ones = append(joined.ones, oneFile{o.kept, slices.Clone(o.paths), slices.Clone(o.names)})
	}
	if o.Discover {
		for _, l := range s.layers {
			for _, row := range l.rows {
				if row.URL != "" {
					joined.place(row, l.origin, o.Approved)
				}
			}
		}
		joined.inOrder()
		joined.onceEach()
		joined.shadow()
		joined.inOrder()
	}
	joined.tell()
	known := map[string]bool{}
	for i := range joined.Files {
		file := &joined.Files[i]
		known[file.Name] = true
		off := s.Rows[file.Name].Disabled
		if off != nil && *off && file.Origin != Flag && file.Off == "" {
			file.Off = SwitchedOff
		}
	}
	if !o.Discover {
		return joined, nil
	}
	for _, one := range joined.ones { // told already why it is not there
		for _, name := range one.names {
			known[name] = true
		}
	}
	return joined, s.unknown(known)
}

// runs tells whether nothing speaks against running the file.
func (f File) runs() bool { return f.Off == "" && f.Err == nil }

// place puts the file a url names where the discovered one of that origin and
// name stood, or adds it. One that must not run takes nobody's place.
func (f *Found) place(row Row, origin Origin, approved func(File) bool) {
	file, err := located(row.URL)
	if err != nil {
		file = File{Path: row.URL, Real: resolve(row.URL), Err: fmt.Errorf("%s: %w", row.At[0], err)}
	}
	file.Name, file.Origin = row.ID, origin
	added := Found{Files: []File{file}}
	if origin == Workspace {
		added.approve(approved)
	}
	file = added.Files[0]
	for i, old := range f.Files {
		if old.Origin != origin || old.Name != row.ID {
			continue
		}
		if file.runs() || !old.runs() {
			file.Hides = old.Hides
			f.Files[i] = file
			return
		}
	}
	f.Files = append(f.Files, file) // listed with its reason; what was found goes on
}

func (f *Found) inOrder() {
	sort.SliceStable(f.Files, func(i, j int) bool { return f.Files[i].Position() < f.Files[j].Position() })
}

// unknown lists the rows of plugins that do not exist.
func (s Settings) unknown(known map[string]bool) []error {
	var errs []error
	for _, l := range s.layers {
		for _, row := range l.rows {
			if !known[row.ID] && !row.badURL {
				errs = append(errs, fmt.Errorf(`%s: no plugin is called %q; a row that adds one needs "url"`, row.At[0], row.ID))
			}
		}
	}
	return errs
}
