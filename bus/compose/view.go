package compose

import (
	"fmt"
	"sync/atomic"
)

// View is the committed view of one load: readable until its last undo has run.
type View struct {
	phase    atomic.Int32
	required map[string]any
	optional map[string]*atomic.Pointer[binding]
}

const (
	applying int32 = iota
	standing
	ended
)

// Get returns the value of an injected key. Required keys answer from the
// committed view; optional ones as they are now. During apply an optional key is
// an error, since the answer would depend on load order; a key that is not in
// inject is an error that names it; after the last undo every key is.
func (v *View) Get(key string) (any, error) {
	value, ok, err := v.look(key)
	if err != nil {
		return nil, err
	}
	if !ok {
		return nil, fmt.Errorf("service %q: nobody provides it now", key)
	}
	return value, nil
}

// Has tells whether an injected key can be called now; the same errors as Get,
// but absence of an optional key is false.
func (v *View) Has(key string) (bool, error) {
	_, ok, err := v.look(key)
	return ok, err
}

func (v *View) look(key string) (value any, ok bool, err error) {
	phase := v.phase.Load()
	if phase == ended {
		return nil, false, fmt.Errorf("service %q: the component is not loaded any more", key)
	}
	if value, ok = v.required[key]; ok {
		return value, true, nil
	}
	live := v.optional[key]
	if live == nil {
		return nil, false, fmt.Errorf("service %q: not in inject", key)
	}
	if phase == applying {
		return nil, false, fmt.Errorf("service %q: optional, so it can be asked for in callbacks only, not during apply", key)
	}
	l := live.Load().now.Load()
	if l == nil || !l.active.Load() {
		return nil, false, nil
	}
	return l.values[key], true, nil
}
