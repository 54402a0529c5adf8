// Package bind is what a plugin's apply sees: one file per capability or
// registration, over the mechanisms of package script.
//
// It owns the words of the plugin API and the meaning of what callbacks return.
// Whatever a plugin registers goes through the scope of its mount and leaves
// with it.
//
// Failure: an error in a callback stays with its plugin; what it means for the
// event is decided by the event's policy. A word the file does not declare
// raises, naming the word.
//
// Blocking: a call into a plugin waits for the plugin's other calls, first come
// first served, with a limit.
package bind
