package tui

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/gdamore/tcell/v2"

	"starling/bus/event"
	"starling/bus/view"
)

// slow is an engine whose commands take as long as a test wants.
type slow struct {
	*engine
	free chan view.CommandReply // what one ends with that is not stopped
	// deaf: a command that is stopped ends well all the same.
	deaf bool
	// late is closed once a command that is stopped may end; nil lets it at once.
	late chan struct{}
}

func (s *slow) Command(ctx context.Context, name, _ string) (view.CommandReply, error) {
	if name != "slow" {
		return s.engine.Command(ctx, name, "")
	}
	select {
	case r := <-s.free:
		return r, nil
	case <-ctx.Done():
		if s.late != nil {
			<-s.late
		}
		if s.deaf {
			return view.CommandReply{Found: true, Lines: []string{"half of it"}}, nil
		}
		return view.CommandReply{}, fmt.Errorf("exec: %w", ctx.Err())
	}
}

func slowLab(t *testing.T, s *slow) *lab {
	t.Helper()
	if s.engine == nil {
		s.engine = &engine{}
	}
	s.free = make(chan view.CommandReply)
	l := newLab(t, 100, 24, s.engine)
	l.in(func() { l.s.engine = opened(s) })
	return l
}

// foot is the last row of the screen.
func (l *lab) foot() string {
	l.t.Helper()
	rows := strings.Split(strings.TrimRight(l.text(), "\n"), "\n")
	return rows[len(rows)-1]
}

// A command of a plugin that runs is shown as a call is, with its name and time; what is
// sent meanwhile waits and says for what. Esc stops the command, and then what waits is
// the person's to send.
func TestCommandThatRuns(t *testing.T) {
	s := &slow{}
	l := slowLab(t, s)
	l.in(func() { l.s.send(entry("/slow and more")) })
	l.sees("/slow")
	l.sees("Esc stops")
	l.in(func() {
		for _, j := range l.s.jobs {
			j.since = j.since.Add(-65 * time.Second)
		}
		l.s.idle()
		l.s.send(entry("then this"))
	})
	if got := l.foot(); !strings.Contains(got, "/slow  1 min 0") || !strings.Contains(got, "1 queued behind /slow") {
		t.Errorf("the foot is %q", got)
	}
	l.key(tcell.KeyEsc, 0, 0)
	l.sees("/slow stopped; 1 queued line waits: Enter sends it")
	if got := l.text(); strings.Contains(got, "exec:") || strings.Contains(got, "Esc stops") || strings.Contains(got, "behind") {
		t.Errorf("behind the stop the screen is\n%s", got)
	}
	if got := s.said(); len(got) != 0 {
		t.Errorf("%q was sent", got)
	}
	l.key(tcell.KeyEnter, 0, 0)
	l.until("it is sent", func() bool { return strings.Join(s.said(), ",") == "then this" })
}

// A command that ends by itself goes on with what waits, says what it has to say, and is
// gone from the foot. One that is done at once never was there.
func TestCommandThatEnds(t *testing.T) {
	s := &slow{}
	l := slowLab(t, s)
	l.in(func() {
		l.s.send(entry("/slow"))
		l.s.send(entry("then this"))
	})
	l.until("it is shown", func() bool { return l.s.job() != nil })
	s.free <- view.CommandReply{Found: true, Lines: []string{"all of it"}}
	l.sees("all of it")
	l.until("what waited", func() bool { return len(s.said()) == 1 && l.s.running == nil })
	if got := l.foot(); strings.Contains(got, "/slow") || strings.Contains(got, "Esc stops") {
		t.Errorf("the foot is %q", got)
	}
	l.in(func() {
		_, j := l.s.begin("/quick")
		if l.s.job() != nil || l.s.work.on {
			t.Error("it is shown before it took any time")
		}
		l.s.finish(j)
		l.s.showJob(j)
		if l.s.job() != nil || l.s.work.on {
			t.Error("it is shown although it is done")
		}
	})
}

// What a command says that ended well although it was stopped is shown.
func TestStoppedCommandSpeaks(t *testing.T) {
	l := slowLab(t, &slow{deaf: true})
	l.in(func() { l.s.send(entry("/slow")) })
	l.key(tcell.KeyEsc, 0, 0) // before it is shown
	l.sees("half of it")
	l.sees("/slow stopped")
}

// Commands stand beside the run that goes on; Esc stops all of it.
func TestCommandBesideRun(t *testing.T) {
	e := &engine{run: waiting, shell: func(ctx context.Context, _ string, _ func(string)) (view.Ended, error) {
		<-ctx.Done()
		return view.Ended{Status: "cancelled", Failed: true}, nil
	}}
	for name, line := range map[string]string{"first": "/slow", "last": "/slow", "shell": "!sleep 60"} {
		t.Run(name, func(t *testing.T) {
			s := &slow{engine: e}
			if name == "last" {
				s.late = make(chan struct{})
			}
			l := slowLab(t, s)
			l.in(func() { l.s.prompt(entry("go")) })
			l.s.onCall(&event.ToolCallEvent{ID: "1", Name: "bash", ArgumentsJSON: `{"command":"make"}`})
			l.sees("bash make")
			l.in(func() { l.s.send(entry(line)) })
			what := strings.TrimPrefix(line, "!")
			l.until("both", func() bool { return l.s.job() != nil })
			if got := l.foot(); !strings.Contains(got, "bash make · "+what+" ·") && !strings.Contains(got, "bash make · "+what+"  ") {
				t.Errorf("the foot is %q", got)
			}
			l.in(func() { l.s.send(entry("then this")) })
			if got := l.foot(); !strings.Contains(got, "1 queued") || strings.Contains(got, "behind") {
				t.Errorf("the foot is %q", got)
			}
			l.key(tcell.KeyEsc, 0, 0)
			if s.late != nil {
				l.until("the run is over", func() bool { return l.s.running == nil })
				close(s.late)
			}
			l.until("all stopped", func() bool { return l.s.running == nil && len(l.s.jobs) == 0 && !l.s.work.on })
			if got := strings.Count(l.text(), "queued line waits"); got != 1 {
				t.Errorf("told %d times what waits:\n%s", got, l.text())
			}
		})
	}
}

// The line mode says what a line waits for, and its Ctrl-C stops a command.
func TestLinesStopCommand(t *testing.T) {
	e := &engine{}
	l := newPlain(t, e)
	l.sees("/help")
	l.s.in.do(func() { l.s.engine = opened(&slow{engine: e}) })
	l.line("/slow")
	l.line("then this")
	l.sees("queued behind /slow: then this")
	l.s.in.do(func() { l.s.stopRun() })
	l.sees("/slow stopped; 1 queued line waits: an empty line sends it")
	l.line("")
	l.sees("ready")
	if got := strings.Join(e.said(), ","); got != "then this" {
		t.Errorf("%q was sent", got)
	}
	l.line("/quit")
	l.ends()
}
