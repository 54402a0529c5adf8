package tui

import (
	"strings"
	"sync"
)

// inbox brings what happened elsewhere to the event loop. Put never waits, from any
// goroutine, the loop itself included; what a run writes is joined while it waits.
type inbox struct {
	wake chan struct{} // one token while something waits

	mu    sync.Mutex
	items []item
}

// item is a function to run, or text for the transcript.
type item struct {
	f func()
	// quiet: f says itself whether anything is to be drawn.
	quiet bool
	kind  textKind
	id    string // of a call
	text  *strings.Builder
}

type textKind int

const (
	noText textKind = iota
	reply
	thought
	output
)

func newInbox() *inbox { return &inbox{wake: make(chan struct{}, 1)} }

// do has f run on the event loop.
func (b *inbox) do(f func()) { b.put(item{f: f}) }

// quiet has f run on the event loop as do does, and draws nothing for it.
func (b *inbox) quiet(f func()) { b.put(item{f: f, quiet: true}) }

// write has text shown: of the reply, a thought, or the output of a call.
func (b *inbox) write(kind textKind, id, text string) {
	b.mu.Lock()
	if n := len(b.items); n > 0 && b.items[n-1].kind == kind && b.items[n-1].id == id {
		b.items[n-1].text.WriteString(text)
		b.mu.Unlock()
		return // whoever put the item has woken the loop
	}
	b.mu.Unlock()
	s := &strings.Builder{}
	s.WriteString(text)
	b.put(item{kind: kind, id: id, text: s})
}

func (b *inbox) put(i item) {
	b.mu.Lock()
	b.items = append(b.items, i)
	b.mu.Unlock()
	select {
	case b.wake <- struct{}{}:
	default:
	}
}

// take returns everything that waits.
func (b *inbox) take() []item {
	b.mu.Lock()
	defer b.mu.Unlock()
	items := b.items
	b.items = nil
	return items
}
