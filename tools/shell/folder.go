package shell

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"starling/trust"

	"golang.org/x/sys/unix"
)

// keepFolder is read by bash before the line (its variable BASH_ENV names it): the
// trap writes the last folder to a file. It runs before the line and not in front
// of it, so that line numbers and messages are those of the line alone, and puts
// the environment back, so that no program sees any of it.
const keepFolder = `builtin printf -v STARLING_FOLDER %q "$STARLING_FOLDER"
builtin trap "{ builtin pwd -P >|$STARLING_FOLDER; } 2>/dev/null || :" EXIT
if [ -n "${STARLING_BASH_ENV+x}" ]; then BASH_ENV=$STARLING_BASH_ENV; else unset BASH_ENV; fi
unset STARLING_FOLDER STARLING_RC STARLING_BASH_ENV
if [ -n "${BASH_ENV-}" ]; then eval "[ -r \"$BASH_ENV\" ] && . \"$BASH_ENV\""; fi
:
`

// report makes the shell of p write its last folder to a file of the engine.
func (p *process) report(pl *plan) error {
	e := p.engine
	if e.opt.Spill == "" || pl.shell == "" {
		return nil
	}
	if err := os.MkdirAll(e.opt.Spill, 0o700); err != nil {
		return fmt.Errorf("shell: folder of process %d: %w", p.id, err)
	}
	p.folder = filepath.Join(e.opt.Spill, fmt.Sprintf("folder-%d", p.id))
	if pl.shell != "bash" || isPosix(pl.env) {
		// Other shells read nothing before a line, nor does bash as one of them. A trap on the same line leaves
		// its numbers as they are.
		trap := "{ pwd -P >|" + quote(p.folder) + "; } 2>/dev/null || :"
		last := len(pl.args) - 1
		pl.args = slices.Clone(pl.args)
		pl.args[last] = "trap " + quote(trap) + " EXIT; " + pl.args[last]
		return nil
	}
	rc, err := e.keepFolderFile()
	if err != nil {
		return err
	}
	before, set := "", false
	env := slices.DeleteFunc(slices.Clone(pl.env), func(kv string) bool {
		value, ok := strings.CutPrefix(kv, "BASH_ENV=")
		if ok {
			before, set = value, true
		}
		return ok
	})
	// The value is expanded as in double quotes: through a variable no letter of
	// the path can do harm.
	env = append(env, "BASH_ENV=$STARLING_RC", "STARLING_RC="+rc, "STARLING_FOLDER="+p.folder)
	if set {
		env = append(env, "STARLING_BASH_ENV="+before)
	}
	pl.env = env
	return nil
}

// keepFolderFile writes the script once.
func (e *Engine) keepFolderFile() (string, error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	path := filepath.Join(e.opt.Spill, "keep-folder.sh")
	if e.script != "" {
		if _, err := os.Stat(path); err == nil {
			return path, nil
		}
	}
	if err := os.WriteFile(path, []byte(keepFolder), 0o600); err != nil {
		return "", fmt.Errorf("shell: folder of a command: %w", err)
	}
	e.script = path
	return path, nil
}

// isPosix tells whether bash starts in its POSIX mode.
func isPosix(env []string) bool {
	return slices.ContainsFunc(env, func(kv string) bool {
		return strings.HasPrefix(kv, "POSIXLY_CORRECT=") || strings.HasPrefix(kv, "SHELLOPTS=") && strings.Contains(kv, "posix")
	})
}

// maxFolder is the longest report that is read.
const maxFolder = 64 << 10

// lastFolder reads and removes the report; "" when there is none.
func (p *process) lastFolder() string {
	if p.folder == "" {
		return ""
	}
	defer os.Remove(p.folder) // there is none of a shell that did not end through its trap
	// The command may have put anything there: a pipe would be waited for.
	f, err := trust.OpenRegular(p.folder, os.O_RDONLY|unix.O_NOFOLLOW, 0)
	if err != nil {
		return ""
	}
	defer f.Close()
	b, err := io.ReadAll(io.LimitReader(f, maxFolder))
	dir := strings.TrimSuffix(string(b), "\n")
	if err != nil || !filepath.IsAbs(dir) {
		return ""
	}
	return dir
}
