package shell

import (
	"bufio"
	"context"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"strings"
	"syscall"
	"testing"
)

// hostMode makes a process of this test program a host: an engine with a command
// that runs, one in the background and a daemon, whose numbers it prints. It closes
// the engine on SIGTERM, as every program with an engine does.
const hostMode = "STARLING_TEST_HOST"

// instead is what the program does instead of its tests; nil for nothing.
func instead() func() int {
	if os.Getenv(hostMode) == "" {
		return nil
	}
	return host
}

func host() int {
	term := make(chan os.Signal, 1)
	signal.Notify(term, syscall.SIGTERM)
	dir, err := os.MkdirTemp("", "host")
	if err != nil {
		return 1
	}
	defer os.RemoveAll(dir)
	e := New(Options{Dir: dir, Env: []string{"PATH=" + os.Getenv("PATH")}, Watchdog: os.Getenv(hostMode) == "watchdog"})
	show := func(b []byte) { _, _ = os.Stdout.Write(b) }
	lines := []string{
		"sleep 600 & echo $!",
		"(setsid sh -c 'echo $$ >pid; exec sleep 600' </dev/null >/dev/null 2>&1 &); while [ ! -s pid ]; do sleep 0.01; done; cat pid",
		"(env -i setsid sh -c 'echo $$ >free; exec sleep 600' </dev/null >/dev/null 2>&1 &); while [ ! -s free ]; do sleep 0.01; done; cat free",
		"echo $$; sh -c 'trap : TERM; echo $$; while :; do sleep 600; done'",
	}
	for _, line := range lines[:3] {
		if _, err := e.Run(context.Background(), Command{Line: line, OnOutput: show}); err != nil {
			fmt.Println(err)
			return 1
		}
	}
	if e.watchdog != nil {
		fmt.Println(e.watchdog.cmd.Process.Pid)
	}
	go func() { _, _ = e.Run(context.Background(), Command{Line: lines[3], OnOutput: show}) }()
	<-term
	if err := e.Close(context.Background()); err != nil {
		fmt.Println(err)
		return 1
	}
	return 0
}

// Bug report C-02: whatever ends the host, nothing it started is left. A host that
// is killed outright needs its watchdog for that.
func TestHostEnds(t *testing.T) {
	for _, c := range []struct {
		mode   string
		signal syscall.Signal
	}{{"plain", syscall.SIGTERM}, {"watchdog", syscall.SIGTERM}, {"watchdog", syscall.SIGKILL}} {
		t.Run(c.mode+" "+c.signal.String(), func(t *testing.T) {
			t.Parallel()
			cmd := exec.CommandContext(t.Context(), os.Args[0])
			cmd.Env = append(os.Environ(), hostMode+"="+c.mode)
			out, err := cmd.StdoutPipe()
			if err != nil {
				t.Fatal(err)
			}
			if err := cmd.Start(); err != nil {
				t.Fatal(err)
			}
			want := 5
			if c.mode == "watchdog" {
				want++ // it goes too
			}
			var text strings.Builder
			for in := bufio.NewScanner(out); strings.Count(text.String(), "\n") < want && in.Scan(); {
				text.WriteString(in.Text() + "\n")
			}
			started := pids(t, text.String())
			if len(started) != want {
				t.Fatalf("started %v: %s", started, &text)
			}
			for _, pid := range started {
				if !lives(pid) {
					t.Errorf("process %d ended too early", pid)
				}
			}
			if err := cmd.Process.Signal(c.signal); err != nil {
				t.Fatal(err)
			}
			err = cmd.Wait()
			if (err == nil) != (c.signal == syscall.SIGTERM) {
				t.Errorf("the host: %v", err)
			}
			mustEnd(t, started...)
		})
	}
}

// An engine that closes leaves no watchdog, and one that ran nothing starts none.
func TestWatchdogGoes(t *testing.T) {
	e := newEngine(t, func(o *Options) { o.Watchdog = true })
	if e.watchdog != nil {
		t.Error("a watchdog before the first command")
	}
	run(t, e, Command{Line: "true"})
	first := e.watchdog
	run(t, e, Command{Line: "sleep 300 &"})
	if first == nil || e.watchdog != first || !lives(first.cmd.Process.Pid) {
		t.Errorf("watchdog %+v, then %+v", first, e.watchdog)
	}
	if err := e.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
	if lives(first.cmd.Process.Pid) {
		t.Error("it stayed")
	}
}

// It kills by the mark alone: a process of another engine is not touched.
func TestWatchdogSparesOthers(t *testing.T) {
	other := newEngine(t, nil)
	o := run(t, other, Command{Line: "sleep 300 & echo $!"})
	e := newEngine(t, func(o *Options) { o.Watchdog = true })
	mine := run(t, e, Command{Line: "sleep 300 & echo $!"})
	_ = e.watchdog.word.Close() // as if this process were gone
	mustEnd(t, pids(t, mine.Stdout.Head)...)
	_ = e.watchdog.cmd.Wait()
	if pid := pids(t, o.Stdout.Head)[0]; !lives(pid) {
		t.Errorf("process %d of another engine was killed", pid)
	}
}
