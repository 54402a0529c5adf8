// Package snapshot holds uncommitted work before a command may discard it, and
// brings it back: bytes, links, modes, staged content, stash entries, commits
// that one ref alone holds.
//
// It owns the folder of snapshots and reads repositories; only Restore writes
// outside that folder, and only because a person asked. It never decides whether
// a command runs.
//
// Failure: Take returns an error when it cannot hold everything that is at stake,
// and the command must not run then. A snapshot is whole or not there.
//
// Blocking: every call works on disk and starts git; none belongs in an event loop.
//
// What counts, from most to least:
//
//   - Work is worth a question: files that differ from the index, files git does
//     not know, staged content, stash entries, commits no other ref holds, and
//     everything named outside a repository.
//   - Held is kept without a question: staged bytes that stand neither on disk nor in
//     a commit, when a command puts something else in their place; and, as far as it
//     is small, ignored files that
//     lie in no ignored folder, and files of temporary folders. Deletions, which have
//     no bytes, are remembered too.
//   - What stands where git puts files of a revision is looked up in its tree and held
//     whatever its size: as work where git overwrites it by force, without a question
//     where git ignores it. When the line itself makes the revision, all files git does
//     not know count, and ignored ones as far as they are small and in no ignored folder.
//   - Nothing: files equal to the index, empty files, whole ignored folders unless
//     the command is about ignored files.
//
// Beyond it: what the reader of command lines cannot see, such as a script that
// rewrites files by itself; owners, times and extended attributes of files; what
// the configuration of a repository said about a removed branch.
package snapshot
