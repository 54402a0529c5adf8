// Package cli is the command line: flags and subcommands, one file a
// subcommand, and exit codes.
//
// It owns what a person types and the process (environment, signals, standard
// streams); everything else is asked of the engine. Wrong usage is one sentence
// on stderr that says what to do, with status 2.
package cli
