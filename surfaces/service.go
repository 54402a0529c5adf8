package surfaces

import (
	"context"
	"fmt"
	"maps"
	"slices"

	"starling/bus/spec"
)

// Service shows the panels of a host to plugins, as the service "surfaces":
//
//   - list() returns {"plugin", "name", "open"} of each surface;
//   - tree(plugin, name) returns what is shown, None while it is closed;
//   - send(plugin, name, msg) queues a message, {"name", "payload"} or a text that
//     is the name alone. For a surface of another plugin it needs the word permit.
//
// None of them waits for a plugin.
type Service struct{ host *Host }

var _ spec.Service = (*Service)(nil)

// Service returns the service of this host.
func (h *Host) Service() *Service { return &Service{h} }

// methods are the parameters of each one, by its name.
var methods = map[string][]string{"list": {}, "tree": {"plugin", "name"}, "send": {"plugin", "name", "msg"}}

// Methods returns the names, sorted.
func (s *Service) Methods() []string { return slices.Sorted(maps.Keys(methods)) }

// Call runs one method on plain data.
func (s *Service) Call(ctx context.Context, method string, args []any, kwargs map[string]any) (any, error) {
	names, ok := methods[method]
	if !ok {
		return nil, failf("there is no method %s%s", quote(method), orOneOf(method, s.Methods()))
	}
	in, err := bindArguments(names, args, kwargs)
	if err != nil {
		return nil, err
	}
	if method == "list" {
		return s.list(), nil
	}
	p, err := s.panel(in[0], in[1])
	if err != nil {
		return nil, err
	}
	if method == "tree" {
		return shownOf(p.snapshot()), nil
	}
	caller := spec.CallerOf(ctx)
	if caller != nil && caller.Name() != p.id.Plugin {
		if err := caller.Needs("permit"); err != nil {
			return nil, err
		}
	}
	m, err := userMessage(in[2])
	if err != nil {
		return nil, within("msg", err)
	}
	p.put(posted{m: m, raises: caller != nil && caller.Ran()})
	return nil, nil
}

// bindArguments puts arguments by position and by name into the order of names.
func bindArguments(names []string, args []any, kwargs map[string]any) ([]any, error) {
	if len(args) > len(names) {
		return nil, failf("takes %d arguments, not %d", len(names), len(args))
	}
	in := make([]any, len(names))
	given := make([]bool, len(names))
	for i, a := range args {
		in[i], given[i] = a, true
	}
	for _, key := range slices.Sorted(maps.Keys(kwargs)) {
		i := slices.Index(names, key)
		switch {
		case i < 0:
			return nil, failf("takes no argument %s%s", quote(key), orOneOf(key, names))
		case given[i]:
			return nil, failf("got %s twice", key)
		}
		in[i], given[i] = kwargs[key], true
	}
	if i := slices.Index(given, false); i >= 0 {
		return nil, failf("needs %s", names[i])
	}
	return in, nil
}

func (s *Service) list() []any {
	list := []any{}
	for _, p := range s.host.Panels() {
		list = append(list, map[string]any{"plugin": p.ID.Plugin, "name": p.ID.Name, "open": p.Open()})
	}
	return list
}

func (s *Service) panel(plugin, name any) (*panel, error) {
	id := ID{}
	var ok [2]bool
	id.Plugin, ok[0] = plugin.(string)
	id.Name, ok[1] = name.(string)
	if !ok[0] || !ok[1] {
		return nil, failf("plugin and name are texts")
	}
	if p := s.host.find(id); p != nil {
		return p, nil
	}
	var known, own []string
	for _, p := range s.host.Panels() {
		known = append(known, p.ID.Plugin)
		if p.ID.Plugin == id.Plugin {
			own = append(own, p.ID.Name)
		}
	}
	if len(own) == 0 {
		return nil, failf("the plugin %s has no surface%s", quote(id.Plugin), didYouMean(id.Plugin, known))
	}
	return nil, failf("the plugin %s has no surface %s%s", quote(id.Plugin), quote(id.Name), orOneOf(id.Name, own))
}

// shownOf is what a panel shows as plain data.
func shownOf(p Panel) any {
	switch {
	case p.Tree != nil:
		return p.Tree.Plain()
	case p.Text != "":
		return p.Text
	}
	return nil
}

func userMessage(v any) (Message, error) {
	if name, ok := v.(string); ok {
		return Message{Kind: UserMessage, Name: name}, nil
	}
	m, err := dict(v)
	if err != nil {
		return Message{}, failf("must be a text or a dict with \"name\", not %s", kindOf(v))
	}
	r := newParser().reader(m)
	r.allow([]string{"name", "payload"}, "a message")
	if _, ok := r.need("name"); ok {
		if _, text := m["name"].(string); !text {
			r.fail("name", failf("must be a text, not %s", kindOf(m["name"])))
		}
	}
	if r.err != nil {
		return Message{}, r.err
	}
	return Message{Kind: UserMessage, Name: fmt.Sprint(m["name"]), Payload: m["payload"]}, nil
}
