package harness

import (
	"cmp"
	"context"
	"slices"
	"strings"
	"sync"
	"time"
	"unicode"

	"starling/surfaces"
)

// filesKept is how long a list of files serves: while one types a name.
const filesKept = 3 * time.Second

// fileList is the files of the workspace as they were listed last. One walk goes at a
// time, however many ask: each key of a name does, and on a slow disk they would pile up.
type fileList struct {
	look  func(context.Context) ([]string, error) // set before the first use
	mu    sync.Mutex
	at    time.Time
	paths []string
	walk  *walk // that goes on; nil when none does
	ended bool
}

// walk is one look at all files. It goes on when those who asked have left: the next
// key wants the same list.
type walk struct {
	stop  context.CancelFunc
	done  chan struct{} // closed once paths or err stands
	paths []string
	err   error
}

// list returns the files git does not ignore, sorted; not to be changed. Who waits for
// a walk leaves with its own context.
func (l *fileList) list(ctx context.Context) ([]string, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	l.mu.Lock()
	if l.ended {
		l.mu.Unlock()
		return nil, context.Canceled
	}
	if l.paths != nil && time.Since(l.at) < filesKept {
		defer l.mu.Unlock()
		return l.paths, nil
	}
	if l.walk == nil {
		l.walk = l.begin(context.WithoutCancel(ctx))
	}
	w := l.walk
	l.mu.Unlock()
	select {
	case <-w.done:
		return w.paths, w.err
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// begin starts a walk beside; l.mu is held.
func (l *fileList) begin(ctx context.Context) *walk {
	ctx, stop := context.WithCancel(ctx)
	w := &walk{stop: stop, done: make(chan struct{})}
	go func() {
		defer stop()
		w.paths, w.err = l.look(ctx)
		l.mu.Lock()
		defer l.mu.Unlock()
		if w.err == nil {
			l.paths, l.at = w.paths, time.Now()
		}
		l.walk = nil
		close(w.done)
	}()
	return w
}

// close ends the walk that goes on, and waits for it until ctx ends; none begins any
// more.
func (l *fileList) close(ctx context.Context) {
	l.mu.Lock()
	l.ended = true
	w := l.walk
	l.mu.Unlock()
	if w == nil {
		return
	}
	w.stop()
	select {
	case <-w.done:
	case <-ctx.Done(): // a disk that does not answer
	}
}

// Files lists files of the workspace whose path has the letters of query in their
// order, at most limit, best first. Files that git ignores are not among them.
func (e *Engine) Files(ctx context.Context, query string, limit int) ([]string, error) {
	paths, err := e.files.list(ctx)
	if err != nil {
		return nil, err
	}
	return bestMatches(paths, query, limit), nil
}

// bestMatches are the paths that answer the query, best first, shorter before longer.
func bestMatches(paths []string, query string, limit int) []string {
	type match struct {
		path  string
		score int
	}
	query = strings.TrimSpace(query)
	var found []match
	for _, path := range paths {
		if strings.ContainsFunc(path, unicode.IsControl) {
			continue // no text can name it
		}
		if score, ok := surfaces.Score(query, path); ok {
			found = append(found, match{path, score})
		}
	}
	slices.SortFunc(found, func(a, b match) int {
		return cmp.Or(cmp.Compare(b.score, a.score), cmp.Compare(len(a.path), len(b.path)), strings.Compare(a.path, b.path))
	})
	out := make([]string, 0, max(min(limit, len(found)), 0))
	for _, m := range found[:cap(out)] {
		out = append(out, m.path)
	}
	return out
}
