package headless

import (
	"context"
	"strings"
	"sync"
	"time"
	"unicode/utf8"

	"starling/bus"
	"starling/bus/compose"
	"starling/bus/event"
)

const (
	// joinFor is how long the deltas of a block are collected into one line.
	joinFor = 50 * time.Millisecond
	// maxBehind is how far a reader may be behind, in bytes, before the output of
	// running tools is left out: their results hold it anyway.
	maxBehind = 1 << 20
)

// stream prints events as lines of JSON. The first is the session, whatever came
// before it; the last is the result.
type stream struct {
	out  *outlet
	note func(format string, args ...any)

	mu      sync.Mutex
	session func() *sessionLine // nil: nobody runs
	opened  bool
	ended   bool
	early   [][]byte // notices from before the session
	turn    int
	delta   deltaLine       // its text is in text
	text    strings.Builder // collected, not yet printed
	timer   *time.Timer     // nil: nothing will print text by itself
	skipped map[string]int  // bytes of progress left out, by id of the call
}

func newStream(out *outlet, note func(string, ...any)) *stream {
	return &stream{out: out, note: note, skipped: map[string]int{}}
}

// listen subscribes everything that becomes a line.
func (s *stream) listen(scope *compose.Scope, b *bus.Bus) {
	listen(scope, b, event.RunStart, func(e *event.RunStartEvent) {
		l := &runStartLine{}
		if e.Run != nil {
			l.Model = e.Run.Model()
		}
		s.put(l, "run_start")
	})
	listen(scope, b, event.TurnStart, func(e *event.TurnStartEvent) {
		if e.Run != nil {
			s.turnStart(e.Run.Turn())
		}
	})
	compose.On(scope, bus.PortOf(b, event.Stream), bus.Listener[event.StreamEvent, bus.None]{
		Do:      func(_ context.Context, e *event.StreamEvent) (*bus.None, error) { s.step(e); return nil, nil },
		Borrows: true,
	})
	listen(scope, b, event.Message, s.message)
	listen(scope, b, event.ToolCall, func(e *event.ToolCallEvent) {
		if !e.Recheck {
			s.put(&toolCallLine{callRow: callRow{ID: e.ID, Name: e.Name, Arguments: object(e.Arguments)}, Origin: e.Origin}, "tool_call")
		}
	})
	listen(scope, b, event.ToolProgress, s.progress)
	listen(scope, b, event.ToolResult, func(e *event.ToolResultEvent) {
		l := &toolResultLine{ID: e.ID, Name: e.Name, Turn: e.Turn, IsError: e.IsError, Content: e.Content}
		if l.Denied = deniedBy(e.Details); l.Denied == nil && len(e.Details) > 0 {
			l.Details = object(e.Details)
		}
		s.put(l, "tool_result")
	})
	listen(scope, b, event.RunEnd, func(e *event.RunEndEvent) {
		s.put(&runEndLine{Stop: e.Stop, Error: e.Error, Turns: e.Turns, Usage: e.Usage}, "run_end")
	})
}

// introduce sets what makes the first line, once somebody runs.
func (s *stream) introduce(session func() *sessionLine) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.session = session
}

// open prints the session and the notices that waited for it, the first time it
// is called: then the run begins, and the session has its id.
func (s *stream) open() {
	s.mu.Lock()
	session, opened := s.session, s.opened
	s.mu.Unlock()
	if opened || session == nil {
		return
	}
	l := session() // asks others, who may give notice: not under the lock
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.opened {
		return
	}
	s.opened = true
	s.print(l, "session")
	s.release()
}

// release prints what waited; it needs s.mu.
func (s *stream) release() {
	for _, data := range s.early {
		s.out.add(data)
	}
	s.early = nil
}

// end prints the last line. What comes later is dropped.
func (s *stream) end(r *result) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.opened = true // without a session there is no run
	s.release()
	s.flush(true)
	s.print(r, "result")
	s.ended = true
}

// put prints a line, behind the deltas that came before it.
func (s *stream) put(l line, kind string) {
	if kind != "notice" {
		s.open()
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.flush(true)
	s.print(l, kind)
}

// print needs s.mu.
func (s *stream) print(l line, kind string) {
	if s.ended {
		return
	}
	data, err := encode(l, kind)
	switch {
	case err != nil:
		s.note("starling: stdout: an event is left out: %v", err)
	case s.opened:
		s.out.add(data)
	default:
		s.early = append(s.early, data)
	}
}

func (s *stream) turnStart(turn int) {
	s.open()
	s.mu.Lock()
	defer s.mu.Unlock()
	s.flush(true)
	s.turn = turn
	s.print(&turnStartLine{Turn: turn}, "turn_start")
}

func (s *stream) message(e *event.MessageEvent) {
	s.open()
	s.mu.Lock()
	defer s.mu.Unlock()
	s.flush(true)
	l := &messageLine{Turn: s.turn, Text: e.Text, Thinking: e.Thinking, Usage: e.Usage, ToolCalls: make([]callRow, len(e.Calls))}
	for i, c := range e.Calls {
		l.ToolCalls[i] = callRow{ID: c.ID, Name: c.Name, Arguments: object(c.Arguments)}
	}
	s.print(l, "message")
}

// step collects the deltas of a block. Arguments of calls come whole, with the
// call.
func (s *stream) step(e *event.StreamEvent) {
	s.open()
	s.mu.Lock()
	defer s.mu.Unlock()
	if e.Kind != "delta" {
		s.flush(true)
		return
	}
	if e.Block != "text" && e.Block != "thinking" || e.Text == "" {
		return
	}
	next := deltaLine{Turn: e.Turn, Index: e.Index, Block: e.Block}
	if next != s.delta {
		s.flush(true)
		s.delta = next
	}
	s.text.WriteString(e.Text)
	if s.timer == nil {
		s.timer = time.AfterFunc(joinFor, func() {
			s.mu.Lock()
			defer s.mu.Unlock()
			s.timer = nil
			s.flush(false)
		})
	}
}

// flush prints the deltas that were collected; it needs s.mu. Unless the block
// is over, a character that is not whole yet waits for its rest.
func (s *stream) flush(over bool) {
	if s.timer != nil {
		s.timer.Stop()
		s.timer = nil
	}
	text := s.text.String()
	rest := ""
	if !over {
		whole := wholeCharacters(text)
		text, rest = text[:whole], text[whole:]
	}
	s.text.Reset()
	s.text.WriteString(rest)
	if text == "" {
		return
	}
	l := s.delta
	l.Text = text
	s.print(&l, "delta")
}

// wholeCharacters is the length of text without a character cut off at its end.
func wholeCharacters(text string) int {
	for i := len(text) - 1; i >= 0 && i >= len(text)-utf8.UTFMax; i-- {
		if utf8.RuneStart(text[i]) {
			if utf8.FullRuneInString(text[i:]) {
				return len(text)
			}
			return i
		}
	}
	return len(text)
}

// progress prints output of a running tool, unless the reader is far behind.
func (s *stream) progress(e *event.ToolProgressEvent) {
	s.open()
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.out.waiting() > maxBehind {
		s.skipped[e.ID] += len(e.Chunk)
		return
	}
	s.flush(true)
	s.print(&toolProgressLine{ID: e.ID, Name: e.Tool, Text: e.Chunk, Skipped: s.skipped[e.ID]}, "tool_progress")
	delete(s.skipped, e.ID)
}
