package shell

import (
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"golang.org/x/sys/unix"
)

// Command is what Run starts: Argv or Line, not both.
type Command struct {
	// Argv is a program and its arguments, without a shell. The program is a
	// bare name, found on PATH outside the workspace.
	Argv []string
	// Line is for bash -c, or sh -c where there is no bash.
	Line string
	// Dir is the working folder; empty means that of the engine.
	Dir string
	// Stdin is the whole input; empty means none: the first read ends at once.
	Stdin string
	// Env adds variables to the environment or replaces them.
	Env map[string]string
	// Timeout kills the command and what it started; 0 means no limit.
	Timeout time.Duration
	// Origin is who started it: "bash", "tui" or "plugin NAME".
	Origin string
	// Queue makes Run wait for one of the engine's places first, in the order of
	// the calls and at most for Timeout. What starts commands without a person
	// looking sets it, so that it cannot fill the machine.
	Queue bool
	// Head and Tail replace those of the engine; 0 means the engine's.
	Head, Tail int
	// Merge gives the command one pipe for both streams, so that their order is
	// the true one: all is in Stdout then.
	Merge bool
	// KeepDir asks a Line for Outcome.Dir. It takes an EXIT trap, which a trap of
	// the line's own replaces, and Options.Spill.
	KeepDir bool
	// OnOutput sees output of both streams as it arrives, one call at a time
	// and none after Run returned. The bytes are valid during the call only.
	// It must return soon: while it runs, the command may have to wait.
	OnOutput func(chunk []byte)
}

// String is the command as the process list shows it.
func (c Command) String() string {
	if len(c.Argv) == 0 {
		return c.Line
	}
	words := make([]string, len(c.Argv))
	for i, w := range c.Argv {
		words[i] = quote(w)
	}
	return strings.Join(words, " ")
}

func quote(word string) string {
	plain := func(r rune) bool {
		return r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || strings.ContainsRune("-_./:=@%+,", r)
	}
	if word != "" && strings.IndexFunc(word, func(r rune) bool { return !plain(r) }) < 0 {
		return word
	}
	return "'" + strings.ReplaceAll(word, "'", `'\''`) + "'"
}

// plan is a command made ready: everything but the process.
type plan struct {
	path string
	args []string
	// shell is "bash" or "sh" when the last of args is a line for it, else "".
	shell string
	dir   string
	env   []string
}

func (e *Engine) plan(c Command) (plan, error) {
	var p plan
	var err error
	switch {
	case len(c.Argv) > 0 && c.Line != "":
		return p, errors.New("shell: a command is either a list of arguments or a line, not both")
	case len(c.Argv) > 0:
		p.args = slices.Clone(c.Argv)
		p.path, err = e.program(c.Argv[0])
	case strings.TrimSpace(c.Line) != "":
		if p.path, p.args, err = e.shellFor(c.Line); err == nil {
			p.shell = p.args[0]
		}
	default:
		err = errors.New("shell: the command is empty")
	}
	if err != nil {
		return p, err
	}
	if slices.ContainsFunc(p.args, func(s string) bool { return strings.IndexByte(s, 0) >= 0 }) {
		return p, errors.New("shell: the command holds a NUL byte, which no program can be given")
	}
	if p.dir, err = e.folder(c.Dir); err != nil {
		return p, err
	}
	p.env = e.environment(c.Env, p.dir)
	if e.opt.Wrap != nil {
		wrapped := e.opt.Wrap(append([]string{p.path}, p.args[1:]...))
		if len(wrapped) == 0 || !filepath.IsAbs(wrapped[0]) {
			return p, errors.New("shell: the launcher gave no absolute program path")
		}
		p.path, p.args = wrapped[0], wrapped
	}
	return p, nil
}

// program finds a program that a list of arguments names.
func (e *Engine) program(name string) (string, error) {
	if name == "" {
		return "", errors.New("shell: the program name is empty")
	}
	if strings.ContainsRune(name, '/') {
		return "", fmt.Errorf("shell: program %q: a program is named without a folder, and found outside the workspace; give its bare name", name)
	}
	path, inside := e.lookup(name)
	switch {
	case path != "":
		return path, nil
	case inside != "":
		return "", fmt.Errorf("shell: program %q stands only inside the workspace (%s); a program is found outside the workspace: %w", name, inside, fs.ErrPermission)
	}
	return "", fmt.Errorf("shell: program %q is in no folder of PATH: %w", name, fs.ErrNotExist)
}

func (e *Engine) shellFor(line string) (string, []string, error) {
	for _, name := range []string{"bash", "sh"} {
		path, _ := e.lookup(name)
		for _, dir := range []string{"/bin", "/usr/bin"} {
			if path == "" && runnable(filepath.Join(dir, name)) {
				path = filepath.Join(dir, name)
			}
		}
		if path != "" {
			// "--" keeps a line that starts with a dash from being an option.
			return path, []string{name, "-c", "--", line}, nil
		}
	}
	return "", nil, fmt.Errorf("shell: neither bash nor sh is in a folder of PATH: %w", fs.ErrNotExist)
}

// lookup returns the first program of that name outside the workspace, and the
// first one inside that it passed over. A relative folder of PATH never counts:
// it means the folder the command runs in.
func (e *Engine) lookup(name string) (path, inside string) {
	for _, dir := range filepath.SplitList(valueOf(e.opt.Env, "PATH")) {
		if !filepath.IsAbs(dir) {
			continue
		}
		candidate := filepath.Join(dir, name)
		if !runnable(candidate) {
			continue
		}
		if e.opt.Outside == "" || !within(candidate, e.opt.Outside) {
			return candidate, inside
		}
		if inside == "" {
			inside = candidate
		}
	}
	return "", inside
}

func runnable(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.Mode().IsRegular() && unix.Access(path, unix.X_OK) == nil
}

// within tells whether path, or what it links to, lies in folder. Folders are
// compared by identity, so neither links nor letter case hide one.
func within(path, folder string) bool {
	root, err := os.Stat(folder)
	if err != nil {
		return false
	}
	paths := []string{filepath.Clean(path)}
	if real, err := filepath.EvalSymlinks(path); err == nil {
		paths = append(paths, real)
	}
	for _, p := range paths {
		for p != filepath.Dir(p) {
			p = filepath.Dir(p)
			if info, err := os.Stat(p); err == nil && os.SameFile(info, root) {
				return true
			}
		}
	}
	return false
}

// folder checks the working folder before a process is started in it, because
// the system reports a missing one as if the program were missing.
func (e *Engine) folder(dir string) (string, error) {
	if dir == "" {
		dir = e.opt.Dir
	}
	if dir == "" {
		return "", nil
	}
	if !filepath.IsAbs(dir) && e.opt.Dir != "" {
		dir = filepath.Join(e.opt.Dir, dir)
	}
	info, err := os.Stat(dir)
	if err != nil {
		return "", fmt.Errorf("shell: the working folder cannot be used; choose one that exists: %w", err)
	}
	if !info.IsDir() {
		return "", fmt.Errorf("shell: the working folder %s is a file; choose a folder", dir)
	}
	if err := unix.Access(dir, unix.X_OK); err != nil {
		return "", fmt.Errorf("shell: the working folder %s cannot be entered; choose another: %w", dir, err)
	}
	return dir, nil
}

// noEditor is the editor of every command: it fails and says why. Programs run
// it with their shell.
const noEditor = "echo 'an editor needs a terminal and there is none: give the text as an argument or in a file' >&2; false"

func (e *Engine) environment(add map[string]string, dir string) []string {
	// No command of the engine has a terminal: an editor would wait for ever
	// for keys that cannot come.
	vars := map[string]string{"TERM": "dumb", "EDITOR": noEditor, "VISUAL": noEditor, "GIT_EDITOR": noEditor, "GIT_SEQUENCE_EDITOR": noEditor}
	if filepath.IsAbs(dir) {
		vars["PWD"] = dir
	}
	maps.Copy(vars, add)
	env := make([]string, 0, len(e.base)+len(vars))
	for _, kv := range e.base {
		name, _, _ := strings.Cut(kv, "=")
		if _, replaced := vars[name]; !replaced {
			env = append(env, kv)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(vars)) {
		env = append(env, name+"="+vars[name])
	}
	return env
}

func keepEnv(env []string, keep func(string) bool) []string {
	var out []string
	for _, kv := range env {
		name, _, ok := strings.Cut(kv, "=")
		if ok && name != "" && (keep == nil || keep(name)) {
			out = append(out, kv)
		}
	}
	return out
}

func valueOf(env []string, name string) string {
	value := ""
	for _, kv := range env {
		if n, v, ok := strings.Cut(kv, "="); ok && n == name {
			value = v
		}
	}
	return value
}
