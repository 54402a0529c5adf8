package tui

import (
	"fmt"
	"strings"
	"time"

	"github.com/gdamore/tcell/v2"

	"starling/bus/view"
	"starling/surfaces"
	"starling/surfaces/tui/command"
	"starling/surfaces/tui/kit"
)

// work is what a run is doing, for the line at the bottom.
type work struct {
	on     bool
	what   string // clean: the call that runs, or what of the reply comes
	behind string // what goes on once the person answered
	since  time.Time
	step   int  // of the spinner
	beside *job // that runs beside a run; nil for none
	hint   string
	queued int
	waits  string   // the command the queued lines wait for; "" for the run
	asks   bool     // a question waits for the person
	panel  string   // the panel that has the keys, as its frame names it; "" for none
	dialog bool     // what has the keys says itself which help
	aside  bool     // one about trust was put off
	extra  []string // of surfaces of kind status, as NAME: text
	keys   command.Shortcuts
}

// part is a piece of a status line. Those of the highest drop go first where there is
// no room; one that may be cut is.
type part struct {
	text  string
	style surfaces.Style
	drop  int
	cut   bool
}

// leastPart is how many cells are left of a part that is cut.
const leastPart = 8

// fit leaves parts out, or cuts them, until they take at most width cells with sep
// between. The last one stays as it is unless it may be cut.
func fit(parts []part, sep string, width int, g *kit.Signs) []part {
	list := make([]part, 0, len(parts))
	for _, p := range parts {
		if p.text != "" {
			list = append(list, p)
		}
	}
	for len(list) > 1 && partsWidth(list, sep) > width {
		worst := 0
		for i, p := range list {
			if p.drop >= list[worst].drop {
				worst = i
			}
		}
		p := &list[worst]
		if left := kit.Width(p.text) - (partsWidth(list, sep) - width); p.cut && left >= leastPart {
			p.text = kit.Clip(p.text, left, g.Ellipsis)
			continue
		}
		list = append(list[:worst], list[worst+1:]...)
	}
	if len(list) == 1 && list[0].cut {
		list[0].text = kit.Clip(list[0].text, width, g.Ellipsis)
	}
	return list
}

func partsWidth(parts []part, sep string) int {
	total := 0
	for i, p := range parts {
		if i > 0 {
			total += kit.Width(sep)
		}
		total += kit.Width(p.text)
	}
	return total
}

// putParts draws parts and returns the cells they took.
func putParts(s tcell.Screen, x, y, width int, parts []part, sep string, th *kit.Theme) int {
	used := 0
	for i, p := range parts {
		if i > 0 {
			used += kit.Put(s, x+used, y, width-used, sep, th.Style(surfaces.Dim))
		}
		used += kit.Put(s, x+used, y, width-used, p.text, th.Style(p.style))
	}
	return used
}

// drawTop draws where one is and what it costs.
func drawTop(s tcell.Screen, r kit.Rect, st view.Status, th *kit.Theme, g *kit.Signs) {
	kit.Fill(s, r, " ", th.Style(0))
	if r.W < 4 {
		return
	}
	sep := " " + g.Dot + " "
	waiting, failed := "", ""
	if st.Waiting > 0 {
		waiting = fmt.Sprintf("%d waiting", st.Waiting)
	}
	if st.Failed > 0 {
		failed = fmt.Sprintf("%d failed", st.Failed)
	}
	right := fit([]part{
		{kit.CleanLine(st.Model), surfaces.Accent, 0, false},
		{kit.CleanLine(st.Thinking), 0, 4, false},
		{share(st), 0, 2, false},
		{cost(st.Cost), 0, 3, false},
		{waiting, surfaces.Warn, 1, false},
		{failed, surfaces.Bad, 1, false},
	}, sep, max(r.W-2-10, 4), g)
	room := r.W - 2 - partsWidth(right, sep) - 2
	left := []part{{kit.Clip(kit.CleanLine(st.Workspace), max(room, 0), g.Ellipsis), surfaces.Title, 0, false}}
	if st.Branch != "" {
		if rest := room - kit.Width(left[0].text) - 2; rest > 2 {
			left = append(left, part{kit.Clip(kit.CleanLine(st.Branch), rest, g.Ellipsis), surfaces.Dim, 1, false})
		}
	}
	putParts(s, r.X+1, r.Y, max(room, 0), left, "  ", th)
	w := min(partsWidth(right, sep), r.W-2)
	putParts(s, r.X+r.W-1-w, r.Y, w, right, sep, th)
}

// share is how much of what the model takes is used.
func share(st view.Status) string {
	if st.Context <= 0 {
		if st.Tokens > 0 {
			return kit.Tokens(st.Tokens)
		}
		return ""
	}
	return fmt.Sprintf("%d%% of %s", (st.Tokens*100+st.Context/2)/st.Context, kit.Tokens(st.Context))
}

func cost(dollars float64) string {
	switch {
	case dollars <= 0:
		return ""
	case dollars < 1:
		return fmt.Sprintf("$%.3f", dollars)
	}
	return fmt.Sprintf("$%.2f", dollars)
}

// leastWork is the room that is left for what goes on, beside how to stop it.
const leastWork = 9

// drawBottom draws what goes on and which keys help.
func drawBottom(s tcell.Screen, r kit.Rect, mode string, w work, now time.Time, th *kit.Theme, g *kit.Signs) {
	kit.Fill(s, r, " ", th.Style(0))
	if r.W < 4 {
		return
	}
	sep := " " + g.Dot + " "
	left := []part{{kit.CleanLine(mode), surfaces.Dim, 1, false}}
	switch {
	case w.asks:
		left = append(left, part{needsYou, surfaces.Warn, 0, true})
	case w.on:
		text := g.Spinner[w.step%len(g.Spinner)] + " " + timed(w.what, now.Sub(w.since))
		left = append(left, part{kit.Clip(text, max(r.W*2/3, 8), g.Ellipsis), surfaces.Accent, 0, true})
	}
	if j := w.beside; j != nil {
		left = append(left, part{timed(j.what, now.Sub(j.since)), surfaces.Accent, 1, true})
	}
	if w.queued > 0 {
		text := fmt.Sprintf("%d queued", w.queued)
		if w.waits != "" {
			text += " behind " + w.waits
		}
		left = append(left, part{text, 0, 2, true})
	}
	if w.aside {
		left = append(left, part{"/trust waits", surfaces.Warn, 1, false})
	}
	for _, x := range w.extra {
		left = append(left, part{x, surfaces.Dim, 3, true})
	}
	room := r.W - 2
	hints, must := hintParts(w, max(r.W/3, leastPart), g)
	if w.hint != "" { // it is for now: the rest gives way, for the most part
		room = max(room-kit.Width(w.hint)-2, room/3)
	} else if most := room - 2 - leastWork; must > 0 {
		if n := partsWidth(fit(hints[:must], sep, most, g), sep); n > 0 && n <= most {
			room -= n + 2 // a plugin's text does not hide how to stop, or to leave
		}
	}
	left = fit(left, sep, room, g)
	used := putParts(s, r.X+1, r.Y, r.W-2, left, sep, th)
	room = r.W - 2 - used - 2
	hints = fit(hints, sep, room, g)
	if n := partsWidth(hints, sep); n <= room && n > 0 {
		putParts(s, r.X+r.W-1-n, r.Y, n, hints, sep, th)
	}
}

// timed is what goes on, and for how long once that is a while.
func timed(what string, d time.Duration) string {
	if d >= time.Second {
		what += "  " + kit.Elapsed(d)
	}
	return what
}

// hintParts are what to press, for whoever has the keys; the first ones, as many as
// must says, tell how to get out. A name of a panel takes at most named cells.
func hintParts(w work, named int, g *kit.Signs) (hints []part, must int) {
	if w.hint != "" {
		return []part{{w.hint, surfaces.Warn, 0, true}}, 0
	}
	if w.dialog {
		return nil, 0
	}
	key := func(do command.Global, does string) string {
		if key := w.keys.Key(do); key != "" {
			return key + " " + does
		}
		return ""
	}
	if w.panel != "" { // Esc is the way out of it first, whatever runs
		return []part{
			{kit.Clip("keys: "+w.panel, named, g.Ellipsis), surfaces.Accent, 1, true},
			{"Esc back", surfaces.Dim, 0, false},
			{key(command.Panels, "next"), surfaces.Dim, 2, false},
		}, 2
	}
	stop := ""
	if w.on {
		stop = key(command.Stop, "stops")
	}
	return []part{
		{stop, surfaces.Dim, 0, false},
		{key(command.Panels, "panels"), surfaces.Dim, 4, false},
		{"/ commands", surfaces.Dim, 1, false},
		{"! shell", surfaces.Dim, 3, false},
		{"@ files", surfaces.Dim, 2, false},
		{key(command.Keys, "keys"), surfaces.Dim, 5, false},
	}, 1
}

// oneLine makes one clean line of any text, not longer than a screen may need; it says
// where that is not all.
func oneLine(text string) string {
	cut := ""
	if len(text) > 1000 {
		text, cut = strings.ToValidUTF8(text[:1000], ""), " …"
	}
	return strings.TrimSpace(kit.RevealLine(text)) + cut
}
