package shell

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"
)

// running counts the live processes.
func running(e *Engine) int {
	n := 0
	for _, r := range e.List() {
		if r.Running {
			n++
		}
	}
	return n
}

// Queued commands never live in greater number than there are places, all get
// their turn, and others are not held up.
func TestPlaces(t *testing.T) {
	const places, commands = 4, 40
	e := newEngine(t, func(o *Options) { o.Places = places })
	var all sync.WaitGroup
	for i := range commands {
		all.Go(func() {
			// Each counts who is there with it; a folder is made in one step.
			line := fmt.Sprintf("mkdir in%d; ls -d in* | wc -l; sleep 0.05; rmdir in%d", i, i)
			o, err := e.Run(t.Context(), Command{Line: line, Queue: true})
			n := 0
			if _, scan := fmt.Sscan(o.Stdout.String(), &n); err != nil || scan != nil || n > places {
				t.Errorf("command %d: %d of %d places, %+v %v %v", i, n, places, o, err, scan)
			}
		})
	}
	if o := run(t, e, Command{Line: "echo free"}); o.Status != 0 {
		t.Errorf("%+v", o)
	}
	all.Wait()
	if len(e.places) != 0 {
		t.Errorf("%d places were not given back", len(e.places))
	}
}

// A place is given back whatever became of the command, and a child in the
// background keeps it.
func TestPlacesAreGivenBack(t *testing.T) {
	e := newEngine(t, func(o *Options) { o.Places = 1 })
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	for _, c := range []struct {
		name    string
		command Command
		ctx     context.Context
		cancel  bool
	}{
		{"ends", Command{Line: "true"}, t.Context(), false},
		{"no program", Command{Argv: []string{"no-such-program"}}, t.Context(), false},
		{"cannot be started", Command{Argv: []string{"echo", strings.Repeat("x", 4<<20)}}, t.Context(), false},
		{"times out", Command{Line: "sleep 300", Timeout: 20 * time.Millisecond}, t.Context(), false},
		{"cancelled", Command{Line: "sleep 300"}, ctx, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			c.command.Queue = true
			if c.cancel {
				go func() {
					until(t, "it runs", func() bool { return running(e) == 1 })
					cancel()
				}()
			}
			_, _ = e.Run(c.ctx, c.command)
			until(t, "the place is free", func() bool { return len(e.places) == 0 })
		})
	}
	o := run(t, e, Command{Line: "sleep 300 & echo", Queue: true})
	if !o.Background || len(e.places) != 1 {
		t.Fatalf("%+v, %d places taken", o, len(e.places))
	}
	if _, err := e.Run(t.Context(), Command{Line: "true", Queue: true, Timeout: 20 * time.Millisecond}); err == nil || !strings.Contains(err.Error(), "1 processes are running and none ended within 20ms") {
		t.Errorf("no place within its time: %v", err)
	}
	waiting, leave := context.WithCancel(t.Context())
	leave()
	if o, err := e.Run(waiting, Command{Line: "true", Queue: true}); !errors.Is(err, context.Canceled) || !o.Cancelled {
		t.Errorf("cancelled while it waits: %+v %v", o, err)
	}
	if err := e.Stop(o.ID); err != nil {
		t.Fatal(err)
	}
	if o := run(t, e, Command{Line: "echo next", Queue: true}); o.Status != 0 {
		t.Errorf("%+v", o)
	}
}

// A full engine with a long queue closes in one grace for all, though nothing
// listens to TERM, and starts nothing more.
func TestCloseWhenFull(t *testing.T) {
	e := newEngine(t, nil)
	var all sync.WaitGroup
	refused := make(chan error, 300)
	for i := range 300 {
		all.Go(func() {
			_, err := e.Run(t.Context(), Command{Line: fmt.Sprintf("trap '' TERM; echo >s%d; while :; do sleep 300; done", i), Queue: true})
			if err != nil {
				refused <- err
			}
		})
	}
	started := func() int {
		names, err := filepath.Glob(filepath.Join(e.opt.Dir, "s*"))
		if err != nil {
			t.Error(err)
		}
		return len(names)
	}
	until(t, "every place is taken", func() bool { return started() == defaultPlaces })
	rows := e.List()
	before := time.Now()
	if err := e.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
	t.Logf("closed %d processes in %s", len(rows), time.Since(before))
	all.Wait()
	if n := started(); n != defaultPlaces {
		t.Errorf("%d commands were started, want %d", n, defaultPlaces)
	}
	if len(refused) != 300-defaultPlaces {
		t.Errorf("%d were refused, want %d", len(refused), 300-defaultPlaces)
	}
	for range len(refused) {
		if err := <-refused; !errors.Is(err, ErrClosed) {
			t.Errorf("refused with %v", err)
		}
	}
	for _, r := range rows {
		if lives(r.PID) {
			t.Errorf("process %d lives", r.PID)
		}
	}
}
