package session

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"time"
	"unicode/utf8"

	"starling/bus/chat"
)

// Version of the format this package reads and writes.
const Version = 1

// MaxLine is the longest line in bytes that is written or decoded, 64 MiB. Of a
// message that needs more, the longest parts are left out with a mark that says
// so; longer lines of others are passed over without being read into memory.
const MaxLine = 64 << 20

// The kinds of lines.
const (
	kindSession = "session"
	kindMessage = "message"
	kindHead    = "head"
	kindLabel   = "label"
)

// Meta is what a session says about itself in its first line.
type Meta struct {
	// Cwd and Workspace are absolute paths.
	Cwd       string `json:"cwd"`
	Workspace string `json:"workspace,omitempty"`
	// Model the session began with.
	Model string `json:"model,omitempty"`
}

type headerLine struct {
	Kind    string `json:"kind"`
	Version int    `json:"version"`
	ID      string `json:"id"`
	Meta
	Started time.Time `json:"started"`
	Forked  string    `json:"forked,omitempty"` // ID:NODE it began from
	Owner   string    `json:"owner,omitempty"`  // who began it
}

type messageLine struct {
	Kind   string    `json:"kind"`
	ID     string    `json:"id"`
	Parent string    `json:"parent,omitempty"`
	TS     time.Time `json:"ts"`
	chat.Message
}

type headLine struct {
	Kind string    `json:"kind"`
	At   string    `json:"at,omitempty"`
	TS   time.Time `json:"ts"`
}

type labelLine struct {
	Kind string    `json:"kind"`
	Node string    `json:"node,omitempty"`
	Text string    `json:"text"`
	TS   time.Time `json:"ts"`
}

// encode returns a value as one line with its break.
func encode(v any) ([]byte, error) {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		return nil, err
	}
	return b.Bytes(), nil
}

// encodeMessage returns the line of a message whose strings are masked, and
// makes it one that can be stored whatever it holds.
func encodeMessage(l messageLine) ([]byte, error) {
	n := size(l.Message)
	if MaxLine/8 < n && n < MaxLine { // escapes may make it six times as long
		line, err := l.line()
		if err == nil && len(line) <= MaxLine {
			return line, nil
		}
	}
	if n > MaxLine/8 {
		l.Message = shortened(l.Message)
	}
	line, err := l.line()
	if err != nil {
		return nil, fmt.Errorf("session message %s: %w", l.ID, err)
	}
	return line, nil
}

func size(m chat.Message) int {
	n := len(m.Error)
	for _, b := range m.Blocks {
		n += len(b.Text) + len(b.Signature) + len(b.Arguments) + len(b.Details) + len(b.Data)
	}
	return n
}

// shortened leaves the longest parts of a message out, so that its line is
// below MaxLine.
func shortened(m chat.Message) chat.Message {
	budget := MaxLine / 8
	if n := len(m.Blocks); n > 0 {
		budget /= n
	}
	cut := func(text string) string {
		if len(text) <= budget {
			return text
		}
		head := text[:budget]
		for len(head) > 0 && !utf8.ValidString(head[max(0, len(head)-utf8.UTFMax):]) {
			head = head[:len(head)-1]
		}
		return fmt.Sprintf("%s\n[%d bytes are not in the session file]", head, len(text)-len(head))
	}
	blocks := make([]chat.Block, len(m.Blocks))
	for i, b := range m.Blocks {
		b.Text = cut(b.Text)
		if len(b.Arguments) > budget {
			b.Arguments = "{}"
		}
		if len(b.Details) > budget {
			b.Details = nil
		}
		if len(b.Signature) > budget {
			b.Signature = ""
		}
		if len(b.Data) > budget {
			b = chat.Block{Kind: chat.Text, Text: fmt.Sprintf("[an image of %d bytes is not in the session file]", len(b.Data))}
		}
		blocks[i] = b
	}
	m.Blocks, m.Error = blocks, cut(m.Error)
	return m
}

// storable returns a message as it is written: masked, with details that are
// JSON and a cost that is a number.
func (m *Masker) storable(msg chat.Message) chat.Message {
	blocks := make([]chat.Block, len(msg.Blocks))
	for i, b := range msg.Blocks {
		b.Text = m.Text(b.Text)
		b.Signature = m.Opaque(b.Signature)
		b.ID, b.Name = m.Opaque(b.ID), m.Text(b.Name)
		b.Arguments = m.Text(b.Arguments)
		if len(b.Details) > 0 && !json.Valid(b.Details) {
			quoted, err := json.Marshal(string(b.Details))
			if err != nil {
				quoted = nil
			}
			b.Details = quoted
		}
		b.Details = m.JSON(b.Details)
		blocks[i] = b
	}
	if msg.Blocks != nil {
		msg.Blocks = blocks
	}
	msg.Model, msg.Error = m.Text(msg.Model), m.Text(msg.Error)
	if u := msg.Usage; u != nil && (math.IsNaN(u.Cost) || math.IsInf(u.Cost, 0)) {
		known := *u
		known.Cost = 0
		msg.Usage = &known
	}
	return msg
}

func validJSON(text []byte) bool { return json.Valid(text) }

// skimmed is what the index needs of a line.
type skimmed struct {
	Kind   string    `json:"kind"`
	ID     string    `json:"id"`
	Parent string    `json:"parent"`
	Role   chat.Role `json:"role"`
	TS     string    `json:"ts"`
	At     string    `json:"at"`
	Node   string    `json:"node"`
	Text   string    `json:"text"`
}

// skim reads the fields before the blocks of a message line without decoding
// the rest, which may be megabytes. It knows only lines as this package writes
// them; ok is false for others. The line may be cut behind its first fields.
func skim(line []byte) (s skimmed, ok bool) {
	rest, found := bytes.CutPrefix(line, []byte("{"))
	for found {
		var key, value []byte
		if key, rest, found = quoted(rest); !found {
			return s, false
		}
		if rest, found = bytes.CutPrefix(rest, []byte(":")); !found {
			return s, false
		}
		if string(key) == "blocks" {
			return s, s.Kind == kindMessage && s.ID != "" && s.Role != ""
		}
		if value, rest, found = quoted(rest); !found {
			return s, false
		}
		switch string(key) {
		case "kind":
			s.Kind = string(value)
		case "id":
			s.ID = string(value)
		case "parent":
			s.Parent = string(value)
		case "role":
			s.Role = chat.Role(value)
		case "ts":
			s.TS = string(value)
		}
		rest, found = bytes.CutPrefix(rest, []byte(","))
	}
	return s, false
}

// quoted reads a JSON string of plain bytes.
func quoted(text []byte) (value, rest []byte, ok bool) {
	if len(text) == 0 || text[0] != '"' {
		return nil, nil, false
	}
	for i, c := range text[1:] {
		switch {
		case c == '"':
			return text[1 : i+1], text[i+2:], true
		case c < ' ' || c > '~' || c == '\\':
			return nil, nil, false
		}
	}
	return nil, nil, false
}
