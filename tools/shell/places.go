package shell

import (
	"context"
	"fmt"
	"time"
)

// takePlace waits until fewer queued commands than there are places live, for at
// most limit (0: without end). Senders on a channel are served in their order.
func (e *Engine) takePlace(ctx context.Context, limit time.Duration) error {
	select {
	case e.places <- struct{}{}:
		return nil
	default:
	}
	var over <-chan time.Time
	if limit > 0 {
		timer := time.NewTimer(limit)
		defer timer.Stop()
		over = timer.C
	}
	select {
	case e.places <- struct{}{}:
		if err := ctx.Err(); err != nil { // both were ready
			e.givePlace()
			return fmt.Errorf("shell: not started: %w", err)
		}
		return nil
	case <-ctx.Done():
		return fmt.Errorf("shell: not started: %w", ctx.Err())
	case <-e.closing:
		return ErrClosed
	case <-over:
		return fmt.Errorf("shell: not started: %d processes are running and none ended within %s; stop one, or start fewer at once", cap(e.places), limit)
	}
}

func (e *Engine) givePlace() { <-e.places }
