package match

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"sort"
	"strings"
	"unicode/utf8"
)

// Edit asks to replace a text that stands in the content once, or (All) every
// time it stands there.
type Edit struct {
	Old, New string
	All      bool
}

// Splice replaces the bytes From to To of the content.
type Splice struct {
	From, To int
	New      string
}

// Hit is a place where the old text of an edit stands.
type Hit struct {
	Edit     int // index into the edits
	From, To int // bytes of the content
	// Loose names what differs between the old text and the content; "" when
	// they are equal, line ends aside.
	Loose string
}

// Plan is what a list of edits does to one content.
type Plan struct {
	Hits    []Hit    // in order of the content, never overlapping
	Splices []Splice // in order; each inside of a hit
}

// maxHits is how many places of one text are looked at, unless all are wanted.
const maxHits = 1000

// maxTries is how many places that turn out not to count are looked at.
const maxTries = 10_000

const bom = "\uFEFF"

// Find places every edit in the same, unchanged content. A text with line feeds
// finds lines that end with CRLF too, and what is put in their place ends as
// they do. A text that is not there is looked for once more with quotes, dashes,
// kinds of blanks, trailing blanks and invisible marks taken as equal, and bytes
// that are no text written as \xNN: it must then stand there exactly once, and of
// what it covers only the characters that old and new text do not share are
// replaced. The error tells the faults of all edits; name is the file in it.
func Find(name string, content []byte, edits []Edit) (*Plan, error) {
	s := search{name: name, body: content, text: project(content, false)}
	if bytes.HasPrefix(content, []byte(bom)) {
		s.skip = len(bom)
		s.body = content[s.skip:]
		s.text = project(s.body, false)
	}
	var faults []error
	var plan Plan
	if len(edits) == 0 {
		faults = append(faults, errors.New("edits is empty: give at least one {old_text, new_text}"))
	}
	for i, e := range edits {
		hits, splices, err := s.place(i, e)
		if err != nil {
			faults = append(faults, fmt.Errorf("edits[%d]: %w", i, err))
			continue
		}
		plan.Hits = append(plan.Hits, hits...)
		plan.Splices = append(plan.Splices, splices...)
	}
	sort.SliceStable(plan.Hits, func(i, j int) bool { return plan.Hits[i].From < plan.Hits[j].From })
	sort.SliceStable(plan.Splices, func(i, j int) bool { return plan.Splices[i].From < plan.Splices[j].From })
	for i := 1; i < len(plan.Hits); i++ {
		a, b := plan.Hits[i-1], plan.Hits[i]
		if a.To > b.From {
			faults = append(faults, fmt.Errorf("edits[%d] and edits[%d] overlap (around line %d of %s): "+
				"every old_text is looked for in the file as it is; make one edit of the two", min(a.Edit, b.Edit), max(a.Edit, b.Edit), s.line(b.From-s.skip), name))
		}
	}
	if len(faults) == 0 && !plan.changes(content) {
		faults = append(faults, fmt.Errorf("the edits would change nothing in %s: new_text is what is there already", name))
	}
	if len(faults) > 0 {
		return nil, errors.Join(faults...)
	}
	return &plan, nil
}

func (p *Plan) changes(content []byte) bool {
	return slices.ContainsFunc(p.Splices, func(s Splice) bool { return string(content[s.From:s.To]) != s.New })
}

// Apply returns the content with the splices of the plan.
func (p *Plan) Apply(content []byte) []byte {
	size := len(content)
	for _, s := range p.Splices {
		size += len(s.New) - (s.To - s.From)
	}
	out := make([]byte, 0, size)
	at := 0
	for _, s := range p.Splices {
		out = append(out, content[at:s.From]...)
		out = append(out, s.New...)
		at = s.To
	}
	return append(out, content[at:]...)
}

// search is one content, as it is compared.
type search struct {
	name  string
	body  []byte // without a byte order mark
	skip  int    // size of that mark
	text  projection
	loose *projection // made when it is needed
}

// place finds one edit.
func (s *search) place(index int, e Edit) ([]Hit, []Splice, error) {
	switch {
	case e.Old == "":
		return nil, nil, fmt.Errorf("old_text is empty: give the text to replace; to create a file or to replace all of it call write")
	case e.Old == e.New:
		return nil, nil, fmt.Errorf("old_text and new_text are the same: nothing would change")
	case strings.Count(e.New, "\uFFFD") > strings.Count(e.Old, "\uFFFD"):
		return nil, nil, fmt.Errorf("new_text holds U+FFFD, the sign of bytes that were lost: give the characters themselves, or an escape that the file's language knows")
	}
	if rest, ok := strings.CutPrefix(e.Old, bom); ok && rest != "" {
		// The mark at the start of a file is neither shown as text nor edited.
		e.Old, e.New = rest, strings.TrimPrefix(e.New, bom)
	}
	if strings.Contains(e.Old, "\r") {
		if at := occurrences(s.body, []byte(e.Old), e.All, nil); len(at) > 0 {
			return s.exact(index, e, at)
		}
		e.Old, e.New = strings.ReplaceAll(e.Old, "\r\n", "\n"), strings.ReplaceAll(e.New, "\r\n", "\n")
	}
	if at := occurrences(s.text.text, []byte(e.Old), e.All, nil); len(at) > 0 {
		old := projection{text: []byte(e.Old)}
		return s.found(index, e, &s.text, &old, at)
	}
	if s.loose == nil {
		p := project(s.body, true)
		s.loose = &p
	}
	old := project([]byte(e.Old), true)
	if len(old.text) == 0 {
		return nil, nil, s.missing(e)
	}
	// Blanks at the very end of the old text stand for those at the end of a line.
	atEnd := blanksAtEnd(e.Old)
	at := occurrences(s.loose.text, old.text, e.All, func(from int) bool {
		to := from + len(old.text)
		if atEnd && to < len(s.loose.text) && s.loose.text[to] != '\n' {
			return false
		}
		return s.loose.whole(from) && s.loose.whole(to)
	})
	switch {
	case len(at) == 0:
		return nil, nil, s.missing(e)
	case len(at) > 1:
		return nil, nil, s.ambiguous(s.loose, at, "is not there as it is, and with quotes, dashes and blanks taken as equal")
	}
	return s.found(index, e, s.loose, &old, at)
}

func blanksAtEnd(text string) bool {
	r, _ := utf8.DecodeLastRuneInString(text)
	return r == ' ' || r == '\t' || isBlankRune(r)
}

// occurrences of part that satisfy ok, overlapping ones too: "aa" stands in "aaa"
// at two places. All wants the ones that do not overlap.
func occurrences(text, part []byte, all bool, ok func(at int) bool) []int {
	var out []int
	for from, tries := 0, 0; from <= len(text) && (all || len(out) <= maxHits) && tries < maxTries; {
		at := bytes.Index(text[from:], part)
		if at < 0 {
			break
		}
		at += from
		from = at + 1
		if ok != nil && !ok(at) {
			tries++
			continue
		}
		out = append(out, at)
		if all {
			from = at + len(part)
		}
	}
	return out
}

// exact places a text whose line ends were given: nothing is translated.
func (s *search) exact(index int, e Edit, at []int) ([]Hit, []Splice, error) {
	if len(at) > 1 && !e.All {
		raw := projection{text: s.body}
		return nil, nil, s.ambiguous(&raw, at, "stands")
	}
	var hits []Hit
	var splices []Splice
	for _, from := range at {
		from += s.skip
		hits = append(hits, Hit{Edit: index, From: from, To: from + len(e.Old)})
		splices = append(splices, Splice{From: from, To: from + len(e.Old), New: e.New})
	}
	return hits, splices, nil
}

// found makes hits and splices of the places in a projection.
func (s *search) found(index int, e Edit, in, old *projection, at []int) ([]Hit, []Splice, error) {
	if len(at) > 1 && !e.All {
		return nil, nil, s.ambiguous(in, at, "stands")
	}
	var hits []Hit
	var splices []Splice
	for _, n := range at {
		hit := Hit{Edit: index, From: s.skip + in.start(n), To: s.skip + in.end(n+len(old.text))}
		k := in.kinds(n, n+len(old.text)) | old.kinds(0, len(old.text)+1)
		hit.Loose = (k &^ lineEnds).String()
		hits = append(hits, hit)
		splices = append(splices, s.splices(e, in, old, n)...)
	}
	return hits, splices, nil
}
