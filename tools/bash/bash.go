package bash

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"starling/bus/spec"
	"starling/tools"
	"starling/tools/shell"
	"starling/trust/command"
)

// Times of a call that names none, and the longest it may name.
const (
	DefaultTimeout = 2 * time.Minute
	MaxTimeout     = time.Hour
)

// Options of New.
type Options struct {
	// Engine runs the commands. Without its Spill no folder is kept and nothing
	// is left of output that was cut.
	Engine *shell.Engine
	// Workspace is where the first command runs.
	Workspace string
	// Extra are further folders that count as workspace: one that a command ends
	// in is kept too.
	Extra []string
	// Home of the person and StateHome of starling are what Read tells the safety
	// floor; empty when there is none.
	Home, StateHome string
}

// Bash is the tool of one conversation: it holds the kept folder. Its methods may
// be called from any goroutine.
type Bash struct {
	engine          *shell.Engine
	roots           []string // the workspace, then Extra; links resolved
	home, stateHome string

	mu  sync.Mutex
	cwd string // below one of roots, links resolved
	// judged is where Read said that lines would run; see judge.
	judged  map[string]string
	ran     bool // a call ran since the first of them
	running int
}

// New returns the tool in its workspace root.
func New(o Options) *Bash {
	b := &Bash{engine: o.Engine, home: o.Home, stateHome: o.StateHome}
	for _, dir := range append([]string{o.Workspace}, o.Extra...) {
		b.roots = append(b.roots, resolved(dir))
	}
	b.cwd = b.roots[0]
	return b
}

// Cwd returns the folder the next command runs in, absolute. It may have gone
// since; the next command says so then and runs in the workspace root.
func (b *Bash) Cwd() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.cwd
}

const name = "bash"

var parameters = json.RawMessage(`{
  "type": "object",
  "properties": {
    "command": {"type": "string", "minLength": 1, "description": "Line for bash; several lines are fine"},
    "timeout_s": {"type": "integer", "minimum": 1, "maximum": 3600, "description": "Seconds after which the command and all it started are ended; 120 unless given"}
  },
  "required": ["command"],
  "additionalProperties": false
}`)

// Tool returns the tool bash(command, timeout_s).
func (b *Bash) Tool() spec.Tool {
	return spec.Tool{
		Name: name,
		Description: "Run a line for bash in the workspace; the result is what it printed, both streams in order. " +
			"Each call is a new shell in the folder where the last one ended: cd stays, variables do not, and calls made " +
			"side by side start in the same folder. There is no terminal and no input: pass what a program would ask for " +
			"(git commit -m, --yes). Long output keeps its start and end; the rest is in the file that is named. " +
			"Start a server with & and send its output to a file; it ends with the session.",
		Parameters: parameters,
		Execute:    b.execute,
		Paths:      b.paths,
		Alone:      b.alone,
		Risk:       spec.RiskChange,
		Builtin:    true,
	}
}

// Read says what a call would do in the folder it runs in, and the call runs there:
// all calls of a reply that are read before the first of them runs start in one
// folder. Its error is about the arguments; a line that cannot be read is a Reading
// that says so.
func (b *Bash) Read(arguments json.RawMessage) (command.Reading, error) {
	a, err := decode(arguments)
	if err != nil {
		return command.Reading{}, err
	}
	return command.Read(a.Command, command.Setting{
		Workspace: b.roots[0], Extra: b.roots[1:], Dir: b.judge(a.Command), Home: b.home, StateHome: b.stateHome,
		Env: b.engine.Env(),
	}), nil
}

// paths tells guards what a call touches, as far as its line says.
func (b *Bash) paths(arguments json.RawMessage) ([]string, bool) {
	r, err := b.Read(arguments)
	if err != nil {
		return nil, false
	}
	return r.Paths, r.PathsKnown
}

// alone tells that a call may discard work or do what nobody can read: the snapshot
// before it has to see what the calls before it left.
func (b *Bash) alone(arguments json.RawMessage) bool {
	r, err := b.Read(arguments)
	return err == nil && (r.Unread != "" || slices.ContainsFunc(r.Floor, func(f command.Finding) bool { return f.Loss != nil }))
}

type request struct {
	Command string `json:"command"`
	Timeout *int64 `json:"timeout_s"`
}

func (r request) timeout() time.Duration {
	if r.Timeout == nil {
		return DefaultTimeout
	}
	return time.Duration(*r.Timeout) * time.Second
}

// decode reads arguments key by key and exactly: encoding/json would take
// "COMMAND" for command, which a guard that looked at the same arguments did not.
func decode(arguments json.RawMessage) (request, error) {
	var r request
	if err := tools.Decode(arguments, &r, "command", "timeout_s"); err != nil {
		return request{}, err
	}
	if strings.TrimSpace(r.Command) == "" {
		return request{}, errors.New("arguments: the command is empty")
	}
	if most := int64(MaxTimeout / time.Second); r.Timeout != nil && (*r.Timeout < 1 || *r.Timeout > most) {
		return request{}, fmt.Errorf("arguments: timeout_s must be 1 to %d, not %d; what takes longer runs in the background with & and its output in a file", most, *r.Timeout)
	}
	return r, nil
}

// resolved follows links as far as that is possible now.
func resolved(dir string) string {
	if real, err := filepath.EvalSymlinks(dir); err == nil {
		return real
	}
	return filepath.Clean(dir)
}

// isDir tells whether a folder is there; a link to one is none.
func isDir(path string) bool {
	info, err := os.Lstat(path)
	return err == nil && info.IsDir()
}
