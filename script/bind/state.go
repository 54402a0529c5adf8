package bind

import (
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"sync"

	"github.com/google/renameio/v2"
	"go.starlark.net/starlark"

	"starling/script/value"
	"starling/trust"
)

// states is what plugins remember: by plugin name, so that it outlives a
// replacement; on disk under the home, per workspace.
type states struct {
	dir string // "" without a home

	mu   sync.Mutex
	held map[string]*held
}

type held struct {
	value starlark.Value  // a frozen dict
	saved json.RawMessage // not nil: to be written
}

func newStates(home, workspace string) *states {
	s := &states{held: map[string]*held{}}
	if home != "" {
		s.dir = StateDir(home, workspace)
	}
	return s
}

// StateDir is the folder below the home where what belongs to one workspace is
// kept: never in the workspace, so that a checkout brings none. workspace has its
// links resolved.
func StateDir(home, workspace string) string {
	sum := sha256.Sum256([]byte(workspace))
	return filepath.Join(home, "state", hex.EncodeToString(sum[:8]))
}

// stateLimit is more than any state has, in bytes: a letter takes at most six in JSON.
const stateLimit = 64 << 20

func (s *states) path(plugin string) string { return filepath.Join(s.dir, plugin+".json") }

// of returns the entry of a plugin, read from disk at first.
func (s *states) of(plugin string) (*held, error) {
	if h, ok := s.held[plugin]; ok {
		return h, nil
	}
	h := &held{value: starlark.NewDict(0)}
	if s.dir != "" {
		raw, err := trust.ReadRegular(s.path(plugin), stateLimit)
		switch {
		case errors.Is(err, fs.ErrNotExist):
		case err != nil:
			return nil, err
		default:
			v, err := value.JSON(raw)
			if _, ok := v.(*starlark.Dict); err != nil || !ok {
				return nil, fmt.Errorf("%s holds no JSON object; mend or remove it", s.path(plugin))
			}
			h.value = v
		}
	}
	h.value.Freeze()
	s.held[plugin] = h
	return h, nil
}

// get returns a copy the plugin may change.
func (s *states) get(plugin string) (starlark.Value, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	h, err := s.of(plugin)
	if err != nil {
		return nil, err
	}
	return value.Copy(h.value)
}

// put replaces the state; save marks it to be written at the end of the run.
func (s *states) put(plugin string, d *starlark.Dict, save bool) error {
	frozen, err := value.NewFrozen(d)
	if err != nil {
		return err
	}
	var raw json.RawMessage
	if save {
		if raw, err = value.ToJSON(frozen.Value()); err != nil {
			return err
		}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	h, err := s.of(plugin)
	if err != nil {
		// What cannot be read is not overwritten unseen, but memory goes on.
		if save {
			return err
		}
		h = &held{}
		s.held[plugin] = h
	}
	h.value = frozen.Value()
	if save {
		h.saved = raw
	}
	return nil
}

// flush writes what was saved since the last flush, atomically.
func (s *states) flush() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	var errs []error
	for plugin, h := range s.held {
		if h.saved == nil || s.dir == "" {
			continue
		}
		if err := os.MkdirAll(s.dir, 0o700); err != nil {
			return fmt.Errorf("state of plugins: %w", err)
		}
		if err := renameio.WriteFile(s.path(plugin), append(h.saved, '\n'), 0o600); err != nil {
			errs = append(errs, fmt.Errorf("state of plugin %s: %w", plugin, err))
			continue
		}
		h.saved = nil
	}
	return errors.Join(errs...)
}

var stateWord = builtin{name: "state", run: func(p *Plugin, _ *call, args starlark.Tuple, kwargs []starlark.Tuple) (starlark.Value, error) {
	var d *starlark.Dict
	if err := starlark.UnpackArgs("state", args, kwargs, "state?", &d); err != nil {
		return nil, err
	}
	if d == nil {
		v, err := p.host.states.get(p.Name())
		if err != nil {
			return nil, fmt.Errorf("state: %w", err)
		}
		return v, nil
	}
	if err := p.host.states.put(p.Name(), d, false); err != nil {
		return nil, fmt.Errorf("state: %w", value.Named("state", err))
	}
	return starlark.None, nil
}}

var saveStateWord = builtin{name: "save_state", run: func(p *Plugin, _ *call, args starlark.Tuple, kwargs []starlark.Tuple) (starlark.Value, error) {
	var d *starlark.Dict
	if err := starlark.UnpackArgs("save_state", args, kwargs, "state", &d); err != nil {
		return nil, err
	}
	if err := p.host.states.put(p.Name(), d, true); err != nil {
		return nil, fmt.Errorf("save_state: %w", value.Named("state", err))
	}
	return starlark.None, nil
}}

// config returns the settings of the plugin, read-only.
var configWord = builtin{name: "config", run: func(p *Plugin, _ *call, args starlark.Tuple, kwargs []starlark.Tuple) (starlark.Value, error) {
	if err := starlark.UnpackArgs("config", args, kwargs); err != nil {
		return nil, err
	}
	v, err := value.FromGo(p.config)
	if err != nil {
		return nil, fmt.Errorf("config: %w", err)
	}
	v.Freeze()
	return v, nil
}}

var tokenWord = builtin{name: "random.token", run: func(_ *Plugin, _ *call, args starlark.Tuple, kwargs []starlark.Tuple) (starlark.Value, error) {
	if err := starlark.UnpackArgs("random.token", args, kwargs); err != nil {
		return nil, err
	}
	var b [16]byte
	_, _ = rand.Read(b[:]) // never fails: the runtime ends the process instead
	return starlark.String(hex.EncodeToString(b[:])), nil
}}

var homeWord = builtin{name: "starling_home", run: func(p *Plugin, _ *call, args starlark.Tuple, kwargs []starlark.Tuple) (starlark.Value, error) {
	if err := starlark.UnpackArgs("starling_home", args, kwargs); err != nil {
		return nil, err
	}
	return starlark.String(p.host.Home), nil
}}
