// Package discover finds plugin files and says which of them count, and with
// which settings.
//
// It owns names, routes, shadowing, plugins.json and settings files; it reads
// folders and never runs, parses or approves a plugin.
//
// Failure: a file that cannot count is listed with its reason, never dropped; of
// plugins.json what is wrong is an error with its line and the rest applies.
//
// Blocking: it reads regular files of bounded size, and nothing else.
package discover
