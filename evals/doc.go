// Package evals runs cases under variants and says what the numbers allow to
// say.
//
// It owns trials and their statistics, never the agent under test.
package evals
