// Package dialog is the built-in tools todo, question and finish: what the model
// tells or asks a person beside the work.
//
// It owns the to-do list of a conversation; who is asked, and how, belongs to
// the caller. Failure: an error the model reads. Blocking: question alone, until
// it is answered or the context ends.
package dialog
