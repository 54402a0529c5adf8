package command

import (
	"encoding/binary"
	"errors"
	"go/version"
	"io/fs"
	"path"
	"regexp"
	"slices"
	"strings"
	"sync"

	"starling/trust"
)

// git and go read what the workspace says before they do anything, and that may
// name programs. Plain forms of them are free where it names none.

const (
	diffOptions = "-pusaRwbzDW -MCB? -USGl= --cached --staged --stat? --numstat --shortstat --name-only --name-status --color? --no-color --word-diff? --word-diff-regex= --unified= " +
		"--patch --no-patch --raw --summary --minimal --patience --histogram --ignore-all-space --ignore-space-change --ignore-space-at-eol --ignore-blank-lines --no-renames " +
		"--find-renames? --find-copies? --diff-filter= --check --exit-code --quiet --merge-base --relative? --no-ext-diff --no-textconv --no-prefix --compact-summary --dirstat? " +
		"--function-context --text --full-index --binary --abbrev? --inter-hunk-context= --pickaxe-all --pickaxe-regex --color-moved? "
	logOptions = diffOptions + "-0123456789igFEcm -nL= --oneline --graph --all --decorate? --no-decorate --max-count= --skip= --since= --until= --after= --before= --author= --committer= " +
		"--grep= --all-match --invert-grep --regexp-ignore-case --merges --no-merges --first-parent --reverse --follow --date= --format= --pretty? --abbrev-commit --no-abbrev-commit " +
		"--branches? --tags? --remotes? --topo-order --date-order --cc --left-right --cherry-pick --no-walk? --full-history --left-only --right-only --boundary --relative-date --walk-reflogs --source"
)

// gitPlain are the options of subcommands that are free in a quiet repository.
var gitPlain = map[string]string{
	"status": "-sbzv -u? --short --branch --porcelain? --long --show-stash --untracked-files? --ignored? --ahead-behind --no-ahead-behind --renames --no-renames --null --column? --no-column",
	"diff":   diffOptions, "log": logOptions, "show": logOptions,
	"branch":    "-avrl --all --remotes --list --verbose --show-current --sort= --format= --contains? --merged? --no-merged? --no-color --color?",
	"rev-parse": "-q --show-toplevel --short? --abbrev-ref --verify --git-dir --show-prefix --show-cdup --is-inside-work-tree --symbolic-full-name --quiet --all --branches",
	"ls-files":  "-cdmosztuv -x= --cached --others --modified --deleted --stage --exclude-standard --full-name --error-unmatch --exclude= --directory",
	"blame":     "-lstfnewbpc -MC? -L= --line-porcelain --porcelain --show-email --date= --abbrev=",
	"remote":    "-v --verbose", "describe": "--tags --always --dirty? --long --abbrev? --all --match= --exclude=", "cat-file": "-ptse", "tag": "-l --list --sort=", "ls-tree": "-rtdlz --name-only --full-tree",
}

// quiet tells whether the call stays inside the workspace and git runs nothing
// else for it: what the person's own configuration names aside.
func (g *gitCall) quiet() bool {
	r := g.r
	options, ok := gitPlain[g.sub]
	if !ok || !g.plain || len(g.st.dirs()) == 0 || !r.ownEnvironment("GIT_", "GIT_TERMINAL_PROMPT") {
		return false
	}
	words := optionsOf(options, false).sorted(g.args[1:])
	if !words.ok || words.wide || slices.ContainsFunc(words.values, func(v value) bool { return !v.known }) {
		return false
	}
	for _, v := range g.args[1:] {
		if strings.Contains(v.text, "%G") || strings.Contains(v.text, "signature") {
			return false // it asks another program
		}
	}
	for _, v := range words.operands {
		at := r.places(g.st, v.text)
		if !v.known || len(at) == 0 || slices.ContainsFunc(at, func(abs string) bool { return !r.inside(abs) }) {
			return false
		}
	}
	for _, dir := range g.st.dirs() {
		top, ok := r.repository(r.at.Resolve(dir))
		if !ok || !r.calmRepository(top) {
			return false
		}
		r.touches(top)
	}
	return true
}

// ownEnvironment tells whether no variable with this prefix comes from the line,
// or leads to another place from where the line is given its variables.
func (r *reader) ownEnvironment(prefix string, but ...string) bool {
	if r.at.Env == nil || r.assigned["HOME"] || r.assigned["XDG_CONFIG_HOME"] || r.shadowed {
		return false
	}
	for name := range r.assigned {
		if strings.HasPrefix(name, prefix) && !slices.Contains(but, name) {
			return false
		}
	}
	for _, kv := range r.at.Env {
		name, _, _ := strings.Cut(kv, "=")
		if slices.Contains([]string{"GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE", "GIT_OBJECT_DIRECTORY", "GIT_ALTERNATE_OBJECT_DIRECTORIES", "GIT_COMMON_DIR"}, name) {
			return false
		}
	}
	return true
}

// repository is the top of the working tree that git finds from a folder, when it
// is an ordinary one inside the workspace.
func (r *reader) repository(dir string) (string, bool) {
	for ; r.inside(dir); dir = path.Dir(dir) {
		switch {
		case r.is(dir + "/.git/HEAD"):
			for _, name := range []string{"/.git", "/.git/config", "/.git/objects", "/.git/index"} {
				if r.at.Resolve(dir+name) != dir+name {
					return "", false
				}
			}
			return dir, true
		case !r.absent(dir + "/.git"), !r.absent(dir + "/HEAD"): // it is elsewhere, or this is one without files
			return "", false
		}
		if dir == "/" {
			break
		}
	}
	return "", false
}

func (r *reader) is(abs string) bool {
	_, err := r.at.ReadFile(abs)
	return err == nil
}

func (r *reader) absent(abs string) bool {
	_, err := r.at.ReadFile(abs)
	return errors.Is(err, fs.ErrNotExist)
}

// calmRepository tells whether nothing in a repository names a program or another
// place. Attributes only choose among the programs that its configuration names.
func (r *reader) calmRepository(top string) bool {
	config, err := r.at.ReadFile(top + "/.git/config")
	if err != nil || !calmConfig(string(config)) {
		return false
	}
	for _, name := range []string{"hooks/post-index-change", "objects/info/alternates", "commondir"} {
		if !r.absent(top + "/.git/" + name) {
			return false
		}
	}
	index, err := r.at.ReadFile(top + "/.git/index")
	return errors.Is(err, fs.ErrNotExist) || err == nil && noSubmodules(index)
}

// calmKeys are settings of a repository that name no program and lead nowhere.
var (
	calmKeys = words("core.repositoryformatversion core.filemode core.bare core.logallrefupdates core.ignorecase core.precomposeunicode core.autocrlf core.eol core.safecrlf " +
		"core.symlinks core.quotepath core.abbrev core.longpaths core.untrackedcache core.preloadindex core.whitespace remote.url remote.fetch remote.pushurl remote.prune remote.tagopt " +
		"branch.remote branch.merge branch.rebase branch.description branch.pushremote user.name user.email user.signingkey pull.rebase pull.ff push.default push.autosetupremote " +
		"init.defaultbranch commit.gpgsign tag.gpgsign merge.conflictstyle merge.ff rebase.autostash rebase.autosquash fetch.prune rerere.enabled gc.auto color.ui status.short " +
		"log.date log.decorate branch.sort tag.sort diff.renames diff.algorithm diff.context diff.noprefix diff.mnemonicprefix remote.pushdefault gui.wmstate gui.geometry")
	configSection = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`^\[[ \t]*([A-Za-z0-9.-]+)(?:[ \t]+"([^"\\]*)")?[ \t]*\]$`)
	})
	configKey = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^([A-Za-z][A-Za-z0-9-]*)[ \t]*(?:=.*)?$`) })
)

// calmConfig knows a configuration line by line; what it does not know is not calm.
func calmConfig(text string) bool {
	section := ""
	for _, line := range strings.Split(strings.ReplaceAll(text, "\r\n", "\n"), "\n") {
		line = strings.TrimSpace(line)
		if line == "" || line[0] == '#' || line[0] == ';' {
			continue
		}
		if m := configSection().FindStringSubmatch(line); m != nil {
			section = strings.ToLower(m[1])
			continue
		}
		m := configKey().FindStringSubmatch(line)
		if m == nil || strings.HasSuffix(line, `\`) || !calmKeys()[section+"."+strings.ToLower(m[1])] {
			return false
		}
		if _, value, _ := strings.Cut(line, "="); section == "core" && strings.EqualFold(m[1], "bare") && strings.TrimSpace(value) != "false" {
			return false
		}
	}
	return true
}

// noSubmodules tells whether an index surely holds none: git would look into them
// as into repositories of their own.
func noSubmodules(index []byte) bool {
	const head, entry = 12, 62
	if len(index) < head || string(index[:4]) != "DIRC" {
		return false
	}
	v, n := binary.BigEndian.Uint32(index[4:]), binary.BigEndian.Uint32(index[8:])
	if v != 2 && v != 3 {
		return false
	}
	at := index[head:]
	for range n {
		if len(at) < entry || binary.BigEndian.Uint32(at[24:])>>12 == 0o16 {
			return false
		}
		name := entry
		if binary.BigEndian.Uint16(at[60:])&0x4000 != 0 {
			if v == 2 {
				return false
			}
			name += 2
		}
		end := slices.Index(at[min(name, len(at)):], 0)
		if end < 0 {
			return false
		}
		size := (name+end)/8*8 + 8
		if size > len(at) {
			return false
		}
		at = at[size:]
	}
	return true
}

// goQuiet tells whether go says its version or its settings and no more: a module
// may ask for another toolchain, which go fetches and runs.
func (c *command) goQuiet() bool {
	r := c.r
	sub := c.args[1].text
	if sub != "version" && sub != "env" || sub == "version" && len(c.args) > 2 || !c.known || !r.ownEnvironment("GO") || len(c.st.dirs()) == 0 {
		return false
	}
	if slices.ContainsFunc(c.args[2:], func(v value) bool {
		return v.text != "-json" && strings.Trim(v.text, "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_") != ""
	}) {
		return false
	}
	local := r.goVersion()
	for _, dir := range c.st.dirs() {
		for dir = r.at.Resolve(dir); ; dir = path.Dir(dir) {
			for _, name := range []string{"/go.mod", "/go.work"} {
				text, err := r.at.ReadFile(dir + name)
				if err != nil && !errors.Is(err, fs.ErrNotExist) || err == nil && !r.goServes(local, string(text)) {
					return false
				}
			}
			if dir == "/" || dir == "." {
				break
			}
		}
	}
	return true
}

// goServes tells whether a go of this version needs no other for a module.
func (r *reader) goServes(local, module string) bool {
	for _, line := range strings.Split(module, "\n") {
		words := strings.Fields(line)
		if len(words) < 2 || words[0] != "go" && words[0] != "toolchain" || words[1] == "default" {
			continue
		}
		if want := "go" + strings.TrimPrefix(words[1], "go"); !version.IsValid(want) || local == "" || version.Compare(local, want) < 0 {
			return false
		}
	}
	return true
}

// goVersion is the version of the go that the line would run; "" when nobody can
// tell.
func (r *reader) goVersion() string {
	for _, kv := range r.at.Env {
		list, ok := strings.CutPrefix(kv, "PATH=")
		if !ok {
			continue
		}
		for _, dir := range strings.Split(list, ":") {
			if !path.IsAbs(dir) || r.inside(r.at.Resolve(dir)) {
				return ""
			}
			if names, err := r.content(dir); err != nil || !slices.Contains(names, "go") {
				continue
			}
			text, err := r.at.ReadFile(path.Dir(path.Dir(r.at.Resolve(dir+"/go"))) + "/VERSION")
			line, _, _ := strings.Cut(string(text), "\n")
			if line = strings.TrimSpace(line); err == nil && version.IsValid(line) {
				return line
			}
			return ""
		}
	}
	return ""
}

const maxRead = 16 << 20 // bytes of a file that the reader looks into

func readFile(abs string) ([]byte, error) { return trust.ReadRegular(abs, maxRead) }
