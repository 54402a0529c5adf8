// Package journal remembers which plugin handles what, so that the next start
// can tell which plugin was at work when a process died.
//
// It owns one small file a process, mapped into memory: what was stored survives
// the process without a system call, not the machine. It never decides what
// becomes of a plugin, and knows nothing of how one runs.
//
// Failure: without a journal everything goes on; a nil *Journal does nothing, a
// page that cannot be written any more switches the journal off, and a slot that
// was written by halves blames nobody.
//
// Blocking: entering and leaving never wait and make no system call; when every
// slot is taken a call is not journalled. Open reads the files the dead left
// behind, at most a few pages each, and waits for no lock.
package journal
