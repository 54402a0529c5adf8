package openai

import (
	"encoding/base64"
	"encoding/json"
	"slices"
	"strconv"
	"strings"

	"starling/agent/model"
	"starling/agent/provider"
	"starling/bus/chat"
)

// bodyOf makes the body of a request. The same request gives the same bytes, so
// that a server's prompt cache finds them again.
func bodyOf(m model.Model, p model.Profile, req provider.Request) []byte {
	size := 4096 + len(req.System)
	for _, msg := range req.Messages {
		for _, b := range msg.Blocks {
			size += 128 + len(b.Text) + len(b.Arguments) + len(b.Data)*4/3
		}
	}
	for _, t := range req.Tools {
		size += 128 + len(t.Description) + len(t.Parameters)
	}
	b := make([]byte, 0, size+size/8)
	b = append(b, `{"model":`...)
	b = appendText(b, m.ID)
	b = append(b, `,"messages":[`...)
	for i, e := range entriesOf(m, p, req) {
		if i > 0 {
			b = append(b, ',')
		}
		b = appendEntry(b, p, e)
	}
	b = append(b, ']')
	b = appendTools(b, req)
	if p.Stream {
		b = append(b, `,"stream":true`...)
		if p.StreamUsage {
			b = append(b, `,"stream_options":{"include_usage":true}`...)
		}
	}
	most := req.MaxTokens
	if most <= 0 {
		most = m.MaxTokens
	}
	if most > 0 && p.MaxTokens != "none" {
		b = appendText(append(b, ','), p.MaxTokens)
		b = strconv.AppendInt(append(b, ':'), int64(most), 10)
	}
	b = appendThinking(b, m, p, model.Level(req.Thinking))
	if p.Store {
		b = append(b, `,"store":false`...)
	}
	return append(b, '}')
}

func appendEntry(b []byte, p model.Profile, e entry) []byte {
	b = append(b, `{"role":`...)
	b = appendText(b, e.role)
	if e.role == tool {
		b = append(b, `,"tool_call_id":`...)
		b = appendText(b, e.id)
		if e.name != "" {
			b = append(b, `,"name":`...)
			b = appendText(b, e.name)
		}
	}
	b = appendContent(b, p, e)
	if e.key != "" {
		b = appendText(append(b, ','), e.key)
		b = appendText(append(b, ':'), e.thoughts)
	}
	if e.details != "" {
		b = append(b, `,"reasoning_details":`...)
		b = append(b, e.details...)
	}
	for i, c := range e.calls {
		if i == 0 {
			b = append(b, `,"tool_calls":[`...)
		} else {
			b = append(b, ',')
		}
		b = append(b, `{"id":`...)
		b = appendText(b, c.ID)
		b = append(b, `,"type":"function","function":{"name":`...)
		b = appendText(b, c.Name)
		b = append(b, `,"arguments":`...)
		arguments := c.Arguments
		if strings.TrimSpace(arguments) == "" {
			arguments = "{}"
		}
		b = appendText(b, arguments)
		b = append(b, "}}"...)
	}
	if len(e.calls) > 0 {
		b = append(b, ']')
	}
	return append(b, '}')
}

func appendContent(b []byte, p model.Profile, e entry) []byte {
	if e.text == "" && e.role == assistant {
		switch p.EmptyContent {
		case "omit":
			return b
		case "null":
			return append(b, `,"content":null`...)
		}
	}
	b = append(b, `,"content":`...)
	if len(e.images) == 0 {
		return appendText(b, e.text)
	}
	b = append(b, '[')
	if e.text != "" {
		b = append(b, `{"type":"text","text":`...)
		b = appendText(b, e.text)
		b = append(b, '}')
	}
	for i, image := range e.images {
		if i > 0 || e.text != "" {
			b = append(b, ',')
		}
		b = append(b, `{"type":"image_url","image_url":{"url":`...)
		b = appendText(b, "data:"+mimeOf(image)+";base64,")
		b = base64.StdEncoding.AppendEncode(b[:len(b)-1], image.Data)
		b = append(b, `"}}`...)
	}
	return append(b, ']')
}

func mimeOf(image chat.Block) string {
	if image.MIME == "" {
		return "image/png"
	}
	return image.MIME
}

// noParameters is the schema of a tool that names none.
const noParameters = `{"type":"object","properties":{}}`

func appendTools(b []byte, req provider.Request) []byte {
	for i, t := range req.Tools {
		if i == 0 {
			b = append(b, `,"tools":[`...)
		} else {
			b = append(b, ',')
		}
		b = append(b, `{"type":"function","function":{"name":`...)
		b = appendText(b, t.Name)
		b = append(b, `,"description":`...)
		b = appendText(b, t.Description)
		b = append(b, `,"parameters":`...)
		if json.Valid(t.Parameters) && len(t.Parameters) > 0 {
			b = append(b, t.Parameters...)
		} else {
			b = append(b, noParameters...)
		}
		b = append(b, "}}"...)
	}
	if len(req.Tools) > 0 {
		b = append(b, ']')
	}
	return b
}

// appendThinking asks for a level in the words of the server. Off is nothing to
// say to a server without a word for it, unless the model lists that level.
func appendThinking(b []byte, m model.Model, p model.Profile, level model.Level) []byte {
	if level == "" || !m.Reasoning && len(m.ThinkingLevels) == 0 {
		return b
	}
	off := level == model.Off
	switch p.Thinking {
	case model.ThinkEffort:
		if off && slices.Contains(m.ThinkingLevels, model.Off) {
			b = append(b, `,"reasoning_effort":"none"`...)
		} else if !off {
			b = append(b, `,"reasoning_effort":`...)
			b = appendText(b, string(level))
		}
	case model.ThinkObject:
		if off {
			return append(b, `,"reasoning":{"enabled":false}`...)
		}
		b = append(b, `,"reasoning":{"effort":`...)
		b = append(appendText(b, string(level)), '}')
	case model.ThinkSwitch:
		if off {
			return append(b, `,"thinking":{"type":"disabled"}`...)
		}
		b = append(b, `,"thinking":{"type":"enabled"},"reasoning_effort":`...)
		b = appendText(b, string(level))
	case model.ThinkTemplate:
		b = append(b, `,"chat_template_kwargs":{"enable_thinking":`...)
		b = append(strconv.AppendBool(b, !off), '}')
	}
	return b
}
