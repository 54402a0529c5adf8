// Package shell runs commands: the process engine and its registry.
//
// It owns processes from start to reap, never the permission to start one.
// Whatever ends this process must call Close, which leaves nothing; when it is
// killed and cannot, Options.Watchdog does, on Linux. On other systems what a
// command started lives on then, and so does a daemon that left its session.
//
// Failure: Run returns an error only when nothing was started; whatever a
// started command does, also being killed, is an Outcome.
//
// Blocking: Run waits for a place when the command says so, then until the command
// ended, or until 250 ms after it when a child lives on in the background; List and
// Stop never wait for a process.
package shell
