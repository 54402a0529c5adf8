package trust

import (
	"errors"
	"fmt"
	"path"
	"strings"
)

// NeedsError is the refusal of something no word allows. It names the narrowest
// word that would.
type NeedsError struct{ Word string }

func (e *NeedsError) Error() string { return fmt.Sprintf("needs %q in uses", e.Word) }

// needs names the word of that kind and scope; without the scope where such a
// word could not be written.
func needs(k Kind, scope string) error {
	if scope != "" && !k.takes(scope) {
		scope = ""
	}
	return &NeedsError{Word: Word{Kind: k, Scope: scope}.String()}
}

// Folders are where the scopes of a path word start. Both are absolute; where
// checked paths have their links resolved, so must these.
type Folders struct {
	Workspace string
	Home      string // of the person, what "~/" stands for; "" for none
}

// Abs returns the absolute form of a path a plugin named: relative to the
// workspace, "~/" in the home, or absolute. It is cleaned as text; links are
// the caller's.
func (f Folders) Abs(name string) (string, error) {
	switch {
	case name == "":
		return "", errors.New("path is empty: name a file")
	case strings.IndexByte(name, 0) >= 0:
		return "", fmt.Errorf("path %q holds a zero byte", name)
	case name == "~" || strings.HasPrefix(name, "~/"):
		if f.Home == "" {
			return "", fmt.Errorf("path %q: there is no home folder", name)
		}
		return path.Join(f.Home, name[1:]), nil
	case strings.HasPrefix(name, "/"):
		return path.Clean(name), nil
	}
	return path.Join(f.Workspace, name), nil
}

// AllowsRead tells whether a file may be read or a folder listed; the error
// names the word to add. It judges names: the caller resolves links first, or
// opens below Word.Root, so that no link leads from an allowed name to another.
func (w Words) AllowsRead(at Folders, name string) error { return w.allowsPath(FSRead, at, name) }

// AllowsWrite tells whether a file may be written or removed, as AllowsRead.
func (w Words) AllowsWrite(at Folders, name string) error { return w.allowsPath(FSWrite, at, name) }

func (w Words) allowsPath(k Kind, at Folders, name string) error {
	abs, err := at.Abs(name)
	if err != nil {
		return err
	}
	for _, word := range w {
		if word.Kind == k && word.coversPath(at, abs) {
			return nil
		}
	}
	return needs(k, at.namedScope(k, abs))
}

// namedScope is the narrowest scope a word of that kind can name abs with:
// itself or, where its name cannot be written, a folder around it.
func (f Folders) namedScope(k Kind, abs string) string {
	scope := f.scopeOf(abs)
	for scope != "" && !k.takes(scope) && abs != "/" {
		abs = path.Dir(abs)
		scope = f.folderScope(abs)
	}
	return scope
}

func (k Kind) takes(scope string) bool {
	_, err := ParseWord(Word{Kind: k, Scope: scope}.String())
	return err == nil
}

func (w Word) coversPath(at Folders, abs string) bool {
	base, glob, ok := w.start(at)
	if !ok {
		return false
	}
	rest, inside := pathBelow(abs, base)
	switch {
	case !inside:
		return false
	case glob == "":
		return true
	case matchPath(glob, rest):
		return true
	case w.Kind != FSRead:
		return false
	}
	// docs/** also lists docs itself, which shows nothing that reading below it
	// would not.
	folder, all := strings.CutSuffix("/"+glob, "/**")
	return all && matchPath(strings.TrimPrefix(folder, "/"), rest)
}

// start splits a path word into the folder its scope starts from and the glob
// below it.
func (w Word) start(at Folders) (base, glob string, ok bool) {
	switch {
	case strings.HasPrefix(w.Scope, "~/"):
		return at.Home, w.Scope[2:], at.Home != ""
	case strings.HasPrefix(w.Scope, "/"):
		return "/", w.Scope[1:], true
	}
	return at.Workspace, w.Scope, at.Workspace != ""
}

// Root of a path word is the deepest folder its scope names without a wildcard,
// absolute: what a rooted open may start from. It is empty for other words and
// where there is no home to start from.
func (w Word) Root(at Folders) string {
	base, glob, ok := w.start(at)
	if !ok || w.Kind != FSRead && w.Kind != FSWrite {
		return ""
	}
	parts := strings.Split(glob, "/")
	for _, part := range parts[:len(parts)-1] {
		if hasWildcard(part) {
			break
		}
		base = path.Join(base, part)
	}
	return base
}

// pathBelow returns abs relative to base, "" for base itself.
func pathBelow(abs, base string) (string, bool) {
	base = path.Clean(base)
	if abs == base {
		return "", true
	}
	return strings.CutPrefix(abs, strings.TrimSuffix(base, "/")+"/")
}

// scopeOf is the scope that names exactly abs, "" for the workspace itself.
func (f Folders) scopeOf(abs string) string {
	if rest, inside := pathBelow(abs, f.Workspace); inside && f.Workspace != "" {
		if quoted, tilde := strings.CutPrefix(quoteGlob(rest), "~"); tilde {
			return "[~]" + quoted // a folder of that name, not the home
		}
		return quoteGlob(rest)
	}
	if rest, inside := pathBelow(abs, f.Home); inside && f.Home != "" {
		if rest == "" {
			return "~/**"
		}
		return "~/" + quoteGlob(rest)
	}
	if abs == "/" {
		return "/**"
	}
	return quoteGlob(abs)
}

// folderScope is the scope of everything below abs, "" for the workspace.
func (f Folders) folderScope(abs string) string {
	scope := f.scopeOf(abs)
	if scope == "" || strings.HasSuffix(scope, "/**") {
		return scope
	}
	return scope + "/**"
}

// outside tells whether the scope of a path word starts outside the workspace.
func outside(scope string) bool {
	return strings.HasPrefix(scope, "/") || strings.HasPrefix(scope, "~/")
}

// AllowsExec tells whether a program may be started with an argument list. Only
// bare exec allows a path: with exec:git, a file called git somewhere else is
// another program.
func (w Words) AllowsExec(program string) error {
	if w.AllowsShell() == nil {
		return nil
	}
	if strings.ContainsAny(program, `/\`) {
		return fmt.Errorf(`%w: %q is a path, and words with a scope start programs by their name alone`, needs(Exec, ""), program)
	}
	for _, word := range w {
		if word.Kind == Exec && word.Scope == program && program != "" {
			return nil
		}
	}
	return needs(Exec, program)
}

// AllowsShell tells whether a command line may be given to a shell: only bare
// exec allows it.
func (w Words) AllowsShell() error { return w.allowsBare(Exec) }

// plainVariables are what a word for one program may set in its environment, as
// globs: how output is written, and nothing that names a file or a program.
var plainVariables = []string{"LANG", "LC_*", "TZ", "TERM", "COLUMNS", "LINES", "NO_COLOR", "CI"}

// AllowsExecEnv tells whether a variable may be set for a program that is
// started. A program does what its environment says (LD_PRELOAD, PATH, GIT_*,
// PYTHONPATH…), so that with a free choice of it every word for one program
// would be bare exec.
func (w Words) AllowsExecEnv(name, value string) error {
	if w.AllowsShell() == nil {
		return nil
	}
	for _, glob := range plainVariables {
		if !matchPart(glob, name) {
			continue
		}
		if !plainValue(value) {
			return fmt.Errorf("%w: the value %q of %s may name a file, and words with a scope set plain ones only", needs(Exec, ""), clip(value, 80), name)
		}
		return nil
	}
	return fmt.Errorf("%w: %q is no variable of %s, and words with a scope set no other",
		needs(Exec, ""), clip(name, 80), strings.Join(plainVariables, ", "))
}

// plainValue tells whether a value is a plain word such as en_US.UTF-8,
// Europe/Berlin or 80.
func plainValue(value string) bool {
	for _, r := range value {
		letter := r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9'
		if !letter && !strings.ContainsRune("_-.+@/,=", r) {
			return false
		}
	}
	return !strings.HasPrefix(value, "/") && !strings.Contains(value, "..")
}

// AllowsPrompt tells whether prompts may be typed.
func (w Words) AllowsPrompt() error { return w.allowsBare(Prompt) }

// AllowsSteer tells whether what the model reads may be changed.
func (w Words) AllowsSteer() error { return w.allowsBare(Steer) }

// AllowsPermit tells whether permission questions may be answered.
func (w Words) AllowsPermit() error { return w.allowsBare(Permit) }

func (w Words) allowsBare(k Kind) error {
	for _, word := range w {
		if word.Kind == k && word.Scope == "" {
			return nil
		}
	}
	return needs(k, "")
}

func checkProgram(name string) error {
	switch {
	case strings.ContainsAny(name, `/\`):
		return fmt.Errorf("a program is named without its path; write %q", "exec:"+path.Base(strings.ReplaceAll(name, `\`, "/")))
	case strings.ContainsAny(name, " \t"):
		return fmt.Errorf("one program without arguments; write %q", "exec:"+strings.Fields(name)[0])
	case hasWildcard(name) || strings.ContainsAny(name, "\"'`$&|;<>(){}\\:,") || name == "." || name == ".." || strings.HasPrefix(name, "-"):
		return errors.New(`is no name of one program; write "exec:NAME", one word for each program, or "exec"`)
	}
	return nil
}

// ModelCeiling returns what asking models may cost in one session, in US
// dollars; limited is false when the words set no ceiling. Of several ceilings
// the highest counts.
func (w Words) ModelCeiling() (usd float64, limited bool, err error) {
	if !w.Has(Model) {
		return 0, false, needs(Model, "")
	}
	for _, word := range w {
		if word.Kind != Model {
			continue
		}
		if word.Scope == "" {
			return 0, false, nil
		}
		if one, err := parseUSD(word.Scope); err == nil && one > usd {
			usd = one
		}
	}
	return usd, true, nil
}

// AllowsEnv tells whether an environment variable may be read. One that holds a
// key must be named exactly: no wildcard yields it.
func (w Words) AllowsEnv(name string) error {
	key := IsKeyVariable(name)
	for _, word := range w {
		if word.Kind != Env {
			continue
		}
		if word.Scope == name || !key && (word.Scope == "" || matchPart(word.Scope, name)) {
			return nil
		}
	}
	return needs(Env, name)
}
