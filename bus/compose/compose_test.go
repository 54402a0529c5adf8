package compose_test

import (
	"context"
	"testing"
	"time"

	"starling/bus/compose"
)

func settle(t testing.TB, r *compose.Runtime) {
	t.Helper()
	if err := r.Settle(context.Background()); err != nil {
		t.Fatalf("settle: %v", err)
	}
}

func shutdown(t testing.TB, r *compose.Runtime) {
	t.Helper()
	if err := r.Shutdown(context.Background()); err != nil {
		t.Fatalf("shutdown: %v", err)
	}
}

func wantActive(t testing.TB, r *compose.Runtime, n int) {
	t.Helper()
	active := 0
	for _, row := range r.Roster().Rows {
		if row.State == compose.Active {
			active++
		} else if t.Failed() == false {
			t.Errorf("%s is %s: %s", row.Name, row.State, row.Reason)
		}
	}
	if active != n {
		t.Errorf("%d active, want %d", active, n)
	}
}

// patience bounds a wait that only a fault makes long.
func patience() (context.Context, context.CancelFunc) {
	return context.WithTimeout(context.Background(), 60*time.Second)
}
