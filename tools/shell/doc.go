// Package shell runs commands: the process engine and its registry.
//
// It owns processes from start to reap, never the permission to start one.
package shell
