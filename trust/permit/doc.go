// Package permit decides which tool calls run: the safety floor, the person's
// rules, what plugins say, the mode.
//
// It owns the grammar of rules, the file they are kept in and the order of the
// decision; it asks nobody and runs nothing. Failure: what cannot be decided is
// asked, and a rules file that cannot be read refuses to be used. Blocking: the
// file of rules alone.
package permit
