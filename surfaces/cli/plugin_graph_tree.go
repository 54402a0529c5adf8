package cli

import (
	"slices"
	"strings"
)

// treeDrawing is one tree on its way to the screen.
type treeDrawing struct {
	*pluginGraph
	out   strings.Builder
	drawn []bool
	open  []bool // drawn, and its consumers are being drawn
	told  map[string]bool
}

// graphTree draws every plugin once, under the first that provides something for
// it; wherever else it belongs only its name stands. Those that need nobody come
// first, then the circles.
func graphTree(g *pluginGraph) string {
	if len(g.nodes) == 0 {
		return "no plugins\n"
	}
	t := &treeDrawing{
		pluginGraph: g, told: map[string]bool{},
		drawn: make([]bool, len(g.nodes)), open: make([]bool, len(g.nodes)),
	}
	for i := range g.nodes {
		if len(g.to[i]) == 0 {
			t.root(i)
		}
	}
	for i := range g.nodes {
		for !t.drawn[i] {
			t.root(t.onCircle(i))
		}
	}
	return t.out.String()
}

func (t *treeDrawing) root(i int) {
	t.out.WriteString(t.title(i) + "\n")
	t.below(i, "")
}

// below draws what stands under a plugin: who needs it, and what nobody provides
// for it.
func (t *treeDrawing) below(i int, indent string) {
	t.drawn[i], t.open[i] = true, true
	missing := t.nodes[i].missing
	last := len(t.from[i]) + len(missing) - 1
	for n, edge := range t.from[i] {
		t.branch(t.edges[edge], indent, n == last)
	}
	for n, key := range missing {
		t.out.WriteString(indent + arm(len(t.from[i])+n == last) + "needs [" + key + "]: missing\n")
	}
	t.open[i] = false
}

func (t *treeDrawing) branch(e pluginEdge, indent string, last bool) {
	t.out.WriteString(indent + arm(last) + "[" + strings.Join(e.keys, ", ") + "] ")
	if t.drawn[e.consumer] {
		t.out.WriteString(t.nodes[e.consumer].name + " (" + t.again(e) + ")\n")
		return
	}
	t.out.WriteString(t.title(e.consumer) + "\n")
	if last {
		t.below(e.consumer, indent+"   ")
	} else {
		t.below(e.consumer, indent+"│  ")
	}
}

// again is why a plugin that was drawn already is not drawn again.
func (t *treeDrawing) again(e pluginEdge) string {
	if t.open[e.consumer] {
		if text := t.cycle(e); text != "" {
			return t.once(text)
		}
	}
	return "above"
}

func (t *treeDrawing) title(i int) string {
	n := t.nodes[i]
	if strings.HasPrefix(n.reason, "cycle: ") {
		n.reason = t.once(n.reason)
	}
	return n.title()
}

// once tells a circle in full only the first time: each of its plugins has the
// same one as its reason.
func (t *treeDrawing) once(cycle string) string {
	if t.told[cycle] {
		return "cycle above"
	}
	t.told[cycle] = true
	return cycle
}

func arm(last bool) string {
	if last {
		return "└─ "
	}
	return "├─ "
}

// onCircle walks from a plugin that is not drawn up to a circle and returns where
// to begin with that: all that is not drawn by then is on one or hangs from one,
// since whoever hangs from a drawn plugin is drawn.
func (t *treeDrawing) onCircle(i int) int {
	var walk []int
	for !slices.Contains(walk, i) {
		walk = append(walk, i)
		i = t.edges[t.to[i][0]].provider
	}
	circle := walk[slices.Index(walk, i):]
	slices.Sort(circle)
	// A circle through an optional key holds nobody up: who waits for nobody begins.
	for _, member := range circle {
		if !slices.ContainsFunc(t.to[member], func(edge int) bool { return t.edges[edge].required }) {
			return member
		}
	}
	return circle[0]
}
