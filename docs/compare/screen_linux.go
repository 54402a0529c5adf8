package main

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/creack/pty"
)

const (
	prompt    = "what is to be done?" // stands in the empty prompt
	idleTime  = 3 * time.Second
	longReply = 20000      // pieces
	ending    = "TheEnd42" // its last piece, drawn at once
)

// screen measures sessions in a terminal of 120x40.
func screen(starling string, rounds int) error {
	work, err := os.MkdirTemp("", "compare-screen")
	if err != nil {
		return err
	}
	defer os.RemoveAll(work)
	b := bench{work: work, starling: filepath.Join(work, "starling")}
	if err := place(starling, b.starling); err != nil {
		return fmt.Errorf("%w; make build makes it", err)
	}
	smallest := filepath.Join(work, "smallest")
	build := exec.Command("go", "build", "-trimpath", "-ldflags=-s -w", "-o", smallest, "./surfaces/tui/testdata/smallest")
	build.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := build.CombinedOutput(); err != nil {
		return fmt.Errorf("build of the smallest program: %w\n%s", err, out)
	}
	if err := os.MkdirAll(filepath.Join(work, "cwd"), 0o700); err != nil {
		return err
	}
	// Ten plugins, each with a tool and a listener.
	for i := range 10 {
		text := fmt.Sprintf("inject = [\"tools\"]\ndef apply(ctx):\n    tool(\"t%d\", \"d\", {}, lambda args: \"x\")\n    on(\"agent/tool-call\", lambda e: None)\n", i)
		path := filepath.Join(work, "home", "plugins", fmt.Sprintf("p%d.star", i))
		if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o700), os.WriteFile(path, []byte(text), 0o600)); err != nil {
			return err
		}
	}
	hello, err := b.scenario("hello.star", "say(\"Hello.\")\n")
	if err != nil {
		return err
	}
	long, err := b.scenario("long.star", fmt.Sprintf("say(\"\\n\".join([\"a piece \" * 20] * %d) + \" TheEnd42\")\n", longReply/40))
	if err != nil {
		return err
	}
	fmt.Printf("Load before: %s\n\n", load())
	floor, err := b.starts(rounds, smallest)
	if err != nil {
		return err
	}
	ours, err := b.starts(rounds, b.starling, "--model", "script:"+hello)
	if err != nil {
		return err
	}
	fmt.Printf("exec to a usable prompt, 10 plugins: %s; the smallest program: %s; ratio of the medians %.1f, of the minima %.1f\n",
		spreadOf(ours), spreadOf(floor), ratio(middle(ours), middle(floor)), ratio(slices.Min(ours), slices.Min(floor)))
	if err := b.idles("script:" + hello); err != nil {
		return err
	}
	return b.streams("script:" + long)
}

func ratio(a, b time.Duration) float64 { return float64(a) / float64(b) }

func middle(list []time.Duration) time.Duration {
	sorted := slices.Sorted(slices.Values(list))
	return sorted[len(sorted)/2]
}

func spreadOf(list []time.Duration) string {
	return fmt.Sprintf("median %v, least %v", middle(list).Round(100*time.Microsecond), slices.Min(list).Round(100*time.Microsecond))
}

// terminal is a program in a terminal.
type terminal struct {
	cmd *exec.Cmd
	pty *os.File

	mu   sync.Mutex
	out  bytes.Buffer
	over chan struct{}
}

func (b bench) open(args ...string) (*terminal, error) {
	t := &terminal{cmd: exec.Command(args[0], args[1:]...), over: make(chan struct{})}
	t.cmd.Dir = filepath.Join(b.work, "cwd")
	t.cmd.Env = []string{
		"PATH=" + os.Getenv("PATH"), "TERM=xterm-256color", "LANG=C.UTF-8", "COLORFGBG=15;0",
		"HOME=" + filepath.Join(b.work, "home"), "STARLING_HOME=" + filepath.Join(b.work, "home"),
	}
	p, err := pty.StartWithSize(t.cmd, &pty.Winsize{Rows: 40, Cols: 120})
	if err != nil {
		return nil, err
	}
	t.pty = p
	go func() {
		defer close(t.over)
		buf := make([]byte, 64<<10)
		for {
			n, err := p.Read(buf)
			t.mu.Lock()
			t.out.Write(buf[:n])
			t.mu.Unlock()
			if err != nil {
				return
			}
		}
	}()
	return t, nil
}

// sees waits for a text in what was written; since is where to look from.
func (t *terminal) sees(text string, since int) error {
	for end := time.Now().Add(time.Minute); time.Now().Before(end); time.Sleep(200 * time.Microsecond) {
		t.mu.Lock()
		found := bytes.Contains(t.out.Bytes()[since:], []byte(text))
		t.mu.Unlock()
		if found {
			return nil
		}
	}
	return fmt.Errorf("%s never showed %q", t.cmd.Path, text)
}

func (t *terminal) written() int {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.out.Len()
}

// close ends the program with keys.
func (t *terminal) close(keys string) error {
	_, err := t.pty.WriteString(keys)
	err = errors.Join(err, t.cmd.Wait())
	<-t.over
	return errors.Join(err, t.pty.Close())
}

// starts measures from exec to the prompt, which takes a key by then.
func (b bench) starts(rounds int, args ...string) ([]time.Duration, error) {
	var list []time.Duration
	for round := range rounds + 1 {
		begin := time.Now()
		t, err := b.open(args...)
		if err != nil {
			return nil, err
		}
		if err := t.sees(prompt, 0); err != nil {
			return nil, err
		}
		if round > 0 {
			list = append(list, time.Since(begin))
		}
		keys := "\x03\x03"
		if len(args) == 1 {
			keys = "x"
		}
		if err := t.close(keys); err != nil {
			return nil, err
		}
	}
	return list, nil
}

// idles measures what a session takes in which nothing happens.
func (b bench) idles(model string) error {
	t, err := b.open(b.starling, "--model", model)
	if err != nil {
		return err
	}
	if err := t.sees(prompt, 0); err != nil {
		return err
	}
	time.Sleep(2 * time.Second) // the start is over
	before, drawn := ticks(t.cmd.Process.Pid), t.written()
	time.Sleep(idleTime)
	fmt.Printf("idle for %v: %d bytes drawn, %d ms of processor time; resident memory after the start %s\n",
		idleTime, t.written()-drawn, (ticks(t.cmd.Process.Pid)-before)*10, resident(t.cmd.Process.Pid))
	return t.close("\x03\x03")
}

// streams measures a long reply on the screen against the same without one.
func (b bench) streams(model string) error {
	t, err := b.open(b.starling, "--model", model)
	if err != nil {
		return err
	}
	if err := t.sees(prompt, 0); err != nil {
		return err
	}
	if _, err := t.pty.WriteString("\x1b[200~go\x1b[201~\r"); err != nil {
		return err
	}
	if err := t.sees(ending, 0); err != nil {
		return err
	}
	memory := resident(t.cmd.Process.Pid)
	if err := t.close("\x03\x03"); err != nil {
		return err
	}
	headless := exec.Command(b.starling, "--quiet", "--model", model, "go")
	headless.Dir, headless.Env = t.cmd.Dir, t.cmd.Env
	if out, err := headless.CombinedOutput(); err != nil || !bytes.Contains(out, []byte(ending)) {
		return fmt.Errorf("the headless run: %w", err)
	}
	used := func(p *os.ProcessState) time.Duration { return p.UserTime() + p.SystemTime() }
	screen, plain := used(t.cmd.ProcessState), used(headless.ProcessState)
	fmt.Printf("%d pieces, from start to end: processor time on the screen %v, headless %v, ratio %.1f; resident memory after them %s\n",
		longReply, screen.Round(time.Millisecond), plain.Round(time.Millisecond), ratio(screen, plain), memory)
	return nil
}

// ticks is the processor time of a process in hundredths of a second.
func ticks(pid int) int {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return 0
	}
	fields := strings.Fields(string(text[bytes.LastIndexByte(text, ')')+1:]))
	user, _ := strconv.Atoi(fields[11]) // the kernel writes numbers
	system, _ := strconv.Atoi(fields[12])
	return user + system
}

// resident is the memory of a process that stands in RAM.
func resident(pid int) string {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		return "unknown"
	}
	for line := range strings.Lines(string(text)) {
		if rest, ok := strings.CutPrefix(line, "VmRSS:"); ok {
			if kib, err := strconv.Atoi(strings.Fields(rest)[0]); err == nil {
				return fmt.Sprintf("%.1f MiB", float64(kib)/1024)
			}
		}
	}
	return "unknown"
}
