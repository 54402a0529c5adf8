package ignore

import (
	"bytes"
	"strings"
)

// pattern is one line of an ignore file.
type pattern struct {
	negated  bool
	dirOnly  bool
	anchored bool      // it is about the path below its file, not the last part alone
	prefix   string    // anchored: literal bytes before the first wildcard
	parts    []segment // of the rest, split at slashes
}

// segment is what one part of a path must look like.
type segment struct {
	// deep is "**": any number of whole parts, at least least.
	deep  bool
	least int
	atoms []atom
}

// atom matches one byte, or (star) any number of them.
type atom struct {
	op    op
	c     byte
	class *[256]bool
}

type op uint8

const (
	literal op = iota
	anyByte
	star
	oneOf
	slash // parts segments; escaped says c
)

// parseFile reads the patterns of an ignore file, first line first.
func parseFile(content []byte) []pattern {
	content = bytes.TrimPrefix(content, []byte("\xef\xbb\xbf"))
	var out []pattern
	for line := range bytes.SplitSeq(content, []byte("\n")) {
		line = bytes.TrimSuffix(line, []byte("\r"))
		if len(line) == 0 || line[0] == '#' {
			continue
		}
		if p, ok := parse(trimBlanks(string(line))); ok {
			out = append(out, p)
		}
	}
	return out
}

// trimBlanks takes spaces off the end, but not one with a backslash before it.
func trimBlanks(line string) string {
	end := len(line)
	for i := 0; i < len(line); i++ {
		switch line[i] {
		case ' ':
			continue
		case '\\':
			i++
		}
		end = min(i+1, len(line))
	}
	if strings.Trim(line, " ") == "" {
		return ""
	}
	return line[:end]
}

// parse reads one pattern; false for one that is empty or can match nothing.
func parse(text string) (pattern, bool) {
	var p pattern
	if rest, ok := strings.CutPrefix(text, "!"); ok {
		p.negated, text = true, rest
	}
	if rest, ok := strings.CutSuffix(text, "/"); ok {
		p.dirOnly, text = true, rest
	}
	p.anchored = strings.Contains(text, "/")
	if p.anchored {
		text = strings.TrimPrefix(text, "/")
		// The part without wildcards is compared as it is: what follows is
		// looked at as if it were a whole pattern.
		cut := strings.IndexAny(text, `*?[\`)
		if cut < 0 {
			cut = len(text)
		}
		p.prefix, text = text[:cut], text[cut:]
	}
	if text == "" {
		return p, p.prefix != ""
	}
	atoms, ok := compile(text)
	if !ok {
		return p, false
	}
	p.parts = split(atoms, p.anchored)
	return p, true
}

// compile reads wildcards; false when a bracket or a backslash is left open.
func compile(text string) ([]atom, bool) {
	var out []atom
	for i := 0; i < len(text); i++ {
		switch c := text[i]; c {
		case '*':
			out = append(out, atom{op: star})
		case '?':
			out = append(out, atom{op: anyByte})
		case '[':
			class, size := compileClass(text[i:])
			if size == 0 {
				return nil, false
			}
			out = append(out, atom{op: oneOf, class: class})
			i += size - 1
		case '\\':
			if i++; i == len(text) {
				return nil, false
			}
			if text[i] == '/' {
				out = append(out, atom{op: slash, c: '\\'})
			} else {
				out = append(out, atom{op: literal, c: text[i]})
			}
		case '/':
			out = append(out, atom{op: slash})
		default:
			out = append(out, atom{op: literal, c: c})
		}
	}
	return out, true
}

// split parts atoms at slashes. Without an anchor there are none.
func split(atoms []atom, anchored bool) []segment {
	var out []segment
	for {
		end := 0
		for end < len(atoms) && atoms[end].op != slash {
			end++
		}
		s := segment{atoms: atoms[:end]}
		if stars := countStars(s.atoms); anchored && stars == end && stars > 1 {
			// Before an escaped slash, and at the end, there must be something.
			s = segment{deep: true}
			if end == len(atoms) || atoms[end].c == '\\' {
				s.least = 1
			}
		}
		out = append(out, s)
		if end == len(atoms) {
			return out
		}
		atoms = atoms[end+1:]
	}
}

func countStars(atoms []atom) int {
	n := 0
	for _, a := range atoms {
		if a.op == star {
			n++
		}
	}
	return n
}

// matches tells whether the pattern is about a path below its file (slashes, no
// trailing one) whose last part is base.
func (p *pattern) matches(path, base string, isDir bool) bool {
	if p.dirOnly && !isDir {
		return false
	}
	if !p.anchored {
		return matchPart(p.parts[0].atoms, base)
	}
	rest, ok := strings.CutPrefix(path, p.prefix)
	if !ok {
		return false
	}
	if len(p.parts) == 0 {
		return rest == ""
	}
	return matchParts(p.parts, strings.Split(rest, "/"))
}

// matchParts goes back to the last ** only: an earlier one could take no more.
func matchParts(want []segment, have []string) bool {
	w, h := 0, 0
	deep, from := -1, 0
	for h < len(have) {
		switch {
		case w < len(want) && want[w].deep:
			deep, from = w, h+want[w].least
			if from > len(have) {
				return false
			}
			w, h = w+1, from
		case w < len(want) && matchPart(want[w].atoms, have[h]):
			w, h = w+1, h+1
		case deep >= 0:
			from++
			w, h = deep+1, from
		default:
			return false
		}
	}
	for w < len(want) && want[w].deep && want[w].least == 0 {
		w++
	}
	return w == len(want)
}

func matchPart(want []atom, have string) bool {
	w, h := 0, 0
	wide, from := -1, 0
	for h < len(have) {
		switch {
		case w < len(want) && want[w].op == star:
			wide, from = w, h
			w++
		case w < len(want) && want[w].holds(have[h]):
			w, h = w+1, h+1
		case wide >= 0:
			from++
			w, h = wide+1, from
		default:
			return false
		}
	}
	for w < len(want) && want[w].op == star {
		w++
	}
	return w == len(want)
}

func (a *atom) holds(c byte) bool {
	switch a.op {
	case anyByte:
		return true
	case oneOf:
		return a.class[c]
	}
	return a.op == literal && a.c == c
}
