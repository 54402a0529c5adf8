package agent

import (
	"context"
	"fmt"
	"time"
)

// grace is how long something that was told to end may take to do so and still
// be heard. It leaves half of the 100 ms in which a cancel takes effect.
const grace = 50 * time.Millisecond

// await runs f and waits for it; when ctx ends it waits no longer than grace and
// returns the cause. What f does after that is lost. A panic of f is an error.
func await[T any](ctx context.Context, f func() (T, error)) (T, error) {
	type result struct {
		value T
		err   error
	}
	done := make(chan result, 1)
	go func() {
		r := result{err: fmt.Errorf("it ended its goroutine without an answer")}
		defer func() {
			if v := recover(); v != nil {
				r.err = fmt.Errorf("panic: %v", v)
			}
			done <- r
		}()
		r.value, r.err = f()
	}()
	select {
	case r := <-done:
		return r.value, r.err
	case <-ctx.Done():
	}
	late := time.NewTimer(grace)
	defer late.Stop()
	select {
	case r := <-done:
		return r.value, r.err
	case <-late.C:
		var none T
		return none, context.Cause(ctx)
	}
}
