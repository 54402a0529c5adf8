package shell

import (
	"context"
	"syscall"
	"time"
)

// supervise is the life of a process after its start:
//
//	running -> ended                     quiet within Linger
//	running -> background -> ended       a child lives on
//	any     -> TERM -> (Grace) KILL -> ended
func (p *process) supervise(ctx context.Context, timeout time.Duration) {
	var limit <-chan time.Time
	if timeout > 0 {
		t := time.NewTimer(timeout)
		defer t.Stop()
		limit = t.C
	}
	quiet := false
	drawing := p.drawing
	var given <-chan time.Time
	for over := false; !over; {
		over = true
		select {
		case <-p.exited:
			quiet = p.settle(ctx, limit)
		case <-ctx.Done():
			p.ask(cancelled)
		case <-limit:
			p.ask(timedOut)
		case <-p.asked:
		case <-drawing:
			drawing, over = nil, false
			t := time.NewTimer(drawingTime)
			defer t.Stop()
			given = t.C
		case <-given:
			if given, over = nil, p.draws(); over {
				p.ask(noTerminal)
			}
		}
	}
	switch {
	case p.isAsked():
		p.terminate()
		p.record(false)
		if !p.hasExited() {
			p.release() // it hangs inside the kernel; Run need not
		}
	case quiet:
		p.record(false)
	default:
		p.record(true)
		p.release()
		p.outlive()
	}
	<-p.exited
	<-p.drained
	if p.stdin != nil {
		_ = p.stdin.Close() // ends a writer whose reader could not be found
	}
	p.engine.leave(p)
}

// drawingTime is how long what draws on a terminal that is none may go on: some
// programs only begin so and end by themselves.
const drawingTime = 1500 * time.Millisecond

func (p *process) draws() bool {
	p.out.Lock()
	defer p.out.Unlock()
	return p.screen.on()
}

func (p *process) hasExited() bool {
	select {
	case <-p.exited:
		return true
	default:
		return false
	}
}

func (p *process) isAsked() bool {
	select {
	case <-p.asked:
		return true
	default:
		return false
	}
}

// quiet tells whether nothing of the command is left.
func (p *process) quiet() bool {
	select {
	case <-p.drained:
		return len(p.tree.alive()) == 0
	default:
		return false
	}
}

// settle gives children Linger to end after the command did, and tells whether
// they did.
func (p *process) settle(ctx context.Context, limit <-chan time.Time) bool {
	end := time.NewTimer(Linger)
	defer end.Stop()
	drained, pause := p.drained, 2*time.Millisecond
	var again <-chan time.Time
	for {
		select {
		case <-drained:
			drained = nil
			again = time.After(0)
		case <-again:
			if p.quiet() {
				return true
			}
			pause = min(pause*2, 50*time.Millisecond)
			again = time.After(pause)
		case <-end.C:
			return false
		case <-ctx.Done():
			p.ask(cancelled)
			return false
		case <-limit:
			p.ask(timedOut)
			return false
		case <-p.asked:
			return false
		}
	}
}

// outlive waits for the end of the children that were left in the background.
// Their output goes on being read: closing the pipe would kill a server at its
// next line.
func (p *process) outlive() {
	select {
	case <-p.drained:
	case <-p.asked:
		p.terminate()
		return
	}
	pause := 50 * time.Millisecond
	for !p.quiet() {
		select {
		case <-time.After(pause):
			pause = min(pause*2, time.Second)
		case <-p.asked:
			p.terminate()
			return
		}
	}
}

// terminate ends the whole tree: TERM, the grace, KILL until nothing is left.
func (p *process) terminate() {
	defer close(p.tried)
	p.tree.signal(syscall.SIGTERM, p.pipesOpen())
	if !p.vanishes(Grace, p.engine.hurry) {
		// Again and again, because a process may have forked meanwhile; on a slow
		// machine for longer.
		deadline := time.Now().Add(hardEnd)
		for round := 0; round < leastKills || time.Now().Before(deadline); round++ {
			p.tree.signal(syscall.SIGKILL, p.pipesOpen())
			if p.vanishes(50*time.Millisecond, nil) {
				break
			}
		}
	}
	// Whoever still holds a pipe could not be found.
	for _, pipe := range p.pipes {
		_ = pipe.Close()
	}
	<-p.drained
}

func (p *process) pipesOpen() bool {
	select {
	case <-p.drained:
		return false
	default:
		return true
	}
}

// vanishes waits up to d for the end of everything, or until hurry is closed.
func (p *process) vanishes(d time.Duration, hurry <-chan struct{}) bool {
	end := time.NewTimer(d)
	defer end.Stop()
	for pause := 2 * time.Millisecond; ; pause = min(pause*2, 50*time.Millisecond) {
		if p.hasExited() && p.quiet() {
			return true
		}
		select {
		case <-time.After(pause):
		case <-end.C:
			return false
		case <-hurry:
			return false
		}
	}
}
