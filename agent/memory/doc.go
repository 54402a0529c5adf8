// Package memory keeps notes as Markdown files.
//
// It owns the notes a person can read and edit, never what the model makes of
// them.
package memory
