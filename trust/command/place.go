package command

import (
	"path/filepath"
	"slices"
	"strings"

	"starling/trust"
)

// follow is trust.Follow for paths that need not be found: what cannot be looked
// up cannot be reached by the line either.
func follow(abs string) string {
	at, _ := trust.Follow(abs)
	return at
}

// places are the absolute paths, links followed, that a word may stand for: one
// for each folder the command may run in; nil when nobody can tell.
func (r *reader) places(st *state, name string) []string {
	return r.placesOf(st, name, true)
}

// names is places without following a link in the last part: what a removal is
// about.
func (r *reader) names(st *state, name string) []string {
	return r.placesOf(st, name, false)
}

func (r *reader) placesOf(st *state, name string, last bool) []string {
	name, ok := st.straight(name)
	if !ok || name == "" || strings.IndexByte(name, 0) >= 0 {
		return nil
	}
	if strings.HasPrefix(name, "/") {
		if r.throughLink(name) {
			return nil
		}
		return []string{r.resolve(name, last)}
	}
	var out []string
	for _, dir := range st.dirs() {
		if r.throughLink(dir + "/" + name) {
			return nil
		}
		p := r.resolve(dir+"/"+name, last)
		if !slices.Contains(out, p) {
			out = append(out, p)
		}
	}
	return out
}

// throughLink tells whether a path leads through a link that the line makes
// before: nothing can be looked up there yet.
func (r *reader) throughLink(abs string) bool {
	if len(r.linked) == 0 {
		return false
	}
	for i, c := range abs + "/" {
		if c == '/' && i > 0 && slices.Contains(r.linked, r.resolve(abs[:i], false)) {
			return true
		}
	}
	return false
}

func (r *reader) resolve(abs string, last bool) string {
	base := filepath.Base(abs)
	if last || strings.HasSuffix(abs, "/") || base == "." || base == ".." {
		return r.at.Resolve(abs)
	}
	return filepath.Join(r.at.Resolve(abs[:strings.LastIndexByte(abs, '/')+1]), base)
}

// below tells whether abs is dir or inside it.
func below(abs, dir string) bool {
	return dir != "" && (abs == dir || strings.HasPrefix(abs, strings.TrimSuffix(dir, "/")+"/"))
}

// inside tells whether abs is in the workspace or a folder beside it.
func (r *reader) inside(abs string) bool {
	return below(abs, r.at.Workspace) || slices.ContainsFunc(r.at.Extra, func(dir string) bool { return below(abs, dir) })
}

// above says which folder a removal of abs would take with it; "" for none.
func (r *reader) above(abs string) string {
	for _, dir := range append([]string{r.at.Workspace}, r.at.Extra...) {
		if below(dir, abs) {
			if dir == abs {
				return "the workspace itself"
			}
			return "a folder that holds the workspace"
		}
	}
	if below(r.at.Home, abs) {
		return "the home directory"
	}
	if below(r.at.StateHome, abs) {
		return "starling's own folder"
	}
	return ""
}

// temporary folders may be emptied.
var temporary = []string{"/tmp", "/var/tmp", "/private/tmp", "/private/var/folders", "/var/folders", "/dev/shm", "/run/user"}

// systemTop are folders of the system by the first part of a path.
var systemTop = map[string]bool{
	"etc": true, "usr": true, "bin": true, "sbin": true, "lib": true, "lib32": true, "lib64": true, "libx32": true, "boot": true,
	"dev": true, "proc": true, "sys": true, "var": true, "opt": true, "root": true, "home": true, "Users": true, "srv": true,
	"run": true, "Library": true, "System": true, "Applications": true, "private": true, "Volumes": true, "snap": true, "nix": true,
	"mnt": true, "media": true, "cores": true, "lost+found": true,
}

// precious says why nothing may be removed by force there; "" when it may.
func (r *reader) precious(abs string) string {
	if why := r.above(abs); why != "" {
		return why
	}
	if r.inside(abs) {
		return ""
	}
	for _, dir := range temporary {
		if below(abs, dir) && abs != dir {
			return ""
		}
	}
	if below(abs, r.at.Home) {
		return "a path in the home directory"
	}
	top, rest, _ := strings.Cut(strings.TrimPrefix(abs, "/"), "/")
	if systemTop[top] || rest == "" {
		return "a path of the system"
	}
	return ""
}

// device says what a path below /dev is: "" for what is harmless to read and
// write, else words.
func device(abs string) string {
	rest, ok := strings.CutPrefix(abs, "/dev/")
	if !ok {
		return ""
	}
	switch rest {
	case "null", "zero", "full", "tty", "stdin", "stdout", "stderr", "random", "urandom", "ptmx":
		return ""
	}
	for _, dir := range []string{"fd/", "pts/", "shm/", "tcp/", "udp/"} {
		if strings.HasPrefix(rest, dir) {
			return ""
		}
	}
	return "a device (" + abs + ")"
}

// relative is how Reading.Paths names a place.
func (r *reader) relative(abs string) string {
	if abs == r.at.Workspace {
		return "."
	}
	if below(abs, r.at.Workspace) {
		return strings.TrimPrefix(abs, strings.TrimSuffix(r.at.Workspace, "/")+"/")
	}
	return abs
}
