package session_test

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/signal"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"

	"starling/agent/session"
	"starling/bus/chat"
)

// G-01: half a line at the end.
func TestG01HalfALine(t *testing.T) {
	whole := `{"kind":"message","id":"3","parent":"2","ts":"2026-03-01T12:00:09Z","role":"user","blocks":[{"kind":"text","text":"täil"}]}`
	inRune := strings.Index(whole, "ä") + 1
	for name, c := range map[string]struct {
		tail string
		kept bool
	}{
		"a: cut in JSON":           {whole[:60], false},
		"a: cut behind a brace":    {whole[:strings.LastIndex(whole, "}]}")+1], false},
		"b: cut in a character":    {whole[:inRune], false},
		"c: only the break lacks":  {whole, true},
		"zeros of a lost page":     {strings.Repeat("\x00", 4096), false},
		"a long one":               {whole[:60] + strings.Repeat("x", 700_000), false},
		"a long one, break lacks":  {strings.Replace(whole, "täil", "täil"+strings.Repeat(" ", 700_000), 1), true},
		"c: a kind we do not know": {`{"kind":"later"}`, false},
	} {
		t.Run(name, func(t *testing.T) {
			st := store(t)
			id, path := written(t, st, user("one"), reply("two"))
			before := string(must[[]byte](t)(os.ReadFile(path)))
			appendRaw(t, path, c.tail)
			want := texts(messages(t, must[*session.Session](t)(st.Read(id))))
			if has := len(want) == 3; has != c.kept {
				t.Fatalf("read %q", want)
			}

			s := must[*session.Session](t)(st.Open(id))
			whole := c.kept || strings.Contains(c.tail, "later")
			if whole != (len(s.Problems()) == 0) || len(s.Problems()) > 1 {
				t.Errorf("problems %q", s.Problems())
			}
			if got := string(must[[]byte](t)(os.ReadFile(path))); got != before+c.tail {
				t.Error("opening changed the file")
			}
			ok(t, s.Append(user("new")))
			ok(t, s.Append(reply("answer")))
			ok(t, s.Close())
			again := must[*session.Session](t)(st.Open(id))
			got := strings.Join(texts(messages(t, again)), "|")
			if got != strings.Join(append(want, "user: new", "assistant: answer"), "|") {
				t.Errorf("after the repair: %.300s", got)
			}
			if len(again.Problems()) > 0 {
				t.Errorf("problems after the repair: %q", again.Problems())
			}
			ok(t, again.Close())
			lines(t, path)
			aside, err := os.ReadFile(path + ".torn-1")
			if whole != errors.Is(err, os.ErrNotExist) || !whole && string(aside) != c.tail {
				t.Errorf("set aside: %.100q, %v", aside, err)
			}
		})
	}
}

// However a file is cut, its whole lines are read, it can be gone on with, and
// the fragment is kept beside it.
func TestG01EveryCut(t *testing.T) {
	st := session.Wrapped(store(t), func(f session.File) session.File { return unsynced{f} })
	call, result := asks("c1")
	_, path := written(t, st, user("ünö"), call, result, reply("two"))
	text := string(must[[]byte](t)(os.ReadFile(path)))
	header := strings.Index(text, "\n")
	step := 11
	if os.Getenv("SOAK") != "" {
		step = 1
	}
	for cut := header; cut < len(text); cut += step {
		ok(t, os.WriteFile(filepath.Join(st.Dir, "cut.jsonl"), []byte(text[:cut]), 0o600))
		s := must[*session.Session](t)(st.Open("cut"))
		want := strings.Count(text[:cut], "\n") - 1
		if cut == header || text[cut] == '\n' {
			want++ // only the break lacks
		}
		if got := messages(t, s); len(got) != want {
			t.Fatalf("cut at %d: %d messages, want %d", cut, len(got), want)
		}
		ok(t, s.Append(user("new")))
		ok(t, s.Close())
		s = must[*session.Session](t)(st.Read("cut"))
		if got := messages(t, s); len(got) != want+1 || got[want].Text() != "new" || len(s.Problems()) > 0 {
			t.Fatalf("cut at %d: after one more: %q, %q", cut, texts(got), s.Problems())
		}
	}
}

// unsynced saves a test the disk's time.
type unsynced struct{ session.File }

func (unsynced) Sync() error { return nil }

// disk is a disk that gets full: it takes room bytes, then part of a write, then
// none. It counts.
type disk struct {
	mu            sync.Mutex
	room          int
	syncFails     bool
	truncateFails bool
	writes, syncs int
}

func (d *disk) set(room int) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.room = room
}

func (d *disk) fail(syncs bool) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.syncFails = syncs
}

type onDisk struct {
	session.File
	d *disk
}

func (f onDisk) Write(p []byte) (int, error) {
	f.d.mu.Lock()
	defer f.d.mu.Unlock()
	f.d.writes++
	n := min(len(p), f.d.room)
	f.d.room -= n
	if m, err := f.File.Write(p[:n]); err != nil {
		return m, err
	}
	if n < len(p) {
		return n, syscall.ENOSPC
	}
	return n, nil
}

func (f onDisk) Sync() error {
	f.d.mu.Lock()
	defer f.d.mu.Unlock()
	f.d.syncs++
	if f.d.syncFails {
		return syscall.EIO
	}
	return f.File.Sync()
}

func (f onDisk) Truncate(size int64) error {
	if f.d.truncateFails {
		return syscall.EIO
	}
	return f.File.Truncate(size)
}

func (d *disk) store(t testing.TB) session.Store {
	return session.Wrapped(store(t), func(f session.File) session.File { return onDisk{f, d} })
}

// G-02: the disk is full in the middle of a line, two more turns follow, then
// there is space again.
func TestG02DiskFull(t *testing.T) {
	for _, room := range []int{0, 1, 70, 250} {
		for _, truncateFails := range []bool{false, true} {
			t.Run(fmt.Sprint(room, truncateFails), func(t *testing.T) {
				d := &disk{room: 1 << 30}
				st := d.store(t)
				s := begin(t, st, user("one"))
				d.set(room)
				d.truncateFails = truncateFails
				err := s.Append(reply("two"), user("three"))
				unsaved := (*session.UnsavedError)(nil)
				if !errors.As(err, &unsaved) || !errors.Is(err, syscall.ENOSPC) || unsaved.Path != s.Path() || unsaved.Entries < 1 {
					t.Fatalf("error %v", err)
				}
				d.set(0)
				for i := range 2 {
					if err := s.Append(user(fmt.Sprint("turn ", i)), reply("ok")); err == nil {
						t.Fatal("no error in a further turn")
					}
				}
				if s.Err() == nil {
					t.Error("the error does not last")
				}
				if _, err := s.ResumeRef(); err == nil {
					t.Error("unsaved work is offered to be resumed")
				}
				want := []string{"user: one", "assistant: two", "user: three", "user: turn 0", "assistant: ok", "user: turn 1", "assistant: ok"}
				if got := strings.Join(texts(messages(t, s)), "|"); got != strings.Join(want, "|") {
					t.Errorf("in memory: %s", got)
				}
				// Whoever reads now sees whole lines, in order.
				seen := texts(messages(t, must[*session.Session](t)(st.Read(s.ID()))))
				if strings.Join(seen, "|") != strings.Join(want[:len(seen)], "|") {
					t.Errorf("on the full disk: %q", seen)
				}
				d.set(1 << 30)
				d.truncateFails = false
				ok(t, s.Append(user("space")))
				if err := s.Err(); err != nil {
					t.Errorf("the error stands: %v", err)
				}
				must[string](t)(s.ResumeRef())
				ok(t, s.Close())
				again := must[*session.Session](t)(st.Read(s.ID()))
				if got := strings.Join(texts(messages(t, again)), "|"); got != strings.Join(append(want, "user: space"), "|") || len(again.Problems()) > 0 {
					t.Errorf("on disk: %s %q", got, again.Problems())
				}
			})
		}
	}
}

// A failed sync makes nothing saved: it is written again, once.
func TestG02FailedSync(t *testing.T) {
	d := &disk{room: 1 << 30}
	st := d.store(t)
	s := begin(t, st, user("one"))
	d.syncFails = true
	if err := s.Append(reply("two")); !errors.Is(err, syscall.EIO) {
		t.Fatalf("error %v", err)
	}
	d.syncFails = false
	ok(t, s.Flush())
	ok(t, s.Append(user("three")))
	ok(t, s.Close())
	ok(t, holds(t, st, s.ID(), user("one"), reply("two"), user("three")).Close())
}

// An early append is one write, is on disk once a call that waits returned, with one
// sync or together with others, and is written again when its sync failed.
func TestAppendEarly(t *testing.T) {
	d := &disk{room: 1 << 30}
	st := d.store(t)
	s := begin(t, st, user("one"))
	ok(t, s.AppendEarly(user("two")))
	ok(t, s.AppendEarly(reply("three")))
	ok(t, s.Append(user("four")))
	if d.writes != 4 || d.syncs < 3 || d.syncs > 4 {
		t.Errorf("%d writes, %d syncs, want 4 writes and 3 or 4 syncs", d.writes, d.syncs)
	}
	d.syncFails = true
	ok(t, s.AppendEarly(reply("five")))
	if err := s.Err(); !errors.Is(err, syscall.EIO) {
		t.Errorf("error %v", err)
	}
	if err := s.AppendEarly(user("six")); !errors.Is(err, syscall.EIO) {
		t.Errorf("error %v", err)
	}
	d.syncFails = false
	ok(t, s.AppendEarly(reply("seven")))
	ok(t, s.Flush())
	if err := s.Err(); err != nil {
		t.Error(err)
	}
	ok(t, s.AppendEarly(user("eight")))
	ok(t, s.Close())
	ok(t, holds(t, st, s.ID(), user("one"), user("two"), reply("three"), user("four"), reply("five"), user("six"), reply("seven"), user("eight")).Close())

	// No room: what was written of it is taken back, and comes when there is room.
	d = &disk{room: 1 << 30}
	st = d.store(t)
	s = begin(t, st, user("one"))
	d.room = 10
	if err := s.AppendEarly(user("two")); err == nil {
		t.Error("a full disk is no error")
	}
	d.room = 1 << 30
	ok(t, s.AppendEarly(reply("three")))
	ok(t, s.Close())
	ok(t, holds(t, st, s.ID(), user("one"), user("two"), reply("three")).Close())
}

// Whatever mixture of early and waiting appends meets whatever faults of the disk:
// once the disk works all is there, once and in order, and what an append that
// waited called saved is saved.
func TestAppendsAndFaults(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	for round := range 60 {
		d := &disk{room: 1 << 30}
		st := d.store(t)
		s := begin(t, st, user("begin"))
		want := []chat.Message{user("begin")}
		for i := range 1 + random.IntN(12) {
			d.set(1 << 30)
			if random.IntN(3) == 0 {
				d.set(random.IntN(400))
			}
			d.fail(random.IntN(3) == 0)
			m := reply(fmt.Sprint(round, " ", i))
			if want = append(want, m); random.IntN(4) > 0 {
				_ = s.AppendEarly(m) // what is wrong is told by any later call
			} else if s.Append(m) == nil {
				if raw, err := os.ReadFile(s.Path()); err != nil || !strings.Contains(string(raw), fmt.Sprint(`"`, round, " ", i, `"`)) {
					t.Fatalf("round %d: message %d is called saved: %v", round, i, err)
				}
			}
		}
		d.set(1 << 30)
		d.fail(false)
		ok(t, s.Flush())
		ok(t, s.Err())
		ok(t, s.Close())
		ok(t, holds(t, st, s.ID(), want...).Close())
	}
}

// A folder that cannot be made does not stop the chat, and is used once it can.
func TestG02NoFolder(t *testing.T) {
	st := store(t)
	ok(t, os.WriteFile(st.Dir, nil, 0o600)) // a file where the folder should be
	s := must[*session.Session](t)(st.Create(session.Meta{Cwd: "/w"}))
	if s.Err() == nil {
		t.Error("nothing says that the session is not saved")
	}
	if err := s.Append(user("one")); !errors.Is(err, syscall.ENOTDIR) {
		t.Errorf("error %v", err)
	}
	ok(t, os.Remove(st.Dir))
	ok(t, s.Append(reply("two")))
	ok(t, s.Close())
	ok(t, holds(t, st, s.ID(), user("one"), reply("two")).Close())
}

// The real thing: a device that is full.
func TestG02FullDevice(t *testing.T) {
	full, err := os.OpenFile("/dev/full", os.O_WRONLY, 0)
	if err != nil {
		t.Logf("no such device here, limits of the file size are tested instead: %v", err)
		return
	}
	defer full.Close()
	st := session.Wrapped(store(t), func(f session.File) session.File { return fullDevice{f, full} })
	s := must[*session.Session](t)(st.Create(session.Meta{Cwd: "/w"}))
	if err := s.Append(user("one")); !errors.Is(err, syscall.ENOSPC) {
		t.Errorf("error %v", err)
	}
	if err := s.Close(); !errors.Is(err, syscall.ENOSPC) {
		t.Errorf("close: %v", err)
	}
}

type fullDevice struct {
	session.File
	full *os.File
}

func (f fullDevice) Write(p []byte) (int, error) { return f.full.Write(p) }

// G-02 against the kernel: in a process of its own the size of files is limited,
// so that writes are cut short and fail, and later it is not.
func TestG02LimitedFileSize(t *testing.T) {
	dir := t.TempDir()
	cmd := child("limited", dir)
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	st := session.Store{Dir: dir}
	s := must[*session.Session](t)(st.Read(strings.TrimSpace(string(out))))
	got := messages(t, s)
	if len(got) != 20 || len(s.Problems()) > 0 {
		t.Fatalf("%d messages, problems %q", len(got), s.Problems())
	}
	for i, m := range got {
		if want := strings.Repeat(fmt.Sprint(i), 300); m.Text() != want {
			t.Errorf("message %d: %.20s", i, m.Text())
		}
	}
}

func limitedChild(dir string) {
	signal.Ignore(syscall.SIGXFSZ)
	limit := func(n uint64) {
		var l syscall.Rlimit
		check(syscall.Getrlimit(syscall.RLIMIT_FSIZE, &l))
		l.Cur = min(n, l.Max)
		check(syscall.Setrlimit(syscall.RLIMIT_FSIZE, &l))
	}
	st := session.Store{Dir: dir}
	s, err := st.Create(session.Meta{Cwd: "/w"})
	check(err)
	limit(3000)
	failed := 0
	for i := range 20 {
		if i == 19 {
			limit(1 << 40)
		}
		if err := s.Append(user(strings.Repeat(fmt.Sprint(i), 300))); err != nil {
			if !errors.Is(err, syscall.EFBIG) {
				check(err)
			}
			failed++
		}
	}
	if failed < 5 {
		check(fmt.Errorf("only %d writes failed", failed))
	}
	check(s.Close())
	fmt.Println(s.ID())
}

func check(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// Appending is one write and one sync, however many messages; with what waited
// too.
func TestOneWriteOneSync(t *testing.T) {
	d := &disk{room: 1 << 30}
	s := begin(t, d.store(t), user("one")) // with the header
	for i, append := range []func() error{
		func() error { return nil },
		func() error { return s.Append(user("two")) },
		func() error { return s.Append(user("a"), reply("b"), user(strings.Repeat("c", 1<<20))) },
		func() error { return s.Label("", "title") },
		func() error { return s.Jump("1") },
	} {
		ok(t, append())
		if d.writes != i+1 || d.syncs != i+1 {
			t.Errorf("step %d: %d writes, %d syncs, want %d of each", i, d.writes, d.syncs, i+1)
		}
	}
	ok(t, s.Jump("1")) // is there already
	ok(t, s.Append())
	ok(t, s.Close())
	if d.writes != 5 || d.syncs != 5 {
		t.Errorf("with nothing to write: %d writes, %d syncs", d.writes, d.syncs)
	}
}
