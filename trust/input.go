package trust

import (
	"context"
	"errors"
	"io"
	"os"

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
	if err := i.wait(); err != nil {
		return 0, err
	}
	return i.in.Read(p)
}

func (i *input) wait() error {
	for i.file != nil && i.ctx.Err() == nil {
		fds := []unix.PollFd{
			{Fd: int32(i.file.Fd()), Events: unix.POLLIN},
			{Fd: int32(i.wake.Fd()), Events: unix.POLLIN},
		}
		_, err := unix.Poll(fds, -1)
		switch {
		case errors.Is(err, unix.EINTR):
			continue
		case err != nil: // some systems cannot wait for a terminal: then it is read
			return i.ctx.Err()
		case fds[0].Revents != 0, fds[1].Revents != 0:
			return i.ctx.Err()
		}
	}
	return i.ctx.Err()
}
