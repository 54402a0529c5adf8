package panel

import (
	"context"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/gdamore/tcell/v2"
	"go.uber.org/goleak"

	"starling/bus"
	"starling/bus/spec"
	"starling/bus/view"
	"starling/surfaces"
	"starling/surfaces/tui/kit"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

type dict = map[string]any

// app is a program without an event loop: what it is asked to do waits for turn.
type app struct {
	theme *kit.Theme
	signs *kit.Signs

	mu      sync.Mutex
	queue   []func()
	redraws int
	workers sync.WaitGroup
	held    chan struct{} // workers wait for it, where it is not nil
}

func newApp() *app {
	theme, err := kit.NewTheme("none")
	if err != nil {
		panic(err)
	}
	return &app{theme: theme, signs: kit.SignsFor(false)}
}

func (a *app) Redraw() {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.redraws++
}

func (a *app) Do(f func()) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.queue = append(a.queue, f)
}

func (a *app) Go(f func(), done func()) {
	a.workers.Add(1)
	go func() {
		defer a.workers.Done()
		if a.held != nil {
			<-a.held
		}
		f()
		a.Do(done)
	}()
}

func (a *app) Theme() *kit.Theme { return a.theme }
func (a *app) Signs() *kit.Signs { return a.signs }
func (a *app) Say(view.Notice)   {}

// turn runs what was queued.
func (a *app) turn() {
	for {
		a.mu.Lock()
		queue := a.queue
		a.queue = nil
		a.mu.Unlock()
		if len(queue) == 0 {
			return
		}
		for _, f := range queue {
			f()
		}
	}
}

// lab is a manager over a real host, drawn on a simulated screen.
type lab struct {
	t      testing.TB
	app    *app
	store  *bus.Store
	spec   *spec.Surfaces
	host   *surfaces.Host
	m      *Manager
	screen tcell.SimulationScreen

	mu   sync.Mutex
	seen []dict // messages of all surfaces but resize
}

func newLab(t testing.TB, w, h int) *lab {
	t.Helper()
	l := &lab{t: t, app: newApp(), store: bus.NewStore(), screen: tcell.NewSimulationScreen("UTF-8")}
	if err := l.screen.Init(); err != nil {
		t.Fatal(err)
	}
	l.screen.SetSize(w, h)
	l.spec = spec.NewRegistries(l.store).Surfaces
	l.host = surfaces.New(surfaces.Options{
		Surfaces: l.spec,
		Size:     func(p surfaces.Placement) (int, int) { return l.m.Size(p) },
		Changed:  func(id surfaces.ID) { l.m.Changed(id) },
		Release:  func(id surfaces.ID) { l.m.Release(id) },
	})
	l.m = NewManager(Options{Source: l.host, Host: l.app})
	t.Cleanup(func() {
		if err := l.host.Close(context.Background()); err != nil {
			t.Error(err)
		}
		l.app.workers.Wait()
		l.screen.Fini()
	})
	return l
}

// note keeps a message.
func (l *lab) note(msg dict) {
	if msg["kind"] == surfaces.ResizeMessage {
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.seen = append(l.seen, msg)
}

// messages returns what plugins heard since the last call.
func (l *lab) messages() []dict {
	l.mu.Lock()
	defer l.mu.Unlock()
	seen := l.seen
	l.seen = nil
	return seen
}

// mount registers a surface of a plugin of the same name.
func (l *lab) mount(name string, s spec.Surface) surfaces.ID {
	l.t.Helper()
	l.add(name, s)
	return id(name)
}

// add mounts a surface; the edit it returns takes it away.
func (l *lab) add(name string, s spec.Surface) (remove bus.Op) {
	l.t.Helper()
	remove = l.put(name, s)
	l.frame()
	return remove
}

// put is add without a frame.
func (l *lab) put(name string, s spec.Surface) (remove bus.Op) {
	l.t.Helper()
	s.Name = name
	add, remove := l.spec.Slot().Put(bus.At(bus.ClassHome, 0, name), bus.Owner{UID: 1, Name: name}, s)
	l.store.Commit(add)
	l.host.Sync()
	return remove
}

// show mounts a surface that shows one tree, hears everything, and answers with asks.
func (l *lab) show(name string, place dict, tree any, asks ...spec.Ask) surfaces.ID {
	l.t.Helper()
	return l.mount(name, spec.Surface{
		Placement: place,
		View:      func(context.Context, any, map[string]any) (any, error) { return tree, nil },
		Update: func(_ context.Context, _ *spec.Model, msg map[string]any) ([]spec.Ask, error) {
			l.note(msg)
			return asks, nil
		},
	})
}

// settle lets plugins and workers come to rest.
func (l *lab) settle() {
	l.t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	if err := l.host.Settle(ctx); err != nil {
		l.t.Fatal(err)
	}
	if l.app.held == nil {
		l.app.workers.Wait()
	}
	l.app.turn()
}

// draw draws one frame as the program does.
func (l *lab) draw() {
	w, h := l.screen.Size()
	l.screen.HideCursor()
	transcript := l.m.Arrange(rect(0, 0, w, h))
	kit.Fill(l.screen, transcript, ".", tcell.StyleDefault)
	l.m.Draw(l.screen)
	l.m.DrawDialogs(l.screen)
	l.screen.Show()
}

// frame settles and draws until both agree.
func (l *lab) frame() {
	l.t.Helper()
	for range 3 {
		l.settle()
		l.draw()
	}
}

// key presses keys, each settled and drawn.
func (l *lab) key(keys ...*tcell.EventKey) (taken bool) {
	l.t.Helper()
	for _, ev := range keys {
		taken = l.m.Key(ev)
		l.frame()
	}
	return taken
}

func press(k tcell.Key) *tcell.EventKey { return tcell.NewEventKey(k, 0, tcell.ModNone) }
func char(r rune) *tcell.EventKey       { return tcell.NewEventKey(tcell.KeyRune, r, tcell.ModNone) }

// text is a part of the screen, without spaces at the ends of lines.
func text(s tcell.Screen, r kit.Rect) string {
	var out strings.Builder
	for y := r.Y; y < r.Y+r.H; y++ {
		var line strings.Builder
		for x := r.X; x < r.X+r.W; {
			c, _, w := s.Get(x, y)
			line.WriteString(c)
			x += max(w, 1)
		}
		out.WriteString(strings.TrimRight(line.String(), " ") + "\n")
	}
	return out.String()
}

// styles is a part of the screen as one letter a cell: dim, bold, italic, underline,
// reverse; a dot for plain.
func styles(s tcell.Screen, r kit.Rect) string {
	var out strings.Builder
	for y := r.Y; y < r.Y+r.H; y++ {
		var line strings.Builder
		for x := r.X; x < r.X+r.W; x++ {
			_, style, _ := s.Get(x, y)
			_, _, a := style.Decompose()
			switch {
			case a&tcell.AttrReverse != 0:
				line.WriteByte('r')
			case a&tcell.AttrUnderline != 0:
				line.WriteByte('u')
			case a&tcell.AttrBold != 0:
				line.WriteByte('b')
			case a&tcell.AttrItalic != 0:
				line.WriteByte('i')
			case a&tcell.AttrDim != 0:
				line.WriteByte('d')
			default:
				line.WriteByte('.')
			}
		}
		out.WriteString(strings.TrimRight(line.String(), ".") + "\n")
	}
	return out.String()
}
