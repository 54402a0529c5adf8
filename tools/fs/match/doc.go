// Package match finds where the texts of an edit stand in a file and which bytes
// they change.
//
// It owns the tolerance of an edit: line ends, and marks a model cannot see or
// type; every byte outside the places it names stays. Failure: one error that
// says for each edit what is wrong and shows the nearest lines. Blocking: never.
package match
