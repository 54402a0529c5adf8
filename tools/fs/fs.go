package fs

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"slices"
	"sync"

	"starling/bus/spec"
	"starling/trust"
)

// Options of the tools of one session. The zero value serves the workspace
// alone and tells nobody of changes.
type Options struct {
	// Folders are further folders whose files count as those of the workspace.
	// They are named by absolute paths.
	Folders []*trust.Jail
	// Changed is called after each change of a file by write or edit; nil for
	// nobody. It runs before the call returns and must not call a tool.
	Changed func(Change)
	// Home is the person's home, for ~/ in paths and for the ignore rules git
	// keeps there; "" for none.
	Home string
	// StateHome is starling's own folder, which no tool writes to.
	StateHome string
	// Blind tells whether the model that reads results takes no images; nil means it
	// takes them. It is asked at each image.
	Blind func() bool
	// Env is the environment programs are looked up in and started with, as
	// KEY=VALUE without secrets. Without it grep starts no program.
	Env []string
}

// Kind of a Change.
type Kind string

// The kinds.
const (
	Created  Kind = "created"
	Modified Kind = "modified"
	Deleted  Kind = "deleted"
)

// Change is one changed file.
type Change struct {
	Path string // relative to the workspace, absolute outside
	Kind Kind
	// Before and After are SHA-256 of the contents in hex; "" when there was
	// none or it is not known.
	Before, After string
}

// Files makes the tools of one session. They share what was read, so that write
// and edit notice a file that somebody else changed since.
type Files struct {
	jail *trust.Jail
	opt  Options
	// rgFrom is the number of files from which grep starts a program.
	rgFrom int
	rgAll  bool // also for a pattern that has an automaton; for tests

	// changing is held from reading a file until its new content stands:
	// agents that share these tools must not overwrite each other's edits.
	changing sync.Mutex

	mu   sync.Mutex
	seen map[string]digest // by absolute path, links followed
	held map[string]held   // by the name in a Tree
}

type digest [sha256.Size]byte

func (d digest) String() string { return hex.EncodeToString(d[:]) }

// New returns the tools on the files of a jail.
func New(jail *trust.Jail) *Files { return NewWith(jail, Options{}) }

// NewWith returns the tools on the files of a jail, with options.
func NewWith(jail *trust.Jail, opt Options) *Files {
	opt.Folders, opt.Env = slices.Clone(opt.Folders), slices.Clone(opt.Env)
	return &Files{jail: jail, opt: opt, rgFrom: rgFiles, seen: map[string]digest{}, held: map[string]held{}}
}

// All returns every tool of the package.
func (f *Files) All() []spec.Tool {
	return []spec.Tool{f.Read(), f.Write(), f.Edit(), f.Grep(), f.Glob(), f.Ls()}
}

// Read returns a read tool that shares its memory with no other tool.
func Read(jail *trust.Jail) spec.Tool { return New(jail).Read() }

// Write returns a write tool that shares its memory with no other tool.
func Write(jail *trust.Jail) spec.Tool { return New(jail).Write() }

func (f *Files) remember(at place, d digest) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.seen[at.abs] = d
}

func (f *Files) recall(at place) (digest, bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	d, ok := f.seen[at.abs]
	return d, ok
}

// Forget takes back what was read and written: another conversation begins, which has
// seen nothing of it.
func (f *Files) Forget() {
	f.mu.Lock()
	defer f.mu.Unlock()
	clear(f.seen)
}

func plural(n int, word string) string {
	if n == 1 {
		return fmt.Sprintf("%d %s", n, word)
	}
	return fmt.Sprintf("%d %ss", n, word)
}
