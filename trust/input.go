package trust

import (
	"context"
	"errors"
	"io"
	"os"
	"time"

	"golang.org/x/sys/unix"
)

// input reads what a person types until a context ends. It waits for a file to
// have something before it reads: a read that is under way cannot be called off,
// and would take what is typed later from whoever reads next.
type input struct {
	ctx  context.Context
	in   io.Reader
	file *os.File // nil when in is none
	// wake has its other end closed when ctx ends.
	wake, other *os.File
	stop        func() bool
}

func newInput(ctx context.Context, in io.Reader) (*input, error) {
	i := &input{ctx: ctx, in: in}
	file, ok := in.(*os.File)
	if !ok {
		return i, nil
	}
	wake, other, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	i.file, i.wake, i.other = file, wake, other
	i.stop = context.AfterFunc(ctx, func() { _ = other.Close() })
	return i, nil
}

func (i *input) close() {
	if i.file == nil {
		return
	}
	if i.stop() {
		_ = i.other.Close()
	}
	_ = i.wake.Close()
}

// Read waits and then reads once; the error is that of ctx when it ended.
func (i *input) Read(p []byte) (int, error) {
	if _, err := i.wait(forever); err != nil {
		return 0, err
	}
	return i.in.Read(p)
}

// forever is a wait without an end of its own.
const forever time.Duration = -1

// wait returns when there is something to read, and tells whether there is: else that
// long nothing came.
func (i *input) wait(most time.Duration) (bool, error) {
	limit := -1
	if most != forever {
		limit = int(most.Milliseconds())
	}
	for i.file != nil && i.ctx.Err() == nil {
		fds := []unix.PollFd{
			{Fd: int32(i.file.Fd()), Events: unix.POLLIN},
			{Fd: int32(i.wake.Fd()), Events: unix.POLLIN},
		}
		n, err := unix.Poll(fds, limit)
		switch {
		case errors.Is(err, unix.EINTR):
			continue
		case err != nil: // some systems cannot wait for a terminal: then it is read
			return true, i.ctx.Err()
		case n == 0, fds[0].Revents != 0, fds[1].Revents != 0:
			return n > 0, i.ctx.Err()
		}
	}
	return true, i.ctx.Err()
}

// quiet reads and drops what was typed until nothing came for a time, in which the
// terminal shows no keys and gives each of them at once: the beginning of a line, too,
// was typed before the question could be read. It tells whether there was something.
// An in that is no terminal has nobody who types ahead.
func (i *input) quiet(gap time.Duration) (dropped bool, err error) {
	if i.file == nil {
		return false, nil
	}
	fd := int(i.file.Fd())
	before, err := unix.IoctlGetTermios(fd, getSettings)
	if err != nil {
		return false, nil
	}
	keys := *before
	keys.Lflag &^= unix.ICANON | unix.ECHO | unix.ECHONL
	// Where a terminal cannot be waited for, its reads end after tenths of a second.
	keys.Cc[unix.VMIN], keys.Cc[unix.VTIME] = 0, uint8(min(max(gap.Milliseconds()/100, 1), 255))
	if err := unix.IoctlSetTermios(fd, setSettings, &keys); err != nil {
		return false, err
	}
	defer func() {
		request := uint(setAndForget)
		if i.ctx.Err() != nil {
			request = setSettings // the rest is for whoever reads next
		}
		err = errors.Join(err, unix.IoctlSetTermios(fd, request, before))
	}()
	var some [256]byte
	for {
		if came, err := i.wait(gap); err != nil || !came {
			return dropped, err
		}
		n, err := i.file.Read(some[:])
		if n == 0 {
			return dropped, ignoreEnd(err)
		}
		dropped = true
	}
}

// ignoreEnd: a read that brought nothing in its time looks like the end of a file.
func ignoreEnd(err error) error {
	if errors.Is(err, io.EOF) {
		return nil
	}
	return err
}
