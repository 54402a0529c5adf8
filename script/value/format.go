package value

import (
	"fmt"
	"strconv"
	"strings"
	"unicode/utf8"

	"go.starlark.net/starlark"
	"go.starlark.net/starlarkstruct"
)

// Budgets of the printer besides the bytes the caller allows.
const (
	formatDepth = 40
	formatNodes = 20_000
	formatBits  = 64 << 10
)

// Format prints v for people, as Starlark's repr does, in at most about maxBytes
// bytes; what is left out shows as "…". It is safe for values that share or hold
// themselves and for hosts values of any type.
func Format(v starlark.Value, maxBytes int) string {
	p := printer{left: maxBytes, nodes: formatNodes}
	p.value(v, 0)
	return p.out.String()
}

// Text is Format, but prints a string itself as it is: what print and error
// messages show.
func Text(v starlark.Value, maxBytes int) string {
	s, ok := starlark.AsString(v)
	if !ok {
		return Format(v, maxBytes)
	}
	return Clip(s, maxBytes)
}

// Clip cuts s to at most maxBytes bytes at a rune border; a cut shows as "…".
func Clip(s string, maxBytes int) string {
	if len(s) <= maxBytes {
		return s
	}
	n := max(maxBytes, 0)
	for n > 0 && !utf8.RuneStart(s[n]) {
		n--
	}
	return s[:n] + "…"
}

type printer struct {
	out   strings.Builder
	left  int // bytes
	nodes int
	full  bool
}

func (p *printer) put(s string) {
	if p.full {
		return
	}
	if len(s) > p.left {
		p.out.WriteString(Clip(s, p.left))
		p.full = true
		return
	}
	p.out.WriteString(s)
	p.left -= len(s)
}

func (p *printer) value(v starlark.Value, depth int) {
	p.nodes--
	if p.full || p.nodes < 0 || depth > formatDepth {
		p.put("…")
		return
	}
	switch v := v.(type) {
	case nil:
		p.put("<nil>")
	case starlark.NoneType, starlark.Bool, starlark.Float:
		p.put(v.String())
	case starlark.Int:
		if n := v.BigInt().BitLen(); n > formatBits {
			p.put(fmt.Sprintf("<int of %d bits>", n))
			return
		}
		p.put(v.String())
	case starlark.String:
		p.quoted(string(v), "")
	case starlark.Bytes:
		p.quoted(string(v), "b")
	case *starlark.List:
		p.items("[", v, "]", depth)
	case starlark.Tuple:
		end := ")"
		if len(v) == 1 {
			end = ",)"
		}
		p.items("(", v, end, depth)
	case *starlark.Dict:
		p.dict(v, depth)
	case *starlark.Set:
		p.set(v, depth)
	case *starlarkstruct.Struct:
		p.attrs("struct", v, depth)
	case *starlark.Function:
		p.put("<function " + v.Name() + ">")
	case *starlark.Builtin:
		p.put("<built-in function " + v.Name() + ">")
	default:
		p.put("<" + v.Type() + ">")
	}
}

func (p *printer) quoted(s, prefix string) {
	cut := Clip(s, max(p.left, 0))
	p.put(prefix + strconv.Quote(cut))
}

func (p *printer) items(open string, v starlark.Indexable, end string, depth int) {
	p.put(open)
	for i := 0; i < v.Len() && !p.full; i++ {
		if i > 0 {
			p.put(", ")
		}
		p.value(v.Index(i), depth+1)
	}
	p.put(end)
}

func (p *printer) dict(v *starlark.Dict, depth int) {
	p.put("{")
	sep := ""
	for k, x := range v.Entries() {
		p.put(sep)
		p.value(k, depth+1)
		p.put(": ")
		p.value(x, depth+1)
		sep = ", "
		if p.full {
			return
		}
	}
	p.put("}")
}

func (p *printer) set(v *starlark.Set, depth int) {
	p.put("set([")
	sep := ""
	for x := range v.Elements() {
		p.put(sep)
		p.value(x, depth+1)
		sep = ", "
		if p.full {
			return
		}
	}
	p.put("])")
}

func (p *printer) attrs(name string, v starlark.HasAttrs, depth int) {
	p.put(name + "(")
	for i, attr := range v.AttrNames() {
		if i > 0 {
			p.put(", ")
		}
		p.put(attr + " = ")
		x, err := v.Attr(attr)
		if err != nil || x == nil {
			p.put("…")
			continue
		}
		p.value(x, depth+1)
		if p.full {
			return
		}
	}
	p.put(")")
}
