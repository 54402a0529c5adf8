// Package schema is JSON Schema of tool arguments: all faults at once.
//
// It owns the keywords of draft 2020-12 that assert something, and what draft 7
// wrote otherwise; format and unknown keywords say nothing, and a schema may
// refer to itself only. Failure: a wrong schema is an error that names the
// place, a wrong document is a list of faults. Blocking: it never blocks; the
// work of one check is bounded, whatever the schema and the document.
package schema
