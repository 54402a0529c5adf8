package harness

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"starling/agent/session"
	"starling/bus"
	"starling/bus/chat"
	"starling/bus/event"
	"starling/bus/view"
	"starling/script/bind"
)

// record is the session file of an engine. A new one is begun with the first
// prompt: an engine that runs a command only leaves none.
type record struct {
	engine *Engine
	store  session.Store
	off    bool // no home, or a trial

	mu      sync.Mutex
	session *session.Session
	// left are sessions that somebody went on from before they were on disk.
	left    []*session.Session
	resumed bool
	started bool // code/session-start was announced
	reason  string
}

// newRecord opens the session to go on with, where the options name one, and
// returns its messages.
func newRecord(e *Engine) (*record, []chat.Message, error) {
	o := e.options
	r := &record{engine: e, off: o.Home == "" || o.Host == "eval", reason: "new"}
	if r.off {
		if o.Resume != "" || o.Continue {
			return nil, nil, errors.New("there is no home folder, so there are no sessions to go on with; set STARLING_HOME")
		}
		return r, nil, nil
	}
	r.store = session.Store{Dir: filepath.Join(o.Home, "sessions"), Now: o.Now, Mask: e.models.mask}
	ref, option := o.Resume, "--resume"
	if o.Continue {
		option = "--continue"
		id, err := r.store.Last(o.Cwd)
		if err != nil {
			return nil, nil, fmt.Errorf("%s: %w", option, err)
		}
		ref = id
	}
	if ref == "" {
		return r, nil, nil
	}
	s, err := r.store.Open(ref)
	if err != nil {
		return nil, nil, fmt.Errorf("%s: %w", option, err)
	}
	messages := e.recent(s, ref)
	e.carry(s)
	r.session, r.resumed, r.reason = s, true, "resume"
	return r, messages, nil
}

// recent are the messages of a session that was opened to go on with; what is wrong
// with it is told.
func (e *Engine) recent(s *session.Session, ref string) []chat.Message {
	messages, all, err := s.Recent(session.ResumeBytes)
	if !all {
		e.say(context.Background(), view.Notice{Text: fmt.Sprintf("session %s: its oldest messages are left out of what the model is told", s.ID())})
	}
	if err != nil {
		e.say(context.Background(), view.Notice{Text: fmt.Sprintf("session %s: %v", s.ID(), err), Warn: true})
	}
	problems := s.Problems()
	if text := cutOff(messages); text != "" && !strings.Contains(ref, ":") { // who named a message cut there by choice
		problems = append(problems, fmt.Sprintf("session %s: %s", s.ID(), text))
	}
	for _, problem := range problems {
		e.say(context.Background(), view.Notice{Text: problem, Warn: true})
	}
	return messages
}

// cutOff says how the last run of a conversation was cut off, as by a kill; ""
// when it came to an end.
func cutOff(messages []chat.Message) string {
	open, last := 0, chat.Assistant
	for i, m := range slices.Backward(messages) {
		if i == len(messages)-1 || last == chat.System { // notes may stand behind an end
			last = m.Role
		}
		if m.Role == chat.Assistant {
			open += len(m.Calls())
			break
		}
		for _, b := range m.Blocks {
			if b.Kind == chat.Result {
				open--
			}
		}
	}
	switch {
	case open == 1:
		return "its last run was cut off: a tool call has no result, the model is told that its effect is unknown"
	case open > 1:
		return fmt.Sprintf("its last run was cut off: %d tool calls have no result, the model is told that their effect is unknown", open)
	case last == chat.User, last == chat.ToolRole:
		return "its last run ended before the model answered"
	}
	return ""
}

// begin makes the session, if there is none yet, and announces it.
func (r *record) begin(ctx context.Context) {
	r.mu.Lock()
	if r.session == nil && !r.off {
		e := r.engine
		s, err := r.store.Create(session.Meta{Cwd: e.options.Cwd, Workspace: e.options.Workspace, Model: e.agent.Model()})
		if err != nil {
			r.off = true
			e.say(ctx, view.Notice{Text: "this session is not recorded: " + err.Error(), Warn: true})
		} else {
			r.session = s
		}
	}
	started, restored, reason := r.started, r.resumed, r.reason
	r.started = true
	id, path := r.place()
	r.mu.Unlock()
	if started {
		return
	}
	port := bus.PortOf(r.engine.bus, event.SessionStart)
	port.Send(ctx, &event.SessionStartEvent{ID: id, Path: path, Reason: reason, Restored: restored})
}

// place is the id and the file of the session; empty where nothing is recorded.
func (r *record) place() (id, path string) {
	if r.session == nil {
		return "", ""
	}
	return r.session.ID(), r.session.Path()
}

// append records messages in order. An error is lasting and is told once; what
// waits is written when there is room again.
func (r *record) append(messages ...chat.Message) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.off || r.session == nil {
		return nil
	}
	// The sync goes on beside the request or the calls that come next; flush waits for
	// the last one.
	err := r.session.AppendEarly(messages...)
	if unsaved := (*session.UnsavedError)(nil); errors.As(err, &unsaved) {
		// Its own text counts the entries, and what differs is told once more.
		return fmt.Errorf("session file %s: %w; what is said is kept in memory and written when that is mended", unsaved.Path, unsaved.Err)
	}
	return err
}

// unsaved is why the session is not on disk; nil when it is.
func (r *record) unsaved() error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.session == nil {
		return nil
	}
	return r.session.Err()
}

// flush tries once more to write what waits, and writes the plugin record. That
// the session is not on disk was told when it came, and the outcome says it too.
func (r *record) flush() error {
	r.mu.Lock()
	defer r.mu.Unlock()
	var errs []error
	r.left = slices.DeleteFunc(r.left, func(s *session.Session) bool {
		if s.Flush() != nil || s.Err() != nil {
			return false
		}
		errs = append(errs, s.Close())
		return true
	})
	if r.session == nil {
		return errors.Join(errs...)
	}
	if err := r.session.Flush(); r.session.Err() == nil {
		errs = append(errs, err)
	}
	return errors.Join(errs...)
}

// end announces the end of the session, for "end" or "switch"; before the plugins
// leave.
func (r *record) end(ctx context.Context, reason string) {
	r.mu.Lock()
	id, path := r.place()
	started, restored := r.started, r.resumed
	r.started = false
	r.mu.Unlock()
	if !started {
		return
	}
	port := bus.PortOf(r.engine.bus, event.SessionEnd)
	port.Send(ctx, &event.SessionEndEvent{ID: id, Path: path, Reason: reason, Restored: restored})
}

func (r *record) close() error {
	r.mu.Lock()
	defer r.mu.Unlock()
	var errs []error
	for _, s := range append(r.left, r.session) {
		errs = append(errs, closed(s))
	}
	return errors.Join(errs...)
}

// info is what plugins read of the session.
func (r *record) info() (bind.SessionInfo, bool) {
	r.mu.Lock()
	s := r.session
	r.mu.Unlock()
	if s == nil {
		return bind.SessionInfo{}, false
	}
	return bind.SessionInfo{
		ID: s.ID(), Path: s.Path(), Title: s.Title(), Model: r.engine.agent.Model(), Messages: r.engine.agent.Transcript,
	}, true
}

// note keeps what a plugin got from the host, for a replay.
func (r *record) note(plugin, call, kind string, n int, value json.RawMessage) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.session == nil {
		return
	}
	if rec, err := r.session.Recorder(); err == nil {
		// What is no JSON has nothing a replay could give back.
		_ = rec.Record(plugin, call, kind, n, value)
	}
}

// Sessions lists the recorded sessions of a workspace, the newest first.
func Sessions(o Options) ([]session.Info, error) {
	o = o.withDefaults()
	if o.Home == "" {
		return nil, errors.New("there is no home folder, so there are no sessions; set STARLING_HOME")
	}
	return session.Store{Dir: filepath.Join(o.Home, "sessions")}.List(session.Filter{Workspace: o.Workspace})
}

// keep records what a plugin got; before the first prompt there is no session to
// keep it in.
func (e *Engine) keep(plugin, call, word string, n int, outcome json.RawMessage) {
	if e.record != nil {
		e.record.note(plugin, call, word, n, outcome)
	}
}
