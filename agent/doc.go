// Package agent is the loop: a prompt becomes requests, replies, tool calls and
// one outcome.
//
// It owns the transcript, which only grows, and the order of events within a
// run. It knows no screen, no script and no wire. Failure: whatever fails in a
// listener, tool or provider stays there and is read by the model or stands in
// the outcome; an outcome is always returned and never half. Blocking: Run
// blocks its caller and ends within 100 ms after its context did, wherever it
// waits; only listeners that ignore their context can hold it longer.
package agent
