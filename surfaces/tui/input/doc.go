// Package input is where a person types: the prompt editor with history, queue and
// completion, pickers, and the dialogs that ask.
//
// It owns keys and texts, never a decision: what was typed, chosen or answered goes
// to a callback. Everything here belongs to the event loop and never waits; what
// takes time is asked for with a generation number, and a late answer is dropped.
//
// Foreign text is cleaned on its way in and drawn as it is spelled.
package input
