// Package fs is the built-in tools on files: read and write.
//
// It owns what a model sees of a file and opens every one of them through the
// path jail. Failure: a call that cannot be done whole changes nothing and says
// why. Blocking: calls end when their context does, between two chunks of a
// file.
package fs
