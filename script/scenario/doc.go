// Package scenario reads a scripted model from a Starlark file and returns its
// steps.
//
// A file is read once, from top to bottom; each line that says or calls
// something is one answer of the model:
//
//	"""Reads a file, then tells what is in it."""
//	expect("what is in a.txt")            # the prompt must contain this
//	call("read", path = "a.txt")          # one tool call
//	expect("hello")                       # so must the tool's result
//	say("It says hello.", thinking = "short", delay_ms = 20)
//	calls([say("Both."), call("read", path = "a"), call("read", path = "b")])
//	fail_turn("overloaded")               # the turn ends as failed
//	reply(lambda last: say("You said: " + last))
//
// expect takes one text or a list of texts, which all must stand in the last
// message, and guards the next answer. call takes its arguments as keywords or as
// one dict. calls makes one answer of several calls, with a text before them if
// its list begins with say. reply makes the answer when it is asked for: its
// function gets the last message and returns what say, call, calls or fail_turn
// return.
//
// It owns the reading of such files and never plays them. Failure: an error has
// the file's place. Blocking: loading runs under the limits of a plugin's load, a
// reply under those of a callback; the same file gives the same steps.
package scenario
