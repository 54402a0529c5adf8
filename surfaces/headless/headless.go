package headless

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"sync"
	"syscall"

	"starling/bus"
	"starling/bus/compose"
	"starling/bus/event"
	"starling/bus/view"
)

// Driver is what a headless run needs of the engine.
type Driver interface {
	// Prompt runs one prompt to its outcome; the files are sent along.
	Prompt(ctx context.Context, text string, files ...string) view.Outcome
	// Command runs a command by name.
	Command(ctx context.Context, name, args string) (view.CommandReply, error)
	// Plugins lists every plugin as it stands.
	Plugins() []view.Plugin
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

// Format of stdout.
type Format string

// The formats; docs/headless.md describes them.
const (
	Text       Format = "text"
	JSON       Format = "json"        // one document at the end
	StreamJSON Format = "stream-json" // one event a line
)

// ParseFormat reads the value of --output.
func ParseFormat(name string) (Format, error) {
	switch f := Format(name); f {
	case Text, JSON, StreamJSON:
		return f, nil
	}
	return "", fmt.Errorf("there is no format %q: take text, json or stream-json", name)
}

// MaxNotices is the most notices a result lists.
const MaxNotices = 1000

// Options of a Printer.
type Options struct {
	Out, Err io.Writer
	Format   Format // Text when empty
	Quiet    bool   // no progress lines on Err
}

// Printer writes one run: Component and Notice hear it, Run makes it, End closes
// it. All methods are safe for concurrent use.
type Printer struct {
	o      Options
	out    *outlet
	stop   context.CancelCauseFunc // ends the run when stdout fails
	stream *stream                 // nil unless the format is StreamJSON
	said   sync.Mutex              // lines of Err

	mu     sync.Mutex
	result result
	denied map[string]bool // by id of the call
}

// New returns a printer. End must be called, whatever happens before.
func New(o Options) *Printer {
	if o.Format == "" {
		o.Format = Text
	}
	p := &Printer{o: o, denied: map[string]bool{}}
	p.result = result{Denied: []deniedRow{}, Plugins: []pluginRow{}, Notices: []noticeRow{}}
	p.out = newOutlet(o.Out, p.outFailed)
	if o.Format == StreamJSON {
		p.stream = newStream(p.out, p.note)
	}
	return p
}

// outFailed ends the run: nobody can read its answer any more.
func (p *Printer) outFailed(err error) {
	if !errors.Is(err, syscall.EPIPE) { // a reader that left has heard enough
		p.note("starling: stdout: %v", err)
	}
	p.mu.Lock()
	stop := p.stop
	p.mu.Unlock()
	if stop != nil {
		stop(fmt.Errorf("stdout: %w", err))
	}
}

// Component hears the run on b: for the progress lines, the list of denied calls
// and the events of StreamJSON.
func (p *Printer) Component(b *bus.Bus) compose.Component {
	return compose.Component{
		Name: "headless", Origin: "host", Position: bus.At(bus.ClassLast, 1, "headless"),
		Apply: func(s *compose.Scope) error {
			listen(s, b, event.ToolCall, p.toolCall)
			listen(s, b, event.ToolResult, p.toolResult)
			listen(s, b, event.RunStart, p.runStart)
			listen(s, b, event.SessionStart, p.sessionStart)
			if p.stream != nil {
				p.stream.listen(s, b)
			}
			return nil
		},
	}
}

// listen subscribes a listener that only looks.
func listen[E, A any](s *compose.Scope, b *bus.Bus, topic *bus.Topic[E, A], see func(*E)) {
	compose.On(s, bus.PortOf(b, topic), bus.Listener[E, A]{
		Do: func(_ context.Context, e *E) (*A, error) { see(e); return nil, nil },
	})
}

func (p *Printer) toolCall(e *event.ToolCallEvent) {
	if e.Blocked && e.Refused != nil {
		p.deny(deniedRow{ID: e.ID, Tool: e.Name, refusal: refusal{By: e.Refused.By.Name, Why: e.Refused.Why}})
	}
	if !e.Recheck && !p.o.Quiet {
		p.note("→ %s %s", view.CleanLine(e.Name), clip(view.ReadableJSON(e.ArgumentsJSON)))
	}
}

func (p *Printer) toolResult(e *event.ToolResultEvent) {
	if r := deniedBy(e.Details); r != nil {
		p.deny(deniedRow{ID: e.ID, Tool: e.Name, refusal: *r})
	}
	if p.o.Quiet {
		return
	}
	mark := "←"
	if e.IsError {
		mark = "← error:"
	}
	p.note("%s %s", mark, clip(e.Content))
}

// deny lists a refused call once, however often it was seen to be.
func (p *Printer) deny(row deniedRow) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if !p.denied[row.ID] {
		p.denied[row.ID] = true
		p.result.Denied = append(p.result.Denied, row)
	}
}

func (p *Printer) runStart(e *event.RunStartEvent) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if e.Run != nil {
		p.result.Model = e.Run.Model()
	}
}

func (p *Printer) sessionStart(e *event.SessionStartEvent) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.result.Session = e.ID
}

// Notice prints one notice.
func (p *Printer) Notice(n view.Notice) {
	row := noticeRow{From: n.From, Text: n.Text, Warn: n.Warn}
	p.mu.Lock()
	if len(p.result.Notices) < MaxNotices {
		p.result.Notices = append(p.result.Notices, row)
	} else {
		p.result.NoticesLeftOut++
	}
	p.mu.Unlock()
	if p.stream != nil {
		p.stream.put(&noticeLine{noticeRow: row}, "notice")
	}
	if n.From != "" {
		p.note("[%s] %s", view.CleanLine(n.From), view.Clean(n.Text))
		return
	}
	p.note("%s", Said(n.Text))
}

// Said is what starling says on stderr: its name before each line that is not empty,
// cleaned for a terminal and without the last line end.
func Said(text string) string {
	var b strings.Builder
	for line := range strings.Lines(strings.TrimRight(view.Clean(text), "\n")) {
		if strings.TrimSpace(line) != "" {
			b.WriteString("starling: ")
		}
		b.WriteString(line)
	}
	return b.String()
}

func (p *Printer) note(format string, args ...any) {
	p.said.Lock()
	defer p.said.Unlock()
	// A stderr that is closed loses notes, not the run.
	_, _ = fmt.Fprintf(p.o.Err, format+"\n", args...)
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
