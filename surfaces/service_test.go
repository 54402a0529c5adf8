package surfaces_test

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"

	"starling/bus/spec"
	"starling/surfaces"
)

// caller is a plugin with or without the word permit.
type caller struct {
	name   string
	permit bool
	ran    bool
}

func (c caller) Name() string { return c.name }
func (c caller) Ran() bool    { return c.ran }

func (c caller) Needs(word string) error {
	if c.permit {
		return nil
	}
	return errors.New(`needs "` + word + `" in uses`)
}

func TestService(t *testing.T) {
	l := newLab(t)
	text := start("text", "")
	l.mount(spec.Surface{
		Name: "board", Model: text,
		Update: step(func(m, msg map[string]any) []spec.Ask {
			if msg["kind"] == "msg" {
				m["text"] = fmt.Sprint(msg["name"], " ", msg["payload"])
			}
			return nil
		}),
		View: show(func(m map[string]any) string { return m["text"].(string) }),
	})
	l.mount(spec.Surface{Name: "line", Placement: map[string]any{"kind": "status"}, View: func(context.Context, any, map[string]any) (any, error) { return "busy", nil }})
	var service spec.Service = l.host.Service()
	l.spec.Serve(service)
	if got := fmt.Sprint(l.spec.Methods()); got != "[list send tree]" {
		t.Errorf("methods %s", got)
	}
	stranger := spec.WithCaller(context.Background(), caller{name: "q"})
	friend := spec.WithCaller(context.Background(), caller{name: "q", permit: true})
	own := spec.WithCaller(context.Background(), caller{name: "p"})
	for _, c := range []struct {
		ctx    context.Context
		method string
		args   []any
		kwargs map[string]any
		want   any // the result, or the text of the error
		fails  bool
	}{
		{stranger, "list", nil, nil, []any{dict{"plugin": "p", "name": "board", "open": false}, dict{"plugin": "p", "name": "line", "open": true}}, false},
		{stranger, "tree", []any{"p", "board"}, nil, nil, false},
		{stranger, "tree", []any{"p", "line"}, nil, "busy", false},
		{stranger, "send", []any{"p", "board", "go"}, nil, `needs "permit" in uses`, true},
		{friend, "send", []any{"p", "board"}, dict{"msg": dict{"name": "go", "payload": int64(1)}}, nil, false},
		{stranger, "tree", nil, dict{"name": "board", "plugin": "p"}, dict{"type": "text", "text": "go 1"}, false},
		{own, "send", []any{"p", "board", "stop"}, nil, nil, false},
		{stranger, "tree", []any{"p", "board"}, nil, dict{"type": "text", "text": "stop <nil>"}, false},
		{context.Background(), "send", []any{"p", "board", dict{"nam": "x"}}, nil, `msg: a message has no field "nam"; did you mean "name"?`, true},
		{own, "send", []any{"p", "board", dict{}}, nil, `msg: needs "name"`, true},
		{own, "send", []any{"p", "board", dict{"name": int64(1)}}, nil, `msg.name: must be a text, not a number`, true},
		{own, "send", []any{"p", "board", int64(1)}, nil, `msg: must be a text or a dict with "name", not a number`, true},
		{own, "send", []any{"p", "bord", "x"}, nil, `the plugin "p" has no surface "bord"; did you mean "board"?`, true},
		{own, "tree", []any{"pp", "board"}, nil, `the plugin "pp" has no surface; did you mean "p"?`, true},
		{own, "tree", []any{"p", nil}, nil, `plugin and name are texts`, true},
		{own, "tree", []any{"p"}, nil, `needs name`, true},
		{own, "tree", []any{"p"}, dict{"plugin": "p"}, `got plugin twice`, true},
		{own, "tree", []any{"p"}, dict{"nam": "p"}, `takes no argument "nam"; did you mean "name"?`, true},
		{own, "list", []any{"p"}, nil, `takes 0 arguments, not 1`, true},
		{own, "trees", nil, nil, `there is no method "trees"; did you mean "tree"?`, true},
	} {
		got, err := l.spec.Call(c.ctx, c.method, c.args, c.kwargs)
		if (err != nil) != c.fails {
			t.Errorf("%s %v: error %v", c.method, c.args, err)
		}
		if err != nil {
			got = err.Error()
		}
		if d := cmp.Diff(c.want, got); d != "" {
			t.Errorf("%s %v: %s", c.method, c.args, d)
		}
		l.settle()
	}
	// Where nothing shows surfaces, a plugin that uses the service goes on.
	l.spec.Serve(nil)
	if got, err := l.spec.Call(own, "list", nil, nil); err != nil || len(got.([]any)) != 0 {
		t.Errorf("without a service: %v, %v", got, err)
	}
	if got, err := l.spec.Call(own, "tree", []any{"p", "board"}, nil); err != nil || got != nil {
		t.Errorf("without a service: %v, %v", got, err)
	}
	if _, err := l.spec.Call(own, "trees", nil, nil); err == nil {
		t.Error("an unknown method was taken")
	}
}

// A plugin that is shown its own tree cannot change it.
func TestTreeIsACopy(t *testing.T) {
	l := newLab(t)
	id, _ := l.mount(spec.Surface{View: func(context.Context, any, map[string]any) (any, error) {
		return dict{"type": "rows", "children": []any{"a"}}, nil
	}})
	v, err := l.host.Service().Call(context.Background(), "tree", []any{id.Plugin, id.Name}, nil)
	if err != nil {
		t.Fatal(err)
	}
	v.(dict)["children"].([]any)[0] = "changed"
	if got := l.panel(id).Tree.Children[0].Text; got != "a" {
		t.Errorf("the tree says %q", got)
	}
	if l.panel(id).Tree.Find("nothing") != nil {
		t.Error("a widget nobody named was found")
	}
}

func TestClusters(t *testing.T) {
	for text, want := range map[string]int{
		"": 0, "ab": 1, "é": 2, "e\u0301x": 3, "漢字": 3, "👩‍👩‍👧x": 18, "🇩🇪🇫🇷": 8, "👍🏽!": 8, "❤️x": 6, "\r\nx": 2, "\nx": 1, "\n\u0301": 1, "\xffa": 1,
	} {
		if got := surfaces.Cluster(text); got != want {
			t.Errorf("%q: %d bytes, want %d", text, got, want)
		}
	}
}
