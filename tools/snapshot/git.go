package snapshot

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"starling/trust"

	"golang.org/x/sys/unix"
)

// git runs the program without what a repository or a person may have hung on it.
type git struct {
	program string
	env     []string
}

// safe keeps git from starting other programs, from the network, and from
// housekeeping.
var safe = []string{
	"-c", "core.fsmonitor=false", "-c", "core.hooksPath=/dev/null", "-c", "core.untrackedCache=false",
	"-c", "protocol.allow=never", "-c", "gc.auto=0", "-c", "maintenance.auto=false",
	"-c", "submodule.recurse=false", "-c", "log.showSignature=false", "-c", "core.logAllRefUpdates=true",
}

// kept are the variables git is given: where programs and its configuration are,
// which also holds the ignored files of a person and the folders git may trust.
var kept = []string{
	"PATH", "HOME", "XDG_CONFIG_HOME", "TMPDIR", "USER", "LOGNAME",
	"GIT_CONFIG_GLOBAL", "GIT_CONFIG_SYSTEM", "GIT_CONFIG_NOSYSTEM",
}

var errNoGit = errors.New("git is in no folder of PATH outside the workspace")

func (s *Store) git() (*git, error) {
	g := &git{env: []string{
		"LC_ALL=C", "GIT_OPTIONAL_LOCKS=0", "GIT_TERMINAL_PROMPT=0", "GIT_LITERAL_PATHSPECS=1",
		"GIT_NO_REPLACE_OBJECTS=1", "GIT_NO_LAZY_FETCH=1", "GIT_PAGER=cat",
	}}
	for _, name := range kept {
		if value, ok := s.lookupEnv(name); ok {
			g.env = append(g.env, name+"="+value)
		}
	}
	path, _ := s.lookupEnv("PATH")
	for _, dir := range filepath.SplitList(path) {
		program := filepath.Join(dir, "git")
		real, err := filepath.EvalSymlinks(program)
		if err != nil || !filepath.IsAbs(dir) || s.Workspace != "" && (below(real, s.Workspace) || below(program, s.Workspace)) {
			continue
		}
		if info, err := os.Stat(real); err == nil && info.Mode().IsRegular() && unix.Access(real, unix.X_OK) == nil {
			g.program = program
			return g, nil
		}
	}
	return nil, errNoGit
}

func (s *Store) lookupEnv(name string) (value string, ok bool) {
	for _, v := range s.Environ {
		if rest, is := strings.CutPrefix(v, name+"="); is {
			value, ok = rest, true // the last one counts
		}
	}
	return value, ok
}

// run returns what git prints.
func (g *git) run(ctx context.Context, dir string, stdin io.Reader, args ...string) ([]byte, error) {
	var out bytes.Buffer
	err := g.stream(ctx, dir, stdin, &out, args...)
	return out.Bytes(), err
}

func (g *git) stream(ctx context.Context, dir string, stdin io.Reader, stdout io.Writer, args ...string) error {
	const grace, keepBytes = 2 * time.Second, 4000
	cmd := exec.CommandContext(ctx, g.program, append(append([]string{"-C", dir}, safe...), args...)...)
	cmd.Env, cmd.Dir, cmd.WaitDelay = g.env, dir, grace
	said := &head{max: keepBytes}
	cmd.Stdin, cmd.Stdout, cmd.Stderr = stdin, stdout, said
	err := cmd.Run()
	if err == nil {
		return nil
	}
	if ctx.Err() != nil {
		return ctx.Err()
	}
	return &gitError{args: args, said: strings.TrimSpace(said.text.String()), err: err}
}

type gitError struct {
	args []string
	said string
	err  error
}

func (e *gitError) Error() string {
	what := e.said
	if what == "" {
		what = e.err.Error()
	}
	return fmt.Sprintf("git %s: %s", e.args[0], what)
}

func (e *gitError) Unwrap() error { return e.err }

// failed tells that git ran and said no.
func failed(err error) bool {
	var exit *exec.ExitError
	return errors.As(err, &exit)
}

// head keeps the first bytes of a text.
type head struct {
	text bytes.Buffer
	max  int
}

func (h *head) Write(p []byte) (int, error) {
	h.text.Write(p[:min(len(p), h.max-h.text.Len())])
	return len(p), nil
}

// top returns the working tree that a path belongs to: the nearest folder at or
// above it with a .git. What lies inside a .git belongs to none.
func top(path string) (string, bool) {
	for dir := path; ; dir = filepath.Dir(dir) {
		if filepath.Base(dir) == ".git" {
			return "", false
		}
		if isTop(dir) {
			return dir, true
		}
		if dir == filepath.Dir(dir) {
			return "", false
		}
	}
}

func isTop(dir string) bool {
	info, err := os.Lstat(filepath.Join(dir, ".git"))
	if err != nil {
		return false
	}
	if info.IsDir() {
		_, err := os.Lstat(filepath.Join(dir, ".git", "HEAD"))
		return err == nil
	}
	return info.Mode().IsRegular()
}

// maxPointer is the most bytes of a file that names a folder of git.
const maxPointer = 64 << 10

// pointed returns the folder a .git file names, "" when .git is a folder.
func pointed(top string) string {
	data, err := trust.ReadRegular(filepath.Join(top, ".git"), maxPointer)
	if err != nil {
		return ""
	}
	dir, ok := strings.CutPrefix(strings.TrimSuffix(string(data), "\n"), "gitdir: ")
	if !ok {
		return ""
	}
	if !filepath.IsAbs(dir) {
		dir = filepath.Join(top, dir)
	}
	return filepath.Clean(dir)
}

// gitFolder is the folder of git that is a working tree's own.
func gitFolder(top string) string {
	if dir := pointed(top); dir != "" {
		return dir
	}
	return filepath.Join(top, ".git")
}

// pending are files of git that say which merge goes on. They mean something only
// on the commit where it began.
var pending = []string{"MERGE_HEAD", "MERGE_MODE", "MERGE_MSG", "CHERRY_PICK_HEAD", "REVERT_HEAD"}

func below(path, dir string) bool {
	if path == dir || dir == "/" {
		return true
	}
	return strings.HasPrefix(path, dir+string(filepath.Separator))
}

// resolved follows the links of the folder of a path, not of its last part. Of
// folders that are gone, those that stand are followed.
func resolved(path string) string {
	path = filepath.Clean(path)
	dir, base := filepath.Split(path)
	dir = filepath.Clean(dir)
	if dir == path {
		return path
	}
	real, err := filepath.EvalSymlinks(dir)
	if errors.Is(err, fs.ErrNotExist) || err != nil {
		real = resolved(dir)
	}
	return filepath.Join(real, base)
}
