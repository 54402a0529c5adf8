package session_test

import (
	"bufio"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"strings"
	"testing"
	"time"

	"starling/agent/session"
	"starling/bus/chat"
)

// largeSession writes a session of lines that have together about size bytes,
// one of them of 12 MB, with prompts every ten lines.
func largeSession(t testing.TB, st session.Store, count, size int) (id string) {
	t.Helper()
	id, path := written(t, st, user("the first prompt"))
	f := must[*os.File](t)(os.OpenFile(path, os.O_WRONLY|os.O_APPEND, 0))
	out := bufio.NewWriterSize(f, 1<<20)
	const long = 12 << 20
	each := strings.Repeat(`line of text\n`, (size-long)/count/14)
	for i := 2; i <= count; i++ {
		role, text := "assistant", each
		if i%10 == 0 {
			role = "user"
		}
		if i == count-5 {
			text = strings.Repeat("y", long)
		}
		_, err := fmt.Fprintf(out, `{"kind":"message","id":"%d","parent":"%d","ts":"2026-03-02T12:00:00Z","role":"%s","blocks":[{"kind":"text","text":"%s"}]}`+"\n",
			i, i-1, role, text)
		ok(t, err)
	}
	ok(t, errors.Join(out.Flush(), f.Close()))
	return id
}

// G-04: a session of 300 MB and 50 000 entries, one of 12 MB, among 200 small
// ones. The listing reads a few kilobytes of it; a resume holds its index and
// the newest part. What is asserted is bytes; times are benchmarks.
func TestG04VeryLarge(t *testing.T) {
	count, size, budget := 50_000, 300<<20, uint64(300<<20)
	if underRace { // what it watches takes its time
		count, size = 10_000, 60<<20
	}
	st := store(t)
	for i := range 200 {
		at := st
		at.Dir = filepath.Join(st.Dir)
		written(t, at, user(fmt.Sprint("small ", i)))
	}
	id := largeSession(t, st, count, size)

	began := time.Now()
	peak := peakHeap(func() {
		infos := must[[]session.Info](t)(st.List(session.Filter{}))
		if len(infos) != 201 || infos[0].ID != id || infos[0].Prompt != "the first prompt" {
			t.Errorf("%d sessions, first %+v", len(infos), infos[0])
		}
	})
	if peak > 32<<20 {
		t.Errorf("the listing took %d MB", peak>>20)
	}
	t.Logf("listing: %v, %d MB", time.Since(began), peak>>20)

	began = time.Now()
	peak = peakHeap(func() {
		s := must[*session.Session](t)(st.Open(id))
		recent, all, err := s.Recent(session.ResumeBytes)
		ok(t, err)
		if all || len(recent) < 500 || recent[0].Role != chat.User || len(s.Nodes()) != count {
			t.Errorf("%d messages, all %v", len(recent), all)
		}
		if n := len(recent[len(recent)-6].Text()); n != 12<<20 {
			t.Errorf("the long one has %d bytes", n)
		}
		ok(t, s.Append(user("go on")))
		if head := s.Head(); head != fmt.Sprint(count+1) {
			t.Errorf("head %s", head)
		}
		ok(t, s.Close())
	})
	if peak > budget {
		t.Errorf("the resume took %d MB", peak>>20)
	}
	t.Logf("resume: %v, %d MB", time.Since(began), peak>>20)

	// A line beyond all measure is passed over without being read.
	path := filepath.Join(st.Dir, id+".jsonl")
	f := must[*os.File](t)(os.OpenFile(path, os.O_WRONLY|os.O_APPEND, 0))
	must[int](t)(fmt.Fprintf(f, `{"kind":"message","id":"99999","parent":"%d","role":"user","blocks":[{"kind":"text","text":"`, count+1))
	info := must[os.FileInfo](t)(f.Stat())
	ok(t, f.Truncate(info.Size()+2*session.MaxLine)) // zeros, and no disk for them
	must[int](t)(f.WriteString("\"}]}\n"))
	ok(t, f.Close())
	peak = peakHeap(func() {
		s := must[*session.Session](t)(st.Read(id))
		recent, _, err := s.Recent(1 << 20)
		if err == nil || !strings.Contains(err.Error(), path) {
			t.Errorf("%d messages, %v: want an error that names the file", len(recent), err)
		}
	})
	if peak > 64<<20 {
		t.Errorf("a line of %d bytes took %d MB", 2*session.MaxLine, peak>>20)
	}
}

// peakHeap returns what a function adds to the heap at most, sampled; garbage is
// collected as in a program with a memory limit.
func peakHeap(run func()) uint64 {
	defer debug.SetGCPercent(debug.SetGCPercent(30))
	runtime.GC()
	inUse := func() uint64 {
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		return m.HeapInuse
	}
	before, peak := inUse(), uint64(0)
	done, stopped := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(stopped)
		for tick := time.NewTicker(5 * time.Millisecond); ; {
			peak = max(peak, inUse())
			select {
			case <-done:
				tick.Stop()
				return
			case <-tick.C:
			}
		}
	}()
	run()
	close(done)
	<-stopped
	return max(peak, before) - before
}

func TestListReadsTitlesFromTheEnd(t *testing.T) {
	st := store(t)
	s := begin(t, st, user("first  \n prompt "+strings.Repeat("é", 9000)))
	ok(t, s.Label("", "the title"))
	for i := range 40 { // far more than a listing reads
		ok(t, s.Append(user(strings.Repeat("x", 3000)), reply(fmt.Sprint(i))))
	}
	ok(t, s.Append(user(strings.Repeat("x", 100_000))))
	ok(t, s.Close())
	written(t, st, chat.Message{Role: chat.System}, user("short"))
	infos := must[[]session.Info](t)(st.List(session.Filter{}))
	if len(infos) != 2 || infos[0].Prompt != "short" || infos[0].Title != "" {
		t.Fatalf("%+v", infos)
	}
	if i := infos[1]; i.Title != "the title" || !strings.HasPrefix(i.Prompt, "first prompt éé") || len([]rune(i.Prompt)) != 200 ||
		i.Cwd != "/w/a" || !i.Updated.After(i.Started) || i.Started.Year() != 2026 {
		t.Errorf("%+v", i)
	}
}

func TestListFilters(t *testing.T) {
	st := store(t)
	var ids []string
	for _, cwd := range []string{"/w", "/w/a", "/w/a/b", "/w/ab"} {
		s := must[*session.Session](t)(st.Create(session.Meta{Cwd: cwd}))
		ok(t, s.Append(user(cwd)))
		ok(t, s.Close())
		ids = append(ids, s.ID())
	}
	for _, c := range []struct {
		filter session.Filter
		want   string
	}{
		{session.Filter{}, "/w/ab /w/a/b /w/a /w"},
		{session.Filter{Workspace: "/w/a"}, "/w/a/b /w/a"},
		{session.Filter{Cwd: "/w/a/"}, "/w/a"},
		{session.Filter{Limit: 2}, "/w/ab /w/a/b"},
	} {
		var got []string
		for _, i := range must[[]session.Info](t)(st.List(c.filter)) {
			got = append(got, i.Prompt)
		}
		if strings.Join(got, " ") != c.want {
			t.Errorf("%+v: %q, want %q", c.filter, got, c.want)
		}
	}
	s := must[*session.Session](t)(st.Open(ids[0]))
	ok(t, s.Append(user("later")))
	ok(t, s.Close())
	if last := must[string](t)(st.Last("")); last != ids[0] {
		t.Errorf("last is %s, want the one written last", last)
	}
	if last := must[string](t)(st.Last("/w/a")); last != ids[1] {
		t.Errorf("last of /w/a is %s", last)
	}
	if _, err := st.Last("/nowhere"); err == nil || !strings.Contains(err.Error(), "/nowhere") {
		t.Errorf("error %v", err)
	}
}

// What a session is listed as is what the person wrote first, without the files they sent
// along.
func TestListedWithoutFiles(t *testing.T) {
	st := store(t)
	s := must[*session.Session](t)(st.Create(session.Meta{Cwd: "/w"}))
	m := user("look")
	m.Blocks = append(m.Blocks, chat.Block{Kind: chat.Text, Text: "a.txt:\n1\thello"})
	ok(t, s.Append(m))
	ok(t, s.Close())
	if got := must[[]session.Info](t)(st.List(session.Filter{}))[0].Prompt; got != "look" {
		t.Errorf("listed as %q", got)
	}
}
