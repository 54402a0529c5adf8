package command

import (
	"path"
	"regexp"
	"slices"
	"strings"
	"sync"

	"starling/trust"
)

// Which words may name a file of keys. A reader whose words are all sorted says
// itself what it opens; of every other program each word counts.

var nothingOpened = words("cd pushd popd mkdir touch rm rmdir chmod chown unlink sudo doas env xargs timeout nohup nice time command builtin exec unset export")

// homeReaders read folders that they are given, but for the last operand of some.
var homeReaders = words("tar bsdtar zip 7z 7za rar rsync cp gcp scp restic borg docker podman")

// keyWords reports files of keys among the words.
func (c *command) keyWords(g *given) {
	spec := readers()[c.name]
	switch {
	case nothingOpened()[c.name], c.name == "find" || c.name == "gfind":
		return
	case spec.any && !c.ours(), c.reads && g != nil && g.ok && (spec.none || spec.names):
		return
	case c.reads && g != nil && g.ok:
		for _, v := range g.values {
			c.keyWord(v, nil)
		}
		for _, v := range slices.Concat(g.operands, g.paths) {
			if !v.known {
				c.keyOpen(v, nil)
			}
		}
		return
	}
	bases := c.bases()
	for i, v := range c.args[1:] {
		if !v.known {
			c.keyOpen(v, bases)
		}
		c.keyWord(v, bases)
		if homeReaders()[c.name] && v.known && !(i+2 == len(c.args) && len(c.args) > 2 && slices.Contains([]string{"rsync", "cp", "gcp", "scp"}, c.name)) && !c.args[i].is("-C") {
			c.wholeHome(v, bases)
		}
	}
}

// bases are the folders of options such as -C, which other words start from.
func (c *command) bases() []value {
	var out []value
	for i, v := range c.args[1:] {
		name, inline, has := strings.Cut(v.text, "=")
		switch {
		case slices.Contains([]string{"-C", "--directory", "--cwd", "--chdir", "--base-directory", "--work-tree", "--root"}, name):
			if has {
				out = append(out, literal(inline))
			} else if i+2 < len(c.args) {
				out = append(out, c.args[i+2])
			}
		case strings.HasPrefix(v.text, "-C") && v.known:
			out = append(out, literal(v.text[2:]))
		}
	}
	return out
}

// from are the places a text may stand for: below the folder, and below bases.
func (c *command) from(text string, bases []value) []string {
	if rest, ok := strings.CutPrefix(text, "~/"); ok && c.r.home() != "" {
		text = c.r.home() + "/" + rest
	}
	out := c.r.places(c.st, text)
	for _, base := range bases {
		if base.known && !strings.HasPrefix(text, "/") {
			out = append(out, c.r.places(c.st, base.text+"/"+text)...)
		}
	}
	return out
}

// keyWord reports a word that names a file of keys, whole or in a part of it.
func (c *command) keyWord(v value, bases []value) {
	if v.prefix == "" || len(v.prefix) > 4096 {
		return
	}
	for _, text := range c.pieces(v.prefix) {
		for _, abs := range c.from(text, bases) {
			if why := c.r.keys(abs); why != "" && v.known {
				c.r.find(Finding{Part: c.part, Why: "it names " + c.r.relative(abs) + ": " + why, Paths: []string{abs}})
				c.r.whole = false
				return
			}
			if !c.r.inside(abs) && c.keyFolder(abs) {
				return
			}
		}
	}
}

// pieces are the texts in a word that may be paths: behind =, @ and the like, behind
// the letter of an option, in front of a colon, and in code all that look so.
func (c *command) pieces(text string) []string {
	out := []string{strings.TrimPrefix(text, "file://")}
	if strings.ContainsAny(text, " \t\n\"'(") {
		if !interpreters()[c.name] && c.name != "sed" && c.name != "docker" && c.name != "podman" && c.name != "ssh" && c.name != "" {
			return out
		}
		for _, piece := range strings.FieldsFunc(text, func(r rune) bool { return strings.ContainsRune(" \t\n\"'()[]{};|<>&,`$=", r) }) {
			if strings.HasPrefix(piece, "/") || strings.HasPrefix(piece, "~/") {
				out = append(out, piece)
			}
		}
		return out
	}
	if strings.HasPrefix(text, "-") && len(text) > 2 && text[1] != '-' {
		out = append(out, text[2:])
		if i := strings.IndexAny(text, "/~"); i > 0 {
			out = append(out, text[i:])
		}
	}
	for _, piece := range strings.FieldsFunc(text, func(r rune) bool { return strings.ContainsRune("=,@<", r) }) {
		out = append(out, piece)
		if before, _, ok := strings.Cut(piece, ":"); ok && before != "" {
			out = append(out, before)
		}
		if _, after, ok := strings.Cut(piece, "file://"); ok {
			out = append(out, after)
		}
	}
	return out
}

// keyOpen reports a word that nobody knows exactly and that may name a file of
// keys: a pattern that matches one, a folder of keys in front, a name behind.
func (c *command) keyOpen(v value, bases []value) {
	r := c.r
	if v.glob {
		r.keyGlob(v, c.st, c.part)
		for _, base := range bases {
			if base.known && !strings.HasPrefix(v.text, "/") {
				r.keyPattern(base.text+"/"+v.text, c.st, c.part)
			}
		}
	}
	r.keyEnds(v, c.st, c.part)
}

// keyEnds looks at what is known of a word: its beginning and its end.
func (r *reader) keyEnds(v value, st *state, part int) {
	if v.guess {
		for _, abs := range r.places(st, v.prefix) {
			if why := r.keys(abs); why != "" {
				r.find(Finding{Part: part, Why: "it may name " + r.relative(abs) + ": " + why, Paths: []string{abs}})
				return
			}
		}
	}
	if i := strings.LastIndexByte(v.prefix, '/'); i >= 0 {
		for _, abs := range r.places(st, v.prefix[:i+1]) {
			if r.keysIn(abs, part) {
				return
			}
		}
	}
	if i := strings.IndexByte(v.suffix, '/'); i >= 0 && r.at.Home != "" {
		if why := r.keys(path.Clean(r.at.Home + v.suffix[i:])); why != "" {
			r.find(Finding{Part: part, Why: "it may name keys (" + clip(v.src) + "): " + why})
		}
	}
}

// keyGlob reports a pattern that may name keys.
func (r *reader) keyGlob(v value, st *state, part int) {
	if v.glob {
		r.keyPattern(v.text, st, part)
	}
}

func (r *reader) keyPattern(text string, st *state, part int) {
	patterns := []string{text}
	if !strings.HasPrefix(text, "/") {
		patterns = nil
		for _, dir := range st.dirs() {
			patterns = append(patterns, dir+"/"+text)
		}
	}
	dots := strings.Contains(r.out.Line, "dotglob") || strings.Contains(r.out.Line, "GLOBIGNORE")
	for _, p := range patterns {
		p = path.Clean(p)
		folder, name := path.Dir(p), path.Base(p)
		why := trust.CredentialPattern(r.folders, p, dots)
		if below(folder, r.at.Home) && !r.inside(folder) || why != "" {
			if hit, ok := r.keysListed(folder, name, dots); ok {
				why = hit
			}
		}
		if why != "" {
			r.find(Finding{Part: part, Why: "the pattern " + clip(text) + " may name keys: " + why})
			return
		}
	}
}

// keysListed looks among the files that match now; false when nobody can tell.
func (r *reader) keysListed(folder, name string, dots bool) (why string, ok bool) {
	if strings.ContainsAny(folder, "*?[") {
		return "", false
	}
	folder = r.at.Resolve(folder)
	names, ok := r.matches(glob{folder: folder, pattern: name})
	for _, one := range names {
		if !dots && one[0] == '.' && name[0] != '.' && name[0] != '[' {
			continue
		}
		if why := r.keys(r.at.Resolve(folder + "/" + one)); why != "" {
			return why, true
		}
	}
	return "", ok
}

// keyFolder reports a folder whose files are keys.
func (c *command) keyFolder(folder string) bool { return c.r.keysIn(folder, c.part) }

func (r *reader) keysIn(folder string, part int) bool {
	for _, name := range []string{"id_x", "credentials", "config", "private-keys-v1.d/x", "hosts.yml"} {
		if why := r.keys(folder + "/" + name); why != "" && !strings.HasPrefix(why, "it is a key file") {
			r.find(Finding{Part: part, Why: "it reads files of a folder that holds keys (" + r.relative(folder) + ")", Paths: []string{folder}})
			return true
		}
	}
	return false
}

// wholeHome reports the home, or what holds it, among what is packed or copied.
func (c *command) wholeHome(v value, bases []value) {
	for _, text := range c.pieces(v.text) {
		for _, abs := range c.from(text, bases) {
			if (strings.HasPrefix(text, "/") || strings.HasPrefix(text, "~") || strings.Contains(text, "..") || len(bases) > 0) && c.r.at.Home != "" && below(c.r.at.Home, abs) && !c.r.inside(abs) {
				c.r.find(Finding{Part: c.part, Why: "it reads everything in the home directory, keys among it", Paths: []string{abs}})
				return
			}
		}
	}
}

// searchKeys reports a search through the contents below a folder that keys lie in.
func (r *reader) searchKeys(abs string, part int) {
	switch {
	case r.inside(abs), r.keysIn(abs, part):
	case below(r.at.Home, abs):
		r.find(Finding{Part: part, Why: "it reads everything in the home directory, keys among it", Paths: []string{abs}})
	case trust.CredentialsBelow(r.folders, abs):
		r.find(Finding{Part: part, Why: "it reads everything in " + r.relative(abs) + ", keys among it", Paths: []string{abs}})
	}
}

// foundKeys reports what find hands to a program that opens it.
func (c *command) foundKeys(starts, tests []value, program string) {
	if !opens(program) {
		return
	}
	if where, why := c.mayFind(starts, tests); why != "" {
		c.r.find(Finding{Part: c.part, Why: "it hands on what it finds below " + c.r.relative(where) + ", and that may be keys: " + why, Paths: []string{where}})
	}
}

// opens tells whether a program may open the files it is given.
func opens(program string) bool {
	spec := readers()[program]
	return !nothingOpened()[program] && !spec.none && !spec.names
}

// mayFind says which keys find may come upon, and where.
func (c *command) mayFind(starts, tests []value) (where, why string) {
	name := "*"
	for i, v := range tests {
		if (v.is("-name") || v.is("-iname")) && i+1 < len(tests) && tests[i+1].known {
			name = tests[i+1].text
		}
		if v.is("-o") || v.is("-or") || v.is("!") || v.is("-not") {
			name = "*"
			break
		}
	}
	for _, v := range starts {
		for _, abs := range c.r.places(c.st, v.text) {
			if c.r.inside(abs) && !below(c.r.at.Home, abs) {
				continue
			}
			if why := trust.CredentialPattern(c.r.folders, abs+"/**/"+name, true); why != "" {
				return abs, why
			}
		}
	}
	return "", ""
}

// procRoot is another way to the root, procDir one to the folder.
var (
	procRoot = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`^/proc/(self|thread-self|\d+)(/task/\d+)?/root(/|$)`)
	})
	procDir = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^/proc/(self|thread-self|\d+)(/task/\d+)?/cwd(/|$)`) })
)

// straight takes the detours of /proc out of a path; false when nobody can tell
// where it leads.
func (st *state) straight(name string) (string, bool) {
	if !strings.Contains(name, "proc") {
		return name, true
	}
	at := name
	if !strings.HasPrefix(at, "/") {
		at = st.dir + "/" + at
	}
	for range 8 {
		parts := strings.FieldsFunc(at, func(c rune) bool { return c == '/' })
		parts = slices.DeleteFunc(parts, func(part string) bool { return part == "." })
		clean := "/" + strings.Join(parts, "/")
		if !strings.HasPrefix(clean, "/proc/") {
			if clean = path.Clean(clean); !strings.HasPrefix(clean, "/proc/") {
				return name, true
			}
		}
		if m := procRoot().FindString(clean); m != "" {
			at = "/" + clean[len(m):]
		} else if m := procDir().FindString(clean); m == "" {
			return name, true
		} else if st.dir == "" || len(st.also) > 0 || !strings.HasPrefix(m, "/proc/self") {
			return "", false
		} else {
			at = st.dir + "/" + clean[len(m):]
		}
		name = at
	}
	return "", false
}
