package command

import (
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// Read reads a line for bash.
func Read(line string, at Setting) Reading {
	r := Reading{Line: line}
	if _, err := syntax.NewParser(syntax.Variant(syntax.LangBash)).Parse(strings.NewReader(line), ""); err != nil {
		r.Unread = err.Error()
	}
	return r
}
