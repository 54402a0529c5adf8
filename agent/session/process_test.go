package session_test

import (
	"bufio"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"starling/agent/session"
	"starling/bus/chat"
)

// children are what the test binary does as another process; the argument is
// "DIR" or "DIR ID".
var children = map[string]func(argument string){
	"limited": limitedChild,
	"append":  appendChild,
}

func messages(t testing.TB, s *session.Session) []chat.Message {
	t.Helper()
	return must[[]chat.Message](t)(s.Messages())
}

// appendChild opens a session, says "open" and appends numbered turns, as many
// as asked; it says each number once it is saved.
func appendChild(argument string) {
	fields := strings.Fields(argument)
	st := session.Store{Dir: fields[0]}
	count, err := strconv.Atoi(fields[2])
	check(err)
	s, err := st.Open(fields[1])
	if errors.Is(err, session.ErrLocked) {
		fmt.Println("locked", err)
		return
	}
	check(err)
	before, err := s.Messages()
	check(err)
	fmt.Println("open")
	for i := len(before) / 3; count > 0; i, count = i+1, count-1 {
		text := fmt.Sprintf("turn %d %s", i, strings.Repeat("x", i*7919%70_000))
		call, result := asks(fmt.Sprint("c", i))
		check(s.Append(user(text)))
		check(s.Append(call))
		result.Blocks[0].Text = text
		check(s.Append(result))
		fmt.Println(i)
	}
	check(s.Close())
}

// A kill at any point loses no message whose append returned, and what is read
// is a valid conversation. SOAK is the number of kills.
func TestKill9(t *testing.T) {
	rounds := 20
	if n, err := strconv.Atoi(os.Getenv("SOAK")); err == nil {
		rounds = n
	}
	st := session.Store{Dir: t.TempDir()}
	id, path := written(t, st, user("turn 0"), reply("a"), user("b")) // the child counts in threes
	random := rand.New(rand.NewPCG(1, 2))
	killed, turns := 0, 1
	for range rounds {
		cmd := child("append", fmt.Sprintf("%s %s %d", st.Dir, id, 100_000))
		out := must[interface{ Read([]byte) (int, error) }](t)(cmd.StdoutPipe())
		ok(t, cmd.Start())
		said := bufio.NewScanner(out)
		if !said.Scan() || said.Text() != "open" {
			t.Fatalf("the child says %q: a dead owner's lock was not free", said.Text())
		}
		stop := time.AfterFunc(time.Duration(random.IntN(30_000))*time.Microsecond, func() { _ = cmd.Process.Kill() })
		for said.Scan() {
			turns = must[int](t)(strconv.Atoi(said.Text())) + 1
		}
		if stop.Stop() {
			t.Fatal("the child ended by itself")
		}
		_ = cmd.Wait() // killed
		killed++
		turns = checkTurns(t, st, id, turns)
		if killed%2 == 0 { // as if the kernel had been stopped in the write
			appendRaw(t, path, `{"kind":"message","id":"9`)
		}
	}
	if killed != rounds || turns < 2 {
		t.Errorf("%d kills, %d turns: nothing was tested", killed, turns)
	}
}

// checkTurns reads what a killed child left, which is at least so many turns,
// mends its last one and returns how many there are.
func checkTurns(t *testing.T, st session.Store, id string, atLeast int) int {
	t.Helper()
	s := must[*session.Session](t)(st.Open(id))
	defer s.Close()
	got := messages(t, s)
	if len(got) < 3*atLeast {
		t.Fatalf("%d messages, want %d at least", len(got), 3*atLeast)
	}
	for i := 3; i < len(got); i++ {
		turn := i / 3
		switch m := got[i]; {
		case i%3 == 0 && (m.Role != chat.User || !strings.HasPrefix(m.Text(), fmt.Sprintf("turn %d ", turn))),
			i%3 == 1 && (len(m.Calls()) != 1 || m.Calls()[0].ID != fmt.Sprint("c", turn)),
			i%3 == 2 && (m.Role != chat.ToolRole || m.Blocks[0].ID != fmt.Sprint("c", turn) || m.Blocks[0].Text != got[i-2].Text()):
			t.Fatalf("message %d of turn %d is %.100v", i, turn, m)
		}
	}
	turn := len(got) / 3
	call, result := asks(fmt.Sprint("c", turn))
	switch len(got) % 3 {
	case 1:
		result.Blocks[0].Text = got[len(got)-1].Text()
		ok(t, s.Append(call, result))
		turn++
	case 2:
		result.Blocks[0].Text = got[len(got)-2].Text()
		ok(t, s.Append(result))
		turn++
	}
	return turn
}

// G-03: two processes on one session.
func TestG03TwoProcesses(t *testing.T) {
	st := session.Store{Dir: t.TempDir(), Owner: "the test"}
	s := begin(t, st, user("turn 0"), reply("a"), user("b"))
	run := func(count int) string {
		return string(must[[]byte](t)(child("append", fmt.Sprintf("%s %s %d", st.Dir, s.ID(), count)).Output()))
	}
	if said := run(1); !strings.HasPrefix(said, "locked") || !strings.Contains(said, "the test since 20") {
		t.Errorf("the second process says %q", said)
	}
	if _, err := st.Open(s.ID()); !errors.Is(err, session.ErrLocked) {
		t.Errorf("a second time in one process: %v", err)
	}
	for i := range 200 {
		ok(t, s.Append(user(strings.Repeat(strconv.Itoa(i%10), 64<<10))))
		if i == 100 { // a reader sees whole lines, a fork goes its own way
			if n := len(messages(t, must[*session.Session](t)(st.Read(s.ID())))); n != 104 {
				t.Errorf("the reader sees %d messages", n)
			}
			fork, _, err := st.Fork(s.ID(), session.Meta{})
			ok(t, err)
			ok(t, fork.Append(user("on my own")))
			ok(t, fork.Close())
		}
	}
	ok(t, s.Close())
	if said := run(1); !strings.HasPrefix(said, "open") {
		t.Errorf("after the end of the first the second says %q", said)
	}
	if n := len(lines(t, s.Path())); n != 1+203+3 {
		t.Errorf("%d lines", n)
	}

	// A killed owner: its lock is free at once, whoever has its id now.
	cmd := child("append", fmt.Sprintf("%s %s %d", st.Dir, s.ID(), 100_000))
	out := must[interface{ Read([]byte) (int, error) }](t)(cmd.StdoutPipe())
	ok(t, cmd.Start())
	said := bufio.NewScanner(out)
	if !said.Scan() || said.Text() != "open" {
		t.Fatalf("the child says %q", said.Text())
	}
	locked := (*session.LockedError)(nil)
	if _, err := st.Open(s.ID()); !errors.As(err, &locked) || !strings.HasPrefix(locked.Owner, fmt.Sprint("process ", cmd.Process.Pid, " ")) {
		t.Errorf("the owner: %v", err)
	}
	kill9(t, cmd)
	ok(t, os.WriteFile(s.Path()+".owner", fmt.Appendf(nil, "process %d since ever", os.Getpid()), 0o600))
	again := must[*session.Session](t)(st.Open(s.ID()))
	ok(t, again.Append(user("mine")))
	ok(t, again.Close())
	if _, err := os.Stat(s.Path() + ".owner"); err == nil {
		t.Error("the owner file is left")
	}
}

// G-03: a command that the owner was starting when it was killed has its open
// files, and with them the lock, for a moment longer.
func TestG03LockOfAStartingChild(t *testing.T) {
	st := session.Store{Dir: t.TempDir()}
	id, path := written(t, st, user("one"))
	f := must[*os.File](t)(os.OpenFile(path, os.O_RDWR, 0))
	ok(t, unix.Flock(int(f.Fd()), unix.LOCK_EX))
	child := exec.Command("sleep", "0.05")
	child.ExtraFiles = []*os.File{f}
	ok(t, child.Start())
	ok(t, f.Close()) // from here on only the child holds it
	s := must[*session.Session](t)(st.Open(id))
	ok(t, s.Append(user("two")))
	ok(t, s.Close())
	ok(t, child.Wait())
}
