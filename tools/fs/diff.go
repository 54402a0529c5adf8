package fs

import (
	"fmt"
	"strings"

	"github.com/aymanbagabas/go-udiff"

	"starling/tools/fs/match"
)

const (
	diffContext = 3
	// maxDiffInput is the size in bytes up to which two contents are compared.
	maxDiffInput = 4 << 20
	// maxDiff is the most of a diff that goes into details, in bytes.
	maxDiff = 256 << 10
	// Lines of a changed file that the model reads, and bytes of one of them.
	maxContext      = 60
	maxContextWidth = 400
)

// difference is what a change did to a file, in words for screens and the model.
type difference struct {
	text           string // unified; bytes that are no text as \xNN
	cut            bool   // text is not all of it
	added, removed int    // lines
	context        string // the changed lines and their neighbours, numbered as read does
}

// diffWhole compares two contents.
func diffWhole(name string, created bool, old, next string) difference {
	if len(old) > maxDiffInput || len(next) > maxDiffInput {
		return difference{cut: true, added: countLines(next), removed: countLines(old)}
	}
	return diffEdits(name, created, old, udiff.Lines(old, next))
}

// diffPlan describes what a plan does to a content. Only the lines around its splices
// are compared, so that the size of the file and the number of places do not matter.
func diffPlan(name, old string, plan *match.Plan) difference {
	return diffEdits(name, false, old, lineEdits(old, plan.Splices))
}

// lineEdits are the lines that splices change; those an edit only names are none.
func lineEdits(old string, splices []match.Splice) []udiff.Edit {
	var out []udiff.Edit
	for i := 0; i < len(splices); {
		// Splices on the same line are one change.
		from := strings.LastIndexByte(old[:splices[i].From], '\n') + 1
		at, to := from, from
		var b strings.Builder
		for first := true; i < len(splices) && (first || splices[i].From < to); i++ {
			s := splices[i]
			b.WriteString(old[at:s.From] + s.New)
			at, to, first = s.To, s.To, false
			if whole := strings.HasSuffix(old[from:at], "\n") && (b.Len() == 0 || strings.HasSuffix(b.String(), "\n")); whole {
				continue
			}
			to = len(old)
			if end := strings.IndexByte(old[at:], '\n'); end >= 0 {
				to = at + end + 1
			}
		}
		b.WriteString(old[at:to])
		out = append(out, linesBetween(old, from, to, b.String())...)
	}
	return joinEdits(old, out)
}

// linesBetween compares a part of old with what comes in its place.
func linesBetween(old string, from, to int, next string) []udiff.Edit {
	edits := udiff.Lines(old[from:to], next)
	for i := range edits {
		edits[i].Start, edits[i].End = edits[i].Start+from, edits[i].End+from
	}
	return edits
}

// joinEdits makes one of edits that touch; what they have in common is no change.
func joinEdits(old string, edits []udiff.Edit) []udiff.Edit {
	var out []udiff.Edit
	for len(edits) > 0 {
		n, bytes := 0, 0
		var next strings.Builder
		for n == 0 || n < len(edits) && edits[n].Start == edits[n-1].End {
			next.WriteString(edits[n].New)
			bytes += len(edits[n].New) + edits[n].End - edits[n].Start
			n++
		}
		joined := []udiff.Edit{{Start: edits[0].Start, End: edits[n-1].End, New: next.String()}}
		if n > 1 {
			again := linesBetween(old, joined[0].Start, joined[0].End, joined[0].New)
			for _, e := range again {
				bytes -= len(e.New) + e.End - e.Start
			}
			if bytes > 0 {
				joined = again
			}
		}
		out, edits = append(out, joined...), edits[n:]
	}
	return out
}

// diffEdits describes edits of a content.
func diffEdits(name string, created bool, old string, edits []udiff.Edit) difference {
	from := name
	if created {
		from = "/dev/null"
	}
	u, err := udiff.ToUnifiedDiff(oneLine(from), oneLine(name), old, edits, diffContext)
	if err != nil || len(u.Hunks) == 0 {
		return difference{}
	}
	var d difference
	var context strings.Builder
	shown := 0
	for i, h := range u.Hunks {
		line := h.ToLine
		if i > 0 && shown < maxContext {
			context.WriteString("…\n")
		}
		for _, l := range h.Lines {
			if l.Kind == udiff.Delete {
				d.removed++
				continue
			}
			if l.Kind == udiff.Insert {
				d.added++
			}
			if shown < maxContext {
				fmt.Fprintf(&context, "%d\t%s\n", line, shortLine(l.Content))
			}
			shown++
			line++
		}
	}
	if shown > maxContext {
		fmt.Fprintf(&context, "[%d more lines around the changes; read shows them]\n", shown-maxContext)
	}
	d.context = context.String()
	d.text, d.cut = cutText(u.String(), maxDiff)
	d.text, _ = match.Legible([]byte(d.text))
	return d
}

// oneLine keeps a name from forging lines of a diff.
func oneLine(name string) string {
	return strings.Map(func(r rune) rune {
		if r < ' ' || r == 0x7f {
			return '?'
		}
		return r
	}, name)
}

func shortLine(line string) string {
	b := []byte(strings.TrimRight(line, "\r\n"))
	more := ""
	if len(b) > maxContextWidth {
		b, more = wholeRunes(b[:maxContextWidth]), " …"
	}
	text, _ := match.Legible(b)
	return text + more
}

// cutText keeps whole lines of at most limit bytes.
func cutText(text string, limit int) (string, bool) {
	if len(text) <= limit {
		return text, false
	}
	return text[:strings.LastIndexByte(text[:limit], '\n')+1], true
}

// fields of details that write and edit share.
func (d difference) fields(into map[string]any) map[string]any {
	into["diff"], into["added"], into["removed"] = d.text, d.added, d.removed
	if d.cut {
		into["diff_cut"] = true
	}
	return into
}
