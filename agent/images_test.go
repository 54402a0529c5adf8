package agent_test

import (
	"context"
	"slices"
	"strings"
	"testing"

	"starling/agent"
	"starling/agent/provider"
	"starling/bus/chat"
	"starling/bus/spec"
)

func picture(name string) chat.Block {
	return chat.Block{Kind: chat.Image, MIME: "image/png", Data: []byte(name)}
}

// shown are the images of a request, by their data.
func shown(r provider.Request) []string {
	var list []string
	for _, m := range r.Messages {
		for _, b := range m.Blocks {
			if b.Kind == chat.Image {
				list = append(list, string(b.Data))
			}
		}
	}
	return list
}

// camera is a tool that returns an image.
func camera() spec.Tool {
	t := echo("camera")
	t.Execute = func(_ context.Context, c spec.ToolCall) (spec.ToolResult, error) {
		return spec.ToolResult{Content: "a picture", Images: []chat.Block{picture("taken")}}, nil
	}
	return t
}

// What a person sends along stands behind the prompt, in a message that is sent into a run
// too; the image of a result stands behind the result, and goes to the model in each later
// request.
func TestImagesGoToTheModel(t *testing.T) {
	l := newLab([]spec.Step{calls(call("camera", `{"text":"x"}`)), say("fine"), say("more"), say("all")}, nil)
	steered := false
	tool := camera()
	take := tool.Execute
	tool.Execute = func(ctx context.Context, c spec.ToolCall) (spec.ToolResult, error) {
		if err := l.agent.Steer("and this", picture("late")); err != nil {
			t.Error(err)
		}
		steered = true
		return take(ctx, c)
	}
	l.tool(tool)
	for _, prompt := range []string{"look", ""} {
		if o := l.agent.Run(t.Context(), prompt, picture("mine"+prompt)); o.Stop != agent.StopEnd {
			t.Fatalf("%+v", o)
		}
	}
	if !steered {
		t.Fatal("the tool did not run")
	}
	want := [][]string{{"minelook"}, {"minelook", "taken", "late"}, {"minelook", "taken", "late", "mine"}}
	for i, w := range want {
		if got := shown(l.requests[i]); !slices.Equal(got, w) {
			t.Errorf("request %d shows %q, want %q", i, got, w)
		}
	}
	first := l.requests[0].Messages[0]
	if first.Role != chat.User || first.Blocks[0].Text != "look" || first.Blocks[1].Kind != chat.Image {
		t.Errorf("%+v", first)
	}
	if m := l.requests[1].Messages[2]; m.Role != chat.ToolRole || len(m.Blocks) != 2 || m.Blocks[0].Text != "a picture" {
		t.Errorf("%+v", m)
	}
}

// fussy refuses requests.
type fussy struct {
	refuses func(provider.Request) bool
	next    provider.Provider
}

func (p *fussy) Stream(ctx context.Context, req provider.Request, sink provider.Sink) {
	if p.refuses(req) {
		sink(provider.Event{Kind: provider.Failed, Err: &provider.Failure{Kind: provider.BadRequest, Status: 400, Message: "invalid image", RetryAfter: -1}})
		return
	}
	p.next.Stream(ctx, req, sink)
}

// A server that cannot read an image refuses every request from then on, since the
// conversation keeps it: it is asked again without, and later too; a new image is tried.
func TestRefusedImages(t *testing.T) {
	p := &fussy{refuses: func(r provider.Request) bool {
		return slices.ContainsFunc(shown(r), func(s string) bool { return s != "good" })
	}}
	l := newLab([]spec.Step{calls(call("camera", `{"text":"x"}`)), say("fine"), say("more"), say("good")}, func(o *agent.Options) { p.next, o.Provider = o.Provider, p })
	l.tool(camera())
	for _, run := range []struct {
		with []chat.Block
		want [][]string
	}{
		{[]chat.Block{picture("bad")}, [][]string{{"bad"}, nil, {"taken"}, nil}},
		{nil, [][]string{nil}},
		{[]chat.Block{picture("good")}, [][]string{{"good"}}},
	} {
		l.requests = nil
		if o := l.agent.Run(t.Context(), "look", run.with...); o.Stop != agent.StopEnd {
			t.Fatalf("%+v", o)
		}
		var got [][]string
		for _, r := range l.requests {
			got = append(got, shown(r))
		}
		if !slices.EqualFunc(got, run.want, slices.Equal) {
			t.Errorf("the requests showed %q, want %q", got, run.want)
		}
	}
	text := ""
	for _, m := range l.requests[0].Messages {
		for _, b := range m.Blocks {
			text += b.Text + "\n"
		}
	}
	if n := strings.Count(text, "[an image that the model server refused]"); n != 2 {
		t.Errorf("%d places of refused images in\n%s", n, text)
	}
	if all := (provider.Request{Messages: l.agent.Transcript()}); len(shown(all)) != 3 {
		t.Errorf("the transcript has the images %q", shown(all))
	}
	// With another conversation it begins anew: another model may see them.
	if err := l.agent.Reset(l.agent.Transcript()); err != nil {
		t.Fatal(err)
	}
	l.requests = nil
	l.agent.Run(t.Context(), "once more")
	if got := shown(l.requests[0]); !slices.Equal(got, []string{"bad", "taken", "good"}) {
		t.Errorf("after the reset the first request shows %q", got)
	}
}

// Images that were not what the server refused are not left out.
func TestImagesAreNotToBlame(t *testing.T) {
	refuse := true
	p := &fussy{refuses: func(provider.Request) bool { return refuse }}
	l := newLab([]spec.Step{say("fine")}, func(o *agent.Options) { p.next, o.Provider = o.Provider, p })
	if o := l.agent.Run(t.Context(), "look", picture("mine")); o.Stop != agent.StopError || len(l.requests) != 2 {
		t.Fatalf("%d requests, %+v", len(l.requests), o)
	}
	refuse = false
	if o := l.agent.Run(t.Context(), "again"); o.Stop != agent.StopEnd {
		t.Fatalf("%+v", o)
	}
	if got := shown(l.requests[2]); !slices.Equal(got, []string{"mine"}) {
		t.Errorf("the next request shows %q", got)
	}
}
