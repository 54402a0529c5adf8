package openai

import (
	"encoding/json"
	"slices"
	"strings"

	"starling/agent/model"
	"starling/agent/provider"
	"starling/bus/chat"
)

// entry is one message of the body.
type entry struct {
	role   string
	text   string
	images []chat.Block
	calls  []chat.Block
	id     string // of a result's call
	name   string // of a result's tool
	// Thoughts of an assistant and the field they stand in, "" for none.
	thoughts, key string
	details       string
}

const (
	user      = string(chat.User)
	assistant = string(chat.Assistant)
	tool      = string(chat.ToolRole)
)

// between stands between a tool result and a user message for servers that do
// not take one right behind the other.
const between = "I have read the results."

// unseen stands for an image that the model cannot see.
const unseen = "[an image: this model takes no images]"

// conversation turns the messages of a request into entries as the profile wants
// them.
type conversation struct {
	m       model.Model
	p       model.Profile
	req     provider.Request
	entries []entry
	// images of results wait for the end of their batch: results are text.
	images []chat.Block
}

func entriesOf(m model.Model, p model.Profile, req provider.Request) []entry {
	c := &conversation{m: m, p: p, req: req}
	if req.System != "" {
		c.add(entry{role: p.SystemRole, text: req.System})
	}
	for _, msg := range req.Messages {
		if msg.Role != chat.ToolRole {
			c.flush()
		}
		c.message(msg)
	}
	c.flush()
	if req.Suffix != "" {
		c.add(entry{role: user, text: req.Suffix})
	}
	return c.entries
}

func (c *conversation) message(msg chat.Message) {
	switch msg.Role {
	case chat.System:
		role := user
		if c.p.SystemInside {
			role = c.p.SystemRole
		}
		c.add(entry{role: role, text: texts(msg, "\n\n")})
	case chat.Assistant:
		c.add(c.assistant(msg))
	case chat.ToolRole:
		for _, b := range msg.Blocks {
			switch b.Kind {
			case chat.Result:
				e := entry{role: tool, text: b.Text, id: b.ID}
				if c.p.ToolName {
					e.name = b.Name
				}
				c.add(e)
			case chat.Image:
				c.images = append(c.images, b)
			}
		}
	default:
		e := entry{role: user, text: texts(msg, "\n\n")}
		for _, b := range msg.Blocks {
			if b.Kind == chat.Image {
				e.images = append(e.images, b)
			}
		}
		c.add(c.visible(e))
	}
}

func (c *conversation) flush() {
	if len(c.images) > 0 {
		c.add(c.visible(entry{role: user, text: "Images of the results above:", images: c.images}))
		c.images = nil
	}
}

// visible leaves out images for a model that does not see.
func (c *conversation) visible(e entry) entry {
	if len(e.images) > 0 && !c.m.Sees() {
		e.images = nil
		e.text = strings.TrimSpace(e.text + "\n\n" + unseen)
	}
	return e
}

func texts(msg chat.Message, gap string) string {
	var parts []string
	for _, b := range msg.Blocks {
		if b.Kind == chat.Text && b.Text != "" {
			parts = append(parts, b.Text)
		}
	}
	return strings.Join(parts, gap)
}

// assistant makes the entry of a reply, with its thoughts where the profile
// sends them back: never those of another model, which would be an unknown
// field, or a signature of somebody else.
func (c *conversation) assistant(msg chat.Message) entry {
	e := entry{role: assistant, text: msg.Text(), calls: msg.Calls()}
	if c.p.ReasoningBack == model.BackNone {
		return e
	}
	if msg.Model == "" || msg.Model == c.req.Model {
		e.thoughts = msg.Thinking()
		came := ""
		for _, b := range msg.Blocks {
			switch {
			case b.Kind != chat.Thinking || b.Signature == "":
			case slices.Contains(reasoningKeys, b.Signature):
				came = b.Signature
			case c.p.ReasoningDetails && b.Signature[0] == '[' && json.Valid([]byte(b.Signature)):
				e.details = b.Signature
			}
		}
		if e.thoughts != "" {
			e.key = c.keyOf(came)
		}
	}
	if c.p.ReasoningRequired && e.key == "" && len(e.calls) > 0 {
		e.key = c.keyOf("")
	}
	return e
}

func (c *conversation) keyOf(came string) string {
	switch {
	case c.p.ReasoningBack != model.BackSame:
		return c.p.ReasoningBack
	case came != "":
		return came
	}
	return reasoningKeys[0]
}

// add appends an entry, under the profile's rules about neighbours.
func (c *conversation) add(e entry) {
	if e.role != tool && e.text == "" && len(e.images) == 0 && len(e.calls) == 0 {
		return
	}
	n := len(c.entries)
	if n > 0 && e.role == user {
		last := &c.entries[n-1]
		switch {
		case last.role == tool && c.p.AssistantAfterTool:
			c.entries = append(c.entries, entry{role: assistant, text: between})
		case last.role == user && c.p.Alternate:
			last.text = strings.TrimSpace(last.text + "\n\n" + e.text)
			last.images = append(slices.Clip(last.images), e.images...)
			return
		}
	}
	c.entries = append(c.entries, e)
}
