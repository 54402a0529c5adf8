package agent_test

import (
	"context"
	"errors"
	"reflect"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"starling/agent"
	"starling/bus"
	"starling/bus/chat"
	"starling/bus/event"
	"starling/bus/spec"
)

// Everything that is added to the transcript is recorded, in order, before
// anybody hears of it; nothing else is.
func TestAppended(t *testing.T) {
	var record []chat.Message
	l := newLab([]spec.Step{calls(call("echo", `{"text":"a"}`), call("echo", `{"text":"b"}`)), say("one"), say("two"), say("three")}, nil)
	l.options.Appended = func(messages ...chat.Message) error { record = append(record, messages...); return nil }
	l.agent = agent.New(l.options)
	l.tool(echo("echo"))
	same := func() {
		if !reflect.DeepEqual(record, l.agent.Transcript()) {
			t.Errorf("recorded\n%s\nthe transcript is\n%s", roles(record), roles(l.agent.Transcript()))
		}
	}
	watch(l, event.RunStart, func(e *event.RunStartEvent) { _ = e.Run.Note("note"); same() })
	watch(l, event.Message, func(*event.MessageEvent) { same() })
	watch(l, event.TurnEnd, func(e *event.TurnEndEvent) {
		if same(); e.Calls == 0 && e.Run.Task() == "go" {
			_ = e.Run.PushUser("more")
		}
	})
	watch(l, event.RunEnd, func(e *event.RunEndEvent) { same(); _ = e.Run.Note("end") })
	l.agent.Run(t.Context(), "go")
	same()
	if len(record) < 10 {
		t.Errorf("recorded\n%s", roles(record))
	}
}

// An error of the record is told once, not for every message, and ends nothing; a
// panic is one.
func TestAppendedThatFails(t *testing.T) {
	for name, fail := range map[string]func() error{
		"disk is full": func() error { return errors.New("disk is full") },
		"panic: odd":   func() error { panic("odd") },
	} {
		l := newLab([]spec.Step{calls(call("echo", `{"text":"a"}`)), say("fine"), say("again"), say("more")}, nil)
		works := false
		l.options.Appended = func(...chat.Message) error {
			if works {
				return nil
			}
			return fail()
		}
		l.agent = agent.New(l.options)
		l.tool(echo("echo"))
		out := logAll(l)
		if o := l.agent.Run(t.Context(), "go"); o.Stop != agent.StopEnd || o.Text != "fine" {
			t.Errorf("%s: %+v", name, o)
		}
		notice := "notice the session is not recorded: " + name
		if strings.Count(out.String(), notice) != 1 {
			t.Errorf("%s: events\n%s", name, out)
		}
		works = true
		l.agent.Run(t.Context(), "on")
		if strings.Count(out.String(), "notice the session is recorded again") != 1 {
			t.Errorf("%s: the end of the fault is not told once\n%s", name, out)
		}
		works = false
		l.agent.Run(t.Context(), "on")
		if strings.Count(out.String(), notice) != 2 {
			t.Errorf("%s: a new fault is not told\n%s", name, out)
		}
	}
}

// A conversation goes on where a transcript ended, also one that was cut between
// a call and its result.
func TestTranscriptToGoOnWith(t *testing.T) {
	old := []chat.Message{
		chat.TextMessage(chat.User, "one"),
		{Role: chat.Assistant, Blocks: []chat.Block{{Kind: chat.Call, ID: "1", Name: "echo", Arguments: "{}"}}},
	}
	var record []chat.Message
	l := newLab([]spec.Step{say("fine")}, func(o *agent.Options) {
		o.Transcript = old
		o.Appended = func(messages ...chat.Message) error { record = append(record, messages...); return nil }
	})
	var start, length int
	first := true
	watch(l, event.Prompt, func(e *event.PromptEvent) { first = e.First })
	watch(l, event.Request, func(e *event.RequestEvent) { start, length = e.RunStart, e.Length })
	l.agent.Run(t.Context(), "two")
	if got := roles(record); got != "user two\nassistant fine" || start != 2 || length != 3 || first {
		t.Errorf("recorded\n%s\nstart %d, length %d, first %v", got, start, length, first)
	}
	if got := roles(l.requests[0].Messages); got != "user one\nassistant [echo]\ntool interrupted: the call did not come back, its effect is unknown\nuser two" {
		t.Errorf("sent\n%s", got)
	}
	if bad := validRequest(l.requests[0]); bad != "" {
		t.Error(bad)
	}
	if len(old) != 2 || len(l.agent.Transcript()) != 4 {
		t.Errorf("transcript\n%s", roles(l.agent.Transcript()))
	}
}

// A run ticks every 250 ms while it goes, if told to; a slow listener gets no
// backlog.
func TestTick(t *testing.T) {
	for name, c := range map[string]struct {
		on   bool
		slow time.Duration
		want int32
	}{"off": {false, 0, 0}, "on": {true, 0, 39}, "slow": {true, 600 * time.Millisecond, 13}} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				l := newLab([]spec.Step{calls(call("wait", "{}")), say("fine")}, func(o *agent.Options) { o.Tick = c.on })
				l.tool(spec.Tool{Name: "wait", Execute: func(context.Context, spec.ToolCall) (spec.ToolResult, error) {
					time.Sleep(9900 * time.Millisecond)
					return spec.ToolResult{}, nil
				}})
				var ticks atomic.Int32
				watch(l, event.Tick, func(*event.TickEvent) { ticks.Add(1); time.Sleep(c.slow) })
				if o := l.agent.Run(t.Context(), "go"); o.Stop != agent.StopEnd {
					t.Errorf("%+v", o)
				}
				n := ticks.Load()
				if n != c.want {
					t.Errorf("%d ticks, want %d", n, c.want)
				}
				time.Sleep(time.Second)
				if ticks.Load() != n {
					t.Error("it ticks on after the end of the run")
				}
			})
		})
	}
}

// A listener that is called when the ticking ends is not cancelled.
func TestTickIsNotCutShort(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := bus.New(bus.NewStore())
		ctx, cancel := context.WithCancel(t.Context())
		var err error
		add, _ := bus.PortOf(b, event.Tick).Put(bus.At(bus.ClassHost, 0, "x"), bus.Owner{}, bus.Listener[event.TickEvent, bus.None]{
			Do: func(ctx context.Context, _ *event.TickEvent) (*bus.None, error) {
				cancel()
				err = ctx.Err()
				return nil, err
			},
		})
		b.Store().Commit(add)
		agent.Tick(ctx, b)
		if err != nil {
			t.Error(err)
		}
	})
}

// While nobody hears ticks, nothing is looked at, however long it takes; a listener that
// comes hears them, and with the last one that goes they end.
func TestBeatRests(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := bus.New(bus.NewStore())
		port := bus.PortOf(b, event.Tick)
		add, remove := port.Put(bus.At(bus.ClassHost, 0, "x"), bus.Owner{}, bus.Listener[event.TickEvent, bus.None]{
			Do: func(context.Context, *event.TickEvent) (*bus.None, error) { return nil, nil },
		})
		var looks, beats atomic.Int32
		ctx, cancel := context.WithCancel(t.Context())
		done := make(chan struct{})
		go func() {
			defer close(done)
			agent.Beat(ctx, b.Store(), func() bool { looks.Add(1); return port.Listening() }, func() { beats.Add(1) })
		}()
		for _, c := range []struct {
			op           bus.Op
			looks, beats int32
		}{{nil, 1, 0}, {add, 41, 40}, {remove, 2, 1}, {add, 41, 40}} {
			looks.Store(0)
			beats.Store(0)
			if c.op != nil {
				b.Store().Commit(c.op)
			}
			time.Sleep(10*time.Second + time.Millisecond)
			if looks.Load() > c.looks+1 || beats.Load() > c.beats || beats.Load() < c.beats-1 {
				t.Errorf("%d looks and %d beats in 10 s, want %d and %d", looks.Load(), beats.Load(), c.looks, c.beats)
			}
		}
		cancel()
		<-done
	})
}
