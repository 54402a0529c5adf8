package value

import (
	"encoding/json"
	"fmt"
	"reflect"
	"sort"
	"strings"
	"sync"
	"sync/atomic"

	"starling/surfaces"

	"go.starlark.net/starlark"
)

// Convert turns one field of a payload into a Starlark value; ok is false where
// it has no opinion and FromGo decides.
type Convert func(field string, v any) (val starlark.Value, ok bool)

// Viewer makes views and keeps the plan of each payload type. The zero value is
// ready; it must not be copied.
type Viewer struct {
	Convert Convert
	plans   sync.Map // reflect.Type -> *plan
}

// View is a lazy, read-only look at a payload: attributes are converted when
// first read, kept, and frozen. It is safe for concurrent readers, and holds a
// copy of the tagged fields, so that whoever sent the payload may go on
// changing it.
type View struct {
	viewer *Viewer
	kind   string
	plan   *plan
	data   reflect.Value
	cells  []atomic.Pointer[starlark.Value]
	extra  starlark.StringDict
}

var (
	_ starlark.HasAttrs = (*View)(nil)
	_ starlark.Value    = (*View)(nil)
)

// View returns the view of a payload, a pointer to a struct with `field` tags.
// kind is what its type is called in messages; extra are more attributes, which
// must be frozen data.
func (w *Viewer) View(kind string, payload any, extra starlark.StringDict) (*View, error) {
	r := reflect.ValueOf(payload)
	if r.Kind() != reflect.Pointer || r.IsNil() || r.Elem().Kind() != reflect.Struct {
		return nil, fmt.Errorf("%s: a view needs a pointer to a struct, not %T", kind, payload)
	}
	src := r.Elem()
	p := w.planOf(src.Type())
	data := reflect.New(src.Type()).Elem()
	for _, f := range p.fields {
		data.Field(f.index).Set(src.Field(f.index))
	}
	return &View{
		viewer: w, kind: kind, plan: p, data: data, extra: extra,
		cells: make([]atomic.Pointer[starlark.Value], len(p.fields)),
	}, nil
}

func (w *Viewer) planOf(t reflect.Type) *plan {
	if p, ok := w.plans.Load(t); ok {
		return p.(*plan)
	}
	p, _ := w.plans.LoadOrStore(t, planOf(t))
	return p.(*plan)
}

// plan lists the fields of a struct type that plugins see.
type plan struct {
	fields []planned
	byName map[string]int
}

type planned struct {
	name  string
	index int
}

func planOf(t reflect.Type) *plan {
	p := &plan{byName: map[string]int{}}
	for _, tag := range []string{"field", "json"} {
		for i := range t.NumField() {
			f := t.Field(i)
			name, _, _ := strings.Cut(f.Tag.Get(tag), ",")
			if name == "" || name == "-" || !f.IsExported() {
				continue
			}
			p.byName[name] = len(p.fields)
			p.fields = append(p.fields, planned{name, i})
		}
		if len(p.fields) > 0 {
			break
		}
	}
	return p
}

// String names the view without its content.
func (v *View) String() string { return "<" + v.kind + ">" }

// Type returns the kind given to Viewer.View.
func (v *View) Type() string { return v.kind }

// Freeze does nothing: a view never changes.
func (v *View) Freeze() {}

// Truth is true.
func (v *View) Truth() starlark.Bool { return true }

// Hash refuses: a view is no key.
func (v *View) Hash() (uint32, error) { return 0, fmt.Errorf("unhashable: %s", v.kind) }

// AttrNames returns the names a plugin can read, sorted.
func (v *View) AttrNames() []string {
	names := make([]string, 0, len(v.plan.fields)+len(v.extra))
	for _, f := range v.plan.fields {
		names = append(names, f.name)
	}
	for name := range v.extra {
		names = append(names, name)
	}
	sort.Strings(names)
	return names
}

// Attr converts one field, once. An unknown name is an error that proposes the
// nearest.
func (v *View) Attr(name string) (starlark.Value, error) {
	i, ok := v.plan.byName[name]
	if !ok {
		if x, ok := v.extra[name]; ok {
			return x, nil
		}
		return nil, v.unknown(name)
	}
	if kept := v.cells[i].Load(); kept != nil {
		return *kept, nil
	}
	x, err := v.convert(v.plan.fields[i])
	if err != nil {
		return nil, Named(v.kind+"."+name, err)
	}
	if !v.cells[i].CompareAndSwap(nil, &x) {
		x = *v.cells[i].Load() // two readers see one value
	}
	return x, nil
}

func (v *View) unknown(name string) error {
	hint := ""
	names := v.AttrNames()
	if n := surfaces.Nearest(name, names); n != "" {
		hint = fmt.Sprintf(" (did you mean .%s?)", n)
	} else if len(names) > 0 {
		hint = " (it has " + strings.Join(names, ", ") + ")"
	}
	return fmt.Errorf("%s has no .%s field%s", v.kind, name, hint)
}

func (v *View) convert(f planned) (starlark.Value, error) {
	field := v.data.Field(f.index)
	if field.Kind() == reflect.Func {
		if field.IsNil() {
			return starlark.None, nil
		}
		return v.method(f.name, field)
	}
	return v.viewer.frozen(f.name, field.Interface())
}

// frozen converts data of the host and freezes the outcome, which is fresh.
func (w *Viewer) frozen(name string, data any) (starlark.Value, error) {
	if w.Convert != nil {
		if x, ok := w.Convert(name, data); ok {
			x.Freeze()
			return x, nil
		}
	}
	if raw, ok := data.(json.RawMessage); ok && len(raw) == 0 {
		return starlark.None, nil
	}
	x, err := FromGo(data)
	if err != nil {
		return nil, err
	}
	x.Freeze()
	return x, nil
}

// method makes a function field a builtin without arguments. What it returns is
// built at the first call and kept.
func (v *View) method(name string, fn reflect.Value) (starlark.Value, error) {
	t := fn.Type()
	if t.NumIn() != 0 || t.NumOut() < 1 || t.NumOut() > 2 {
		return nil, refuse("a Go %s cannot be called by a plugin", t)
	}
	var kept atomic.Pointer[starlark.Value]
	return starlark.NewBuiltin(name, func(_ *starlark.Thread, b *starlark.Builtin, args starlark.Tuple, kwargs []starlark.Tuple) (starlark.Value, error) {
		if err := starlark.UnpackPositionalArgs(b.Name(), args, kwargs, 0); err != nil {
			return nil, err
		}
		if x := kept.Load(); x != nil {
			return *x, nil
		}
		out := fn.Call(nil)
		if len(out) == 2 {
			if err, _ := out[1].Interface().(error); err != nil {
				return nil, fmt.Errorf("%s: %w", b.Name(), err)
			}
		}
		x, err := v.viewer.frozen(name, out[0].Interface())
		if err != nil {
			return nil, fmt.Errorf("%s: %w", b.Name(), err)
		}
		kept.CompareAndSwap(nil, &x)
		return *kept.Load(), nil
	}), nil
}
