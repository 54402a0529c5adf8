package trust

import (
	"context"
	"errors"
	"io"
	"testing"
	"time"

	"github.com/creack/pty"
	"golang.org/x/sys/unix"
)

// Keys do not end the wait for quiet; the end of the context does, and the terminal is
// as it was.
func TestQuietGoesOnWhileKeysCome(t *testing.T) {
	keys, terminal, err := pty.Open()
	if err != nil {
		t.Fatal(err)
	}
	defer keys.Close()
	defer terminal.Close()
	go func() { _, _ = io.Copy(io.Discard, keys) }() // its echo
	fd := int(terminal.Fd())
	before, err := unix.IoctlGetTermios(fd, unix.TCGETS)
	if err != nil {
		t.Fatal(err)
	}
	eventually := func(what string, ok func() bool) {
		t.Helper()
		for late := time.Now().Add(time.Minute); !ok(); time.Sleep(time.Millisecond) {
			if time.Now().After(late) {
				t.Fatalf("%s does not come", what)
			}
		}
	}
	waiting := func() int {
		n, err := unix.IoctlGetInt(fd, unix.TIOCINQ)
		if err != nil {
			t.Fatal(err)
		}
		return n
	}
	if _, err := keys.WriteString("y\n"); err != nil {
		t.Fatal(err)
	}
	eventually("the line", func() bool { return waiting() > 0 })
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	typed, err := newInput(ctx, terminal)
	if err != nil {
		t.Fatal(err)
	}
	defer typed.close()
	type end struct {
		dropped bool
		err     error
	}
	done := make(chan end, 1)
	go func() {
		dropped, err := typed.quiet(time.Hour)
		done <- end{dropped, err}
	}()
	eventually("a read of the line", func() bool { return waiting() == 0 })
	if state, err := unix.IoctlGetTermios(fd, unix.TCGETS); err != nil || state.Lflag&(unix.ICANON|unix.ECHO) != 0 {
		t.Errorf("the terminal waits for lines: %+v %v", state, err)
	}
	select {
	case e := <-done:
		t.Fatalf("it ended by itself: %+v", e)
	default:
	}
	cancel()
	if e := <-done; !e.dropped || !errors.Is(e.err, context.Canceled) {
		t.Errorf("%+v", e)
	}
	if after, err := unix.IoctlGetTermios(fd, unix.TCGETS); err != nil || *after != *before {
		t.Errorf("the terminal was %+v and is %+v (%v)", before, after, err)
	}
}
