package tui

import "time"

const (
	// frameTime is the least time between two frames.
	frameTime = 16 * time.Millisecond
	// calmTime is the least time to a frame that only shows more of what a run writes:
	// nobody reads faster.
	calmTime = 34 * time.Millisecond
	// blindTime is how long waiting input may keep the screen from being drawn.
	blindTime = 100 * time.Millisecond
)

// pump decides when a frame is drawn: none when nothing changed, not while more input
// waits, and never two within frameTime.
type pump struct {
	dirty bool
	calm  bool      // for text that streams in alone
	last  time.Time // end of the last frame
	since time.Time // of dirty
	drawn int       // frames so far
}

// ask wants a frame.
func (p *pump) ask(now time.Time) {
	if !p.dirty {
		p.dirty, p.since = true, now
	}
	p.calm = false
}

// askCalm wants one for text that streams in.
func (p *pump) askCalm(now time.Time) {
	if !p.dirty {
		p.dirty, p.since, p.calm = true, now, true
	}
}

// wait returns how long to wait before drawing; 0 is now.
func (p *pump) wait(now time.Time, input bool) time.Duration {
	due := p.last.Add(frameTime)
	if p.calm {
		due = p.last.Add(calmTime)
	}
	if input {
		due = later(due, p.since.Add(blindTime))
	}
	return max(due.Sub(now), 0)
}

// done tells that a frame was drawn.
func (p *pump) done(now time.Time) {
	p.dirty, p.calm, p.last = false, false, now
	p.drawn++
}

func later(a, b time.Time) time.Time {
	if a.After(b) {
		return a
	}
	return b
}
