package panel

import (
	"context"
	"strings"
	"testing"

	"github.com/gdamore/tcell/v2"

	"starling/bus/spec"
	"starling/surfaces"
)

// A dialog the person left stays away while only ticks, sizes and the keys change its
// model, and comes back when something else does: a command, or a message.
func TestDismissedDialog(t *testing.T) {
	l := newLab(t, 80, 24)
	model := spec.NewModel(dict{"open": true})
	l.mount("ask", spec.Surface{
		Placement: dict{"kind": "overlay"}, Model: model, Tick: true,
		View: func(_ context.Context, m any, _ map[string]any) (any, error) {
			if m.(map[string]any)["open"] == true {
				return "Really?", nil
			}
			return nil, nil
		},
		Update: func(_ context.Context, m *spec.Model, msg map[string]any) ([]spec.Ask, error) {
			m.Store(dict{"open": true})
			l.note(msg)
			return nil, nil
		},
	})
	shown := func() bool {
		_, keys := l.m.Focused()
		return keys && strings.Contains(text(l.screen, rect(0, 0, 80, 24)), "Really?")
	}
	for name, again := range map[string]func(){
		"a command":         func() { model.Store(dict{"open": true}) },
		"a message":         func() { l.host.Post(id("ask"), surfaces.Message{Kind: surfaces.UserMessage, Name: "show"}, nil) },
		"closed and opened": func() { model.Store(dict{"open": false}); l.frame(); model.Store(dict{"open": true}) },
	} {
		if !shown() {
			t.Fatalf("%s: it is not there to be left", name)
		}
		l.key(char('x'), press(tcell.KeyEscape))
		for range 3 {
			l.host.Tick()
			l.frame()
			l.screen.SetSize(70, 20)
			l.frame()
			l.screen.SetSize(80, 24)
			l.frame()
			if shown() {
				t.Fatalf("%s: it comes back by itself", name)
			}
		}
		again()
		l.frame()
		if !shown() {
			t.Errorf("%s does not bring it back", name)
		}
	}
}
