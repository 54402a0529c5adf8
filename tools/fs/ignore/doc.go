// Package ignore tells which files git would not look at, without running git.
//
// It owns the patterns of .gitignore, info/exclude and the person's own excludes
// file, not the walk. A file git tracks although a pattern names it counts as
// ignored. Failure: what cannot be read has no patterns. Blocking: on reads of
// small regular files only.
package ignore
