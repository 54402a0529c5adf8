package provider

import (
	"errors"
	"fmt"
	"time"
)

// ErrCut is the failure of a stream that ended without its terminal mark.
var ErrCut = errors.New("the reply was cut off: the stream ended without its terminal mark")

// FailureKind says what went wrong, in one word for screens and callers that
// branch.
type FailureKind string

// The kinds of failures. Those of the first group may pass with time.
const (
	RateLimited FailureKind = "rate_limit" // too many requests just now
	Overloaded  FailureKind = "overloaded" // the server has no room
	ServerError FailureKind = "server"     // another 5xx
	Network     FailureKind = "network"    // no connection, or it broke
	Timeout     FailureKind = "timeout"    // connecting, the first byte or the next one took too long

	Quota      FailureKind = "quota"       // nothing left to spend
	Auth       FailureKind = "auth"        // the key was refused or could not be read
	NotFound   FailureKind = "not_found"   // no such model or address
	BadRequest FailureKind = "bad_request" // the server refuses the request as it is
	TooLong    FailureKind = "too_long"    // the request does not fit the model
	Protocol   FailureKind = "protocol"    // an answer that is none
)

// Failure is why a request failed. It never holds a key.
type Failure struct {
	Kind FailureKind
	// Status of the answer, 0 when there was none.
	Status int
	// Message is the server's own text, or ours where it gave none.
	Message string
	// RetryAfter is how long the server asks to wait; negative when it does not.
	RetryAfter time.Duration
	// Cause is the error below, nil for none.
	Cause error
}

func (f *Failure) Error() string {
	if f.Status != 0 {
		return fmt.Sprintf("the model server answered %d: %s", f.Status, f.Message)
	}
	return f.Message
}

// Unwrap returns the cause.
func (f *Failure) Unwrap() error { return f.Cause }

// Passing tells whether the same request may succeed later.
func (f *Failure) Passing() bool {
	switch f.Kind {
	case RateLimited, Overloaded, ServerError, Network, Timeout:
		return true
	}
	return false
}

// Wait is one pause before a request is sent again. The sink that takes the
// Waiting event may change For, and end the request by setting Stop.
type Wait struct {
	Kind FailureKind
	// Attempt that failed, from 1, and how many there will be at most.
	Attempt, Of int
	For         time.Duration
	// Err is why the attempt failed.
	Err error
	// Stop becomes the failure of the request, without a further attempt.
	Stop error
}
