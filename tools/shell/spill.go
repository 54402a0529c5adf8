package shell

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
)

// spill is the file for output that does not fit in memory. It is made when
// the first byte would be lost.
type spill struct {
	engine *Engine
	id     int
	file   *os.File
	record *spillFile
	bytes  int64
	err    error
}

// spillFile is what the engine knows of a spill; its mutex guards it.
type spillFile struct {
	path   string
	bytes  int64
	closed bool // no longer written to
}

func (e *Engine) newSpill(id int) *spill {
	if e.opt.Spill == "" {
		return nil
	}
	return &spill{engine: e, id: id}
}

// add writes chunk, after all that kept holds if this is the first time.
func (s *spill) add(kept *capture, chunk []byte) {
	if s == nil || s.err != nil {
		return
	}
	if s.file == nil {
		if s.err = s.open(); s.err != nil {
			return
		}
		s.write(kept.head)
		s.write(kept.tail())
	}
	s.write(chunk)
}

func (s *spill) write(b []byte) {
	b = b[:min(int64(len(b)), s.engine.opt.SpillLimit-s.bytes)]
	if s.err != nil || len(b) == 0 {
		return
	}
	granted := s.engine.reserve(s.record, int64(len(b)))
	n, err := s.file.Write(b[:granted])
	s.bytes += int64(n)
	if err == nil && granted < int64(len(b)) {
		err = fmt.Errorf("the %d bytes that all files may have together are used up", s.engine.opt.SpillTotal)
	}
	if err != nil {
		s.err = fmt.Errorf("shell: spill of process %d: %w", s.id, err)
	}
}

func (s *spill) close() (path string, bytes int64, err error) {
	if s == nil || s.file == nil {
		if s != nil {
			err = s.err
		}
		return "", 0, err
	}
	if err := s.file.Close(); err != nil && s.err == nil {
		s.err = fmt.Errorf("shell: spill of process %d: %w", s.id, err)
	}
	s.engine.mu.Lock()
	s.record.closed = true
	s.engine.mu.Unlock()
	return s.file.Name(), s.bytes, s.err
}

func (s *spill) open() error {
	e := s.engine
	if err := os.MkdirAll(e.opt.Spill, 0o700); err != nil {
		return fmt.Errorf("shell: spill of process %d: %w", s.id, err)
	}
	f, err := os.CreateTemp(e.opt.Spill, fmt.Sprintf("output-%d-*.txt", s.id)) // mode 0600: it may hold secrets
	if err != nil {
		return fmt.Errorf("shell: spill of process %d: %w", s.id, err)
	}
	s.file, s.record = f, &spillFile{path: f.Name()}
	e.mu.Lock()
	e.spills = append(e.spills, s.record)
	e.mu.Unlock()
	return nil
}

// reserve takes up to n bytes of what all spill files may have, from the oldest
// files when there are not so many left, and returns how many it got.
func (e *Engine) reserve(f *spillFile, n int64) int64 {
	e.mu.Lock()
	defer e.mu.Unlock()
	total := n
	for _, s := range e.spills {
		total += s.bytes
	}
	kept := e.spills[:0]
	for _, s := range e.spills {
		if total > e.opt.SpillTotal && s.closed {
			if err := os.Remove(s.path); err == nil || errors.Is(err, fs.ErrNotExist) {
				total -= s.bytes
				continue
			}
		}
		kept = append(kept, s)
	}
	clear(e.spills[len(kept):])
	e.spills = kept
	n = max(n-max(total-e.opt.SpillTotal, 0), 0)
	f.bytes += n
	return n
}

// dropSpills removes the files of the engine.
func (e *Engine) dropSpills() error {
	e.mu.Lock()
	defer e.mu.Unlock()
	paths := []string{}
	for _, s := range e.spills {
		paths = append(paths, s.path)
	}
	if e.script != "" {
		paths = append(paths, e.script)
	}
	var errs []error
	for _, path := range paths {
		if err := os.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
			errs = append(errs, fmt.Errorf("shell: close: %w", err))
		}
	}
	e.spills, e.script = nil, ""
	return errors.Join(errs...)
}
