package view_test

import (
	"encoding/json"
	"testing"

	"pgregory.net/rapid"

	"starling/bus/view"
)

func TestReadableJSON(t *testing.T) {
	for in, want := range map[string]string{
		`{"a":"x \u003e y \u003C z \u0026"}`: `{"a":"x > y < z &"}`,
		`{"a":"\\u003e"}`:                    `{"a":"\\u003e"}`, // a backslash, then text
		`{"a":"\\\u003e"}`:                   `{"a":"\\>"}`,
		`{"a":"\u0022 \n"}`:                  `{"a":"\u0022 \n"}`,
		`\u003`:                              `\u003`,
		`\`:                                  `\`,
		``:                                   ``,
	} {
		if got := view.ReadableJSON(in); got != want {
			t.Errorf("%s is %s, want %s", in, got, want)
		}
	}
}

// It is the same value, and no encoder's escape is left in it.
func TestReadableJSONProperty(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.OneOf(rapid.String(), rapid.StringMatching(`[<>&\\u03eEcC"0-9]{0,30}`)).Draw(t, "text")
		data, err := json.Marshal(text)
		if err != nil {
			t.Fatal(err)
		}
		var want, got string
		if err := json.Unmarshal(data, &want); err != nil {
			t.Fatal(err)
		}
		if err := json.Unmarshal([]byte(view.ReadableJSON(string(data))), &got); err != nil || got != want {
			t.Fatalf("%s became %q, %v", data, got, err)
		}
	})
}
