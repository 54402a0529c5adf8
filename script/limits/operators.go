package limits

import (
	"errors"
	"strings"

	"go.starlark.net/starlark"
	"go.starlark.net/starlarkstruct"
	"go.starlark.net/syntax"
)

// internal is the part of starlark.Value that guards and wrapped operands share.
// No plugin ever holds one: each is consumed by the very next instruction.
type internal struct{}

func (internal) String() string        { return "<guard>" }
func (internal) Type() string          { return "guard" }
func (internal) Freeze()               {}
func (internal) Truth() starlark.Bool  { return true }
func (internal) Hash() (uint32, error) { return 0, errors.New("unhashable: guard") }

// guard is what Rewrite puts before an operand: guard >> v gives v back, a
// wrapper of it, or an error.
type guard struct {
	internal
	pass func(v starlark.Value) (starlark.Value, error)
}

func (g *guard) Binary(_ syntax.Token, v starlark.Value, _ starlark.Side) (starlark.Value, error) {
	return g.pass(v)
}

// operand stands beside an operator that could grow. The interpreter knows no such
// operation, so it asks the operand.
type operand struct {
	internal
	v     starlark.Value
	apply operation
}

// operation is an operator within limits.
type operation func(x, y starlark.Value) (starlark.Value, error)

func (o *operand) Binary(_ syntax.Token, other starlark.Value, side starlark.Side) (starlark.Value, error) {
	if side == starlark.Left {
		return o.apply(o.v, other)
	}
	return o.apply(other, o.v)
}

// operatorGuards returns the guards of the operators by their names.
func (r *rules) operatorGuards() starlark.StringDict {
	wrap := func(apply operation) starlark.Value {
		return &guard{pass: func(y starlark.Value) (starlark.Value, error) {
			switch y.(type) {
			case starlark.Int, starlark.Float, starlark.Bool, starlark.NoneType:
				return y, nil // the result grows by no more than these
			}
			return &operand{v: y, apply: apply}, nil
		}}
	}
	r.factors = make([]operand, factorHigh-factorLow+1)
	times := operation(r.times)
	for i := range r.factors {
		r.factors[i] = operand{v: starlark.MakeInt(i + factorLow), apply: times}
	}
	return starlark.StringDict{
		operatorGuard(syntax.PLUS):       wrap(r.plus),
		operatorGuard(syntax.PLUS) + "=": wrap(r.extend),
		operatorGuard(syntax.PIPE):       wrap(r.union),
		operatorGuard(syntax.PIPE) + "=": wrap(r.merge),
		operatorGuard(syntax.CIRCUMFLEX): wrap(r.difference),
		operatorGuard(syntax.STAR):       &guard{pass: r.factor},
		operatorGuard(syntax.PERCENT):    &guard{pass: r.template},
		operatorGuard(syntax.LTLT):       &guard{pass: r.shifted},
		targetGuard(syntax.PERCENT):      targets(r.template),
		targetGuard(syntax.LTLT):         targets(r.shifted),
		compareGuard:                     &guard{pass: r.comparand},
		memberGuard:                      &guard{pass: r.haystack},
		tupleGuard:                       &guard{pass: r.tuple},
		starGuard:                        &guard{pass: r.star},
	}
}

// plus is x + y.
func (r *rules) plus(x, y starlark.Value) (starlark.Value, error) {
	switch x := x.(type) {
	case starlark.String:
		if y, ok := y.(starlark.String); ok {
			if err := r.checkString("+", len(x)+len(y)); err != nil {
				return nil, err
			}
			return x + y, nil
		}
	case starlark.Bytes:
		if y, ok := y.(starlark.Bytes); ok {
			if err := r.checkString("+", len(x)+len(y)); err != nil {
				return nil, err
			}
		}
	case *starlark.List:
		if y, ok := y.(*starlark.List); ok {
			if err := r.checkList("+", x.Len()+y.Len()); err != nil {
				return nil, err
			}
		}
	case starlark.Tuple:
		if y, ok := y.(starlark.Tuple); ok {
			if err := r.checkList("+", len(x)+len(y)); err != nil {
				return nil, err
			}
			return r.measured(starlark.Binary(syntax.PLUS, x, y))
		}
	case *starlarkstruct.Struct:
		return r.measured(starlark.Binary(syntax.PLUS, x, y))
	}
	return starlark.Binary(syntax.PLUS, x, y)
}

// extend is x += y.
func (r *rules) extend(x, y starlark.Value) (starlark.Value, error) {
	list, ok := x.(*starlark.List)
	if !ok {
		return r.plus(x, y)
	}
	items, ok := y.(starlark.Iterable)
	if !ok {
		return r.plus(x, y)
	}
	if err := r.extendList(nil, "+=", list, items); err != nil {
		if what, ok := strings.CutPrefix(err.Error(), "extend: cannot extend "); ok {
			return nil, errors.New("cannot apply += to " + what)
		}
		return nil, err
	}
	return list, nil
}

// extendList appends items to list through the list's own method, so that frozen
// and iterated lists refuse as ever.
func (r *rules) extendList(thread *starlark.Thread, what string, list *starlark.List, items starlark.Iterable) error {
	room := 0
	if r.List > 0 {
		room = max(r.List-list.Len(), 0)
	}
	var arg starlark.Value = items
	var w *watch
	if _, same := items.(*starlark.List); !same {
		w = r.watch(thread, what, items, room, r.List > 0)
		arg = w
	} else if err := r.checkList(what, list.Len()+starlark.Len(items)); err != nil {
		return err
	}
	method, err := list.Attr("extend")
	if err != nil {
		return err
	}
	before := list.Len()
	if _, err := method.(*starlark.Builtin).CallInternal(thread, starlark.Tuple{arg}, nil); err != nil {
		return err
	}
	if w != nil && w.err != nil {
		if w.full {
			return over(what, before+w.n, r.List, "items", "list")
		}
		return w.err
	}
	return nil
}

// factor wraps the right side of x * y.
func (r *rules) factor(y starlark.Value) (starlark.Value, error) {
	switch v := y.(type) {
	case starlark.Int:
		if n, ok := v.Int64(); ok && n >= factorLow && n <= factorHigh {
			return &r.factors[n-factorLow], nil
		}
	case starlark.Float, starlark.Bool, starlark.NoneType:
		return y, nil
	}
	return &operand{v: y, apply: r.times}, nil
}

// times is x * y.
func (r *rules) times(x, y starlark.Value) (starlark.Value, error) {
	xi, xIsInt := x.(starlark.Int)
	yi, yIsInt := y.(starlark.Int)
	switch {
	case xIsInt && yIsInt:
		if n := bitLen(xi) + bitLen(yi); n > 2*63 {
			if err := r.checkInt("*", n); err != nil {
				return nil, err
			}
		}
		return xi.Mul(yi), nil
	case yIsInt:
		return r.repeat(x, yi, x, y)
	case xIsInt:
		return r.repeat(y, xi, x, y)
	}
	return starlark.Binary(syntax.STAR, x, y)
}

// repeat is x * y, where v is the repeated one and n the count.
func (r *rules) repeat(v starlark.Value, n starlark.Int, x, y starlark.Value) (starlark.Value, error) {
	length := 0
	switch v := v.(type) {
	case starlark.String, starlark.Bytes, *starlark.List, starlark.Tuple:
		length = starlark.Len(v)
	default:
		return starlark.Binary(syntax.STAR, x, y)
	}
	count, ok := n.Int64()
	if !ok || count > 1<<31 {
		count = 1 << 31 // the interpreter itself takes no larger one
	}
	if length > 0 && count > 0 {
		size := int(count) * length
		var err error
		switch v.(type) {
		case starlark.String, starlark.Bytes:
			err = r.checkString("*", size)
		default:
			err = r.checkList("*", size)
		}
		if err != nil {
			return nil, err
		}
	}
	return r.measured(starlark.Binary(syntax.STAR, x, y))
}

// template wraps the left side of x % y if it is a format.
func (r *rules) template(x starlark.Value) (starlark.Value, error) {
	if _, ok := x.(starlark.String); ok {
		return &operand{v: x, apply: r.interpolate}, nil
	}
	return x, nil
}

// shifted wraps the left side of x << y.
func (r *rules) shifted(x starlark.Value) (starlark.Value, error) {
	if _, ok := x.(starlark.Int); ok {
		return &operand{v: x, apply: r.shift}, nil
	}
	return x, nil
}

// shift is x << y.
func (r *rules) shift(x, y starlark.Value) (starlark.Value, error) {
	xi, _ := x.(starlark.Int)
	if yi, ok := y.(starlark.Int); ok {
		if n, ok := yi.Int64(); ok && n > 0 && n < 512 && bitLen(xi) > 63 {
			if err := r.checkInt("<<", bitLen(xi)+int(n)); err != nil {
				return nil, err
			}
		}
	}
	return starlark.Binary(syntax.LTLT, x, y)
}

// union is x | y.
func (r *rules) union(x, y starlark.Value) (starlark.Value, error) {
	if err := r.checkUnion("|", x, y); err != nil {
		return nil, err
	}
	return starlark.Binary(syntax.PIPE, x, y)
}

// difference is x ^ y.
func (r *rules) difference(x, y starlark.Value) (starlark.Value, error) {
	if err := r.checkUnion("^", x, y); err != nil {
		return nil, err
	}
	return starlark.Binary(syntax.CIRCUMFLEX, x, y)
}

// merge is x |= y, which changes a dict itself.
func (r *rules) merge(x, y starlark.Value) (starlark.Value, error) {
	xd, ok := x.(*starlark.Dict)
	if !ok {
		return r.union(x, y)
	}
	yd, ok := y.(*starlark.Dict)
	if !ok {
		return r.union(x, y)
	}
	if err := mutable(xd); err != nil {
		return nil, err
	}
	if err := r.checkUnion("|=", x, y); err != nil {
		return nil, err
	}
	if xd == yd {
		return xd, nil
	}
	for k, v := range yd.Entries() {
		if err := xd.SetKey(k, v); err != nil {
			return nil, err
		}
	}
	return xd, nil
}

// mutable reports why d cannot be changed. Deleting a key that no dict can hold
// asks that question and changes nothing.
func mutable(d *starlark.Dict) error {
	_, _, err := d.Delete(new(starlark.List))
	if err == nil {
		return nil
	}
	if what, ok := strings.CutPrefix(err.Error(), "cannot delete from "); ok {
		return errors.New("cannot apply |= to " + what)
	}
	return nil
}

// checkUnion refuses a union of two dicts or two sets that is over the limit.
func (r *rules) checkUnion(what string, x, y starlark.Value) error {
	switch x := x.(type) {
	case *starlark.Dict:
		if y, ok := y.(*starlark.Dict); ok {
			return r.checkGrowth(nil, what, x, starlark.Tuple{y}, false)
		}
	case *starlark.Set:
		if y, ok := y.(*starlark.Set); ok {
			return r.checkGrowth(nil, what, x, starlark.Tuple{y}, false)
		}
	}
	return nil
}

// star checks the argument of f(*v): the interpreter copies it in one step.
func (r *rules) star(v starlark.Value) (starlark.Value, error) {
	it, ok := v.(starlark.Iterable)
	if !ok || r.List <= 0 {
		return v, nil
	}
	if n := starlark.Len(v); n >= 0 {
		return v, r.checkList("*args", n)
	}
	w := r.watch(nil, "*args", it, r.List, true)
	var out starlark.Tuple
	for x := range starlark.Elements(w) {
		out = append(out, x)
	}
	return out, w.err
}
