package bash

import (
	"strings"
	"testing"
	"unicode/utf8"

	"pgregory.net/rapid"
)

func TestClean(t *testing.T) {
	for _, c := range []struct {
		name, in, want string
		odd            bool
	}{
		{"text", "a\tb\né😀\n", "a\tb\né😀\n", false},
		{"colour", "\x1b[1;31mred\x1b[0m \x1b[38;5;7mx\x1b[m", "red x", false},
		{"title", "\x1b]0;a title\aafter\x1b]8;;http://x\x1b\\link\x1b]8;;\x1b\\", "afterlink", false},
		{"character set", "\x1b(Bx\x1b=y\x1b7z", "xyz", false},
		{"title that does not end", "\x1b]0;a title\nafter", "0;a title\nafter", false},
		{"sequence that does not end", "a\x1b[31\nb", "a\nb", false},
		{"sequence that is cut", "a\x1b", "a", false},
		{"sequence with a control byte in it", "a\x1b[3\x01mb", `a\x01mb`, true},
		{"progress bar", " 10%\r 50%\r100%\n", "100%\n", false},
		{"progress bar that ends with its return", " 10%\r100%\r\nnext", "100%\nnext", false},
		{"progress bar with erasing", "10%\x1b[K\r20%\x1b[K\n", "20%\n", false},
		{"CRLF", "a\r\nb\r\n", "a\nb\n", false},
		{"only returns", "\r\r\n", "\n", false},
		{"spinner", "|\b/\b-\bdone\n", "done\n", false},
		{"overstrike", "N\bNA\bAM\bM é\be", "NAM e", false},
		{"backspace at the start", "\b\bx", "x", false},
		{"bell", "ding\a", "ding", false},
		{"no UTF-8", "caf\xe9\n\xff\xfe", "caf\\xE9\n\\xFF\\xFE", true},
		{"cut character", "\xe2\x82", `\xE2\x82`, true},
		{"NUL", "a\x00b", `a\x00b`, true},
		{"other controls", "\x01\x0c\x7f", `\x01\x0C\x7F`, true},
		{"replacement character", "\uFFFD", "\uFFFD", false},
		{"nothing", "", "", false},
	} {
		if got, odd := clean(c.in); got != c.want || odd != c.odd {
			t.Errorf("%s: %q %v, want %q %v", c.name, got, odd, c.want, c.odd)
		}
	}
}

// checkClean holds what is true of any bytes.
func checkClean(t interface{ Fatalf(string, ...any) }, in string) {
	out, odd := clean(in)
	if !utf8.ValidString(out) || strings.ContainsAny(out, "\x00\x1b\r\b\a") {
		t.Fatalf("%q became %q", in, out)
	}
	if strings.Count(out, "\n") != strings.Count(in, "\n") {
		t.Fatalf("%q became %q: other lines", in, out)
	}
	if len(out) > 4*len(in) || !odd && len(out) > len(in) {
		t.Fatalf("%q grew to %q", in, out)
	}
	if again, _ := clean(out); again != out {
		t.Fatalf("%q became %q, then %q", in, out, again)
	}
	if utf8.ValidString(in) && strings.IndexFunc(in, func(r rune) bool { return r < 0x20 || r == 0x7f }) < 0 && out != in {
		t.Fatalf("%q became %q", in, out)
	}
}

func FuzzClean(f *testing.F) {
	for _, s := range []string{"a\x1b[31mb\r\nc", "\x1b]0;t\a\b\b\xe2\x82", "\x00\xff\x1b", "\x1b\x1b[m\x1b]\x1b\\"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) { checkClean(t, s) })
}

func TestCleanOfAnything(t *testing.T) {
	pieces := rapid.SliceOf(rapid.SampledFrom([]string{"a", "é", "\n", "\r", "\b", "\x1b", "[", "]", "0", ";", "m", "\a", "\\", "\xff", "\xe2", "\x00", "(", "\x7f"}))
	rapid.Check(t, func(t *rapid.T) { checkClean(t, strings.Join(pieces.Draw(t, "text"), "")) })
}

func TestIsBinary(t *testing.T) {
	latin := strings.Repeat("c'est tr\xe8s s\xfbr et d\xe9j\xe0 vu; ", 100)
	names := strings.Repeat("some/file\x00", 100)
	for _, c := range []struct {
		name, in string
		want     bool
	}{
		{"zeros", strings.Repeat("\x00", 1000), true},
		{"UTF-16", strings.Repeat("a\x00", 1000), true},
		{"a few bytes", "\x00\xff\xfe", false},
		{"Latin-1", latin, false},
		{"names between NULs", names, false},
		{"colours", strings.Repeat("\x1b[31mx\x1b[m\r\n", 100), false},
		{"other scripts", strings.Repeat("だ", 1000), false},
		{"nothing", "", false},
	} {
		if got := isBinary(c.in); got != c.want {
			t.Errorf("%s: %v", c.name, got)
		}
	}
	rapid.Check(t, func(t *rapid.T) {
		if s := rapid.StringMatching(`[^\x00-\x1f\x7f]{600,700}`).Draw(t, "text"); isBinary(s) {
			t.Fatalf("%q is text", s)
		}
	})
}
