package agent

import (
	"fmt"
	"slices"

	"starling/agent/provider"
	"starling/bus/chat"
	"starling/bus/event"
	"starling/bus/spec"
)

// sent is a request that went out with its shape: what the provider's cache
// holds. It belongs to the run's goroutine.
type sent struct {
	req   provider.Request
	shape event.Shape
}

// watchPrefix tells the person, once for each plugin and field, that a request
// breaks the prefix of the one before it to the same model: the provider's cache
// does not help from there on. Where only the last message differs nothing is
// lost that counts. What the host itself changes is no news.
func (t *turnState) watchPrefix(req provider.Request) {
	a := t.r.a
	before, any := a.sent[req.Model]
	a.sent[req.Model] = sent{req: req, shape: t.shape}
	if !any || len(before.shape.By) == 0 && len(t.shape.By) == 0 {
		return // the transcript only grows
	}
	field := broken(before, sent{req: req, shape: t.shape})
	if field == "" {
		return
	}
	by := t.shape.By[field]
	if by == "" {
		by = before.shape.By[field]
	}
	if cause := by + " " + field; !a.told[cause] {
		a.told[cause] = true
		t.r.notice(fmt.Sprintf("%s of %s changed the beginning of the request: the model server cannot use what it has cached of the one before", field, by))
	}
}

// broken returns the field that made a request differ early from the one before
// it, "" for none.
func broken(before, now sent) string {
	set := func(field string) bool { return before.shape.By[field] != "" || now.shape.By[field] != "" }
	switch {
	case !slices.EqualFunc(before.req.Tools, now.req.Tools, sameTool) && !sameSet(before.shape.Exclude, now.shape.Exclude):
		return "exclude_tools"
	case before.req.System != now.req.System && set("system"):
		return "system"
	case !slices.EqualFunc(before.shape.Prefix, now.shape.Prefix, sameMessage):
		return "prefix"
	case before.shape.PromptPrefix != now.shape.PromptPrefix:
		return "prompt_prefix"
	case common(before.req.Messages, now.req.Messages) >= len(before.req.Messages)-1:
		return ""
	}
	switch b, n := before.shape, now.shape; {
	case n.By["messages"] != "":
		return "messages"
	case n.By["history"] != "":
		return "history"
	case b.By["messages"] != "":
		return "messages"
	case b.By["history"] != "":
		return "history"
	}
	return ""
}

// common returns how many messages two lists begin with alike.
func common(a, b []chat.Message) int {
	n := 0
	for n < len(a) && n < len(b) && sameMessage(a[n], b[n]) {
		n++
	}
	return n
}

func sameMessage(a, b chat.Message) bool {
	return a.Role == b.Role && slices.EqualFunc(a.Blocks, b.Blocks, func(a, b chat.Block) bool {
		return a.Kind == b.Kind && a.Text == b.Text && a.Signature == b.Signature && a.ID == b.ID && a.Name == b.Name &&
			a.Arguments == b.Arguments && a.IsError == b.IsError && a.MIME == b.MIME && slices.Equal(a.Data, b.Data)
	})
}

func sameTool(a, b spec.Tool) bool {
	return a.Name == b.Name && a.Description == b.Description && slices.Equal(a.Parameters, b.Parameters)
}

func sameSet(a, b map[string]bool) bool {
	if len(a) != len(b) {
		return false
	}
	for name := range a {
		if !b[name] {
			return false
		}
	}
	return true
}
