package panel

import (
	"context"
	"strings"
	"testing"

	"github.com/gdamore/tcell/v2"

	"starling/bus"
	"starling/bus/spec"
)

// dialog is a lab with a dialog whose model holds what it asks; "" for closed. Whatever
// it hears it stores the model it had.
type dialog struct {
	*lab
	model  *spec.Model
	remove bus.Op
	held   chan struct{} // a view waits for it, where it is not nil
}

func newDialog(t *testing.T) *dialog {
	d := &dialog{lab: newLab(t, 80, 24), model: spec.NewModel(dict{"ask": "Really?"})}
	d.model.Raise() // it was shown by a command before
	d.load()
	return d
}

// load registers it, as at the start and when its plugin was loaded anew.
func (d *dialog) load() {
	d.t.Helper()
	d.register()
	d.frame()
}

func (d *dialog) register() {
	d.t.Helper()
	d.remove = d.put("ask", spec.Surface{
		Placement: dict{"kind": "overlay"}, Model: d.model, Tick: true,
		View: func(_ context.Context, m any, _ map[string]any) (any, error) {
			if held := d.held; held != nil {
				<-held
			}
			if ask := m.(dict)["ask"]; ask != "" {
				return ask, nil
			}
			return nil, nil
		},
		Update: func(_ context.Context, m *spec.Model, _ map[string]any) ([]spec.Ask, error) {
			now, _ := m.Load()
			m.Store(now)
			return nil, nil
		},
	})
}

func (d *dialog) unload() {
	d.lab.store.Commit(d.remove)
	d.host.Sync()
	d.frame()
}

func (d *dialog) asks(text string) {
	d.model.Store(dict{"ask": text})
	d.frame()
}

// send is a message from a plugin, out of a command or out of something else.
func (d *dialog) send(ran bool) {
	d.t.Helper()
	ctx := spec.WithCaller(context.Background(), sender(ran))
	if _, err := d.host.Service().Call(ctx, "send", []any{"ask", "ask", "show"}, nil); err != nil {
		d.t.Fatal(err)
	}
}

// sender is a plugin that may send; it tells whether a command does.
type sender bool

func (sender) Name() string       { return "other" }
func (sender) Needs(string) error { return nil }
func (s sender) Ran() bool        { return bool(s) }

// shown tells whether the dialog is to be seen; with the keys it is asked of the person.
func (d *dialog) shown() (seen, keys bool) {
	d.frame()
	_, keys = d.m.Focused()
	return strings.Contains(text(d.screen, rect(0, 0, 80, 24)), "eally?"), keys
}

// A dialog the person left stays away, whatever its plugin hears and stores, and when it
// is loaded anew. It comes back when it opens after its view had closed it, when a command
// or a tool shows it, and when the person goes there.
func TestDismissedDialog(t *testing.T) {
	for name, c := range map[string]struct {
		happens func(d *dialog)
		back    bool
	}{
		"a tick":            {func(d *dialog) { d.host.Tick() }, false},
		"a size":            {func(d *dialog) { d.screen.SetSize(70, 20); d.frame(); d.screen.SetSize(80, 24) }, false},
		"a listener stores": {func(d *dialog) { d.asks("Really, really?") }, false},
		"a listener sends":  {func(d *dialog) { d.send(false) }, false},
		"a reload":          {func(d *dialog) { d.unload(); d.load() }, false},
		"a reload, with a frame before its view": {func(d *dialog) {
			d.held = make(chan struct{})
			d.unload()
			d.register()
			d.draw()
			close(d.held)
			d.frame()
		}, false},
		"a model that begins anew": {func(d *dialog) {
			d.unload()
			d.model = spec.NewModel(dict{"ask": "Really?"})
			d.load()
		}, false},
		"a reload that stores":    {func(d *dialog) { d.unload(); d.load(); d.asks("Really, really?") }, false},
		"closed":                  {func(d *dialog) { d.asks("") }, false},
		"closed, loaded anew":     {func(d *dialog) { d.asks(""); d.unload(); d.load() }, false},
		"a command, but closed":   {func(d *dialog) { d.model.Raise(); d.asks("") }, false},
		"opened anew":             {func(d *dialog) { d.asks(""); d.asks("Really?") }, true},
		"opened in another life":  {func(d *dialog) { d.asks(""); d.unload(); d.load(); d.asks("Really?") }, true},
		"opened by the next life": {func(d *dialog) { d.asks(""); d.unload(); d.model.Store(dict{"ask": "Really?"}); d.load() }, true},
		"a command":               {func(d *dialog) { d.model.Raise(); d.asks("Really?") }, true},
		"a command during a reload": {func(d *dialog) {
			d.unload()
			d.model.Raise()
			d.model.Store(dict{"ask": "Really?"})
			d.load()
		}, true},
		"a command sends": {func(d *dialog) { d.send(true) }, true},
		"F6":              {func(d *dialog) { d.m.Cycle(1) }, true},
		"/panel":          {func(d *dialog) { d.m.Focus(id("ask")) }, true},
	} {
		t.Run(name, func(t *testing.T) {
			d := newDialog(t)
			for range 2 { // what brought it back once counts once
				if seen, keys := d.shown(); !seen || !keys {
					t.Fatalf("it is not there to be left: seen %v, keys %v", seen, keys)
				}
				d.key(char('x'), press(tcell.KeyEscape))
				if seen, keys := d.shown(); seen || keys {
					t.Fatalf("Escape does not leave it: seen %v, keys %v", seen, keys)
				}
				c.happens(d)
				if seen, keys := d.shown(); seen != c.back || keys != c.back {
					t.Fatalf("seen %v, keys %v, want %v", seen, keys, c.back)
				}
				if !c.back {
					d.asks("") // what did not bring it back keeps none away that is new
					d.asks("Really?")
				}
			}
		})
	}
}

// A question covers a dialog, and keeps one from the keys that opens meanwhile; neither
// was left by the person, and both are there after it.
func TestQuestionLeavesNoDialog(t *testing.T) {
	for _, before := range []bool{true, false} {
		d := newDialog(t)
		if !before {
			d.asks("")
		}
		d.m.SetQuestion(true)
		d.asks("Really?")
		if seen, keys := d.shown(); seen || keys {
			t.Fatalf("there before %v: beside a question seen %v, keys %v", before, seen, keys)
		}
		d.m.SetQuestion(false)
		if seen, keys := d.shown(); !seen || keys {
			t.Errorf("there before %v: after the question seen %v, keys %v", before, seen, keys)
		}
	}
}
