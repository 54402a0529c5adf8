package harness

import (
	"context"
	"slices"
	"strings"
	"sync"
	"time"
	"unicode"
	"unicode/utf8"
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

// bestMatches are the paths that match, best first, shorter before longer.
func bestMatches(paths []string, query string, limit int) []string {
	type match struct {
		path  string
		score int
	}
	want := []rune(strings.ToLower(strings.TrimSpace(query)))
	var found []match
	for _, path := range paths {
		if strings.ContainsFunc(path, unicode.IsControl) {
			continue // no text can name it
		}
		if score, ok := fit(path, want); ok {
			found = append(found, match{path, score})
		}
	}
	slices.SortFunc(found, func(a, b match) int {
		switch {
		case a.score != b.score:
			return b.score - a.score
		case len(a.path) != len(b.path):
			return len(a.path) - len(b.path)
		}
		return strings.Compare(a.path, b.path)
	})
	out := make([]string, 0, max(min(limit, len(found)), 0))
	for _, m := range found[:cap(out)] {
		out = append(out, m.path)
	}
	return out
}

// What a letter of a match counts more: behind the letter before it, at the begin of
// a part of the path, in the file's own name.
const (
	scoreNext  = 8
	scoreBegin = 6
	scoreName  = 4
	scoreWhole = 40 // the query stands in the name as it is
)

// fit scores a path for lower-case letters; false when they do not all stand in it,
// in their order. It looks for them from the end: the name tells most.
func fit(path string, want []rune) (score int, ok bool) {
	if len(want) == 0 {
		return 0, true
	}
	name := strings.LastIndexByte(path, '/') + 1
	lower := strings.ToLower(path)
	if len(lower) != len(path) { // letters of another length in lower case
		path = lower
		name = strings.LastIndexByte(path, '/') + 1
	}
	if i := strings.Index(lower[name:], string(want)); i >= 0 {
		score += scoreWhole
		if i == 0 {
			score += scoreWhole
		}
	}
	next, end := -1, len(lower)
	for _, c := range slices.Backward(want) {
		at := strings.LastIndex(lower[:end], string(c))
		if at < 0 {
			return 0, false
		}
		if at+utf8.RuneLen(c) == next {
			score += scoreNext
		}
		if begins(path, at) {
			score += scoreBegin
		}
		if at >= name {
			score += scoreName
		}
		next, end = at, at
	}
	return score, true
}

// begins tells whether a part of the path begins at a byte.
func begins(path string, at int) bool {
	if at == 0 || strings.IndexByte("/_-. ", path[at-1]) >= 0 {
		return true
	}
	before, _ := utf8.DecodeLastRuneInString(path[:at])
	here, _ := utf8.DecodeRuneInString(path[at:])
	return unicode.IsLower(before) && unicode.IsUpper(here)
}
