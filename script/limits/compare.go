package limits

import (
	"errors"
	"fmt"

	"go.starlark.net/starlark"
	"go.starlark.net/starlarkstruct"
	"go.starlark.net/syntax"
)

// comparand wraps the left side of a comparison if comparing it could take long.
func (r *rules) comparand(x starlark.Value) (starlark.Value, error) {
	switch x.(type) {
	case *starlark.List, starlark.Tuple, *starlark.Dict, *starlark.Set, *starlarkstruct.Struct:
		return &comparand{v: x}, nil
	}
	return x, nil
}

// comparand pretends to be of its value's type, so that the interpreter lets it
// compare itself with others of that type and treats all others as ever.
type comparand struct {
	internal
	v starlark.Value
}

func (c *comparand) Type() string { return c.v.Type() }

func (c *comparand) CompareSameType(op syntax.Token, y starlark.Value, depth int) (bool, error) {
	return newComparer(op.String()+": ").compare(op, c.v, y, depth)
}

// haystack wraps the right side of x in y if searching it could take long.
func (r *rules) haystack(y starlark.Value) (starlark.Value, error) {
	switch v := y.(type) {
	case *starlark.List:
		return &haystack{v: v}, nil
	case starlark.Tuple:
		return &haystack{v: v}, nil
	}
	return y, nil
}

type haystack struct {
	internal
	v starlark.Indexable
}

// Has tells whether y is an item.
func (h *haystack) Has(y starlark.Value) (bool, error) {
	if cheap(y) {
		return h.v.(starlark.Container).Has(y)
	}
	i, err := newComparer("in: ").find(h.v, y, 0, h.v.Len())
	return i >= 0, err
}

// cheap tells whether comparing y with anything takes next to no time.
func cheap(y starlark.Value) bool {
	switch y := y.(type) {
	case starlark.String:
		return len(y) <= 64
	case starlark.Bytes:
		return len(y) <= 64
	case *starlark.List, starlark.Tuple, *starlark.Dict, *starlark.Set, *starlarkstruct.Struct:
		return false
	}
	return true
}

// comparer compares values as the interpreter does, within a budget.
type comparer struct {
	what  string // prefix of its own error
	nodes int
	bytes int
}

func newComparer(what string) *comparer {
	return &comparer{what: what, nodes: maxNodes, bytes: maxCompared}
}

var errTooDeep = errors.New("comparison exceeded maximum recursion depth")

// find returns the index of the first item in [from, to) equal to y, or -1.
func (c *comparer) find(list starlark.Indexable, y starlark.Value, from, to int) (int, error) {
	for i := from; i < to && i < list.Len(); i++ {
		eq, err := c.compare(syntax.EQL, list.Index(i), y, starlark.CompareLimit)
		if err != nil {
			return -1, err
		}
		if eq {
			return i, nil
		}
	}
	return -1, nil
}

func (c *comparer) compare(op syntax.Token, x, y starlark.Value, depth int) (bool, error) {
	if depth < 1 {
		return false, errTooDeep
	}
	c.nodes--
	switch x := x.(type) {
	case starlark.String:
		if y, ok := y.(starlark.String); ok {
			c.bytes -= min(len(x), len(y))
		}
	case starlark.Bytes:
		if y, ok := y.(starlark.Bytes); ok {
			c.bytes -= min(len(x), len(y))
		}
	}
	if c.nodes < 0 || c.bytes < 0 {
		return false, fmt.Errorf("%scomparing takes too long: more than %d values or %d bytes, counting shared parts again", c.what, maxNodes, maxCompared)
	}
	switch x := x.(type) {
	case *starlark.List:
		if y, ok := y.(*starlark.List); ok {
			return c.sequences(op, x, y, depth)
		}
	case starlark.Tuple:
		if y, ok := y.(starlark.Tuple); ok {
			return c.sequences(op, x, y, depth)
		}
	case *starlark.Dict:
		if y, ok := y.(*starlark.Dict); ok && equality(op) {
			eq, err := c.dicts(x, y, depth)
			return eq == (op == syntax.EQL), err
		}
	case *starlarkstruct.Struct:
		if y, ok := y.(*starlarkstruct.Struct); ok && equality(op) {
			eq, err := c.structs(x, y, depth)
			return eq == (op == syntax.EQL), err
		}
	case *starlark.Set:
		if y, ok := y.(*starlark.Set); ok {
			if err := c.sets(x, y); err != nil {
				return false, err
			}
		}
	}
	return starlark.CompareDepth(op, x, y, depth)
}

func equality(op syntax.Token) bool { return op == syntax.EQL || op == syntax.NEQ }

func (c *comparer) sequences(op syntax.Token, x, y starlark.Indexable, depth int) (bool, error) {
	nx, ny := x.Len(), y.Len()
	if nx != ny && equality(op) {
		return op == syntax.NEQ, nil
	}
	for i := 0; i < nx && i < ny; i++ {
		eq, err := c.compare(syntax.EQL, x.Index(i), y.Index(i), depth-1)
		if err != nil {
			return false, err
		}
		if eq {
			continue
		}
		if equality(op) {
			return op == syntax.NEQ, nil
		}
		return c.compare(op, x.Index(i), y.Index(i), depth-1)
	}
	return ordered(op, nx-ny), nil
}

func (c *comparer) dicts(x, y *starlark.Dict, depth int) (bool, error) {
	if x.Len() != y.Len() {
		return false, nil
	}
	if err := c.keys(y, y.Len()); err != nil {
		return false, err
	}
	for k, xv := range x.Entries() {
		c.nodes--
		yv, found, _ := y.Get(k)
		if !found {
			return false, nil
		}
		if eq, err := c.compare(syntax.EQL, xv, yv, depth-1); err != nil || !eq {
			return false, err
		}
	}
	return true, nil
}

func (c *comparer) structs(x, y *starlarkstruct.Struct, depth int) (bool, error) {
	if x.Len() != y.Len() {
		return false, nil
	}
	if eq, err := starlark.Equal(x.Constructor(), y.Constructor()); err != nil || !eq {
		return false, err
	}
	for i := range x.Len() {
		xn, xv := x.AttrAt(i)
		yn, yv := y.AttrAt(i)
		if xn != yn {
			return false, nil
		}
		if eq, err := c.compare(syntax.EQL, xv, yv, depth-1); err != nil || !eq {
			return false, err
		}
	}
	return true, nil
}

// sets accounts for comparing two sets; the interpreter then does it.
func (c *comparer) sets(x, y *starlark.Set) error {
	c.nodes -= min(x.Len(), y.Len())
	if err := c.keys(x, x.Len()); err != nil {
		return err
	}
	return c.keys(y, y.Len())
}

func (c *comparer) keys(keys starlark.Iterable, n int) error {
	return checkKeys(new(work), c.what+"comparing", keys, n)
}

func ordered(op syntax.Token, cmp int) bool {
	switch op {
	case syntax.EQL:
		return cmp == 0
	case syntax.NEQ:
		return cmp != 0
	case syntax.LE:
		return cmp <= 0
	case syntax.LT:
		return cmp < 0
	case syntax.GE:
		return cmp >= 0
	}
	return cmp > 0
}

// Keys whose hashes share their low bits make a table a list: filling one with
// 100 000 such ints takes half a minute in one step.
const (
	directKeys  = 64
	crowdedFrom = 4096
	manyKeys    = 1 << 20    // more only where the limit is off; then the loop itself is watched
	maxHashed   = 512 << 20  // bytes
	maxCrowd    = 30_000_000 // key comparisons, some 100 ms
)

// checkKeys refuses keys of a set or dict whose hashing or comparing would take
// too long in one step. Keys that cannot be hashed are left to whoever inserts
// them. An operator has no thread to look at; its loop is the zero one.
func checkKeys(loop *work, what string, keys starlark.Iterable, n int) error {
	if n < directKeys || n > manyKeys {
		return nil
	}
	bytes := 0
	for k := range starlark.Elements(keys) {
		if err := loop.add(nil); err != nil {
			return err
		}
		if s, ok := k.(starlark.String); ok {
			if bytes += len(s); bytes > maxHashed {
				return fmt.Errorf("%s: hashing the keys takes too long: more than %d bytes", what, maxHashed)
			}
		}
	}
	if n < crowdedFrom {
		return nil
	}
	return uncrowded(loop, what, keys, n)
}

// uncrowded refuses n keys that would have to be compared too often in one table.
func uncrowded(loop *work, what string, keys starlark.Iterable, n int) error {
	buckets := 1
	for 13*buckets < 2*n { // the table's load factor is 6.5
		buckets *= 2
	}
	count := make([]int32, buckets)
	work := 0
	first := make(map[uint32]starlark.Value, n) // a key of each hash
	for k := range starlark.Elements(keys) {
		if err := loop.add(k); err != nil {
			return err
		}
		h, err := k.Hash()
		if err != nil {
			return nil
		}
		if other, ok := first[h]; !ok {
			first[h] = k
		} else if same, err := starlark.Equal(k, other); err == nil && same {
			continue // a repeated key takes no room
		}
		at := h & uint32(buckets-1)
		count[at]++
		if work += int(count[at]); work > maxCrowd {
			return fmt.Errorf("%s: the hashes of too many keys collide", what)
		}
	}
	return nil
}
