package panel

import (
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"starling/surfaces"
	"starling/surfaces/tui/kit"
)

func id(name string) surfaces.ID { return surfaces.ID{Plugin: name, Name: name} }

func inside(r, o kit.Rect) bool {
	return empty(r) || r.X >= o.X && r.Y >= o.Y && r.X+r.W <= o.X+o.W && r.Y+r.H <= o.Y+o.H
}

func overlap(a, b kit.Rect) bool {
	return !empty(a) && !empty(b) && a.X < b.X+b.W && b.X < a.X+a.W && a.Y < b.Y+b.H && b.Y < a.Y+a.H
}

func want(name string, p surfaces.Placement, rows int) Want {
	return Want{ID: id(name), Placement: p, Rows: func(int) int { return rows }}
}

func side(side string, order, width int) surfaces.Placement {
	return surfaces.Placement{Kind: surfaces.Side, Side: side, Order: order, Width: width}
}

// spell writes a layout as one line per thing.
func spell(p Placed) []string {
	at := func(r kit.Rect) string { return fmt.Sprintf("%d,%d %dx%d", r.X, r.Y, r.W, r.H) }
	out := []string{"transcript " + at(p.Transcript)}
	for _, x := range p.Places {
		out = append(out, fmt.Sprintf("%s %s in %s", x.ID.Name, at(x.Inner), at(x.Frame)))
	}
	for _, t := range p.Tabs {
		out = append(out, "tab "+t.ID.Name+" "+at(t.Rect))
	}
	return out
}

func TestLayout(t *testing.T) {
	dialog := surfaces.Placement{Kind: surfaces.Overlay, Width: 30, Height: 4}
	low := surfaces.Placement{Kind: surfaces.Bottom, Height: 3}
	for _, c := range []struct {
		name    string
		area    kit.Rect
		wants   []Want
		choices Choices
		want    []string
	}{
		{"nothing", rect(0, 1, 80, 20), nil, Choices{}, []string{"transcript 0,1 80x20"}},
		{
			"one side takes a third", rect(0, 1, 80, 20),
			[]Want{want("a", side("right", 0, 0), 5)},
			Choices{},
			[]string{"transcript 0,1 54x20", "a 56,2 24x19 in 54,1 26x20"},
		},
		{
			"at most 40 columns", rect(0, 0, 200, 50),
			[]Want{want("a", side("left", 0, 0), 5)},
			Choices{},
			[]string{"transcript 40,0 160x50", "a 0,1 38x49 in 0,0 40x50"},
		},
		{
			"an asked width is the content's", rect(0, 0, 120, 30),
			[]Want{want("a", side("right", 0, 50), 5)},
			Choices{},
			[]string{"transcript 0,0 68x30", "a 70,1 50x29 in 68,0 52x30"},
		},
		{
			"what was asked for is cut before anything folds", rect(0, 0, 60, 30),
			[]Want{want("a", side("right", 0, 50), 5)},
			Choices{},
			[]string{"transcript 0,0 20x30", "a 22,1 38x29 in 20,0 40x30"},
		},
		{
			"order and wanted rows", rect(0, 0, 90, 20),
			[]Want{want("b", side("right", 2, 0), 3), want("a", side("right", 1, 0), 4)},
			Choices{},
			[]string{"transcript 0,0 60x20", "a 62,1 28x4 in 60,0 30x5", "b 62,6 28x14 in 60,5 30x15"},
		},
		{
			"the greedy shares what the modest leave", rect(0, 0, 90, 20),
			[]Want{want("a", side("right", 1, 0), 400), want("b", side("right", 2, 0), 3), want("c", side("right", 3, 0), 300)},
			Choices{},
			[]string{"transcript 0,0 60x20", "a 62,1 28x7 in 60,0 30x8", "b 62,9 28x3 in 60,8 30x4", "c 62,13 28x7 in 60,12 30x8"},
		},
		{
			"two sides fold on a narrow screen", rect(0, 1, 40, 10),
			[]Want{want("a", side("left", 0, 0), 5), want("b", side("right", 0, 0), 5)},
			Choices{},
			[]string{"transcript 0,2 40x9", "tab a 0,1 3x1", "tab b 3,1 3x1"},
		},
		{
			"the folded one with the keys is open", rect(0, 1, 40, 10),
			[]Want{want("a", side("left", 0, 0), 5), want("b", side("right", 0, 0), 50)},
			Choices{Focus: id("b")},
			[]string{"transcript 0,8 40x3", "b 0,2 40x5 in 0,2 40x6", "tab a 0,1 3x1", "tab b 3,1 3x1"},
		},
		{
			"a crowd folds", rect(0, 0, 80, 8),
			[]Want{want("a", side("right", 0, 0), 1), want("b", side("right", 1, 0), 1), want("c", side("right", 2, 0), 1)},
			Choices{},
			[]string{"transcript 0,1 80x7", "tab a 0,0 3x1", "tab b 3,0 3x1", "tab c 6,0 3x1"},
		},
		{
			"sides may be hidden", rect(0, 0, 80, 20),
			[]Want{want("a", side("right", 0, 0), 1)},
			Choices{NoSides: true},
			[]string{"transcript 0,0 80x20"},
		},
		{
			"bottom", rect(0, 0, 80, 20),
			[]Want{want("a", low, 9), want("b", surfaces.Placement{Kind: surfaces.Bottom}, 1)},
			Choices{},
			[]string{"transcript 0,0 80x14", "a 0,15 80x3 in 0,14 80x4", "b 0,19 80x1 in 0,18 80x2"},
		},
		{
			"dialogs: the one with the keys is on top", rect(0, 0, 80, 20),
			[]Want{want("a", dialog, 9), want("b", dialog, 9)},
			Choices{Focus: id("a")},
			[]string{"transcript 0,0 80x20", "b 25,8 30x4 in 24,7 32x6", "a 25,8 30x4 in 24,7 32x6"},
		},
		{
			"no dialog over a question", rect(0, 0, 80, 20),
			[]Want{want("a", dialog, 9)},
			Choices{Focus: id("a"), NoOverlays: true},
			[]string{"transcript 0,0 80x20"},
		},
		{
			"a dialog that was left waits for the keys", rect(0, 0, 80, 20),
			[]Want{want("a", dialog, 9)},
			Choices{Dismissed: map[surfaces.ID]bool{id("a"): true}},
			[]string{"transcript 0,0 80x20"},
		},
		{
			"a dialog that is too large", rect(0, 0, 20, 5),
			[]Want{want("a", dialog, 9)},
			Choices{},
			[]string{"transcript 0,0 20x5", "a 1,1 18x3 in 0,0 20x5"},
		},
	} {
		if diff := cmp.Diff(c.want, spell(Layout(c.area, c.wants, c.choices))); diff != "" {
			t.Errorf("%s: -want +got\n%s", c.name, diff)
		}
	}
}

func anyWants(t *rapid.T) []Want {
	var wants []Want
	for i := range rapid.IntRange(0, 12).Draw(t, "panels") {
		p := surfaces.Placement{
			Kind: rapid.SampledFrom([]surfaces.Kind{surfaces.Side, surfaces.Bottom, surfaces.Overlay, surfaces.Status}).Draw(t, "kind"),
			Side: rapid.SampledFrom([]string{"left", "right"}).Draw(t, "side"), Order: rapid.IntRange(-2, 2).Draw(t, "order"),
			Width: rapid.SampledFrom([]int{0, 1, 10, 40, 10_000}).Draw(t, "width"), Height: rapid.SampledFrom([]int{0, 1, 5, 10_000}).Draw(t, "height"),
		}
		wants = append(wants, want(fmt.Sprint("p", i), p, rapid.IntRange(0, 200).Draw(t, "rows")))
	}
	return wants
}

// Everything is inside the area, nothing but dialogs covers anything, the transcript
// keeps its columns, and every open panel is on screen or has a tab.
func TestLayoutProperty(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		area := rect(rapid.IntRange(0, 5).Draw(t, "x"), rapid.IntRange(0, 5).Draw(t, "y"), rapid.IntRange(0, 220).Draw(t, "width"), rapid.IntRange(0, 70).Draw(t, "height"))
		wants := anyWants(t)
		c := Choices{NoSides: rapid.Bool().Draw(t, "no sides"), NoOverlays: rapid.Bool().Draw(t, "question")}
		if len(wants) > 0 {
			c.Focus = wants[rapid.IntRange(0, len(wants)-1).Draw(t, "focus")].ID
		}
		p := Layout(area, wants, c)
		solid := []kit.Rect{p.Transcript}
		if p.Transcript.W < min(minTranscript, area.W) {
			t.Fatalf("the transcript has %d columns of %d", p.Transcript.W, area.W)
		}
		if area.H >= 8 && p.Transcript.H < 2 {
			t.Fatalf("the transcript has %d rows of %d", p.Transcript.H, area.H)
		}
		for _, tab := range p.Tabs {
			solid = append(solid, tab.Rect)
			if tab.ID == c.Focus && area.W > 0 && empty(tab.Rect) {
				t.Fatal("the tab that has the keys is not to be seen")
			}
		}
		for _, x := range p.Places {
			if !inside(x.Inner, x.Frame) || !inside(x.Frame, area) {
				t.Fatalf("%v: %v in %v in %v", x.ID, x.Inner, x.Frame, area)
			}
			if empty(x.Inner) && area.H > 2 && area.W > 2 {
				t.Fatalf("%v has no room: %v", x.ID, x.Frame)
			}
			if x.Kind != surfaces.Overlay {
				solid = append(solid, x.Frame)
			}
		}
		for i, a := range solid {
			if !inside(a, area) {
				t.Fatalf("%v is outside %v", a, area)
			}
			for _, b := range solid[:i] {
				if overlap(a, b) {
					t.Fatalf("%v covers %v", a, b)
				}
			}
		}
		for _, w := range wants {
			_, placed := p.Find(w.ID)
			for _, tab := range p.Tabs {
				placed = placed || tab.ID == w.ID
			}
			k := w.Placement.Kind
			hidden := k == surfaces.Status || k == surfaces.Side && c.NoSides || k == surfaces.Overlay && (c.NoOverlays || area.W < 3 || area.H < 3)
			if placed == hidden && area.H > 1 {
				t.Fatalf("%v: placed %v, to be hidden %v", w.ID, placed, hidden)
			}
		}
	})
}
