package schema

import (
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// Limits of what is said, so that the faults of a hostile document stay readable
// and cheap: bytes of one name, steps of a place, bytes of a list of things.
const (
	maxName   = 120
	maxSteps  = 40
	maxList   = 2000
	maxFaults = 10_000
	faultWork = 16 // steps of work that saying one fault costs
)

// place is where in the document a value is, from the value upwards.
type place struct {
	above *place
	name  string
	index int // -1 for a name
}

func (p *place) key(name string) *place { return &place{p, name, -1} }
func (p *place) item(i int) *place      { return &place{p, "", i} }

// String names a place as a path: edits[0].old_text. The root is empty.
func (p *place) String() string {
	var steps []*place
	for ; p != nil && p.above != nil; p = p.above {
		if len(steps) == maxSteps {
			steps = append(steps, &place{name: "…", index: -1})
			break
		}
		steps = append(steps, p)
	}
	var b strings.Builder
	for _, s := range slices.Backward(steps) {
		switch {
		case s.index >= 0:
			b.WriteString("[" + strconv.Itoa(s.index) + "]")
			continue
		case b.Len() > 0:
			b.WriteString(".")
		}
		b.WriteString(plain(s.name))
	}
	return b.String()
}

// plain returns a name as it is, quoted where it would not read as one.
func plain(name string) string {
	if strings.ContainsFunc(name, func(r rune) bool { return r <= ' ' || r == '"' || !strconv.IsPrint(r) }) || name == "" {
		return strconv.Quote(cut(name))
	}
	return cut(name)
}

// faults gathers what is wrong. Nil gathers nothing: only the verdict counts.
type faults struct {
	run  *run
	list []string
}

func (f *faults) add(at *place, format string, args ...any) {
	if f == nil || len(f.list) >= maxFaults || !f.run.spend(faultWork) {
		return
	}
	text := fmt.Sprintf(format, args...)
	if where := at.String(); where != "" {
		text = where + ": " + text
	}
	f.list = append(f.list, text)
}

// sorted returns the faults ordered by where they are, each once.
func (f *faults) sorted() []string {
	slices.Sort(f.list)
	return slices.Compact(f.list)
}

// joined joins words, as many as can be read.
func joined(words []string, sep string) string {
	var b strings.Builder
	for i, w := range words {
		if i > 0 && b.Len()+len(w) > maxList {
			fmt.Fprintf(&b, "%s… and %d more", sep, len(words)-i)
			break
		}
		if i > 0 {
			b.WriteString(sep)
		}
		b.WriteString(w)
	}
	return b.String()
}

func quoted(names []string) string {
	slices.Sort(names)
	list := make([]string, 0, min(len(names), maxList))
	for _, n := range names[:min(len(names), maxList)] {
		list = append(list, strconv.Quote(cut(n)))
	}
	return joined(list, ", ")
}

// shown is a value as a person would write it, on one line.
func shown(v any) string {
	switch v := v.(type) {
	case string:
		q := strconv.Quote(cut(v))
		return "'" + strings.NewReplacer(`\"`, `"`, `'`, `\'`).Replace(q[1:len(q)-1]) + "'"
	case json.Number:
		return cut(string(v))
	case []any:
		var words []string
		for _, item := range v[:min(len(v), maxSteps)] {
			words = append(words, nested(item))
		}
		if len(v) > maxSteps {
			words = append(words, "…")
		}
		return "[" + cut(strings.Join(words, ", ")) + "]"
	case map[string]any:
		var words []string
		for i, name := range sortedKeys(v) {
			if i == maxSteps {
				words = append(words, "…")
				break
			}
			words = append(words, shown(name)+": "+nested(v[name]))
		}
		return "{" + cut(strings.Join(words, ", ")) + "}"
	case bool:
		return strconv.FormatBool(v)
	}
	return "null"
}

// nested shows a value inside another; what it holds is left out.
func nested(v any) string {
	switch v := v.(type) {
	case []any:
		if len(v) > 0 {
			return "[…]"
		}
	case map[string]any:
		if len(v) > 0 {
			return "{…}"
		}
	}
	return shown(v)
}

// cut shortens a text to maxName bytes.
func cut(s string) string {
	if len(s) <= maxName {
		return s
	}
	return strings.ToValidUTF8(s[:maxName], "") + "…"
}
