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
	// at is the entry that is shown; len(entries) is the draft.
	at     int
	drafts map[int]piece
}

// HistoryLimit is how many entries are kept, and HistoryBytes how long one may be: a
// longer one is not kept.
const (
	HistoryLimit = 1000
	HistoryBytes = 64 << 10
)

// NewHistory returns an empty one.
func NewHistory() *History { return &History{drafts: map[int]piece{}} }

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
		h.Add(tidy(text))
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
		if err := enc.Encode(text); err != nil {
			return err
		}
	}
	return out.Flush()
}

// Add puts a text at the end and goes back to an empty draft. An older equal one
// goes away.
func (h *History) Add(text string) {
	if text != "" && len(text) <= HistoryBytes {
		h.entries = slices.DeleteFunc(h.entries, func(e string) bool { return e == text })
		h.entries = append(h.entries, text)
		if n := len(h.entries) - HistoryLimit; n > 0 {
			h.entries = slices.Delete(h.entries, 0, n)
		}
	}
	h.at = len(h.entries)
	clear(h.drafts)
}

// Entries returns them, oldest first.
func (h *History) Entries() []string { return slices.Clone(h.entries) }

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
	return plainPiece(h.entries[to]), true
}
