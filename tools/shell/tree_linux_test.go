package shell

import (
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

func TestParseStat(t *testing.T) {
	rest := " 1 2 3 0 -1 0 0 0 0 0 0 0 0 0 20 0 1 0 777 0 0"
	for _, c := range []struct {
		text string
		want entry
		ok   bool
	}{
		{"9 (sh) S" + rest, entry{pid: 9, parent: 1, group: 2, session: 3, start: 777}, true},
		{"9 (a) Z 7 (b) Z" + rest, entry{pid: 9, parent: 1, group: 2, session: 3, start: 777, zombie: true}, true},
		{"9 (sh) S 1 2 3", entry{}, false},
		{"9 (sh) S x" + rest[2:], entry{pid: 9, group: 2, session: 3, start: 777}, false},
		{"", entry{}, false},
	} {
		if got, ok := parseStat(9, []byte(c.text)); got != c.want || ok != c.ok {
			t.Errorf("%q: %+v %v", c.text, got, ok)
		}
	}
}

// Where the program is process 1, orphans become its children; they must not
// stay zombies.
func TestOrphansAreReaped(t *testing.T) {
	if err := unix.Prctl(unix.PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0); err != nil {
		t.Fatal(err)
	}
	defer func() { _ = unix.Prctl(unix.PR_SET_CHILD_SUBREAPER, 0, 0, 0, 0) }()
	e := newEngine(t, nil)
	o := run(t, e, Command{Line: "sleep 300 & sleep 300 & echo $!"})
	if err := e.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
	if !o.Background {
		t.Errorf("outcome %+v", o)
	}
	for _, p := range processTable() {
		if p.parent == os.Getpid() && p.zombie {
			t.Errorf("zombie %+v", p)
		}
	}
}

// Neither ended, refused, killed nor abandoned commands keep a descriptor.
func TestDescriptors(t *testing.T) {
	open := func() int {
		fds, err := os.ReadDir("/proc/self/fd")
		if err != nil {
			t.Fatal(err)
		}
		return len(fds)
	}
	e := newEngine(t, nil)
	dir := t.TempDir()
	program(t, dir+"/broken", "\x7fELF, or not")
	b := newEngine(t, func(o *Options) { o.Env = []string{"PATH=" + dir} })
	round := func() {
		run(t, e, Command{Line: "cat", Stdin: "x"})
		run(t, e, Command{Line: "sleep 300", Stdin: strings.Repeat("x", 1<<20), Timeout: 20 * time.Millisecond})
		run(t, e, Command{Line: "sleep 300 & exit 0", Origin: "o"})
		if _, err := b.Run(t.Context(), Command{Argv: []string{"broken"}, Stdin: "x"}); err == nil {
			t.Error("a broken program ran")
		}
		e.StopOrigin(t.Context(), "o")
	}
	round() // what the runtime opens once
	before := open()
	for range 5 {
		round()
	}
	until(t, "all is closed again", func() bool { return open() <= before })
}

// A daemon, which left its session, its parent and the pipes, belongs to its
// command as long as it lives; a command beside it does not.
func TestDaemon(t *testing.T) {
	const line = `(setsid sh -c 'echo $$ >pid; exec sleep 300' </dev/null >/dev/null 2>&1 &); while [ ! -s pid ]; do sleep 0.01; done; cat pid`
	e := newEngine(t, nil)
	var daemons []int
	for _, origin := range []string{"a", "b"} {
		o := run(t, e, Command{Line: "rm -f pid; " + line, Origin: origin, Env: map[string]string{markName: "a name of the caller's"}})
		pid := pids(t, o.Stdout.Head)[0]
		if !o.Background || len(o.Left) != 1 || o.Left[0].PID != pid || o.Left[0].Name != "sleep 300" {
			t.Errorf("outcome %+v, want %d in the background", o, pid)
		}
		daemons = append(daemons, pid)
	}
	e.StopOrigin(t.Context(), "a")
	if lives(daemons[0]) || !lives(daemons[1]) {
		t.Errorf("daemons live: %v, %v", lives(daemons[0]), lives(daemons[1]))
	}
}

// The environment of a process is read once; another process of its number is
// another one.
func TestMarks(t *testing.T) {
	reads := 0
	m := marks{read: func(pid int) []byte {
		reads++
		return []byte("A=1\x00" + markName + "=e." + strings.Repeat("x", pid) + "\x00B=2\x00")
	}}
	for range 3 {
		if a, b, c := m.of(entry{pid: 1, start: 7}), m.of(entry{pid: 2, start: 7}), m.of(entry{pid: 1, start: 8}); a != "e.x" || b != "e.xx" || c != "e.x" {
			t.Errorf("%q %q %q", a, b, c)
		}
	}
	if reads != 3 {
		t.Errorf("%d readings of 3 processes", reads)
	}
	for i := range 3 * mostMarks {
		m.of(entry{pid: 1, start: uint64(i)})
	}
	if len(m.seen) > mostMarks {
		t.Errorf("%d remembered", len(m.seen))
	}
	m.read = func(int) []byte { return nil }
	if mark := m.of(entry{pid: 9}); mark != "" {
		t.Errorf("%q without an environment", mark)
	}
}

func BenchmarkProcessTable(b *testing.B) {
	for b.Loop() {
		if len(processTable()) == 0 {
			b.Fatal("empty")
		}
	}
}

func BenchmarkRun(b *testing.B) {
	e := New(Options{Env: []string{"PATH=" + os.Getenv("PATH")}})
	defer func() { _ = e.Close(b.Context()) }()
	for b.Loop() {
		if o, err := e.Run(b.Context(), Command{Argv: []string{"true"}}); err != nil || o.Status != 0 {
			b.Fatal(o, err)
		}
	}
}

// The part of the table holds all that the whole one does from that number on, and
// is refused where it could not.
func TestProcessesFrom(t *testing.T) {
	e := newEngine(t, nil)
	earlier := processTable() // numbers come round: a higher one may be older
	o := run(t, e, Command{Line: "echo $$; setsid sleep 300 & sleep 300 & (sleep 300 & sleep 300 &); echo $!"})
	all := pids(t, o.Stdout.Head)
	first := all[0]
	before := processTable()
	part, ok := processesFrom(first)
	after := processTable()
	if !ok {
		if newest, _ := newestPID(make([]byte, 64)); newest >= first && newest-first < mostRecent/2 {
			t.Fatalf("refused, from %d to %d", first, newest)
		}
		return // the machine is busy: the whole table is read
	}
	in := func(table []entry, pid int) bool {
		return slices.ContainsFunc(table, func(e entry) bool { return e.pid == pid })
	}
	for _, e := range before {
		if e.pid >= first && !in(earlier, e.pid) && in(after, e.pid) && !in(part, e.pid) {
			t.Errorf("%+v is not in the part", e)
		}
	}
	if !in(part, all[len(all)-1]) {
		t.Errorf("process %d is not in the part", all[len(all)-1])
	}
	if _, ok := processesFrom(1 << 30); ok {
		t.Error("a number that was not given away yet: the numbers came round, and the part is not refused")
	}
	if _, ok := processesFrom(1); ok && len(before) > 0 && before[len(before)-1].pid > mostRecent {
		t.Error("the whole machine is no part")
	}
}
