package discover

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"sort"
	"strings"

	"starling/bus"
	"starling/script"
	"starling/trust"
)

// Origin says by which route a file was found.
type Origin string

// The routes, weakest first: a later one hides an earlier one of the same name.
const (
	Home      Origin = "home"
	Workspace Origin = "workspace"
	Flag      Origin = "flag"
)

// File is one plugin found.
type File struct {
	Name   string
	Path   string // of the file to load
	Real   string // Path with links resolved: the identity of the plugin
	Dir    string // of a directory plugin; empty for a single file
	Origin Origin
	Index  int // of the --plugin argument
	// Off is why the file must not run, such as "not approved".
	Off string
	// Err is why the file cannot be loaded at all.
	Err error
	// Hides is the path of a weaker file of the same name that this one keeps
	// from running, or would if it were approved.
	Hides string
}

// Position of the file in the static order.
func (f File) Position() bus.Position {
	switch f.Origin {
	case Home:
		return bus.At(bus.ClassHome, 0, f.Name)
	case Workspace:
		return bus.At(bus.ClassWorkspace, 0, f.Name)
	}
	return bus.At(bus.ClassFlag, f.Index, f.Name)
}

// Options of Find.
type Options struct {
	Home      string   // starling's home folder; "" for none
	Workspace string   // the workspace folder
	Cwd       string   // what relative Flags start from
	Flags     []string // paths of --plugin, in argument order
	// Discover is false with --no-plugins: only Flags count.
	Discover bool
	// Approved tells whether a workspace file may run; nil approves none.
	Approved func(File) bool
}

// Found is what Find found.
type Found struct {
	Files   []File   // in static order
	Notices []string // for the person: duplicates and the like

	said []string // of them, those that are not about files that are one
	ones []oneFile
}

// oneFile is a plugin that was found by more than one route.
type oneFile struct {
	kept  File
	paths []string // of all routes, each once, in the order they were found
	names []string // of the others, where they differ
}

// NotApproved is the Off reason of a workspace file nobody approved.
const NotApproved = "not approved"

// Find lists every plugin. A plugins folder of the home that cannot be listed is
// an error, one of a workspace a notice: a clone cannot stop a run. A file that
// cannot count is in the list with its reason.
func Find(o Options) (Found, error) {
	var found Found
	if o.Discover {
		for _, r := range []struct {
			origin Origin
			root   string
		}{{Home, o.Home}, {Workspace, dotFolder(o.Workspace)}} {
			if r.root == "" || r.origin == Workspace && samePath(r.root, o.Home) {
				continue
			}
			dir := filepath.Join(r.root, "plugins")
			files, err := scan(dir, r.origin)
			switch {
			case err == nil:
			case r.origin == Workspace:
				found.said = append(found.said, fmt.Sprintf("plugins folder %s: %v; nothing of it counts", dir, err))
			default:
				return Found{}, fmt.Errorf("plugins folder %s: %w; mend it, or start with --no-plugins", dir, err)
			}
			found.Files = append(found.Files, files...)
		}
	}
	for i, path := range o.Flags {
		found.Files = append(found.Files, flagged(path, o.Cwd, i))
	}
	found.onceEach()
	found.tell()
	found.approve(o.Approved)
	found.shadow()
	sort.SliceStable(found.Files, func(i, j int) bool { return found.Files[i].Position() < found.Files[j].Position() })
	return found, nil
}

func dotFolder(workspace string) string {
	if workspace == "" {
		return ""
	}
	return filepath.Join(workspace, ".starling")
}

// samePath tells whether two paths lead to one folder. Each start asks, most often
// about a folder that is not there: links are only followed when both are.
func samePath(a, b string) bool {
	if a == "" || b == "" {
		return false
	}
	if _, err := os.Stat(a); err != nil {
		return absolute(a) == absolute(b)
	}
	return resolve(a) == resolve(b)
}

// absolute is path as it is when it cannot be made absolute.
func absolute(path string) string {
	if abs, err := filepath.Abs(path); err == nil {
		return abs
	}
	return path
}

func resolve(path string) string {
	path = absolute(path)
	if real, err := filepath.EvalSymlinks(path); err == nil {
		return real
	}
	return path
}

// cause is the error without the path, which the caller names.
func cause(err error) error {
	var at *fs.PathError
	if errors.As(err, &at) {
		return at.Err
	}
	return err
}

// scan lists the plugins of one folder: NAME.star and NAME/main.star.
func scan(dir string, origin Origin) ([]File, error) {
	entries, err := os.ReadDir(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, cause(err)
	}
	var files []File
	byName := map[string]int{}
	for _, e := range entries {
		f, ok := entryFile(dir, e)
		if !ok {
			continue
		}
		f.Origin = origin
		f.Real = resolve(f.Path)
		f.Err = checkName(f.Name)
		if f.Err == nil {
			f.Err = checkSource(f.Path)
		}
		if i, twice := byName[f.Name]; twice {
			files[i].Err = fmt.Errorf("both %s and %s are plugin %s; remove one of them", files[i].Path, f.Path, f.Name)
			continue
		}
		byName[f.Name] = len(files)
		files = append(files, f)
	}
	return files, nil
}

func entryFile(dir string, e fs.DirEntry) (File, bool) {
	name, path := e.Name(), filepath.Join(dir, e.Name())
	if strings.HasPrefix(name, ".") {
		return File{}, false
	}
	if info, err := os.Stat(path); err == nil && info.IsDir() {
		main := filepath.Join(path, "main.star")
		// One that cannot be looked at is listed with its fault: it may have been a
		// plugin.
		_, named := os.Lstat(main)
		if info, err := os.Stat(main); errors.Is(named, fs.ErrNotExist) || err == nil && info.IsDir() {
			return File{}, false
		}
		return File{Name: name, Path: main, Dir: path}, true
	}
	if !strings.HasSuffix(name, ".star") || strings.HasSuffix(name, "_test.star") {
		return File{}, false
	}
	return File{Name: strings.TrimSuffix(name, ".star"), Path: path}, true
}

// flagged makes the file of one --plugin argument.
func flagged(path, cwd string, index int) File {
	if !filepath.IsAbs(path) {
		path = filepath.Join(cwd, path)
	}
	path = filepath.Clean(path)
	f := File{Origin: Flag, Index: index, Path: path}
	info, err := os.Stat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		f.Name = stem(path)
		f.Err = fmt.Errorf("--plugin: there is no file %s", path)
	case err != nil:
		f.Name = stem(path)
		f.Err = fmt.Errorf("--plugin: %w", err)
	case info.IsDir():
		f.Name, f.Dir, f.Path = filepath.Base(path), path, filepath.Join(path, "main.star")
		if _, err := os.Stat(f.Path); err != nil {
			f.Err = fmt.Errorf("--plugin: folder %s holds no main.star", path)
		}
	case filepath.Base(path) == "main.star":
		f.Dir = filepath.Dir(path)
		f.Name = filepath.Base(f.Dir)
	default:
		f.Name = stem(path)
		if !strings.HasSuffix(path, ".star") {
			f.Err = fmt.Errorf("--plugin: %s is no .star file", path)
		}
	}
	f.Real = resolve(f.Path)
	if f.Err == nil {
		f.Err = checkName(f.Name)
	}
	if f.Err == nil {
		f.Err = checkSource(f.Path)
	}
	return f
}

// checkSource refuses what cannot be a source file. Reading a pipe or a device,
// to which a link in a checkout may lead, would never end.
func checkSource(path string) error {
	info, err := os.Stat(path)
	switch {
	case err != nil:
		return err
	case !info.Mode().IsRegular():
		return fmt.Errorf("%s is no regular file", path)
	case info.Size() > SourceLimit:
		return fmt.Errorf("%s has more than %d MiB", path, SourceLimit>>20)
	}
	return nil
}

func stem(path string) string { return strings.TrimSuffix(filepath.Base(path), ".star") }

func checkName(name string) error { return script.CheckName(name) }

// onceEach keeps one file per real path: the strongest a person named (a flag),
// else the home's, which is trusted, before the workspace's.
func (f *Found) onceEach() {
	rank := map[Origin]int{Flag: 2, Home: 1, Workspace: 0}
	best := map[string]int{}
	drop := map[int]bool{}
	for i, file := range f.Files {
		j, twice := best[file.Real]
		if !twice {
			best[file.Real] = i
			continue
		}
		keep, lose := j, i
		if rank[file.Origin] > rank[f.Files[j].Origin] {
			keep, lose = i, j
		}
		best[file.Real] = keep
		drop[lose] = true
		f.merge(f.Files[j], file, f.Files[keep])
	}
	f.remove(drop)
}

// merge notes that first and then were found to be one file, which is kept as
// kept.
func (f *Found) merge(first, then, kept File) {
	i := slices.IndexFunc(f.ones, func(o oneFile) bool { return o.kept.Real == kept.Real })
	if i < 0 {
		i = len(f.ones)
		f.ones = append(f.ones, oneFile{})
	}
	o := &f.ones[i]
	o.kept = kept
	for _, file := range []File{first, then} {
		if !slices.Contains(o.paths, file.Path) {
			o.paths = append(o.paths, file.Path)
		}
		if !slices.Contains(o.names, file.Name) {
			o.names = append(o.names, file.Name)
		}
	}
}

// tell puts one notice for each plugin that was found more than once.
func (f *Found) tell() {
	f.Notices = append([]string(nil), f.said...)
	for _, o := range f.ones {
		f.Notices = append(f.Notices, o.String())
	}
}

func (o oneFile) String() string {
	once := "it is loaded once, as " + string(o.kept.Origin)
	if len(o.names) > 1 {
		once += " plugin " + o.kept.Name
	}
	if len(o.paths) == 1 {
		return fmt.Sprintf("%s was found more than once, as plugin %s; %s", o.paths[0], strings.Join(o.names, " and "), once)
	}
	last := len(o.paths) - 1
	return fmt.Sprintf("plugin %s: %s and %s are one file; %s", o.kept.Name, strings.Join(o.paths[:last], ", "), o.paths[last], once)
}

func (f *Found) remove(drop map[int]bool) {
	kept := f.Files[:0]
	for i, file := range f.Files {
		if !drop[i] {
			kept = append(kept, file)
		}
	}
	f.Files = kept
}

func (f *Found) approve(approved func(File) bool) {
	for i := range f.Files {
		file := &f.Files[i]
		if file.Origin == Workspace && file.Off == "" && (approved == nil || !approved(*file)) {
			file.Off = NotApproved
		}
	}
}

// shadow lets a later route hide an earlier one of the same name. A file that
// must not or cannot run hides nothing: a checkout cannot switch off a home plugin by
// taking its name.
func (f *Found) shadow() {
	drop := map[int]bool{}
	last := map[string]int{}
	for i := range f.Files {
		file := &f.Files[i]
		j, twice := last[file.Name]
		if !twice {
			last[file.Name] = i
			continue
		}
		earlier := &f.Files[j]
		if file.Origin == Flag && earlier.Origin == Flag {
			file.Err = fmt.Errorf("--plugin: %s and %s are both named %s; rename one of them", earlier.Path, file.Path, file.Name)
			continue
		}
		file.Hides = earlier.Path
		if file.Off == "" && file.Err == nil {
			drop[j] = true
			last[file.Name] = i
		}
	}
	f.remove(drop)
}

// ReadSource returns the bytes of the file of a plugin: of a regular file of at
// most 1 MiB, and of nothing else.
func ReadSource(path string) ([]byte, error) { return trust.ReadRegular(path, SourceLimit) }
