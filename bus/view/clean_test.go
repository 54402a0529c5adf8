package view_test

import (
	"strings"
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
		{"a\x1b]0;\nrm -rf precious\n# \ab", "a\nrm -rf precious\n# b"},
		{"a\u0090never\nended\u009c", "a\nended"},
		{"a\u009b31mb", "ab"},
		{"a\u009d0;title\ab\u0090q\u009cc\u009fx\x1b\\d", "abcd"},
		{"a\x1b]0;title\u009cb", "ab"},
		{"raw \x9b31m C1", "raw 31m C1"},
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
		in := rapid.OneOf(rapid.String(), rapid.StringMatching(`(\x1b[\[\]P]?[0-9;]{0,3}[a-zA-Z]?|[a-z\x00-\x1f]|[\x{80}-\x{9f}]|[\x{202a}-\x{202e}\x{2066}-\x{2069}])*`)).Draw(t, "in")
		out := view.Clean(in)
		if !utf8.ValidString(out) {
			t.Fatalf("%q is no UTF-8", out)
		}
		for _, r := range out {
			if r != '\n' && r != '\t' && view.Steers(r) {
				t.Fatalf("%q keeps %U", out, r)
			}
		}
		if again := view.Clean(out); again != out {
			t.Fatalf("%q cleaned again is %q", out, again)
		}
	})
}

// A sequence that chunks cut in two is gone once they are joined; cleaned apart, its
// rest is shown, and still steers nothing.
func TestCleanAfterJoining(t *testing.T) {
	const text = "a\x1b[1;31mred\x1b]0;title\x1b\\b"
	if got := view.Clean(text); got != "aredb" {
		t.Errorf("joined: %q", got)
	}
	for i := range text {
		if apart := view.Clean(text[:i]) + view.Clean(text[i:]); strings.ContainsFunc(apart, view.Steers) {
			t.Errorf("cut at %d it steers: %q", i, apart)
		}
	}
}
