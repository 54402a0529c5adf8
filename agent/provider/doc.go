// Package provider is how the loop speaks to a model: one request, one stream
// of events.
//
// It owns the shape of requests and streams and collects a stream into a
// message; the wire formats are packages below it. Failure: it is an event of
// the stream; a stream without its terminal mark is a failed one, and what had
// arrived is kept. Blocking: a stream blocks its caller and ends soon after its
// context does.
package provider
