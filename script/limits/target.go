package limits

import (
	"fmt"

	"go.starlark.net/starlark"
)

// targets guards d in d[k] %= y and v in v.f %= y: it gives back a stand-in for
// them, whose item or field is wrapped when read and set on the real one.
func targets(wrap func(starlark.Value) (starlark.Value, error)) *guard {
	return &guard{pass: func(v starlark.Value) (starlark.Value, error) {
		return &target{v: v, wrap: wrap}, nil
	}}
}

type target struct {
	internal
	v    starlark.Value
	wrap func(starlark.Value) (starlark.Value, error)
}

func (t *target) Type() string { return t.v.Type() }

// Get reads t[k], for any kind of container.
func (t *target) Get(k starlark.Value) (starlark.Value, bool, error) {
	switch v := t.v.(type) {
	case starlark.Mapping:
		x, found, err := v.Get(k)
		if err != nil || !found {
			return x, found, err
		}
		x, err = t.wrap(x)
		return x, true, err
	case starlark.Indexable:
		i, err := starlark.AsInt32(k)
		if err != nil {
			return nil, false, fmt.Errorf("%s index: %w", v.Type(), err)
		}
		if i, err = within(v, i); err != nil {
			return nil, false, err
		}
		x, err := t.wrap(v.Index(i))
		return x, true, err
	}
	return nil, false, fmt.Errorf("unhandled index operation %s[%s]", t.v.Type(), k.Type())
}

// SetKey is t[k] = x.
func (t *target) SetKey(k, x starlark.Value) error {
	switch v := t.v.(type) {
	case starlark.HasSetKey:
		return v.SetKey(k, x)
	case starlark.HasSetIndex:
		i, err := starlark.AsInt32(k)
		if err != nil {
			return err
		}
		if i, err = within(v, i); err != nil {
			return err
		}
		return v.SetIndex(i, x)
	}
	return fmt.Errorf("%s value does not support item assignment", t.v.Type())
}

// Attr reads t.name.
func (t *target) Attr(name string) (starlark.Value, error) {
	x, err := attribute(t.v, name)
	if err != nil {
		return nil, err
	}
	return t.wrap(x)
}

// AttrNames is only asked for suggestions.
func (t *target) AttrNames() []string {
	if h, ok := t.v.(starlark.HasAttrs); ok {
		return h.AttrNames()
	}
	return nil
}

// SetField is t.name = x.
func (t *target) SetField(name string, x starlark.Value) error {
	if h, ok := t.v.(starlark.HasSetField); ok {
		return h.SetField(name, x)
	}
	return fmt.Errorf("can't assign to .%s field of %s", name, t.v.Type())
}

// within turns an index that may count from the end into one of v.
func within(v starlark.Indexable, i int) (int, error) {
	n, at := v.Len(), i
	if at < 0 {
		at += n
	}
	if at >= 0 && at < n {
		return at, nil
	}
	if n == 0 {
		return 0, fmt.Errorf("index %d out of range: empty %s", i, v.Type())
	}
	return 0, fmt.Errorf("%s index %d out of range [%d:%d]", v.Type(), i, -n, n-1)
}
