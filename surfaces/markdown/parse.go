package markdown

import (
	"bytes"
	"strings"
)

// maxOpen is how many quotes and items may be open inside each other. What would be
// deeper is text: so a line costs no more than its length.
const maxOpen = 16

// blocks builds the blocks of a document, line by line.
type blocks struct {
	root *node
	open []container // from the outside in
	leaf *node       // the open block without kids, within the last of open
	text []byte      // of the leaf
	// fence ends the leaf where it is fenced code, until ends it where it is HTML.
	fence fence
	until htmlKind
	// blank is set behind an empty line: one more than the containers it was in, up to
	// the last quote. Only inside of them it sets blocks apart.
	blank int
}

// parse reads a document. It takes time in proportion to its length.
func parse(src string) *node {
	p := &blocks{root: &node{kind: kindDocument}}
	for src != "" {
		var line string
		line, src, _ = strings.Cut(src, "\n")
		p.line(line)
	}
	p.closeLeaf()
	return p.root
}

// step is what came of an attempt to begin a block.
type step uint8

const (
	stepNone   step = iota // the line begins nothing
	stepInside             // a container is open now, the rest of the line is inside
	stepDone               // the line is used up
)

func (p *blocks) line(text string) {
	c := cursor{rest: text}
	matched := 0
	for matched < len(p.open) && p.open[matched].goesOn(&c) {
		matched++
	}
	if matched == len(p.open) && p.verbatim(&c) {
		if p.blank = 0; c.blank() && p.leaf != nil && p.leaf.kind == kindHTML {
			p.apartFrom(matched)
		}
		return
	}
	if c.blank() {
		p.empty(&c, matched)
		return
	}
	for {
		switch p.begin(&c, matched) {
		case stepInside:
			matched = len(p.open)
			if !c.blank() {
				continue
			}
		case stepNone:
			p.plain(&c, matched)
		}
		p.blank = 0
		return
	}
}

// verbatim gives a line to an open block that takes lines as they are.
func (p *blocks) verbatim(c *cursor) bool {
	switch {
	case p.leaf == nil:
		return false
	case p.leaf.kind == kindCode && p.leaf.fenced:
		if p.fence.closes(expandIndent(c)) {
			p.closeLeaf()
			return true
		}
		c.skip(min(c.indent(), p.fence.indent))
		p.addLine(c.rest)
		return true
	case p.leaf.kind == kindHTML:
		if p.until == htmlUntilBlank {
			if c.blank() {
				return false
			}
			p.addLine(c.rest)
			return true
		}
		p.addLine(c.rest)
		if p.until.in(c.rest) {
			p.closeLeaf()
		}
		return true
	}
	return false
}

// expandIndent returns the rest of a line with its indentation as spaces.
func expandIndent(c *cursor) string {
	if text := strings.TrimLeft(c.rest, " \t"); strings.Contains(c.rest[:len(c.rest)-len(text)], "\t") {
		return strings.Repeat(" ", c.indent()) + text
	}
	return c.rest
}

// empty takes an empty line.
func (p *blocks) empty(c *cursor, matched int) {
	if matched == len(p.open) && p.leaf != nil && p.leaf.kind == kindCode {
		c.skip(4)
		p.addLine(c.rest)
	} else {
		p.cut(matched)
	}
	p.apartFrom(matched)
}

// apartFrom notes an empty line within the first matched containers.
func (p *blocks) apartFrom(matched int) {
	p.blank = 1
	for i, o := range p.open[:matched] {
		if o.node.kind == kindQuote {
			p.blank = i + 2
		}
	}
}

// plain takes a line that begins nothing: it goes on with the open block, or is a
// paragraph.
func (p *blocks) plain(c *cursor, matched int) {
	if matched < len(p.open) {
		if p.leaf != nil && p.leaf.kind == kindParagraph {
			p.addText(c.rest) // lazily
			return
		}
		p.cut(matched)
	}
	switch {
	case p.leaf == nil:
	case p.leaf.kind == kindTable:
		p.leaf.rows = append(p.leaf.rows, cells(c.rest, len(p.leaf.align)))
		return
	case p.leaf.kind == kindParagraph:
		if !p.table(c.rest) {
			p.addText(c.rest)
		}
		return
	default:
		p.closeLeaf()
	}
	p.openLeaf(&node{kind: kindParagraph})
	p.addText(c.rest)
}

// table makes a table of the last line of the open paragraph, where this one is the
// row of dashes below a header.
func (p *blocks) table(line string) bool {
	if !strings.Contains(line, "-") {
		return false
	}
	align := delimiters(line)
	if align == nil {
		return false
	}
	before := bytes.LastIndexByte(p.text[:len(p.text)-1], '\n') + 1
	head := string(p.text[before:])
	if !strings.Contains(line, "|") && !strings.Contains(head, "|") && !strings.Contains(line, ":") {
		return false
	}
	row := cells(head, len(align)+1)
	if len(row) != len(align) {
		return false
	}
	t := &node{kind: kindTable, align: align, rows: [][]string{row}}
	if p.text = p.text[:before]; before > 0 {
		p.closeLeaf()
		p.openLeaf(t)
		return true
	}
	*p.leaf = *t
	return true
}

// add puts a block into the last open container. One that comes behind an empty line
// makes the list loose, unless it is the first in its item.
func (p *blocks) add(n *node) {
	parent := p.root
	if depth := len(p.open); depth > 0 {
		parent = p.open[depth-1].node
		if list := p.open[depth-1].list; list != nil && len(parent.kids) > 0 && p.apart(depth) {
			list.loose = true
		}
	}
	parent.kids = append(parent.kids, n)
}

// apart tells whether an empty line stands before, seen from within depth containers.
func (p *blocks) apart(depth int) bool { return p.blank > 0 && depth+1 >= p.blank }

func (p *blocks) openLeaf(n *node) {
	p.add(n)
	p.leaf, p.text = n, p.text[:0]
}

func (p *blocks) addLine(text string) {
	p.text = append(append(p.text, text...), '\n')
}

func (p *blocks) addText(text string) { p.addLine(strings.TrimLeft(text, " \t")) }

// cut closes the open block and the containers from the given one on.
func (p *blocks) cut(matched int) {
	p.closeLeaf()
	p.open = p.open[:matched]
}

func (p *blocks) closeLeaf() {
	n := p.leaf
	if n == nil {
		return
	}
	p.leaf = nil
	text := string(p.text)
	switch {
	case n.kind == kindTable:
		return
	case n.kind == kindParagraph, n.kind == kindHeading:
		text = strings.TrimRight(text, " \t\n")
		if n.kind == kindParagraph && len(p.open) > 0 {
			text = p.open[len(p.open)-1].taskOf(n, text)
		}
	case n.kind == kindHTML:
		text = strings.TrimRight(text, " \t\n")
	case n.kind == kindCode && !n.fenced:
		for {
			cut := strings.TrimSuffix(text, "\n")
			at := strings.LastIndexByte(cut, '\n') + 1
			if strings.Trim(cut[at:], " \t") != "" || cut == "" {
				break
			}
			text = cut[:at]
		}
	}
	n.text = text
}

// taskOf takes the box of a task off the first paragraph of an item.
func (o container) taskOf(n *node, text string) string {
	if o.node.kind != kindItem || o.node.kids[0] != n || len(text) < 3 || text[0] != '[' || text[2] != ']' {
		return text
	}
	if len(text) > 3 && text[3] != ' ' && text[3] != '\t' && text[3] != '\n' {
		return text
	}
	switch text[1] {
	case ' ', '\t':
		n.task = ' '
	case 'x', 'X':
		n.task = 'x'
	default:
		return text
	}
	return strings.TrimLeft(text[3:], " \t\n")
}
