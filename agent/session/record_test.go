package session_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"

	"starling/agent/session"
)

func walk(t testing.TB, dir string) (files []string) {
	t.Helper()
	ok(t, filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err == nil && !d.IsDir() {
			files = append(files, path)
		}
		return err
	}))
	return files
}

func big(fill string) json.RawMessage {
	return json.RawMessage(`"` + strings.Repeat(fill, 5000) + `"`)
}

func looksUp(t testing.TB, r *session.Recording, call string, n int, want json.RawMessage) {
	t.Helper()
	got, have, err := r.Lookup("p", call, "exec", n)
	if err != nil || have != (want != nil) || string(got) != string(want) {
		t.Errorf("%s %d: %.40s, %v, %v; want %.40s", call, n, got, have, err, want)
	}
}

func TestRecord(t *testing.T) {
	st := store(t)
	s := begin(t, st, user("one"))
	r := must[*session.Recorder](t)(s.Recorder())
	for n, v := range []string{`1`, `"two"`, `null`, `{"a":[1]}`} {
		ok(t, r.Record("p", "turn 1", "exec", n, json.RawMessage(v)))
	}
	ok(t, r.Record("p", "turn 1", "exec", 4, big("a")))
	ok(t, r.Record("q", "turn 1", "exec", 0, big("a")))
	if err := r.Record("p", "turn 1", "exec", 5, json.RawMessage(`{`)); err == nil {
		t.Error("took what is no JSON")
	}
	ok(t, s.Close())
	if n := len(walk(t, filepath.Join(st.Dir, "blobs"))); n != 1 {
		t.Errorf("%d contents, want the same one once", n)
	}

	// A later process goes on with the file, behind a half line.
	path := strings.TrimSuffix(s.Path(), ".jsonl") + ".plugins.jsonl"
	appendRaw(t, path, `{"plugin":"p","call":"turn 2"`)
	s = must[*session.Session](t)(st.Open(s.ID()))
	r = must[*session.Recorder](t)(s.Recorder())
	ok(t, r.Record("p", "turn 2", "exec", 0, json.RawMessage(`"new"`)))
	ok(t, r.Record("p", "turn 1", "exec", 0, json.RawMessage(`"again"`)))
	ok(t, s.Flush())
	ok(t, s.Close())
	lines(t, path)

	rec := must[*session.Recording](t)(st.Recording("last"))
	defer rec.Close()
	if rec.Len() != 7 || len(rec.Problems()) > 0 {
		t.Errorf("%d values, problems %q", rec.Len(), rec.Problems())
	}
	for n, v := range []json.RawMessage{json.RawMessage(`"again"`), json.RawMessage(`"two"`), json.RawMessage(`null`), json.RawMessage(`{"a":[1]}`), big("a"), nil} {
		looksUp(t, rec, "turn 1", n, v)
	}
	looksUp(t, rec, "turn 2", 0, json.RawMessage(`"new"`))
	if infos := must[[]session.Info](t)(st.List(session.Filter{})); len(infos) != 1 {
		t.Errorf("the record counts as a session: %+v", infos)
	}
}

func TestNoRecord(t *testing.T) {
	st := store(t)
	s := begin(t, st, user("one"))
	must[*session.Recorder](t)(s.Recorder())
	ok(t, s.Flush())
	ok(t, s.Close())
	id := s.ID()
	rec := must[*session.Recording](t)(st.Recording(id))
	looksUp(t, rec, "turn 1", 0, nil)
	ok(t, rec.Close())
	if files := walk(t, st.Dir); len(files) != 1 {
		t.Errorf("files %q", files)
	}
}

// The store of contents is capped: the oldest go; what is used again stays; a
// spoiled one is told from a good one.
func TestRecordCap(t *testing.T) {
	st := store(t)
	st.MaxBlobs = 60_000 // five and a bit
	s := begin(t, st, user("one"))
	r := must[*session.Recorder](t)(s.Recorder())
	for n := range 8 {
		ok(t, r.Record("p", "c", "exec", n, big(fmt.Sprintf("%02d", n))))
		if n == 4 {
			ok(t, r.Record("p", "again", "exec", 0, big("01")))
		}
		ok(t, r.Flush())
	}
	ok(t, r.Record("p", "huge", "exec", 0, json.RawMessage(`"`+strings.Repeat("x", 70_000)+`"`)))
	ok(t, s.Close())
	sum := int64(0)
	for _, f := range walk(t, filepath.Join(st.Dir, "blobs")) {
		sum += must[os.FileInfo](t)(os.Stat(f)).Size()
	}
	if sum > st.MaxBlobs || sum < st.MaxBlobs/2 {
		t.Errorf("%d bytes are stored, the cap is %d", sum, st.MaxBlobs)
	}
	rec := must[*session.Recording](t)(st.Recording(s.ID()))
	defer rec.Close()
	looksUp(t, rec, "c", 7, big("07"))
	looksUp(t, rec, "c", 1, big("01"))
	for _, call := range []string{"c", "huge"} {
		if _, have, err := rec.Lookup("p", call, "exec", 0); !have || !errors.Is(err, session.ErrGone) {
			t.Errorf("%s: %v, %v", call, have, err)
		}
	}
	for _, f := range walk(t, filepath.Join(st.Dir, "blobs")) {
		ok(t, os.WriteFile(f, nil, 0o600))
	}
	if _, _, err := rec.Lookup("p", "c", "exec", 7); !errors.Is(err, session.ErrGone) {
		t.Errorf("spoiled: %v", err)
	}
}

// The record survives a full disk as the session does, and recording itself
// never fails.
func TestRecordDiskFull(t *testing.T) {
	d := &disk{room: 1 << 30}
	st := d.store(t)
	s := begin(t, st, user("one"))
	r := must[*session.Recorder](t)(s.Recorder())
	d.set(100)
	for n := range 50 {
		ok(t, r.Record("p", "c", "exec", n, json.RawMessage(fmt.Sprint(n))))
	}
	ok(t, r.Record("p", "c", "exec", 50, big("b")))
	if err := r.Flush(); !errors.Is(err, syscall.ENOSPC) || r.Err() == nil {
		t.Errorf("error %v, lasting %v", err, r.Err())
	}
	d.set(1 << 30)
	ok(t, r.Flush())
	ok(t, r.Err())
	ok(t, s.Close())
	rec := must[*session.Recording](t)(st.Recording(s.ID()))
	defer rec.Close()
	for n := range 50 {
		looksUp(t, rec, "c", n, json.RawMessage(fmt.Sprint(n)))
	}
	looksUp(t, rec, "c", 50, big("b"))
}

// Nothing is written before the end of a turn, and then with one sync; plugins
// record at the same time.
func TestRecordIsBuffered(t *testing.T) {
	d := &disk{room: 1 << 30}
	s := begin(t, d.store(t), user("one"))
	r := must[*session.Recorder](t)(s.Recorder())
	writes := d.writes
	var all sync.WaitGroup
	for p := range 8 {
		all.Go(func() {
			for n := range 100 {
				if err := r.Record(fmt.Sprint("p", p), "c", "clock", n, json.RawMessage(`1`)); err != nil {
					t.Error(err)
				}
			}
		})
	}
	all.Wait()
	if d.writes != writes {
		t.Errorf("%d writes within the turn", d.writes-writes)
	}
	ok(t, s.Flush())
	if d.writes != writes+1 || d.syncs != d.writes {
		t.Errorf("%d writes, %d syncs at the end of the turn", d.writes-writes, d.syncs)
	}
	ok(t, s.Close())
	if rec := must[*session.Recording](t)(session.Store{Dir: filepath.Dir(s.Path())}.Recording(s.ID())); rec.Len() != 800 {
		t.Errorf("%d values", rec.Len())
	}
}
