package bind

import (
	"fmt"
	"slices"

	"go.starlark.net/starlark"

	"starling/bus/chat"
	"starling/bus/event"
	"starling/script/value"
)

// requestFields are those of an answer to agent/request.
var requestFields = []string{
	"messages", "history", "system", "prefix", "suffix", "prompt_prefix", "exclude_tools", "allow_tools", "then", "model",
}

func decodeRequest(p *Plugin, e *event.RequestEvent, v starlark.Value) (*event.RequestAnswer, error) {
	name := event.Request.Name()
	fields, err := p.answer(name, v, requestFields...)
	if err != nil {
		return nil, err
	}
	var a event.RequestAnswer
	var history, then, model *string
	for _, f := range []struct {
		name string
		to   **string
	}{
		{"system", &a.System},
		{"suffix", &a.Suffix},
		{"prompt_prefix", &a.PromptPrefix},
		{"history", &history},
		{"then", &then},
		{"model", &model},
	} {
		if *f.to, err = text(name, fields, f.name); err != nil {
			return nil, err
		}
	}
	a.History, a.Then, a.Model = given(history), given(then), given(model)
	if a.Messages, err = messages(name, e, fields["messages"]); err != nil {
		return nil, err
	}
	if a.Prefix, err = prefix(name, fields["prefix"]); err != nil {
		return nil, err
	}
	if a.Exclude, err = texts(name, fields, "exclude_tools"); err != nil {
		return nil, err
	}
	if a.Allow, err = texts(name, fields, "allow_tools"); err != nil {
		return nil, err
	}
	a.AllowSet = a.Allow != nil
	return &a, nil
}

func given(s *string) string {
	if s == nil {
		return ""
	}
	return *s
}

// messages reads the dicts that messages() hands out. One that was not changed
// becomes the message it was made of, so that what dicts do not show (thinking
// with its signature, images, the bytes of arguments) is sent as before.
func messages(event string, e *event.RequestEvent, v starlark.Value) ([]chat.Message, error) {
	if v == nil || v == starlark.None {
		return nil, nil
	}
	seq, ok := v.(starlark.Sequence)
	if !ok {
		return nil, fmt.Errorf("%s: messages must be a list like that of messages(), not %s", event, v.Type())
	}
	if seq.Len() == 0 {
		return nil, nil
	}
	known := originals{}
	if e.Messages != nil {
		known.add(e.Messages())
	}
	list := make([]chat.Message, 0, seq.Len())
	for i, x := range elements(seq) {
		m, err := message(x)
		if err != nil {
			return nil, fmt.Errorf("%s: messages[%d]: %w", event, i, err)
		}
		list = append(list, m)
	}
	for i := range slices.Backward(list) {
		list[i] = known.of(list[i])
	}
	return list, nil
}

// message reads one dict.
func message(v starlark.Value) (chat.Message, error) {
	d, ok := v.(*starlark.Dict)
	if !ok {
		return chat.Message{}, fmt.Errorf("must be a dict, not %s", v.Type())
	}
	for _, key := range d.Keys() {
		name, _ := starlark.AsString(key)
		if known := []string{"role", "text", "tool_calls", "tool_call_id", "is_error"}; !slices.Contains(known, name) {
			return chat.Message{}, fmt.Errorf("there is no field %s%s", key, didYouMean(name, known))
		}
	}
	m := chat.Message{Role: chat.Role(stringKey(d, "role"))}
	text, id := stringKey(d, "text"), stringKey(d, "tool_call_id")
	switch m.Role {
	case chat.ToolRole:
		if id == "" {
			return m, fmt.Errorf("a result needs the tool_call_id of its call")
		}
		flag, _, _ := d.Get(starlark.String("is_error"))
		m.Blocks = []chat.Block{{Kind: chat.Result, ID: id, Text: text, IsError: flag == starlark.True}}
		return m, nil
	case chat.System, chat.User, chat.Assistant:
	default:
		return m, fmt.Errorf("role must be \"system\", \"user\", \"assistant\" or \"tool\", not %q", m.Role)
	}
	if text != "" {
		m.Blocks = append(m.Blocks, chat.Block{Kind: chat.Text, Text: text})
	}
	calls, err := toolCalls(d)
	if err != nil {
		return m, err
	}
	if len(calls) > 0 && m.Role != chat.Assistant {
		return m, fmt.Errorf("tool_calls belong to role \"assistant\", not %q", m.Role)
	}
	m.Blocks = append(m.Blocks, calls...)
	return m, nil
}

// toolCalls reads [{"id", "name", "arguments"}].
func toolCalls(d *starlark.Dict) ([]chat.Block, error) {
	v, ok, _ := d.Get(starlark.String("tool_calls"))
	if !ok || v == starlark.None {
		return nil, nil
	}
	seq, ok := v.(starlark.Sequence)
	if !ok {
		return nil, fmt.Errorf("tool_calls must be a list, not %s", v.Type())
	}
	var calls []chat.Block
	for i, x := range elements(seq) {
		c, ok := x.(*starlark.Dict)
		if !ok {
			return nil, fmt.Errorf("tool_calls[%d] must be a dict, not %s", i, x.Type())
		}
		b := chat.Block{Kind: chat.Call, ID: stringKey(c, "id"), Name: stringKey(c, "name")}
		if b.ID == "" || b.Name == "" {
			return nil, fmt.Errorf("tool_calls[%d] needs an id and a name", i)
		}
		arguments, _, _ := c.Get(starlark.String("arguments"))
		text, err := argumentsText(arguments)
		if err != nil {
			return nil, fmt.Errorf("tool_calls[%d]: arguments: %w", i, err)
		}
		b.Arguments = text
		calls = append(calls, b)
	}
	return calls, nil
}

// argumentsText is what stands for the arguments of a call: what was no JSON is
// shown as text and taken back as text.
func argumentsText(v starlark.Value) (string, error) {
	if v == nil || v == starlark.None {
		return "{}", nil
	}
	if s, ok := starlark.AsString(v); ok {
		return s, nil
	}
	raw, err := value.ToJSON(v)
	return string(raw), err
}

// originals finds the messages that dicts were made of.
type originals map[string][]chat.Message

func (o originals) add(list []chat.Message) {
	for _, m := range list {
		k := shown(m)
		o[k] = append(o[k], m)
	}
}

// of returns the message that m was made of, m itself when there is none. Of
// several that look the same each is used once, the newest first: asked from the
// end on, what a plugin kept of the end is the end.
func (o originals) of(m chat.Message) chat.Message {
	k := shown(m)
	same := o[k]
	if len(same) == 0 {
		return m
	}
	last := len(same) - 1
	if last > 0 {
		o[k] = same[:last]
	}
	return same[last]
}

// shown is what a dict shows of a message, as one text.
func shown(m chat.Message) string {
	s := fmt.Sprintf("%q %q", m.Role, m.Text())
	for _, b := range m.Blocks {
		switch b.Kind {
		case chat.Call:
			arguments := b.Arguments
			if v, err := value.JSON([]byte(arguments)); err == nil {
				if raw, err := value.ToJSON(v); err == nil {
					arguments = string(raw)
				}
			}
			s += fmt.Sprintf(" call %q %q %q", b.ID, b.Name, arguments)
		case chat.Result:
			s += fmt.Sprintf(" result %q %q %v", b.ID, b.Text, b.IsError)
		}
	}
	return s
}

// prefix reads [{"role", "text"}].
func prefix(event string, v starlark.Value) ([]chat.Message, error) {
	if v == nil || v == starlark.None {
		return nil, nil
	}
	seq, ok := v.(starlark.Sequence)
	if !ok {
		return nil, fmt.Errorf("%s: prefix must be a list of {\"role\", \"text\"}, not %s", event, v.Type())
	}
	var list []chat.Message
	for i, x := range elements(seq) {
		dict, ok := x.(*starlark.Dict)
		if !ok {
			return nil, fmt.Errorf("%s: prefix[%d] must be a dict, not %s", event, i, x.Type())
		}
		role, text := stringKey(dict, "role"), stringKey(dict, "text")
		switch chat.Role(role) {
		case chat.System, chat.User, chat.Assistant:
		default:
			return nil, fmt.Errorf("%s: prefix[%d]: role must be \"system\", \"user\" or \"assistant\", not %q", event, i, role)
		}
		if text == "" {
			return nil, fmt.Errorf("%s: prefix[%d]: text must not be empty", event, i)
		}
		list = append(list, chat.TextMessage(chat.Role(role), text))
	}
	return list, nil
}

func stringKey(d *starlark.Dict, key string) string {
	v, ok, err := d.Get(starlark.String(key))
	if !ok || err != nil {
		return ""
	}
	s, _ := starlark.AsString(v)
	return s
}
