package script

import (
	"fmt"

	"go.starlark.net/starlark"
	"go.starlark.net/starlarkstruct"
)

// maxFreeze is how many values freezing the globals of one file may visit. The library
// freezes by recursion and remembers where it was only for lists, dicts and
// sets: deep values, and functions that hold each other, would end the process.
const maxFreeze = 1_000_000

// freeze freezes the globals of a file after looking at what that would visit.
func (p *Program) freeze(globals starlark.StringDict) error {
	w := freezeWalk{frozen: map[starlark.Value]bool{}, left: maxFreeze}
	for _, name := range globals.Keys() {
		if err := w.walk(globals[name]); err != nil {
			return &Error{File: p.path, Msg: fmt.Sprintf("%s: %s", name, err), Hint: "make it in apply()"}
		}
	}
	globals.Freeze()
	return nil
}

// freezeWalk goes the way of the library's Freeze without its recursion.
type freezeWalk struct {
	frozen map[starlark.Value]bool // lists, dicts and sets seen
	left   int
	stack  []starlark.Value // to visit; nil takes one off path
	path   []starlark.Value
}

func (w *freezeWalk) walk(v starlark.Value) error {
	w.stack = append(w.stack, v)
	for len(w.stack) > 0 {
		v := w.stack[len(w.stack)-1]
		w.stack = w.stack[:len(w.stack)-1]
		if v == nil {
			w.path = w.path[:len(w.path)-1]
			continue
		}
		switch v.(type) {
		case *starlark.List, *starlark.Dict, *starlark.Set:
			if w.frozen[v] {
				continue
			}
			w.frozen[v] = true
		case starlark.Tuple, *starlark.Function, *starlark.Builtin, *starlarkstruct.Struct:
		default:
			continue
		}
		if w.left--; w.left < 0 {
			return w.tooMuch()
		}
		w.path = append(w.path, v)
		w.stack = append(w.stack, nil)
		w.push(v)
	}
	return nil
}

func (w *freezeWalk) add(v starlark.Value) {
	if v != nil {
		w.stack = append(w.stack, v)
	}
}

func (w *freezeWalk) push(v starlark.Value) {
	switch v := v.(type) {
	case *starlark.List:
		for i := range v.Len() {
			w.add(v.Index(i))
		}
	case starlark.Tuple:
		for _, x := range v {
			w.add(x)
		}
	case *starlark.Dict:
		for k, x := range v.Entries() {
			w.add(k)
			w.add(x)
		}
	case *starlark.Set:
		for x := range v.Elements() {
			w.add(x)
		}
	case *starlark.Function:
		for i := range v.NumParams() {
			w.add(v.ParamDefault(i))
		}
		for i := range v.NumFreeVars() {
			_, x := v.FreeVar(i)
			w.add(x)
		}
	case *starlark.Builtin:
		w.add(v.Receiver())
	case *starlarkstruct.Struct:
		for _, name := range v.AttrNames() {
			if x, err := v.Attr(name); err == nil {
				w.add(x)
			}
		}
	}
}

// tooMuch names the function that holds itself, if that is the reason.
func (w *freezeWalk) tooMuch() error {
	seen := map[*starlark.Function]bool{}
	for _, v := range w.path {
		fn, ok := v.(*starlark.Function)
		if !ok {
			continue
		}
		if seen[fn] {
			return fmt.Errorf("the function %s at %s holds itself, which a global cannot", fn.Name(), fn.Position())
		}
		seen[fn] = true
	}
	return fmt.Errorf("globals cannot hold more than %d values", maxFreeze)
}
