package match

import (
	"bytes"
	"errors"
	"fmt"
	"regexp"
	"sort"
	"strings"
	"sync"
	"unicode/utf8"
)

const (
	shownPlaces = 5   // candidates that are shown
	shownLines  = 8   // lines of one candidate
	shownWidth  = 200 // bytes of one line
)

// Legible shows bytes that are no UTF-8 as \xNN, and whether there were any. The
// replacement character would come back in a write and destroy them.
func Legible(line []byte) (string, bool) {
	if utf8.Valid(line) {
		return string(line), false
	}
	var b strings.Builder
	for len(line) > 0 {
		r, n := utf8.DecodeRune(line)
		if r == utf8.RuneError && n == 1 {
			fmt.Fprintf(&b, `\x%02X`, line[0])
		} else {
			b.Write(line[:n])
		}
		line = line[n:]
	}
	return b.String(), true
}

// line is the number, from 1, of the line an offset of the body is in.
func (s *search) line(at int) int { return 1 + bytes.Count(s.body[:at], []byte("\n")) }

// show numbers count lines of the body from a line on, as read does.
func (s *search) show(b *strings.Builder, first, count int) {
	rest := s.body
	for n := 1; n < first && len(rest) > 0; n++ {
		at := bytes.IndexByte(rest, '\n')
		if at < 0 {
			return
		}
		rest = rest[at+1:]
	}
	for n := first; n < first+min(count, shownLines) && len(rest) > 0; n++ {
		line, after, _ := bytes.Cut(rest, []byte("\n"))
		rest = after
		fmt.Fprintf(b, "%d\t%s\n", n, clip(bytes.TrimSuffix(line, []byte("\r"))))
	}
}

// clip is the start of a line, legible and in whole characters.
func clip(line []byte) string {
	if len(line) <= shownWidth {
		text, _ := Legible(line)
		return text
	}
	cut := shownWidth
	for cut > shownWidth-utf8.UTFMax && !utf8.RuneStart(line[cut]) {
		cut--
	}
	text, _ := Legible(line[:cut])
	return text + " …"
}

// ambiguous refuses a text that stands at several places and shows them.
func (s *search) ambiguous(in *projection, at []int, how string) error {
	var b strings.Builder
	count := fmt.Sprint(len(at))
	if len(at) > maxHits {
		count = fmt.Sprintf("more than %d", maxHits)
	}
	fmt.Fprintf(&b, "old_text %s %s times in %s: add lines around it until it is unique", how, count, s.name)
	if how == "stands" {
		b.WriteString(`, or set "all": true to replace every one`)
	}
	b.WriteString(". It is at:\n")
	for i, n := range at {
		if i == shownPlaces {
			fmt.Fprintf(&b, "… and %d more\n", len(at)-i)
			break
		}
		line := s.line(in.start(n))
		s.show(&b, max(1, line-1), 3)
		if i < min(len(at), shownPlaces)-1 {
			b.WriteString("…\n")
		}
	}
	return errors.New(strings.TrimSuffix(b.String(), "\n"))
}

// numbered are lines as read shows them.
var numbered = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`(?m)^ *\d+\t`) })

// missing says what could be meant by a text that is not there.
func (s *search) missing(e Edit) error {
	var b strings.Builder
	fmt.Fprintf(&b, "old_text is not in %s", s.name)
	lines := strings.Count(strings.TrimSuffix(e.Old, "\n"), "\n") + 1
	switch bare := numbered().ReplaceAllString(e.Old, ""); {
	case len(numbered().FindAllString(e.Old, -1)) == lines && len(occurrences(s.text.text, []byte(bare), false, nil)) > 0:
		b.WriteString(": it begins its lines with the numbers and tabs that read shows; leave them out")
		return errors.New(b.String())
	case strings.Contains(e.Old, "\uFFFD"):
		b.WriteString(`: it holds U+FFFD; a byte that is no text is written \xNN here, as read shows it`)
	}
	places := s.nearest(e.Old)
	if len(places) == 0 {
		b.WriteString(", and nothing like it: read the file again, and copy the text from there")
		return errors.New(b.String())
	}
	b.WriteString(". The nearest, copy the text from here:\n")
	for i, p := range places {
		fmt.Fprintf(&b, "lines %d-%d", p.line, p.line+p.count-1)
		if p.why != "" {
			fmt.Fprintf(&b, " (%s)", p.why)
		}
		b.WriteString(":\n")
		s.show(&b, p.line, p.count)
		if i < len(places)-1 {
			b.WriteString("…\n")
		}
	}
	return errors.New(strings.TrimSuffix(b.String(), "\n"))
}

// near is a run of lines that looks like the old text.
type near struct {
	line, count int
	score       float64 // 0 to 1
	why         string
}

// nearest looks for the runs of lines that have most in common with a text.
func (s *search) nearest(old string) []near {
	want := strings.Split(strings.Trim(old, "\n"), "\n")
	key := 0 // the line that says most
	for i, l := range want {
		if len(strings.TrimSpace(l)) > len(strings.TrimSpace(want[key])) {
			key = i
		}
	}
	if strings.TrimSpace(want[key]) == "" {
		return nil
	}
	target := newGrams(want[key])
	var found []near
	floor := 0.5
	number := 0
	var have []string // the lines, as far as they were needed
	for line := range bytes.Lines(s.body) {
		number++
		have = append(have, "")
		if score := target.like(line); score > floor {
			found = append(found, near{line: number, score: score})
			if len(found) > 64 {
				found, floor = best(found, 16)
			}
		}
	}
	found, _ = best(found, 16)
	s.lines(have, found, key, len(want))
	for i := range found {
		p := &found[i]
		first := p.line - key
		p.count = len(want)
		if first < 1 {
			p.count, first = p.count+first-1, 1
		}
		p.count = max(1, min(p.count, number-first+1))
		p.score, p.why = compare(want, have, p.line-key)
		p.line = first
	}
	found, _ = best(found, 3)
	for len(found) > 1 && found[len(found)-1].score < found[0].score*0.8 {
		found = found[:len(found)-1]
	}
	return found
}

// lines fills the texts of the lines around the places.
func (s *search) lines(have []string, places []near, key, count int) {
	need := map[int]bool{}
	for _, p := range places {
		for n := p.line - key; n < p.line-key+count; n++ {
			need[n] = true
		}
	}
	number := 0
	for line := range bytes.Lines(s.body) {
		if number++; need[number] {
			have[number-1], _ = Legible(bytes.TrimRight(line, "\r\n"))
		}
	}
}

func best(found []near, n int) ([]near, float64) {
	sort.SliceStable(found, func(i, j int) bool { return found[i].score > found[j].score })
	if len(found) > n {
		found = found[:n]
	}
	if len(found) < n {
		return found, 0.5
	}
	return found, found[len(found)-1].score
}

// compare scores the lines from first on against the wanted ones and names the
// first difference.
func compare(want, have []string, first int) (float64, string) {
	score, why := 0.0, ""
	for i, w := range want {
		n := first + i
		h := ""
		if n >= 1 && n <= len(have) {
			h = have[n-1]
		}
		if h == w {
			score++
			continue
		}
		score += newGrams(w).like([]byte(h))
		if why == "" {
			why = difference(n, w, h)
		}
	}
	return score / float64(len(want)), why
}

// difference says how two lines differ, as far as it can be said shortly.
func difference(n int, want, have string) string {
	fold := func(s string) string { return strings.Join(strings.Fields(s), " ") }
	lead := func(s string) string { return s[:len(s)-len(strings.TrimLeft(s, " \t"))] }
	switch {
	case fold(want) == fold(have) && lead(want) != lead(have):
		return fmt.Sprintf("line %d is indented with %s, old_text has %s", n, blanks(lead(have)), blanks(lead(want)))
	case fold(want) == fold(have):
		return fmt.Sprintf("blanks differ in line %d", n)
	case strings.EqualFold(fold(want), fold(have)):
		return fmt.Sprintf("upper and lower case differ in line %d", n)
	}
	at := commonPrefix(want, have)
	return fmt.Sprintf("line %d differs from character %d on", n, utf8.RuneCountInString(have[:at])+1)
}

func blanks(s string) string {
	tabs := strings.Count(s, "\t")
	count := func(n int, word string) string {
		if n == 1 {
			return "1 " + word
		}
		return fmt.Sprintf("%d %ss", n, word)
	}
	switch {
	case s == "":
		return "nothing"
	case tabs == 0:
		return count(len(s), "space")
	case tabs == len(s):
		return count(tabs, "tab")
	}
	return count(tabs, "tab") + " and " + count(len(s)-tabs, "space")
}

// grams are the pairs of neighbouring bytes of a line, blanks left out and case
// folded.
type grams struct {
	pairs map[[2]byte]int
	size  int
}

func newGrams(line string) grams {
	g := grams{pairs: map[[2]byte]int{}}
	eachPair([]byte(line), func(p [2]byte) { g.pairs[p]++; g.size++ })
	return g
}

// like is how much of a line are the same pairs, from 0 to 1.
func (g grams) like(line []byte) float64 {
	if len(line) > 4*g.size+64 { // cannot be alike, and may be long
		return 0
	}
	seen := make(map[[2]byte]int, 8)
	common, size := 0, 0
	eachPair(line, func(p [2]byte) {
		size++
		if g.pairs[p] > seen[p] {
			common++
			seen[p]++
		}
	})
	if g.size+size == 0 {
		return 1 // both are blank
	}
	return 2 * float64(common) / float64(g.size+size)
}

func eachPair(line []byte, use func([2]byte)) {
	var last byte
	for _, c := range line {
		switch {
		case c == ' ' || c == '\t' || c == '\r' || c == '\n':
			continue
		case c >= 'A' && c <= 'Z':
			c += 'a' - 'A'
		}
		use([2]byte{last, c})
		last = c
	}
}
