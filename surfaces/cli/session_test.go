package cli_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// G-01: half a line at the end of a session is set aside, a whole one that lacks
// only its line break is kept; one notice says so, and nothing is lost.
func TestG01HalfALine(t *testing.T) {
	whole := `{"kind":"message","id":"3","parent":"2","ts":"2026-03-01T12:00:09Z","role":"user","blocks":[{"kind":"text","text":"täil"}]}`
	for name, c := range map[string]struct {
		tail string
		kept bool
	}{
		"a: cut in JSON":          {whole[:60], false},
		"b: cut in a character":   {whole[:strings.Index(whole, "ä")+1], false},
		"c: only the break lacks": {whole, true},
	} {
		t.Run(name, func(t *testing.T) {
			l := newLab(t, func(w *reply, n int, _ string) { w.send(says(fmt.Sprint("answer ", n))) })
			if e := l.run("--quiet", "go"); e.code != 0 {
				t.Fatal(e)
			}
			path := l.sessionFile()
			name := strings.TrimPrefix(path, l.root+"/")
			before := l.read(name)
			l.write(name, before+c.tail)
			e := l.run("--quiet", "--resume", "last", "more")
			said := "the last line was cut off"
			if c.kept {
				said = "its last run ended before the model answered"
			}
			if e.code != 0 || strings.Count(e.stderr, said) != 1 || strings.Count(e.stderr, "\n") != 1 {
				t.Error(e)
			}
			want := []string{"go", "answer 0", "more", "answer 1"}
			if c.kept {
				want = []string{"go", "answer 0", "täil", "more", "answer 1"}
			}
			if got := strings.Join(l.blocks("text"), "|"); got != strings.Join(want, "|") || !strings.HasPrefix(l.read(name), before) {
				t.Errorf("session %s", got)
			}
			if aside := l.read(name + ".torn-1"); (aside == c.tail) == c.kept {
				t.Errorf("set aside %q", aside)
			}
			if e := l.run("--quiet", "--resume", "last", "again"); e.code != 0 || e.stderr != "" {
				t.Errorf("after the repair: %v", e)
			}
		})
	}
}

// G-03: while one process has a session another one is refused and says who has
// it; a killed owner's lock is free at once.
func TestG03TwoProcesses(t *testing.T) {
	l := newLab(t, func(w *reply, n int, _ string) {
		if n == 1 {
			w.send(events(content("half")))
			w.hang()
			return
		}
		w.send(says("fine"))
	})
	if e := l.run("--quiet", "go"); e.code != 0 {
		t.Fatal(e)
	}
	path := l.sessionFile()
	id := strings.TrimSuffix(filepath.Base(path), ".jsonl")
	first := l.start("--quiet", "--resume", id, "hang")
	l.eventually("the second request", func() bool { return len(l.sent()) == 2 })
	lines, _ := finished(t, path)

	for _, args := range [][]string{{"--resume", id, "mine"}, {"--continue", "mine"}} {
		e := l.run(append([]string{"--quiet"}, args...)...)
		if e.code != 2 || !strings.Contains(e.stderr, fmt.Sprintf("process %d ", first.cmd.Process.Pid)) || e.stdout != "" {
			t.Errorf("%v: %v", args, e)
		}
	}
	if now, rest := finished(t, path); len(now) != len(lines) || rest != "" || len(l.sent()) != 2 {
		t.Errorf("the refused ones wrote: %q", now[len(lines):])
	}
	first.signal(os.Kill)
	first.wait()
	// The owner's id may be anybody's by now, as after a restart of the machine.
	l.write(strings.TrimPrefix(path, l.root+"/")+".owner", fmt.Sprintf("process %d since ever", os.Getpid()))
	if e := l.run("--quiet", "--resume", id, "mine"); e.code != 0 || e.stdout != "fine\n" {
		t.Error(e)
	}
}

// G-04: a session file that cannot be read is named, and hides no other; a large
// one is listed and gone on with.
func TestG04ListingAndLargeSessions(t *testing.T) {
	l := newLab(t, func(w *reply, _ int, _ string) { w.send(says("fine")) })
	if e := l.run("--quiet", "small"); e.code != 0 {
		t.Fatal(e)
	}
	const id = "20990101-000000-000-00000001" // the newest
	var b strings.Builder
	fmt.Fprintf(&b, `{"kind":"session","version":1,"id":%q,"cwd":%q,"workspace":%q,"started":"2099-01-01T00:00:00Z"}`+"\n", id, l.ws, l.ws)
	text := strings.Repeat("x", 6000)
	for i := 1; i <= 3000; i++ {
		role := []string{"assistant", "user"}[i%2]
		if i == 2000 {
			text = strings.Repeat("y", 12<<20)
		}
		fmt.Fprintf(&b, `{"kind":"message","id":"%d","parent":"%s","ts":"2099-01-01T00:00:00Z","role":%q,"blocks":[{"kind":"text","text":"%s"}]}`+"\n",
			i, strings.TrimPrefix(fmt.Sprint(i-1), "0"), role, text)
		text = fmt.Sprint("message ", i)
	}
	l.write("home/sessions/"+id+".jsonl", b.String())
	l.write("home/sessions/bad.jsonl", `{"kind":"session","version":2,"id":"bad"}`+"\n")
	e := l.run("--sessions")
	if e.code != 0 || strings.Count(e.stdout, "\n") != 2 || !strings.Contains(e.stdout, id) || !strings.Contains(e.stderr, "bad.jsonl") {
		t.Error(e)
	}
	if e := l.run("--quiet", "--resume", "bad", "go"); e.code != 2 || !strings.Contains(e.stderr, "bad.jsonl") || !strings.Contains(e.stderr, "newer") {
		t.Error(e)
	}
	began := time.Now()
	if e := l.run("--quiet", "--resume", id, "go"); e.code != 0 || e.stdout != "fine\n" {
		t.Error(e)
	}
	t.Logf("resume of %d MB: %v", b.Len()>>20, time.Since(began))
	if lines, rest := finished(t, filepath.Join(l.home, "sessions", id+".jsonl")); len(lines) != 3003 || rest != "" {
		t.Errorf("%d lines, %q", len(lines), rest)
	}
}
