package session

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"strings"
	"sync"

	"starling/trust"
)

const (
	// maxInline is the longest value in bytes that stands in the record itself.
	maxInline = 4 << 10
	// recorderBuffer is how many bytes wait for the end of a turn at most.
	recorderBuffer = 8 << 20
	// recorderLimit is how many wait for a disk that cannot be written; beyond
	// it values are recorded by digest only.
	recorderLimit = 64 << 20
)

// recordHeader is the first line of a plugin record.
type recordHeader struct {
	Kind    string `json:"kind"`
	Version int    `json:"version"`
	Session string `json:"session"`
}

// recordLine is one value a plugin got from the host.
type recordLine struct {
	Plugin string          `json:"plugin"`
	Call   string          `json:"call"`
	Kind   string          `json:"kind"`
	N      int             `json:"n"`
	Value  json.RawMessage `json:"value,omitempty"`
	// Digest and Size of a value that is in the store of contents.
	Digest string `json:"digest,omitempty"`
	Size   int    `json:"size,omitempty"`
}

// Recorder writes the plugin record of a session. It may be used by several
// goroutines.
type Recorder struct {
	mask  *Masker
	blobs *blobs

	mu      sync.Mutex
	log     *appender
	waiting map[string][]byte // contents that are not stored yet
	bytes   int               // of waiting
}

// Recorder returns what records for the plugins of this session.
func (s *Session) Recorder() (*Recorder, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.log == nil {
		return nil, fmt.Errorf("session %s: %w", s.id, ErrClosed)
	}
	if s.recorder != nil {
		return s.recorder, nil
	}
	path := recordPath(s.path)
	log := &appender{path: path}
	log.open = func() (File, error) {
		if err := os.MkdirAll(s.store.Dir, 0o700); err != nil {
			return nil, err
		}
		f, err := trust.OpenRegular(path, os.O_RDWR|os.O_APPEND|os.O_CREATE, 0o600)
		if err != nil {
			return nil, err
		}
		return s.store.wrapped(f), nil
	}
	t, err := tailOf(path)
	switch {
	case errors.Is(err, fs.ErrNotExist) || err == nil && t.size == 0:
		log.fragment = t.fragment
		line, err := encode(recordHeader{Kind: "plugins", Version: Version, Session: s.id})
		if err != nil {
			return nil, fmt.Errorf("plugin record header: %w", err)
		}
		log.add(line)
	case err != nil:
		return nil, fmt.Errorf("plugin record %s: %w", path, err)
	default:
		log.size, log.fragment = t.size, t.fragment
		if t.unbroken {
			log.pending = []byte("\n")
		}
	}
	s.recorder = &Recorder{mask: s.store.Mask, blobs: s.store.blobs(), log: log, waiting: map[string][]byte{}}
	return s.recorder, nil
}

func recordPath(path string) string { return strings.TrimSuffix(path, suffix) + recordSuffix }

// tailOf looks at the end of a file of lines.
func tailOf(path string) (t tail, err error) {
	f, err := trust.OpenRegular(path, os.O_RDONLY, 0)
	if err != nil {
		return t, err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return t, err
	}
	var rest []byte
	for end := info.Size(); end > 0; {
		from := max(0, end-tailWindow)
		part, err := readRange(f, from, end-from)
		if err != nil {
			return t, err
		}
		if i := bytes.LastIndexByte(part, '\n'); i >= 0 {
			t.size, rest = from+int64(i)+1, append(part[i+1:], rest...)
			break
		}
		rest, end = append(part, rest...), from
	}
	switch {
	case len(rest) == 0:
	case validJSON(rest):
		t.size, t.unbroken = t.size+int64(len(rest)), true
	default:
		t.fragment = int64(len(rest))
	}
	return t, nil
}

// Record takes note of the value, a JSON text, that a plugin got from the host:
// the nth of its kind within a call, from 0. It is masked, and written at the
// next Flush. The error says that value is no JSON.
func (r *Recorder) Record(plugin, call, kind string, n int, value json.RawMessage) error {
	if !validJSON(value) {
		return fmt.Errorf("plugin record: %s: %s: the value is no JSON", plugin, kind)
	}
	l := recordLine{
		Plugin: plugin, Call: r.mask.Opaque(call), Kind: kind, N: n, Value: r.mask.JSON(value),
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	var content []byte
	full := r.bytes+len(r.log.pending) > recorderLimit
	if len(l.Value) > maxInline || full {
		content = l.Value
		l.Digest, l.Size, l.Value = digestOf(content), len(content), nil
	}
	line, err := encode(l)
	if err != nil {
		return fmt.Errorf("plugin record: %s: %w", plugin, err)
	}
	r.log.add(line)
	if content != nil && !full && r.waiting[l.Digest] == nil {
		r.waiting[l.Digest] = bytes.Clone(content)
		r.bytes += len(content)
	}
	if r.log.err == nil && r.bytes+len(r.log.pending) > recorderBuffer {
		_ = r.flush() // Err tells
	}
	return nil
}

// Flush writes what was recorded, with one sync. An *UnsavedError says that it
// waits in memory.
func (r *Recorder) Flush() error {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.flush()
}

// flush stores contents first, so that a line never names one that was not
// there.
func (r *Recorder) flush() error {
	if r.log.size == 0 && r.log.entries == 1 && r.log.err == nil {
		return nil // the header alone
	}
	for digest, content := range r.waiting {
		if err := r.blobs.put(digest, content); err != nil {
			r.log.err = err
			return r.log.unsaved()
		}
		delete(r.waiting, digest)
		r.bytes -= len(content)
	}
	return r.log.flush()
}

// Err returns nil, or an *UnsavedError as long as something could not be
// written.
func (r *Recorder) Err() error {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.log.unsaved()
}

func (r *Recorder) close() error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.log.file == nil {
		return nil
	}
	err := r.log.file.Close()
	r.log.file = nil
	return err
}

// Recording is the plugin record of a session, for reading.
type Recording struct {
	mask     *Masker
	blobs    *blobs
	path     string
	file     *os.File
	places   map[recordKey]span64
	problems []string
}

type recordKey struct {
	plugin, call, kind string
	n                  int
}

type span64 struct{ offset, length int64 }

// Recording opens the plugin record of a session; see Resolve for ref. It is
// empty when there is none.
func (st Store) Recording(ref string) (*Recording, error) {
	name, _ := SplitRef(ref)
	id, err := st.Resolve(name)
	if err != nil {
		return nil, err
	}
	r := &Recording{mask: st.Mask, blobs: st.blobs(), path: recordPath(st.path(id)), places: map[recordKey]span64{}}
	r.file, err = trust.OpenRegular(r.path, os.O_RDONLY, 0)
	if errors.Is(err, fs.ErrNotExist) {
		return r, nil
	}
	if err == nil {
		if err = r.index(); err != nil {
			err = errors.Join(err, r.Close())
		}
	}
	if err != nil {
		return nil, fmt.Errorf("plugin record %s: %w", r.path, err)
	}
	return r, nil
}

func (r *Recording) index() error {
	sc := newScanner(r.file)
	for number := 1; ; number++ {
		l, err := sc.line()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return fmt.Errorf("line %d: %w", number, err)
		}
		text, err := l.text(r.file)
		var line struct {
			recordLine
			Version int `json:"version"`
		}
		if err == nil {
			err = json.Unmarshal(text, &line)
		}
		switch {
		case number == 1 && line.Version > Version:
			return fmt.Errorf("has version %d, this starling knows version %d: use a newer starling", line.Version, Version)
		case err != nil:
			r.problems = append(r.problems, fmt.Sprintf("plugin record %s: line %d is damaged and was passed over: %v", r.path, number, err))
		case line.Plugin != "" || line.Value != nil || line.Digest != "":
			r.places[recordKey{line.Plugin, line.Call, line.Kind, line.N}] = span64{l.offset, l.length}
		}
	}
}

// ErrGone says that a value was recorded but is no longer in the store of
// contents, which is capped.
var ErrGone = errors.New("the recorded value is no longer stored")

// Lookup returns what a plugin got; ok is false when nothing was recorded. Of
// two values for the same place the newer counts. The error is ErrGone, or tells
// that the record cannot be read.
func (r *Recording) Lookup(plugin, call, kind string, n int) (value json.RawMessage, ok bool, err error) {
	place, ok := r.places[recordKey{plugin, r.mask.Opaque(call), kind, n}]
	if !ok {
		return nil, false, nil
	}
	text, err := readRange(r.file, place.offset, place.length)
	var l recordLine
	if err == nil {
		err = json.Unmarshal(text, &l)
	}
	if err == nil && l.Digest != "" {
		l.Value, err = r.blobs.get(l.Digest)
	}
	if err != nil {
		return nil, true, fmt.Errorf("plugin record %s: %s: %s %d of %s: %w", r.path, plugin, kind, n, call, err)
	}
	return l.Value, true, nil
}

// Len returns how many values there are.
func (r *Recording) Len() int { return len(r.places) }

// Problems tells what was wrong with the file, for people.
func (r *Recording) Problems() []string { return r.problems }

// Close closes the file.
func (r *Recording) Close() error {
	if r.file == nil {
		return nil
	}
	return r.file.Close()
}
