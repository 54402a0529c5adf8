package command

import (
	"strings"
	"testing"

	"pgregory.net/rapid"

	"starling/bus/view"
	"starling/surfaces/tui/kit"
)

// TestTableFits: whatever stands in a table, no line is wider than asked for, nothing
// of it steers a terminal, and the lines of one row stand together in order.
func TestTableFits(t *testing.T) {
	word := rapid.OneOf(rapid.StringMatching(`[a-z ]{0,30}`), rapid.String(), rapid.SampledFrom([]string{"漢字漢字漢字", "👩‍👩‍👧 family", "\x1b[31mred", "a\nb"}))
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(1, 5).Draw(t, "columns")
		one := table{wrap: rapid.Bool().Draw(t, "wrap")}
		for range n {
			one.columns = append(one.columns, column{
				title: rapid.SampledFrom([]string{"", "title", "漢字"}).Draw(t, "title"),
				right: rapid.Bool().Draw(t, "right"),
				drop:  rapid.IntRange(0, 3).Draw(t, "drop"),
				most:  rapid.SampledFrom([]int{0, 8, 24}).Draw(t, "most"),
			})
		}
		ids := []string{"a", "b", "c"}[:rapid.IntRange(1, 3).Draw(t, "rows")]
		for _, id := range ids {
			cells := make([]any, n)
			for i := range cells {
				cells[i] = word.Draw(t, "cell")
			}
			one.row(id, cells...)
		}
		var b Body
		b.add(one)
		width := rapid.IntRange(2, 120).Draw(t, "width")
		var order []string
		for _, l := range b.Lines(width, kit.SignsFor(rapid.Bool().Draw(t, "ascii"))) {
			if got := kit.Width(l.Text()); got > width && !alone(l.Text()) {
				t.Fatalf("a line of %d cells on %d: %q", got, width, l.Text())
			}
			if strings.ContainsFunc(l.Text(), view.Steers) {
				t.Fatalf("%q steers", l.Text())
			}
			if l.ID != "" && (len(order) == 0 || order[len(order)-1] != l.ID) {
				order = append(order, l.ID)
			}
		}
		if strings.Join(order, "") != strings.Join(ids, "") {
			t.Fatalf("rows %q, want %q", order, ids)
		}
	})
}

// TestParagraphFits: the same for text with and without a label, and nothing of it is
// lost but spaces.
func TestParagraphFits(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		label := rapid.SampledFrom([]string{"", "state", "a rather long label"}).Draw(t, "label")
		text := rapid.StringMatching(`[a-z漢]{1,12}( [a-z漢]{1,30}){0,20}`).Draw(t, "text")
		var b Body
		if label == "" {
			b.say(text)
		} else {
			b.pair(label, text)
		}
		width := rapid.IntRange(3, 100).Draw(t, "width")
		for _, l := range b.Lines(width, kit.SignsFor(false)) {
			if got := kit.Width(l.Text()); got > width && !alone(l.Text()) {
				t.Fatalf("a line of %d cells on %d: %q", got, width, l.Text())
			}
		}
		dense := func(s string) string { return strings.Join(strings.Fields(s), "") }
		if got := dense(b.Text(width, kit.SignsFor(false))); !strings.HasSuffix(got, dense(text)) && label == "" {
			t.Fatalf("%q became %q", text, got)
		}
	})
}

// TestCodeOfAnswer: the last whole fenced block is the one that is copied.
func TestCodeOfAnswer(t *testing.T) {
	for in, want := range map[string]string{
		"no code": "",
		"```\na\n```\ntext\n```go\nb\n\nc\n```\n":   "b\n\nc",
		"````\n```\nx\n```\n````":                   "```\nx\n```",
		"```\nwhole\n```\n```\nnever ended":         "whole",
		"text with ``` in it\n  ```sh\n  ls\n  ```": "  ls",
	} {
		if got := lastCode(in); got != want {
			t.Errorf("%q: %q, want %q", in, got, want)
		}
	}
}

func TestNumbers(t *testing.T) {
	for d, want := range map[float64]string{0: "$0", 0.00001: "< $0.0001", 0.0421: "$0.0421", 3.5: "$3.50"} {
		if got := dollars(d); got != want {
			t.Errorf("%v: %s, want %s", d, got, want)
		}
	}
}

// alone tells whether a text is one character: a line shows it even where it is
// wider than the line.
func alone(text string) bool {
	_, rest, _ := kit.Cluster(strings.TrimSpace(text))
	return rest == ""
}
