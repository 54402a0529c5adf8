package schema

import "regexp"

// node is one compiled schema. Keywords that are not there are zero.
type node struct {
	verdict verdict // of true and false; rules decide otherwise
	types   kinds
	values  *values // const and enum, both of them
	ref     *node
	number  *numberRules
	text    *textRules
	array   *arrayRules
	object  *objectRules
	combine *combination
}

type verdict uint8

const (
	byRules verdict = iota
	always
	never
)

// values is what const and enum let through.
type values struct {
	sets  []map[string]bool // canonical values; one set for each keyword
	words []string          // what is said when the set of the same index lacks a value
}

type numberRules struct {
	min, max, above, below, step *bound
}

// bound is a number of the schema and how the schema wrote it.
type bound struct {
	decimal
	written string
}

type textRules struct {
	min     int
	max     int // -1 for none
	pattern *regexp.Regexp
}

type arrayRules struct {
	min, max    int // max -1 for none
	unique      bool
	prefix      []*node
	rest        *node // of the items behind prefix
	contains    *node
	minContains int
	maxContains int // -1 for none
	unevaluated *node
}

type objectRules struct {
	min, max          int // max -1 for none
	required          []string
	properties        map[string]*node
	patterns          []patternRule
	additional        *node
	names             *node
	dependentRequired map[string][]string
	dependentSchemas  map[string]*node
	unevaluated       *node
}

type patternRule struct {
	name *regexp.Regexp
	node *node
}

type combination struct {
	all, any, one       []*node
	not                 *node
	condition           *node
	consequence, option *node // then, else
}

// inPlace calls yield with each schema that looks at the same value as n.
func (n *node) inPlace(yield func(*node)) {
	call := func(list ...*node) {
		for _, m := range list {
			if m != nil {
				yield(m)
			}
		}
	}
	call(n.ref)
	if o := n.object; o != nil {
		for _, m := range o.dependentSchemas {
			yield(m)
		}
	}
	if c := n.combine; c != nil {
		call(c.all...)
		call(c.any...)
		call(c.one...)
		call(c.not, c.condition, c.consequence, c.option)
	}
}
