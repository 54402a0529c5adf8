package limits

import (
	"testing"

	"go.starlark.net/starlark"
)

// decoded is what json.decode makes of a text.
func decoded(t *testing.T, text string, checked bool) string {
	t.Helper()
	names := plainNames()
	if checked {
		names = Predeclared(Defaults())
	}
	module, ok := names["json"].(starlark.HasAttrs)
	if !ok {
		t.Fatal("no module json")
	}
	fn, err := module.Attr("decode")
	if err != nil {
		t.Fatal(err)
	}
	v, err := starlark.Call(&starlark.Thread{}, fn, starlark.Tuple{starlark.String(text)}, nil)
	if err != nil {
		return err.Error()
	}
	return v.String()
}

var jsonTexts = []string{
	`null`, ` true `, `false`, `nul`, `nullx`, `tru`, `"a"`, `"\u00e9\n"`, `"é"`, `"a`, `"\`, `"\x"`, `"a\"`, "\"\x01\"", "\"\xff\"",
	`0`, `-0`, `-`, `01`, `-01`, `1.5`, `1e5`, `1e999`, `1.e`, `--1`, `1-1`, `99999999999999999999`, `9223372036854775807`, `-9223372036854775808`, `1x`,
	`[]`, `[ ]`, `[1, 2]`, `[1 2]`, `[1,]`, `[,]`, `[`, `[1`, `[1,`, `]`, `[[[]]]`,
	`{}`, `{ }`, `{"a": 1, "b": [2]}`, `{"a" 1}`, `{"a":}`, `{1: 2}`, `{"a": 1,}`, `{"a": 1`, `{`, `{"a"`, `{"a": 1 "b"}`, `}`, `{"a": 1, "a": 2}`,
	``, `  `, `1 2`, "1\x00", `,`, `:`, `+1`, `NaN`, `"\ud83d\ude00"`, `"\ud83d"`, "\t[\r\n1 ]\n",
}

func TestDecodeSame(t *testing.T) {
	for _, text := range jsonTexts {
		if got, want := decoded(t, text, true), decoded(t, text, false); got != want {
			t.Errorf("%q\ngot  %s\nwant %s", text, got, want)
		}
	}
}

func FuzzDecode(f *testing.F) {
	for _, text := range jsonTexts {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		if len(text) > 10_000 {
			return
		}
		got := decoded(t, text, true)
		if isLimitError(got) {
			return
		}
		if want := decoded(t, text, false); got != want {
			t.Errorf("%q\ngot  %s\nwant %s", text, got, want)
		}
	})
}
