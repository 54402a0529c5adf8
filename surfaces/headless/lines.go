package headless

import (
	"bytes"
	"encoding/json"
	"fmt"
	"unicode/utf16"
	"unicode/utf8"

	"starling/bus/chat"
	"starling/bus/view"
)

// Version of the JSON formats. It grows when a field changes its meaning or
// leaves; fields and types of events may be added within one version.
const Version = 1

// head begins every document and every line.
type head struct {
	Version int    `json:"version"`
	Type    string `json:"type"`
}

func (h *head) begin(kind string) { h.Version, h.Type = Version, kind }

// line is a document; its type is set by whoever prints it.
type line interface{ begin(kind string) }

// The lines of stream-json, in the order in which they can first appear.
type (
	sessionLine struct {
		head
		Session string      `json:"session,omitempty"`
		Plugins []pluginRow `json:"plugins"`
	}
	runStartLine struct {
		head
		Model string `json:"model"`
	}
	turnStartLine struct {
		head
		Turn int `json:"turn"`
	}
	deltaLine struct {
		head
		Turn  int    `json:"turn"`
		Index int    `json:"index"` // of the block
		Block string `json:"block"` // text or thinking
		Text  string `json:"text"`
	}
	messageLine struct {
		head
		Turn      int        `json:"turn"`
		Text      string     `json:"text"`
		Thinking  string     `json:"thinking,omitempty"`
		ToolCalls []callRow  `json:"tool_calls"`
		Usage     chat.Usage `json:"usage"`
	}
	toolCallLine struct {
		head
		callRow
		Origin string `json:"origin"` // main or the id of a sub-agent
	}
	toolProgressLine struct {
		head
		ID   string `json:"id"`
		Name string `json:"name"`
		Text string `json:"text"`
		// Skipped counts the bytes of this call's output that were left out
		// before this line, because the reader was too slow.
		Skipped int `json:"skipped,omitempty"`
	}
	toolResultLine struct {
		head
		ID      string          `json:"id"`
		Name    string          `json:"name"`
		Turn    int             `json:"turn"`
		IsError bool            `json:"is_error"`
		Content string          `json:"content"`
		Details json.RawMessage `json:"details,omitempty"`
		Denied  *refusal        `json:"denied,omitempty"`
	}
	noticeLine struct {
		head
		noticeRow
	}
	runEndLine struct {
		head
		Stop  string     `json:"stop"`
		Error string     `json:"error,omitempty"`
		Turns int        `json:"turns"`
		Usage chat.Usage `json:"usage"`
	}
)

// result is the whole document of json and the last line of stream-json.
type result struct {
	head
	ExitCode int `json:"exit_code"`
	// Stop is end, error, aborted, limit, stopped or rejected.
	Stop    string      `json:"stop"`
	Why     string      `json:"why,omitempty"`
	Text    string      `json:"text"`
	Command string      `json:"command,omitempty"` // that ran instead of a prompt
	Turns   int         `json:"turns"`
	Usage   chat.Usage  `json:"usage"`
	Model   string      `json:"model,omitempty"`
	Session string      `json:"session,omitempty"`
	Unsaved string      `json:"unsaved,omitempty"` // why the session is not on disk as a whole
	Denied  []deniedRow `json:"denied"`
	Plugins []pluginRow `json:"plugins"`
	Notices []noticeRow `json:"notices"`
	// NoticesLeftOut counts those behind the first MaxNotices.
	NoticesLeftOut int `json:"notices_left_out,omitempty"`
}

type (
	callRow struct {
		ID        string          `json:"id"`
		Name      string          `json:"name"`
		Arguments json.RawMessage `json:"arguments"`
	}
	refusal struct {
		By  string `json:"by"`
		Why string `json:"why"`
	}
	deniedRow struct {
		ID   string `json:"id"`
		Tool string `json:"tool"`
		refusal
	}
	pluginRow struct {
		Name     string `json:"name"`
		Origin   string `json:"origin"`
		Approval string `json:"approval"`
		State    string `json:"state"`
		Reason   string `json:"reason,omitempty"`
	}
	noticeRow struct {
		From string `json:"from,omitempty"` // plugin; none for starling itself
		Text string `json:"text"`
		Warn bool   `json:"warn,omitempty"`
	}
)

func pluginRows(plugins []view.Plugin) []pluginRow {
	rows := make([]pluginRow, len(plugins))
	for i, p := range plugins {
		rows[i] = pluginRow{Name: p.Name, Origin: p.Origin, Approval: p.Approval, State: p.State, Reason: p.Reason}
	}
	return rows
}

// object is arguments as JSON; what is none becomes a string.
func object(arguments json.RawMessage) json.RawMessage {
	if json.Valid(arguments) {
		return arguments
	}
	quoted, err := json.Marshal(string(arguments))
	if err != nil {
		return json.RawMessage("null")
	}
	return quoted
}

// encode returns l as one line with its end. Every byte of a text can be read
// back from it (what is no UTF-8 as U+FFFD), and none of them steers a terminal.
func encode(l line, kind string) ([]byte, error) {
	l.begin(kind)
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(l); err != nil {
		return nil, fmt.Errorf("%s: %w", kind, err)
	}
	text := bytes.TrimSuffix(b.Bytes(), []byte("\n"))
	return append(harmless(text), '\n'), nil
}

// harmless writes the characters that steer a terminal as \u escapes. JSON holds
// them in strings only, so its meaning stays.
func harmless(text []byte) []byte {
	text = bytes.ToValidUTF8(text, []byte("\ufffd")) // as of a tool's arguments
	first := bytes.IndexFunc(text, view.Steers)
	if first < 0 {
		return text
	}
	out := append(make([]byte, 0, len(text)+16), text[:first]...)
	for rest := text[first:]; len(rest) > 0; {
		r, size := utf8.DecodeRune(rest)
		switch {
		case !view.Steers(r):
			out = append(out, rest[:size]...)
		case r > 0xffff:
			high, low := utf16.EncodeRune(r)
			out = fmt.Appendf(out, `\u%04x\u%04x`, high, low)
		default:
			out = fmt.Appendf(out, `\u%04x`, r)
		}
		rest = rest[size:]
	}
	return out
}
