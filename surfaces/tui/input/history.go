package input

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"slices"
)

// History is what was sent before, oldest first, without doubles. The draft and what
// was changed in older entries is kept while one looks around.
//
// Its file holds what was typed, secrets and all: whoever stores it keeps it private.
type History struct {
	entries []string
	typed   []string // what Add brought
	// at is the entry that is shown; len(entries) is the draft.
	at     int
	drafts map[int]piece
	// files are what was attached to entries of this session, by their text.
	files map[string][]string
}

// HistoryLimit is how many entries are kept, and HistoryBytes how long one may be: of
// longer ones the newest is, until the session ends.
const (
	HistoryLimit = 1000
	HistoryBytes = 64 << 10
)

// NewHistory returns an empty one.
func NewHistory() *History {
	return &History{drafts: map[int]piece{}, files: map[string][]string{}}
}

// Load adds the entries of a stored history: one JSON string a line. Lines that are
// none are left out and counted in the error; the others are there all the same.
func (h *History) Load(r io.Reader) error {
	scan := bufio.NewScanner(r)
	scan.Buffer(nil, 8*HistoryBytes) // JSON may take six bytes for one
	bad := 0
	for scan.Scan() {
		if len(scan.Bytes()) == 0 {
			continue
		}
		var text string
		if json.Unmarshal(scan.Bytes(), &text) != nil {
			bad++
			continue
		}
		h.put(tidy(text))
	}
	if err := scan.Err(); err != nil {
		return fmt.Errorf("the history is not complete: %w", err)
	}
	if bad > 0 {
		return fmt.Errorf("%d lines of the history are damaged and were left out", bad)
	}
	return nil
}

// Save writes all entries as Load reads them.
func (h *History) Save(w io.Writer) error {
	out := bufio.NewWriter(w)
	enc := json.NewEncoder(out)
	enc.SetEscapeHTML(false)
	for _, text := range h.entries {
		if large(text) {
			continue
		}
		if err := enc.Encode(text); err != nil {
			return err
		}
	}
	return out.Flush()
}

// Add puts a text at the end and goes back to an empty draft. An older equal one
// goes away.
func (h *History) Add(text string) {
	if h.put(text) {
		h.typed = last(h.typed, text)
	}
}

// add is Add of an entry, which comes back with its files.
func (h *History) add(e Entry) {
	h.Add(e.Text)
	if delete(h.files, e.Text); len(e.Attached) > 0 {
		h.files[e.Text] = e.Attached
	}
}

// put is Add of what was added in an earlier time; false for what is not kept beyond the
// session. Of large texts that is the newest one: a run that fails must not take it away.
func (h *History) put(text string) bool {
	if large(text) {
		h.entries = slices.DeleteFunc(h.entries, large)
	}
	if text != "" {
		h.entries = last(h.entries, text)
	}
	h.at = len(h.entries)
	clear(h.drafts)
	return text != "" && !large(text)
}

// large tells whether a text is not worth its place on disk.
func large(text string) bool { return len(text) > HistoryBytes }

// last puts a text at the end of a list and takes an older equal one away, and what is
// beyond the limit.
func last(list []string, text string) []string {
	list = append(slices.DeleteFunc(list, func(e string) bool { return e == text }), text)
	return slices.Delete(list, 0, max(len(list)-HistoryLimit, 0))
}

// Typed returns those that were added and not loaded, oldest first.
func (h *History) Typed() []string { return slices.Clone(h.typed) }

// move shows the entry steps further; ok is false where there is none. now is what
// stands in the editor and is found again on the way back.
func (h *History) move(steps int, now piece) (p piece, ok bool) {
	to := h.at + steps
	if to < 0 || to > len(h.entries) {
		return piece{}, false
	}
	if h.at < len(h.entries) && now.text == h.entries[h.at] {
		delete(h.drafts, h.at)
	} else {
		h.drafts[h.at] = now
	}
	h.at = to
	if draft, kept := h.drafts[to]; kept {
		return draft, true
	}
	if to == len(h.entries) {
		return piece{}, true
	}
	if files := h.files[h.entries[to]]; len(files) > 0 {
		return pieceOf(Entry{Text: h.entries[to], Attached: files}), true
	}
	if large(h.entries[to]) {
		return pasted(h.entries[to]), true
	}
	return plainPiece(h.entries[to]), true
}
