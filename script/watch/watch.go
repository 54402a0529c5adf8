package watch

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"github.com/fsnotify/fsnotify"
)

// Times of the rule, when Options names no others. One save is up to 16 events
// over up to 18 ms; with these it is one change.
const (
	Quiet   = 40 * time.Millisecond  // without events before a look
	MaxWait = 400 * time.Millisecond // for quiet, when events do not end
	Poll    = 2 * time.Second        // between looks nobody asked for
)

// Digest is the SHA-256 of a file's content. Above 4 MiB, far more than a
// plugin may have, the rest is told by size and time.
type Digest [sha256.Size]byte

// Change is what differs from the last change that was received. Paths are
// sorted and lead through the folders as Options names them.
type Change struct {
	Added, Changed, Removed []string
	Digests                 map[string]Digest // of Added and Changed
}

func (c Change) empty() bool { return len(c.Added)+len(c.Changed)+len(c.Removed) == 0 }

// Options of New.
type Options struct {
	// Dirs are the plugin folders, absolute; they need not exist. Every file
	// in them counts whose name ends in .star and starts with no dot.
	Dirs []string
	// Files returns further files that count, absolute, such as plugins.json;
	// nil for none. It is asked at every look, on the watcher's goroutine. A
	// file that is new in the list is an added one; one no longer in it is
	// forgotten without a change.
	Files func() []string
	// Now is the clock that file times are compared with; nil means time.Now.
	Now func() time.Time
	// Log gets notices for the person; nil drops them.
	Log func(text string)
	// Notify makes the source of events; nil means the system's.
	Notify func() (Notifier, error)
	// Quiet, MaxWait and Poll change the times of the rule; 0 keeps them.
	Quiet, MaxWait, Poll time.Duration
}

// Watcher looks at plugin folders until it is closed.
type Watcher struct {
	opt      Options
	notifier Notifier // nil once it failed: then only polling
	watched  map[string]bool
	scope    scope           // which events matter, from the last look
	current  map[string]file // as last looked at and settled
	missing  map[string]time.Time
	noticed  map[string]bool // notices given; each is given once

	mu    sync.Mutex
	known map[string]file // as the receiver knows it

	changes    chan Change
	kick, stop chan struct{}
	done       chan struct{}
	closing    sync.Once
}

// New looks once, which is what the first change is compared with, and starts
// watching. The error is about opt; failing to watch is a notice.
func New(opt Options) (*Watcher, error) {
	for _, dir := range opt.Dirs {
		if !filepath.IsAbs(dir) {
			return nil, fmt.Errorf("watch: folder %q: an absolute path is needed", dir)
		}
	}
	w := &Watcher{
		opt: withDefaults(opt), watched: map[string]bool{}, missing: map[string]time.Time{}, noticed: map[string]bool{},
		changes: make(chan Change), kick: make(chan struct{}, 1), stop: make(chan struct{}), done: make(chan struct{}),
	}
	n, err := w.opt.Notify()
	if err != nil {
		w.degrade(err)
	} else {
		w.notifier = n
	}
	l := w.look()
	w.scope, w.current, w.known = l.scope, l.files, maps.Clone(l.files)
	go w.loop()
	return w, nil
}

func withDefaults(o Options) Options {
	if o.Files == nil {
		o.Files = func() []string { return nil }
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.Log == nil {
		o.Log = func(string) {}
	}
	if o.Notify == nil {
		o.Notify = systemNotifier
	}
	for _, d := range []struct {
		have *time.Duration
		rule time.Duration
	}{{&o.Quiet, Quiet}, {&o.MaxWait, MaxWait}, {&o.Poll, Poll}} {
		if *d.have <= 0 {
			*d.have = d.rule
		}
	}
	return o
}

// Changes is where changes arrive. It is closed by Close.
func (w *Watcher) Changes() <-chan Change { return w.changes }

// Known returns the files as the receiver of Changes knows them: those of the
// first look, and then with each change it received.
func (w *Watcher) Known() map[string]Digest {
	w.mu.Lock()
	defer w.mu.Unlock()
	known := make(map[string]Digest, len(w.known))
	for path, f := range w.known {
		known[path] = f.sum
	}
	return known
}

// Rescan asks for a look after the quiet time and does not wait for it.
func (w *Watcher) Rescan() {
	select {
	case w.kick <- struct{}{}:
	default: // one is already asked for
	}
}

// Close stops watching and returns when nothing of it runs any more.
func (w *Watcher) Close() {
	w.closing.Do(func() { close(w.stop) })
	<-w.done
}

func (w *Watcher) loop() {
	defer close(w.done)
	defer close(w.changes)
	defer func() {
		if w.notifier != nil {
			_ = w.notifier.Close()
		}
	}()
	poll := time.NewTicker(w.opt.Poll)
	defer poll.Stop()
	var q quiet
	var next Change
	for {
		var out chan Change
		if !next.empty() {
			out = w.changes
		}
		events, failures := w.sources()
		select {
		case <-w.stop:
			return
		case out <- next:
			w.received(next)
			next = w.difference()
		case ev, open := <-events:
			if !open {
				w.degrade(errors.New("the event source ended"))
			} else if ev.Op != fsnotify.Chmod && w.scope.matters(ev.Name) {
				q.disturb(w.opt)
			}
		case err, open := <-failures:
			// Lost events mean that anything may have changed.
			if open {
				if !errors.Is(err, fsnotify.ErrEventOverflow) {
					w.notice("events", fmt.Sprintf("watching plugin folders: %v; looking again", err))
				}
				q.disturb(w.opt)
			} else {
				w.degrade(errors.New("the event source ended"))
			}
		case <-w.kick:
			q.disturb(w.opt)
		case <-poll.C:
			// A look in the middle of a save may see half of it, so what this
			// one finds only starts the quiet time.
			if q.timer == nil && w.differs(w.look()) {
				q.disturb(w.opt)
			}
		case <-q.timer:
			q = quiet{}
			if w.settle(w.look()) {
				next = w.difference()
			} else {
				q.disturb(w.opt)
			}
		}
	}
}

// quiet is the wait for the end of a burst of events.
type quiet struct {
	timer <-chan time.Time
	first time.Time // of the burst
}

func (q *quiet) disturb(o Options) {
	now := time.Now() // not the clock of file times: this one never jumps
	if q.timer == nil {
		q.first = now
	}
	q.timer = time.After(max(0, min(o.Quiet, o.MaxWait-now.Sub(q.first))))
}

// differs tells whether l shows other content than the last settled look.
func (w *Watcher) differs(l look) bool {
	w.forget(l)
	if len(l.files) != len(w.current) {
		return true
	}
	for path, f := range l.files {
		if have, ok := w.current[path]; !ok || have.sum != f.sum {
			return true
		}
	}
	w.scope, w.current = l.scope, l.files // keeps the newer sizes and times
	return false
}

// settle takes l over, unless a file has just vanished: a save by unlinking
// and creating would then be an unload, so absence must outlast the quiet time.
func (w *Watcher) settle(l look) bool {
	w.forget(l)
	w.scope = l.scope
	now, certain := time.Now(), true
	for path := range w.current {
		if _, there := l.files[path]; there {
			delete(w.missing, path)
			continue
		}
		since, known := w.missing[path]
		if !known {
			since = now
			w.missing[path] = now
		}
		certain = certain && now.Sub(since) >= w.opt.Quiet
	}
	if !certain {
		return false
	}
	clear(w.missing)
	w.current = l.files
	return true
}

// forget drops extra files that nobody names any more.
func (w *Watcher) forget(l look) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, m := range []map[string]file{w.current, w.known} {
		maps.DeleteFunc(m, func(path string, f file) bool {
			_, there := l.files[path]
			return f.extra && !there && !l.extras[path]
		})
	}
}

// difference compares what the receiver knows with the last settled look.
func (w *Watcher) difference() Change {
	w.mu.Lock()
	defer w.mu.Unlock()
	c := Change{Digests: map[string]Digest{}}
	for path, f := range w.current {
		have, known := w.known[path]
		switch {
		case !known:
			c.Added = append(c.Added, path)
		case have.sum != f.sum:
			c.Changed = append(c.Changed, path)
		default:
			continue
		}
		c.Digests[path] = f.sum
	}
	for path := range w.known {
		if _, there := w.current[path]; !there {
			c.Removed = append(c.Removed, path)
		}
	}
	slices.Sort(c.Added)
	slices.Sort(c.Changed)
	slices.Sort(c.Removed)
	return c
}

func (w *Watcher) received(c Change) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for path, sum := range c.Digests {
		w.known[path] = file{sum: sum, extra: w.current[path].extra}
	}
	for _, path := range c.Removed {
		delete(w.known, path)
	}
}

func (w *Watcher) notice(kind, text string) {
	if !w.noticed[kind] {
		w.noticed[kind] = true
		w.opt.Log(text)
	}
}
