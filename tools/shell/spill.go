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
	bytes  int64
	err    error
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
		s.file, s.err = s.engine.spillFile(s.id)
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
	n, err := s.file.Write(b)
	s.bytes += int64(n)
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
	return s.file.Name(), s.bytes, s.err
}

func (e *Engine) spillFile(id int) (*os.File, error) {
	if err := os.MkdirAll(e.opt.Spill, 0o700); err != nil {
		return nil, fmt.Errorf("shell: spill of process %d: %w", id, err)
	}
	f, err := os.CreateTemp(e.opt.Spill, fmt.Sprintf("output-%d-*.txt", id)) // mode 0600: it may hold secrets
	if err != nil {
		return nil, fmt.Errorf("shell: spill of process %d: %w", id, err)
	}
	e.mu.Lock()
	e.spills = append(e.spills, f.Name())
	e.mu.Unlock()
	return f, nil
}

func (e *Engine) dropSpills() error {
	e.mu.Lock()
	defer e.mu.Unlock()
	var errs []error
	for _, path := range e.spills {
		if err := os.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
			errs = append(errs, fmt.Errorf("shell: close: %w", err))
		}
	}
	e.spills = nil
	return errors.Join(errs...)
}
