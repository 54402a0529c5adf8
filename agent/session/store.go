package session

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"starling/trust"
)

const (
	suffix       = ".jsonl"
	recordSuffix = ".plugins.jsonl"
	createTries  = 16
)

// Store is a folder of sessions. It may be copied; its fields are not changed
// once it is in use.
type Store struct {
	// Dir is made, for its owner only, when the first session is.
	Dir string
	// Now is the clock, time.Now when nil.
	Now func() time.Time
	// Rand makes ids differ, the runtime's generator when nil.
	Rand io.Reader
	// Mask is applied to every string that is written; nil masks nothing.
	Mask *Masker
	// Owner describes this process to others that want to write its sessions,
	// "process PID" when empty.
	Owner string
	// MaxBlobs is how many bytes the contents beside plugin records may take,
	// DefaultMaxBlobs when 0.
	MaxBlobs int64

	wrap func(File) File // for tests
}

func (st Store) now() time.Time {
	if st.Now == nil {
		return time.Now().UTC().Truncate(time.Millisecond)
	}
	return st.Now().UTC().Truncate(time.Millisecond)
}

func (st Store) owner() string {
	if st.Owner == "" {
		return fmt.Sprintf("process %d", os.Getpid())
	}
	return st.Owner
}

func (st Store) path(id string) string { return filepath.Join(st.Dir, id+suffix) }

func (st Store) wrapped(f File) File {
	if st.wrap == nil {
		return f
	}
	return st.wrap(f)
}

// Create begins a session. A folder that cannot be written is no error here: the
// session goes on in memory and its Err says so from the start.
func (st Store) Create(meta Meta) (*Session, error) {
	s := st.session()
	s.meta = Meta{Cwd: st.Mask.Text(meta.Cwd), Workspace: st.Mask.Text(meta.Workspace), Model: st.Mask.Text(meta.Model)}
	s.started = st.now()
	f, err := st.reserve(s)
	if s.id == "" {
		return nil, err
	}
	a := &appender{path: s.path, err: err, open: func() (File, error) {
		f, err := st.make(s.id)
		if err != nil {
			return nil, err
		}
		return st.wrapped(f), nil
	}}
	if err == nil {
		a.file = st.wrapped(f)
	}
	a.add(headerLine{Kind: kindSession, Version: Version, ID: s.id, Meta: s.meta, Started: s.started, Owner: st.Mask.Text(st.owner())}.line())
	s.log = a
	return s, nil
}

// reserve finds an id nobody has and makes its file. Where no file can be made
// the id stands, with the error.
func (st Store) reserve(s *Session) (File, error) {
	random := st.Rand
	if random == nil {
		random = runtimeRand{}
	}
	for range createTries {
		id, err := newID(s.started, random)
		if err != nil {
			return nil, err
		}
		f, err := st.make(id)
		if errors.Is(err, fs.ErrExist) {
			continue
		}
		s.id, s.path = id, st.path(id)
		return f, err
	}
	return nil, fmt.Errorf("session id: %d of them in %s were taken: the source of random bytes repeats itself", createTries, st.Dir)
}

// runtimeRand are bytes of the generator that each process seeds anew: an id has to
// differ, it is no secret.
type runtimeRand struct{}

func (runtimeRand) Read(b []byte) (int, error) {
	for i := range b {
		b[i] = byte(rand.Uint32())
	}
	return len(b), nil
}

// make makes the file of a session and locks it.
func (st Store) make(id string) (File, error) {
	if err := os.MkdirAll(st.Dir, 0o700); err != nil {
		return nil, err
	}
	f, err := openAppend(st.path(id), true)
	if err != nil {
		return nil, err
	}
	if err := lock(f, id); err != nil {
		return nil, errors.Join(err, f.Close())
	}
	// The first sync of a new file makes its name last too, on all file systems
	// we know of; a sync of the folder here would cost a start milliseconds.
	return f, nil
}

// Open opens a session to go on with it. ref is an id, a prefix of one, "last",
// each with :MESSAGE when the next message is to follow that one. A session that
// another writer holds is refused with ErrLocked.
func (st Store) Open(ref string) (*Session, error) {
	return st.openRef(ref, st.openWrite)
}

// Read opens a session to look at; it may be written meanwhile. What is read is
// its state now.
func (st Store) Read(ref string) (*Session, error) {
	return st.openRef(ref, st.openRead)
}

func (st Store) openRef(ref string, open func(id string) (*Session, error)) (*Session, error) {
	name, message := SplitRef(ref)
	id, err := st.Resolve(name)
	if err != nil {
		return nil, err
	}
	s, err := open(id)
	if err != nil || message == "" {
		return s, err
	}
	if message, err = s.Find(message); err == nil {
		err = s.Jump(message)
	}
	if unsaved := (*UnsavedError)(nil); err != nil && !errors.As(err, &unsaved) {
		return nil, errors.Join(err, s.Close())
	}
	return s, nil
}

func (st Store) openRead(id string) (*Session, error) {
	f, err := trust.OpenRegular(st.path(id), os.O_RDONLY, 0)
	if err != nil {
		return nil, fmt.Errorf("session %s: %w", id, err)
	}
	defer f.Close()
	return st.load(id, f)
}

func (st Store) openWrite(id string) (*Session, error) {
	f, err := openAppend(st.path(id), false)
	if err != nil {
		return nil, fmt.Errorf("session %s: %w", id, err)
	}
	if err := lock(f, id); err != nil {
		return nil, errors.Join(err, f.Close())
	}
	own(f, st.owner(), st.now())
	s, err := st.load(id, f)
	if err != nil {
		return nil, errors.Join(err, goneOn{f}.Close())
	}
	s.log = s.tail.appender(s.path, st.wrapped(goneOn{f}))
	return s, nil
}

func (st Store) session() *Session {
	return &Session{store: st, ids: map[string]int{}, labels: map[int]string{}, head: root}
}

func (st Store) load(id string, f *os.File) (*Session, error) {
	s := st.session()
	s.id, s.path = id, st.path(id)
	info, err := f.Stat()
	if err != nil {
		return nil, fmt.Errorf("session %s: %w", id, err)
	}
	if err := s.index(f, info.Size()); err != nil {
		return nil, fmt.Errorf("session file %s: %w", s.path, err)
	}
	return s, nil
}

// Resolve returns the id that ref means: an id, a prefix of exactly one, or
// "last" for the session written last.
func (st Store) Resolve(ref string) (string, error) {
	if ref == "last" {
		return st.Last("")
	}
	ids, err := st.ids()
	if err != nil {
		return "", err
	}
	id, may := pick(ids, ref)
	switch {
	case id != "":
		return id, nil
	case ref == "" || len(may) == 0:
		return "", fmt.Errorf("session %q: there is none in %s; /sessions and starling --sessions list them", ref, st.Dir)
	}
	if len(may) > 8 {
		may = append(may[:8:8], fmt.Sprintf("and %d more", len(may)-8))
	}
	return "", fmt.Errorf("session %q may mean %s; write more of the id", ref, strings.Join(may, ", "))
}

// ids returns the ids of all sessions in order of their start.
func (st Store) ids() ([]string, error) {
	entries, err := os.ReadDir(st.Dir)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("sessions: %w", err)
	}
	var ids []string
	for _, e := range entries {
		id, ok := strings.CutSuffix(e.Name(), suffix)
		if ok && validID(id) && e.Type().IsRegular() { // records have a dot in what would be the id
			ids = append(ids, id)
		}
	}
	slices.Sort(ids)
	return ids, nil
}
