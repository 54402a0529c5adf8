package spec

import (
	"context"
	"encoding/json"

	"starling/bus/chat"
)

// Risk is what a tool call can do to the world.
type Risk string

// The classes, least first.
const (
	RiskRead        Risk = "read"
	RiskChange      Risk = "change"
	RiskDestructive Risk = "destructive"
	RiskNetwork     Risk = "network"
)

// Tool is something the model can call.
type Tool struct {
	Name        string
	Description string
	// Parameters is a JSON Schema of one object, sent to the model unchanged.
	Parameters json.RawMessage
	// Execute runs the call with checked arguments. It returns when ctx ends.
	// An error becomes an error result; a panic too.
	Execute func(ctx context.Context, call ToolCall) (ToolResult, error)
	// Paths returns the workspace-relative paths a call would touch (absolute
	// outside it) and whether these are all; nil means nothing is known.
	Paths func(arguments json.RawMessage) (paths []string, all bool)
	// Preview is what a person is shown before the call runs: the diff of a change.
	// nil, and "", show the arguments.
	Preview    func(ctx context.Context, arguments json.RawMessage) string
	ReadOnly   bool
	Risk       Risk
	Sequential bool // never beside another call
	// Alone tells of one call that it is never beside another, although those of the
	// tool may be; nil means that Sequential says all.
	Alone    func(arguments json.RawMessage) bool
	Replaces bool // takes the name of a built-in
	Builtin  bool
}

// ToolCall is one call, on its final arguments.
type ToolCall struct {
	ID        string
	Name      string
	Arguments json.RawMessage
	Turn      int
	// Origin is "main", the id of a sub-agent, or "plugin NAME" for a call that a
	// replacement makes of the tool it hides.
	Origin string
	// Progress shows a chunk of output while the call runs; never nil.
	Progress func(chunk string)
	// Original calls the built-in tool that this one replaces, through guards and
	// permissions as any call; nil when it replaces none.
	Original func(ctx context.Context, arguments json.RawMessage) (ToolResult, error)
}

// ToolResult is what the model reads.
type ToolResult struct {
	Content string
	IsError bool
	// Details for screens, one JSON value; never sent to the model.
	Details json.RawMessage
	// Images are blocks of kind image that models read with the content.
	Images []chat.Block
	// Ends makes the content an attempt to finish: the run ends with it as its
	// answer once the batch is done, unless something sends it on.
	Ends bool
}

// Command is something a person can call with /NAME ARGS.
type Command struct {
	Name        string
	Description string
	// Run gets the text after the name. Lines are shown; the model does not
	// see them.
	Run func(ctx context.Context, args string) (CommandResult, error)
	// Complete proposes values for the text after the name; may be nil.
	Complete func(ctx context.Context, args string) ([]string, error)
	Builtin  bool
}

// CommandResult is what a command returns.
type CommandResult struct {
	Lines      []string
	NewSession bool
}

// Gate decides whether an attempt to finish counts.
type Gate struct {
	Name string
	// MaxRejections for one task; -1 is a hard rule without a limit.
	MaxRejections int
	Scope         string // "main", "child" or "all"
	Check         func(ctx context.Context, g any) (any, error)
}

// Strategy is a named way to shape requests.
type Strategy struct {
	Name        string
	Description string
	Request     func(ctx context.Context, e any) (any, error)
}

// Eval is one registration for evals: a case, a variant, a metric or a grader.
type Eval struct {
	Kind   string // "case", "variant", "metric" or "grader"
	Name   string
	Fields map[string]any                                                 // plain data, as registered
	Funcs  map[string]func(ctx context.Context, args ...any) (any, error) // the functions among them
}

// Service is a value that can be called by method name across plugins and Go
// components. Arguments and results are plain data.
type Service interface {
	// Methods returns the names, sorted.
	Methods() []string
	// Call runs one method. It returns an error for an unknown one.
	Call(ctx context.Context, method string, args []any, kwargs map[string]any) (any, error)
}

// Caller is the plugin a call of a host service comes from: what the service may
// do for it depends on the plugin's words.
type Caller interface {
	Name() string
	// Needs is an error that names the word when the plugin lacks it.
	Needs(word string) error
	// Ran tells whether a command or a tool makes the call, which somebody ran.
	Ran() bool
}

type callerKey struct{}

// WithCaller returns a context that carries the caller.
func WithCaller(ctx context.Context, c Caller) context.Context {
	return context.WithValue(ctx, callerKey{}, c)
}

// CallerOf returns the plugin a service call comes from; nil for Go code.
func CallerOf(ctx context.Context) Caller {
	c, _ := ctx.Value(callerKey{}).(Caller)
	return c
}

// Payload is the value of a custom event: frozen data that whoever reads it may
// see as plain Go data.
//
// Plain data is nil, bool, int64, *big.Int, float64, string, []byte, []any,
// map[string]any (or map[any]any where a key is no string).
type Payload interface{ Plain() any }

// Step is one answer of a scripted model.
type Step struct {
	// Match, when not nil, must hold for the last message or the step is an
	// error that names both.
	Match func(last string) bool
	// MatchText says what Match looks for, in error messages.
	MatchText string
	Thinking  string
	Text      string
	Calls     []StepCall
	// DelayMS before each piece of the answer.
	DelayMS int
	// Error ends the turn as failed with this text instead of finishing it.
	Error string
	// Reply, when set, makes the step from the conversation so far instead.
	Reply func(ctx context.Context, last string) (Step, error)
}

// StepCall is one tool call of a Step.
type StepCall struct {
	ID        string // made up when empty
	Name      string
	Arguments json.RawMessage
}
