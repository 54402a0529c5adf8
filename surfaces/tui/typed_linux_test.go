package tui

import (
	"testing"
	"time"

	"github.com/creack/pty"
	"golang.org/x/sys/unix"

	"starling/bus/event"
)

// The beginning of a line that was typed before a question was shown is no part of an
// answer to it.
func TestLinesForgetWhatWasBegun(t *testing.T) {
	keys, terminal, err := pty.Open()
	if err != nil {
		t.Fatal(err)
	}
	state, err := unix.IoctlGetTermios(int(terminal.Fd()), unix.TCGETS)
	if err != nil {
		t.Fatal(err)
	}
	state.Lflag &^= unix.ECHO
	if err := unix.IoctlSetTermios(int(terminal.Fd()), unix.TCSETS, state); err != nil {
		t.Fatal(err)
	}
	e := &engine{}
	l := newPlainOn(t, e, Options{}, terminal, keys)
	l.sees("/help")
	// The first line tells that the terminal has what stands behind it, too.
	if _, err := keys.WriteString("/nothing\n1"); err != nil {
		t.Fatal(err)
	}
	l.sees("nothing")
	l.s.onQuestion(&event.QuestionEvent{ID: "q", Kind: "permission", Summary: "may I?", Options: []string{"yes", "no"}})
	l.sees("number")
	l.readable()
	l.line("")
	l.sees("a number from 1 to 2, please")
	l.line("2 not so")
	for end := time.Now().Add(patience); len(e.answered()) == 0 && time.Now().Before(end); {
		time.Sleep(2 * time.Millisecond)
	}
	if got := e.answered(); len(got) != 1 || got[0].Value != "no" || got[0].Why != "not so" {
		t.Errorf("answered %+v", got)
	}
	l.line("/quit")
	l.ends()
}
