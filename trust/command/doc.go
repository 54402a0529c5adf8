// Package command reads a line for bash and says what it would do, running
// nothing.
//
// It owns the parts of a command (simple commands, redirections, environment
// prefixes), the paths they touch, their risk, and which of them stand on the
// safety floor. What it is not sure of it says so: a caller asks a person then.
// Failure: none; a line that cannot be read is a Reading with Unread set.
// Blocking: it looks up links and the state of a repository is not its business.
package command
