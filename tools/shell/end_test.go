package shell

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

// Bug report C-01: a child that lives on keeps Run from returning neither by
// holding the pipe nor by being alive, and is gone when the engine closes.
func TestBackground(t *testing.T) {
	for _, c := range []struct{ name, line string }{
		{"holds the pipe", "sleep 300 & echo $!; echo done"},
		{"prints on", "while :; do echo tick; sleep 0.1; done & echo $!; echo done"},
		{"all streams elsewhere", "sleep 300 </dev/null >/dev/null 2>&1 & echo $!; echo done"},
		{"group of its own", "set -m; sleep 300 >/dev/null 2>&1 & echo $!; echo done"},
		{"session of its own", "setsid sleep 300 & echo $!; echo done"},
	} {
		t.Run(c.name, func(t *testing.T) {
			e := newEngine(t, nil)
			o := run(t, e, Command{Line: c.line, Origin: "bash"})
			if !o.Background || o.Status != 0 || !strings.Contains(o.Stdout.String(), "done\n") {
				t.Fatalf("outcome %+v", o)
			}
			child := pids(t, o.Stdout.Head)[0]
			if rows := e.List(); len(rows) != 1 || rows[0].Status != "background" || !rows[0].Running {
				t.Errorf("rows %+v", rows)
			}
			if !lives(child) {
				t.Fatal("the child was not left alone")
			}
			if err := e.Close(t.Context()); err != nil {
				t.Fatal(err)
			}
			mustEnd(t, child)
			if rows := e.List(); len(rows) != 1 || rows[0].Status != "stopped" {
				t.Errorf("rows %+v", rows)
			}
		})
	}
}

// A server keeps printing into the pipe after the command ended and must not
// be killed by that; its end is noticed.
func TestBackgroundEndsByItself(t *testing.T) {
	ended := make(chan Row, 1)
	e := newEngine(t, func(o *Options) { o.Ended = func(r Row) { ended <- r } })
	mark := filepath.Join(e.opt.Dir, "mark")
	o := run(t, e, Command{Line: "(until test -e go; do sleep 0.02; done; head -c 300000 /dev/zero && echo fine >mark) & exit 4"})
	if !o.Background || o.Status != 4 || o.Output.Bytes != 0 {
		t.Fatalf("outcome %+v", o)
	}
	if err := os.WriteFile(filepath.Join(e.opt.Dir, "go"), nil, 0o644); err != nil {
		t.Fatal(err)
	}
	if r := <-ended; r.Status != "exited(4)" || r.Running {
		t.Errorf("row %+v", r)
	}
	if got := read(t, mark); got != "fine\n" {
		t.Errorf("mark %q", got)
	}
}

func TestShortChildIsNoBackground(t *testing.T) {
	e := newEngine(t, nil)
	for try := 1; ; try++ {
		o := run(t, e, Command{Line: "(sleep 0.05; echo late) & echo early"})
		if o.Background && try < 20 {
			continue // on a busy machine it may take longer than Linger
		}
		if o.Background || o.Stdout.String() != "early\nlate\n" {
			t.Errorf("outcome %+v", o)
		}
		return
	}
}

// Bug report C-02: a limit, a cancel, a stop and a close each end the whole
// tree, whatever it does about TERM.
func TestWholeTreeEnds(t *testing.T) {
	lines := []struct{ name, line, signal string }{
		{"tree", `sh -c 'sleep 600 & echo so far; echo $$ $! >pids; wait; exit 0'`, ""},
		{"deaf to TERM", `trap '' TERM; sh -c "trap '' TERM; sleep 600 & echo $$ \$! >pids; wait"; sleep 600`, ""},
		{"own groups", `set -m; sleep 600 & sh -c 'setsid sleep 600 & echo $$ $! >pids; wait'`, ""},
		{"forks on", `echo $$ >pids; trap '' TERM; while :; do sleep 0.01 & wait; done`, ""},
	}
	ends := []struct {
		name string
		how  func(*testing.T, *Engine, context.CancelFunc)
		is   func(Outcome) bool
		row  string
	}{
		{"limit", nil, func(o Outcome) bool { return o.TimedOut }, "timed out"},
		{"cancel", func(_ *testing.T, _ *Engine, cancel context.CancelFunc) { cancel() }, func(o Outcome) bool { return o.Cancelled }, "cancelled"},
		{"stop", func(t *testing.T, e *Engine, _ context.CancelFunc) {
			if err := e.Stop(1); err != nil {
				t.Error(err)
			}
		}, func(o Outcome) bool { return o.Stopped }, "stopped"},
		{"close", func(t *testing.T, e *Engine, _ context.CancelFunc) {
			if err := e.Close(context.Background()); err != nil {
				t.Error(err)
			}
		}, func(o Outcome) bool { return o.Stopped }, "stopped"},
	}
	for _, l := range lines {
		for _, end := range ends {
			t.Run(l.name+"/"+end.name, func(t *testing.T) {
				t.Parallel()
				ctx, cancel := context.WithCancel(t.Context())
				defer cancel()
				var e *Engine
				var done <-chan Outcome
				if end.how == nil {
					e, done = limited(t, l.line, "pids")
				} else {
					e = newEngine(t, nil)
					done = started(t, e, ctx, Command{Line: l.line}, filepath.Join(e.opt.Dir, "pids"))
				}
				left := pids(t, read(t, filepath.Join(e.opt.Dir, "pids")))
				if end.how != nil {
					end.how(t, e, cancel)
				}
				o := <-done
				if !end.is(o) || o.Background {
					t.Errorf("outcome %+v", o)
				}
				if l.name == "tree" && o.Stdout.String() != "so far\n" {
					t.Errorf("stdout %q", o.Stdout)
				}
				for _, pid := range left {
					if lives(pid) {
						t.Errorf("process %d is left after the return", pid)
					}
				}
				until(t, "the row says how it ended", func() bool {
					rows := e.List()
					return len(rows) == 1 && rows[0].Status == end.row && !rows[0].Running
				})
			})
		}
	}
}

// limited runs a line with a limit and returns once it wrote a file. A busy machine may
// not get that far within a second: then the limit is a longer one.
func limited(t *testing.T, line, file string) (*Engine, <-chan Outcome) {
	t.Helper()
	for limit := time.Second; limit < time.Minute; limit *= 2 {
		e := newEngine(t, nil)
		done := make(chan Outcome, 1)
		go func() {
			o, err := e.Run(t.Context(), Command{Line: line, Timeout: limit})
			if err != nil {
				t.Errorf("run %s: %v", line, err)
			}
			done <- o
		}()
		for len(done) == 0 {
			if b, err := os.ReadFile(filepath.Join(e.opt.Dir, file)); err == nil && strings.HasSuffix(string(b), "\n") {
				return e, done
			}
			time.Sleep(5 * time.Millisecond)
		}
	}
	t.Fatalf("%s never writes %s", line, file)
	return nil, nil
}

func TestStopOrigin(t *testing.T) {
	e := newEngine(t, nil)
	mine := run(t, e, Command{Line: "sleep 300 & echo $!", Origin: "plugin a"})
	other := run(t, e, Command{Line: "sleep 300 & echo $!", Origin: "plugin b"})
	if n := e.StopOrigin(t.Context(), "plugin a"); n != 1 {
		t.Errorf("%d stopped", n)
	}
	if pid := pids(t, mine.Stdout.Head)[0]; lives(pid) {
		t.Errorf("process %d of the origin is left", pid)
	}
	if pid := pids(t, other.Stdout.Head)[0]; !lives(pid) {
		t.Errorf("process %d of another origin was stopped", pid)
	}
	if n := e.StopOrigin(t.Context(), "plugin a"); n != 0 {
		t.Errorf("%d stopped the second time", n)
	}
}

func TestStopUnknown(t *testing.T) {
	e := newEngine(t, nil)
	run(t, e, Command{Line: "true"})
	for id, want := range map[int]string{1: "already ended", 2: "no process 2", 0: "no process 0"} {
		if err := e.Stop(id); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("stop %d: %v", id, err)
		}
	}
}

func TestListKeepsTheLastFour(t *testing.T) {
	e := newEngine(t, nil)
	live := run(t, e, Command{Line: "sleep 300 &", Origin: "tui"})
	for i := range 6 {
		run(t, e, Command{Line: fmt.Sprintf("exit %d", i), Origin: "bash"})
	}
	var got []string
	for _, r := range e.List() {
		got = append(got, fmt.Sprintf("%d %s %s %s", r.ID, r.Origin, r.Command, r.Status))
	}
	want := []string{
		fmt.Sprintf("%d tui sleep 300 & background", live.ID),
		"4 bash exit 2 exited(2)", "5 bash exit 3 exited(3)", "6 bash exit 4 exited(4)", "7 bash exit 5 exited(5)",
	}
	if strings.Join(got, "\n") != strings.Join(want, "\n") {
		t.Errorf("rows\n%s", strings.Join(got, "\n"))
	}
}

func TestCloseWithoutPatience(t *testing.T) {
	e := newEngine(t, nil)
	o := run(t, e, Command{Line: `sh -c "trap '' TERM; echo \$\$ >pid; while :; do sleep 1; done" & until test -s pid; do sleep 0.02; done; cat pid`})
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := e.Close(ctx); err != nil {
		t.Fatal(err)
	}
	mustEnd(t, pids(t, o.Stdout.Head)...)
	if _, err := e.Run(t.Context(), Command{Line: "true"}); !errors.Is(err, ErrClosed) {
		t.Errorf("run after close: %v", err)
	}
	if err := e.Close(t.Context()); err != nil {
		t.Errorf("second close: %v", err)
	}
}

// Close takes as long as the ending does, and gives up hardEnd after everything was
// done.
func TestCloseOnASlowMachine(t *testing.T) {
	for _, c := range []struct {
		name       string
		tried, all time.Duration // 0: never
		want       bool
		took       time.Duration
	}{
		{"slow", time.Minute, time.Minute + time.Second, true, time.Minute + time.Second},
		{"hangs in the kernel", 3 * time.Second, 0, false, 3*time.Second + hardEnd},
		{"ends in time", 0, time.Second, true, time.Second},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				p := &process{tried: make(chan struct{})}
				e := &Engine{live: map[int]*process{1: p}, hurry: make(chan struct{})}
				all := make(chan struct{})
				after := func(d time.Duration, done chan struct{}) {
					if d > 0 {
						time.AfterFunc(d, func() { close(done) })
					}
				}
				after(c.tried, p.tried)
				after(c.all, all)
				ctx, cancel := context.WithTimeout(t.Context(), time.Second/2)
				defer cancel()
				began := time.Now()
				if ended := e.ends(ctx, all); ended != c.want || time.Since(began) > c.took+hardEnd/10 || time.Since(began) < c.took-hardEnd/10 {
					t.Errorf("ended %v after %v", ended, time.Since(began))
				}
				select {
				case <-e.hurry:
				default:
					t.Error("nobody hurries")
				}
			})
		})
	}
}

// Many commands start, end, are stopped and listed while the engine closes:
// nothing is left, and nothing deadlocks or races.
func TestCloseWhileStarting(t *testing.T) {
	e := newEngine(t, nil)
	done := make(chan struct{})
	for i := range 8 {
		go func() {
			defer func() { done <- struct{}{} }()
			for {
				_, err := e.Run(context.Background(), Command{Line: "sleep 300 & exit 0", Origin: fmt.Sprint(i % 2)})
				if errors.Is(err, ErrClosed) {
					return
				}
				e.List()
				e.StopOrigin(context.Background(), fmt.Sprint(i%2))
			}
		}()
	}
	until(t, "some have run", func() bool { return len(e.List()) > 6 })
	if err := e.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
	for range 8 {
		<-done
	}
	for _, r := range e.List() {
		if r.Running {
			t.Errorf("row %+v", r)
		}
	}
}

// Bug report C-04: what wants a terminal gets none, ends, and is recognised.
func TestNeedsTerminal(t *testing.T) {
	for _, c := range []struct {
		name, line string
		want       bool
	}{
		{"opens it", "read x </dev/tty", true},
		{"opens it, all in one stream", "(read x </dev/tty) 2>&1", true},
		{"other words, all in one stream", "(echo wrong; exit 1) 2>&1", false},
		{"turns echo off", "stty -echo; read x", true},
		{"editor", "git init -q . && git config user.email a@b && git config user.name a && git config core.editor cat && echo x >f && git add f && git commit", true},
		{"fails otherwise", "echo wrong >&2; exit 1", false},
		{"prints such a sentence", "echo not a tty; exit 1", false},
		{"succeeds nevertheless", "stty -echo; true", false},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			if strings.Contains(c.line, "git ") {
				if _, err := exec.LookPath("git"); err != nil {
					t.Fatal("this test needs git: ", err)
				}
			}
			e := newEngine(t, func(o *Options) { o.Env = append(o.Env, "EDITOR=cat", "VISUAL=cat") })
			for _, merge := range []bool{false, c.want} {
				o := run(t, e, Command{Line: c.line, Timeout: patience, Merge: merge})
				if o.TimedOut || o.NeedsTerminal != c.want {
					t.Errorf("needs a terminal: %v, outcome %+v", o.NeedsTerminal, o)
				}
			}
		})
	}
}

// Bug report C-05: a folder that went away is said by name, before anything
// starts; the next command elsewhere works.
func TestFolderDisappears(t *testing.T) {
	e := newEngine(t, nil)
	run(t, e, Command{Line: "mkdir s"})
	dir := filepath.Join(e.opt.Dir, "s")
	run(t, e, Command{Line: "rm -rf ../s", Dir: dir})
	if _, err := e.Run(t.Context(), Command{Line: "pwd", Dir: dir}); err == nil || !strings.Contains(err.Error(), dir) {
		t.Errorf("error %v", err)
	}
	if o := run(t, e, Command{Line: "pwd"}); o.Stdout.String() != e.opt.Dir+"\n" {
		t.Errorf("stdout %q", o.Stdout)
	}
}
