package input

import (
	"strings"
	"testing"
	"unicode/utf8"

	"pgregory.net/rapid"

	"starling/surfaces/tui/kit"
)

// The text a question shows and the text that runs are one: a control string hides
// nothing of a command, on its line or over several, nor of a diff.
func TestQuestionHidesNothing(t *testing.T) {
	for name, c := range map[string]struct {
		detail string
		want   []string
	}{
		"a command":  {"go test ./... \x1b]0; touch pwned2 \x07", []string{`go test ./... \x1b]0; touch pwned2 \x07`}},
		"C1":         {"go test ./... \u009d; touch pwned2 \u009c", []string{`\u009d; touch pwned2 \u009c`}},
		"over lines": {"true # \x1bP\nrm -rf precious\n# \x1b\\", []string{`true # \x1bP`, "rm -rf precious", `# \x1b\`}},
		"a diff": {
			"--- a\n+++ b\n@@ -0,0 +1,3 @@\n+# \x1b]0;\n+rm -rf precious\n+# \x07\n",
			[]string{`+# \x1b]0;`, "+rm -rf precious", `+# \x07`},
		},
		"what only looks like a diff": {"true\n@@ -1 +1 @@\n\\ No newline at end of file\n\\rm -rf precious", []string{`\rm -rf precious`}},
		"a carriage return":           {"rm -rf precious\rgo test ./...", []string{`rm -rf precious\rgo test ./...`}},
	} {
		t.Run(name, func(t *testing.T) {
			q := permission()
			q.Detail, q.Summary, q.Reasons = c.detail, "bash "+firstLine(c.detail), []string{"says " + firstLine(c.detail)}
			text := show(t, questionOn(t, newHost(t, "none", false), q), 80, 24)
			for _, want := range c.want {
				if !strings.Contains(text, want) {
					t.Errorf("%q is not shown:\n%s", want, text)
				}
			}
		})
	}
}

func firstLine(s string) string {
	s, _, _ = strings.Cut(s, "\n")
	return strings.TrimSpace(s)
}

// bodyText is the body of a question as it stands in so many rows.
func bodyText(d *question, width, rows int) string {
	d.compose(width)
	var b strings.Builder
	for _, l := range d.parts.lines(rows, width, d.host.Signs()) {
		for _, s := range l {
			b.WriteString(s.Text)
		}
	}
	return b.String()
}

// Every character of a command that can be seen is in the question, in its order.
func TestQuestionShowsAll(t *testing.T) {
	h := newHost(t, "none", false)
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.OneOf(
			rapid.String(),
			rapid.StringMatching(`([a-z ]{0,6}(\x1b[\]P_^X\[]|[\x{90}\x{98}\x{9b}\x{9d}\x{9e}\x{9f}]|\x07|\x1b\\|\n|\r|\t|[\x{202a}-\x{202e}]))*[a-z]{1,4}`),
		).Draw(t, "text")
		if rapid.Bool().Draw(t, "diff") {
			text = "@@ -0,0 +1,9 @@\n+" + strings.ReplaceAll(text, "\n", "\n+")
		}
		q := permission()
		q.Detail, q.Summary = text, "bash "+firstLine(text)
		d := newQuestion(h, q, nil)
		shown := bodyText(d, rapid.IntRange(4, 100).Draw(t, "width"), rapid.IntRange(0, 30).Draw(t, "rows"))
		for _, r := range shown {
			if r < 0x20 || r >= 0x7f && r < 0xa0 {
				t.Fatalf("%q steers", shown)
			}
		}
		// What is chopped stands on several lines, each behind its bar.
		shown = strings.ReplaceAll(shown, h.Signs().Down+" ", "")
		for i, r := range text {
			if r == utf8.RuneError || r == ' ' || r == '\n' || r == '\t' {
				continue
			}
			want := string(r)
			at := strings.Index(shown, want)
			if spelled := kit.Reveal(want); spelled != want {
				if j := strings.Index(shown, spelled); j >= 0 && (at < 0 || j < at) {
					at, want = j, spelled
				}
			}
			if at < 0 {
				t.Fatalf("%q, at %d of %q, is not in %q", r, i, text, shown)
			}
			shown = shown[at+len(want):]
		}
	})
}
