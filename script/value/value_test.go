package value

import (
	"encoding/json"
	"math"
	"math/big"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
	"go.starlark.net/starlark"
	"go.starlark.net/starlarkstruct"
	"go.starlark.net/syntax"
	"pgregory.net/rapid"
)

// values draws Starlark data; plain leaves out what Go and JSON cannot tell apart
// (tuples, sets, bytes, keys that are no strings).
func values(plain bool) *rapid.Generator[starlark.Value] {
	return rapid.Custom(func(t *rapid.T) starlark.Value { return draw(t, plain, 4) })
}

func draw(t *rapid.T, plain bool, depth int) starlark.Value {
	kinds := []string{"none", "bool", "int", "big", "float", "string"}
	if !plain {
		kinds = append(kinds, "bytes")
	}
	if depth > 0 {
		kinds = append(kinds, "list", "dict")
		if !plain {
			kinds = append(kinds, "tuple", "set")
		}
	}
	several := func(max int) []starlark.Value {
		out := make([]starlark.Value, rapid.IntRange(0, max).Draw(t, "n"))
		for i := range out {
			out[i] = draw(t, plain, depth-1)
		}
		return out
	}
	switch kind := rapid.SampledFrom(kinds).Draw(t, "kind"); kind {
	case "bool":
		return starlark.Bool(rapid.Bool().Draw(t, "bool"))
	case "int":
		return starlark.MakeInt64(rapid.Int64().Draw(t, "int"))
	case "big":
		i := new(big.Int).Lsh(big.NewInt(rapid.Int64().Draw(t, "big")), 70)
		return starlark.MakeBigInt(i)
	case "float":
		return starlark.Float(rapid.Float64().Filter(func(f float64) bool { return !math.IsNaN(f) && !math.IsInf(f, 0) }).Draw(t, "float"))
	case "string":
		return starlark.String(rapid.String().Draw(t, "string"))
	case "bytes":
		return starlark.Bytes(rapid.SliceOfN(rapid.Byte(), 0, 8).Draw(t, "bytes"))
	case "list":
		return starlark.NewList(several(4))
	case "tuple":
		return starlark.Tuple(several(4))
	case "set":
		s := starlark.NewSet(0)
		for range rapid.IntRange(0, 4).Draw(t, "n") {
			if err := s.Insert(draw(t, plain, 0)); err != nil {
				t.Fatal(err)
			}
		}
		return s
	case "dict":
		d := starlark.NewDict(0)
		for range rapid.IntRange(0, 4).Draw(t, "n") {
			var key starlark.Value = starlark.String(rapid.String().Draw(t, "key"))
			if !plain {
				key = draw(t, plain, 0)
			}
			if err := d.SetKey(key, draw(t, plain, depth-1)); err != nil {
				t.Fatal(err)
			}
		}
		return d
	}
	return starlark.None
}

func same(t *rapid.T, a, b starlark.Value) {
	t.Helper()
	eq, err := starlark.EqualDepth(a, b, 100)
	if err != nil || !eq || a.Type() != b.Type() {
		t.Fatalf("%s %s\nbecame %s %s (%v)", a.Type(), Format(a, 500), b.Type(), Format(b, 500), err)
	}
}

// shares tells whether a mutable value of a is also in b.
func mutables(v starlark.Value, into map[any]bool) {
	switch v := v.(type) {
	case *starlark.List:
		into[v] = true
		for i := range v.Len() {
			mutables(v.Index(i), into)
		}
	case starlark.Tuple:
		for _, x := range v {
			mutables(x, into)
		}
	case *starlark.Set:
		into[v] = true
	case *starlark.Dict:
		into[v] = true
		for _, kv := range v.Items() {
			mutables(kv[1], into)
		}
	}
}

func TestCopyProperty(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		v := values(false).Draw(t, "v")
		c, err := Copy(v)
		if err != nil {
			t.Fatal(err)
		}
		same(t, v, c)
		before, after := map[any]bool{}, map[any]bool{}
		mutables(v, before)
		mutables(c, after)
		for x := range after {
			if before[x] {
				t.Fatal("the copy shares a mutable value")
			}
		}
		f, err := NewFrozen(v)
		if err != nil {
			t.Fatal(err)
		}
		same(t, v, f.Value())
		f.Plain() // must not panic for any key
		if d, ok := v.(*starlark.Dict); ok {
			if err := d.SetKey(starlark.String("new"), starlark.None); err != nil {
				t.Fatalf("the original was frozen: %v", err)
			}
		}
	})
}

func TestPlainRoundTripProperty(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		v := values(true).Draw(t, "v")
		plain, err := ToGo(v)
		if err != nil {
			t.Fatal(err)
		}
		back, err := FromGo(plain)
		if err != nil {
			t.Fatal(err)
		}
		same(t, v, back)
		again, err := ToGo(back)
		if err != nil {
			t.Fatal(err)
		}
		if d := cmp.Diff(plain, again, cmp.Comparer(func(a, b *big.Int) bool { return a.Cmp(b) == 0 })); d != "" {
			t.Fatal(d)
		}
	})
}

func TestJSONRoundTripProperty(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		v := values(true).Draw(t, "v")
		raw, err := ToJSON(v)
		if err != nil {
			t.Fatal(err)
		}
		if !json.Valid(raw) {
			t.Fatalf("not JSON: %s", raw)
		}
		back, err := JSON(raw)
		if err != nil {
			t.Fatalf("%s: %v", raw, err)
		}
		same(t, v, back)
	})
}

// FuzzJSON compares the decoder with encoding/json: it accepts the same texts.
func FuzzJSON(f *testing.F) {
	for _, s := range []string{`{"a": [1, -2.5e3, "x\n\u00e9", null, true]}`, `[`, `"a`, `1.`, `01`, "\"\xff\"", `{"a":1,"a":2}`, `nul`, `[1,]`, `{"a"}`, ` [] x`, `-`, `1e999`} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, raw []byte) {
		v, err := JSON(raw)
		var want any
		if valid := json.Unmarshal(raw, &want) == nil; valid != (err == nil) {
			// Go refuses what no float64 holds only where it needs a float64.
			d := json.NewDecoder(strings.NewReader(string(raw)))
			d.UseNumber()
			if d.Decode(&want) == nil && err == nil || strings.Contains(errText(err), "does not fit a float") {
				return
			}
			t.Fatalf("%q: our error %v, JSON is valid: %v", raw, err, valid)
		}
		if err != nil {
			return
		}
		if _, err := ToJSON(v); err != nil {
			t.Fatalf("%q does not go back: %v", raw, err)
		}
	})
}

func errText(err error) string {
	if err == nil {
		return ""
	}
	return err.Error()
}

// eval evaluates an expression of trusted test code.
func eval(t testing.TB, src string) starlark.Value {
	t.Helper()
	env := starlark.StringDict{"struct": starlark.NewBuiltin("struct", starlarkstruct.Make)}
	v, err := starlark.EvalOptions(&syntax.FileOptions{Set: true}, &starlark.Thread{}, "t.star", src, env)
	if err != nil {
		t.Fatalf("%s: %v", src, err)
	}
	return v
}

// shared is a list that holds itself twice, n levels deep: 2^n items to whoever
// walks it.
func shared(n int) starlark.Value {
	var v starlark.Value = starlark.String("x")
	for range n {
		v = starlark.NewList([]starlark.Value{v, v})
	}
	return v
}

func sharedTuple(n int) starlark.Value {
	var v starlark.Value = starlark.String("x")
	for range n {
		v = starlark.Tuple{v, v}
	}
	return v
}

func deep(n int) starlark.Value {
	var v starlark.Value = starlark.None
	for range n {
		v = starlark.NewList([]starlark.Value{v})
	}
	return v
}

func TestRefusals(t *testing.T) {
	self := starlark.NewList(nil)
	if err := self.Append(self); err != nil {
		t.Fatal(err)
	}
	key := starlark.NewDict(1)
	if err := key.SetKey(starlark.Tuple{starlark.MakeInt(1)}, starlark.None); err != nil {
		t.Fatal(err)
	}
	walks := map[string]func(starlark.Value) error{
		"Copy":   func(v starlark.Value) error { _, err := Copy(v); return err },
		"ToGo":   func(v starlark.Value) error { _, err := ToGo(v); return err },
		"ToJSON": func(v starlark.Value) error { _, err := ToJSON(v); return err },
	}
	for _, c := range []struct {
		name string
		v    starlark.Value
		want map[string]string
	}{
		{"function", eval(t, "[0, 1, {'x': len}]"), map[string]string{
			"Copy": "arguments[2].x: a function cannot cross to another plugin", "ToGo": "arguments[2].x: a function is not data", "ToJSON": "arguments[2].x: a function has no JSON form",
		}},
		{"function in a struct", eval(t, "struct(a = [len])"), map[string]string{"Copy": "arguments.a[0]: a function", "ToGo": "arguments.a[0]: a function", "ToJSON": "arguments.a[0]: a function"}},
		{"odd keys in the path", eval(t, "{'a b': {7: len}}"), map[string]string{"Copy": `arguments["a b"][7]: a function`, "ToGo": `arguments["a b"][7]: a function`, "ToJSON": `arguments["a b"][7]: a key must be a string, not int`}},
		{"itself", self, map[string]string{"Copy": "nested more than 64 deep", "ToGo": "nested more than 64 deep", "ToJSON": "nested more than 64 deep"}},
		{"deep", deep(1000), map[string]string{"Copy": "nested more than 64 deep", "ToGo": "nested more than 64 deep", "ToJSON": "nested more than 64 deep"}},
		{"sharing", shared(50), map[string]string{"Copy": "too many values", "ToGo": "too many values", "ToJSON": "too many values"}},
		{"a range", eval(t, "range(1000000000)"), map[string]string{"Copy": "1000000000 values are too many", "ToGo": "1000000000 values are too many", "ToJSON": "1000000000 values are too many"}},
		{"text", starlark.Tuple{starlark.String(strings.Repeat("x", MaxBytes+1))}, map[string]string{"Copy": "arguments[0]: too large", "ToGo": "arguments[0]: too large", "ToJSON": "arguments[0]: too large"}},
		{"a tuple as key", key, map[string]string{"ToGo": "as key has no plain form", "ToJSON": "a key must be a string, not tuple"}},
		{"a float without JSON", starlark.Float(math.Inf(1)), map[string]string{"ToJSON": "the float +Inf has no JSON form"}},
	} {
		for name, walk := range walks {
			err := Named("arguments", walk(c.v))
			if want := c.want[name]; want == "" && err != nil || want != "" && (err == nil || !strings.Contains(err.Error(), want)) {
				t.Errorf("%s: %s: %v, want %q", c.name, name, err, want)
			}
		}
	}
}

// TestCopyBeforeHashing gives Copy a dict whose key takes for ever to hash.
func TestCopyBeforeHashing(t *testing.T) {
	s := starlark.NewList([]starlark.Value{sharedTuple(60)})
	if _, err := Copy(starlark.Tuple{s}); err == nil || !strings.Contains(err.Error(), "too many values") {
		t.Errorf("error %v", err)
	}
}

func TestJSONErrors(t *testing.T) {
	for _, c := range []struct{ raw, want string }{
		{``, "JSON at offset 0: unexpected end of text"},
		{`{"a" 1}`, "JSON at offset 5: want ':' after the key, got '1'"},
		{`{1: 2}`, "want a string as key, got '1'"},
		{`[1 2]`, "want ',' or ']', got '2'"},
		{`{"a": {"b": tru}}`, ".a.b: JSON at offset 12: unexpected 't'"},
		{`[1] x`, "JSON at offset 4: unexpected 'x' after the value"},
		{"\"a\nb\"", "control character in a string"},
		{`"\q"`, "bad string"},
		{`"abc`, "a string without end"},
		{`-`, "bad number"},
		{`1e999`, "does not fit a float"},
		{strings.Repeat("9", 30000), "a number of 30000 digits is too long"},
		{strings.Repeat("[", 1000000), "nested more than 200 deep"},
		{`"` + strings.Repeat("x", JSONBytes) + `"`, "is longer than 8388608"},
	} {
		if _, err := JSON(json.RawMessage(c.raw)); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%.30q: %.200v, want %s", c.raw, err, c.want)
		}
	}
}

func TestJSONKeepsOrder(t *testing.T) {
	const raw = `{"z":1,"a":[2.0,"<é&>"],"m":{"y":null,"b":true}}`
	v, err := JSON(json.RawMessage(raw))
	if err != nil {
		t.Fatal(err)
	}
	out, err := ToJSON(v)
	if err != nil || string(out) != raw {
		t.Errorf("%s, %v", out, err)
	}
}

func TestFromGo(t *testing.T) {
	type inner struct {
		N int `field:"n"`
		x int
	}
	type usage struct {
		Input int     `json:"input"`
		Cost  float64 `json:"cost,omitempty"`
		Skip  int     `json:"-"`
	}
	type word string
	yes := true
	for _, c := range []struct {
		v    any
		want string
	}{
		{nil, "None"},
		{map[string]any{"b": []any{1, int64(2), 2.5}, "a": "x"}, `{"a": "x", "b": [1, 2, 2.5]}`},
		{map[string]int{"b": 1, "a": 2}, `{"a": 2, "b": 1}`},
		{map[any]any{int64(1): "i", "s": nil}, `{1: "i", "s": None}`},
		{[]string{"a"}, `["a"]`},
		{[]byte("ab"), `b"ab"`},
		{[2]bool{true}, `[True, False]`},
		{word("w"), `"w"`},
		{uint8(7), "7"},
		{&yes, "True"},
		{(*bool)(nil), "None"},
		{json.RawMessage(`{"a": [1]}`), `{"a": [1]}`},
		{json.Number("12"), "12"},
		{new(big.Int).Lsh(big.NewInt(1), 70), "1180591620717411303424"},
		{[]inner{{N: 1, x: 2}}, `[struct(n = 1)]`},
		{usage{1, 0.5, 3}, `struct(cost = 0.5, input = 1)`},
	} {
		got, err := FromGo(c.v)
		if err != nil || Format(got, 200) != c.want {
			t.Errorf("%#v: %s, %v, want %s", c.v, Format(got, 200), err, c.want)
		}
	}
	for _, bad := range []any{make(chan int), struct{ X int }{1}, []any{func() {}}} {
		if v, err := FromGo(bad); err == nil {
			t.Errorf("%T became %s", bad, Format(v, 40))
		}
	}
}

func TestFormat(t *testing.T) {
	self := starlark.NewDict(1)
	if err := self.SetKey(starlark.String("me"), self); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		v    starlark.Value
		max  int
		want string
	}{
		{eval(t, "[1, (2,), (3, 4), {'a': set([1])}, b'x', None, 1.5, 'q\"']"), 200, `[1, (2,), (3, 4), {"a": set([1])}, b"x", None, 1.5, "q\""]`},
		{eval(t, "[len, lambda: 1, struct(b = 1, a = 'x'), range(3)]"), 200, `[<built-in function len>, <function lambda>, struct(a = "x", b = 1), <range>]`},
		{starlark.String(strings.Repeat("é", 100)), 7, "\"ééé…"},
	} {
		if got := Format(c.v, c.max); got != c.want {
			t.Errorf("got  %s\nwant %s", got, c.want)
		}
	}
	for name, v := range map[string]starlark.Value{
		"sharing": shared(60), "deep": deep(100000), "itself": self, "big": starlark.MakeInt(1).Lsh(1 << 20),
		"wide": eval(t, "[0] * 1000000"), "text": starlark.String(strings.Repeat("x", 1<<20)),
	} {
		if got := Format(v, 1000); len(got) > 1100 {
			t.Errorf("%s: %d bytes", name, len(got))
		}
	}
	if got := Text(starlark.String("a\nb"), 10); got != "a\nb" {
		t.Errorf("text %q", got)
	}
}

type payload struct {
	Text     string          `field:"text"`
	Args     json.RawMessage `field:"arguments"`
	Paths    []string        `field:"paths"`
	Ok       *bool           `field:"success"`
	Special  chan int        `field:"cx"`
	Messages func() []string `field:"messages"`
	Hidden   int
}

func TestView(t *testing.T) {
	calls := 0
	p := &payload{
		Text: "before", Args: json.RawMessage(`{"a": [1]}`), Paths: []string{"x"}, Special: make(chan int),
		Messages: func() []string { calls++; return []string{"m"} },
	}
	w := &Viewer{Convert: func(name string, v any) (starlark.Value, bool) {
		if _, ok := v.(chan int); ok {
			return starlark.String("converted " + name), true
		}
		return nil, false
	}}
	v, err := w.View("event", p, starlark.StringDict{"event": starlark.String("x/y")})
	if err != nil {
		t.Fatal(err)
	}
	p.Text = "after" // the sender goes on
	read := func(src string) (starlark.Value, error) {
		return starlark.EvalOptions(&syntax.FileOptions{}, &starlark.Thread{}, "t.star", src, starlark.StringDict{"e": v})
	}
	for src, want := range map[string]string{
		"e.text": `"before"`, "e.arguments['a'][0]": "1", "e.paths": `["x"]`, "e.success": "None", "e.cx": `"converted cx"`,
		"e.event": `"x/y"`, "e.messages()": `["m"]`, "e.messages()[0]": `"m"`, "type(e)": `"event"`, "hasattr(e, 'nope')": "False",
		"getattr(e, 'nope', 3)": "3", "dir(e)": `["arguments", "cx", "event", "messages", "paths", "success", "text"]`,
	} {
		got, err := read(src)
		if err != nil || Format(got, 200) != want {
			t.Errorf("%s = %v, %v, want %s", src, got, err, want)
		}
	}
	if calls != 1 {
		t.Errorf("messages was built %d times", calls)
	}
	for src, want := range map[string]string{
		"e.txet":              "event has no .txet field (did you mean .text?)",
		"e.zzz":               "event has no .zzz field (it has arguments, cx",
		"e.Hidden":            "event has no .Hidden field",
		"e.paths.append('y')": "frozen list",
		"e.arguments.clear()": "frozen hash table",
		"{e: 1}":              "unhashable: event",
		"e.messages(1)":       "messages: got 1 arguments, want 0",
	} {
		if _, err := read(src); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %s", src, err, want)
		}
	}
	if _, err := Copy(v); err == nil || !strings.Contains(err.Error(), ".messages: a function cannot cross") {
		t.Errorf("copy: %v", err)
	}
	if _, err := w.View("event", *p, nil); err == nil {
		t.Error("a view of no pointer")
	}
}

func TestViewFailsAtItsField(t *testing.T) {
	v, err := new(Viewer).View("event", &payload{Args: json.RawMessage(`{"a": `), Text: "fine"}, nil)
	if err != nil {
		t.Fatal(err)
	}
	if x, err := v.Attr("text"); err != nil || x != starlark.String("fine") {
		t.Errorf("text: %v, %v", x, err)
	}
	if _, err := v.Attr("arguments"); err == nil || !strings.Contains(err.Error(), "event.arguments") {
		t.Errorf("arguments: %v", err)
	}
}

// TestViewReaders lets several plugins read one view at once: they see the same
// values, and the race detector sees no race with the sender.
func TestViewReaders(t *testing.T) {
	p := &payload{Text: "x", Args: json.RawMessage(`{"a": [1, 2]}`), Paths: []string{"p"}, Messages: func() []string { return []string{"m"} }}
	v, err := new(Viewer).View("event", p, nil)
	if err != nil {
		t.Fatal(err)
	}
	got := make([]starlark.Value, 8)
	var wg sync.WaitGroup
	for n := range got {
		wg.Go(func() {
			for range 100 {
				for _, name := range []string{"text", "paths", "success", "messages", "arguments"} {
					x, err := v.Attr(name)
					if err != nil {
						t.Error(err)
					}
					got[n] = x
				}
			}
		})
		p.Text = strings.Repeat("y", n)
		p.Paths = nil
	}
	wg.Wait()
	for _, x := range got {
		if x != got[0] {
			t.Error("two readers saw two values")
		}
	}
}
