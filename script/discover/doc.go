// Package discover finds plugin files and says which of them count.
//
// It owns names, routes and shadowing; it reads folders and never runs, parses
// or approves a file. A file that cannot count is listed with its reason, never
// dropped.
package discover
