package surfaces_test

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"go.uber.org/goleak"

	"starling/bus"
	"starling/bus/spec"
	"starling/surfaces"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// lab is a host with surfaces written in Go.
type lab struct {
	t     *testing.T
	store *bus.Store
	spec  *spec.Surfaces
	host  *surfaces.Host

	mu       sync.Mutex
	said     []string
	changed  map[surfaces.ID]int
	released []surfaces.ID
	prompts  []string
	running  bool
}

func newLab(t *testing.T) *lab {
	t.Helper()
	l := &lab{t: t, store: bus.NewStore(), changed: map[surfaces.ID]int{}}
	l.spec = spec.NewRegistries(l.store).Surfaces
	l.host = surfaces.New(surfaces.Options{
		Surfaces: l.spec,
		Size:     func(surfaces.Placement) (int, int) { return 30, 5 },
		Changed: func(id surfaces.ID) {
			l.mu.Lock()
			defer l.mu.Unlock()
			l.changed[id]++
		},
		Release: func(id surfaces.ID) {
			l.mu.Lock()
			defer l.mu.Unlock()
			l.released = append(l.released, id)
		},
		Report: func(plugin, text string) {
			l.mu.Lock()
			defer l.mu.Unlock()
			l.said = append(l.said, plugin+": "+text)
		},
		Prompt: func(plugin, text string) error {
			l.mu.Lock()
			defer l.mu.Unlock()
			l.prompts = append(l.prompts, plugin+": "+text)
			return nil
		},
		Running: func() bool {
			l.mu.Lock()
			defer l.mu.Unlock()
			return l.running
		},
	})
	t.Cleanup(func() {
		if err := l.host.Close(context.Background()); err != nil {
			t.Error(err)
		}
	})
	return l
}

func (l *lab) notes() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return strings.Join(l.said, "\n")
}

// mount registers a surface of plugin p; the function it returns takes it away.
func (l *lab) mount(s spec.Surface) (id surfaces.ID, unmount func()) {
	l.t.Helper()
	if s.Name == "" {
		s.Name = "s"
	}
	if s.Placement == nil {
		s.Placement = map[string]any{"kind": "side"}
	}
	add, remove := l.spec.Slot().Put(bus.At(bus.ClassHome, 0, "p"), bus.Owner{UID: 1, Name: "p"}, s)
	l.store.Commit(add)
	l.host.Sync()
	l.settle()
	return surfaces.ID{Plugin: "p", Name: s.Name}, func() {
		l.store.Commit(remove)
		l.host.Sync()
	}
}

func (l *lab) settle() {
	l.t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	if err := l.host.Settle(ctx); err != nil {
		l.t.Fatal(err)
	}
}

func (l *lab) panel(id surfaces.ID) surfaces.Panel {
	l.t.Helper()
	p, ok := l.host.Panel(id)
	if !ok {
		l.t.Fatalf("there is no panel %v", id)
	}
	return p
}

// post sends a message and returns whether it was consumed.
func (l *lab) post(id surfaces.ID, m surfaces.Message) bool {
	l.t.Helper()
	answer := make(chan bool, 1)
	l.host.Post(id, m, func(consumed bool) { answer <- consumed })
	consumed := <-answer
	l.settle()
	return consumed
}

func key(code string, modifiers ...string) surfaces.Message {
	return surfaces.Message{Kind: surfaces.KeyMessage, Code: code, Modifiers: modifiers}
}

// press sends a key the way a screen does and returns whether it was used.
func (l *lab) press(id surfaces.ID, codes ...string) (used bool) {
	l.t.Helper()
	for _, code := range codes {
		answer := make(chan bool, 1)
		parts := strings.Split(code, "+")
		l.host.Key(id, key(parts[len(parts)-1], parts[:len(parts)-1]...), func(u bool) { answer <- u })
		used = <-answer
		l.settle()
	}
	return used
}

// step is an update that keeps its model as a map.
func step(f func(m map[string]any, msg map[string]any) []spec.Ask) func(context.Context, *spec.Model, map[string]any) ([]spec.Ask, error) {
	return func(_ context.Context, model *spec.Model, msg map[string]any) ([]spec.Ask, error) {
		v, _ := model.Load()
		m := maps.Clone(v.(map[string]any))
		asks := f(m, msg)
		model.Store(m)
		return asks, nil
	}
}

// show is a view of one text.
func show(f func(m map[string]any) string) func(context.Context, any, map[string]any) (any, error) {
	return func(_ context.Context, model any, _ map[string]any) (any, error) {
		text := f(model.(map[string]any))
		if text == "" {
			return nil, nil
		}
		return text, nil
	}
}

func start(kv ...any) *spec.Model {
	m := map[string]any{}
	for i := 0; i < len(kv); i += 2 {
		m[kv[i].(string)] = kv[i+1]
	}
	return spec.NewModel(m)
}

func TestModelUpdateView(t *testing.T) {
	l := newLab(t)
	var kinds []string
	id, unmount := l.mount(spec.Surface{
		Model: start("n", 0, "size", ""),
		Update: step(func(m, msg map[string]any) []spec.Ask {
			kinds = append(kinds, msg["kind"].(string))
			switch msg["kind"] {
			case "resize":
				m["size"] = fmt.Sprintf("%dx%d", msg["width"], msg["height"])
			case "key":
				m["n"] = m["n"].(int) + 1
				if msg["code"] == "c" {
					return []spec.Ask{{Kind: spec.AskConsume}, {Kind: spec.AskRelease}, {Kind: spec.AskPrompt, Text: "hi"}, {Kind: spec.AskSend, Name: "again", Payload: 7}}
				}
			case "msg":
				m["n"] = msg["payload"]
			}
			return nil
		}),
		View: show(func(m map[string]any) string { return fmt.Sprint(m["size"], " ", m["n"]) }),
	})
	if got := l.panel(id); got.Tree.Text != "30x5 0" || !got.Open() {
		t.Fatalf("first tree %+v", got.Tree)
	}
	if l.post(id, key("a")) {
		t.Error("a key nobody asked for was consumed")
	}
	if got := l.panel(id).Tree.Text; got != "30x5 1" {
		t.Errorf("after a key: %q", got)
	}
	if !l.post(id, key("c")) {
		t.Error("the key was not consumed")
	}
	l.settle()
	if got := l.panel(id).Tree.Text; got != "30x5 7" {
		t.Errorf("after send: %q", got)
	}
	if want := []string{"resize", "key", "key", "msg"}; !slices.Equal(kinds, want) {
		t.Errorf("messages %q, want %q", kinds, want)
	}
	if !slices.Equal(l.prompts, []string{"p: hi"}) || !slices.Equal(l.released, []surfaces.ID{id}) {
		t.Errorf("prompts %q, released %v", l.prompts, l.released)
	}
	before := l.panel(id)
	unmount()
	if _, ok := l.host.Panel(id); ok {
		t.Error("the panel outlived its plugin")
	}
	if before.Tree == nil {
		t.Error("a snapshot changed")
	}
	answered := false
	l.host.Post(id, key("a"), func(bool) { answered = true })
	if !answered {
		t.Error("a message to a panel that is gone has no answer")
	}
	if l.notes() != "" {
		t.Error(l.notes())
	}
}

// The view runs when the version moved, and then only.
func TestViewOnlyWhenMoved(t *testing.T) {
	l := newLab(t)
	views := 0
	model := start()
	id, _ := l.mount(spec.Surface{
		Model:  model,
		Update: func(context.Context, *spec.Model, map[string]any) ([]spec.Ask, error) { return nil, nil },
		View: func(context.Context, any, map[string]any) (any, error) {
			views++
			return "x", nil
		},
	})
	for range 5 {
		l.post(id, key("a"))
	}
	l.host.Tick()
	l.settle()
	if views != 1 {
		t.Errorf("%d views of a model that never moved", views)
	}
	model.Store(map[string]any{})
	l.settle()
	if views != 2 {
		t.Errorf("%d views after it moved once", views)
	}
}

func TestFaults(t *testing.T) {
	l := newLab(t)
	id, _ := l.mount(spec.Surface{
		Model: start("bad", "", "n", 0),
		Update: func(_ context.Context, model *spec.Model, msg map[string]any) ([]spec.Ask, error) {
			switch msg["code"] {
			case "e":
				return nil, errors.New("p.star:3:1: no such key")
			case "p":
				panic("boom")
			case nil:
				return nil, nil
			}
			model.Store(map[string]any{"bad": msg["code"]})
			return nil, nil
		},
		View: func(_ context.Context, model any, _ map[string]any) (any, error) {
			switch model.(map[string]any)["bad"] {
			case "v":
				return nil, errors.New("p.star:9:2: oh \x1b[31mno")
			case "t":
				return map[string]any{"type": "rows", "children": []any{"a", map[string]any{"type": "lst"}}}, nil
			case "P":
				panic("view")
			case "c":
				return nil, nil
			}
			return "fine", nil
		},
	})
	other, _ := l.mount(spec.Surface{Name: "other", View: func(context.Context, any, map[string]any) (any, error) { return "other", nil }})
	// A failing update: the model stays, one report until something else happens.
	for range 3 {
		if l.post(id, key("e")) {
			t.Error("a failed update consumed the key")
		}
	}
	if got, want := l.notes(), `p: surface "s": update: p.star:3:1: no such key`; got != want {
		t.Errorf("said %q, want %q", got, want)
	}
	l.post(id, key("p"))
	if got := l.notes(); !strings.Contains(got, "update: panic: boom") {
		t.Errorf("said %q", got)
	}
	if got := l.panel(id).Tree.Text; got != "fine" {
		t.Errorf("after failing updates: %q", got)
	}
	for _, c := range []struct{ code, want string }{
		{"v", `surface "s": view: p.star:9:2: oh no`},
		{"t", `surface "s": view: rows.children[1]: unknown widget type "lst"; did you mean "list"?`},
		{"P", `surface "s": view: panic: view`},
	} {
		l.post(id, key(c.code))
		p := l.panel(id)
		if p.Err != c.want {
			t.Errorf("%s: error %q, want %q", c.code, p.Err, c.want)
		}
		if n := len(p.Tree.Children); n != 2 || strings.Contains(p.Tree.Children[1].Text, "\x1b") || !strings.HasPrefix(p.Tree.Children[1].Text, `surface "s": view: `) {
			t.Errorf("%s: tree %+v", c.code, p.Tree)
		}
	}
	l.post(id, key("c"))
	if p := l.panel(id); p.Open() || p.Err != "" {
		t.Errorf("a closed panel: %+v", p)
	}
	l.post(id, key("f"))
	if p := l.panel(id); p.Tree == nil || p.Tree.Text != "fine" {
		t.Errorf("opened again: %+v", p)
	}
	if got := l.panel(other).Tree.Text; got != "other" {
		t.Errorf("the other panel: %q", got)
	}
}

// A key is answered after 50 ms although the update still runs; ticks do not queue
// meanwhile, and other panels go on.
func TestSlowPanel(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := newLab(t)
		release := make(chan struct{})
		ticks := 0
		id, _ := l.mount(spec.Surface{
			Model: start(), Tick: true,
			Update: func(ctx context.Context, _ *spec.Model, msg map[string]any) ([]spec.Ask, error) {
				switch msg["kind"] {
				case "key":
					select {
					case <-release:
					case <-ctx.Done():
					}
					return []spec.Ask{{Kind: spec.AskConsume}}, nil
				case "tick":
					ticks++
				}
				return nil, nil
			},
			View: show(func(map[string]any) string { return "slow" }),
		})
		other, _ := l.mount(spec.Surface{
			Name: "other", Model: start(),
			Update: step(func(m, msg map[string]any) []spec.Ask {
				m["got"] = msg["code"]
				return []spec.Ask{{Kind: spec.AskConsume}}
			}),
			View: show(func(m map[string]any) string { return fmt.Sprint("got ", m["got"]) }),
		})
		begin := time.Now()
		answer := make(chan bool, 1)
		l.host.Post(id, key("a"), func(consumed bool) { answer <- consumed })
		if <-answer {
			t.Error("consumed before the update ended")
		}
		if d := time.Since(begin); d != 50*time.Millisecond {
			t.Errorf("answered after %v", d)
		}
		for range 10 {
			l.host.Tick()
		}
		l.host.Post(other, key("b"), func(consumed bool) { answer <- consumed })
		if !<-answer {
			t.Error("the other panel did not consume")
		}
		close(release)
		l.settle()
		if ticks != 1 {
			t.Errorf("%d ticks after ten while it was busy", ticks)
		}
		select {
		case <-answer:
			t.Error("answered twice")
		default:
		}
	})
}

// A view that never ends costs its panel and nothing else; closing cancels it.
func TestViewForEver(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := newLab(t)
		stuck := make(chan struct{})
		add, _ := l.spec.Slot().Put(bus.At(bus.ClassHome, 0, "p"), bus.Owner{UID: 1, Name: "p"}, spec.Surface{
			Name: "stuck", Placement: map[string]any{"kind": "bottom"}, Model: start(),
			Update: step(func(_, _ map[string]any) []spec.Ask { return nil }),
			View: func(ctx context.Context, _ any, _ map[string]any) (any, error) {
				close(stuck)
				<-ctx.Done()
				return nil, ctx.Err()
			},
		})
		l.store.Commit(add)
		l.host.Sync()
		<-stuck
		id := surfaces.ID{Plugin: "p", Name: "stuck"}
		for range 1000 { // far more than the queue holds
			answer := make(chan bool, 1)
			l.host.Post(id, key("a"), func(consumed bool) { answer <- consumed })
			if <-answer {
				t.Fatal("consumed")
			}
		}
		if n := strings.Count(l.notes(), "messages behind"); n != 1 {
			t.Errorf("%d reports of a full queue:\n%s", n, l.notes())
		}
		fine := spec.Surface{Name: "fine", Placement: map[string]any{"kind": "side"}, Model: start("x", "fine"), View: show(func(m map[string]any) string { return m["x"].(string) })}
		add, _ = l.spec.Slot().Put(bus.At(bus.ClassHome, 0, "q"), bus.Owner{UID: 2, Name: "q"}, fine)
		l.store.Commit(add)
		l.host.Sync()
		synctest.Wait()
		if p := l.panel(surfaces.ID{Plugin: "q", Name: "fine"}); p.Tree == nil || p.Tree.Text != "fine" {
			t.Errorf("the other panel: %+v", p)
		}
		if p := l.panel(id); p.Open() {
			t.Errorf("the stuck one: %+v", p)
		}
	})
}

// A dialog that opens is deaf for a moment, each time it opens.
func TestDialogIsDeafAtFirst(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := newLab(t)
		pressed := 0
		model := start("open", true)
		id, _ := l.mount(spec.Surface{
			Placement: map[string]any{"kind": "overlay"}, Model: model,
			Update: step(func(_, msg map[string]any) []spec.Ask {
				switch msg["kind"] {
				case "press", "paste", "mouse":
					pressed++
				}
				return nil
			}),
			View: func(_ context.Context, m any, _ map[string]any) (any, error) {
				if m.(map[string]any)["open"] == false {
					return nil, nil
				}
				return map[string]any{"type": "button", "id": "yes", "label": "Yes"}, nil
			},
		})
		mouse := func(action string) bool { // tells what is said at once
			var used atomic.Bool
			l.host.Post(id, surfaces.Message{Kind: surfaces.MouseMessage, Action: action, Button: "left"}, used.Store)
			return used.Load()
		}
		for range 2 {
			pressed = 0
			if !l.press(id, "enter") {
				t.Error("a key typed ahead went past the dialog")
			}
			l.host.Click(id, "yes", 0)
			l.host.Paste(id, "x")
			if !mouse("press") || !mouse("wheel") {
				t.Error("a press made ahead went past the dialog")
			}
			synctest.Wait()
			if pressed != 0 {
				t.Error("something typed ahead answered the dialog")
			}
			time.Sleep(300 * time.Millisecond)
			if !mouse("drag") || !mouse("release") {
				t.Error("the rest of a press made ahead went past the dialog")
			}
			synctest.Wait()
			if pressed != 0 {
				t.Error("the rest of a press made ahead answered the dialog")
			}
			l.press(id, "enter")
			l.host.Click(id, "yes", 0)
			l.host.Paste(id, "x")
			mouse("press")
			mouse("release")
			synctest.Wait()
			if pressed != 5 {
				t.Errorf("%d of 5 reached the dialog later", pressed)
			}
			model.Store(map[string]any{"open": false})
			synctest.Wait()
			model.Store(map[string]any{"open": true})
			synctest.Wait()
		}
	})
}

// A size the plugin knows is not sent again.
func TestResizeOnce(t *testing.T) {
	l := newLab(t)
	var sizes []string
	id, _ := l.mount(spec.Surface{
		Model: start(),
		Update: step(func(_, msg map[string]any) []spec.Ask {
			sizes = append(sizes, fmt.Sprintf("%dx%d", msg["width"], msg["height"]))
			return nil
		}),
		View: show(func(map[string]any) string { return "x" }),
	})
	for _, w := range []int{30, 30, 20, 20, -1} {
		l.host.Resize(id, w, 5)
		l.settle()
	}
	if want := []string{"30x5", "20x5", "0x5"}; !slices.Equal(sizes, want) {
		t.Errorf("sizes %q, want %q", sizes, want)
	}
}

// What a surface sends itself without end stops, and costs no other message.
func TestSendWithoutEnd(t *testing.T) {
	l := newLab(t)
	sent := 0
	id, _ := l.mount(spec.Surface{
		Model: start(),
		Update: step(func(_, msg map[string]any) []spec.Ask {
			if msg["kind"] == "resize" {
				return nil
			}
			sent++
			return []spec.Ask{{Kind: spec.AskSend, Name: "again"}}
		}),
		View: show(func(map[string]any) string { return "x" }),
	})
	l.post(id, key("a"))
	if sent != 101 || !strings.Contains(l.notes(), "100 messages came out of each other") {
		t.Errorf("%d updates; said %q", sent, l.notes())
	}
}

// A surface registered anew starts anew but for its model.
func TestReplaced(t *testing.T) {
	l := newLab(t)
	model := start("text", "old")
	view := show(func(m map[string]any) string { return m["text"].(string) })
	id, unmount := l.mount(spec.Surface{Model: model, View: view})
	first := l.panel(id)
	model.Store(map[string]any{"text": "kept"})
	l.settle()
	unmount()
	model.Store(map[string]any{"text": "while away"})
	l.mount(spec.Surface{Model: model, View: view})
	if p := l.panel(id); p.Tree.Text != "while away" || p.Version != 1 {
		t.Errorf("after coming back: %+v", p)
	}
	if first.Tree.Text != "old" {
		t.Error("an old snapshot changed")
	}
	if l.changed[id] < 4 {
		t.Errorf("only %d changes were told", l.changed[id])
	}
}

// A surface that goes and comes in one commit, as in a reload, is asked in its new form,
// and there is one of it.
func TestReplacedAtOnce(t *testing.T) {
	l := newLab(t)
	model := start("text", "said")
	put := func(version string) (add, remove bus.Op) {
		return l.spec.Slot().Put(bus.At(bus.ClassHome, 0, "p"), bus.Owner{UID: 1, Name: "p"}, spec.Surface{
			Name: "s", Placement: map[string]any{"kind": "side"}, Model: model,
			View: show(func(m map[string]any) string { return fmt.Sprint(version, " ", m["text"]) }),
		})
	}
	add, remove := put("old")
	l.store.Commit(add)
	l.host.Sync()
	l.settle()
	for i := range 5 {
		add, next := put(fmt.Sprint("version ", i))
		l.store.Commit(remove, add)
		l.host.Sync()
		l.settle()
		remove = next
	}
	if all := l.host.Panels(); len(all) != 1 || all[0].Tree.Text != "version 4 said" {
		t.Errorf("panels %+v", all)
	}
}

// A plugin that left, and whose panel has not heard of it, is not blamed.
func TestLeavingIsNoFault(t *testing.T) {
	l := newLab(t)
	add, remove := l.spec.Slot().Put(bus.At(bus.ClassHome, 0, "p"), bus.Owner{UID: 1, Name: "p"}, spec.Surface{
		Name: "s", Placement: map[string]any{"kind": "side"}, Model: start(),
		Update: func(_ context.Context, _ *spec.Model, msg map[string]any) ([]spec.Ask, error) {
			if msg["kind"] == "key" {
				return nil, errors.New("plugin p was unloaded")
			}
			return nil, nil
		},
		View: show(func(map[string]any) string { return "x" }),
	})
	l.store.Commit(add)
	l.host.Sync()
	l.settle()
	l.store.Commit(remove)
	l.post(surfaces.ID{Plugin: "p", Name: "s"}, key("a"))
	if l.notes() != "" {
		t.Errorf("said %q", l.notes())
	}
}

func TestFollow(t *testing.T) {
	l := newLab(t)
	ctx, cancel := context.WithCancel(context.Background())
	seen := make(chan struct{}, 100)
	host := surfaces.New(surfaces.Options{Surfaces: l.spec, Changed: func(surfaces.ID) { seen <- struct{}{} }})
	done := make(chan struct{})
	go func() {
		host.Follow(ctx, l.store)
		close(done)
	}()
	id, _ := l.mount(spec.Surface{View: func(context.Context, any, map[string]any) (any, error) { return "x", nil }})
	for {
		<-seen
		if p, ok := host.Panel(id); ok && p.Open() {
			break
		}
	}
	cancel()
	<-done
	if err := host.Close(context.Background()); err != nil {
		t.Error(err)
	}
}
