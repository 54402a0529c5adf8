// Package wire carries one request of a model provider and its streamed answer.
//
// It owns connections, proxies, limits of time and size, and what an HTTP answer
// means as a failure, never a wire format or a retry. Failure: every error is a
// *provider.Failure in which no secret of the request stands. Blocking: Post and
// reading a body block until their limits or the end of their context.
package wire
