package value

import (
	"errors"
	"fmt"
	"strconv"

	"go.starlark.net/starlark"
)

// The budgets of what crosses from one plugin to another or into plain data.
// Nodes are counted per visit, not per value: a value that shares its parts
// costs what its copy would.
const (
	MaxDepth = 64
	MaxNodes = 100_000
	MaxBytes = 4 << 20
)

// The budgets of data the host itself hands over: transcripts are long.
const (
	hostDepth = 200
	hostNodes = 2_000_000
	hostBytes = 128 << 20
)

// PathError says which part of a value did not fit.
type PathError struct {
	Path string // such as "arguments[2].x"; empty for the value itself
	Msg  string
}

func (e *PathError) Error() string {
	if e.Path == "" {
		return e.Msg
	}
	return e.Path + ": " + e.Msg
}

// Named puts a name before the path of err, so that "[2].x: …" becomes
// "arguments[2].x: …". A nil err stays nil.
func Named(name string, err error) error {
	if err == nil {
		return nil
	}
	var p *PathError
	if errors.As(err, &p) {
		return &PathError{Path: name + p.Path, Msg: p.Msg}
	}
	return fmt.Errorf("%s: %w", name, err)
}

// within adds one step before the path of err while a walk returns.
func within(step string, err error) error {
	if p, ok := err.(*PathError); ok {
		p.Path = step + p.Path
		return p
	}
	return &PathError{Path: step, Msg: err.Error()}
}

func refuse(format string, args ...any) error {
	return &PathError{Msg: fmt.Sprintf(format, args...)}
}

func index(i int) string { return "[" + strconv.Itoa(i) + "]" }

// member is the step to a dict's value: ".name" where the key reads like one.
func member(key starlark.Value) string {
	if s, ok := starlark.AsString(key); ok {
		return field(s)
	}
	return "[" + Format(key, 40) + "]"
}

func field(name string) string {
	if isName(name) {
		return "." + name
	}
	return "[" + Format(starlark.String(name), 40) + "]"
}

func isName(s string) bool {
	if s == "" || len(s) > 40 {
		return false
	}
	for i, r := range s {
		letter := r == '_' || r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z'
		if !letter && (i == 0 || r < '0' || r > '9') {
			return false
		}
	}
	return true
}

// budget is what one walk may still spend.
type budget struct {
	depth, nodes, bytes int
}

func crossing() *budget { return &budget{MaxDepth, MaxNodes, MaxBytes} }

func fromHost() *budget { return &budget{hostDepth, hostNodes, hostBytes} }

// spend accounts for one value at a depth, before anything is made of it.
func (b *budget) spend(depth, size int) error {
	if depth > b.depth {
		return refuse("nested more than %d deep", b.depth)
	}
	b.nodes--
	if b.nodes < 0 {
		return refuse("too many values in one piece of data")
	}
	b.bytes -= size
	if b.bytes < 0 {
		return refuse("too large for one piece of data")
	}
	return nil
}

// room tells whether n more values may be visited; it is asked before memory
// for them is taken.
func (b *budget) room(n int) error {
	if n <= b.nodes {
		return nil
	}
	if n <= MaxNodes {
		return refuse("too many values in one piece of data")
	}
	return refuse("%d values are too many for one piece of data", n)
}

// size of a leaf in bytes, near enough; 0 for a container.
func size(v starlark.Value) int {
	switch v := v.(type) {
	case starlark.String:
		return len(v)
	case starlark.Bytes:
		return len(v)
	case starlark.Int:
		if _, ok := v.Int64(); !ok {
			return v.BigInt().BitLen() / 8
		}
	}
	return 0
}
