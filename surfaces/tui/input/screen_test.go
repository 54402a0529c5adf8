package input

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/gdamore/tcell/v2"

	"starling/bus/view"
	"starling/surfaces/tui/kit"
)

// host is a program with a clock that moves only when a test says so.
type host struct {
	theme *kit.Theme
	signs *kit.Signs
	clock time.Time
	later []timer
	// work is what Go was asked to do; it runs at once unless hold is set.
	hold bool
	held []func()
}

type timer struct {
	at time.Time
	f  func()
}

func newHost(t testing.TB, theme string, ascii bool) *host {
	th, err := kit.NewTheme(theme)
	if err != nil {
		t.Fatal(err)
	}
	return &host{theme: th, signs: kit.SignsFor(ascii), clock: time.Unix(1e9, 0)}
}

func (h *host) Redraw()                        {}
func (h *host) Do(f func())                    { f() }
func (h *host) Theme() *kit.Theme              { return h.theme }
func (h *host) Signs() *kit.Signs              { return h.signs }
func (h *host) Say(view.Notice)                {}
func (h *host) now() time.Time                 { return h.clock }
func (h *host) Go(f func(), g func())          { h.run(func() { f(); g() }) }
func (h *host) when(*tcell.EventKey) time.Time { return h.clock }

func (h *host) run(f func()) {
	if h.hold {
		h.held = append(h.held, f)
		return
	}
	f()
}

func (h *host) after(d time.Duration, f func()) {
	h.later = append(h.later, timer{h.clock.Add(d), f})
}

// wait moves the clock and runs what falls due, in order.
func (h *host) wait(d time.Duration) {
	end := h.clock.Add(d)
	for {
		first := -1
		for i, t := range h.later {
			if !t.at.After(end) && (first < 0 || t.at.Before(h.later[first].at)) {
				first = i
			}
		}
		if first < 0 {
			h.clock = end
			return
		}
		t := h.later[first]
		h.later = append(h.later[:first], h.later[first+1:]...)
		if t.at.After(h.clock) {
			h.clock = t.at
		}
		t.f()
	}
}

// desk is an editor with what it sent.
type desk struct {
	*host
	e       *Editor
	sent    []Entry
	steered []Entry
	asked   []Request
}

func newDesk(t testing.TB) *desk {
	d := &desk{host: newHost(t, "none", false)}
	d.e = NewEditor(EditorOptions{
		Host:  d.host,
		Send:  func(e Entry) { d.sent = append(d.sent, e) },
		Steer: func(e Entry) { d.steered = append(d.steered, e) },
		Ask:   func(r Request) { d.asked = append(d.asked, r) },
	})
	d.e.now, d.e.when, d.e.after = d.now, d.when, d.after
	d.e.SetRect(0, 0, 40, 6)
	d.e.Focus(nil)
	return d
}

// keys presses what is spelled: characters, and chords in <>. Each key comes 100 ms
// after the last, as a person types.
func (d *desk) keys(spelled string) {
	for _, ev := range spell(spelled) {
		d.wait(100 * time.Millisecond)
		d.e.Key(ev)
	}
	d.wait(100 * time.Millisecond)
}

// spell reads keys: "ab<enter><ctrl+j><alt+z>". "<<" is a "<".
func spell(s string) []*tcell.EventKey {
	var out []*tcell.EventKey
	for s != "" {
		if strings.HasPrefix(s, "<<") {
			out, s = append(out, tcell.NewEventKey(tcell.KeyRune, '<', 0)), s[2:]
			continue
		}
		if s[0] == '<' {
			name, rest, _ := strings.Cut(s[1:], ">")
			out, s = append(out, eventOf(name)), rest
			continue
		}
		r := []rune(s)[0]
		out, s = append(out, tcell.NewEventKey(tcell.KeyRune, r, 0)), s[len(string(r)):]
	}
	return out
}

var special = map[string]tcell.Key{
	"enter": tcell.KeyEnter, "tab": tcell.KeyTab, "backtab": tcell.KeyBacktab, "esc": tcell.KeyEscape,
	"backspace": tcell.KeyBackspace, "delete": tcell.KeyDelete, "up": tcell.KeyUp, "down": tcell.KeyDown,
	"left": tcell.KeyLeft, "right": tcell.KeyRight, "home": tcell.KeyHome, "end": tcell.KeyEnd,
	"pageup": tcell.KeyPgUp, "pagedown": tcell.KeyPgDn, "ctrl+_": tcell.KeyCtrlUnderscore,
}

func eventOf(name string) *tcell.EventKey {
	if k, ok := special[name]; ok {
		mod := tcell.ModNone
		if name == "ctrl+_" {
			mod = tcell.ModCtrl
		}
		return tcell.NewEventKey(k, 0, mod)
	}
	parts := strings.Split(name, "+")
	var mod tcell.ModMask
	for _, m := range parts[:len(parts)-1] {
		mod |= map[string]tcell.ModMask{"ctrl": tcell.ModCtrl, "alt": tcell.ModAlt, "shift": tcell.ModShift}[m]
	}
	last := parts[len(parts)-1]
	if k, ok := special[last]; ok {
		return tcell.NewEventKey(k, 0, mod)
	}
	r := []rune(last)[0]
	if mod == tcell.ModCtrl|tcell.ModAlt { // as terminals of old send Alt-Enter
		return tcell.NewEventKey(tcell.KeyCtrlA+tcell.Key(r-'a'), 0, mod)
	}
	return tcell.NewEventKey(tcell.KeyRune, r, mod)
}

// simulation is a screen in memory.
func simulation(t testing.TB, w, h int) tcell.SimulationScreen {
	s := tcell.NewSimulationScreen("UTF-8")
	if err := s.Init(); err != nil {
		t.Fatal(err)
	}
	s.SetSize(w, h)
	t.Cleanup(s.Fini)
	return s
}

// picture is the screen as text, with the cursor's place below.
func picture(s tcell.SimulationScreen) string {
	s.Show()
	cells, w, h := s.GetContents()
	var out strings.Builder
	for y := range h {
		var row strings.Builder
		for x := 0; x < w; {
			runes := string(cells[y*w+x].Runes)
			if runes == "" || runes == "\x00" || runes == "X" && cells[y*w+x].Style == tcell.StyleDefault {
				runes = " "
			}
			row.WriteString(runes)
			x += max(kit.Width(runes), 1)
		}
		out.WriteString(strings.TrimRight(row.String(), " ") + "\n")
	}
	if x, y, visible := s.GetCursor(); visible {
		fmt.Fprintf(&out, "cursor %d,%d\n", x, y)
	}
	return out.String()
}
