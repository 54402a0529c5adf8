package fs

import (
	"bytes"
	"errors"
	"fmt"
	"regexp"
	"regexp/syntax"
	"slices"
	"strings"
	"unicode/utf8"
)

// pattern finds lines that hold a regular expression.
type pattern struct {
	tree *syntax.Regexp
	line *regexp.Regexp // what a line must hold, without its end
	// needles: a line that matches holds one of them. Without needles block is
	// used: it matches in every line that line matches in, and in others.
	needles []needle
	sure    bool // a line that holds a needle matches
	// prog, when there is one, finds the lines where needles are in too many.
	prog  *syntax.Prog
	block *regexp.Regexp
}

// compilePattern reads a regular expression of the syntax of Go.
func compilePattern(text string, fold bool) (*pattern, error) {
	flags := syntax.Perl
	if fold {
		flags |= syntax.FoldCase
		text = "(?i:" + text + ")"
	}
	tree, err := syntax.Parse(text, flags)
	if err != nil {
		return nil, fmt.Errorf("pattern: %w; it is a regular expression of RE2: escape . * + ? ( ) [ ] { } | ^ $ \\ to search for them as they are", err)
	}
	p := &pattern{tree: tree}
	if p.line, err = regexp.Compile(text); err != nil {
		return nil, fmt.Errorf("pattern: %w", err)
	}
	if holdsBreak(tree) {
		return nil, errors.New("pattern: lines are searched one by one, and none holds a line break; search for a text of one line")
	}
	p.needles, p.sure = needlesOf(tree)
	if !p.sure && shortest(p.needles) < weakNeedle {
		p.prog = program(tree)
	}
	if len(p.needles) == 0 && p.prog == nil {
		if p.block, err = regexp.Compile(loosen(tree).String()); err != nil {
			return nil, fmt.Errorf("pattern: %w", err)
		}
	}
	return p, nil
}

// holdsBreak tells that a text to search for has more than one line.
func holdsBreak(re *syntax.Regexp) bool {
	return re.Op == syntax.OpLiteral && slices.Contains(re.Rune, '\n') || slices.ContainsFunc(re.Sub, holdsBreak)
}

// loosen takes the ends of lines and texts out of a tree: in a block of lines
// they are elsewhere.
func loosen(re *syntax.Regexp) *syntax.Regexp {
	switch re.Op {
	case syntax.OpBeginLine, syntax.OpEndLine, syntax.OpBeginText, syntax.OpEndText:
		return &syntax.Regexp{Op: syntax.OpEmptyMatch}
	}
	out := *re
	out.Sub = make([]*syntax.Regexp, len(re.Sub))
	for i, sub := range re.Sub {
		out.Sub[i] = loosen(sub)
	}
	return &out
}

// maxNeedles is how many texts are looked for one by one.
const maxNeedles = 16

// needlesOf returns texts of which a match holds at least one, none when that is
// not known, and whether the tree is nothing but them.
func needlesOf(re *syntax.Regexp) (found []needle, sure bool) {
	switch re.Op {
	case syntax.OpLiteral:
		return literalNeedle(re)
	case syntax.OpCapture:
		return needlesOf(re.Sub[0])
	case syntax.OpPlus:
		found, _ = needlesOf(re.Sub[0])
		return found, false
	case syntax.OpRepeat:
		if re.Min > 0 {
			found, _ = needlesOf(re.Sub[0])
		}
		return found, false
	case syntax.OpConcat:
		for _, sub := range re.Sub {
			if n, _ := needlesOf(sub); shortest(n) > shortest(found) {
				found = n
			}
		}
		return found, false
	case syntax.OpAlternate:
		sure = true
		for _, sub := range re.Sub {
			n, s := needlesOf(sub)
			if len(n) == 0 || len(found)+len(n) > maxNeedles {
				return nil, false
			}
			found, sure = append(found, n...), sure && s
		}
		return found, sure
	}
	return nil, false
}

func shortest(list []needle) int {
	size := 0
	for i, n := range list {
		if i == 0 || len(n.text) < size {
			size = len(n.text)
		}
	}
	return size
}

// literalNeedle is the text of a literal. Without regard to case it is the
// longest part of plain letters: k and s have relatives outside of them.
func literalNeedle(re *syntax.Regexp) ([]needle, bool) {
	text := string(re.Rune)
	if strings.ContainsRune(text, utf8.RuneError) {
		return nil, false // matches bytes that are no text too
	}
	if re.Flags&syntax.FoldCase == 0 {
		return []needle{{text: []byte(text)}}, !strings.Contains(text, "\r") // lines are searched without
	}
	text = strings.ToLower(text)
	longest := ""
	for _, part := range strings.FieldsFunc(text, func(r rune) bool { return r >= utf8.RuneSelf || r == 'k' || r == 's' }) {
		if len(part) > len(longest) {
			longest = part
		}
	}
	if longest == "" {
		return nil, false
	}
	return []needle{newFold(longest)}, longest == text && !strings.Contains(text, "\r")
}

// needle is a text to look for, as it is or (fold) in lower and upper case.
type needle struct {
	text []byte
	fold bool
	rare int // fold: the byte of text that is looked for first
}

// rareness orders letters by how seldom they are in texts and programs.
const rareness = "etaoinsrlcdpumfhgbyvxwkjqz"

func newFold(text string) needle {
	n := needle{text: []byte(text), fold: true}
	best := -1
	for i, c := range n.text {
		rank := strings.IndexByte(rareness, c)
		if rank < 0 && (c == ' ' || c == '_' || c == '(') {
			rank = 2
		} else if rank < 0 {
			rank = 18
		}
		if rank > best {
			best, n.rare = rank, i
		}
	}
	return n
}

// index is where the needle is first in text, -1 when it is not.
func (n *needle) index(text []byte) int {
	if !n.fold {
		return bytes.Index(text, n.text)
	}
	lower := n.text[n.rare]
	upper := lower
	if lower >= 'a' && lower <= 'z' {
		upper -= 'a' - 'A'
	}
	l, u := -2, -2 // next places of both; -1: none
	for at := 0; at < len(text); {
		if l != -1 && l < at {
			l = seek(text, at, lower)
		}
		if u != -1 && u < at && upper != lower {
			u = seek(text, at, upper)
		} else if upper == lower {
			u = -1
		}
		next := l
		if next < 0 || u >= 0 && u < next {
			next = u
		}
		if next < 0 {
			return -1
		}
		if start := next - n.rare; start >= 0 && start+len(n.text) <= len(text) && equalFold(text[start:start+len(n.text)], n.text) {
			return start
		}
		at = next + 1
	}
	return -1
}

func seek(text []byte, from int, c byte) int {
	if at := bytes.IndexByte(text[from:], c); at >= 0 {
		return from + at
	}
	return -1
}

// equalFold compares with lower case of ASCII.
func equalFold(text, lower []byte) bool {
	for i, c := range text {
		if c >= 'A' && c <= 'Z' {
			c += 'a' - 'A'
		}
		if c != lower[i] {
			return false
		}
	}
	return true
}

// cursor walks through the lines of one block that may match.
type cursor struct {
	p    *pattern
	auto *automaton // nil when needles or block are used
	text []byte
	next []int // per needle its next place, -1 for none
}

func (p *pattern) in(text []byte, reuse []int, auto *automaton) cursor {
	if auto != nil {
		return cursor{p: p, text: text, next: reuse, auto: auto}
	}
	next := reuse[:0]
	for range p.needles {
		next = append(next, -2)
	}
	return cursor{p: p, text: text, next: next}
}

// seek returns a place at or behind from, the start of a line, before which no
// line matches; -1 when none does.
func (c *cursor) seek(from int) int {
	if c.auto != nil {
		return c.auto.seek(c.text, from)
	}
	if c.p.block != nil {
		at := c.p.block.FindIndex(c.text[from:])
		if at == nil {
			return -1
		}
		return from + at[0]
	}
	first := -1
	for i := range c.next {
		if c.next[i] != -1 && c.next[i] < from {
			if c.next[i] = c.p.needles[i].index(c.text[from:]); c.next[i] >= 0 {
				c.next[i] += from
			}
		}
		if at := c.next[i]; at >= 0 && (first < 0 || at < first) {
			first = at
		}
	}
	return first
}
