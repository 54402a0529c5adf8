package harness

import (
	"context"
	"errors"
	"fmt"

	"starling/agent"
	"starling/agent/session"
	"starling/bus/chat"
	"starling/bus/view"
	"starling/trust/permit"
)

const (
	// countedSessions are the newest ones whose messages are counted, countedBytes
	// the largest file that is read for it.
	countedSessions = 50
	countedBytes    = 1 << 20
)

// Sessions are those of this workspace, the newest first. The messages of old or
// long ones are not counted: 0. An error names files that cannot be read; the others
// are listed with it.
func (e *Engine) Sessions() ([]view.Session, error) {
	r := e.record
	if r.store.Dir == "" {
		return nil, errors.New("there is no home folder, so there are no sessions; set STARLING_HOME")
	}
	infos, err := r.store.List(session.Filter{Workspace: e.options.Workspace})
	list := make([]view.Session, 0, len(infos))
	for i, info := range infos {
		row := view.Session{ID: info.ID, Title: info.Title, Changed: info.Updated, Folder: info.Cwd}
		if row.Title == "" {
			row.Title = info.Prompt
		}
		if i < countedSessions && info.Size <= countedBytes {
			if s, err := r.store.Read(info.ID); err == nil {
				row.Messages = len(s.Nodes())
				_ = s.Close() // it was read alone
			}
		}
		list = append(list, row)
	}
	return list, err
}

// Switch goes on with another session, named as --resume does; "" begins a new one
// with the next prompt. It is agent.ErrRunning while a run goes; after any error
// everything is as it was.
func (e *Engine) Switch(ctx context.Context, ref string) error {
	if !e.stage.TryLock() {
		return agent.ErrRunning
	}
	defer e.stage.Unlock()
	next, messages, same, err := e.record.open(ref)
	if err != nil || same {
		return err
	}
	if err := e.runtime.Settle(ctx); err != nil {
		return errors.Join(err, closed(next))
	}
	// Whoever is told of the end still sees the conversation that ends.
	e.record.end(ctx, "switch")
	if err := e.agent.Reset(messages); err != nil {
		return errors.Join(err, closed(next))
	}
	for _, err := range []error{e.binder.Flush(), e.record.replace(next)} {
		if err != nil {
			e.say(ctx, view.Notice{Text: err.Error(), Warn: true})
		}
	}
	e.disk.Forget()
	e.todos.Restore(messages)
	e.bash.Restore(messages)
	e.permissions.forgetSession(ctx)
	e.carry(next)
	if next != nil {
		e.record.begin(ctx)
	}
	return nil
}

func closed(s *session.Session) error {
	if s == nil {
		return nil
	}
	return s.Close()
}

// open opens the session to go on with; nil for a new one. same tells that it is
// the one that is open: nothing changes then.
func (r *record) open(ref string) (next *session.Session, messages []chat.Message, same bool, err error) {
	if ref == "" {
		return nil, nil, false, nil
	}
	if r.store.Dir == "" {
		return nil, nil, false, errors.New("there is no home folder, so there are no sessions to go on with; set STARLING_HOME")
	}
	name, message := session.SplitRef(ref)
	id, err := r.store.Resolve(name)
	if err != nil {
		return nil, nil, false, err
	}
	r.mu.Lock()
	own, _ := r.place()
	r.mu.Unlock()
	if id == own {
		if message != "" {
			err = fmt.Errorf("session %s is open: only another one can be gone on with from one of its messages", id)
		}
		return nil, nil, true, err
	}
	s, err := r.store.Open(ref)
	if err != nil {
		return nil, nil, false, err
	}
	return s, r.engine.recent(s, ref), false, nil
}

// replace closes the session and puts another in its place; nil for one that begins
// with the next prompt. One that cannot be written now is tried again until the end.
func (r *record) replace(next *session.Session) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	before := r.session
	r.session, r.resumed, r.reason = next, next != nil, "switch"
	r.off = r.store.Dir == "" // what could not be recorded before may be now
	if before == nil {
		return nil
	}
	_ = before.Flush() // Err is what came of it
	if err := before.Err(); err != nil {
		r.left = append(r.left, before)
		return fmt.Errorf("%w; it is tried again until starling ends", err)
	}
	return before.Close()
}

// forgetSession takes back the rules that were to hold for the session.
func (p *permissions) forgetSession(ctx context.Context) {
	for _, l := range p.rules.List() {
		if l.Source != permit.FromSession {
			continue
		}
		if err := p.rules.Remove(l); err != nil {
			p.engine.say(ctx, view.Notice{Text: err.Error(), Warn: true})
		}
	}
}
