package command

import (
	"slices"
	"strings"
	"sync"
)

// reading notes the files a reading command is given, and whether it is so
// harmless that it needs no rule.
func (c *command) reading() {
	r := c.r
	if c.name == "git" || c.name == "go" || toolchain()[c.name] && readers()[c.name] == (readSpec{}) {
		r.whole = false
		return
	}
	spec := readers()[c.name]
	if spec.none {
		if c.name == "lsof" || c.name == "realpath" || c.name == "readlink" {
			return
		}
		c.setFree(filters()[c.name].none && c.filter(nil))
		return
	}
	files := c.files()
	inside := true
	for _, v := range files {
		if v.is("-") {
			continue
		}
		at := r.touch(v, c.st)
		if at == nil {
			c.readGlob(v)
		}
		inside = inside && len(at) == 1
		for _, abs := range at {
			inside = inside && r.inside(abs)
			if c.name != "ls" && c.name != "stat" && c.name != "du" && c.name != "df" && c.name != "dir" {
				r.readFloor(abs, c.part)
				c.readTree(abs)
			}
		}
	}
	if len(files) == 0 && (spec.tree && c.descends() || c.name == "ls" || c.name == "du" || c.name == "dir") {
		r.touch(literal("."), c.st)
	}
	if f, ok := filters()[c.name]; ok && !f.none {
		c.setFree(inside && c.filter(files))
	}
}

func (c *command) setFree(free bool) {
	if c.how.floor || c.part < 0 || !free || c.ours() {
		return
	}
	c.r.out.Parts[c.part].Free = true
}

// descends tells whether a search goes below folders.
func (c *command) descends() bool {
	return !strings.HasSuffix(c.name, "grep") || c.has("rR", "recursive", "dereference-recursive")
}

// readTree: a search below a folder reads the keys that are in it.
func (c *command) readTree(abs string) {
	if readers()[c.name].tree && c.descends() && c.name != "tree" && c.name != "fd" && c.keyFolder(abs) {
		return
	}
	if readers()[c.name].tree && c.descends() && c.name != "tree" && c.name != "fd" && below(c.r.at.Home, abs) && !c.r.inside(abs) {
		c.r.find(Finding{Part: c.part, Why: "it reads everything in the home directory, keys among it", Paths: []string{abs}})
	}
}

// readGlob: a pattern in a folder of keys names keys.
func (c *command) readGlob(v value) {
	r := c.r
	for _, folder := range r.globFolder(v, c.st) {
		if c.name != "ls" && c.name != "stat" && c.keyFolder(folder) {
			return
		}
	}
}

// keyFolder reports a folder whose files are keys.
func (c *command) keyFolder(folder string) bool {
	for _, name := range []string{"id_x", "credentials", "config", "private-keys-v1.d/x", "hosts.yml"} {
		if why := c.r.keys(folder + "/" + name); why != "" && !strings.HasPrefix(why, "it is a key file") {
			c.r.find(Finding{Part: c.part, Why: "it reads files of a folder that holds keys (" + c.r.relative(folder) + ")", Paths: []string{folder}})
			return true
		}
	}
	return false
}

// files are the operands that are files.
func (c *command) files() []value {
	switch c.name {
	case "grep", "egrep", "fgrep", "rg", "fd", "jq", "sed", "gsed", "awk", "gawk", "mawk", "look":
		skip := []string{"-e", "-f", "-A", "-B", "-C", "-m", "-g", "-t", "-T", "-F", "-v", "--glob", "--type", "-E", "--exclude"}
		if c.name == "grep" || c.name == "egrep" || c.name == "fgrep" {
			skip = []string{"-e", "-f", "-A", "-B", "-C", "-m"}
		} else if c.name == "jq" {
			skip = nil
		}
		args := c.operands(skip...)
		if f, ok := c.valueOf("f", "file", "from-file"); ok && c.name != "fd" {
			return append(args, f)
		}
		if c.name != "sed" && strings.HasSuffix(c.name, "grep") && c.has("e", "regexp") || c.name == "rg" && c.has("e", "regexp", "files") {
			return args
		}
		if len(args) > 0 {
			args = args[1:]
		}
		return args
	case "head", "tail":
		return c.operands("-n", "-c", "--lines", "--bytes")
	case "cut":
		return c.operands("-d", "-f", "-c", "-b", "--delimiter", "--fields")
	case "sort":
		return c.operands("-k", "-t", "--key", "--field-separator")
	case "stat":
		return c.operands("-c", "-f", "--format", "--printf")
	case "tree":
		return c.operands("-L", "-I", "-P")
	case "du":
		return c.operands("-d", "--max-depth")
	case "uniq":
		return c.operands("-f", "-s", "-w")
	case "nl", "column", "fold", "paste", "od", "xxd", "hexdump":
		return c.operands("-b", "-d", "-f", "-h", "-i", "-l", "-n", "-s", "-v", "-w", "-c", "-o", "-t", "-N", "-j", "-A", "-g")
	}
	return c.operands()
}

// filter options: letters without and with a value. An option that is not listed
// makes a program no filter.
type filterSpec struct {
	letters, valued string
	longs           string
	none            bool // it reads no files
	any             bool // whatever it is given
}

var filters = sync.OnceValue(func() map[string]filterSpec {
	return map[string]filterSpec{
		"cat": {letters: "AbeEnstTuv"}, "head": {letters: "qvz0123456789", valued: "nc", longs: "lines bytes quiet"},
		"tail": {letters: "qvzr0123456789", valued: "nc", longs: "lines bytes quiet"}, "wc": {letters: "clmwL", longs: "lines words bytes chars"},
		"sort": {letters: "bdfghiMnRrVsuzcCm", valued: "kt", longs: "reverse unique numeric-sort key field-separator"},
		"uniq": {letters: "cdDiuz", valued: "fsw", longs: "count repeated unique"}, "cut": {letters: "szn", valued: "bcdf", longs: "delimiter fields"},
		"tr": {letters: "cCdst", none: true}, "nl": {letters: "p", valued: "bdfhilnsvw"}, "rev": {}, "tac": {letters: "br", valued: "s"},
		"column": {letters: "txen", valued: "sco"}, "paste": {letters: "sz", valued: "d"}, "fold": {letters: "bs", valued: "w"},
		"expand": {valued: "t"}, "comm": {letters: "123i"}, "cmp": {letters: "sl"},
		"grep":  {letters: "acEFGhHiIlLnoPqrsvVwxyzZbT0123456789", valued: "ABCme", longs: "include exclude exclude-dir color line-number ignore-case count recursive"},
		"egrep": {letters: "achHiIlLnoqrsvwx", valued: "ABCme"}, "fgrep": {letters: "achHiIlLnoqrsvwx", valued: "ABCme"},
		"true": {none: true, any: true}, "false": {none: true, any: true}, "echo": {none: true, any: true}, "printf": {none: true, any: true},
		"test": {none: true, any: true}, "[": {none: true, any: true}, "basename": {none: true, letters: "az", valued: "s"}, "dirname": {none: true, letters: "z"},
		"pwd": {none: true, letters: "LP"}, "date": {none: true, letters: "uRI", valued: "d", longs: "utc iso-8601 date rfc-3339"},
		"seq": {none: true, letters: "w", valued: "sf"}, "sleep": {none: true}, "whoami": {none: true}, "uname": {none: true, letters: "asnrvmpio"},
		"nproc": {none: true}, "expr": {none: true, any: true},
	}
})

// filter tells whether every option is one of the listed, and every word known.
func (c *command) filter(files []value) bool {
	f := filters()[c.name]
	if f.any {
		return true
	}
	for _, v := range files {
		if !v.known {
			return false
		}
	}
	longs := strings.Fields(f.longs)
	for i := 1; i < len(c.args); i++ {
		v := c.args[i]
		switch {
		case v.is("--"):
			return c.known
		case !v.known:
			if v.many || v.maybeOption() {
				return false
			}
		case strings.HasPrefix(v.text, "--"):
			name, _, _ := strings.Cut(v.text[2:], "=")
			if !slices.Contains(longs, name) {
				return false
			}
		case strings.HasPrefix(v.text, "-") && v.text != "-":
			rest := v.text[1:]
			j := strings.IndexAny(rest, f.valued)
			if j >= 0 && f.valued != "" {
				if j == len(rest)-1 {
					i++
				}
				rest = rest[:j]
			}
			if strings.Trim(rest, f.letters) != "" {
				return false
			}
		}
	}
	return true
}

// mentioned judges the words of a program nobody knows: a file of the floor
// among them may be written, and a command among them may be run.
func (c *command) mentioned() {
	r := c.r
	if c.how.floor {
		return
	}
	guesses := 0
	for i, v := range c.args[1:] {
		if !v.known || v.text == "" || strings.HasPrefix(v.text, "-") && !strings.Contains(v.text, "=") {
			continue
		}
		if alsoRuns()[baseName(v.text)] && i+2 < len(c.args) && guesses < maxGuesses {
			guesses++
			r.guess(c.child(), c.args[i+1:], c.part)
		}
		text := v.text
		if _, after, ok := strings.Cut(text, "="); ok {
			text = after
		}
		if strings.ContainsAny(text, " \n:*?") {
			continue
		}
		for _, abs := range r.places(c.st, text) {
			if why := r.floorPath(abs); why != "" && !strings.HasPrefix(why, "it belongs to the system") {
				r.find(Finding{Part: c.part, Why: "it may write " + r.relative(abs) + ": " + why, Paths: []string{abs}})
			}
		}
	}
}

// guess judges words as a command for the floor alone: what it may discard in
// the workspace is not sure enough to be told.
func (r *reader) guess(st *state, args []value, part int) {
	was := r.guessing
	r.guessing = true
	r.run(st, args, argv{floor: true, part: part})
	r.guessing = was
}

// maxGuesses are the words of one program that are tried as the name of another.
const maxGuesses = 6

// alsoRuns are programs that are looked for among the words of others.
var alsoRuns = words("rm shred dd find sh bash mkfs git")

// credentials: a file of keys among the words of a program that opens its files.
func (c *command) credentials() {
	if readers()[c.name].none || nothingOpened()[c.name] {
		return
	}
	if _, ok := readers()[c.name]; ok && c.name != "" && !c.ours() {
		return // reading names its files
	}
	for _, v := range c.args[1:] {
		text := v.prefix
		if !v.known || text == "" {
			if v.glob {
				c.readGlob(v)
			}
			continue
		}
		for _, cut := range []string{"=", "@", "<", "file://"} {
			if _, after, ok := strings.Cut(text, cut); ok && after != "" {
				c.credential(after)
			}
		}
		c.credential(strings.TrimPrefix(text, "-"))
	}
}

var nothingOpened = words("ls stat dir du df cd pushd echo printf mkdir touch rm rmdir chmod chown unlink git env sudo xargs timeout nohup nice time command exec builtin")

func (c *command) credential(text string) {
	r := c.r
	if strings.ContainsAny(text, "\n") || len(text) > 4096 {
		return
	}
	if rest, ok := strings.CutPrefix(text, "~/"); ok && r.home() != "" {
		text = r.home() + "/" + rest
	}
	for _, abs := range r.places(c.st, text) {
		if why := r.keys(abs); why != "" {
			r.find(Finding{Part: c.part, Why: "it names " + r.relative(abs) + ": " + why, Paths: []string{abs}})
			r.whole = false
			return
		}
		if !r.inside(abs) {
			c.keyFolder(abs)
		}
	}
}
