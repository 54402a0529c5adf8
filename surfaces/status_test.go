package surfaces_test

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"starling/bus/spec"
)

func TestStatus(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := newLab(t)
		asked := 0
		fail := false
		id, _ := l.mount(spec.Surface{
			Placement: map[string]any{"kind": "status"}, Model: start(),
			View: func(_ context.Context, _ any, host map[string]any) (any, error) {
				asked++
				if fail {
					return nil, errors.New("gone")
				}
				return fmt.Sprintf("\nrunning %v \x1b[1m%d\nmore", host["running"], asked), nil
			},
		})
		if p := l.panel(id); p.Text != "running false 1" || p.Tree != nil {
			t.Fatalf("status %+v", p)
		}
		l.mu.Lock()
		l.running = true
		l.mu.Unlock()
		for range 20 { // five seconds
			time.Sleep(250 * time.Millisecond)
			l.host.Tick()
			synctest.Wait()
		}
		if asked != 6 {
			t.Errorf("asked %d times in five seconds", asked)
		}
		if p := l.panel(id); p.Text != "running true 6" {
			t.Errorf("status %q", p.Text)
		}
		fail = true
		for range 12 {
			time.Sleep(250 * time.Millisecond)
			l.host.Tick()
			synctest.Wait()
		}
		if p := l.panel(id); p.Text != "" || p.Open() {
			t.Errorf("a failing status: %+v", p)
		}
		if got := l.notes(); got != `p: surface "s": view: gone` {
			t.Errorf("said %q", got)
		}
	})
}

// A status that says nothing is no line and no fault; it may say something later.
func TestStatusSaysNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := newLab(t)
		model := start("text", nil)
		id, _ := l.mount(spec.Surface{
			Placement: map[string]any{"kind": "status"}, Model: model,
			View: func(_ context.Context, m any, _ map[string]any) (any, error) { return m.(map[string]any)["text"], nil },
		})
		for _, text := range []any{nil, "12:30", nil} {
			model.Store(map[string]any{"text": text})
			time.Sleep(time.Second) // it is asked once in this time
			l.host.Tick()
			synctest.Wait()
			want, _ := text.(string)
			if p := l.panel(id); p.Text != want || p.Open() != (text != nil) {
				t.Errorf("of %v the status is %+v", text, p)
			}
		}
		if l.notes() != "" {
			t.Errorf("said %q", l.notes())
		}
	})
}
