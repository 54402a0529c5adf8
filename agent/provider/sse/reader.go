package sse

import (
	"bytes"
	"errors"
	"fmt"
	"io"
)

// DefaultMaxEvent is the most bytes of one line and of the data of one event, 16 MiB: far above the largest
// tool call a model writes, far below what would hurt.
const DefaultMaxEvent = 16 << 20

// ErrTooLong is the failure of a stream with an event above the limit.
var ErrTooLong = errors.New("an event of the stream is above the limit")

const (
	startBuffer  = 16 << 10
	maxEmptyRead = 100
)

// Event is one event that carries data.
type Event struct {
	// Data is the data lines joined by line feeds; Name is the event field, empty
	// for none. Both are valid until the next call of Next.
	Data, Name []byte
	// Cut marks an event at the end of the stream whose blank line did not come:
	// its last line may be half of one.
	Cut bool
}

// Reader reads events. It allocates only as its buffer grows. Use it from one
// goroutine at a time.
type Reader struct {
	src io.Reader
	max int

	buf        []byte
	line, scan int // start of the next line; where its end is looked for
	end        int // of what was read into buf
	err        error
	skipLF     bool // the last line ended in CR: a LF that follows belongs to it
	begun      bool // the first line is behind us

	// The event so far: one data line stays where it was read, unless its place is
	// needed; several are joined.
	lines    int
	from, to int
	moved    bool // to joined
	joined   []byte
	name     []byte
}

// NewReader returns a reader of src; maxEvent below 1 is DefaultMaxEvent.
func NewReader(src io.Reader, maxEvent int) *Reader {
	if maxEvent < 1 {
		maxEvent = DefaultMaxEvent
	}
	return &Reader{src: src, max: maxEvent}
}

// Next returns the next event that has data. At the end of the stream it is
// io.EOF; an event without its blank line comes before that, marked.
func (r *Reader) Next() (Event, error) {
	r.lines, r.moved, r.name = 0, false, r.name[:0]
	for {
		from, to, ended, err := r.readLine()
		if err != nil {
			return r.last(err)
		}
		if from == to && ended {
			if r.lines > 0 {
				return r.event(false), nil
			}
			r.name = r.name[:0]
			continue
		}
		if err := r.field(from, to); err != nil {
			r.err = err
			return Event{}, err
		}
	}
}

func (r *Reader) event(cut bool) Event {
	data := r.joined
	if !r.moved {
		data = r.buf[r.from:r.to:r.to]
	}
	return Event{Data: data, Name: r.name, Cut: cut}
}

// last gives out what stands before the end of the stream, once.
func (r *Reader) last(err error) (Event, error) {
	if r.lines > 0 && !errors.Is(err, ErrTooLong) {
		return r.event(true), nil
	}
	return Event{}, err
}

// field takes one line that is not blank.
func (r *Reader) field(from, to int) error {
	line := r.buf[from:to]
	name, value := line, line[len(line):]
	if i := bytes.IndexByte(line, ':'); i >= 0 {
		name, value = line[:i], line[i+1:]
		if len(value) > 0 && value[0] == ' ' {
			value = value[1:]
		}
	}
	switch string(name) {
	case "data":
		return r.data(to-len(value), to)
	case "event":
		r.name = append(r.name[:0], value...)
	}
	return nil // a comment, id, retry or nothing we know
}

func (r *Reader) data(from, to int) error {
	if r.lines++; r.lines == 1 {
		r.from, r.to = from, to
		return nil
	}
	r.move()
	r.joined = append(append(r.joined, '\n'), r.buf[from:to]...)
	if len(r.joined) > r.max {
		return r.tooLong()
	}
	return nil
}

// move copies the one data line away from where it was read.
func (r *Reader) move() {
	if !r.moved {
		r.joined = append(r.joined[:0], r.buf[r.from:r.to]...)
		r.moved = true
	}
}

func (r *Reader) tooLong() error { return fmt.Errorf("%w of %d bytes", ErrTooLong, r.max) }

// readLine returns the range of the next line in buf, without its end. At the
// end of the stream a line without an end is given with ended false.
func (r *Reader) readLine() (from, to int, ended bool, err error) {
	for {
		if r.skipLF && r.line < r.end {
			r.skipLF = false
			if r.buf[r.line] == '\n' {
				r.line++
			}
			r.scan = r.line
		}
		if i := lineEnd(r.buf[r.scan:r.end]); i >= 0 {
			from, to = r.line, r.scan+i
			r.skipLF = r.buf[to] == '\r'
			r.line, r.scan = to+1, to+1
			if to-from > r.max {
				r.err = r.tooLong()
				return 0, 0, false, r.err
			}
			return r.withoutMark(from, to), to, true, nil
		}
		r.scan = r.end
		if r.err != nil {
			if r.end-r.line > r.max && !errors.Is(r.err, ErrTooLong) {
				r.err = r.tooLong()
			}
			if r.line < r.end && !errors.Is(r.err, ErrTooLong) {
				from, to = r.line, r.end
				r.line = r.end
				return r.withoutMark(from, to), to, false, nil
			}
			return 0, 0, false, r.err
		}
		r.fill()
	}
}

// lineEnd returns the index of the first CR or LF.
func lineEnd(b []byte) int {
	lf := bytes.IndexByte(b, '\n')
	if lf >= 0 {
		b = b[:lf]
	}
	if cr := bytes.IndexByte(b, '\r'); cr >= 0 {
		return cr
	}
	return lf
}

// withoutMark skips a byte order mark at the start of the stream.
func (r *Reader) withoutMark(from, to int) int {
	if !r.begun && bytes.HasPrefix(r.buf[from:to], []byte("\xef\xbb\xbf")) {
		from += 3
	}
	r.begun = true
	return from
}

// fill reads more behind what is in the buffer, or sets err.
func (r *Reader) fill() {
	r.makeRoom()
	if r.err != nil {
		return
	}
	for range maxEmptyRead {
		n, err := r.src.Read(r.buf[r.end:])
		r.end += n
		if err != nil {
			r.err = err
		}
		if n > 0 || err != nil {
			return
		}
	}
	r.err = io.ErrNoProgress
}

// makeRoom drops what was given out and grows a full buffer.
func (r *Reader) makeRoom() {
	if r.end-r.line > r.max {
		r.err = r.tooLong()
		return
	}
	if r.end < len(r.buf) {
		return
	}
	if r.lines > 0 {
		r.move()
	}
	if r.line > 0 {
		copy(r.buf, r.buf[r.line:r.end])
		r.scan, r.end, r.line = r.scan-r.line, r.end-r.line, 0
	}
	if r.end == len(r.buf) {
		grown := make([]byte, max(startBuffer, 2*len(r.buf)))
		copy(grown, r.buf[:r.end])
		r.buf = grown
	}
}
