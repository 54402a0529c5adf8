package agent

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"starling/agent/provider"
	"starling/bus"
	"starling/bus/chat"
	"starling/bus/event"
	"starling/bus/spec"
	"starling/tools"
)

// DefaultMaxTurns is how many requests one run may make unless Options say
// otherwise.
const DefaultMaxTurns = 64

// MaxForced is how many times in one run listeners may keep it going after a
// reply that asked for no tool. A person's prompt begins a new run and a new
// count.
const MaxForced = 8

// Options of an Agent.
type Options struct {
	Bus      *bus.Bus        // nil: one without listeners
	Tools    *tools.Registry // nil: no tools
	Provider provider.Provider
	Model    string // full id
	// Thinking is the level to begin with; empty leaves it to the model.
	Thinking string
	// Models makes the model that a listener of agent/request named and returns
	// its full id. It is asked once for each name. nil: routing is ignored.
	Models func(ctx context.Context, name string) (p provider.Provider, full string, err error)
	// System composes the system prompt: at the first run, and at a later one when
	// the listeners of code/system-prompt changed; nil for none.
	System func(ctx context.Context) string
	// Settle waits for the composition before a run; nil for nothing to wait for.
	Settle func(ctx context.Context) error
	// Now is the clock that measures runs; nil is the machine's.
	Now func() time.Time
	// MaxTurns is the most requests of one run; below 1 it is DefaultMaxTurns.
	MaxTurns int
	// Purse is what requests are paid from; nil is one without caps.
	Purse *Purse
	// Notice shows a line to the person and announces it; nil announces it as
	// code/notice alone.
	Notice func(ctx context.Context, text string)
	// Tick announces code/tick while a run goes: for headless programs. A terminal
	// calls the function Tick for as long as it lives.
	Tick bool
	// Transcript is the conversation to go on with.
	Transcript []chat.Message
	// Appended is called with what was added to the transcript, in order and
	// before anything else happens: for the session file. Its error is told and
	// ends nothing.
	Appended func(messages ...chat.Message) error
	// Permit decides whether a call runs, after its guards and as late as can be;
	// it may ask a person. nil lets every call run.
	Permit func(context.Context, PermitCall) Permission
	// Aside keeps a tool result that is above MaxResult where the model can read it,
	// and returns the path; nil keeps nothing.
	Aside func(content string) (path string, err error)
	// Present adds to the details of a result what screens show of it; it must not
	// fail and returns within a time of its own. nil adds nothing.
	Present func(context.Context, Presented) json.RawMessage
	// Mask takes the values of keys out of what tools return, before anybody sees
	// it; nil leaves all as it is.
	Mask func(text string) string
	// Origin names the agent in tool calls; empty is "main".
	Origin string
}

// Presented is a call and its result as they stand in the transcript.
type Presented struct {
	ID, Name  string
	Arguments json.RawMessage // final
	Content   string
	IsError   bool
	Details   json.RawMessage // nil for none
}

// Stop says how a run ended.
type Stop string

// The ways.
const (
	StopEnd      Stop = "end"      // the model was done
	StopError    Stop = "error"    // a turn failed
	StopAborted  Stop = "aborted"  // cancelled by a person or through a Run handle
	StopLimit    Stop = "limit"    // one of the Limits
	StopStopped  Stop = "stopped"  // by a listener: stop() or block_and_stop()
	StopRejected Stop = "rejected" // the prompt was; nothing was sent
)

// Outcome is the whole result of one run.
type Outcome struct {
	Stop Stop
	// StopWhy says in words why the run did not simply end; empty for StopEnd.
	StopWhy string
	// Limit is which one it ran into; set for StopLimit only.
	Limit Limit
	// Text of the last reply: the answer, or what there was of it.
	Text   string
	Turns  int // requests made
	Usage  chat.Usage
	Denied int // tool calls that a guard refused
	// Err is set for StopError only.
	Err  error
	Took time.Duration
}

// Agent holds one conversation. All methods are safe for concurrent use; one
// run goes at a time.
type Agent struct {
	o     Options
	ports ports
	busy  atomic.Bool
	made  atomic.Int64 // ids made up for calls

	stale atomic.Bool // the system prompt is to be composed anew

	// These belong to the goroutine of the run.
	system systemPrompt
	routes map[string]model // built for listeners
	sent   map[string]sent  // the newest request, by model
	told   map[string]bool  // who broke a prefix
	tight  int              // how often a server refused a request for its size
	// refused are the images that a server did not take, by their first byte.
	refused map[*byte]bool
	// unrecorded is the newest error of Appended that was told.
	unrecorded string

	// turn is held while messages are added: by a run from its begin to its end.
	turn sync.Mutex

	mu       sync.Mutex
	messages []chat.Message
	notes    []chat.Message // of the person, that wait for a place to stand
	weighed  weighed
	current  *run
	model    model
}

// ports are the loop's events, taken once.
type ports struct {
	system        bus.Port[event.SystemPromptEvent, event.SystemPromptAnswer]
	prompt        bus.Port[event.PromptEvent, event.PromptAnswer]
	runStart      bus.Port[event.RunStartEvent, bus.None]
	turnStart     bus.Port[event.TurnStartEvent, bus.None]
	request       bus.Port[event.RequestEvent, event.RequestAnswer]
	stream        bus.Port[event.StreamEvent, bus.None]
	message       bus.Port[event.MessageEvent, bus.None]
	call          bus.Port[event.ToolCallEvent, event.ToolCallAnswer]
	progress      bus.Port[event.ToolProgressEvent, bus.None]
	result        bus.Port[event.ToolResultEvent, event.ToolResultAnswer]
	turnEnd       bus.Port[event.TurnEndEvent, event.TurnEndAnswer]
	providerError bus.Port[event.ProviderErrorEvent, event.ProviderErrorAnswer]
	runEnd        bus.Port[event.RunEndEvent, bus.None]
	notice        bus.Port[event.NoticeEvent, bus.None]
}

// New returns an agent with an empty conversation.
func New(o Options) *Agent {
	if o.Bus == nil {
		o.Bus = bus.New(bus.NewStore())
	}
	if o.Tools == nil {
		o.Tools = tools.New(spec.NewRegistry[spec.Tool](bus.NewStore(), "tools"))
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.MaxTurns < 1 {
		o.MaxTurns = DefaultMaxTurns
	}
	if o.Purse == nil {
		o.Purse = NewPurse(Caps{})
	}
	if o.Origin == "" {
		o.Origin = "main"
	}
	a := &Agent{o: o, routes: map[string]model{}, sent: map[string]sent{}, told: map[string]bool{}}
	a.messages = slices.Clone(o.Transcript)
	a.model = model{provider: o.Provider, name: o.Model, thinking: o.Thinking}
	a.ports = ports{
		system:        bus.PortOf(o.Bus, event.SystemPrompt),
		prompt:        bus.PortOf(o.Bus, event.Prompt),
		runStart:      bus.PortOf(o.Bus, event.RunStart),
		turnStart:     bus.PortOf(o.Bus, event.TurnStart),
		request:       bus.PortOf(o.Bus, event.Request),
		stream:        bus.PortOf(o.Bus, event.Stream),
		message:       bus.PortOf(o.Bus, event.Message),
		call:          bus.PortOf(o.Bus, event.ToolCall),
		progress:      bus.PortOf(o.Bus, event.ToolProgress),
		result:        bus.PortOf(o.Bus, event.ToolResult),
		turnEnd:       bus.PortOf(o.Bus, event.TurnEnd),
		providerError: bus.PortOf(o.Bus, event.ProviderError),
		runEnd:        bus.PortOf(o.Bus, event.RunEnd),
		notice:        bus.PortOf(o.Bus, event.Notice),
	}
	return a
}

// Run answers one prompt, which the model reads with the attached blocks of text and
// images behind it. It never panics; whatever happens stands in the outcome. While
// another run goes it returns StopError at once.
func (a *Agent) Run(ctx context.Context, prompt string, attached ...chat.Block) Outcome {
	if !a.busy.CompareAndSwap(false, true) {
		return failed(errors.New("agent: another run is still going: wait for its end or cancel it"))
	}
	defer a.takeNotes() // what came too late for the run
	defer a.busy.Store(false)
	a.turn.Lock()
	defer a.turn.Unlock()
	r := newRun(ctx, a)
	defer r.cancel(nil)
	r.safely(func() { r.admit(prompt, attached) })
	if r.started {
		if r.out.Stop == "" {
			r.safely(r.ticking(r.loop))
		}
		r.finish()
	}
	r.out.Took = a.o.Now().Sub(r.began)
	return r.out
}

func failed(err error) Outcome {
	return Outcome{Stop: StopError, StopWhy: err.Error(), Err: err}
}

// Transcript returns the conversation so far. The messages are read-only.
func (a *Agent) Transcript() []chat.Message { return slices.Clone(a.transcript()) }

// transcript is for readers that change nothing: messages are only ever added,
// so a prefix stays as it is.
func (a *Agent) transcript() []chat.Message {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.messages[:len(a.messages):len(a.messages)]
}

// add appends messages and keeps a record of them.
func (r *run) add(messages ...chat.Message) {
	a := r.a
	a.mu.Lock()
	a.messages = append(a.messages, messages...)
	a.mu.Unlock()
	if a.o.Appended == nil {
		return
	}
	err := a.record(messages)
	switch {
	case err == nil && a.unrecorded != "":
		a.unrecorded = ""
		r.notice("the session is recorded again, with everything that waited")
	case err == nil:
	case err.Error() != a.unrecorded: // not once a message
		a.unrecorded = err.Error()
		r.notice(fmt.Sprintf("the session is not recorded: %v", err))
	}
}

func (a *Agent) record(messages []chat.Message) (err error) {
	defer func() {
		if v := recover(); v != nil {
			err = fmt.Errorf("panic: %v", v)
		}
	}()
	return a.o.Appended(messages...)
}

// CurrentRun returns the handle of the run that goes now; nil when none does.
func (a *Agent) CurrentRun() event.Run {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.current == nil {
		return nil
	}
	return a.current.handle()
}

func (a *Agent) setCurrent(r *run) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.current = r
}
