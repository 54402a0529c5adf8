package agent

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"sync/atomic"

	"starling/bus"
	"starling/bus/chat"
	"starling/bus/event"
	"starling/bus/spec"
)

// What the model reads where a tool has nothing of its own to say.
const (
	noOutput     = "[no output]"
	neverRan     = "interrupted: the run was cancelled before this call ran"
	cutWhileRan  = "interrupted: the run was cancelled while this call ran, its effect is unknown"
	failedReply  = "not run: the reply that asked for it failed before its end"
	doNotRepeat  = "Do not repeat this call: choose another way, or explain why you cannot go on."
	endsAfterThe = "The run ends after this batch of calls."
)

// call is one call on its way to a result.
type call struct {
	block     chat.Block
	tool      spec.Tool
	owner     bus.Owner
	known     bool
	origin    string
	arguments json.RawMessage // final
	rewritten bool            // by a plugin
	paths     []string        // as guards were shown them
	allPaths  bool
	// permitted is what Options.Permit put into the context of the call.
	permitted context.Context
	// result stands when the call does not run, or has run.
	result     *spec.ToolResult
	answeredBy string // the plugin that answered in the place of the tool
	notes      []event.Note
	done       chan struct{} // closed when result stands; nil unless it runs beside others
}

func (c *call) refuse(text string) {
	c.result = &spec.ToolResult{Content: text, IsError: true}
}

// alone tells that the call runs beside no other: what an earlier one leaves has to
// stand when it is permitted.
func (c *call) alone() (yes bool) {
	if c.tool.Sequential || c.tool.Alone == nil {
		return c.tool.Sequential
	}
	defer func() { yes = yes || recover() != nil }()
	return c.tool.Alone(c.arguments)
}

// runCalls checks the calls in the order asked, runs them, and commits their
// results in that order too, whichever is first to finish. Whether a call is
// permitted is asked as late as can be: an earlier call of a sequence may have
// changed what the answer rests on.
func (t *turnState) runCalls(blocks []chat.Block) {
	calls := make([]*call, len(blocks))
	parallel, runnable := true, 0
	for i, b := range blocks {
		c := &call{block: b, arguments: object(b.Arguments), origin: t.r.a.o.Origin}
		calls[i] = c
		t.check(c)
		if c.result == nil {
			runnable++
			parallel = parallel && !c.alone()
		}
	}
	if parallel && runnable > 1 {
		for _, c := range calls {
			if c.result == nil {
				t.permit(t.r.ctx, c)
			}
		}
		for _, c := range calls {
			if c.result == nil {
				c.done = make(chan struct{})
				go func() {
					defer close(c.done)
					t.execute(c)
				}()
			}
		}
	}
	for i, c := range calls {
		if c.done != nil {
			<-c.done
		}
		if c.result == nil && i > 0 {
			t.still(c)
		}
		if c.result == nil {
			t.permit(t.r.ctx, c)
		}
		if c.result == nil {
			t.execute(c)
		}
		t.finish(c)
	}
}

// check decides whether a call runs: schema, guards, the tools of this turn. It
// leaves a result in the call when it does not.
func (t *turnState) check(c *call) {
	switch {
	case t.reply.Error != "" && t.reply.Stop != chat.StopAborted:
		c.refuse(failedReply)
		return
	case t.r.ctx.Err() != nil:
		c.refuse(neverRan)
		return
	}
	registry := t.r.a.o.Tools
	c.tool, c.owner, c.known = registry.Lookup(c.block.Name)
	if c.known {
		arguments, err := registry.Check(c.tool, c.block.Arguments)
		if err != nil {
			c.refuse(err.Error())
			return
		}
		c.arguments = arguments
	}
	t.guard(t.r.ctx, c)
	if c.result == nil {
		t.offered(c)
	}
}

// guard shows a call to its listeners, and once more when one rewrote it.
func (t *turnState) guard(ctx context.Context, c *call) {
	e := t.announceCall(ctx, c, false)
	if e.Rewritten != "" && c.result == nil {
		t.rewritten(ctx, c, e)
	}
}

// still shows a call to its guards again when an earlier call of the batch
// changed what it touches: a link may lead elsewhere now.
func (t *turnState) still(c *call) {
	paths, all := pathsOf(c.tool)(c.arguments)
	if slices.Equal(paths, c.paths) && all == c.allPaths {
		return
	}
	t.announceCall(t.r.ctx, c, true)
}

// announceCall sends agent/tool-call over the call's arguments and takes a
// refusal into its result.
func (t *turnState) announceCall(ctx context.Context, c *call, recheck bool) *event.ToolCallEvent {
	r := t.r
	e := &event.ToolCallEvent{
		ID: c.block.ID, Name: c.block.Name, Arguments: c.arguments, ArgumentsJSON: string(c.arguments),
		Known: c.known, Recheck: recheck, Origin: c.origin, PathsOf: pathsOf(c.tool),
	}
	e.Paths, e.PathsKnown = e.PathsOf(c.arguments)
	c.paths, c.allPaths = e.Paths, e.PathsKnown
	r.a.ports.call.Send(ctx, e)
	c.notes = append(c.notes, e.Notes...)
	switch {
	case ctx.Err() != nil:
		c.refuse(neverRan) // a guard that was cancelled did not decide
	case e.Refused != nil:
		t.blocked(c, e.Refused)
	case e.Answered != nil:
		c.result = &spec.ToolResult{Content: e.Answered.Content, IsError: e.Answered.IsError, Details: e.Answered.Details}
		c.answeredBy = e.Answered.By
	}
	return e
}

// rewritten checks arguments that a listener put in the place of the model's,
// and shows them to everybody once more.
func (t *turnState) rewritten(ctx context.Context, c *call, e *event.ToolCallEvent) {
	c.arguments, c.rewritten = e.Arguments, true
	if c.known {
		arguments, err := t.r.a.o.Tools.Check(c.tool, string(e.Arguments))
		if err != nil {
			c.refuse(fmt.Sprintf("the arguments as %s rewrote them do not fit: %v", e.Rewritten, err))
			return
		}
		c.arguments = arguments
	}
	t.announceCall(ctx, c, true)
}

// blocked makes a refusal the result of its call.
func (t *turnState) blocked(c *call, refusal *bus.Refusal) {
	who := refusal.By.Name
	if who == "" {
		who = "the host"
	}
	why := strings.TrimSpace(refusal.Why)
	if why == "" {
		why = "no reason given"
	}
	text := fmt.Sprintf("Blocked by %s: %s\n%s", who, why, doNotRepeat)
	if refusal.Stop {
		text = fmt.Sprintf("Blocked by %s: %s\n%s", who, why, endsAfterThe)
	}
	t.r.mu.Lock() // calls of a replacement are guarded while others run
	t.r.out.Denied++
	if refusal.Stop && t.stopped == "" {
		t.stopped = reason(refusal)
	}
	t.r.mu.Unlock()
	c.refuse(text)
	c.result.Details = denial(who, why)
}

// denial tells screens that a call was denied, without reading the text meant
// for the model.
func denial(by, why string) json.RawMessage {
	b, err := json.Marshal(map[string]any{"denied": true, "by": by, "why": why})
	if err != nil {
		return nil
	}
	return b
}

// offered refuses what is no tool of this turn.
func (t *turnState) offered(c *call) {
	name := c.block.Name
	switch s := t.shape; {
	case !c.known:
		c.refuse(fmt.Sprintf("there is no tool %q; tools: %s", name, t.names()))
	case s.Exclude[name]:
		c.refuse(fmt.Sprintf("the tool %s is not offered in this turn (%s): use one of: %s",
			name, by(s, "exclude_tools"), t.names()))
	case s.Allow != nil && !s.Allow[name]:
		c.refuse(fmt.Sprintf("the tool %s is not allowed in this phase (%s): use one of: %s",
			name, by(s, "allow_tools"), t.names()))
	}
}

func by(s event.Shape, field string) string {
	if name := s.By[field]; name != "" {
		return field + " of " + name
	}
	return field
}

// names lists the tools a call of this turn may name.
func (t *turnState) names() string {
	var names []string
	for _, tool := range t.r.a.o.Tools.List() {
		if !t.shape.Exclude[tool.Name] && (t.shape.Allow == nil || t.shape.Allow[tool.Name]) {
			names = append(names, tool.Name)
		}
	}
	if len(names) == 0 {
		return "none; answer in text"
	}
	return strings.Join(names, ", ")
}

// execute runs a call and leaves what the model reads in it, whatever the tool
// does.
func (t *turnState) execute(c *call) {
	ctx := t.r.ctx
	if c.permitted != nil {
		ctx = c.permitted
	}
	result := t.perform(ctx, c)
	c.result = &result
}

func (t *turnState) perform(ctx context.Context, c *call) spec.ToolResult {
	r := t.r
	if ctx.Err() != nil {
		return spec.ToolResult{Content: neverRan, IsError: true}
	}
	if c.tool.Execute == nil {
		return spec.ToolResult{Content: "the tool " + c.tool.Name + " has nothing to run", IsError: true}
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	var over atomic.Bool
	defer over.Store(true)
	result, err := await(ctx, func() (spec.ToolResult, error) {
		return c.tool.Execute(ctx, spec.ToolCall{
			ID: c.block.ID, Name: c.block.Name, Arguments: c.arguments, Turn: t.index, Origin: c.origin,
			Original: t.original(c),
			Progress: func(chunk string) {
				if chunk = r.a.masked(chunk); chunk != "" && !over.Load() && r.a.ports.progress.Listening() {
					r.a.ports.progress.Send(r.listenerCtx(), &event.ToolProgressEvent{ID: c.block.ID, Tool: c.block.Name, Chunk: chunk})
				}
			},
		})
	})
	switch {
	case err == nil:
		return result
	case r.ctx.Err() != nil:
		return spec.ToolResult{Content: cutWhileRan, IsError: true}
	}
	return spec.ToolResult{Content: fmt.Sprintf("%s failed: %v", c.block.Name, err), IsError: true, Details: result.Details}
}

// finish shows a result to its listeners and commits it.
func (t *turnState) finish(c *call) {
	r := t.r
	e := event.ToolResultEvent{
		ID: c.block.ID, Name: c.block.Name, Arguments: c.arguments, Turn: t.index,
		Content: r.a.masked(c.result.Content), IsError: c.result.IsError, Details: r.a.maskedJSON(c.result.Details),
		AnsweredBy: c.answeredBy, Notes: c.notes,
	}
	r.a.ports.result.Send(r.listenerCtx(), &e)
	content := r.a.masked(strings.ToValidUTF8(e.Content, "\uFFFD"))
	if strings.TrimSpace(content) == "" {
		content = noOutput
	}
	if c.result.Ends && !e.IsError && t.finished == "" {
		t.finished = content
	}
	for _, n := range e.Notes {
		content += fmt.Sprintf("\n\n[note of %s: %s]", n.By, strings.ToValidUTF8(n.Text, "\uFFFD"))
	}
	result := chat.Block{
		Kind: chat.Result, ID: c.block.ID, Name: c.block.Name,
		Text: r.a.bounded(content), IsError: e.IsError,
		Details: t.present(c, content, e.IsError, valid(e.Details)),
	}
	r.add(chat.Message{Role: chat.ToolRole, Blocks: append([]chat.Block{result}, c.result.Images...)})
}

// masked is a text without the values of keys: a command may have found one.
func (a *Agent) masked(text string) string {
	if a.o.Mask == nil {
		return text
	}
	return a.o.Mask(text)
}

func (a *Agent) maskedJSON(details json.RawMessage) json.RawMessage {
	return valid(json.RawMessage(a.masked(string(details))))
}

// valid drops details that would break whatever they are stored in.
func valid(details json.RawMessage) json.RawMessage {
	if len(details) == 0 || !json.Valid(details) {
		return nil
	}
	return details
}

// pathsOf asks a tool for the paths of a call; what it cannot tell, nobody
// knows.
func pathsOf(tool spec.Tool) func(json.RawMessage) ([]string, bool) {
	return func(arguments json.RawMessage) (paths []string, all bool) {
		if tool.Paths == nil {
			return nil, false
		}
		defer func() {
			if recover() != nil {
				paths, all = nil, false
			}
		}()
		return tool.Paths(arguments)
	}
}
