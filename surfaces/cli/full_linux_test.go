package cli_test

import (
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"

	"starling/surfaces/cli"
)

func init() { morePrograms["starling-limited"] = limited }

// limited is the program on a disk of STARLING_TEST_ROOM bytes a file: the kernel
// cuts its writes short and refuses the next ones.
func limited() {
	signal.Ignore(syscall.SIGXFSZ)
	var room uint64
	if _, err := fmt.Sscan(os.Getenv("STARLING_TEST_ROOM"), &room); err != nil {
		panic(err)
	}
	if err := setRoom(0, room); err != nil {
		panic(err)
	}
	os.Exit(cli.Main(os.Args, cli.System()))
}

// setRoom sets how large a file of a process may grow, in bytes; pid 0 is the
// caller.
func setRoom(pid int, room uint64) error {
	var l unix.Rlimit
	if err := unix.Prlimit(pid, unix.RLIMIT_FSIZE, nil, &l); err != nil {
		return err
	}
	l.Cur = min(room, l.Max)
	return unix.Prlimit(pid, unix.RLIMIT_FSIZE, &l, nil)
}

// G-02: the disk is full in the middle of a line, the chat goes on for two more
// turns and says once that it is not saved. When there is space again everything
// is written in order; when not, the run ends with status 1 and no session to
// resume is offered.
func TestG02DiskFull(t *testing.T) {
	for _, again := range []bool{false, true} {
		t.Run(fmt.Sprint("space again ", again), func(t *testing.T) {
			pid := make(chan int, 1)
			l := newLab(t, func(w *reply, n int, _ string) {
				if n == 2 && again {
					if err := setRoom(<-pid, 1<<40); err != nil {
						t.Error(err)
					}
				}
				if n < 3 {
					text := fmt.Sprint("text ", n, strings.Repeat(" word", 100))
					w.send(data(content(text), toolCall(0, fmt.Sprint("c", n), "read", `{"path":"a.txt"}`), finish("tool_calls")))
					return
				}
				w.send(says("done"))
			})
			l.write("ws/a.txt", "hello\n")
			l.write("home/plugins/reads.star", `uses = ["fs.read"]
def apply(ctx):
    on("agent/tool-result", lambda r: print(fs.read("a.txt") * 30))
`)
			l.env = append(l.env, "STARLING_TEST_ROOM=700")
			p := l.startAs("starling-limited", "--quiet", "--output", "json", "go")
			pid <- p.cmd.Process.Pid
			e := p.wait()
			r := l.result(e)
			if r.Text != "done" || r.Stop != "end" || len(l.sent()) != 4 || r.Turns != 4 {
				t.Fatalf("the chat did not go on: %v", e)
			}
			if strings.Count(e.stderr, "the session is not recorded: session file ") != 1 || len(r.Notices) > 3 || strings.Count(e.stderr, "\n") > 4 ||
				again != strings.Contains(e.stderr, "the session is recorded again") || again == strings.Contains(e.stderr, "not on disk as a whole") {
				t.Errorf("what is said: %v", e)
			}
			if strings.Contains(e.stdout+e.stderr, "--resume") || strings.Contains(e.stdout+e.stderr, "--continue") {
				t.Errorf("a resume is offered: %v", e)
			}
			lines, rest := finished(t, l.sessionFile())
			got := decoded(t, lines)
			if again {
				if e.code != 0 || r.Unsaved != "" || r.Session == "" || rest != "" || len(got) != 1+8 {
					t.Errorf("%d lines, %q: %v", len(got), rest, e)
				}
				want := "go|" + strings.Join(l.blocks("text")[1:4], "|") + "|done"
				record := l.read(strings.TrimPrefix(strings.TrimSuffix(l.sessionFile(), ".jsonl")+".plugins.jsonl", l.root+"/"))
				if n := strings.Count(record, `"fs.read"`); n != 3 || !strings.HasSuffix(record, "}\n") {
					t.Errorf("%d readings are recorded: %s", n, record)
				}
				if have := strings.Join(l.blocks("text"), "|"); have != want || !strings.HasPrefix(have, "go|text 0 word") || !strings.Contains(have, "|text 2 word") {
					t.Errorf("session %s", have)
				}
			} else if e.code != 1 || r.Unsaved == "" || r.Session != "" || len(got) > 8 {
				t.Errorf("%d lines: %v", len(got), e)
			}
			if e := l.run("--quiet", "--continue", "more"); e.code != 0 {
				t.Errorf("later: %v", e)
			}
		})
	}
}

// A session that could not be written when the person began another one is written as soon
// as there is room; what never could be is told at the end.
func TestFullDiskAndAnotherSession(t *testing.T) {
	for _, again := range []bool{true, false} {
		t.Run(fmt.Sprint("space again ", again), func(t *testing.T) {
			l := newLab(t, func(w *reply, n int, _ string) { w.send(says(fmt.Sprint("answer-", n))) })
			w := l.open(100, 24)
			w.sees("what is to be done?")
			ask := func(text, answer string) {
				t.Helper()
				w.press("\x1b[200~" + text + "\x1b[201~\r")
				w.sees(answer)
				w.eventually("the end of the run", func() bool { return !strings.Contains(w.screen(), "Esc stops") })
			}
			ask("first-question", "answer-0")
			full := len(l.read(strings.TrimPrefix(l.sessionFile(), l.root+"/")))
			if err := setRoom(w.pid, uint64(full)); err != nil {
				t.Fatal(err)
			}
			ask("second-question", "answer-1")
			first := strings.TrimPrefix(l.sessionFile(), l.root+"/")
			w.press("\x1b[200~/new\x1b[201~\r")
			w.sees("it is tried again until starling ends")
			if again {
				if err := setRoom(w.pid, 1<<40); err != nil {
					t.Fatal(err)
				}
			}
			ask("third-question", "answer-2")
			w.press("\x03\x03")
			if again {
				w.leaves()
			} else {
				w.sees(strings.TrimSuffix(first[strings.LastIndexByte(first, '/')+1:], ".jsonl"), "not saved")
			}
			if said := l.read(first); again != strings.Contains(said, "answer-1") || again != strings.Contains(said, "second-question") {
				t.Errorf("the first session holds %s", said)
			}
		})
	}
}

// Of a session of which nothing could be written no file is left, and nobody is told to go
// on with it: they would go on with another one.
func TestFullDiskFromTheStart(t *testing.T) {
	l := newLab(t, func(w *reply, _ int, _ string) { w.send(says("the-answer")) })
	w := l.open(100, 24)
	w.sees("what is to be done?")
	if err := setRoom(w.pid, 0); err != nil {
		t.Fatal(err)
	}
	w.press("\x1b[200~go\x1b[201~\r")
	w.sees("the-answer", "not on disk")
	w.eventually("the end of the run", func() bool { return !strings.Contains(w.screen(), "Esc stops") })
	w.press("\x03\x03")
	w.sees("not saved")
	<-w.over
	if shown := w.screen(); strings.Contains(shown, "--continue") {
		t.Errorf("a session that is not there is offered:\n%s", shown)
	}
	files, err := filepath.Glob(filepath.Join(l.home, "sessions", "*.jsonl"))
	if err != nil || len(files) > 0 {
		t.Errorf("left: %q, %v", files, err)
	}
}
