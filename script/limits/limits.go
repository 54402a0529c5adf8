package limits

import (
	"errors"
	"fmt"
	"math"

	"go.starlark.net/starlark"
	"go.starlark.net/syntax"
)

// Limits are the sizes one plugin's values may reach in one operation. The
// numbers come from the plugin API; 0 (or less) switches a limit off. What bounds the time
// of one operation (values visited by a comparison, depth that would overflow
// the stack) is never off.
type Limits struct {
	String int // bytes of a string or bytes value
	List   int // items of a list, tuple or range
	Dict   int // items of a dict or set
	Int    int // bits of an integer
	Depth  int // levels of a value that is printed or written as JSON
}

// Defaults returns the limits of the plugin API: 8 MiB, 100 000 items, 64 Kbit,
// depth 200.
func Defaults() Limits {
	return Limits{String: 8 << 20, List: 100_000, Dict: 100_000, Int: 64 << 10, Depth: 200}
}

const (
	// maxNodes bounds the values one walk may visit, shared ones counted again
	// each time they are reached: about 20 ms.
	maxNodes = 1_000_000
	// maxCompared bounds the string bytes one comparison may read.
	maxCompared = 64 << 20
	// maxDepth holds where the depth limit is off: deeper, walking overflows
	// the stack, which ends the process.
	maxDepth = 10_000
	// unreachable is a limit that is none; sums of smaller ones cannot overflow.
	unreachable = 1 << 40
	// maxJSON is the longest text json.decode and json.indent read.
	maxJSON = 8 << 20
)

// rules are the limits of one plugin with what the checked operations share. They
// are immutable, so calls on any goroutine may use them.
type rules struct {
	Limits
	// pulse is an empty function. Calling it makes the interpreter look at the
	// thread's cancellation and step count, which a builtin cannot see.
	pulse   starlark.Value
	factors []operand // by value, from factorLow
}

// Multiplying and shifting by these costs no allocation.
const (
	factorLow  = -16
	factorHigh = 1024
)

func newRules(l Limits) *rules {
	for _, v := range []*int{&l.String, &l.List, &l.Dict, &l.Int, &l.Depth} {
		if *v > unreachable {
			*v = 0
		}
	}
	r := &rules{Limits: l}
	if f, err := starlark.ExprFuncOptions(&syntax.FileOptions{}, "pulse", "None", nil); err == nil {
		r.pulse = f
	}
	return r
}

// tick reports the thread's cancellation, if any.
func (r *rules) tick(thread *starlark.Thread) error {
	if thread == nil || r.pulse == nil {
		return nil
	}
	_, err := starlark.Call(thread, r.pulse, nil, nil)
	var failed *starlark.EvalError
	if errors.As(err, &failed) {
		return errors.New(failed.Msg) // the caller's place, not that of the pulse
	}
	return err
}

// depth is the number of levels a walk may go down.
func (r *rules) depth() int {
	if r.Depth <= 0 || r.Depth > maxDepth {
		return maxDepth
	}
	return r.Depth
}

// stringRoom is the number of bytes a string may have.
func (r *rules) stringRoom() int {
	if r.String <= 0 {
		return math.MaxInt
	}
	return r.String
}

func over(what string, have, limit int, unit, name string) error {
	if name == "" {
		return fmt.Errorf("%s: the result would have %d %s, the limit is %d", what, have, unit, limit)
	}
	return fmt.Errorf("%s: the result would have %d %s, this plugin's limit is %d (limits = {%q: …} changes it)", what, have, unit, limit, name)
}

func (r *rules) checkString(what string, n int) error {
	if r.String > 0 && n > r.String {
		return over(what, n, r.String, "bytes", "string")
	}
	return nil
}

func (r *rules) checkList(what string, n int) error {
	if r.List > 0 && n > r.List {
		return over(what, n, r.List, "items", "list")
	}
	return nil
}

func (r *rules) checkDict(what string, n int) error {
	if r.Dict > 0 && n > r.Dict {
		return over(what, n, r.Dict, "items", "dict")
	}
	return nil
}

func (r *rules) checkInt(what string, bits int) error {
	if r.Int > 0 && bits > r.Int {
		return over(what, bits, r.Int, "bits", "")
	}
	return nil
}

// bitLen is the length of an integer, 63 for all that fit in a machine word.
func bitLen(i starlark.Int) int {
	if _, small := i.Int64(); small {
		return 63
	}
	return i.BigInt().BitLen()
}
