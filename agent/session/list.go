package session

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"starling/bus/chat"
	"starling/trust"
)

const (
	// headWindow and tailWindow are what a listing reads of a file, in bytes.
	headWindow = 8 << 10
	tailWindow = 8 << 10
	// promptLength is how much of a first prompt is shown, in characters.
	promptLength = 200
)

// Info is one session of a listing.
type Info struct {
	ID   string
	Path string
	Meta
	Started time.Time
	// Updated is when the last entry was written.
	Updated time.Time
	// Title given to the session, "" for none.
	Title string
	// Prompt is the beginning of the first prompt, 200 characters at most.
	Prompt string
	// Forked is the ID:NODE it began from, "" for none.
	Forked string
	// Size of the file in bytes.
	Size int64
}

// Filter chooses sessions of a listing; its zero value takes all.
type Filter struct {
	// Workspace keeps sessions begun in this folder or below.
	Workspace string
	// Cwd keeps sessions begun in exactly this folder.
	Cwd string
	// Limit is how many are returned, 0 for all.
	Limit int
}

func (f Filter) takes(i Info) bool {
	if f.Cwd != "" && filepath.Clean(f.Cwd) != filepath.Clean(i.Cwd) {
		return false
	}
	if f.Workspace == "" {
		return true
	}
	rel, err := filepath.Rel(f.Workspace, i.Cwd)
	return err == nil && filepath.IsLocal(rel)
}

// FileError is a session file that cannot be read, as one of a newer version; it
// says nothing about the others.
type FileError struct {
	Path string
	Err  error
}

func (e *FileError) Error() string { return fmt.Sprintf("session file %s: %v", e.Path, e.Err) }

func (e *FileError) Unwrap() error { return e.Err }

// List returns sessions, the one written last first. It reads the beginning and
// the end of each file only. The error is a *FileError for each file that could not
// be read, joined, and the others are returned with it; or the folder's.
func (st Store) List(filter Filter) ([]Info, error) {
	ids, err := st.ids()
	if err != nil {
		return nil, err
	}
	var infos []Info
	var errs []error
	for _, id := range ids {
		info, err := st.info(id)
		switch {
		case errors.Is(err, errNothing) || errors.Is(err, fs.ErrNotExist):
		case err != nil:
			errs = append(errs, &FileError{Path: st.path(id), Err: err})
		case filter.takes(info):
			infos = append(infos, info)
		}
	}
	slices.SortStableFunc(infos, func(a, b Info) int {
		if c := b.Updated.Compare(a.Updated); c != 0 {
			return c
		}
		return strings.Compare(b.ID, a.ID)
	})
	if filter.Limit > 0 && len(infos) > filter.Limit {
		infos = infos[:filter.Limit]
	}
	return infos, errors.Join(errs...)
}

// Last returns the id of the session written last that was begun in cwd, of any
// when cwd is empty.
func (st Store) Last(cwd string) (string, error) {
	infos, err := st.List(Filter{Cwd: cwd, Limit: 1})
	if len(infos) > 0 {
		return infos[0].ID, nil
	}
	where := ""
	if cwd != "" {
		where = " begun in " + cwd
	}
	return "", errors.Join(fmt.Errorf("there is no session%s in %s yet", where, st.Dir), err)
}

// errNothing is a file without a byte: a session just begun, or one whose
// process died before the first word.
var errNothing = errors.New("is empty")

func (st Store) info(id string) (Info, error) {
	f, err := trust.OpenRegular(st.path(id), os.O_RDONLY, 0)
	if err != nil {
		return Info{}, err
	}
	defer f.Close()
	stat, err := f.Stat()
	if err != nil {
		return Info{}, err
	}
	info := Info{ID: id, Path: f.Name(), Size: stat.Size(), Updated: stat.ModTime().UTC()}
	if info.Size == 0 {
		return info, errNothing
	}
	head, err := readRange(f, 0, min(info.Size, headWindow))
	if err != nil {
		return info, err
	}
	if err := info.begins(head); err != nil {
		return info, err
	}
	from := max(0, info.Size-tailWindow)
	end := head
	if from > 0 || info.Size > int64(len(head)) {
		if end, err = readRange(f, from, info.Size-from); err != nil {
			return info, err
		}
	}
	info.ends(end, from > 0)
	return info, nil
}

func readRange(f io.ReaderAt, from, length int64) ([]byte, error) {
	b := make([]byte, length)
	n, err := f.ReadAt(b, from)
	if errors.Is(err, io.EOF) { // shorter meanwhile
		err = nil
	}
	return b[:n], err
}

// begins reads header and first prompt.
func (i *Info) begins(head []byte) error {
	lines := bytes.SplitAfter(head, []byte("\n"))
	var check Session
	header := bytes.TrimRight(lines[0], "\n")
	if err := check.readHeader(scannedLine{prefix: header}); err != nil {
		return err
	}
	i.Meta, i.Started, i.Forked = check.meta, check.started, check.forked
	for _, line := range lines[1:] {
		k, ok := skim(line)
		if !ok || k.Role != chat.User {
			continue
		}
		var l struct{ chat.Message }
		text := ""
		if json.Unmarshal(line, &l) == nil {
			text = l.Said()
		} else {
			text = cutText(line)
		}
		i.Prompt = firstOf(text, promptLength)
		break
	}
	return nil
}

// cutText reads the text at the beginning of a message line that is cut.
func cutText(line []byte) string {
	_, rest, found := bytes.Cut(line, []byte(`"blocks":[{"kind":"text","text":"`))
	if !found {
		return ""
	}
	const longestEscape = len(`\ud83d\ude00`)
	for n := len(rest); n > 0 && n > len(rest)-longestEscape; n-- {
		var text string
		if json.Unmarshal(append(append([]byte{'"'}, rest[:n]...), '"'), &text) == nil {
			return strings.TrimRight(text, "\uFFFD")
		}
	}
	return ""
}

func firstOf(text string, n int) string {
	text = strings.Join(strings.Fields(text[:min(len(text), 16*n)]), " ")
	count := 0
	for at := range text {
		if count == n {
			return text[:at]
		}
		count++
	}
	return text
}

// ends reads title and time of the last entry.
func (i *Info) ends(end []byte, cut bool) {
	lines := bytes.Split(end, []byte("\n"))
	if cut {
		lines = lines[1:] // begins in the middle
	}
	timed := false
	for _, line := range slices.Backward(lines) {
		k, ok := skim(line)
		if !ok && (len(line) == 0 || json.Unmarshal(line, &k) != nil) {
			continue
		}
		if at := parseTime(k.TS); !timed && !at.IsZero() && ours(k.Kind) {
			i.Updated, timed = at, true
		}
		if k.Kind == kindLabel && k.Node == "" {
			i.Title = k.Text
			return
		}
	}
}
