package agent

import (
	"context"
	"time"

	"starling/bus"
	"starling/bus/event"
)

// TickEvery is the time between two announcements of code/tick.
const TickEvery = 250 * time.Millisecond

// Tick announces code/tick until ctx ends, then returns. A tick that is due while
// the one before is still being heard is left out.
func Tick(ctx context.Context, b *bus.Bus) {
	port := bus.PortOf(b, event.Tick)
	// A listener that is called when the run ends is not cut short: it would
	// count as broken.
	hears := context.WithoutCancel(ctx)
	Beat(ctx, b.Store(), port.Listening, func() { port.Send(hears, &event.TickEvent{}) })
}

// Beat calls f every TickEvery until ctx ends, then returns. While nothing in the store
// wants it, it rests until the store changes: an idle session takes no processor time.
func Beat(ctx context.Context, store *bus.Store, wanted func() bool, f func()) {
	clock := time.NewTicker(TickEvery)
	defer clock.Stop()
	for {
		changed := store.Changed()
		if !wanted() {
			clock.Stop()
			select {
			case <-ctx.Done():
				return
			case <-changed:
				clock.Reset(TickEvery)
				continue
			}
		}
		select {
		case <-ctx.Done():
			return
		case <-clock.C:
		}
		f()
		select {
		case <-clock.C:
		default:
		}
	}
}

// ticking returns loop with code/tick beside it, where the options say so.
func (r *run) ticking(loop func()) func() {
	if !r.a.o.Tick {
		return loop
	}
	return func() {
		ctx, cancel := context.WithCancel(r.ctx)
		defer cancel()
		go Tick(ctx, r.a.o.Bus)
		loop()
	}
}
