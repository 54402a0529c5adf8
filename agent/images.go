package agent

import (
	"fmt"
	"slices"

	"starling/agent/provider"
	"starling/bus/chat"
)

// refusedImage stands for an image that the model server did not take.
const refusedImage = "[an image that the model server refused]"

// imageless leaves the images out of a request that the server refused, and out of
// those that follow: one that it cannot read would end every run from here on, since
// the transcript keeps it. It returns false when there is none.
func (t *turnState) imageless(req *provider.Request) bool {
	a := t.r.a
	if len(t.dropped) > 0 {
		// They were not what it refused.
		for _, image := range t.dropped {
			delete(a.refused, image)
		}
		return false
	}
	if a.refused == nil {
		a.refused = map[*byte]bool{}
	}
	for _, m := range req.Messages {
		for _, b := range m.Blocks {
			if b.Kind == chat.Image && len(b.Data) > 0 {
				a.refused[&b.Data[0]] = true
				t.dropped = append(t.dropped, &b.Data[0])
			}
		}
	}
	if len(t.dropped) == 0 {
		return false
	}
	what := "an image"
	if n := len(t.dropped); n > 1 {
		what = fmt.Sprintf("%d images", n)
	}
	t.r.notice(fmt.Sprintf("the model server refused a request with %s: it is sent again without (%v)", what, t.err))
	req.Messages = a.withoutRefused(req.Messages)
	clear(a.sent) // no plugin is to blame for what is no longer alike
	return true
}

// withoutRefused leaves out the images that a server refused, and says so in their
// place. The transcript keeps them.
func (a *Agent) withoutRefused(messages []chat.Message) []chat.Message {
	if len(a.refused) == 0 {
		return messages
	}
	refused := func(b chat.Block) bool {
		return b.Kind == chat.Image && len(b.Data) > 0 && a.refused[&b.Data[0]]
	}
	messages = slices.Clone(messages)
	for i, m := range messages {
		if !slices.ContainsFunc(m.Blocks, refused) {
			continue
		}
		blocks := make([]chat.Block, 0, len(m.Blocks))
		for _, b := range m.Blocks {
			switch {
			case !refused(b):
				blocks = append(blocks, b)
			case m.Role == chat.ToolRole && len(blocks) > 0:
				blocks[0].Text += "\n" + refusedImage // the result, which is one text
			default:
				blocks = append(blocks, chat.Block{Kind: chat.Text, Text: refusedImage})
			}
		}
		messages[i].Blocks = blocks
	}
	return messages
}
