package markdown

// kind is what a node of a document is.
type kind uint8

const (
	kindDocument kind = iota
	kindQuote
	kindList
	kindItem
	kindParagraph
	kindHeading
	kindCode
	kindHTML
	kindRule
	kindTable
)

// node is a block. A document, a quote, a list and an item have kids; the others have
// text or rows.
type node struct {
	kind kind
	kids []*node
	// text is inline source of a paragraph or a heading, lines of code or HTML as they
	// are, each ended.
	text string

	level   int    // of a heading, 1 to 6
	fenced  bool   // code between fences
	info    string // what stands behind the fence
	ordered bool   // a list with numbers
	loose   bool   // a list whose items stand apart
	sign    byte   // what the items of a list begin with, or end their number with
	start   int    // the first number of a list
	task    byte   // of an item's first paragraph: ' ' open, 'x' done, 0 for no task

	align []align
	rows  [][]string // cells with inline source, the header first; a row may be short
}

// align is where the text of a column stands.
type align uint8

const (
	alignNone align = iota
	alignLeft
	alignCenter
	alignRight
)

func (n *node) last() *node {
	if len(n.kids) == 0 {
		return nil
	}
	return n.kids[len(n.kids)-1]
}

// container is an open quote or item.
type container struct {
	node *node // a quote or an item
	list *node // of an item
	// offset is how far the text of an item stands to the right, in columns.
	offset int
}

// goesOn takes off a line what keeps the container open, and tells whether it is.
func (o container) goesOn(c *cursor) bool {
	in := c.indent()
	if o.node.kind == kindQuote {
		return in < 4 && c.quote(in)
	}
	if c.blank() {
		return len(o.node.kids) > 0
	}
	if in < o.offset {
		return false
	}
	c.skip(o.offset)
	return true
}

// cursor is what is left of a line.
type cursor struct {
	rest   string
	column int
}

// indent counts the columns of space before the text.
func (c *cursor) indent() int {
	n := 0
	for i := 0; i < len(c.rest); i++ {
		switch c.rest[i] {
		case ' ':
			n++
		case '\t':
			n += tabWidth - (c.column+n)%tabWidth
		default:
			return n
		}
	}
	return n
}

func (c *cursor) blank() bool {
	for i := 0; i < len(c.rest); i++ {
		if c.rest[i] != ' ' && c.rest[i] != '\t' {
			return false
		}
	}
	return true
}

// skip takes off up to n columns of space. A tab that is wider leaves spaces.
func (c *cursor) skip(n int) {
	for n > 0 && c.rest != "" {
		switch c.rest[0] {
		case ' ':
			n--
			c.column++
		case '\t':
			wide := tabWidth - c.column%tabWidth
			if wide > n {
				c.rest = "    "[:wide-n] + c.rest[1:]
				c.column += n
				return
			}
			n -= wide
			c.column += wide
		default:
			return
		}
		c.rest = c.rest[1:]
	}
}

// take takes n bytes that are no space off.
func (c *cursor) take(n int) {
	c.rest = c.rest[n:]
	c.column += n
}

// quote takes the sign of a quote off, which stands behind in columns.
func (c *cursor) quote(in int) bool {
	q := *c
	q.skip(in)
	if q.rest == "" || q.rest[0] != '>' {
		return false
	}
	q.take(1)
	q.skip(1)
	*c = q
	return true
}
