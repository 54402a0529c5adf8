package bus_test

import (
	"context"
	"fmt"
	"testing"

	"starling/bus"
)

// BenchmarkSend announces one event to many Go listeners: of an event that is
// only looked at, and of one that can be refused.
func BenchmarkSend(b *testing.B) {
	type payload struct {
		text    string
		refused *bus.Refusal
	}
	type answer struct{ no *bus.Refusal }
	looked := bus.NewEmit[payload]("bench/looked")
	refusable := bus.NewRefusable("bench/refusable", bus.Closed,
		func(a *answer) *bus.Refusal { return a.no },
		func(e *payload, r bus.Refusal) { e.refused = &r },
		nil)
	for _, n := range []int{0, 1, 10, 100} {
		b.Run(fmt.Sprintf("emit/%d", n), func(b *testing.B) {
			send(b, looked, n, func(_ context.Context, e *payload) (*bus.None, error) { return nil, nil })
		})
		b.Run(fmt.Sprintf("refusable/%d", n), func(b *testing.B) {
			send(b, refusable, n, func(_ context.Context, e *payload) (*answer, error) { return nil, nil })
		})
	}
}

func send[E, A any](b *testing.B, topic *bus.Topic[E, A], n int, do func(context.Context, *E) (*A, error)) {
	store := bus.NewStore()
	port := bus.PortOf(bus.New(store), topic)
	heard := 0
	for i := range n {
		name := fmt.Sprintf("l%d", i)
		add, _ := port.Put(bus.At(bus.ClassEmbedded, i, name), bus.Owner{UID: uint64(i) + 1, Name: name}, bus.Listener[E, A]{
			Do: func(ctx context.Context, e *E) (*A, error) {
				heard++
				return do(ctx, e)
			},
		})
		store.Commit(add)
	}
	ctx, sent := context.Background(), 0
	var e E
	b.ReportAllocs()
	for b.Loop() {
		port.Send(ctx, &e)
		sent++
	}
	if heard != n*sent {
		b.Fatalf("%d of %d were heard", heard, n*sent)
	}
}
