package harness

import (
	"context"
	"slices"
	"strings"
	"sync"
	"time"
	"unicode"
	"unicode/utf8"

	"starling/tools/fs"
)

// filesKept is how long a list of files serves: while one types a name.
const filesKept = 3 * time.Second

// fileList is the files of the workspace as they were listed last.
type fileList struct {
	mu    sync.Mutex
	tools *fs.Files // set before the first use
	at    time.Time
	paths []string
}

// list returns the files git does not ignore, sorted; not to be changed.
func (l *fileList) list(ctx context.Context) ([]string, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.paths != nil && time.Since(l.at) < filesKept {
		return l.paths, nil
	}
	paths, err := l.tools.Paths(ctx, fs.MaxTree)
	if err != nil {
		return nil, err
	}
	l.paths, l.at = paths, time.Now()
	return paths, nil
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
