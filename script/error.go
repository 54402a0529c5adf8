package script

import (
	"errors"
	"fmt"
	"strings"

	"go.starlark.net/resolve"
	"go.starlark.net/starlark"
	"go.starlark.net/syntax"
)

// Position is a place in a file; Line and Col count from 1, 0 is unknown.
type Position struct {
	File      string
	Line, Col int
}

func (p Position) String() string {
	switch {
	case p.Line == 0:
		return p.File
	case p.Col == 0:
		return fmt.Sprintf("%s:%d", p.File, p.Line)
	}
	return fmt.Sprintf("%s:%d:%d", p.File, p.Line, p.Col)
}

func positionOf(p syntax.Position) Position {
	return Position{File: p.Filename(), Line: int(p.Line), Col: int(p.Col)}
}

// Error is one error of a file or of a call into it.
type Error struct {
	File      string
	Line, Col int // from 1; 0 when the place is the whole file
	Msg       string
	// Backtrace is the Starlark call stack, one frame a line; empty for errors
	// found without running.
	Backtrace string
	// Hint is the next step, when one is known.
	Hint string

	cause error
}

// Error returns "FILE:LINE:COL: message (hint)".
func (e *Error) Error() string {
	s := e.Position().String() + ": " + e.Msg
	if e.Hint != "" {
		s += " (" + e.Hint + ")"
	}
	return s
}

// Position of the error.
func (e *Error) Position() Position { return Position{e.File, e.Line, e.Col} }

// Unwrap returns what the host function at that place had returned, if any.
func (e *Error) Unwrap() error { return e.cause }

// ErrorList holds every error of one file, in the order of its lines.
type ErrorList []*Error

// Error returns one line for each error.
func (l ErrorList) Error() string {
	lines := make([]string, len(l))
	for i, e := range l {
		lines[i] = e.Error()
	}
	return strings.Join(lines, "\n")
}

// Unwrap returns the errors for errors.As.
func (l ErrorList) Unwrap() []error {
	all := make([]error, len(l))
	for i, e := range l {
		all[i] = e
	}
	return all
}

// err returns the list as an error: nil, the only one, or all of them.
func (l ErrorList) err() error {
	switch len(l) {
	case 0:
		return nil
	case 1:
		return l[0]
	}
	return l
}

func (l *ErrorList) add(p syntax.Position, format string, args ...any) *Error {
	e := &Error{File: p.Filename(), Line: int(p.Line), Col: int(p.Col), Msg: fmt.Sprintf(format, args...)}
	*l = append(*l, e)
	return e
}

// syntaxErrors turns what the parser or the resolver returned into our errors.
func syntaxErrors(path string, err error) ErrorList {
	var list resolve.ErrorList
	var parse syntax.Error
	var out ErrorList
	switch {
	case errors.As(err, &list):
		for _, e := range list {
			out.add(e.Pos, "%s", e.Msg)
		}
	case errors.As(err, &parse):
		out.add(parse.Pos, "%s", parse.Msg)
	default:
		out = append(out, &Error{File: path, Msg: err.Error()})
	}
	return out
}

const cancelled = "Starlark computation cancelled: "

// fromEval makes an Error of what a call returned. The place is the innermost
// frame that lies in a file.
func (p *Program) fromEval(err error) error {
	if err == nil {
		return nil
	}
	var eval *starlark.EvalError
	if !errors.As(err, &eval) {
		return &Error{File: p.path, Msg: err.Error(), cause: err}
	}
	e := &Error{File: p.path, Msg: strings.TrimPrefix(eval.Msg, cancelled), Backtrace: backtrace(eval), cause: eval.Unwrap()}
	for i := len(eval.CallStack) - 1; i >= 0; i-- {
		if pos := eval.CallStack[i].Pos; pos.Line > 0 && pos.Filename() != "<builtin>" {
			e.File, e.Line, e.Col = pos.Filename(), int(pos.Line), int(pos.Col)
			break
		}
	}
	if inner := (*Error)(nil); !errors.As(e.cause, &inner) {
		e.Hint = p.hint(e)
	}
	return e
}

// backtrace prints the frames as Python does, innermost last. Deep stacks keep
// their ends.
func backtrace(eval *starlark.EvalError) string {
	const keep = 20
	var b strings.Builder
	stack := eval.CallStack
	for i, f := range stack {
		if i == keep && len(stack) > 2*keep {
			fmt.Fprintf(&b, "  … %d more\n", len(stack)-2*keep)
		}
		if i >= keep && i < len(stack)-keep {
			continue
		}
		fmt.Fprintf(&b, "  %s: in %s\n", f.Pos, f.Name)
	}
	return b.String()
}
