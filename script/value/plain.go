package value

import (
	"encoding/json"
	"fmt"
	"math/big"
	"reflect"
	"sort"

	"go.starlark.net/starlark"
	"go.starlark.net/starlarkstruct"
)

// ToGo returns v as plain data: nil, bool, int64, *big.Int, float64, string,
// []byte, []any (lists, tuples, sets, ranges), map[string]any (dicts and
// structs) or map[any]any where a key is no string. The budgets and refusals
// are those of Copy.
func ToGo(v starlark.Value) (any, error) {
	return crossing().toGo(v, 0)
}

func (b *budget) toGo(v starlark.Value, depth int) (any, error) {
	if err := b.spend(depth, size(v)); err != nil {
		return nil, err
	}
	switch v := v.(type) {
	case starlark.NoneType:
		return nil, nil
	case starlark.Bool:
		return bool(v), nil
	case starlark.Int:
		if i, ok := v.Int64(); ok {
			return i, nil
		}
		return v.BigInt(), nil
	case starlark.Float:
		return float64(v), nil
	case starlark.String:
		return string(v), nil
	case starlark.Bytes:
		return []byte(v), nil
	case *starlark.List, starlark.Tuple:
		return b.toSlice(v.(starlark.Indexable), depth)
	case *starlark.Dict:
		return b.toMap(v, depth)
	case *starlark.Set:
		return b.setToSlice(v, depth)
	case *starlarkstruct.Struct:
		return b.attrsToMap(v, depth)
	case *View:
		return b.attrsToMap(v, depth)
	case starlark.Indexable:
		if v.Type() == "range" {
			return b.toSlice(v, depth)
		}
	}
	if _, ok := v.(starlark.Callable); ok {
		return nil, refuse("a function is not data")
	}
	return nil, refuse("a value of type %s is not data", v.Type())
}

func (b *budget) toSlice(v starlark.Indexable, depth int) (any, error) {
	if err := b.room(v.Len()); err != nil {
		return nil, err
	}
	out := make([]any, v.Len())
	for i := range out {
		x, err := b.toGo(v.Index(i), depth+1)
		if err != nil {
			return nil, within(index(i), err)
		}
		out[i] = x
	}
	return out, nil
}

func (b *budget) setToSlice(v *starlark.Set, depth int) (any, error) {
	if err := b.room(v.Len()); err != nil {
		return nil, err
	}
	out := make([]any, 0, v.Len())
	for e := range v.Elements() {
		x, err := b.toGo(e, depth+1)
		if err != nil {
			return nil, within("[element]", err)
		}
		out = append(out, x)
	}
	return out, nil
}

func (b *budget) attrsToMap(v starlark.HasAttrs, depth int) (any, error) {
	names := v.AttrNames()
	if err := b.room(len(names)); err != nil {
		return nil, err
	}
	out := make(map[string]any, len(names))
	for _, name := range names {
		x, err := v.Attr(name)
		if err != nil {
			return nil, within("."+name, err)
		}
		if out[name], err = b.toGo(x, depth+1); err != nil {
			return nil, within("."+name, err)
		}
	}
	return out, nil
}

func (b *budget) toMap(v *starlark.Dict, depth int) (any, error) {
	if err := b.room(2 * v.Len()); err != nil {
		return nil, err
	}
	text := make(map[string]any, v.Len())
	var mixed map[any]any
	for k, x := range v.Entries() {
		key, err := b.toGo(k, depth+1)
		if err != nil {
			return nil, within("[key]", err)
		}
		val, err := b.toGo(x, depth+1)
		if err != nil {
			return nil, within(member(k), err)
		}
		if s, ok := key.(string); ok && mixed == nil {
			text[s] = val
			continue
		}
		if mixed == nil {
			mixed = make(map[any]any, v.Len())
			for s, x := range text {
				mixed[s] = x
			}
		}
		switch key.(type) {
		case nil, bool, int64, float64, string:
			mixed[key] = val
		default:
			return nil, within(member(k), refuse("a %s as key has no plain form", k.Type()))
		}
	}
	if mixed != nil {
		return mixed, nil
	}
	return text, nil
}

// FromGo returns fresh, unfrozen Starlark values for plain Go data: nil, bool,
// every integer and float type, *big.Int, string, []byte, json.RawMessage
// (decoded), pointers, slices, maps (in sorted order of their keys) and structs,
// which become Starlark structs of the fields that carry a `field` tag (or a
// `json` tag, where no field of the type carries the first). A starlark.Value is
// taken as it is.
func FromGo(v any) (starlark.Value, error) {
	return fromHost().fromGo(v, 0)
}

func (b *budget) fromGo(v any, depth int) (starlark.Value, error) {
	switch x := v.(type) {
	case nil:
		return starlark.None, b.spend(depth, 0)
	case starlark.Value:
		return x, b.spend(depth, size(x))
	case bool:
		return starlark.Bool(x), b.spend(depth, 0)
	case string:
		return starlark.String(x), b.spend(depth, len(x))
	case int:
		return starlark.MakeInt(x), b.spend(depth, 0)
	case int64:
		return starlark.MakeInt64(x), b.spend(depth, 0)
	case float64:
		return starlark.Float(x), b.spend(depth, 0)
	case *big.Int:
		if x == nil {
			return starlark.None, b.spend(depth, 0)
		}
		return starlark.MakeBigInt(x), b.spend(depth, x.BitLen()/8)
	case []byte:
		return starlark.Bytes(x), b.spend(depth, len(x))
	case json.RawMessage:
		return b.decode(x, depth)
	case json.Number:
		return number(string(x))
	case []any:
		return b.fromSlice(len(x), func(i int) any { return x[i] }, depth)
	case []string:
		return b.fromSlice(len(x), func(i int) any { return x[i] }, depth)
	case map[string]any:
		return b.fromMap(x, depth)
	}
	return b.reflected(reflect.ValueOf(v), depth)
}

func (b *budget) fromSlice(n int, at func(int) any, depth int) (starlark.Value, error) {
	if err := b.spend(depth, 0); err != nil {
		return nil, err
	}
	if err := b.room(n); err != nil {
		return nil, err
	}
	elems := make([]starlark.Value, n)
	for i := range elems {
		x, err := b.fromGo(at(i), depth+1)
		if err != nil {
			return nil, within(index(i), err)
		}
		elems[i] = x
	}
	return starlark.NewList(elems), nil
}

func (b *budget) fromMap(m map[string]any, depth int) (starlark.Value, error) {
	if err := b.spend(depth, 0); err != nil {
		return nil, err
	}
	if err := b.room(2 * len(m)); err != nil {
		return nil, err
	}
	keys := make([]string, 0, len(m))
	for k := range m {
		keys = append(keys, k)
	}
	sort.Strings(keys)
	d := starlark.NewDict(len(m))
	for _, k := range keys {
		if err := b.spend(depth+1, len(k)); err != nil {
			return nil, err
		}
		x, err := b.fromGo(m[k], depth+1)
		if err != nil {
			return nil, within(field(k), err)
		}
		if err := d.SetKey(starlark.String(k), x); err != nil {
			return nil, within(field(k), err)
		}
	}
	return d, nil
}

// reflected handles the named and less common types of plain data.
func (b *budget) reflected(r reflect.Value, depth int) (starlark.Value, error) {
	switch r.Kind() {
	case reflect.Pointer, reflect.Interface:
		if r.IsNil() {
			return starlark.None, b.spend(depth, 0)
		}
		if err := b.spend(depth, 0); err != nil {
			return nil, err
		}
		return b.fromGo(r.Elem().Interface(), depth+1)
	case reflect.Bool:
		return starlark.Bool(r.Bool()), b.spend(depth, 0)
	case reflect.String:
		return starlark.String(r.String()), b.spend(depth, r.Len())
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
		return starlark.MakeInt64(r.Int()), b.spend(depth, 0)
	case reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64, reflect.Uintptr:
		return starlark.MakeUint64(r.Uint()), b.spend(depth, 0)
	case reflect.Float32, reflect.Float64:
		return starlark.Float(r.Float()), b.spend(depth, 0)
	case reflect.Slice, reflect.Array:
		if r.Type().Elem().Kind() == reflect.Uint8 && r.Kind() == reflect.Slice {
			return b.fromGo(r.Bytes(), depth)
		}
		return b.fromSlice(r.Len(), func(i int) any { return r.Index(i).Interface() }, depth)
	case reflect.Map:
		return b.reflectedMap(r, depth)
	case reflect.Struct:
		return b.reflectedStruct(r, depth)
	}
	return nil, refuse("a Go %s is not data", r.Type())
}

func (b *budget) reflectedMap(r reflect.Value, depth int) (starlark.Value, error) {
	if err := b.spend(depth, 0); err != nil {
		return nil, err
	}
	if err := b.room(2 * r.Len()); err != nil {
		return nil, err
	}
	type entry struct {
		order string
		key   starlark.Value
		val   reflect.Value
	}
	entries := make([]entry, 0, r.Len())
	for it := r.MapRange(); it.Next(); {
		key, err := b.fromGo(it.Key().Interface(), depth+1)
		if err != nil {
			return nil, within("[key]", err)
		}
		entries = append(entries, entry{key.Type() + " " + fmt.Sprint(it.Key().Interface()), key, it.Value()})
	}
	sort.Slice(entries, func(i, j int) bool { return entries[i].order < entries[j].order })
	d := starlark.NewDict(len(entries))
	for _, e := range entries {
		x, err := b.fromGo(e.val.Interface(), depth+1)
		if err != nil {
			return nil, within(member(e.key), err)
		}
		if err := d.SetKey(e.key, x); err != nil {
			return nil, within(member(e.key), err)
		}
	}
	return d, nil
}

func (b *budget) reflectedStruct(r reflect.Value, depth int) (starlark.Value, error) {
	if err := b.spend(depth, 0); err != nil {
		return nil, err
	}
	p := planOf(r.Type())
	if len(p.fields) == 0 {
		return nil, refuse("a Go %s is not data", r.Type())
	}
	fields := make(starlark.StringDict, len(p.fields))
	for _, f := range p.fields {
		x, err := b.fromGo(r.Field(f.index).Interface(), depth+1)
		if err != nil {
			return nil, within("."+f.name, err)
		}
		fields[f.name] = x
	}
	return starlarkstruct.FromStringDict(starlarkstruct.Default, fields), nil
}
