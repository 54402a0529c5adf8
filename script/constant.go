package script

import (
	"fmt"
	"math/big"
	"reflect"

	"go.starlark.net/syntax"
)

// constants folds the literal expressions of a file without running it: string,
// number, list, tuple and dict literals, True, False, None, + of two strings or
// lists, a minus sign, parentheses and names of earlier constants.
type constants map[string]any

// foldError says what cannot be read without running the file, and where.
type foldError struct {
	pos syntax.Position
	msg string
}

func notConstant(n syntax.Node, format string, args ...any) *foldError {
	return &foldError{syntax.Start(n), fmt.Sprintf(format, args...)}
}

// fold returns plain data: nil, bool, int64, *big.Int, float64, string, []byte,
// []any, map[string]any.
func (c constants) fold(x syntax.Expr) (any, *foldError) {
	switch x := x.(type) {
	case *syntax.Literal:
		return literal(x), nil
	case *syntax.ParenExpr:
		return c.fold(x.X)
	case *syntax.ListExpr:
		return c.foldAll(x.List)
	case *syntax.TupleExpr:
		return c.foldAll(x.List)
	case *syntax.DictExpr:
		return c.foldDict(x)
	case *syntax.UnaryExpr:
		return c.foldSign(x)
	case *syntax.BinaryExpr:
		return c.foldSum(x)
	case *syntax.Ident:
		if v, ok := c[x.Name]; ok {
			return v, nil
		}
		switch x.Name {
		case "True":
			return true, nil
		case "False":
			return false, nil
		case "None":
			return nil, nil
		}
		return nil, notConstant(x, "%s is not an earlier constant of this file", x.Name)
	case *syntax.CallExpr:
		return nil, notConstant(x, "a call cannot be read without running the file")
	case *syntax.Comprehension:
		return nil, notConstant(x, "a comprehension cannot be read without running the file")
	case *syntax.CondExpr:
		return nil, notConstant(x, "a condition cannot be read without running the file")
	}
	return nil, notConstant(x, "this expression cannot be read without running the file")
}

func literal(x *syntax.Literal) any {
	switch v := x.Value.(type) {
	case string:
		if x.Token == syntax.BYTES { // a bytes literal holds a Go string too
			return []byte(v)
		}
		return v
	case *big.Int:
		return v
	default: // int64, float64
		return v
	}
}

func (c constants) foldAll(list []syntax.Expr) (any, *foldError) {
	out := make([]any, len(list))
	for i, x := range list {
		v, err := c.fold(x)
		if err != nil {
			return nil, err
		}
		out[i] = v
	}
	return out, nil
}

func (c constants) foldDict(x *syntax.DictExpr) (any, *foldError) {
	out := make(map[string]any, len(x.List))
	for _, e := range x.List {
		entry, ok := e.(*syntax.DictEntry)
		if !ok {
			return nil, notConstant(e, "this expression cannot be read without running the file")
		}
		k, err := c.fold(entry.Key)
		if err != nil {
			return nil, err
		}
		key, ok := k.(string)
		if !ok {
			return nil, notConstant(entry.Key, "a key must be a string, not %s", typeName(k))
		}
		if _, twice := out[key]; twice {
			return nil, notConstant(entry.Key, "the key %q stands twice", key)
		}
		if out[key], err = c.fold(entry.Value); err != nil {
			return nil, err
		}
	}
	return out, nil
}

func (c constants) foldSign(x *syntax.UnaryExpr) (any, *foldError) {
	if x.Op != syntax.MINUS || x.X == nil {
		return nil, notConstant(x, "only a minus sign before a number can be read without running the file")
	}
	v, err := c.fold(x.X)
	if err != nil {
		return nil, err
	}
	switch v := v.(type) {
	case int64:
		return -v, nil
	case *big.Int:
		return new(big.Int).Neg(v), nil
	case float64:
		return -v, nil
	}
	return nil, notConstant(x, "only a minus sign before a number can be read without running the file")
}

// foldSum walks a chain of + without recursion on its left side: a file of the
// largest size could hold half a million terms.
func (c constants) foldSum(x *syntax.BinaryExpr) (any, *foldError) {
	var terms []syntax.Expr
	var left syntax.Expr = x
	for {
		b, ok := left.(*syntax.BinaryExpr)
		if !ok {
			break
		}
		if b.Op != syntax.PLUS {
			return nil, notConstant(b, "only + of literals can be read without running the file")
		}
		terms = append(terms, b.Y)
		left = b.X
	}
	terms = append(terms, left)
	text, list, isText, isList := "", []any{}, true, true
	for i := len(terms) - 1; i >= 0; i-- {
		v, err := c.fold(terms[i])
		if err != nil {
			return nil, err
		}
		switch v := v.(type) {
		case string:
			text, isList = text+v, false
		case []any:
			list, isText = append(list, v...), false
		default:
			isText, isList = false, false
		}
		if !isText && !isList {
			return nil, notConstant(terms[i], "only + of two strings or two lists can be read without running the file")
		}
	}
	if isText {
		return text, nil
	}
	return list, nil
}

// typeName is the Starlark name of plain data.
func typeName(v any) string {
	switch v.(type) {
	case nil:
		return "None"
	case bool:
		return "bool"
	case int64, *big.Int:
		return "int"
	case float64:
		return "float"
	case string:
		return "string"
	case []byte:
		return "bytes"
	case []any:
		return "list"
	case map[string]any, map[any]any:
		return "dict"
	}
	return fmt.Sprintf("%T", v)
}

// samePlain compares two pieces of plain data, big integers by value.
func samePlain(a, b any) bool {
	if x, ok := a.(*big.Int); ok {
		y, ok := b.(*big.Int)
		return ok && x.Cmp(y) == 0
	}
	switch a := a.(type) {
	case []any:
		b, ok := b.([]any)
		if !ok || len(a) != len(b) {
			return false
		}
		for i := range a {
			if !samePlain(a[i], b[i]) {
				return false
			}
		}
		return true
	case map[string]any:
		b, ok := b.(map[string]any)
		if !ok || len(a) != len(b) {
			return false
		}
		for k, x := range a {
			y, ok := b[k]
			if !ok || !samePlain(x, y) {
				return false
			}
		}
		return true
	}
	return reflect.DeepEqual(a, b)
}
