package tui

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"time"

	"starling/bus/view"
	"starling/surfaces/tui/command"
	"starling/surfaces/tui/input"
)

func (s *Session) editorOptions() input.EditorOptions {
	return input.EditorOptions{
		Host: host{s}, Send: s.send, Steer: s.steer, External: s.external, Ask: s.ask,
		Empty: s.goOn, Exists: s.exists, Changed: s.redraw, Pending: s.pending, History: s.o.History, Keys: s.keys,
		Placeholder: "what is to be done?",
	}
}

// exists tells whether there is a file of a path that was dropped on the terminal.
func (s *Session) exists(path string) bool {
	if rest, home := strings.CutPrefix(path, "~/"); home {
		path = filepath.Join(s.o.Env("HOME"), rest)
	}
	info, err := os.Stat(path)
	return err == nil && info.Mode().IsRegular()
}

func (s *Session) pending() bool {
	return s.waiting != nil && s.waiting()
}

// send takes what the person sent: a command, a shell line or a prompt.
func (s *Session) send(e input.Entry) {
	s.tr.End()
	text := strings.TrimSpace(e.Text)
	name, _, isCommand := command.Split(text)
	isCommand = isCommand && (len(e.Attached) == 0 || command.TakesFiles(name))
	isShell := strings.HasPrefix(text, "!")
	switch {
	case !s.ready && (isShell || isCommand):
		s.held = append(s.held, func() { s.send(e) })
	case isShell:
		s.shell(text)
	case isCommand:
		s.command(text, e.Attached...)
	default:
		s.deliver(e)
	}
}

// deliver runs a prompt, or has it wait for what runs.
func (s *Session) deliver(e input.Entry) {
	switch {
	case s.free():
		s.holds = false
		s.prompt(e)
	case s.lines != nil:
		s.lines.wait(e)
	default:
		s.enqueue(e)
	}
}

// enqueue has a prompt wait.
func (s *Session) enqueue(e input.Entry) {
	if s.lines != nil {
		s.lines.queue = append(s.lines.queue, e)
		return
	}
	s.editor.Queue().Push(e)
}

// prompt begins a run.
func (s *Session) prompt(e input.Entry) {
	s.person(e.Text)
	s.along(e.Attached)
	s.shown = e.Text
	ctx, cancel := context.WithCancel(s.ctx)
	a := &activity{stop: cancel, done: make(chan struct{})}
	s.running = a
	s.live.Store(true)
	s.work.on = true
	s.doing("starting")
	var out view.Outcome
	host{s}.Go(func() {
		defer cancel()
		defer close(a.done)
		out = s.engine.driver.Prompt(ctx, e.Text, e.Attached...) // nothing runs before it is there
	}, func() {
		switch {
		case out.Untaken && s.lines == nil:
			s.editor.Return(e)
		case out.Untaken:
			s.lines.keeps(e)
		}
		s.ended(out)
	})
}

// along says which files went with what the person said.
func (s *Session) along(files []string) {
	if len(files) > 0 {
		s.notice(view.Notice{Text: "sent along: " + strings.Join(files, ", ")})
	}
}

// ended goes on after a run: with the next line that waits.
func (s *Session) ended(out view.Outcome) {
	was := s.running
	if was == nil {
		was = new(activity)
	}
	s.running, s.wants, s.shown = nil, true, ""
	s.idle()
	s.live.Store(false)
	s.endReply()
	switch {
	case was.stopping && (out.Stop == "aborted" || s.queued() > 0):
		s.holds = s.lines == nil || !s.lines.atEnd
		s.notice(view.Notice{Text: s.stoppedText(s.queued())})
	case out.Why != "" && out.Why != was.told: // else the turn has said so
		s.notice(view.Notice{Text: out.Stop + ": " + out.Why, Warn: true})
	}
	if out.Unsaved != "" {
		s.notice(view.Notice{Text: "the session is not on disk as a whole: " + out.Unsaved, Warn: true})
	}
	if s.lines != nil {
		s.lines.ended()
		return
	}
	if s.next() {
		return
	}
	s.bell()
}

func (s *Session) bell() {
	if s.o.Bell && s.screen != nil {
		if err := s.screen.Beep(); err != nil {
			s.notice(view.Notice{Text: "the bell: " + err.Error(), Warn: true})
		}
	}
}

// steer sends a line into the run that goes on.
func (s *Session) steer(e input.Entry) {
	if s.running == nil {
		s.deliver(e)
		return
	}
	s.beside(func(d Driver) func() {
		err := d.Steer(e.Text, e.Attached...)
		return func() {
			switch {
			case err == nil:
				s.person(e.Text)
				s.along(e.Attached)
			case s.free(): // it ended meanwhile
				s.prompt(e)
			default:
				s.enqueue(e)
				if s.running == nil {
					return // what a command changes comes first
				}
				s.notice(view.Notice{Text: err.Error(), Warn: true})
			}
		}
	})
}

// hint shows a short text at the bottom for a while.
func (s *Session) hint(text string, d time.Duration) {
	s.work.hint, s.hintTill = text, s.now().Add(d)
	s.redraw()
}

// shell runs a command of the person. "!!" keeps it out of the conversation.
func (s *Session) shell(text string) {
	line := strings.TrimPrefix(text, "!")
	line, unseen := strings.CutPrefix(line, "!")
	line = strings.TrimSpace(line)
	if line == "" {
		return
	}
	s.calls++
	id := "!" + line + "\x00" + time.Duration(s.calls).String()
	if s.lines == nil {
		s.tr.Command(line)
		s.tr.Begin(id, "shell", "") // the line stands above
		s.tr.Show(id)
	}
	ctx, j := s.begin(line)
	s.showJob(j)
	s.beside(func(d Driver) func() {
		end, err := d.Shell(ctx, line, !unseen, func(chunk string) { s.in.write(output, id, chunk) })
		stopped := ctx.Err() != nil
		return func() {
			s.finish(j)
			switch {
			case stopped:
				end = view.Ended{Status: "stopped", Failed: true}
			case err != nil:
				end = view.Ended{Status: err.Error(), Failed: true}
			}
			if s.lines != nil {
				s.lines.ran(id, line, end)
				return
			}
			s.tr.Settle(id, end.Status, end.Failed)
		}
	})
}

// external opens the text in the person's editor.
func (s *Session) external(text string) {
	if s.screen == nil {
		return
	}
	var changed string
	var ok bool
	err := s.outside(func() (err error) {
		changed, ok, err = editText(s.o, text)
		return err
	})
	switch {
	case err != nil:
		s.notice(view.Notice{Text: err.Error(), Warn: true})
	case ok:
		s.editor.SetText(strings.TrimRight(changed, "\n"))
	}
}

// ask has completions looked for. Files that an earlier key asked for are not waited for
// any more.
func (s *Session) ask(r input.Request) {
	a := s.asked()
	if s.look != nil {
		s.look()
	}
	ctx, cancel := context.WithCancel(s.ctx)
	s.look = cancel
	s.beside(func(d Driver) func() {
		var found []input.Candidate
		switch r.Kind {
		case input.Files:
			names, err := d.Files(ctx, r.Text, filesShown)
			if err == nil {
				found = candidates(names)
			}
		case input.Arguments:
			list, err := command.Complete(s.ctx, a.with(d), r.Name, r.Text)
			if err == nil {
				for _, c := range list {
					found = append(found, input.Candidate(c))
				}
			}
		}
		return func() { s.editor.Offer(r.Gen, found) }
	})
}

const filesShown = 50

func candidates(names []string) []input.Candidate {
	out := make([]input.Candidate, len(names))
	for i, n := range names {
		out[i] = input.Candidate{Text: n}
	}
	return out
}
