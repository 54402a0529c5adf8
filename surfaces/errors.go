package surfaces

import (
	"fmt"
	"strconv"
	"strings"
	"unicode/utf8"

	"starling/bus/view"
)

// Error says which part of a tree, a placement or an answer does not fit.
type Error struct {
	Path string // such as "rows.children[2]"; "" for the whole
	Msg  string
}

func (e *Error) Error() string {
	if e.Path == "" {
		return e.Msg
	}
	return e.Path + ": " + e.Msg
}

func failf(format string, args ...any) error { return &Error{Msg: fmt.Sprintf(format, args...)} }

// within puts one step before the path of err while a walk returns.
func within(step string, err error) error {
	e, ok := err.(*Error)
	if !ok {
		return &Error{Path: step, Msg: err.Error()}
	}
	if e.Path != "" && e.Path[0] != '[' {
		step += "."
	}
	return &Error{Path: step + e.Path, Msg: e.Msg}
}

func at(name string, i int) string { return name + "[" + strconv.Itoa(i) + "]" }

// quote shows foreign text in a message, cut and without what steers a terminal.
func quote(s string) string {
	s = view.CleanLine(s)
	if utf8.RuneCountInString(s) > 40 {
		s = string([]rune(s)[:40]) + "…"
	}
	return strconv.Quote(s)
}

// cut shortens s to n bytes at most, between characters.
func cut(s string, n int) string {
	if len(s) <= n {
		return s
	}
	for n > 0 && !utf8.RuneStart(s[n]) {
		n--
	}
	return s[:n] + "…"
}

func didYouMean(name string, candidates []string) string {
	if n := Nearest(name, candidates); n != "" {
		return fmt.Sprintf("; did you mean %q?", n)
	}
	return ""
}

// orOneOf proposes the nearest name, or lists all when none is near.
func orOneOf(name string, candidates []string) string {
	if hint := didYouMean(name, candidates); hint != "" {
		return hint
	}
	if len(candidates) == 0 {
		return ""
	}
	return "; it is " + alternatives(candidates)
}

func alternatives(names []string) string {
	quoted := make([]string, len(names))
	for i, n := range names {
		quoted[i] = strconv.Quote(n)
	}
	if len(quoted) == 1 {
		return quoted[0]
	}
	return strings.Join(quoted[:len(quoted)-1], ", ") + " or " + quoted[len(quoted)-1]
}
