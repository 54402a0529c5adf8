package cli_test

import (
	"fmt"
	"math/rand/v2"
	"os"
	"strconv"
	"strings"
	"testing"
	"time"
)

// steps is how many replies with tool calls a prompt gets before the last one.
const steps = 3

// TestKill9 kills the whole program at random points, several times in one
// session, and goes on with it: the server gets valid requests only, no finished
// line of the session is lost, nothing the server was told is missing, and what
// was cut is said once. SOAK is the number of sessions, SEED repeats one run.
func TestKill9(t *testing.T) {
	points := 8
	if n, err := strconv.Atoi(os.Getenv("SOAK")); err == nil {
		points = n
	}
	seed := uint64(time.Now().UnixNano())
	if n, err := strconv.ParseUint(os.Getenv("SEED"), 10, 64); err == nil {
		seed = n
	}
	killed, cuts := 0, map[string]int{}
	for point := range points {
		t.Run(strconv.Itoa(point), func(t *testing.T) {
			t.Logf("SEED=%d", seed)
			k := newKilling(t, rand.New(rand.NewPCG(seed, uint64(point))), cuts)
			for range 1 + k.random.IntN(3) {
				if k.kill() {
					killed++
				}
			}
			k.goOn()
		})
	}
	t.Logf("%d kills; sessions gone on with, by what was cut: %v", killed, cuts)
	if killed < points/2 {
		t.Errorf("SEED=%d: %d of at least %d programs were still alive when they were killed", seed, killed, points)
	}
}

// slowPlugin has a tool that can be killed at work.
const slowPlugin = `inject = ["tools"]
uses = ["exec"]
def apply(ctx):
    tool("slow", "Takes its time.", {}, lambda args: exec("sleep 0.1; echo slept").output)
`

// killing is a session that is killed and gone on with.
type killing struct {
	*lab
	t      *testing.T
	random *rand.Rand
	prompt int
	cuts   map[string]int // how runs were cut off, and how often

	// under lab.mu
	left    int           // bytes the server sends before reached is closed; < 0: no limit
	reached chan struct{} // nil when nobody waits
}

func newKilling(t *testing.T, random *rand.Rand, cuts map[string]int) *killing {
	k := &killing{t: t, random: random, cuts: cuts, left: -1}
	k.lab = newLab(t, k.answer)
	k.lab.write("home/plugins/slow.star", slowPlugin)
	if k.strict = random.IntN(2) == 0; k.strict {
		k.models(`"compat": {"alternate_roles": true, "reasoning_back": "none"}`)
	}
	return k
}

// answer streams slowly: calls of write, slow and read, then a text. What it answers
// depends on the request alone, as in a server that knows no session.
func (k *killing) answer(w *reply, n int, body string) {
	step := 0
	for _, m := range messages(k.t, body) {
		switch {
		case m.Role == "user":
			step = 0
		case m.Role == "assistant":
			step++
		}
	}
	var chunks []string
	for i := range 8 {
		chunks = append(chunks, content(fmt.Sprintf("step %d piece %d 漢🦜 ", step, i)))
	}
	if step < steps {
		chunks = append(chunks,
			toolCall(0, fmt.Sprintf("w%d", n), "write", fmt.Sprintf(`{"path":"f%d.txt","content":%s}`, step, quote(strings.Repeat("line\n", 200)))),
			toolCall(1, fmt.Sprintf("s%d", n), "slow", ""),
			toolCall(2, fmt.Sprintf("r%d", n), "read", fmt.Sprintf(`{"path":"f%d.txt"}`, step)),
			finish("tool_calls"))
	} else {
		chunks = append(chunks, finish("stop"))
	}
	text := data(chunks...)
	for text != "" {
		piece := text[:min(len(text), 97)]
		text = text[len(piece):]
		w.send(piece)
		k.count(len(piece))
		time.Sleep(200 * time.Microsecond)
	}
}

func (k *killing) count(sent int) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.left < 0 {
		return
	}
	if k.left -= sent; k.left < 0 {
		close(k.reached)
	}
}

// args of the next program: the session is gone on with when there is one.
func (k *killing) args() []string {
	k.prompt++
	prompt := fmt.Sprintf("prompt %d", k.prompt)
	switch {
	case k.sessionFile() == "":
		return []string{"--quiet", prompt}
	case k.random.IntN(2) == 0:
		return []string{"--quiet", "--continue", prompt}
	}
	return []string{"--quiet", "--resume", "last", prompt}
}

// kill runs a program and kills it: after some time, or when the server has sent
// some bytes. It tells whether the program was still alive.
func (k *killing) kill() bool {
	k.t.Helper()
	before := k.snapshot()
	reached := make(chan struct{})
	after := time.Minute // of the server's bytes, whatever the machine
	k.mu.Lock()
	if k.random.IntN(4) == 0 {
		k.left, after = -1, time.Duration(k.random.IntN(400))*time.Millisecond
	} else {
		k.left, k.reached = k.random.IntN(12_000), reached
	}
	k.mu.Unlock()
	p := k.start(k.args()...)
	timer := time.NewTimer(after)
	defer timer.Stop()
	select {
	case <-reached:
		time.Sleep(time.Duration(k.random.IntN([]int{5, 100}[k.random.IntN(2)])) * time.Millisecond)
	case <-timer.C:
	case <-p.over:
	}
	_ = p.cmd.Process.Kill()
	e := p.wait()
	k.settle() // a request it sent last may not have been read yet
	k.mu.Lock()
	k.left = -1
	k.mu.Unlock()
	if e.code > 0 {
		k.t.Fatalf("it ended by itself with %v", e)
	}
	k.check(before, e)
	if path := k.sessionFile(); path != "" && k.random.IntN(3) == 0 {
		k.tear(path)
	}
	return e.code < 0
}

// tear leaves a fragment behind the last line, as if the machine had stopped in
// the write.
func (k *killing) tear(path string) {
	if _, rest := finished(k.t, path); rest != "" {
		return
	}
	whole := `{"kind":"message","id":"99","parent":"1","ts":"2026-03-01T12:00:09Z","role":"user","blocks":[{"kind":"text","text":"täil"}]}`
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_APPEND, 0)
	if err != nil {
		k.t.Fatal(err)
	}
	defer f.Close()
	if _, err := f.WriteString(whole[:1+k.random.IntN(len(whole)-2)]); err != nil {
		k.t.Fatal(err)
	}
}

// state is what a program finds.
type state struct {
	lines    []string
	rest     string
	requests int
	told     []wire // what the server was told last, or nil
}

func (k *killing) snapshot() state {
	k.t.Helper()
	s := state{requests: len(k.sent())}
	if path := k.sessionFile(); path != "" {
		s.lines, s.rest = finished(k.t, path)
	}
	if s.requests > 0 {
		s.told = messages(k.t, k.sent()[s.requests-1].body)
	}
	return s
}

// cut is what a resume must say of how the last run ended; "" when it came to
// its end.
func (s state) cut(t *testing.T) string {
	open, last := 0, ""
	for _, l := range decoded(t, s.lines) {
		if l.Kind != "message" {
			continue
		}
		last = l.Role
		if l.Role == "assistant" {
			open = 0
		}
		for _, b := range l.Blocks {
			switch b.Kind {
			case "tool_call":
				open++
			case "tool_result":
				open--
			}
		}
	}
	switch {
	case open == 1:
		return "its last run was cut off: a tool call has no result"
	case open > 1:
		return fmt.Sprintf("its last run was cut off: %d tool calls have no result", open)
	case last == "user" || last == "tool":
		return "its last run ended before the model answered"
	}
	return ""
}

// check holds what a program left against what it found.
func (k *killing) check(before state, e ended) {
	k.t.Helper()
	after := k.snapshot() // ends the test at a request that is not valid
	if len(after.lines) < len(before.lines) {
		k.t.Fatalf("%d lines became %d\n%v", len(before.lines), len(after.lines), e)
	}
	for i, line := range before.lines {
		if after.lines[i] != line {
			k.t.Fatalf("line %d was %q and is %q\n%v", i+1, line, after.lines[i], e)
		}
	}
	decoded(k.t, after.lines)
	if after.requests == before.requests {
		return
	}
	// What a server was told is what the next request begins with: nothing of it
	// was lost on disk.
	first := messages(k.t, k.sent()[before.requests].body)
	if len(first) < len(before.told) {
		k.t.Fatalf("%d messages, and %d had been sent before\n%v", len(first), len(before.told), e)
	}
	for i, m := range before.told {
		got, same := first[i], false
		switch {
		case i == 0: // the system prompt
			same = got.Role == "system"
		case i == len(before.told)-1 && m.Role == "user": // a strict server gets the next prompt joined to it
			same = got.Role == m.Role && strings.HasPrefix(got.text(), m.text())
		default:
			same = fmt.Sprint(got) == fmt.Sprint(m)
		}
		if !same {
			k.t.Fatalf("message %d was sent as %v and is now %v\n%v", i, m, got, e)
		}
	}
	cut := before.cut(k.t)
	if n := strings.Count(e.stderr, "its last run"); n > 1 || (cut != "") != (n == 1) || !strings.Contains(e.stderr, cut) {
		k.t.Fatalf("want %q once\n%v", cut, e)
	}
	k.cuts[cut]++
	if n := strings.Count(e.stderr, "the last line was cut off"); n > 1 || (before.rest != "") != (n == 1) {
		k.t.Fatalf("a fragment of %d bytes, told %d times\n%v", len(before.rest), n, e)
	}
}

// goOn runs a program to its end.
func (k *killing) goOn() {
	k.t.Helper()
	before := k.snapshot()
	e := k.run(k.args()...)
	if e.code != 0 || !strings.HasPrefix(e.stdout, fmt.Sprintf("step %d ", steps)) {
		k.t.Fatal(e)
	}
	k.check(before, e)
	after := k.snapshot()
	if after.rest != "" || after.cut(k.t) != "" {
		k.t.Errorf("the session is left in the middle: %q", after.lines)
	}
	for i := range steps {
		if got := k.read(fmt.Sprintf("ws/f%d.txt", i)); strings.Count(got, "line\n") != 200 {
			k.t.Errorf("file %d has %d bytes", i, len(got))
		}
	}
}
