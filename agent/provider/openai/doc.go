// Package openai speaks chat completions to every server that knows them.
//
// It owns the bodies of requests and the reading of replies under a model's
// compatibility profile, never connections, retries or keys. Failure: what is
// wrong with an answer is a *provider.Failure in the last event, and what had
// come stays; a stream without finish_reason and [DONE] is a cut one. Blocking:
// Stream blocks until the reply is over, a limit or the end of its context.
package openai
