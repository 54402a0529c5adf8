package tui

import (
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/gdamore/tcell/v2"

	"starling/bus/view"
	"starling/surfaces/internal/golden"
	"starling/surfaces/tui/command"
	"starling/surfaces/tui/kit"
)

// What many goroutines put comes out whole, each in its own order, text joined.
func TestInbox(t *testing.T) {
	b := newInbox()
	const writers, pieces = 8, 500
	var wg sync.WaitGroup
	for w := range writers {
		wg.Go(func() {
			for i := range pieces {
				b.write(output, fmt.Sprint(w), fmt.Sprintf("%d,", i))
			}
		})
	}
	got := map[string]*strings.Builder{}
	items := 0
	done := make(chan struct{})
	go func() { wg.Wait(); close(done) }()
	take := func() {
		for _, it := range b.take() {
			if got[it.id] == nil {
				got[it.id] = &strings.Builder{}
			}
			got[it.id].WriteString(it.text.String())
			items++
		}
	}
	for over := false; !over; {
		select {
		case <-b.wake:
			take()
		case <-done:
			take()
			over = true
		}
	}
	var want strings.Builder
	for i := range pieces {
		fmt.Fprintf(&want, "%d,", i)
	}
	for w := range writers {
		if got[fmt.Sprint(w)].String() != want.String() {
			t.Errorf("writer %d came out of order", w)
		}
	}
}

func TestInboxJoins(t *testing.T) {
	b := newInbox()
	b.write(reply, "", "a")
	b.write(reply, "", "b")
	b.write(thought, "", "c")
	b.do(func() {})
	b.write(thought, "", "d")
	var got []string
	for _, it := range b.take() {
		if it.f != nil {
			got = append(got, "f")
			continue
		}
		got = append(got, it.text.String())
	}
	if s := strings.Join(got, " "); s != "ab c f d" {
		t.Errorf("got %q", s)
	}
}

// At most one frame in frameTime, none unasked, none while input waits, but not blind
// for ever.
func TestPump(t *testing.T) {
	t0 := time.Unix(1000, 0)
	p := pump{last: t0}
	p.ask(t0.Add(time.Second))
	if got := p.wait(t0.Add(time.Second), false); got != 0 {
		t.Errorf("after a pause it waits %v", got)
	}
	if got := p.wait(t0.Add(time.Second), true); got != blindTime {
		t.Errorf("with input it waits %v", got)
	}
	if got := p.wait(t0.Add(time.Second+blindTime), true); got != 0 {
		t.Errorf("with input for long it waits %v", got)
	}
	p.done(t0.Add(2 * time.Second))
	p.ask(t0.Add(2 * time.Second))
	if got := p.wait(t0.Add(2*time.Second+time.Millisecond), false); got != frameTime-time.Millisecond {
		t.Errorf("after a frame it waits %v", got)
	}
	if !p.dirty {
		t.Error("a frame that was asked for is forgotten")
	}
	t1 := t0.Add(3 * time.Second)
	p.done(t1)
	p.askCalm(t1)
	if got := p.wait(t1, false); got != calmTime || time.Second/got > 30 {
		t.Errorf("text that streams waits %v", got)
	}
	p.ask(t1)
	p.askCalm(t1)
	if got := p.wait(t1, false); got != frameTime {
		t.Errorf("a key behind it waits %v", got)
	}
}

func TestStatusLines(t *testing.T) {
	th, err := kit.NewTheme("none")
	if err != nil {
		t.Fatal(err)
	}
	var out strings.Builder
	now := time.Unix(1000, 0)
	statuses := []view.Status{
		{Workspace: "shop", Branch: "main*", Model: "sonnet", Thinking: "medium", Tokens: 36_000, Context: 200_000, Cost: 0.042, Waiting: 2},
		{Workspace: "a-very-long-name-of-a-workspace-that-does-not-fit", Branch: "feature/漢字-branch", Model: "a-model-with-a-long-name", Cost: 12},
		{Workspace: "[red]x\x1b[2J", Model: "m", Tokens: 999},
		{},
	}
	works := []work{
		{},
		{on: true, what: "go test ./...", since: now.Add(-12 * time.Second), queued: 1, extra: []string{"clock: 12:30"}},
		{on: true, what: strings.Repeat("long ", 40), since: now, step: 3},
		{on: true, what: "go test ./...", since: now.Add(-12 * time.Second), queued: 1, aside: true},
		{hint: "Ctrl-C again quits"},
		{hint: strings.Repeat("a long hint ", 20), on: true, what: "thinking", since: now, extra: []string{"clock: 12:30"}},
		{extra: []string{"forecast: " + strings.Repeat("rain ", 9), "clock: 12:30"}},
		{panel: "todos"},
		{panel: "a-plugin-with-a-long-name/and-its-surface", on: true, what: "go test ./...", since: now.Add(-12 * time.Second), queued: 1, extra: []string{"clock: 12:30"}},
		{panel: "todos", dialog: true, on: true, what: "go test ./...", since: now},
	}
	for _, width := range []int{1, 10, 24, 40, 80, 120} {
		for _, ascii := range []bool{false, true} {
			screen := tcell.NewSimulationScreen("UTF-8")
			if err := screen.Init(); err != nil {
				t.Fatal(err)
			}
			screen.SetSize(width, len(statuses)+len(works))
			g := kit.SignsFor(ascii)
			for i, st := range statuses {
				drawTop(screen, kit.Rect{Y: i, W: width, H: 1}, st, th, g)
			}
			for i, w := range works {
				w.keys = command.DefaultShortcuts()
				drawBottom(screen, kit.Rect{Y: len(statuses) + i, W: width, H: 1}, "ask", w, now, th, g)
			}
			fmt.Fprintf(&out, "%d ascii %v\n%s", width, ascii, screenText(screen))
			screen.Fini()
		}
	}
	golden.Compare(t, "status", out.String())
}
