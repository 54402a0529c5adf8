package value

import (
	"go.starlark.net/starlark"
	"go.starlark.net/starlarkstruct"

	"starling/bus/spec"
)

// Copy returns a deep copy of v in fresh, unfrozen values: None, bool, int,
// float, string, bytes, list, tuple, dict, set and struct; a range becomes a
// list and a payload view a struct. Anything else cannot cross and is an error
// that names its path.
func Copy(v starlark.Value) (starlark.Value, error) {
	return crossing().copy(v, 0)
}

func (b *budget) copy(v starlark.Value, depth int) (starlark.Value, error) {
	if err := b.spend(depth, size(v)); err != nil {
		return nil, err
	}
	switch v := v.(type) {
	case starlark.NoneType, starlark.Bool, starlark.Int, starlark.Float, starlark.String, starlark.Bytes:
		return v, nil
	case *starlark.List:
		elems, err := b.copyAll(v, depth)
		return starlark.NewList(elems), err
	case starlark.Tuple:
		elems, err := b.copyAll(v, depth)
		return starlark.Tuple(elems), err
	case *starlark.Dict:
		return b.copyDict(v, depth)
	case *starlark.Set:
		return b.copySet(v, depth)
	case *starlarkstruct.Struct:
		return b.copyStruct(v, depth)
	case *View:
		return b.copyView(v, depth)
	case starlark.Indexable:
		if v.Type() == "range" {
			elems, err := b.copyAll(v, depth)
			return starlark.NewList(elems), err
		}
	}
	return nil, cannotCross(v)
}

func cannotCross(v starlark.Value) error {
	if _, ok := v.(starlark.Callable); ok {
		return refuse("a function cannot cross to another plugin")
	}
	return refuse("a value of type %s cannot cross to another plugin", v.Type())
}

func (b *budget) copyAll(v starlark.Indexable, depth int) ([]starlark.Value, error) {
	if err := b.room(v.Len()); err != nil {
		return nil, err
	}
	out := make([]starlark.Value, v.Len())
	for i := range out {
		c, err := b.copy(v.Index(i), depth+1)
		if err != nil {
			return nil, within(index(i), err)
		}
		out[i] = c
	}
	return out, nil
}

func (b *budget) copyDict(v *starlark.Dict, depth int) (starlark.Value, error) {
	if err := b.room(2 * v.Len()); err != nil {
		return nil, err
	}
	out := starlark.NewDict(v.Len())
	for k, x := range v.Entries() {
		// The key is copied first: a tuple that shares its parts takes for ever
		// to hash, and the copy is refused before that.
		key, err := b.copy(k, depth+1)
		if err != nil {
			return nil, within("[key]", err)
		}
		val, err := b.copy(x, depth+1)
		if err != nil {
			return nil, within(member(k), err)
		}
		if err := out.SetKey(key, val); err != nil {
			return nil, within(member(k), err)
		}
	}
	return out, nil
}

func (b *budget) copySet(v *starlark.Set, depth int) (starlark.Value, error) {
	if err := b.room(v.Len()); err != nil {
		return nil, err
	}
	out := starlark.NewSet(v.Len())
	for x := range v.Elements() {
		c, err := b.copy(x, depth+1)
		if err != nil {
			return nil, within("[element]", err)
		}
		if err := out.Insert(c); err != nil {
			return nil, within("[element]", err)
		}
	}
	return out, nil
}

func (b *budget) copyStruct(v *starlarkstruct.Struct, depth int) (starlark.Value, error) {
	names := v.AttrNames()
	if err := b.room(len(names)); err != nil {
		return nil, err
	}
	fields := make(starlark.StringDict, len(names))
	for _, name := range names {
		x, err := v.Attr(name)
		if err != nil {
			return nil, within("."+name, err)
		}
		if fields[name], err = b.copy(x, depth+1); err != nil {
			return nil, within("."+name, err)
		}
	}
	// The constructor may be a function of the plugin: it stays behind.
	return starlarkstruct.FromStringDict(starlarkstruct.Default, fields), nil
}

func (b *budget) copyView(v *View, depth int) (starlark.Value, error) {
	names := v.AttrNames()
	fields := make(starlark.StringDict, len(names))
	for _, name := range names {
		x, err := v.Attr(name)
		if err != nil {
			return nil, within("."+name, err)
		}
		if fields[name], err = b.copy(x, depth+1); err != nil {
			return nil, within("."+name, err)
		}
	}
	return starlarkstruct.FromStringDict(starlarkstruct.Default, fields), nil
}

// Frozen is a frozen copy of data a plugin made; it may be shared.
type Frozen struct{ v starlark.Value }

var _ spec.Payload = (*Frozen)(nil)

// NewFrozen copies v and freezes the copy. The errors are those of Copy.
func NewFrozen(v starlark.Value) (*Frozen, error) {
	c, err := Copy(v)
	if err != nil {
		return nil, err
	}
	c.Freeze()
	return &Frozen{c}, nil
}

// Value returns the frozen copy.
func (f *Frozen) Value() starlark.Value { return f.v }

// Plain returns the data as plain Go data (see spec.Payload), fresh at each call.
func (f *Frozen) Plain() any {
	plain, err := ToGo(f.v)
	if err != nil {
		// A key that only Starlark can hash, such as a tuple: the printed form is
		// all that Go can show of it.
		return Format(f.v, 4096)
	}
	return plain
}
