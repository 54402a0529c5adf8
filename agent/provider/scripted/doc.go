// Package scripted is the built-in offline model: it answers from a list of
// steps, or, as the demo, from a few plain rules.
//
// It owns how a step becomes a stream and needs no network. Failure: a step
// that does not fit, and a script that is over, are failed replies that say
// what was expected and what came. Blocking: a delay ends with its context.
package scripted
