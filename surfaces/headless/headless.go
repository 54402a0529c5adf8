package headless

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"sync"
	"syscall"
	"unicode"

	"starling/bus"
	"starling/bus/compose"
	"starling/bus/event"
	"starling/bus/view"
)

// Driver is what a headless run needs of the engine.
type Driver interface {
	// Prompt runs one prompt to its outcome.
	Prompt(ctx context.Context, text string) view.Outcome
	// Command runs a command by name.
	Command(ctx context.Context, name, args string) (view.CommandReply, error)
}

// Exit codes of a headless run.
const (
	ExitOK          = 0
	ExitFailed      = 1
	ExitUsage       = 2
	ExitLimit       = 3
	ExitDenied      = 4
	ExitInterrupted = 130
)

// Printer writes one run.
type Printer struct {
	out, err io.Writer
	quiet    bool
	mu       sync.Mutex // lines of parallel tools
}

// New returns a printer; quiet leaves out the progress lines.
func New(out, err io.Writer, quiet bool) *Printer { return &Printer{out: out, err: err, quiet: quiet} }

// Component hears the run on b and prints its progress.
func (p *Printer) Component(b *bus.Bus) compose.Component {
	return compose.Component{
		Name: "headless", Origin: "host", Position: bus.At(bus.ClassLast, 1, "headless"),
		Apply: func(s *compose.Scope) error {
			if p.quiet {
				return nil
			}
			compose.On(s, bus.PortOf(b, event.ToolCall), bus.Listener[event.ToolCallEvent, event.ToolCallAnswer]{
				Do: func(_ context.Context, e *event.ToolCallEvent) (*event.ToolCallAnswer, error) {
					if !e.Recheck {
						p.note("→ %s %s", view.CleanLine(e.Name), clip(e.ArgumentsJSON))
					}
					return nil, nil
				},
			})
			compose.On(s, bus.PortOf(b, event.ToolResult), bus.Listener[event.ToolResultEvent, event.ToolResultAnswer]{
				Do: func(_ context.Context, e *event.ToolResultEvent) (*event.ToolResultAnswer, error) {
					mark := "←"
					if e.IsError {
						mark = "← error:"
					}
					p.note("%s %s", mark, clip(e.Content))
					return nil, nil
				},
			})
			return nil
		},
	}
}

// Notice prints one notice.
func (p *Printer) Notice(n view.Notice) {
	if n.From != "" {
		p.note("[%s] %s", n.From, view.Clean(n.Text))
		return
	}
	p.note("starling: %s", view.Clean(n.Text))
}

func (p *Printer) note(format string, args ...any) {
	p.mu.Lock()
	defer p.mu.Unlock()
	// A stderr that is closed loses notes, not the run.
	_, _ = fmt.Fprintf(p.err, format+"\n", args...)
}

const clipWidth = 100 // characters of a progress line

func clip(s string) string {
	s = strings.TrimSpace(s)
	line, rest, _ := strings.Cut(s, "\n")
	if r := []rune(line); len(r) > clipWidth {
		return view.CleanLine(string(r[:clipWidth])) + "…"
	}
	if n := strings.Count(rest, "\n") + 1; rest != "" {
		return fmt.Sprintf("%s (+%d lines)", view.CleanLine(line), n)
	}
	return view.CleanLine(line)
}

// Run runs one prompt and returns the exit code. A prompt /NAME ARGS runs that
// command and prints its result.
func (p *Printer) Run(ctx context.Context, d Driver, prompt string) int {
	if name, args, ok := command(prompt); ok {
		return p.command(ctx, d, name, args)
	}
	o := d.Prompt(ctx, prompt)
	if o.Text != "" {
		if code := p.answer(o.Text); code != ExitOK {
			return code
		}
	}
	code := exitCode(ctx, o)
	if code != ExitOK {
		p.note("starling: %s", Ending(o))
	}
	return code
}

// Ending says in words how a run that did not end well ended.
func Ending(o view.Outcome) string {
	s := map[string]string{
		"error": "the run failed", "aborted": "the run was interrupted", "limit": "a limit ended the run",
		"stopped": "the run was stopped", "rejected": "the prompt was rejected",
	}[o.Stop]
	if s == "" {
		s = "the run ended: " + o.Stop
	}
	if o.Why != "" {
		s += ": " + view.CleanLine(o.Why)
	}
	return s
}

func exitCode(ctx context.Context, o view.Outcome) int {
	switch o.Stop {
	case "end":
		return ExitOK
	case "limit":
		return ExitLimit
	case "aborted":
		if ctx.Err() != nil {
			return ExitInterrupted
		}
	}
	if o.Denied > 0 {
		return ExitDenied
	}
	return ExitFailed
}

// command splits "/NAME ARGS". A path such as /etc/hosts is a prompt: a command
// name holds no slash.
func command(prompt string) (name, args string, ok bool) {
	rest, ok := strings.CutPrefix(strings.TrimSpace(prompt), "/")
	if !ok {
		return "", "", false
	}
	name = rest
	if i := strings.IndexFunc(rest, unicode.IsSpace); i >= 0 {
		name, args = rest[:i], rest[i:]
	}
	if name == "" || strings.Contains(name, "/") {
		return "", "", false
	}
	return name, strings.TrimSpace(args), true
}

func (p *Printer) command(ctx context.Context, d Driver, name, args string) int {
	reply, err := d.Command(ctx, name, args)
	switch {
	case ctx.Err() != nil:
		p.note("starling: the command was interrupted")
		return ExitInterrupted
	case err != nil:
		p.note("starling: /%s failed: %s", name, view.Clean(err.Error()))
		return ExitFailed
	case !reply.Found:
		known := "no plugin offers one"
		if len(reply.Known) > 0 {
			known = "there are /" + strings.Join(reply.Known, ", /")
		}
		p.note("starling: there is no command /%s; %s", view.CleanLine(name), known)
		return ExitUsage
	}
	for _, line := range reply.Lines {
		if code := p.answer(line); code != ExitOK {
			return code
		}
	}
	return ExitOK
}

// answer writes to stdout, with one line end at the end. What the model or a
// plugin says may not steer the terminal it is shown in.
func (p *Printer) answer(text string) int {
	text = view.Clean(text)
	if !strings.HasSuffix(text, "\n") {
		text += "\n"
	}
	if _, err := io.WriteString(p.out, text); err != nil {
		if !errors.Is(err, syscall.EPIPE) { // a reader that left has heard enough
			p.note("starling: stdout: %v", err)
		}
		return ExitFailed
	}
	return ExitOK
}
