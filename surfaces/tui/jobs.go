package tui

import (
	"context"
	"fmt"
	"slices"
	"time"

	"starling/bus/view"
	"starling/surfaces/tui/command"
)

// job is a command of the person that runs, of the shell or of the session.
type job struct {
	what    string // clean
	since   time.Time
	stop    func()
	stopped bool // by the person
	shown   bool // at the foot
	first   bool // what is sent meanwhile waits for it
}

// shownAfter is how long a command of the session runs before the foot says so: most are
// done at once.
const shownAfter = 200 * time.Millisecond

// begin notes that a command runs. Its context ends when the person stops it.
func (s *Session) begin(what string) (context.Context, *job) {
	ctx, cancel := context.WithCancel(s.ctx)
	if len(s.jobs) == 0 {
		s.meanwhile = nil
	}
	j := &job{what: oneLine(what), since: s.now(), stop: cancel}
	s.jobs = append(s.jobs, j)
	return ctx, j
}

// showJob has the foot say that a command runs, for as long as it does.
func (s *Session) showJob(j *job) {
	j.shown = true
	s.idle()
}

// finish notes that a command is done.
func (s *Session) finish(j *job) {
	j.stop()
	s.jobs = slices.DeleteFunc(s.jobs, func(o *job) bool { return o == j })
	s.wants = true
	s.idle()
}

// job is the command the foot tells of, the newest one; nil for none.
func (s *Session) job() *job {
	for _, j := range slices.Backward(s.jobs) {
		if j.shown {
			return j
		}
	}
	return nil
}

// blocks names the command that queued lines wait for; "" where they wait for a run, or
// for the person.
func (s *Session) blocks() string {
	i := slices.IndexFunc(s.jobs, func(j *job) bool { return j.first })
	if s.running != nil || i < 0 {
		return ""
	}
	return s.jobs[i].what
}

// idle says what goes on besides a run.
func (s *Session) idle() {
	j := s.job()
	s.work.on = s.running != nil || j != nil
	if s.running != nil || j == nil {
		return
	}
	what := j.what
	if j.stopped {
		what = atStop
	}
	s.doing(what)
	if s.work.what == j.what {
		s.work.since = j.since
	}
}

// perform runs a command of the session, which the person may stop, and does what it came
// to. What they send meanwhile waits.
func (s *Session) perform(what string, run func(context.Context, Driver) command.Reply) {
	ctx, j := s.begin(what)
	j.first = true
	s.after(shownAfter, func() { s.showJob(j) })
	s.inOrder(func(d Driver) func() {
		r := run(ctx, d)
		return func() {
			s.finish(j)
			if j.stopped {
				s.stoppedJob(j)
			}
			if !j.stopped || !r.Warn { // else it failed because it was stopped
				s.apply(r)
			}
		}
	})
}

// stoppedJob says that the person stopped a command. What is queued behind it waits for
// them, as behind a run.
func (s *Session) stoppedJob(j *job) {
	queued := 0
	if s.running == nil && !s.holding() { // else its end says so, or has
		queued = s.queued()
		s.holds = s.lines == nil || !s.lines.atEnd
	}
	s.notice(view.Notice{Text: j.what + " " + s.stoppedText(queued)})
}

// stopRun stops what runs, commands of the person too, and tells whether anything did.
func (s *Session) stopRun() bool {
	if s.running == nil && len(s.jobs) == 0 {
		return false
	}
	for _, j := range s.jobs {
		j.stopped = true
		j.stop()
	}
	if s.running != nil {
		s.running.stopping = true
		s.running.stop()
	}
	s.doing(atStop)
	return true
}

// stoppedText says that something was stopped, and what waits for the person since.
func (s *Session) stoppedText(queued int) string {
	key := "Enter"
	if s.lines != nil {
		key = "an empty line"
	}
	switch queued {
	case 0:
		return "stopped"
	case 1:
		return "stopped; 1 queued line waits: " + key + " sends it"
	}
	return fmt.Sprintf("stopped; %d queued lines wait: %s sends the first", queued, key)
}
