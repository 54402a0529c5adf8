package view_test

import (
	"strings"
	"testing"
	"unicode/utf8"

	"pgregory.net/rapid"

	"starling/bus/view"
)

func TestReveal(t *testing.T) {
	for _, c := range []struct{ in, want string }{
		{"plain text\n\twith a tab", "plain text\n\twith a tab"},
		{"go test ./... \x1b]0; touch pwned \x07", `go test ./... \x1b]0; touch pwned \x07`},
		{"# \x1b]0;\nrm -rf precious\n# \x07", "# \\x1b]0;\nrm -rf precious\n# \\x07"},
		{"a\u009d0;b\u009cc", `a\u009d0;b\u009cc`},
		{"raw \x9b31m \x00\x7f", `raw \x9b31m \x00\x7f`},
		{"a\r\nb\rc", "a\\r\nb\\rc"},
		{"invoice\u202efdp.exe \u2028\U000e0041", `invoice\u202efdp.exe \u2028\U000e0041`},
		{"zero\u200bwidth\u00a0\ufeff\u3164 r\u200dm \ufe0f", `zero\u200bwidth\u00a0\ufeff\u3164 r\u200dm \ufe0f`},
		{"\u0301 e\u0301", `\u0301 ` + "e\u0301"},
		{"漢字\u3000👩‍👩‍👧 ⚠️ שלום", "漢字\u3000👩‍👩‍👧 ⚠️ שלום"},
		{"kept \ufffd, bad \xff", `kept ` + "\ufffd" + `, bad \xff`},
	} {
		if got := view.Reveal(c.in); got != c.want {
			t.Errorf("%q: got %q, want %q", c.in, got, c.want)
		}
	}
	if got := view.RevealLine("a\nb\tc\x1b"); got != `a b c\x1b` {
		t.Errorf("line: %q", got)
	}
}

// Nothing steers a terminal, no line is lost, and every character that can be seen is
// there in its order.
func TestRevealProperty(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		in := rapid.OneOf(rapid.String(), rapid.StringMatching(`(\x1b[\[\]P]?[0-9;]{0,3}[a-zA-Z]?|[a-z\x00-\x1f]|[\x{80}-\x{9f}]|[\x{202a}-\x{202e}\x{2066}-\x{2069}])*`)).Draw(t, "in")
		out := view.Reveal(in)
		if !utf8.ValidString(out) {
			t.Fatalf("%q is no UTF-8", out)
		}
		for _, r := range out {
			if r != '\n' && r != '\t' && view.Steers(r) {
				t.Fatalf("%q keeps %U", out, r)
			}
		}
		if again := view.Reveal(out); again != out {
			t.Fatalf("%q revealed again is %q", out, again)
		}
		if clean := view.Clean(out); clean != out {
			t.Fatalf("%q cleaned is %q", out, clean)
		}
		if strings.Count(out, "\n") != strings.Count(in, "\n") {
			t.Fatalf("%q has other lines than %q", out, in)
		}
		rest := out
		for i, r := range in {
			if r == utf8.RuneError {
				continue
			}
			// Behind some characters a mark stands as it is, else it is spelled out.
			at := strings.Index(rest, string(r))
			n := utf8.RuneLen(r)
			if spelled := view.Reveal(string(r)); spelled != string(r) {
				if i := strings.Index(rest, spelled); i >= 0 && (at < 0 || i < at) {
					at, n = i, len(spelled)
				}
			}
			if at < 0 {
				t.Fatalf("%q has no %q, which is at %d of %q", out, r, i, in)
			}
			rest = rest[at+n:]
		}
	})
}
