package limits

import (
	"maps"
	"math"
	"slices"
	"sync"

	"go.starlark.net/starlark"
	"go.starlark.net/starlarkstruct"
)

// Predeclared returns the guards that a rewritten file refers to and the builtins
// that shadow those of the language: add all of it to what the file is resolved
// and run with. A host that predeclares one of the names itself, such as json,
// undoes the limit it holds.
func Predeclared(l Limits) starlark.StringDict {
	r := newRules(l)
	out := r.operatorGuards()
	maps.Copy(out, r.methodGuards())
	maps.Copy(out, r.builtins())
	out["json"] = r.json()
	return out
}

// names are those of Predeclared: making all its builtins for them costs more than
// reading a small plugin.
var names = sync.OnceValue(func() []string { return slices.Sorted(maps.Keys(Predeclared(Limits{}))) })

// Names returns the names Predeclared has, sorted; they are the same whatever the
// limits.
func Names() []string { return slices.Clone(names()) }

func universe(name string) *starlark.Builtin {
	b, _ := starlark.Universe[name].(*starlark.Builtin)
	return b
}

// shadow is a builtin that checks a call and then leaves it to the language's own.
type shadow func(m *method) (starlark.Value, error)

func (r *rules) builtins() starlark.StringDict {
	out := starlark.StringDict{}
	for name, fn := range map[string]shadow{
		"range":     r.rangeOf,
		"int":       r.intOf,
		"str":       r.printed(false),
		"repr":      r.printed(true),
		"bytes":     r.bytesOf,
		"print":     r.print,
		"fail":      r.print,
		"list":      r.sequence,
		"reversed":  r.sequence,
		"enumerate": r.sequence,
		"any":       r.sequence,
		"all":       r.sequence,
		"tuple":     r.tupleOf,
		"zip":       r.zip,
		"set":       r.collection(false),
		"dict":      r.collection(true),
		"sorted":    r.sorted,
		"min":       r.extremum,
		"max":       r.extremum,
	} {
		native := universe(name)
		out[name] = starlark.NewBuiltin(name, func(thread *starlark.Thread, _ *starlark.Builtin, args starlark.Tuple, kwargs []starlark.Tuple) (starlark.Value, error) {
			return fn(&method{thread: thread, native: native, args: args, kwargs: kwargs})
		})
	}
	out["struct"] = starlark.NewBuiltin("struct", func(thread *starlark.Thread, b *starlark.Builtin, args starlark.Tuple, kwargs []starlark.Tuple) (starlark.Value, error) {
		v, err := starlarkstruct.Make(thread, b, args, kwargs)
		for _, kv := range kwargs {
			switch kv[1].(type) {
			case starlark.Tuple, *starlarkstruct.Struct:
				return r.measured(v, err)
			}
		}
		return v, err
	})
	return out
}

func (r *rules) rangeOf(m *method) (starlark.Value, error) {
	v, err := m.call()
	if err != nil {
		return nil, err
	}
	return v, r.checkList("range", starlark.Len(v))
}

func (r *rules) intOf(m *method) (starlark.Value, error) {
	s, ok := m.named(0, "x").(starlark.String)
	if ok && r.Int > 0 {
		base := 10
		if b, ok := m.named(1, "base").(starlark.Int); ok {
			if n, ok := b.Int64(); ok && n > 1 && n <= 36 {
				base = int(n)
			}
		}
		if err := r.checkInt("int", int(float64(len(s))*math.Log2(float64(base)))); err != nil {
			return nil, err
		}
	}
	return m.call()
}

func (r *rules) printed(quoted bool) shadow {
	return func(m *method) (starlark.Value, error) {
		if len(m.args) == 1 && len(m.kwargs) == 0 {
			if err := r.meter(m.native.Name(), r.stringRoom()).text(m.args[0], quoted); err != nil {
				return nil, err
			}
		}
		return r.text(m.native.Name())(m.call()) // bytes may decode to more
	}
}

// print checks print and fail.
func (r *rules) print(m *method) (starlark.Value, error) {
	meter := r.meter(m.native.Name(), r.stringRoom())
	sep := starlark.String(" ")
	for _, kv := range m.kwargs {
		if s, ok := kv[1].(starlark.String); ok {
			sep = s
		}
	}
	for _, v := range m.args {
		if err := meter.spend(len(sep)); err != nil {
			return nil, err
		}
		if err := meter.text(v, false); err != nil {
			return nil, err
		}
	}
	return m.call()
}

func (r *rules) bytesOf(m *method) (starlark.Value, error) {
	if it, ok := m.arg(0).(starlark.Iterable); ok {
		if err := r.checkString("bytes", starlark.Len(it)); err != nil {
			return nil, err
		}
		return r.looping(m, r.String)
	}
	return r.text("bytes")(m.call())
}

// sequence checks builtins that loop over their first argument.
func (r *rules) sequence(m *method) (starlark.Value, error) { return r.looping(m, r.List) }

func (r *rules) tupleOf(m *method) (starlark.Value, error) {
	return r.measured(r.looping(m, r.List))
}

func (r *rules) zip(m *method) (starlark.Value, error) {
	rows := -1
	for _, x := range m.args {
		if n := starlark.Len(x); n >= 0 && (rows < 0 || n < rows) {
			rows = n
		}
	}
	if rows >= 0 && r.List > 0 {
		if err := r.checkList("zip", rows); err != nil {
			return nil, err
		}
		if most := 4 * r.List; rows*len(m.args) > most {
			return nil, over("zip", rows*len(m.args), most, "items", "list")
		}
	}
	v, err := r.looping(m, r.List)
	if err != nil {
		return nil, err
	}
	list, ok := v.(*starlark.List)
	if !ok {
		return v, nil
	}
	return v, r.pairs(list, m.thread)
}

// collection checks dict and set.
func (r *rules) collection(pairs bool) shadow {
	return func(m *method) (starlark.Value, error) {
		if len(m.args) > 1 {
			return m.call()
		}
		return r.fill(m, m.native.Name(), nil, pairs)
	}
}

// sorted orders as the language does, within a budget and interruptibly.
func (r *rules) sorted(m *method) (starlark.Value, error) {
	var (
		in      starlark.Iterable
		key     starlark.Callable
		reverse bool
	)
	if err := starlark.UnpackArgs("sorted", m.args, m.kwargs, "iterable", &in, "key?", &key, "reverse?", &reverse); err != nil {
		return nil, err
	}
	return newSorter(r, m.thread, "sorted").sorted(in, key, reverse)
}

// extremum is min and max.
func (r *rules) extremum(m *method) (starlark.Value, error) {
	name := m.native.Name()
	var key starlark.Callable
	if len(m.args) == 0 {
		return m.call()
	}
	if err := starlark.UnpackArgs(name, nil, m.kwargs, "key?", &key); err != nil {
		return nil, err
	}
	in, ok := starlark.Iterable(m.args), true
	if len(m.args) == 1 {
		if in, ok = m.args[0].(starlark.Iterable); !ok {
			return m.call()
		}
	}
	return newSorter(r, m.thread, name).extremum(in, key)
}
