package command

import (
	"path"
	"strings"
)

// harmlessKeys of git's configuration run nothing and lead nowhere.
var harmlessKeys = words("user.name user.email init.defaultbranch pull.rebase pull.ff push.default push.autosetupremote core.autocrlf core.filemode " +
	"core.quotepath core.ignorecase core.eol core.safecrlf commit.verbose rebase.autostash rebase.autosquash merge.ff merge.conflictstyle " +
	"diff.renames diff.algorithm diff.context log.date log.decorate status.short branch.sort tag.sort fetch.prune rerere.enabled advice.detachedhead " +
	"color.ui commit.gpgsign tag.gpgsign gc.auto core.abbrev column.ui diff.noprefix diff.mnemonicprefix core.symlinks core.longpaths")

func harmlessKey(key string) bool {
	key = strings.ToLower(key)
	return harmlessKeys()[key] || path.Dir(key) == "." && (strings.HasPrefix(key, "color.") || strings.HasPrefix(key, "advice."))
}

// configReads tells whether a call of git config only reads.
func (g *gitCall) configReads() bool {
	if g.has("e", "edit", "unset", "unset-all", "add", "replace-all", "rename-section", "remove-section", "file", "blob") {
		return false
	}
	args := g.operands("--type", "--default")
	if g.has("l", "list", "get", "get-all", "get-regexp", "get-urlmatch") {
		return true
	}
	return len(args) == 1 && strings.Contains(args[0].text, ".") || len(args) > 0 && (args[0].is("get") || args[0].is("list"))
}

func (g *gitCall) configWrites() {
	if g.plain && g.configReads() {
		return
	}
	args := g.operands("--type", "--default", "-f", "--file")
	if len(args) > 0 && (args[0].is("set") || args[0].is("unset")) {
		args = args[1:]
	}
	switch {
	case g.has("f", "global", "system", "file", "edit"), g.has("e"):
		g.finding("git config changes settings outside this repository or by hand")
	case g.configReads():
	case len(args) == 0 || !args[0].known || !harmlessKey(args[0].text):
		key := "a setting"
		if len(args) > 0 && args[0].known {
			key = args[0].text
		}
		g.finding("git config changes " + key + ", which may run a program or lead elsewhere")
	}
}
