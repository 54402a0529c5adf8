package command

import (
	"slices"
	"strings"

	"starling/bus/spec"
)

// What git writes besides its repository and the files of its index, and which
// programs its options name.

// gitFiles are options of subcommands whose value is a file that is written.
var gitFiles = map[string]string{
	"archive": "-o --output", "diff": "--output", "log": "--output", "show": "--output", "diff-tree": "--output", "diff-index": "--output", "diff-files": "--output",
	"range-diff": "--output", "whatchanged": "--output", "stash": "--output", "format-patch": "--output", "reflog": "--output", "bugreport": "", "fast-export": "--export-marks",
	"fast-import": "--export-marks", "rev-list": "--output",
}

// gitFolders are those whose value is a folder that is written to.
var gitFolders = map[string]string{
	"format-patch": "-o --output-directory", "mailsplit": "-o", "clone": "--separate-git-dir", "init": "--separate-git-dir", "bugreport": "-o --output-directory", "diagnose": "-o --output-directory",
}

// gitPrograms are options of any subcommand whose value is a program or names one;
// those of one letter mean it in some.
var (
	gitPrograms     = strings.Fields("--upload-pack --receive-pack --exec --extcmd --template --open-files-in-pager --smtp-server --sendmail-cmd --to-cmd --cc-cmd --header-cmd --httpd --browser")
	gitProgramShort = map[string]string{"difftool": "x", "clone": "u", "grep": "O", "send-email": ""}
)

// files judges what a subcommand writes outside of what git looks after.
func (g *gitCall) files() {
	var files, folders []value
	add := func(list *[]value, names string) {
		for _, name := range strings.Fields(names) {
			v, ok := value{}, false
			if long, isLong := strings.CutPrefix(name, "--"); isLong {
				v, ok = g.valueBeginning(long)
			} else {
				v, ok = g.valueOf(name[1:])
			}
			if ok && !v.is("-") {
				*list = append(*list, v)
			}
		}
	}
	add(&files, gitFiles[g.sub])
	add(&folders, gitFolders[g.sub])
	args := g.operands("-b", "-B", "-o", "-c", "-u", "-j", "--branch", "--origin", "--config", "--depth", "--template", "--reference", "--jobs", "--upload-pack", "--separate-git-dir",
		"--filter", "--reason", "-m", "--name", "--initial-branch", "--shallow-since", "--orphan")
	switch g.sub {
	case "bundle":
		if len(args) > 1 && args[0].is("create") && !args[1].is("-") {
			files = append(files, args[1])
		}
	case "checkout-index":
		if v, ok := g.valueBeginning("prefix"); ok {
			g.writesBelow(value{known: v.known, text: v.text + "x", src: v.src, prefix: v.prefix})
		}
	case "clone":
		switch {
		case len(args) > 1:
			folders = append(folders, args[1])
		case len(args) == 1 && args[0].known:
			folders = append(folders, literal(strings.TrimSuffix(baseName(args[0].text), ".git")))
		}
	case "init":
		folders = append(folders, args...)
	case "worktree":
		if len(args) > 1 && (args[0].is("add") || args[0].is("move")) {
			folders = append(folders, args[min(len(args), map[string]int{"add": 1, "move": 2}[args[0].text]):][:1]...)
		}
	case "submodule":
		if slices.Contains([]string{"add", "set-url", "set-branch"}, g.first()) {
			g.writesBelow(literal(".gitmodules"))
		}
	case "mv", "rm":
		list := slices.Clone(args)
		if g.sub == "mv" && len(args) > 1 {
			for _, v := range args[:len(args)-1] {
				if last := args[len(args)-1]; v.known && last.known {
					list = append(list, literal(strings.TrimSuffix(last.text, "/")+"/"+baseName(v.text)))
				}
			}
		}
		for _, v := range list {
			g.writesBelow(v)
		}
	case "checkout", "restore":
		for _, v := range g.operands("-b", "-B", "--orphan", "-s", "--source", "--conflict", "--pathspec-from-file") {
			g.writesBelow(v)
		}
	case "remote":
		if slices.Contains([]string{"add", "set-url"}, g.first()) {
			g.finding("git remote " + g.first() + " changes where git fetches from and pushes to")
		}
	}
	if len(files) > 0 {
		if !g.how.floor {
			g.r.raise(g.part, spec.RiskChange, "it writes a file")
		}
		g.r.writes(files, g.st, g.part, true)
	}
	for _, v := range folders {
		g.writesBelow(v)
		if v.known {
			g.writesBelow(literal(strings.TrimSuffix(v.text, "/") + "/x"))
		}
	}
}

// writesBelow asks for a place of the floor.
func (g *gitCall) writesBelow(v value) {
	text := v.text
	if rest, ok := strings.CutPrefix(text, ":/"); ok {
		text = rest
	}
	if !v.known {
		for _, one := range globs(v, g.r.globFolder(v, g.st)) {
			g.r.floorOfGlobs([]glob{one}, g.part)
		}
		return
	}
	for _, abs := range g.r.places(g.st, text) {
		g.r.writeFloor(abs, g.part)
	}
}

// valueBeginning is the value of a long option, also where its name is cut short.
func (g *gitCall) valueBeginning(long string) (value, bool) {
	for i, v := range g.args[1:] {
		name, inline, has := strings.Cut(v.prefix, "=")
		rest, isLong := strings.CutPrefix(name, "--")
		if v.is("--") {
			break
		}
		if !isLong || len(rest) < 2 || !strings.HasPrefix(long, rest) {
			continue
		}
		if has {
			return tail(v, inline), true
		}
		if i+2 < len(g.args) {
			return g.args[i+2], true
		}
	}
	return value{}, false
}

// programs judges the options that name a program, and addresses that run one.
func (g *gitCall) programs() {
	for _, v := range g.args[1:] {
		name, _, _ := strings.Cut(v.prefix, "=")
		for _, option := range gitPrograms {
			if len(name) > 4 && strings.HasPrefix(option, name) && !(option == "--exec" && g.sub == "rebase") && !(g.sub == "commit" && option == "--template") {
				g.finding("git " + g.sub + " " + option + " names a program, or files that git runs")
			}
		}
		if i := strings.Index(v.prefix, "::"); i > 0 && !strings.HasPrefix(v.prefix, "-") && strings.Trim(v.prefix[:i], "abcdefghijklmnopqrstuvwxyz0123456789+-") == "" &&
			(gitNetwork()[g.sub] || g.sub == "remote" || g.sub == "submodule" || g.sub == "archive") {
			g.finding("git " + g.sub + " runs a program to reach " + clip(v.prefix))
		}
	}
	if letters := gitProgramShort[g.sub]; letters != "" && g.has(letters) {
		g.finding("git " + g.sub + " -" + letters + " names a program")
		if v, ok := g.valueOf(letters, "extcmd"); ok && g.sub == "difftool" {
			g.code(v, "git difftool")
		}
	}
	if v, ok := g.valueOf("", "extcmd"); ok {
		g.code(v, "git difftool")
	}
	if g.sub == "clone" {
		for i, v := range g.args[1:] {
			setting := ""
			switch {
			case (v.is("-c") || v.is("--config")) && i+2 < len(g.args):
				setting = g.args[i+2].text
			case strings.HasPrefix(v.text, "--config="):
				setting = v.text[len("--config="):]
			case strings.HasPrefix(v.text, "-c") && len(v.text) > 2:
				setting = v.text[2:]
			default:
				continue
			}
			if key, _, _ := strings.Cut(setting, "="); !harmlessKey(key) {
				g.finding("git clone -c " + key + " may run a program or change where git looks")
			}
		}
	}
	if strings.HasPrefix(g.sub, "remote-") {
		g.finding("git " + g.sub + " runs a program to reach another repository")
	}
}
