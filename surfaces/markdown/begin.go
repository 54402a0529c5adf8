package markdown

import "strings"

// begin opens the block that begins with the rest of the line, within the first
// matched containers. The others are closed then.
func (p *blocks) begin(c *cursor, matched int) step {
	in := c.indent()
	whole := matched == len(p.open)
	text := p.leaf != nil && p.leaf.kind == kindParagraph
	if in >= 4 {
		return p.indented(c, matched, text || whole && p.leaf != nil && p.leaf.kind == kindTable)
	}
	rest := strings.TrimLeft(c.rest, " \t")
	if whole && text {
		if level := underline(rest); level > 0 {
			p.leaf.kind, p.leaf.level = kindHeading, level
			p.closeLeaf()
			return stepDone
		}
	}
	switch rest[0] {
	case '>':
		if matched < maxOpen {
			p.cut(matched)
			q := &node{kind: kindQuote}
			p.add(q)
			p.open = append(p.open, container{node: q})
			c.quote(in)
			return stepInside
		}
	case '#':
		if level, title := atx(rest); level > 0 {
			p.cut(matched)
			p.add(&node{kind: kindHeading, level: level, text: title})
			return stepDone
		}
	case '`', '~':
		if f := fenceOf(expandIndent(c)); f != nil {
			p.cut(matched)
			p.openLeaf(&node{kind: kindCode, fenced: true, info: strings.Trim(rest[f.length:], " \t")})
			p.fence = *f
			return stepDone
		}
	case '<':
		until := htmlOf(rest)
		if until == htmlNone || until == htmlUntilBlank && text && !htmlBlockName(rest) {
			break // a lone tag does not end a paragraph
		}
		p.cut(matched)
		p.openLeaf(&node{kind: kindHTML})
		p.until = until
		p.addLine(c.rest)
		if until != htmlUntilBlank && until.in(rest) {
			p.closeLeaf()
		}
		return stepDone
	}
	if rule(rest) {
		p.cut(matched)
		p.add(&node{kind: kindRule})
		return stepDone
	}
	if matched < maxOpen {
		return p.item(c, in, matched, whole && text)
	}
	return stepNone
}

// indented takes a line that is indented as far as code is, unless text goes on there.
func (p *blocks) indented(c *cursor, matched int, text bool) step {
	if text {
		return stepNone
	}
	if matched < len(p.open) || p.leaf == nil || p.leaf.kind != kindCode {
		p.cut(matched)
		p.openLeaf(&node{kind: kindCode})
	}
	c.skip(4)
	p.addLine(c.rest)
	return stepDone
}

// item opens an item, and its list where the one before is another. In a paragraph
// only one begins that is not empty and not numbered from the middle.
func (p *blocks) item(c *cursor, in, matched int, text bool) step {
	q := *c
	q.skip(in)
	m, ok := markerOf(q.rest)
	if !ok {
		return stepNone
	}
	q.take(m.length)
	empty := q.blank()
	if text && (empty || m.ordered && m.start != 1) {
		return stepNone
	}
	p.cut(matched)
	parent := p.root
	if matched > 0 {
		parent = p.open[matched-1].node
	}
	list := parent.last()
	if list == nil || list.kind != kindList || list.ordered != m.ordered || list.sign != m.sign {
		list = &node{kind: kindList, ordered: m.ordered, sign: m.sign, start: m.start}
		p.add(list)
	} else if p.apart(matched) {
		list.loose = true
	}
	gap := q.indent()
	if empty || gap > 4 {
		gap = 1
	}
	q.skip(gap)
	*c = q
	n := &node{kind: kindItem}
	list.kids = append(list.kids, n)
	p.open = append(p.open, container{node: n, list: list, offset: in + m.length + gap})
	return stepInside
}

// marker is what an item begins with.
type marker struct {
	ordered bool
	sign    byte // "-", "+", "*", or the sign behind a number
	start   int
	length  int // in bytes
}

func markerOf(s string) (m marker, ok bool) {
	for m.length < len(s) && m.length < 10 && s[m.length] >= '0' && s[m.length] <= '9' {
		m.start = 10*m.start + int(s[m.length]-'0')
		m.length++
	}
	m.ordered = m.length > 0
	if m.length > 9 || m.length == len(s) {
		return m, false
	}
	m.sign = s[m.length]
	m.length++
	if m.ordered != (m.sign == '.' || m.sign == ')') || !m.ordered && m.sign != '-' && m.sign != '+' && m.sign != '*' {
		return m, false
	}
	return m, m.length == len(s) || s[m.length] == ' ' || s[m.length] == '\t'
}

// atx reads a heading that begins with one to six "#"; level 0 for any other line.
func atx(s string) (level int, title string) {
	title = strings.TrimLeft(s, "#")
	level = len(s) - len(title)
	if level > 6 || title != "" && title[0] != ' ' && title[0] != '\t' {
		return 0, ""
	}
	title = strings.Trim(title, " \t")
	if cut := strings.TrimRight(title, "#"); cut == "" || cut[len(cut)-1] == ' ' || cut[len(cut)-1] == '\t' {
		title = strings.TrimRight(cut, " \t")
	}
	return level, title
}

// underline returns the level of the heading a line makes of the paragraph above, 0
// for none.
func underline(s string) int {
	s = strings.TrimRight(s, " \t")
	switch {
	case strings.Trim(s, "=") == "":
		return 1
	case strings.Trim(s, "-") == "":
		return 2
	}
	return 0
}

// rule tells whether a line is a thematic break.
func rule(s string) bool {
	if s[0] != '-' && s[0] != '*' && s[0] != '_' {
		return false
	}
	n := 0
	for i := 0; i < len(s); i++ {
		switch s[i] {
		case s[0]:
			n++
		case ' ', '\t':
		default:
			return false
		}
	}
	return n >= 3
}

// delimiters reads the row of dashes of a table; nil for any other line.
func delimiters(line string) []align {
	line = strings.Trim(line, " \t")
	line = strings.TrimPrefix(line, "|")
	line = strings.TrimSuffix(line, "|")
	var out []align
	for cell := range strings.SplitSeq(line, "|") {
		cell = strings.Trim(cell, " \t")
		dashes := strings.TrimPrefix(cell, ":")
		left := len(dashes) < len(cell)
		inner := strings.TrimSuffix(dashes, ":")
		right := len(inner) < len(dashes)
		if inner == "" || strings.Trim(inner, "-") != "" {
			return nil
		}
		switch {
		case left && right:
			out = append(out, alignCenter)
		case left:
			out = append(out, alignLeft)
		case right:
			out = append(out, alignRight)
		default:
			out = append(out, alignNone)
		}
	}
	return out
}

// cells splits a row of a table, up to most cells. A bar behind a backslash is text,
// in code too.
func cells(line string, most int) []string {
	line = strings.Trim(line, " \t\n")
	line = strings.TrimPrefix(line, "|")
	var out []string
	start := 0
	for i := 0; i < len(line) && len(out) < most; i++ {
		if line[i] == '|' && (i == 0 || line[i-1] != '\\') {
			out = append(out, cell(line[start:i]))
			start = i + 1
		}
	}
	if start < len(line) && len(out) < most {
		out = append(out, cell(line[start:]))
	}
	return out
}

func cell(s string) string { return strings.ReplaceAll(strings.Trim(s, " \t"), `\|`, "|") }
