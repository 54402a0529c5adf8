package trust

import (
	"strings"
	"testing"
	"unicode/utf8"

	"pgregory.net/rapid"
)

// naivePath is what the globs mean, by trying everything.
func naivePath(parts, names []string) bool {
	switch {
	case len(parts) == 0:
		return len(names) == 0
	case parts[0] == "**" && len(parts) == 1:
		return len(names) > 0
	case parts[0] == "**":
		return naivePath(parts[1:], names) || len(names) > 0 && naivePath(parts, names[1:])
	}
	return len(names) > 0 && naivePart(parts[0], names[0]) && naivePath(parts[1:], names[1:])
}

func naivePart(glob, name string) bool {
	switch {
	case glob == "":
		return name == ""
	case glob[0] == '*':
		if naivePart(glob[1:], name) {
			return true
		}
		_, wide := utf8.DecodeRuneInString(name)
		return name != "" && naivePart(glob, name[wide:])
	case name == "":
		return false
	}
	r, wide := utf8.DecodeRuneInString(name)
	switch {
	case glob[0] == '?':
		return naivePart(glob[1:], name[wide:])
	case strings.HasPrefix(glob, "[a-b]"):
		return (r == 'a' || r == 'b') && naivePart(glob[5:], name[wide:])
	case strings.HasPrefix(glob, "[!a]"):
		return r != 'a' && naivePart(glob[4:], name[wide:])
	}
	g, size := utf8.DecodeRuneInString(glob)
	return g == r && naivePart(glob[size:], name[wide:])
}

func TestMatchPathMeansWhatItSays(t *testing.T) {
	glob := rapid.Custom(func(t *rapid.T) string {
		piece := rapid.SampledFrom([]string{"a", "b", "ä", "*", "?", "[a-b]", "[!a]"})
		part := strings.Join(rapid.SliceOfN(piece, 1, 4).Draw(t, "pieces"), "")
		if strings.Contains(part, "**") {
			return "**"
		}
		return part
	})
	name := rapid.StringMatching(`[abcä]{1,4}`)
	matched := 0
	rapid.Check(t, func(t *rapid.T) {
		parts := rapid.SliceOfN(glob, 1, 4).Draw(t, "glob")
		names := rapid.SliceOfN(name, 1, 5).Draw(t, "name")
		if rapid.Bool().Draw(t, "alike") { // one that is likely to match
			alike := strings.NewReplacer("**", "a", "*", "b", "?", "c", "[a-b]", "b", "[!a]", "ä")
			for i, part := range parts {
				if i < len(names) {
					names[i] = alike.Replace(part)
				}
			}
			names = names[:min(len(names), len(parts))]
		}
		g, n := strings.Join(parts, "/"), strings.Join(names, "/")
		if err := checkPathGlob(g); err != nil {
			t.Fatalf("%s is refused: %v", g, err)
		}
		got, want := matchPath(g, n), naivePath(parts, names)
		if got != want {
			t.Fatalf("%s against %s: got %v, want %v", n, g, got, want)
		}
		if got {
			matched++
		}
	})
	if matched == 0 {
		t.Error("no glob matched anything; the comparison proves nothing")
	}
}

// A glob of many stars must not take exponential time: this would not end.
func TestMatchPartIsNotExponential(t *testing.T) {
	if matchPart(strings.Repeat("a*", 60)+"b", strings.Repeat("a", 20000)) {
		t.Error("matched")
	}
	if matchPath(strings.Repeat("**/a/", 40)+"b", strings.Repeat("a/", 400)+"a") {
		t.Error("matched")
	}
}

func TestLiteralsCompareBytes(t *testing.T) {
	if matchPart("\ufffd", "\xff") || matchPart("\xff", "\ufffd") {
		t.Error("a broken byte passes for the replacement character")
	}
	if !matchPart("?", "\xff") {
		t.Error("a broken byte is no character")
	}
}
