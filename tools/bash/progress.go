package bash

import (
	"bytes"
	"strings"
	"sync"
	"time"
	"unicode/utf8"
)

// A screen gets at most one chunk in each pace, and of that time's output the last
// maxChunk bytes.
const (
	pace     = 50 * time.Millisecond
	maxChunk = 8 << 10
)

// pump hands output on to a screen, beside the command: it never makes the command
// wait, however slow the screen is.
type pump struct {
	show func(chunk string)

	mu      sync.Mutex
	pending []byte
	dropped bool // pending does not go on where the last chunk ended

	wake chan struct{} // has an element when there is something to show
	end  chan struct{}
	done chan struct{}
}

func newPump(show func(chunk string)) *pump {
	p := &pump{show: show, wake: make(chan struct{}, 1), end: make(chan struct{}), done: make(chan struct{})}
	go p.loop()
	return p
}

// take keeps a piece of output for the next chunk.
func (p *pump) take(piece []byte) {
	p.mu.Lock()
	if len(piece) > maxChunk {
		piece, p.pending, p.dropped = piece[len(piece)-maxChunk:], p.pending[:0], true
	}
	if over := len(p.pending) + len(piece) - maxChunk; over > 0 {
		p.pending, p.dropped = append(p.pending[:0], p.pending[over:]...), true
	}
	p.pending = append(p.pending, piece...)
	p.mu.Unlock()
	select {
	case p.wake <- struct{}{}:
	default:
	}
}

// close shows the rest and returns when nothing more is shown.
func (p *pump) close() {
	close(p.end)
	<-p.done
}

func (p *pump) loop() {
	defer close(p.done)
	rest := time.NewTimer(pace)
	defer rest.Stop()
	for {
		select {
		case <-p.wake:
			p.send(false)
		case <-p.end:
			p.send(true)
			return
		}
		rest.Reset(pace)
		select {
		case <-rest.C:
		case <-p.end:
			p.send(true)
			return
		}
	}
}

// send shows what there is. A screen that panics gets nothing more: the command is
// not to blame, and nothing else would catch it here.
func (p *pump) send(last bool) {
	defer func() {
		if recover() != nil {
			p.show = nil
		}
	}()
	if chunk := p.chunk(last); chunk != "" && p.show != nil {
		p.show(chunk)
	}
}

// chunk takes what can be shown: all of it at the end, before that without the
// character or escape sequence that the next piece goes on with.
func (p *pump) chunk(last bool) string {
	p.mu.Lock()
	defer p.mu.Unlock()
	raw := p.pending
	if p.dropped {
		for len(raw) > 0 && !utf8.RuneStart(raw[0]) {
			raw = raw[1:]
		}
		if i := bytes.IndexByte(raw, '\n'); i >= 0 && i < len(raw)-1 {
			raw = raw[i+1:]
		}
	}
	n := len(raw)
	if !last {
		n = complete(raw)
	}
	if n == 0 {
		return ""
	}
	text, _ := clean(string(raw[:n]))
	// The next state of a progress bar does not go on where the last one ended.
	if raw[0] == '\r' && text != "" && text[0] != '\n' {
		text = "\n" + text
	}
	if p.dropped {
		text = "…\n" + text
	}
	p.pending, p.dropped = append(p.pending[:0], raw[n:]...), false
	return text
}

// longestSequence is how long an escape sequence may be to be waited for.
const longestSequence = 512

// complete returns how many bytes of b hold whole characters and sequences.
func complete(b []byte) int {
	n := len(b)
	for i := 1; i < utf8.UTFMax && i <= n; i++ {
		if last := b[n-i:]; utf8.RuneStart(last[0]) {
			if !utf8.FullRune(last) {
				n -= i
			}
			break
		}
	}
	// Twice and more: the escape that is cut may be the one that ends a sequence.
	for i := bytes.LastIndexByte(b[:n], 0x1b); i >= 0 && n-i < longestSequence && !ended(string(b[i:n])); {
		n = i
		i = bytes.LastIndexByte(b[:n], 0x1b)
	}
	// A carriage return may be half of a line break.
	if n > 0 && b[n-1] == '\r' && n == len(b) {
		n--
	}
	return n
}

// ended tells whether the escape sequence that s begins with is whole.
func ended(s string) bool {
	if len(s) < 2 {
		return false
	}
	switch s[1] {
	case '[':
		return strings.IndexFunc(s[2:], func(r rune) bool { return r >= 0x40 && r <= 0x7e }) >= 0
	case ']', 'P', 'X', '^', '_':
		return strings.ContainsAny(s[2:], "\a\n") || strings.Contains(s[2:], "\x1b\\")
	}
	return s[1] > 0x2f || len(s) > 2
}
