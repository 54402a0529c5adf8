package bash

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"starling/bus/spec"
	"starling/tools"
	"starling/tools/shell"
)

func TestTool(t *testing.T) {
	tool := newLab(t, nil).Tool()
	if tool.Name != "bash" || tool.Sequential || tool.ReadOnly || tool.Risk != spec.RiskChange || !tool.Builtin {
		t.Errorf("%+v", tool)
	}
	if err := tools.ValidateSchema(tool.Parameters); err != nil {
		t.Error(err)
	}
}

// What the schema refuses the tool refuses too: a rewritten call comes without one.
func TestArguments(t *testing.T) {
	l, check := newLab(t, nil), new(tools.Registry)
	for _, c := range []struct {
		arguments, want string
		schema          bool // refuses it as well
	}{
		{`{}`, "command is empty", true},
		{`{"command": ""}`, "command is empty", true},
		{`{"command": " \n"}`, "command is empty", false},
		{`{"command": "touch never", "timeout_s": 0}`, "timeout_s must be 1 to 3600, not 0", true},
		{`{"command": "touch never", "timeout_s": 3601}`, "timeout_s must be 1 to 3600, not 3601", true},
		{`{"command": "touch never", "timeout_s": 1.5}`, "arguments", true},
		{`{"command": "touch never", "timeout_s": "5"}`, "arguments", true},
		{`{"command": "touch never", "cwd": "/"}`, `unknown "cwd"`, true},
		{`{"Command": "touch never"}`, `unknown "Command"`, true},
		{`{"command": ["touch", "never"]}`, "arguments", true},
		{`null`, "command is empty", false},
		{``, "arguments", false},
	} {
		_, err := l.Tool().Execute(t.Context(), spec.ToolCall{Arguments: json.RawMessage(c.arguments), Progress: func(string) {}})
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %q", c.arguments, err, c.want)
		}
		if _, err := check.Check(l.Tool(), c.arguments); c.schema && err == nil {
			t.Errorf("%s fits the schema", c.arguments)
		}
		if paths, all := l.Tool().Paths(json.RawMessage(c.arguments)); all {
			t.Errorf("%s: sure to touch %q", c.arguments, paths)
		}
	}
	if len(l.engine.List()) > 0 {
		t.Error("something ran")
	}
}

// What the model reads: the output, and a line below it only when it says something.
func TestContent(t *testing.T) {
	l := newLab(t, nil)
	for _, c := range []struct {
		name, line, want string
		isError          bool
	}{
		{"success", "echo a; echo b >&2", "a\nb\n", false},
		{"no line break at the end", "printf a", "a", false},
		{"nothing", "true", "[exit status 0, no output]", false},
		{"failure", "echo a; exit 3", "a\n[exit status 3]", true},
		{"failure without a line break", "printf a; false", "a\n[exit status 1]", true},
		{"failure without output", "exit 3", "[exit status 3, no output]", true},
		{"unknown program", "no-such-program 2>/dev/null", "[exit status 127, no output]", true},
		{"a signal to the shell", "echo a; kill -KILL $$", "a\n[ended by SIGKILL]", true},
		{"no input", "read x || echo end", "end\n", false},
		{"here-document", "cat <<E\n$((1 + 1))\nE", "2\n", false},
		{"several lines", "x=1\nif true; then\n  echo $x\nfi", "1\n", false},
		{"colours and bars", `printf '\033[32mok\033[0m\n 10%%\r100%%\n'`, "ok\n100%\n", false},
		{"not UTF-8", `printf 'caf\xe9\n'`, "caf\\xE9\n[not UTF-8: bytes that are no text are shown as \\xNN]", false},
		{"binary", "head -c 3000 /dev/zero", "[binary output, 3000 bytes, not shown; send it to a file to keep it]", false},
	} {
		t.Run(c.name, func(t *testing.T) {
			if r := l.run(c.line); r.Content != c.want || r.ToolResult.IsError != c.isError {
				t.Errorf("%q, error %v; want %q", r.Content, r.IsError, c.want)
			}
		})
	}
}

func TestDetails(t *testing.T) {
	l := newLab(t, func(e *shell.Options, _ *Options) {
		now := time.Unix(0, 0)
		e.Now = func() time.Time { now = now.Add(6 * time.Second); return now }
	})
	r := l.run("echo a; printf b; exit 2")
	want := Details{Status: 2, ElapsedMS: r.ElapsedMS, Bytes: 3, Lines: 2, Cwd: l.dir, Process: 1}
	if fmt.Sprint(r.Details) != fmt.Sprint(want) || r.ElapsedMS < 6000 {
		t.Errorf("%+v, want %+v", r.Details, want)
	}
	if row := l.engine.List()[0]; row.Origin != "bash" || row.Command != "echo a; printf b; exit 2" || row.ID != r.Process {
		t.Errorf("row %+v", row)
	}
}

func TestTook(t *testing.T) {
	for elapsed, want := range map[time.Duration]string{9 * time.Second: "", 10 * time.Second: "took 10 s", 200 * time.Second: "took 200 s"} {
		if got := ending(request{}, shell.Outcome{Elapsed: elapsed}, shown{text: "x"}); got != want {
			t.Errorf("%v: %q", elapsed, got)
		}
	}
}

func TestOriginNamesTheSubAgent(t *testing.T) {
	l := newLab(t, nil)
	_, err := l.Tool().Execute(t.Context(), spec.ToolCall{Arguments: json.RawMessage(`{"command": "true"}`), Origin: "sub-1", Progress: func(string) {}})
	if rows := l.engine.List(); err != nil || len(rows) != 1 || rows[0].Origin != "bash sub-1" {
		t.Errorf("%+v %v", rows, err)
	}
}

// A long output keeps its start and end in whole lines, says how much is missing,
// and all of it is in the file that is named.
func TestLongOutput(t *testing.T) {
	l := newLab(t, nil)
	r := l.run("seq 100000; exit 1")
	head, rest, ok := strings.Cut(r.Content, "[… ")
	gap, tail, ok2 := strings.Cut(rest, " …]\n")
	if !ok || !ok2 || !strings.HasPrefix(head, "1\n2\n") || !strings.HasSuffix(head, "\n") || !strings.HasSuffix(tail, "\n100000\n[exit status 1]") {
		t.Fatalf("%.100q … %q", r.Content, tail[max(len(tail)-40, 0):])
	}
	var missing, lines, last int
	fmt.Sscan(tail, &last) // the first line of the end
	fmt.Sscan(head[strings.LastIndexByte(head[:len(head)-1], '\n')+1:], &lines)
	missing = last - lines - 1
	if want := fmt.Sprintf("of 588895 bytes, %d of 100000 lines, left out; the whole output is in %s", missing, r.Spill); !strings.HasSuffix(gap, want) {
		t.Errorf("%q, want %q", gap, want)
	}
	if !r.Truncated || r.Bytes != 588895 || r.Lines != 100000 || len(r.Content) > MaxHead+MaxTail+500 {
		t.Errorf("%+v, %d bytes shown", r.Details, len(r.Content))
	}
	whole, err := os.ReadFile(r.Spill)
	if err != nil || len(whole) != 588895 || !strings.HasSuffix(string(whole), "\n100000\n") {
		t.Errorf("%d bytes in the file: %v", len(whole), err)
	}
	if out := l.run("wc -c <" + r.Spill); out.Content != "588895\n" {
		t.Errorf("a later command reads %q", out.Content)
	}
}

// The bytes of an output that is no text are kept as they are.
func TestBinarySpill(t *testing.T) {
	l := newLab(t, nil)
	r := l.run(`i=0; while [ $i -lt 1000 ]; do printf '\xff\xfe\x00\x01%096d' $i; i=$((i+1)); done`)
	if whole, err := os.ReadFile(r.Spill); err != nil || len(whole) != 100_000 || !strings.HasPrefix(string(whole), "\xff\xfe\x00\x01000") {
		t.Errorf("%d bytes kept: %v", len(whole), err)
	}
	r = l.run("head -c 100000 /dev/zero")
	if want := "[binary output, 100000 bytes, not shown; the whole output is in " + r.Spill + "]"; r.Content != want || !r.Binary {
		t.Errorf("%q, want %q", r.Content, want)
	}
}

func TestHeld(t *testing.T) {
	for _, c := range []struct {
		o    shell.Outcome
		want string
	}{
		{shell.Outcome{}, "the rest is lost"},
		{shell.Outcome{SpillErr: os.ErrPermission}, "the rest is lost (permission denied)"},
		{shell.Outcome{Spill: "/f", SpillBytes: 9, Output: shell.Text{Bytes: 9}}, "the whole output is in /f"},
		{shell.Outcome{Spill: "/f", SpillBytes: 5, Output: shell.Text{Bytes: 9}}, "the first 5 bytes are in /f"},
	} {
		if got := held(c.o); got != c.want {
			t.Errorf("%q, want %q", got, c.want)
		}
	}
}

// Bug report C-01: a child that lives on neither holds the call nor is lost: the
// result names it, the list shows it, and it is gone when the session closes.
func TestBackground(t *testing.T) {
	for _, line := range []string{
		"sleep 300 & echo $!; echo done",
		"while :; do echo tick; sleep 0.5; done & echo $!; echo done",
		"sleep 300 </dev/null >/dev/null 2>&1 & echo $!; echo done",
		"setsid sleep 300 & echo $!; echo done",
	} {
		t.Run(line, func(t *testing.T) {
			t.Parallel()
			ended := make(chan shell.Row, 2)
			l := newLab(t, func(e *shell.Options, _ *Options) { e.Ended = func(r shell.Row) { ended <- r } })
			r := l.run(line)
			child := pids(t, r.Content)[0]
			if r.IsError || !strings.Contains(r.Content, "done\n") || !strings.Contains(r.Content, "\n[still running in the background: ") || !strings.Contains(r.Content, fmt.Sprintf("pid %d", child)) {
				t.Errorf("%q", r.Content)
			}
			named := false
			for _, pid := range r.Background {
				named = named || pid == child
			}
			if rows := l.engine.List(); !named || len(rows) != 1 || rows[0].Status != "background" || rows[0].Origin != "bash" || rows[0].ID != r.Process {
				t.Errorf("%+v, rows %+v", r.Details, rows)
			}
			if !lives(child) {
				t.Fatal("the child was not left alone")
			}
			if err := l.engine.Close(t.Context()); err != nil {
				t.Fatal(err)
			}
			until(t, "the child ends", func() bool { return !lives(child) })
			if row := <-ended; row.ID != r.Process || row.Origin != "bash" || row.Command != line || row.Status != "stopped" {
				t.Errorf("told of %+v", row)
			}
		})
	}
}

// Another command ends what runs in the background, and the list says so.
func TestBackgroundIsKilled(t *testing.T) {
	ended := make(chan shell.Row, 2)
	l := newLab(t, func(e *shell.Options, _ *Options) { e.Ended = func(r shell.Row) { ended <- r } })
	r := l.run("exec >log 2>&1; sleep 300 & echo $! >pid; exit 4")
	if len(r.Background) != 1 {
		t.Fatalf("%+v", r)
	}
	l.run("kill $(cat pid)")
	for range 2 { // the kill itself is a process that ended
		if row := <-ended; row.ID == r.Process && row.Status != "exited(4)" {
			t.Errorf("%+v", row)
		}
	}
}

// Bug report C-02: a timeout ends the whole tree and keeps the output so far.
func TestTimeout(t *testing.T) {
	for limit := 1; ; limit *= 2 {
		l := newLab(t, nil)
		r, err := l.try(t.Context(), `mkdir d; cd d; echo so far; sh -c 'sleep 600 & echo $!; sleep 600'`, limit, nil)
		if err != nil {
			t.Fatal(err)
		}
		begun := strings.HasPrefix(r.Content, "so far\n") && !strings.HasPrefix(r.Content, "so far\n[")
		if r.TimedOut && !begun && limit < 60 {
			continue // a busy machine had not started it all
		}
		if !r.IsError || !r.TimedOut || r.Stopped || !strings.HasPrefix(r.Content, "so far\n") || !strings.Contains(r.Content, fmt.Sprintf("[ended after its timeout of %d s, with all it started; give a longer timeout_s (at most 3600)", limit)) {
			t.Errorf("%+v", r)
		}
		for _, pid := range pids(t, r.Content) {
			if lives(pid) {
				t.Errorf("process %d is left", pid)
			}
		}
		if l.Cwd() != filepath.Join(l.dir, "d") {
			t.Errorf("the folder is %s", l.Cwd())
		}
		return
	}
}

// Bug report C-02: so do the cancel of the run, a person, and the end of the
// session.
func TestStopped(t *testing.T) {
	for _, c := range []struct {
		name, says string
		stop       func(*lab, context.CancelFunc)
	}{
		{"cancel", "[cancelled]", func(_ *lab, cancel context.CancelFunc) { cancel() }},
		{"person", "[stopped by the person; do not start it again unasked]", func(l *lab, _ context.CancelFunc) { _ = l.engine.Stop(1) }},
		{"close", "[stopped by the person", func(l *lab, _ context.CancelFunc) { _ = l.engine.Close(l.t.Context()) }},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			l := newLab(t, nil)
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			done := make(chan result, 1)
			go func() {
				r, err := l.try(ctx, `sh -c 'sleep 600 & echo $!; sleep 600'; echo never`, 0, func(string) { c.stop(l, cancel) })
				if err != nil {
					t.Error(err)
				}
				done <- r
			}()
			r := <-done
			if !r.IsError || !r.Stopped || r.TimedOut || !strings.Contains(r.Content, c.says) || strings.Contains(r.Content, "never") {
				t.Errorf("%+v", r)
			}
			for _, pid := range pids(t, r.Content) {
				if lives(pid) {
					t.Errorf("process %d is left", pid)
				}
			}
		})
	}
}

// Bug report C-04: what wants a terminal finds none, ends, and the model is told.
func TestNeedsTerminal(t *testing.T) {
	if _, err := exec.LookPath("git"); err != nil {
		t.Fatal("this test needs git: ", err)
	}
	const repo = "git init -q . && git config user.email a@b && git config user.name a && echo x >f && git add f && "
	for _, c := range []struct {
		line string
		want bool
	}{
		{"read x </dev/tty", true},
		{repo + "git commit", true},
		{repo + "git commit 2>&1 | tail -3; exit ${PIPESTATUS[0]}", true},
		{"set -e; stty -echo; read x; echo got $x", true},
		{repo + "git commit -q -m x && echo fine", false},
		{"echo no terminal here; exit 1", false},
		{`printf '\033[?1049h\033[H~'; sleep 600`, true},
		{`printf 'Vim: Warning: Input is not from a terminal\n'; sleep 600; true`, true},
		{`printf 'Vim: Warning: Input is not from a terminal\n'; echo done`, false},
	} {
		t.Run(c.line, func(t *testing.T) {
			t.Parallel()
			r, err := newLab(t, nil).try(t.Context(), c.line, int(patience.Seconds()), nil)
			if err != nil || r.TimedOut || r.NeedsTerminal != c.want || strings.Contains(r.Content, "[it needs a terminal and there is none") != c.want {
				t.Errorf("%+v %v", r, err)
			}
		})
	}
}

// Calls side by side do not disturb each other.
func TestParallel(t *testing.T) {
	l := newLab(t, nil)
	var all sync.WaitGroup
	for i := range 20 {
		all.Go(func() {
			r, err := l.try(t.Context(), fmt.Sprintf("echo %d; exit %d", i, i), 0, nil)
			if err != nil || r.Status != i || !strings.HasPrefix(r.Content, fmt.Sprintf("%d\n", i)) {
				t.Errorf("%d: %+v %v", i, r, err)
			}
		})
	}
	all.Wait()
}

func TestClosed(t *testing.T) {
	l := newLab(t, nil)
	if err := l.engine.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
	if _, err := l.try(t.Context(), "true", 0, nil); err == nil || !strings.Contains(err.Error(), "closed") {
		t.Errorf("%v", err)
	}
}
