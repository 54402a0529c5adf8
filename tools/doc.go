// Package tools says which tools there are and whether a call fits one: names,
// replacements, conflicts and the schema check.
//
// It owns the rule by which registrations become effective tools and runs no
// tool itself. Failure: what does not fit comes back as one error that names
// every fault in words a model can act on. Blocking: it never blocks.
package tools
