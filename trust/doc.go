// Package trust is the rules of what may run and what it may touch: which bytes
// of a workspace a person approved, what each capability word of a plugin
// allows, and the path jail through which every file of a workspace is opened.
//
// It owns rules, the store of answers and the text of the question, never who
// enforces them; only Ask talks to a person.
//
// Failure: what it cannot tell to be allowed is refused, with an error that says
// what and the next step; a store it cannot read approves nothing.
//
// Blocking: checks compute; file calls block as the operating system does, and
// devices and pipes are never opened for their content; answers are stored under
// a lock that other processes hold for moments; Ask waits for a line.
package trust
