package main

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
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
	longReply = 20000 // pieces
)

// screen measures sessions in a terminal of 120x40.
func screen(starling, yardstick string, rounds int) error {
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
	in := []reply{{model: "script:" + hello, prompt: "go", end: "Hello."}, {model: "script:" + long, prompt: "go", end: "TheEnd42"}}
	if err := b.streams("model inside the program", rounds/3, in[0], in[1]); err != nil {
		return err
	}
	if yardstick == "" {
		fmt.Println("There is no yardstick (-yardstick DIR): no long reply over a connection.")
		return nil
	}
	_, stop, err := b.server(yardstick)
	if stop != nil {
		defer stop()
	}
	if err != nil {
		return err
	}
	over := []reply{{yardstickModel, "scenario:hello", "mock model."}, {yardstickModel, fmt.Sprintf("scenario:stream %d", longReply), "end of stream"}}
	return b.streams("model over a connection", rounds/3, over[0], over[1])
}

// reply is a run and how its end shows.
type reply struct{ model, prompt, end string }

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

func (b bench) environ() []string {
	home := filepath.Join(b.work, "home")
	return []string{
		"PATH=" + os.Getenv("PATH"), "TERM=xterm-256color", "LANG=C.UTF-8", "COLORFGBG=15;0",
		"HOME=" + home, "STARLING_HOME=" + home,
	}
}

func (b bench) open(args ...string) (*terminal, error) {
	t := &terminal{cmd: exec.Command(args[0], args[1:]...), over: make(chan struct{})}
	t.cmd.Dir = filepath.Join(b.work, "cwd")
	t.cmd.Env = b.environ()
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
	// Between words the cursor may jump.
	drawn := regexp.MustCompile(strings.Join(strings.Fields(regexp.QuoteMeta(text)), `(?: |\x1b\[[0-9;]*H)`))
	for end := time.Now().Add(time.Minute); time.Now().Before(end); time.Sleep(200 * time.Microsecond) {
		t.mu.Lock()
		found := drawn.Match(t.out.Bytes()[since:])
		since = max(since, t.out.Len()-1024) // behind that all was looked at
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

// streams measures a long reply on the screen against the same without one, each also
// less what a short one takes: that is the start and the end of the process.
func (b bench) streams(what string, rounds int, short, long reply) error {
	var used [4][]time.Duration
	var memory string
	for round := range max(rounds, 3) + 1 {
		for i, measure := range []func() (time.Duration, string, error){
			func() (time.Duration, string, error) { return b.drawn(short) },
			func() (time.Duration, string, error) { return b.drawn(long) },
			func() (time.Duration, string, error) { return b.headless(short) },
			func() (time.Duration, string, error) { return b.headless(long) },
		} {
			took, resident, err := measure()
			if err != nil {
				return err
			}
			if round > 0 {
				used[i] = append(used[i], took)
			}
			if i == 1 {
				memory = resident
			}
		}
	}
	screen, plain := middle(used[1]), middle(used[3])
	fmt.Printf("%d pieces, %s: processor time on the screen %s, headless %s, ratio %.2f; less a short reply (%v, %v) %.2f; resident memory after them %s\n",
		longReply, what, spreadOf(used[1]), spreadOf(used[3]), ratio(screen, plain),
		middle(used[0]).Round(100*time.Microsecond), middle(used[2]).Round(100*time.Microsecond),
		ratio(screen-middle(used[0]), plain-middle(used[2])), memory)
	return nil
}

func processorTime(p *os.ProcessState) time.Duration { return p.UserTime() + p.SystemTime() }

// drawn is a session in a terminal with one reply; resident is its memory after it.
func (b bench) drawn(r reply) (used time.Duration, memory string, err error) {
	t, err := b.open(b.starling, "--model", r.model)
	if err != nil {
		return 0, "", err
	}
	if err := t.sees(prompt, 0); err != nil {
		return 0, "", err
	}
	since := t.written()
	if _, err := t.pty.WriteString("\x1b[200~" + r.prompt + "\x1b[201~\r"); err != nil {
		return 0, "", err
	}
	if err := t.sees(r.end, since); err != nil {
		return 0, "", err
	}
	memory = resident(t.cmd.Process.Pid)
	if err := t.close("\x03\x03"); err != nil {
		return 0, "", err
	}
	return processorTime(t.cmd.ProcessState), memory, nil
}

// headless is the same without a screen.
func (b bench) headless(r reply) (used time.Duration, _ string, err error) {
	run := exec.Command(b.starling, "--quiet", "--model", r.model, r.prompt)
	run.Dir = filepath.Join(b.work, "cwd")
	run.Env = b.environ()
	if out, err := run.CombinedOutput(); err != nil || !bytes.Contains(out, []byte(r.end)) {
		return 0, "", fmt.Errorf("the headless run did not show %q: %w", r.end, err)
	}
	return processorTime(run.ProcessState), "", nil
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
