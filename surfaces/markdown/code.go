package markdown

import (
	"strings"

	"starling/surfaces"
)

// codeIndent stands before the code of a document.
const codeIndent = "  "

// tabWidth is how far apart tab stops are.
const tabWidth = 4

// code renders the lines of one piece of code, one after another.
type code struct {
	o      Options
	prefix string
	lang   *language
	open   int // index+1 of the construct the last line left open
}

func newCode(name string, o Options) *code {
	c := &code{o: o, prefix: codeIndent, lang: languageOf(name)}
	if o.width() <= 3*len(c.prefix) {
		c.prefix = ""
	}
	return c
}

// line renders the next line.
func (c *code) line(text string) []Line {
	if !c.o.Tabs {
		text = expand(text, c.o)
	}
	spans := []surfaces.Span{{Text: text, Style: surfaces.Code}}
	if c.lang != nil {
		spans, c.open = c.lang.highlight(text, c.open)
	}
	lines := c.o.chop(spans, c.o.width()-len(c.prefix))
	if c.prefix == "" {
		return lines
	}
	p := surfaces.Span{Text: c.prefix}
	lines = indent(lines, p, p)
	for i := range lines {
		lines[i].Lead = len(c.prefix)
	}
	return lines
}

// expand puts spaces for tabs.
func expand(s string, o Options) string {
	if !strings.Contains(s, "\t") {
		return s
	}
	var b strings.Builder
	column := 0
	for i, part := range strings.Split(s, "\t") {
		if i > 0 {
			n := tabWidth - column%tabWidth
			b.WriteString(strings.Repeat(" ", n))
			column += n
		}
		b.WriteString(part)
		column += o.measure(part)
	}
	return b.String()
}
