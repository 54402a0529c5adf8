package shell

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

func TestRun(t *testing.T) {
	e := newEngine(t, nil)
	for _, c := range []struct {
		name        string
		cmd         Command
		status      int
		out, errors string
	}{
		{"line", Command{Line: "echo a; echo b >&2; exit 3"}, 3, "a\n", "b\n"},
		{"list", Command{Argv: []string{"printf", "%s.", "a b", "$HOME", "'"}}, 0, "a b.$HOME.'.", ""},
		{"a line that starts with a dash", Command{Line: "-x 2>/dev/null || echo no"}, 0, "no\n", ""},
		{"input", Command{Line: "cat; read x || echo end", Stdin: "one\ntwo"}, 0, "one\ntwoend\n", ""},
		{"no input", Command{Line: "read x || echo end"}, 0, "end\n", ""},
		{"input nobody reads", Command{Line: "true", Stdin: strings.Repeat("x", 1<<20)}, 0, "", ""},
		{"environment", Command{Line: "echo $A $TERM", Env: map[string]string{"A": "1"}}, 0, "1 dumb\n", ""},
		{"terminal of one's own", Command{Line: "echo $TERM", Env: map[string]string{"TERM": "vt100"}}, 0, "vt100\n", ""},
		{"bytes that are no text", Command{Line: `printf '\xff\xfe\n\x00\x80'`}, 0, "\xff\xfe\n\x00\x80", ""},
		{"session of its own", Command{Line: `ps -o pid=,pgid=,sid= -p $$ | awk '{ print ($1==$2 && $2==$3) }'`}, 0, "1\n", ""},
		{"unknown program", Command{Line: "no-such-program 2>/dev/null"}, 127, "", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			o := run(t, e, c.cmd)
			if o.Status != c.status || o.Stdout.String() != c.out || o.Stderr.String() != c.errors {
				t.Errorf("status %d, stdout %q, stderr %q", o.Status, o.Stdout, o.Stderr)
			}
			if o.Truncated || o.TimedOut || o.Stopped || o.Cancelled || o.Background || o.Signal != "" {
				t.Errorf("outcome %+v", o)
			}
		})
	}
}

func TestOutputInOrder(t *testing.T) {
	e := newEngine(t, nil)
	var seen strings.Builder
	o := run(t, e, Command{
		Line:     "for i in 1 2 3; do echo out$i; sleep 0.1; echo err$i >&2; sleep 0.1; done",
		OnOutput: func(b []byte) { seen.Write(b) },
	})
	if o.Output.String() != seen.String() || o.Output.Bytes != 30 || o.Output.Lines != 6 {
		t.Errorf("output %+v, heard %q", o.Output, seen.String())
	}
	if o.Stdout.String() != "out1\nout2\nout3\n" || o.Stderr.String() != "err1\nerr2\nerr3\n" {
		t.Errorf("stdout %q, stderr %q", o.Stdout, o.Stderr)
	}
}

// With one pipe for both streams their order is that of the command.
func TestMerge(t *testing.T) {
	e := newEngine(t, nil)
	o := run(t, e, Command{Line: "for i in $(seq 100); do echo out; echo err >&2; done", Merge: true})
	if want := strings.Repeat("out\nerr\n", 100); o.Output.String() != want || o.Stdout.String() != want || o.Stderr.Bytes != 0 {
		t.Errorf("%q", o.Output)
	}
	if o := run(t, e, Command{Line: "sleep 300 & echo $!", Merge: true}); !o.Background || len(o.Left) != 1 {
		t.Errorf("%+v", o)
	}
	if _, err := e.Run(t.Context(), Command{Argv: []string{"no-such-program"}, Merge: true}); err == nil {
		t.Error("a program ran that there is not")
	}
}

func TestSignalled(t *testing.T) {
	e := newEngine(t, nil)
	o := run(t, e, Command{Line: "echo a; kill -SEGV $$"})
	if o.Status != -1 || o.Signal != "SIGSEGV" || o.Stdout.String() != "a\n" {
		t.Errorf("outcome %+v", o)
	}
	if rows := e.List(); len(rows) != 1 || rows[0].Status != "signalled" || rows[0].Running {
		t.Errorf("rows %+v", rows)
	}
}

func TestRefused(t *testing.T) {
	ws := t.TempDir()
	program(t, filepath.Join(ws, "bin", "only-here"), "#!/bin/sh\necho bad\n")
	outside := t.TempDir()
	if err := os.Symlink(filepath.Join(ws, "bin", "only-here"), filepath.Join(outside, "linked")); err != nil {
		t.Fatal(err)
	}
	alias := filepath.Join(t.TempDir(), "alias")
	if err := os.Symlink(ws, alias); err != nil {
		t.Fatal(err)
	}
	e := newEngine(t, func(o *Options) {
		o.Dir, o.Outside = ws, ws
		o.Env = []string{"PATH=" + strings.Join([]string{"bin", filepath.Join(ws, "bin"), filepath.Join(alias, "bin"), outside, "/usr/bin", "/bin"}, ":")}
	})
	for _, c := range []struct {
		name string
		cmd  Command
		want string
		is   error
	}{
		{"slash", Command{Argv: []string{"./bin/only-here"}}, "found outside the workspace", nil},
		{"absolute", Command{Argv: []string{"/bin/true"}}, "found outside the workspace", nil},
		{"inside", Command{Argv: []string{"only-here"}}, "found outside the workspace", fs.ErrPermission},
		{"link to the inside", Command{Argv: []string{"linked"}}, "found outside the workspace", fs.ErrPermission},
		{"unknown", Command{Argv: []string{"no-such-program"}}, "in no folder of PATH", fs.ErrNotExist},
		{"nothing", Command{Line: " \n"}, "empty", nil},
		{"empty name", Command{Argv: []string{""}}, "empty", nil},
		{"both", Command{Line: "true", Argv: []string{"true"}}, "not both", nil},
		{"NUL", Command{Line: "echo \x00"}, "NUL", nil},
		{"no folder", Command{Line: "true", Dir: filepath.Join(ws, "gone")}, "working folder", fs.ErrNotExist},
		{"a file as folder", Command{Line: "true", Dir: filepath.Join(ws, "bin", "only-here")}, "is a file", nil},
		{"too long", Command{Line: "true " + strings.Repeat("x", 8<<20)}, "too long", syscall.E2BIG},
	} {
		t.Run(c.name, func(t *testing.T) {
			o, err := e.Run(t.Context(), c.cmd)
			if err == nil || !strings.Contains(err.Error(), c.want) || c.is != nil && !errors.Is(err, c.is) {
				t.Errorf("error %v", err)
			}
			if o.ID != 0 || o.Status != -1 {
				t.Errorf("outcome %+v", o)
			}
		})
	}
	if rows := e.List(); len(rows) != 0 {
		t.Errorf("rows %+v of what never ran", rows)
	}
}

// A program of the same name further on in PATH is taken instead of the one in
// the workspace.
func TestProgramInsideIsPassedOver(t *testing.T) {
	ws, good := t.TempDir(), t.TempDir()
	program(t, filepath.Join(ws, "prog"), "#!/bin/sh\necho bad\n")
	program(t, filepath.Join(good, "prog"), "#!/bin/sh\necho good\n")
	e := newEngine(t, func(o *Options) {
		o.Dir, o.Outside, o.Env = ws, ws, []string{"PATH=" + ws + ":" + good + ":/usr/bin:/bin"}
	})
	if o := run(t, e, Command{Argv: []string{"prog"}}); o.Stdout.String() != "good\n" {
		t.Errorf("stdout %q", o.Stdout)
	}
}

func TestShWithoutBash(t *testing.T) {
	e := New(Options{Env: []string{"PATH=/nowhere"}})
	path, args, err := e.shellFor("echo")
	if err != nil || !filepath.IsAbs(path) || args[len(args)-1] != "echo" {
		t.Errorf("%s %q: %v", path, args, err)
	}
	dir := t.TempDir()
	program(t, filepath.Join(dir, "sh"), "#!/bin/sh\necho \"$@\"\n")
	e = newEngine(t, func(o *Options) { o.Env = []string{"PATH=" + dir} })
	if path, _ := e.lookup("sh"); path != filepath.Join(dir, "sh") {
		t.Errorf("sh of PATH is %q", path)
	}
}

// Bug report B-05: variables the caller filters out reach no command, unless
// the command names them itself.
func TestEnvironmentIsFiltered(t *testing.T) {
	e := newEngine(t, func(o *Options) {
		o.Env = append(o.Env, "FAKE_KEY=canary", "OTHER=1", "BROKEN")
		o.Keep = func(name string) bool { return name != "FAKE_KEY" }
	})
	if o := run(t, e, Command{Line: "env"}); strings.Contains(o.Output.String(), "canary") || !strings.Contains(o.Output.String(), "OTHER=1\n") {
		t.Errorf("environment %s", o.Output)
	}
	if o := run(t, e, Command{Line: "echo $FAKE_KEY", Env: map[string]string{"FAKE_KEY": "mine"}}); o.Stdout.String() != "mine\n" {
		t.Errorf("stdout %q", o.Stdout)
	}
}

func TestWrap(t *testing.T) {
	e := newEngine(t, func(o *Options) {
		o.Wrap = func(argv []string) []string {
			return append([]string{"/usr/bin/env", "WRAPPED=yes"}, argv...)
		}
	})
	if o := run(t, e, Command{Line: "echo $WRAPPED"}); o.Stdout.String() != "yes\n" {
		t.Errorf("stdout %q", o.Stdout)
	}
	e = newEngine(t, func(o *Options) { o.Wrap = func([]string) []string { return nil } })
	if _, err := e.Run(t.Context(), Command{Line: "true"}); err == nil {
		t.Error("a command ran without its launcher")
	}
}

func TestListenerPanics(t *testing.T) {
	e := newEngine(t, nil)
	calls := 0
	o, err := e.Run(t.Context(), Command{Line: "echo a; sleep 0.1; echo b", OnOutput: func([]byte) { calls++; panic("boom") }})
	if err == nil || !strings.Contains(err.Error(), "boom") || calls != 1 || o.Status != 0 || o.Stdout.String() != "a\nb\n" {
		t.Errorf("%d calls, %v, %+v", calls, err, o)
	}
}

func TestCancelledBeforeStart(t *testing.T) {
	e := newEngine(t, nil)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	o, err := e.Run(ctx, Command{Line: "touch never"})
	if !errors.Is(err, context.Canceled) || !o.Cancelled || len(e.List()) != 0 {
		t.Errorf("%v %+v", err, o)
	}
}

func TestElapsedIsOfTheClock(t *testing.T) {
	now := time.Unix(0, 0)
	e := newEngine(t, func(o *Options) {
		o.Now = func() time.Time { return now }
	})
	o := run(t, e, Command{Line: "true", OnOutput: nil})
	if o.Elapsed != 0 {
		t.Errorf("elapsed %v on a standing clock", o.Elapsed)
	}
}

func TestCommandString(t *testing.T) {
	c := Command{Argv: []string{"git", "log", "--format=%h %s", "", "it's"}}
	if got, want := c.String(), `git log '--format=%h %s' '' 'it'\''s'`; got != want {
		t.Errorf("%s, want %s", got, want)
	}
}
