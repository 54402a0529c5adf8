package limits

import "go.starlark.net/syntax"

// harmless tells whether the operation needs no guard whatever it meets: its
// result is no larger than its operands by more than a few bytes, or its cost is
// bounded by an operand whose size the source shows.
func (w *rewriter) harmless(op syntax.Token, ex, ey syntax.Expr, x, y class) bool {
	switch op {
	case syntax.PLUS:
		return max(x, y) != unknown || shortDisplay(ey)
	case syntax.STAR:
		return min(x, y) == small
	case syntax.PERCENT, syntax.PIPE, syntax.CIRCUMFLEX:
		return max(x, y) != unknown
	case syntax.LTLT:
		return min(x, y) == small
	case syntax.EQL, syntax.NEQ, syntax.LT, syntax.LE, syntax.GT, syntax.GE:
		return max(x, y) != unknown || w.plain(ex) || w.plain(ey)
	case syntax.IN, syntax.NOT_IN:
		return w.plain(ey)
	}
	return true
}

// plain tells whether comparing anything with e is cheap: a literal, None, True,
// False, or a short display of such.
func (w *rewriter) plain(e syntax.Expr) bool {
	switch e := unparen(e).(type) {
	case *syntax.Literal:
		return true
	case *syntax.Ident:
		return w.builtin(e, "None") || w.builtin(e, "True") || w.builtin(e, "False")
	case *syntax.UnaryExpr:
		return e.Op == syntax.MINUS && w.plain(e.X)
	case *syntax.TupleExpr:
		return w.allPlain(e.List)
	case *syntax.ListExpr:
		return w.allPlain(e.List)
	}
	return false
}

func (w *rewriter) allPlain(list []syntax.Expr) bool {
	if len(list) > 64 {
		return false
	}
	for _, e := range list {
		switch unparen(e).(type) {
		case *syntax.TupleExpr, *syntax.ListExpr:
			return false
		}
		if !w.plain(e) {
			return false
		}
	}
	return true
}

// shortDisplay tells whether e is a list written out with few items: adding it
// grows a list as appending does.
func shortDisplay(e syntax.Expr) bool {
	l, ok := unparen(e).(*syntax.ListExpr)
	return ok && len(l.List) <= 8
}

// severalNested tells whether a tuple display could hold two tuples, which is
// what makes its size grow exponentially.
func (w *rewriter) severalNested(list []syntax.Expr, s *scope) bool {
	n := 0
	for _, e := range list {
		switch unparen(e).(type) {
		case *syntax.Literal, *syntax.ListExpr, *syntax.DictExpr, *syntax.Comprehension, *syntax.LambdaExpr:
		default:
			if w.classOf(e, s) == unknown {
				n++
			}
		}
	}
	return n > 1
}

// harmlessCall tells whether the arguments of a direct call of a guarded method
// show that it needs no guard.
func harmlessCall(name string, args []syntax.Expr) bool {
	switch name {
	case "strip", "lstrip", "rstrip":
		return len(args) == 0 || len(args) == 1 && isShortText(args[0])
	case "startswith", "endswith", "index":
		return len(args) > 0 && (isShortText(args[0]) || shortTexts(args[0]))
	case "remove":
		return len(args) == 1 && isLiteral(args[0])
	case "replace":
		if len(args) != 2 || !isShortText(args[0]) || !isShortText(args[1]) {
			return false
		}
		from, to := textOf(args[0]), textOf(args[1])
		return from != "" && len(to) <= len(from)
	}
	return false
}

func isLiteral(e syntax.Expr) bool {
	_, ok := unparen(e).(*syntax.Literal)
	return ok
}

func isShortText(e syntax.Expr) bool {
	l, ok := unparen(e).(*syntax.Literal)
	return ok && l.Token == syntax.STRING && len(l.Value.(string)) <= 64
}

func shortTexts(e syntax.Expr) bool {
	t, ok := unparen(e).(*syntax.TupleExpr)
	if !ok || len(t.List) > 64 {
		return false
	}
	for _, x := range t.List {
		if !isShortText(x) {
			return false
		}
	}
	return true
}

func textOf(e syntax.Expr) string {
	s, _ := unparen(e).(*syntax.Literal).Value.(string)
	return s
}
