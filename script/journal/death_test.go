//go:build darwin || dragonfly || freebsd || linux || netbsd || openbsd

package journal_test

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime/debug"
	"strings"
	"sync"
	"testing"

	"golang.org/x/sys/unix"

	"starling/script/journal"
)

const (
	childEnv = "JOURNAL_TEST_CHILD" // the way the child ends
	dirEnv   = "JOURNAL_TEST_DIR"
)

func TestMain(m *testing.M) {
	if way := os.Getenv(childEnv); way != "" {
		child(way, os.Getenv(dirEnv))
		return
	}
	os.Exit(m.Run())
}

// child is a process with one tool call that waits for a service and one tick,
// which ends in some way. It says when it is ready and goes on at a line.
func child(way, dir string) {
	j, deaths, err := journal.Open(dir)
	if err != nil || len(deaths) > 0 {
		fmt.Println("open:", told(deaths), err)
		os.Exit(9)
	}
	outer := j.Enter("caller", "tool deploy")
	inner := j.EnterFrom(outer, "culprit", "service shell.run")
	over := j.EnterFrom(inner, "over", "x")
	over.Leave()
	if way == "orderly" || way == "left" {
		inner.Leave()
		outer.Leave()
	}
	fmt.Println("ready")
	_, _ = bufio.NewReader(os.Stdin).ReadString('\n')
	switch way {
	case "exit":
		os.Exit(3)
	case "overflow":
		debug.SetMaxStack(1 << 20)
		fmt.Println(deep(1))
	case "memory": // more than there are addresses
		size := 1 << 47
		fmt.Println(len(make([]byte, size)))
	case "panic":
		done := make(chan bool)
		go func() { panic("in a goroutine of nobody") }()
		<-done
	case "fault":
		page, err := unix.Mmap(-1, 0, 4096, unix.PROT_NONE, unix.MAP_ANON|unix.MAP_PRIVATE)
		fmt.Println(page[1], err)
	case "orderly":
		if err := j.Close(); err != nil {
			fmt.Println(err)
			os.Exit(9)
		}
	}
}

// deep ends where the stack does.
func deep(n int) int {
	if n == 0 {
		return 0
	}
	return deep(n+1) + n
}

// process is a child that is ready.
type process struct {
	cmd *exec.Cmd
	in  io.WriteCloser
}

func start(t *testing.T, way, dir string) *process {
	t.Helper()
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	p := &process{cmd: exec.Command(exe)}
	p.cmd.Env = append(os.Environ(), childEnv+"="+way, dirEnv+"="+dir)
	p.in, err = p.cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := p.cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := p.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = p.cmd.Process.Kill(); _ = p.cmd.Wait() })
	if line, err := bufio.NewReader(out).ReadString('\n'); line != "ready\n" {
		t.Fatalf("child said %q, %v", line, err)
	}
	return p
}

// end lets the child end its way; SIGKILL when it has none of its own.
func (p *process) end(way string) {
	if way == "kill" {
		_ = p.cmd.Process.Kill()
	}
	_, _ = io.WriteString(p.in, "\n")
	_ = p.cmd.Wait()
}

// However a process ends, the next start knows who was at work, once.
func TestDeaths(t *testing.T) {
	const open = "culprit:service shell.run! caller:tool deploy"
	for _, c := range []struct {
		way, want string
		status    int
	}{
		{"kill", open, -1},
		{"exit", open, 3},
		{"overflow", open, 2},
		{"memory", open, 2},
		{"panic", open, 2},
		{"fault", open, 2},
		{"left", "", 0},
		{"orderly", "", 0},
	} {
		t.Run(c.way, func(t *testing.T) {
			dir := t.TempDir()
			p := start(t, c.way, dir)
			if n := len(files(t, dir)); n != 1 {
				t.Fatalf("%d files", n)
			}
			p.end(c.way)
			if got := p.cmd.ProcessState.ExitCode(); got != c.status {
				t.Errorf("status %d, want %d", got, c.status)
			}
			for range 2 { // looking at it leaves it there
				deaths, err := journal.Peek(dir)
				if got := told(deaths); err != nil || got != c.want {
					t.Errorf("looked at: %q, want %q; %v", got, c.want, err)
				}
			}
			j, deaths, err := journal.Open(dir)
			if err != nil {
				t.Fatal(err)
			}
			if got := told(deaths); got != c.want {
				t.Errorf("got %q, want %q", got, c.want)
			}
			if c.want != "" && told(journal.Blamed(deaths)) != "culprit:service shell.run!" {
				t.Errorf("blamed %q", told(journal.Blamed(deaths)))
			}
			if err := j.Close(); err != nil {
				t.Error(err)
			}
			journal.MustOpen(t, dir) // consumed
			if n := len(files(t, dir)); n != 1 {
				t.Errorf("%d files", n)
			}
		})
	}
}

func TestLiveOwner(t *testing.T) {
	dir := t.TempDir()
	p := start(t, "kill", dir)
	mine := journal.MustOpen(t, dir) // in this process: another owner all the same
	mine.Enter("mine", "x")
	journal.MustOpen(t, dir)
	if deaths, err := journal.Peek(dir); err != nil || len(deaths) > 0 {
		t.Errorf("the living were looked at: %q, %v", told(deaths), err)
	}
	if deaths, err := journal.Peek(filepath.Join(dir, "nothing")); err != nil || len(deaths) > 0 {
		t.Errorf("no folder: %q, %v", told(deaths), err)
	}
	if n := len(files(t, dir)); n != 3 {
		t.Errorf("%d files, three live", n)
	}
	p.end("kill")
	j, deaths, err := journal.Open(dir)
	if err != nil || told(deaths) != "culprit:service shell.run! caller:tool deploy" {
		t.Errorf("got %q, %v", told(deaths), err)
	}
	if err := j.Close(); err != nil {
		t.Error(err)
	}
	if got := told(left(t, mine)); got != "mine:x!" {
		t.Errorf("of the living: %q", got)
	}
}

// Of several dead each is told, and by one of the starts that look at once.
func TestManyStarts(t *testing.T) {
	dir := t.TempDir()
	const dead = 3
	var children []*process
	for range dead {
		children = append(children, start(t, "exit", dir))
	}
	for _, p := range children {
		p.end("exit")
	}
	var mu sync.Mutex
	var all []journal.Death
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			for range 10 {
				j, deaths, err := journal.Open(dir)
				if err != nil {
					t.Error(err)
					return
				}
				mu.Lock()
				all = append(all, deaths...)
				mu.Unlock()
				e := j.Enter("alive", "x")
				if got := told(left(t, j)); got != "alive:x!" {
					t.Errorf("a living journal was taken: %q", got)
				}
				e.Leave()
				if err := j.Close(); err != nil {
					t.Error(err)
				}
			}
		})
	}
	wg.Wait()
	if n := strings.Count(told(all), "culprit:"); n != dead || len(all) != 2*dead {
		t.Errorf("%d of %d dead: %s", n, dead, told(all))
	}
	if names := files(t, dir); len(names) > 0 {
		t.Errorf("files %v", names)
	}
}

// Whatever else lies in the folder neither stops nor delays a start.
func TestForeignFiles(t *testing.T) {
	dir := t.TempDir()
	for name, text := range map[string]string{
		"journal-1-empty": "", "journal-2-text": strings.Repeat("text ", 10_000), "other": "kept",
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := unix.Mkfifo(filepath.Join(dir, "journal-3-pipe"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir(filepath.Join(dir, "journal-4-folder"), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(filepath.Join(dir, "other"), filepath.Join(dir, "journal-5-link")); err != nil {
		t.Fatal(err)
	}
	j := journal.MustOpen(t, dir)
	if got := len(files(t, dir)); got != 5 { // other, pipe, folder, link and its own
		t.Errorf("%d files: %v", got, files(t, dir))
	}
	if err := j.Close(); err != nil {
		t.Error(err)
	}
}
