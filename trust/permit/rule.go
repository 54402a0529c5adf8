package permit

import (
	"fmt"
	"strings"
)

// Rule is one rule without its effect: TOOL or TOOL(PATTERN). Make one with
// ParseRule; rules of one meaning are equal (==).
type Rule struct{ tool, pattern string }

// ParseRule reads a rule such as bash(go test *). Errors say what to write.
func ParseRule(text string) (Rule, error) {
	tool, rest, ok := strings.Cut(text, "(")
	if ok && !strings.HasSuffix(rest, ")") || tool == "" {
		return Rule{}, fmt.Errorf("rule %q: write TOOL or TOOL(PATTERN), as in bash(go test *)", text)
	}
	return Rule{tool, strings.TrimSuffix(rest, ")")}, nil
}

// String is the rule as ParseRule reads it.
func (r Rule) String() string {
	if r.pattern == "" {
		return r.tool
	}
	return r.tool + "(" + r.pattern + ")"
}
