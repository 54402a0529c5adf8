// Package session keeps conversations on disk as trees of JSON lines.
//
// It owns the file format, never the conversation while it runs.
package session
