package limits

import (
	"math"
	"testing"

	"go.starlark.net/lib/json"
	"go.starlark.net/starlark"
	"go.starlark.net/starlarkstruct"
	"go.starlark.net/syntax"
	"pgregory.net/rapid"
)

// anyValue draws a value; some parts are shared.
func anyValue(t *rapid.T, depth int, pool *[]starlark.Value) starlark.Value {
	kinds := 9
	if depth > 3 {
		kinds = 5
	}
	if len(*pool) > 0 && rapid.IntRange(0, 5).Draw(t, "share") == 0 {
		return rapid.SampledFrom(*pool).Draw(t, "shared")
	}
	v := leafOrContainer(t, rapid.IntRange(0, kinds).Draw(t, "kind"), depth, pool)
	*pool = append(*pool, v)
	return v
}

func leafOrContainer(t *rapid.T, kind, depth int, pool *[]starlark.Value) starlark.Value {
	several := func() []starlark.Value {
		out := make([]starlark.Value, rapid.IntRange(0, 3).Draw(t, "len"))
		for i := range out {
			out[i] = anyValue(t, depth+1, pool)
		}
		return out
	}
	switch kind {
	case 0:
		return starlark.MakeInt64(rapid.Int64().Draw(t, "int"))
	case 1:
		return starlark.String(rapid.String().Draw(t, "text"))
	case 2:
		return starlark.Bytes(rapid.SliceOfN(rapid.Byte(), 0, 6).Draw(t, "bytes"))
	case 3:
		return starlark.Float(rapid.Float64().Draw(t, "float"))
	case 4:
		return starlark.MakeInt(rapid.IntRange(0, 3).Draw(t, "small"))
	case 5:
		return rapid.SampledFrom([]starlark.Value{starlark.None, starlark.True, starlark.Float(math.Inf(1)), starlark.String("\x00\u2028<é\xff")}).Draw(t, "rare")
	case 6:
		return starlark.NewList(several())
	case 7:
		return starlark.Tuple(several())
	case 8:
		d := starlark.NewDict(2)
		for _, x := range several() {
			if d.SetKey(starlark.String(rapid.SampledFrom([]string{"a", "b", "é"}).Draw(t, "key")), x) != nil {
				t.Fatal("a text is no key")
			}
		}
		return d
	}
	return starlarkstruct.FromStringDict(starlarkstruct.Default, starlark.StringDict{"x": anyValue(t, depth+1, pool)})
}

// What is measured is never less than what is written, and not much more.
func TestMeterMatchesThePrinter(t *testing.T) {
	r := newRules(Defaults())
	rapid.Check(t, func(t *rapid.T) {
		v := anyValue(t, 0, new([]starlark.Value))
		m := r.meter("str", math.MaxInt/2)
		if err := m.value(v, 0); err != nil {
			t.Fatal(err)
		}
		spent, wrote := math.MaxInt/2-m.bytes, len(v.String())
		if spent < wrote || spent > 3*wrote+64 {
			t.Fatalf("%s: measured %d, written %d", v, spent, wrote)
		}
	})
}

func TestMeterMatchesTheEncoder(t *testing.T) {
	r := newRules(Defaults())
	encode := json.Module.Members["encode"]
	rapid.Check(t, func(t *rapid.T) {
		v := anyValue(t, 0, new([]starlark.Value))
		text, err := starlark.Call(&starlark.Thread{}, encode, starlark.Tuple{v}, nil)
		if err != nil {
			return // such as an infinite float
		}
		m := jsonMeter{r.meter("json", math.MaxInt/2)}
		if err := m.value(v, 0); err != nil {
			t.Fatal(err)
		}
		spent, wrote := math.MaxInt/2-m.bytes, len(text.(starlark.String))
		if spent < wrote || spent > 4*wrote+64 {
			t.Fatalf("%s: measured %d, written %d: %s", v, spent, wrote, text)
		}
	})
}

func TestComparerMatchesTheLanguage(t *testing.T) {
	ops := []syntax.Token{syntax.EQL, syntax.NEQ, syntax.LT, syntax.LE, syntax.GT, syntax.GE}
	rapid.Check(t, func(t *rapid.T) {
		pool := new([]starlark.Value)
		x, y := anyValue(t, 0, pool), anyValue(t, 0, pool)
		op := rapid.SampledFrom(ops).Draw(t, "op")
		want, err1 := starlark.Compare(op, x, y)
		got, err2 := newComparer("").compare(op, x, y, starlark.CompareLimit)
		if got != want || (err1 == nil) != (err2 == nil) || err1 != nil && err1.Error() != err2.Error() {
			t.Fatalf("%s %s %s: got %v, %v; want %v, %v", x, op, y, got, err2, want, err1)
		}
	})
}
