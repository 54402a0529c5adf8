// Package sse reads server-sent events from a byte stream.
//
// It owns line ends, fields and events, never what their data means or how it is
// fetched. Failure: an event above the limit is ErrTooLong, a read error comes
// back as it is, and nothing in a stream is an error otherwise. Blocking: Next
// blocks as the reader below does.
package sse
