package shell

import (
	"os"
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
