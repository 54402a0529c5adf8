package view_test

import (
	"testing"
	"unicode/utf8"

	"pgregory.net/rapid"

	"starling/bus/view"
)

func TestClean(t *testing.T) {
	for _, c := range []struct{ in, want string }{
		{"plain text\n\twith a tab", "plain text\n\twith a tab"},
		{"a\x1b[31mred\x1b[0mb", "aredb"},
		{"a\x1b]0;title\ab", "ab"},
		{"a\x1b]8;;x\x1b\\b", "ab"},
		{"a\x1bPq\x1b\\b", "ab"},
		{"a\x1b]never ended", "a"},
		{"a\u009b31mb", "ab"},
		{"a\u0085b\x7fc\x00d\re\bf", "abcdef"},
		{"invoice\u202efdp.exe", "invoicefdp.exe"},
		{"\u2066x\u2069\u200e", "x"},
		{"bad \xff byte, kept \ufffd", "bad  byte, kept \ufffd"},
		{"[red]x[-] 漢字 👩‍👩‍👧", "[red]x[-] 漢字 👩‍👩‍👧"},
		{"\x1b", ""},
		{"\x1b(Bx\x1b=y", "xy"},
	} {
		got := view.Clean(c.in)
		if got != c.want {
			t.Errorf("%q: got %q, want %q", c.in, got, c.want)
		}
	}
	if got := view.CleanLine("a\nb\tc"); got != "a b c" {
		t.Errorf("line: %q", got)
	}
}

// Nothing that comes out can steer a terminal, and cleaning twice changes
// nothing more.
func TestCleanProperty(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		in := rapid.OneOf(rapid.String(), rapid.StringMatching(`(\x1b[\[\]P]?[0-9;]{0,3}[a-zA-Z]?|[a-z\x00-\x1f]|\xff)*`)).Draw(t, "in")
		out := view.Clean(in)
		if !utf8.ValidString(out) {
			t.Fatalf("%q is no UTF-8", out)
		}
		for _, r := range out {
			if r < 0x20 && r != '\n' && r != '\t' || r >= 0x7f && r < 0xa0 || r >= 0x202a && r <= 0x202e {
				t.Fatalf("%q keeps %U", out, r)
			}
		}
		if again := view.Clean(out); again != out {
			t.Fatalf("%q cleaned again is %q", out, again)
		}
	})
}
