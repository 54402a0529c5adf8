package cli_test

import (
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"
)

// lives tells whether a process has not ended.
func lives(pid int) bool {
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return false
	}
	after := stat[strings.LastIndexByte(string(stat), ')')+1:]
	return !strings.HasPrefix(string(after), " Z")
}

// pids are the numbers in a file of the workspace, once there are n lines.
func (l *lab) pids(name string, n int) []int {
	l.t.Helper()
	l.eventually(name, func() bool { return strings.Count(l.read("ws/"+name), "\n") >= n })
	var list []int
	for _, line := range strings.Fields(l.read("ws/" + name)) {
		pid, err := strconv.Atoi(line)
		if err != nil {
			l.t.Fatal(err)
		}
		list = append(list, pid)
	}
	return list
}

// git runs in the workspace; init makes it a repository.
func (l *lab) git(args ...string) {
	l.t.Helper()
	if args[0] == "init" { // instead of the folder that only looks like one
		if err := os.RemoveAll(filepath.Join(l.ws, ".git")); err != nil {
			l.t.Fatal(err)
		}
	}
	cmd := exec.Command("git", args...)
	cmd.Dir, cmd.Env = l.ws, l.env
	if out, err := cmd.CombinedOutput(); err != nil {
		l.t.Fatalf("git %v: %v %s", args, err, out)
	}
}

func (l *lab) gone(pids []int) {
	l.t.Helper()
	for _, pid := range pids {
		l.eventually(fmt.Sprintf("the end of process %d", pid), func() bool { return !lives(pid) })
	}
}

// Bug report C-01: a child that lives on holds up neither the call nor the run, is
// named to the model, and is gone with the session.
func TestC01BackgroundChild(t *testing.T) {
	l := asking(t, nil, one(
		bash("sleep 300 & echo $! >> pids; echo done"),
		bash("(while :; do echo tick; sleep 0.5; done) & echo $! >> pids; echo done"),
		bash("sleep 300 </dev/null >/dev/null 2>&1 & echo $! >> pids; echo done"),
		bash("setsid sleep 300 >/dev/null 2>&1 & echo $! >> pids; echo done"),
	)...)
	got := l.done("--mode", "yolo", "go")
	pids := l.pids("pids", 4)
	l.gone(pids)
	for i, r := range got {
		if !strings.Contains(r, "done\n") || !strings.Contains(r, "still running in the background") || !strings.Contains(r, fmt.Sprint("pid ", pids[i])) {
			t.Errorf("call %d, pid %d: %q", i, pids[i], r)
		}
	}
}

// tree starts processes in every way to get out of sight and notes their numbers.
const tree = `sh -c 'echo out so far; echo $$ >> pids; sleep 600 & echo $! >> pids; setsid sleep 600 & echo $! >> pids
(setsid sh -c "echo \$\$ >> pids; exec sleep 600" >/dev/null 2>&1 &); sleep 600'`

// Bug report C-02: a timeout ends the whole tree, the result says so and holds what
// was printed.
func TestC02Timeout(t *testing.T) {
	for limit := 1; ; limit *= 2 {
		l := asking(t, nil, one(want{"bash", object{"command": tree, "timeout_s": limit}})...)
		got := l.done("--mode", "yolo", "go")
		if strings.Count(l.read("ws/pids"), "\n") < 4 && limit < 60 {
			continue // a busy machine had not started them all
		}
		l.gone(l.pids("pids", 4))
		if !strings.Contains(got[0], "out so far") || !strings.Contains(got[0], fmt.Sprintf("timeout of %d s", limit)) {
			t.Errorf("result %q", got[0])
		}
		return
	}
}

// Bug report C-02: whatever ends the program, nothing it started is left: Ctrl-C, a
// signal that asks, and one that nobody can catch.
func TestC02HostEnds(t *testing.T) {
	for _, signal := range []syscall.Signal{syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP, syscall.SIGKILL} {
		t.Run(signal.String(), func(t *testing.T) {
			t.Parallel()
			l := asking(t, nil, one(bash("sleep 600 >/dev/null 2>&1 & echo $! >> pids; "+tree))...)
			p := l.start("--quiet", "--mode", "yolo", "go")
			pids := l.pids("pids", 5)
			for _, pid := range pids {
				if !lives(pid) {
					t.Errorf("process %d ended too early", pid)
				}
			}
			p.signal(signal)
			if e := p.wait(); e.code == 0 {
				t.Error(e)
			}
			l.gone(pids)
		})
	}
}

// peakOf is the largest resident size of a program that ended, in bytes.
func peakOf(p *process) int64 {
	usage, ok := p.cmd.ProcessState.SysUsage().(*syscall.Rusage)
	if !ok {
		return 0
	}
	return usage.Maxrss << 10
}

// Bug report C-03: output without a bound grows no memory, and the model reads its
// start, its end and true counts. With SOAK each of the four calls prints 2 GB.
func TestC03Flood(t *testing.T) {
	size := 100_000_000
	if os.Getenv("SOAK") != "" {
		size = 2_000_000_000
	}
	flood := bash(fmt.Sprintf("yes | head -c %d", size))
	var peak [2]int64
	for i, replies := range [][][]want{
		one(bash("yes | head -c 1000")),
		{{flood, flood, flood, flood}, {bash("head -c 200000000 /dev/zero | tr '\\0' x")}},
	} {
		l := asking(t, nil, replies...)
		p := l.start("--quiet", "--mode", "yolo", "go")
		if e := p.wait(); e.code != 0 {
			t.Fatal(e)
		}
		if peak[i] = peakOf(p); i == 0 {
			continue
		}
		for i, r := range l.results() {
			counts := fmt.Sprintf("of %d bytes, ", size)
			lines := fmt.Sprintf("of %d lines", size/2)
			if i == 4 {
				counts, lines = "of 200000000 bytes, ", "of 1 lines"
			}
			if len(r) > 128<<10 || !strings.Contains(r, counts) || !strings.Contains(r, lines) {
				t.Errorf("result %d: %d bytes, %.100q", i, len(r), r[strings.Index(r, "[")+1:])
			}
		}
	}
	if grown := peak[1] - peak[0]; peak[0] == 0 || grown > 64<<20 {
		t.Errorf("memory grew by %d MiB", grown>>20)
	}
}

// Bug report C-03: beside commands that print without an end keys are shown as they come,
// and Esc ends the run.
func TestC03KeysBesideAFlood(t *testing.T) {
	flood := bash("echo $$ >> pids; exec yes")
	l := asking(t, nil, []want{flood, flood, flood})
	w := l.open(80, 24, "--mode", "yolo")
	w.sees("what is to be done?")
	w.press("go\r")
	pids := l.pids("pids", 3)
	w.sees("│ y")
	w.press("still here")
	w.sees("› still here")
	w.press(escape)
	w.sees("stopped")
	l.gone(pids)
	w.press("\x03\x03")
	w.leaves()
}

// Bug report C-03: what a tool of a plugin returns is bounded too, so a server that
// refuses large bodies is never sent one; the whole of it can be read.
func TestC03PluginReturnsMuch(t *testing.T) {
	const most = 8 << 20
	var refused int
	l := newLab(t, func(w *reply, n int, body string) {
		results := 0
		for _, m := range messages(t, body) {
			if m.Role == "tool" {
				results++
			}
		}
		switch {
		case len(body) > most:
			refused++
			w.WriteHeader(413)
			w.send(`{"error":{"message":"too large"}}`)
		case results == 0:
			w.send(data(toolCall(0, "c1", "much", "{}"), toolCall(1, "c2", "much", "{}"), finish("tool_calls")))
		case results == 2:
			m := messages(t, body)
			_, rest, _ := strings.Cut(m[len(m)-1].text(), "the whole result is in ")
			path, _, _ := strings.Cut(rest, " ")
			w.send(data(toolCall(0, "c3", "read", fmt.Sprintf(`{"path":%q,"offset":1179640}`, path)), finish("tool_calls")))
		default:
			w.send(says("done"))
		}
	})
	l.write("home/plugins/much.star", `inject = ["tools"]
limits = {"string": 16777216}
def apply(ctx):
    tool("much", "Returns 9 MB.", {}, lambda args: "0123456\n" * 1179648)
`)
	got := l.done("go")
	if refused > 0 {
		t.Errorf("%d requests were refused for their size", refused)
	}
	if len(got[0]) > 100<<10 || !strings.HasPrefix(got[0], "0123456\n") || !strings.HasSuffix(got[0], "0123456\n") ||
		!strings.Contains(got[0], "of 9437184 bytes, ") || !strings.Contains(got[0], "of 1179648 lines") {
		t.Errorf("%d bytes: %.200q", len(got[0]), got[0])
	}
	if !strings.Contains(got[2], "1179648\t0123456") {
		t.Errorf("what is kept aside: %.300q", got[2])
	}
}

// Bug report C-03: after a refusal for its size the next request is smaller and works,
// also in a process that goes on with the session.
func TestC03RefusedForItsSize(t *testing.T) {
	const most = 250 << 10
	var sizes []int
	l := newLab(t, func(w *reply, n int, body string) {
		sizes = append(sizes, len(body))
		switch {
		case len(body) > most:
			w.WriteHeader(413)
			w.send(`{"error":{"message":"request entity too large"}}`)
		case n < 3:
			w.send(data(toolCall(0, fmt.Sprint("c", n), "much", "{}"), finish("tool_calls")))
		default:
			w.send(says("done"))
		}
	})
	l.write("home/plugins/much.star", `inject = ["tools"]
def apply(ctx):
    tool("much", "Returns 80 kB.", {}, lambda args: "0123456\n" * 10000)
`)
	for i, args := range [][]string{{"--quiet", "go"}, {"--quiet", "--continue", "more"}} {
		if e := l.run(args...); e.code != 0 || e.stdout != "done\n" {
			t.Fatalf("run %d, sizes %v: %v", i, sizes, e)
		}
	}
	if len(sizes) != 7 || sizes[3] <= most || sizes[4] > most || sizes[5] <= most || sizes[6] > most {
		t.Errorf("requests of %v bytes", sizes)
	}
}

// Bug report C-04: what wants the terminal finds none, though the program has one: the
// model is told, nothing is printed there, its settings stay, and what the person
// types waits for whoever reads next.
func TestC04NoTerminal(t *testing.T) {
	l := asking(t, nil, one(
		bash("read x </dev/tty"), bash("git commit"), bash("stty -echo </dev/tty; read -r x </dev/tty; stty echo </dev/tty"),
		bash("echo printed > /dev/tty"),
	)...)
	l.write("ws/a.txt", "a\n")
	l.git("init", "-q")
	l.git("add", "a.txt")
	l.git("config", "user.name", "a")
	l.git("config", "user.email", "a@example.org")
	keys, terminal := openTerminal(t)
	before, err := unix.IoctlGetTermios(int(terminal.Fd()), unix.TCGETS)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := keys.WriteString("typed\n"); err != nil {
		t.Fatal(err)
	}
	echoed := make([]byte, 7) // what the terminal shows of what is typed
	if _, err := io.ReadFull(keys, echoed); err != nil || string(echoed) != "typed\r\n" {
		t.Fatalf("%q %v", echoed, err)
	}
	cmd := exec.Command("starling", "--quiet", "--mode", "yolo", "go")
	var stdout, stderr output
	cmd.Dir, cmd.Env, cmd.Stdin, cmd.Stdout, cmd.Stderr = l.ws, l.env, terminal, &stdout, &stderr
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: true, Ctty: 0}
	if err := cmd.Run(); err != nil || strings.TrimSpace(stdout.String()) != "done" {
		t.Fatalf("%v: %s%s", err, &stdout, &stderr)
	}
	for i, r := range l.results() {
		if i < 3 && !strings.Contains(r, "it needs a terminal") {
			t.Errorf("call %d: %q", i, r)
		}
	}
	after, err := unix.IoctlGetTermios(int(terminal.Fd()), unix.TCGETS)
	if err != nil || *after != *before {
		t.Errorf("the terminal was %+v and is %+v (%v)", before, after, err)
	}
	ready := func(f *os.File) bool {
		n, err := unix.Poll([]unix.PollFd{{Fd: int32(f.Fd()), Events: unix.POLLIN}}, 0)
		return n > 0 && err == nil
	}
	if ready(keys) {
		t.Error("something came to the terminal")
	}
	if !ready(terminal) {
		t.Fatal("what was typed is gone")
	}
	line := make([]byte, 100)
	if n, err := terminal.Read(line); err != nil || string(line[:n]) != "typed\n" {
		t.Errorf("what was typed is %q (%v)", line[:n], err)
	}
}

// Bug report C-05: a folder that went away is left for the workspace root, and that is
// said; without the root the error says what to do.
func TestC05FolderGoes(t *testing.T) {
	l := asking(t, nil, one(bash("mkdir s && cd s"), bash("rm -rf ../s"), bash("pwd"))...)
	l.git("init", "-q")
	got := l.done("--mode", "yolo", "go")
	if !strings.HasPrefix(got[2], l.ws+"\n") || !strings.Contains(got[1]+got[2], "workspace root") {
		t.Errorf("results %q", got)
	}
	l = asking(t, func(l *lab, n int) {
		switch n {
		case 1:
			if err := os.Rename(l.ws, l.ws+"-away"); err != nil {
				t.Error(err)
			}
		case 2:
			if err := os.Rename(l.ws+"-away", l.ws); err != nil {
				t.Error(err)
			}
		}
	}, one(bash("pwd"), bash("pwd"), bash("pwd"))...)
	got = l.done("--mode", "yolo", "go")
	if !strings.Contains(got[1], "is gone, so no command can run") || !strings.Contains(got[1], "start starling in a folder that exists") {
		t.Errorf("without a root: %q", got[1])
	}
	if got[2] != l.ws+"\n" && got[2] != l.ws {
		t.Errorf("the root is back: %q", got[2])
	}
}

// Bug report D-06: when the disk is full the old content stays whole and nothing else
// is left.
func TestD06DiskFull(t *testing.T) {
	l := asking(t, nil, one(want{"read", object{"path": "f"}}, edit("f", "old", strings.Repeat("new ", 50_000)), want{"write", object{"path": "f", "content": strings.Repeat("new ", 50_000)}})...)
	l.write("ws/f", "old text\n")
	l.env = append(l.env, "STARLING_TEST_ROOM=150000")
	l.startAs("starling-limited", "--quiet", "go").wait()
	results := l.results()
	if len(results) != 3 {
		t.Fatalf("%d results", len(results))
	}
	for i, r := range results[1:] {
		if !strings.Contains(r, "too large") && !strings.Contains(r, "space") {
			t.Errorf("result %d: %q", i, r)
		}
	}
	left, err := filepath.Glob(filepath.Join(l.ws, "*"))
	if got := l.bytesOf("ws/f"); got != "old text\n" || len(left) != 2 || err != nil { // with .git
		t.Errorf("%q, left %v", got, left)
	}
}
