package compose

import (
	"slices"
	"strconv"
	"strings"
)

// reason is why a mount is not active, for people; "" when it is.
func (g *graph) reason(m *mount) string {
	switch m.state {
	case Active:
		return ""
	case Inactive:
		return m.c.Off
	case Failed:
		switch {
		case m.c.Broken != nil:
			return m.c.Broken.Error()
		case m.stuck != "":
			return m.stuck
		case m.failure.contradiction != "":
			return m.failure.contradiction
		}
		return m.failure.reason
	}
	if !m.owns {
		for _, b := range m.offers {
			if b.owner == nil || b.owner == m {
				continue
			}
			text := "conflict: " + strconv.Quote(b.key.name) + " is provided by " + b.owner.c.Name
			if b.serving != b.owner {
				text += " (" + g.waitsFor(b.owner) + ")"
			}
			return text
		}
	}
	return g.waitsFor(m)
}

// waitsFor names the cycle or the missing keys of a pending mount.
func (g *graph) waitsFor(m *mount) string {
	if m.cycle != "" {
		return m.cycle
	}
	missing := 0
	for i := range m.needs {
		if m.needs[i].live == nil && m.needs[i].b.serving == nil {
			missing++
		}
	}
	var text strings.Builder
	text.WriteString("waiting for ")
	first := true
	for i := range m.needs {
		n := &m.needs[i]
		if n.live != nil || n.b.serving != nil {
			continue
		}
		if !first {
			text.WriteString(", ")
		}
		first = false
		text.WriteString(n.key)
		if n.b.owner != nil {
			continue
		}
		if where := g.servedIn(n.b.key); where != "" && missing == 1 {
			text.WriteString(": provided only in " + where)
		} else if where != "" {
			text.WriteString(" (provided only in " + where + ")")
		}
	}
	if first {
		return "waiting for its turn"
	}
	return text.String()
}

// servedIn names the realms where a key is served, for a mount in another one.
func (g *graph) servedIn(k *key) string {
	if k.others == nil {
		return ""
	}
	if k.asked == g.publications {
		return k.hint
	}
	var realms []realm
	k.each(func(b *binding) {
		if b.serving != nil {
			realms = append(realms, b.realm)
		}
	})
	slices.SortFunc(realms, func(a, b realm) int {
		if a.before(b) {
			return -1
		}
		return 1
	})
	var names []string
	for _, r := range realms {
		if name := r.where(); !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	k.asked, k.hint = g.publications, strings.Join(names, " and ")
	return k.hint
}

// findCycles names, for every pending mount that waits for itself, the shortest
// cycle through it. It goes by declarations and realms: who owns what is needed.
func (g *graph) findCycles() {
	if len(g.waiting) == 0 {
		return
	}
	list := make([]*mount, 0, len(g.waiting))
	for m := range g.waiting {
		list = append(list, m)
	}
	sortMounts(list)
	index := make(map[*mount]int, len(list))
	for i, m := range list {
		index[m] = i
	}
	next := make([][]int, len(list))
	for i, m := range list {
		for j := range m.needs {
			n := &m.needs[j]
			if n.live != nil || n.b.serving != nil || n.b.owner == nil {
				continue
			}
			if to, ok := index[n.b.owner]; ok {
				next[i] = append(next[i], to)
			}
		}
	}
	named := make([]string, len(list))
	for _, component := range components(next) {
		nameCycles(list, next, component, named)
	}
	for i, m := range list {
		if m.cycle != named[i] {
			m.cycle = named[i]
			g.mark(m)
		}
	}
}

// nameCycles fills in the reasons of one strongly connected component.
func nameCycles(list []*mount, next [][]int, component []int, named []string) {
	if v := component[0]; len(component) == 1 && !slices.Contains(next[v], v) {
		return
	}
	slices.Sort(component)
	inside := make(map[int]bool, len(component))
	edges := 0
	for _, v := range component {
		inside[v] = true
		edges += len(next[v])
	}
	// Dense components have too many cycles to look for each member's own.
	searches, first := 1+1_000_000/(len(component)+edges), ""
	for _, v := range component {
		if named[v] != "" {
			continue
		}
		if searches == 0 {
			named[v] = first
			continue
		}
		searches--
		path := shortest(next, inside, v)
		text := cycleText(list, path)
		if first == "" {
			first = text
		}
		for _, w := range path {
			if named[w] == "" {
				named[w] = text
			}
		}
	}
}

// shortest returns a shortest cycle through v.
func shortest(next [][]int, inside map[int]bool, v int) []int {
	from := map[int]int{}
	for queue := []int{v}; len(queue) > 0; queue = queue[1:] {
		u := queue[0]
		for _, w := range next[u] {
			if w == v {
				path := []int{u}
				for u != v {
					u = from[u]
					path = append(path, u)
				}
				slices.Reverse(path)
				return path
			}
			if _, seen := from[w]; !seen && inside[w] {
				from[w] = u
				queue = append(queue, w)
			}
		}
	}
	return nil
}

// cycleText tells a cycle from its first member in static order on, so that all
// members show the same words.
func cycleText(list []*mount, path []int) string {
	low := 0
	for i := range path {
		if path[i] < path[low] {
			low = i
		}
	}
	var text strings.Builder
	text.WriteString("cycle: ")
	for i := range path {
		text.WriteString(list[path[(low+i)%len(path)]].c.Name + " -> ")
	}
	text.WriteString(list[path[low]].c.Name)
	return text.String()
}

// components finds the strongly connected components (Tarjan), without recursion.
func components(next [][]int) [][]int {
	const unseen = 0
	order, low := make([]int, len(next)), make([]int, len(next))
	on := make([]bool, len(next))
	type frame struct{ v, edge int }
	var stack []int
	var out [][]int
	count := unseen
	for root := range next {
		if order[root] != unseen {
			continue
		}
		frames := []frame{{v: root}}
		for len(frames) > 0 {
			f := &frames[len(frames)-1]
			v := f.v
			if f.edge == 0 && order[v] == unseen {
				count++
				order[v], low[v] = count, count
				stack, on[v] = append(stack, v), true
			}
			if f.edge < len(next[v]) {
				w := next[v][f.edge]
				f.edge++
				if order[w] == unseen {
					frames = append(frames, frame{v: w})
				} else if on[w] {
					low[v] = min(low[v], order[w])
				}
				continue
			}
			frames = frames[:len(frames)-1]
			if len(frames) > 0 {
				up := frames[len(frames)-1].v
				low[up] = min(low[up], low[v])
			}
			if low[v] != order[v] {
				continue
			}
			for i := len(stack) - 1; ; i-- {
				on[stack[i]] = false
				if stack[i] == v {
					out = append(out, slices.Clone(stack[i:]))
					stack = stack[:i]
					break
				}
			}
		}
	}
	return out
}
