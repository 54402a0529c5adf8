package permit

import (
	"errors"
	"fmt"
	"net/url"
	"slices"
	"strings"
	"unicode/utf8"

	"starling/trust"
)

// Rule is one rule without its effect: TOOL or TOOL(PATTERN). Make one with
// ParseRule; rules that are spelled differently and mean the same are equal (==).
//
// TOOL is the name of a tool; in a rule without a pattern a * in it stands for
// any text. What PATTERN says depends on the tool:
//
//	bash(go test *)        a command: its words, quoted as for a shell. A * at the
//	                       end stands for any number of arguments, elsewhere for
//	                       exactly one that is no option.
//	bash(> out/*.txt)      a redirection: ">" any writing, ">>" appending, "<"
//	                       reading; a glob over paths
//	bash(CI=1) bash(CI=*)  a variable set for a command
//	edit(src/**)           a glob over paths, of read, write, edit, grep, glob, ls
//	fetch(*.example.org)   a host, with a port or without
//	deploy(env=staging)    one argument of any other tool; * stands for any text
type Rule struct{ tool, pattern string }

// ruleLimit in bytes keeps a rule readable in a question, where it is never cut.
const ruleLimit = 1000

// shape is what a pattern of a tool is about.
type shape int

const (
	ofArguments shape = iota
	ofCommand
	ofPaths
	ofHost
)

var shapes = map[string]shape{
	"bash": ofCommand, "fetch": ofHost,
	"read": ofPaths, "write": ofPaths, "edit": ofPaths, "grep": ofPaths, "glob": ofPaths, "ls": ofPaths,
}

// walks are the tools whose path is a folder they look below.
var walks = []string{"grep", "glob", "ls"}

var (
	toolName     = lazily(`^[a-zA-Z0-9_-]{1,64}$`)
	toolGlob     = lazily(`^[a-zA-Z0-9_*-]{1,64}$`)
	argumentRule = lazily(`^[^=*\s]+=`)
)

// ParseRule reads a rule. Errors name what is wrong and show a rule that is right.
func ParseRule(text string) (Rule, error) {
	r, err := parseRule(text)
	if err != nil {
		return Rule{}, fmt.Errorf("rule %q: %w", clip(text), err)
	}
	return r, nil
}

func parseRule(text string) (Rule, error) {
	switch {
	case text == "":
		return Rule{}, errors.New("is empty; write TOOL or TOOL(PATTERN), as in bash(go test *)")
	case len(text) > ruleLimit:
		return Rule{}, fmt.Errorf("has %d bytes, more than %d; a * stands for arguments, as in bash(go test *)", len(text), ruleLimit)
	case !utf8.ValidString(text) || trust.Sanitize(text) != text:
		return Rule{}, errors.New("holds line breaks, tabs or characters that cannot be shown; leave them out")
	}
	tool, pattern, scoped := strings.Cut(text, "(")
	switch {
	case strings.Contains(tool, ":") && !scoped:
		name, rest, _ := strings.Cut(tool, ":")
		return Rule{}, fmt.Errorf("a pattern stands in brackets; write %s(%s)", name, strings.TrimSpace(rest))
	case !toolGlob().MatchString(tool):
		return Rule{}, errors.New("does not begin with the name of a tool (letters, digits, _ and -); write TOOL or TOOL(PATTERN), as in bash(go test *)")
	case shapes[tool] == ofArguments && shapes[strings.ToLower(tool)] != ofArguments:
		return Rule{}, fmt.Errorf("names are compared exactly; write %s", strings.ToLower(tool)+text[len(tool):])
	case !scoped:
		return Rule{tool: squeeze(tool)}, nil
	case !toolName().MatchString(tool):
		return Rule{}, errors.New("a pattern belongs to one tool; write its whole name, as in bash(go test *)")
	}
	pattern, closed := strings.CutSuffix(pattern, ")")
	if !closed {
		return Rule{}, errors.New(`the bracket is not closed, or text follows it; write TOOL(PATTERN), as in bash(go test *)`)
	}
	if pattern = strings.TrimSpace(pattern); pattern == "" || pattern == "*" {
		return Rule{}, fmt.Errorf("for every call write %s", tool)
	}
	pattern, err := canonical(tool, pattern)
	return Rule{tool, pattern}, err
}

// squeeze makes one star of several in a row.
func squeeze(s string) string {
	for strings.Contains(s, "**") {
		s = strings.ReplaceAll(s, "**", "*")
	}
	return s
}

// canonical vets a pattern and returns its one spelling.
func canonical(tool, pattern string) (string, error) {
	switch shapes[tool] {
	case ofCommand:
		parsed, err := parseCommand(pattern)
		return parsed.String(), err
	case ofPaths:
		if err := trust.CheckPathPattern(pattern); err != nil {
			return "", fmt.Errorf("%w; a pattern is a path from the workspace, as in %s(src/**), or from ~/ or /", err, tool)
		}
		return pattern, nil
	case ofHost:
		return canonicalHost(tool, pattern)
	}
	if !argumentRule().MatchString(pattern) {
		return "", fmt.Errorf("of %s a pattern names one argument; write %[1]s(KEY=VALUE), as in %[1]s(env=staging), or %[1]s for every call", tool)
	}
	key, value, _ := strings.Cut(pattern, "=")
	return key + "=" + squeeze(value), nil
}

func canonicalHost(tool, pattern string) (string, error) {
	if trust.CheckHostPattern(pattern) == nil {
		return strings.ToLower(pattern), nil
	}
	example := "example.org"
	if u, err := url.Parse(pattern); err == nil && u.Host != "" && trust.CheckHostPattern(u.Host) == nil {
		example = strings.ToLower(u.Host)
	} else if host, _, ok := strings.Cut(pattern, "/"); ok && trust.CheckHostPattern(host) == nil {
		example = strings.ToLower(host)
	}
	return "", fmt.Errorf("a pattern of %s is a host without scheme and path; write %[1]s(%s), or %[1]s(*.example.org) for the hosts below it", tool, example)
}

// String is the rule as ParseRule reads it.
func (r Rule) String() string {
	if r.pattern == "" {
		return r.tool
	}
	return r.tool + "(" + r.pattern + ")"
}

// names tells whether the rule is about a tool.
func (r Rule) names(tool string) bool {
	return r.tool == tool || r.pattern == "" && matchText(r.tool, tool)
}

// matchText matches text against a pattern in which * stands for any text.
func matchText(pattern, text string) bool {
	pieces := strings.Split(pattern, "*")
	if len(pieces) == 1 {
		return pattern == text
	}
	rest, ok := strings.CutPrefix(text, pieces[0])
	if !ok {
		return false
	}
	last := len(pieces) - 1
	for _, piece := range pieces[1:last] {
		i := strings.Index(rest, piece)
		if i < 0 {
			return false
		}
		rest = rest[i+len(piece):]
	}
	return strings.HasSuffix(rest, pieces[last])
}

// looksBelow tells whether a tool is given a folder it looks below.
func looksBelow(tool string) bool { return slices.Contains(walks, tool) }

func clip(text string) string {
	const most = 120
	if len(text) <= most {
		return text
	}
	return strings.ToValidUTF8(text[:most], "") + "…"
}
