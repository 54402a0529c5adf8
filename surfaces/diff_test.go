package surfaces_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"starling/surfaces"
)

func drawn(lines []surfaces.DiffLine) string {
	var b strings.Builder
	for _, l := range lines {
		fmt.Fprintf(&b, "%d %d %c%s\n", l.Old, l.New, l.Sign, l.Text)
	}
	return b.String()
}

func TestDiffLines(t *testing.T) {
	before := "a\nb\nc\nd\ne\nf\ng\nh\n"
	n := &surfaces.Node{Type: surfaces.Diff, Before: before, After: strings.Replace(before, "e\n", "E\x1b[31m\nnew\n", 1)}
	want := "0 0 @@@ -2,7 +2,8 @@\n2 2  b\n3 3  c\n4 4  d\n5 0 -e\n0 5 +E\\x1b[31m\n0 6 +new\n6 7  f\n7 8  g\n8 9  h\n"
	lines := n.DiffLines()
	if got := drawn(lines); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
	for _, c := range []struct{ patch, want string }{
		{"", ""},
		{"no patch", "0 0 =no patch\n"},
		{"--- a/x\n+++ b/x\n@@ -1 +1 @@ func\n-+old\n+-new\n\\ No newline at end of file\n", "0 0 =--- a/x\n0 0 =+++ b/x\n0 0 @@@ -1 +1 @@ func\n1 0 -+old\n0 1 +-new\n0 0 @\\ No newline at end of file\n"},
		{"@@ -1 +1 @@\n-a\n\\ No newline at end of file\n+b\n\\ No newline at end of file\n", "0 0 @@@ -1 +1 @@\n1 0 -a\n0 0 @\\ No newline at end of file\n0 1 +b\n"},
		{"@@ -0,0 +1,2 @@\n+a\n+b\n+not of it", "0 0 @@@ -0,0 +1,2 @@\n0 1 +a\n0 2 +b\n0 0 =+not of it\n"},
		{"@@ -3,2 +3,2 @@\n\n a\n--- next\n", "0 0 @@@ -3,2 +3,2 @@\n3 3  \n4 4  a\n0 0 =--- next\n"},
		{"@@ -x +1 @@\n+a", "0 0 =@@ -x +1 @@\n0 0 =+a\n"},
		{"@@ -1,99999999999999999999 +1 @@\n@@ -1", "0 0 =@@ -1,99999999999999999999 +1 @@\n0 0 =@@ -1\n"},
	} {
		if got := drawn(surfaces.PatchLines(c.patch)); got != c.want {
			t.Errorf("%q: got\n%s\nwant\n%s", c.patch, got, c.want)
		}
	}
	var styles []string
	for _, sign := range "+-@= " {
		styles = append(styles, surfaces.DiffLine{Sign: byte(sign)}.Style().String())
	}
	if !slices.Equal(styles, []string{"good", "bad", "dim", "bold", ""}) {
		t.Errorf("styles %q", styles)
	}
}

// The lines of a diff are those of both texts, numbered as they stand there.
func TestDiffProperty(t *testing.T) {
	document := rapid.Map(rapid.SliceOfN(rapid.SampledFrom([]string{"a", "b", "c", "", "- x", "@@ -1 +1 @@"}), 0, 30), func(l []string) string { return strings.Join(l, "\n") })
	rapid.Check(t, func(t *rapid.T) {
		before, after := document.Draw(t, "before"), document.Draw(t, "after")
		lines := surfaces.DiffTexts(before, after)
		if (len(lines) == 0) != (before == after) {
			t.Fatalf("%d lines between %q and %q", len(lines), before, after)
		}
		olds, news := strings.Split(before, "\n"), strings.Split(after, "\n")
		changed := map[int]bool{}
		for _, l := range lines {
			if l.Sign == '=' {
				t.Fatalf("a line that is no part of it: %q", l.Text)
			}
			if l.Old > 0 && olds[l.Old-1] != l.Text || l.New > 0 && news[l.New-1] != l.Text {
				t.Fatalf("%+v is not line %d of %q, line %d of %q", l, l.Old, before, l.New, after)
			}
			if l.Sign == '+' {
				changed[l.New] = true
			}
		}
		added, removed := 0, 0
		for _, l := range lines {
			switch l.Sign {
			case '+':
				added++
			case '-':
				removed++
			}
		}
		count := func(s string) int { return len(strings.Split(strings.TrimSuffix(s, "\n"), "\n")) }
		if before != "" && after != "" && added-removed != count(after)-count(before) {
			t.Fatalf("+%d -%d between %q and %q", added, removed, before, after)
		}
	})
}
