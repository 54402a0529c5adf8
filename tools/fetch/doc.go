// Package fetch reads one page over HTTP as text.
//
// It owns the request and the marking of its text as foreign.
package fetch
