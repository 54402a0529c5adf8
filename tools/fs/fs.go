package fs

import (
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"sync"

	"starling/bus/spec"
	"starling/trust"
)

// Files makes the tools of one session. They share what was read, so that write
// notices a file that somebody else changed since.
type Files struct {
	jail *trust.Jail

	mu   sync.Mutex
	seen map[string]digest // by resolved path
}

type digest = [sha256.Size]byte

// New returns the tools on the files of a jail.
func New(jail *trust.Jail) *Files { return &Files{jail: jail, seen: map[string]digest{}} }

// All returns every tool of the package.
func (f *Files) All() []spec.Tool { return []spec.Tool{f.Read(), f.Write()} }

// Read returns a read tool that shares its memory with no other tool.
func Read(jail *trust.Jail) spec.Tool { return New(jail).Read() }

// Write returns a write tool that shares its memory with no other tool.
func Write(jail *trust.Jail) spec.Tool { return New(jail).Write() }

func (f *Files) remember(path string, d digest) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.seen[path] = d
}

func (f *Files) recall(path string) (digest, bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	d, ok := f.seen[path]
	return d, ok
}

// paths tells guards the one path a call touches, with links followed; outside
// the workspace, where it leads.
func (f *Files) paths(arguments json.RawMessage) ([]string, bool) {
	var a struct {
		Path string `json:"path"`
	}
	if err := decode(arguments, &a); err != nil || a.Path == "" {
		return nil, false
	}
	rel, err := f.jail.Resolve(a.Path)
	var out *trust.OutsideError
	switch {
	case errors.As(err, &out):
		return []string{out.Target}, true
	case err != nil:
		return []string{a.Path}, false
	}
	return []string{rel}, true
}

// decode reads checked arguments. Key by key and exactly: encoding/json would
// take "PATH" for path, which a guard that looked at the same arguments did not.
func decode(arguments json.RawMessage, into any) error {
	var keys map[string]json.RawMessage
	if err := json.Unmarshal(arguments, &keys); err != nil {
		return fmt.Errorf("arguments: %w", err)
	}
	for k := range keys {
		switch k {
		case "path", "offset", "limit", "content":
		default:
			return fmt.Errorf("arguments: unknown %q", k)
		}
	}
	if err := json.Unmarshal(arguments, into); err != nil {
		return fmt.Errorf("arguments: %w", err)
	}
	return nil
}

// details encodes plain maps; they hold strings, numbers and booleans only.
func details(fields map[string]any) json.RawMessage {
	b, err := json.Marshal(fields)
	if err != nil {
		return nil
	}
	return b
}

func plural(n int, word string) string {
	if n == 1 {
		return fmt.Sprintf("%d %s", n, word)
	}
	return fmt.Sprintf("%d %ss", n, word)
}
