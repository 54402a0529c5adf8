package limits

import (
	"errors"
	"fmt"
	"strings"
	"unicode"

	"go.starlark.net/starlark"
	"go.starlark.net/syntax"
)

// guardedMethods are the attribute names that Rewrite replaces. An object of
// another type may have an attribute of such a name; it is read as ever.
var guardedMethods = map[string]bool{
	"join": true, "replace": true, "format": true, "split": true, "rsplit": true, "splitlines": true,
	"strip": true, "lstrip": true, "rstrip": true, "startswith": true, "endswith": true,
	"extend": true, "index": true, "remove": true,
	"items": true, "popitem": true, "update": true,
	"union": true, "difference": true, "intersection": true, "symmetric_difference": true,
	"issubset": true, "issuperset": true,
}

// A method is one call of a guarded method.
type method struct {
	thread *starlark.Thread
	native *starlark.Builtin // the interpreter's own, bound to the receiver
	args   starlark.Tuple
	kwargs []starlark.Tuple
}

func (m *method) call() (starlark.Value, error) {
	return m.native.CallInternal(m.thread, m.args, m.kwargs)
}

// arg is the i-th positional argument, or nil.
func (m *method) arg(i int) starlark.Value {
	if i < len(m.args) {
		return m.args[i]
	}
	return nil
}

// named is the argument at position i or of that name, or nil.
func (m *method) named(i int, name string) starlark.Value {
	if i < len(m.args) {
		return m.args[i]
	}
	for _, kv := range m.kwargs {
		if k, ok := starlark.AsString(kv[0]); ok && k == name {
			return kv[1]
		}
	}
	return nil
}

// methodTable holds the checked methods of one built-in type.
type methodTable map[string]*starlark.Builtin

func (r *rules) tables() (str, list, dict, set methodTable) {
	str = table(starlark.String(""), map[string]func(starlark.String, *method) (starlark.Value, error){
		"join":    r.join,
		"replace": r.replace,
		"format": func(s starlark.String, m *method) (starlark.Value, error) {
			return r.format(m.thread, s, m.native, m.args, m.kwargs)
		},
		"split":      r.split,
		"rsplit":     r.split,
		"splitlines": r.splitlines,
		"strip":      r.strip, "lstrip": r.strip, "rstrip": r.strip,
		"startswith": r.startswith, "endswith": r.startswith,
	})
	list = table(new(starlark.List), map[string]func(*starlark.List, *method) (starlark.Value, error){
		"extend": r.listExtend, "index": r.listIndex, "remove": r.listRemove,
	})
	dict = table(new(starlark.Dict), map[string]func(*starlark.Dict, *method) (starlark.Value, error){
		"items": r.dictItems, "popitem": r.dictPopitem, "update": r.dictUpdate,
	})
	set = table(new(starlark.Set), map[string]func(*starlark.Set, *method) (starlark.Value, error){
		"union": r.setUnion, "update": r.setUnion,
		"difference": r.setOther, "intersection": r.setOther, "symmetric_difference": r.setOther,
		"issubset": r.setOther, "issuperset": r.setOther,
	})
	return str, list, dict, set
}

// table wraps the methods of the type of zero.
func table[T starlark.Value](zero starlark.HasAttrs, funcs map[string]func(T, *method) (starlark.Value, error)) methodTable {
	t := methodTable{}
	for name, fn := range funcs {
		attr, err := zero.Attr(name)
		native, ok := attr.(*starlark.Builtin)
		if err != nil || !ok {
			continue
		}
		t[name] = starlark.NewBuiltin(name, func(thread *starlark.Thread, b *starlark.Builtin, args starlark.Tuple, kwargs []starlark.Tuple) (starlark.Value, error) {
			recv := b.Receiver()
			m := method{thread: thread, native: native.BindReceiver(recv), args: args, kwargs: kwargs}
			return fn(recv.(T), &m)
		})
	}
	return t
}

// methodGuards returns the guards that read attributes, and getattr.
func (r *rules) methodGuards() starlark.StringDict {
	str, list, dict, set := r.tables()
	checked := func(v starlark.Value, name string) *starlark.Builtin {
		switch v.(type) {
		case starlark.String:
			return str[name]
		case *starlark.List:
			return list[name]
		case *starlark.Dict:
			return dict[name]
		case *starlark.Set:
			return set[name]
		}
		return nil
	}
	out := starlark.StringDict{}
	for name := range guardedMethods {
		str, list, dict, set := str[name], list[name], dict[name], set[name]
		out[methodGuard(name)] = &guard{pass: func(v starlark.Value) (starlark.Value, error) {
			var b *starlark.Builtin
			switch v.(type) {
			case starlark.String:
				b = str
			case *starlark.List:
				b = list
			case *starlark.Dict:
				b = dict
			case *starlark.Set:
				b = set
			}
			if b == nil {
				return attribute(v, name)
			}
			return b.BindReceiver(v), nil
		}}
	}
	native := universe("getattr")
	out["getattr"] = starlark.NewBuiltin("getattr", func(thread *starlark.Thread, _ *starlark.Builtin, args starlark.Tuple, kwargs []starlark.Tuple) (starlark.Value, error) {
		v, err := native.CallInternal(thread, args, kwargs)
		if err != nil || len(args) < 2 {
			return v, err
		}
		name, _ := starlark.AsString(args[1])
		if b := checked(args[0], name); b != nil {
			return b.BindReceiver(args[0]), nil
		}
		return v, nil
	})
	return out
}

// attribute is v.name. Where there is none, the interpreter itself is asked for
// its message, which may suggest another name.
func attribute(v starlark.Value, name string) (starlark.Value, error) {
	if h, ok := v.(starlark.HasAttrs); ok {
		x, err := h.Attr(name)
		if err == nil && x != nil {
			return x, nil
		}
		var missing starlark.NoSuchAttrError
		if err != nil && !errors.As(err, &missing) {
			return nil, err
		}
	}
	_, err := starlark.EvalOptions(&syntax.FileOptions{}, &starlark.Thread{}, "", "x."+name, starlark.StringDict{"x": v})
	var failed *starlark.EvalError
	if errors.As(err, &failed) {
		return nil, errors.New(failed.Msg)
	}
	return nil, fmt.Errorf("%s has no .%s field or method", v.Type(), name)
}

func (r *rules) join(s starlark.String, m *method) (starlark.Value, error) {
	it, ok := m.arg(0).(starlark.Iterable)
	if !ok || len(m.args) != 1 || len(m.kwargs) > 0 {
		return m.call()
	}
	total, loop := 0, work{r: r, thread: m.thread}
	var parts []string
	iter := it.Iterate()
	defer iter.Done()
	var x starlark.Value
	for iter.Next(&x) {
		part, ok := starlark.AsString(x)
		if !ok {
			return nil, fmt.Errorf("join: in list, want string, got %s", x.Type())
		}
		if total += len(part); len(parts) > 0 {
			total += len(s)
		}
		if err := r.checkString("join", total); err != nil {
			return nil, err
		}
		parts = append(parts, part)
		if err := loop.add(x); err != nil {
			return nil, err
		}
	}
	return starlark.String(strings.Join(parts, string(s))), nil
}

func (r *rules) replace(s starlark.String, m *method) (starlark.Value, error) {
	from, ok1 := m.arg(0).(starlark.String)
	to, ok2 := m.arg(1).(starlark.String)
	if !ok1 || !ok2 || r.String <= 0 || len(to) <= len(from) {
		return m.call()
	}
	n := strings.Count(string(s), string(from))
	if max, ok := m.arg(2).(starlark.Int); ok {
		if most, ok := max.Int64(); ok && most >= 0 {
			n = min(n, int(most))
		}
	}
	if grown := len(to) - len(from); n > 0 && grown > (r.String-len(s))/n {
		return nil, over("replace", len(s)+n*grown, r.String, "bytes", "string")
	}
	return m.call()
}

// split checks split and rsplit, whose parts each cost more than their text.
func (r *rules) split(s starlark.String, m *method) (starlark.Value, error) {
	if r.List <= 0 || len(s) < r.List {
		return m.call() // too short to have that many parts
	}
	n := 0
	sep, ok := m.arg(0).(starlark.String)
	if ok && sep != "" {
		n = strings.Count(string(s), string(sep)) + 1
	} else {
		n = fieldCount(string(s))
	}
	if most, ok := m.arg(1).(starlark.Int); ok {
		if k, ok := most.Int64(); ok && k >= 0 {
			// rsplit makes all parts of a given separator before it joins some.
			if m.native.Name() == "split" || sep == "" {
				n = min(n, int(k)+1)
			}
		}
	}
	if err := r.checkList(m.native.Name(), n); err != nil {
		return nil, err
	}
	return m.call()
}

func fieldCount(s string) int {
	n, inField := 0, false
	for _, c := range s {
		space := unicode.IsSpace(c)
		if !space && !inField {
			n++
		}
		inField = !space
	}
	return n
}

func (r *rules) splitlines(s starlark.String, m *method) (starlark.Value, error) {
	if err := r.checkList("splitlines", strings.Count(string(s), "\n")+1); err != nil && !strings.HasSuffix(string(s), "\n") {
		return nil, err
	} else if err := r.checkList("splitlines", strings.Count(string(s), "\n")); err != nil {
		return nil, err
	}
	return m.call()
}

// strip checks the strip methods, which look through all characters to strip for
// each character of the string.
func (r *rules) strip(s starlark.String, m *method) (starlark.Value, error) {
	chars, ok := m.arg(0).(starlark.String)
	if !ok || len(chars) <= 64 || len(m.args) != 1 || len(m.kwargs) > 0 {
		return m.call()
	}
	set := map[rune]bool{}
	for _, c := range string(chars) {
		set[c] = true
	}
	in := func(c rune) bool { return set[c] }
	out := string(s)
	if m.native.Name() != "rstrip" {
		out = strings.TrimLeftFunc(out, in)
	}
	if m.native.Name() != "lstrip" {
		out = strings.TrimRightFunc(out, in)
	}
	return starlark.String(out), nil
}

// startswith checks startswith and endswith of many long alternatives.
func (r *rules) startswith(s starlark.String, m *method) (starlark.Value, error) {
	if options, ok := m.arg(0).(starlark.Tuple); ok {
		room := maxCompared
		for _, x := range options {
			p, _ := starlark.AsString(x)
			if len(p) <= len(s) {
				room -= len(p)
			}
			if room < 0 {
				return nil, fmt.Errorf("%s: comparing takes too long: more than %d bytes", m.native.Name(), maxCompared)
			}
		}
	}
	return m.call()
}
