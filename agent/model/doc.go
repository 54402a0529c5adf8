// Package model is the catalogue: resolving names, thinking levels, prices,
// compatibility profiles and where a key comes from.
//
// It owns what is known about models, never a connection to one.
//
// Failure: a fault of models.json is an error with file, line and column, and
// the models without a fault still count; a key never stands in an error.
// Blocking: only reading a key blocks, as the command that prints it does.
package model
