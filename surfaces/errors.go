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

// Nearest returns the candidate that name was most likely meant to be: that needs the
// fewest edits to become name, if they are few for its length; of two, the one that
// begins alike. It is "" when none is near.
func Nearest(name string, candidates []string) string {
	if name == "" || len(name) > 40 {
		return ""
	}
	best, least, alike := "", (len(name)+2)/3+1, 0
	for _, c := range candidates {
		d, begin := edits(strings.ToLower(name), c), commonPrefix(name, c)
		if d < least || d == least && best != "" && begin > alike {
			best, least, alike = c, d, begin
		}
	}
	return best
}

func commonPrefix(a, b string) int {
	n := 0
	for n < len(a) && n < len(b) && a[n] == b[n] {
		n++
	}
	return n
}

// edits counts what turns a into b: letters put in, left out, replaced, and
// neighbours swapped.
func edits(a, b string) int {
	var before []int
	last := make([]int, len(b)+1)
	for j := range last {
		last[j] = j
	}
	for i := 1; i <= len(a); i++ {
		next := make([]int, len(b)+1)
		next[0] = i
		for j := 1; j <= len(b); j++ {
			cost := 1
			if a[i-1] == b[j-1] {
				cost = 0
			}
			next[j] = min(last[j-1]+cost, last[j]+1, next[j-1]+1)
			if i > 1 && j > 1 && a[i-1] == b[j-2] && a[i-2] == b[j-1] {
				next[j] = min(next[j], before[j-2]+1)
			}
		}
		before, last = last, next
	}
	return last[len(b)]
}
