package cli

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"starling/bus/compose"
	"starling/bus/spec"
	"starling/bus/view"
)

// graphText draws who waits for whom, in roster order: as a tree, as a Mermaid
// flowchart or as DOT. The registries of the host, which everybody may use, are
// left out unless all is set. An unknown format is an error.
func graphText(plugins []view.Plugin, format string, all bool) (string, error) {
	g := newPluginGraph(plugins, all)
	switch format {
	case "tree", "":
		return graphTree(g), nil
	case "mermaid":
		return graphMermaid(g), nil
	case "dot":
		return graphDOT(g), nil
	}
	return "", fmt.Errorf("--format %s: there is tree, mermaid and dot", view.CleanLine(format))
}

// pluginGraph is who could serve whom, by the declarations. Realms are not in the
// rows: where several plugins serve one key, each in its own, all are shown.
type pluginGraph struct {
	nodes []pluginNode
	edges []pluginEdge
	from  [][]int // edges of a provider
	to    [][]int // edges of a consumer
}

type pluginNode struct {
	name, state, reason string
	missing             []string // keys as declared that nobody provides
}

// pluginEdge is all that one plugin needs of another.
type pluginEdge struct {
	provider, consumer int
	keys               []string // as declared: "key?" is optional
	required           bool     // one of the keys is waited for
}

func newPluginGraph(plugins []view.Plugin, all bool) *pluginGraph {
	g := &pluginGraph{}
	providers := map[string][]int{}
	for i, p := range plugins {
		name := view.CleanLine(p.Name)
		g.nodes = append(g.nodes, pluginNode{name: name, state: view.CleanLine(p.State), reason: view.CleanLine(p.Reason)})
		for _, key := range p.Provides {
			providers[key] = append(providers[key], i)
		}
	}
	for key, claim := range providers {
		providers[key] = serving(plugins, claim)
	}
	host := -1
	if all {
		host = g.addHost(plugins)
	}
	for consumer, p := range plugins {
		for _, declared := range p.Inject {
			key, optional := strings.CutSuffix(declared, "?")
			from := providers[key]
			switch {
			case slices.Contains(spec.HostKeys, key):
				if host < 0 {
					continue
				}
				from = []int{host}
			case len(from) == 0 && (optional || unserved(p, key)):
				g.nodes[consumer].missing = append(g.nodes[consumer].missing, view.CleanLine(declared))
			}
			for _, provider := range from {
				g.connect(provider, consumer, view.CleanLine(declared), !optional)
			}
		}
	}
	g.index()
	return g
}

// addHost makes sure that the provider of the registries has a node.
func (g *pluginGraph) addHost(plugins []view.Plugin) int {
	if i := slices.IndexFunc(plugins, func(p view.Plugin) bool { return p.Origin == "host" }); i >= 0 {
		return i
	}
	g.nodes = append(g.nodes, pluginNode{name: "(host)", state: string(compose.Active)})
	return len(g.nodes) - 1
}

// connect adds a key to the edge between two plugins. The edges of one consumer
// are made one after another, so its edge is among the last ones.
func (g *pluginGraph) connect(provider, consumer int, key string, required bool) {
	for i := len(g.edges) - 1; i >= 0 && g.edges[i].consumer == consumer; i-- {
		if e := &g.edges[i]; e.provider == provider {
			if !slices.Contains(e.keys, key) {
				e.keys = append(e.keys, key)
			}
			e.required = e.required || required
			return
		}
	}
	g.edges = append(g.edges, pluginEdge{provider, consumer, []string{key}, required})
}

func (g *pluginGraph) index() {
	slices.SortStableFunc(g.edges, func(a, b pluginEdge) int {
		return cmp.Or(cmp.Compare(a.provider, b.provider), cmp.Compare(a.consumer, b.consumer))
	})
	g.from, g.to = make([][]int, len(g.nodes)), make([][]int, len(g.nodes))
	for i, e := range g.edges {
		g.from[e.provider] = append(g.from[e.provider], i)
		g.to[e.consumer] = append(g.to[e.consumer], i)
	}
}

// serving returns, of those that claim a key, the ones nearest to serving it: a
// plugin that lost a conflict does not stand beside the one that won it.
func serving(plugins []view.Plugin, claim []int) []int {
	best := slices.MinFunc(claim, func(a, b int) int { return cmp.Compare(distance(plugins[a]), distance(plugins[b])) })
	return slices.DeleteFunc(slices.Compact(slices.Clone(claim)), func(i int) bool {
		return distance(plugins[i]) > distance(plugins[best])
	})
}

// distance is how far a plugin is from serving what it provides.
func distance(p view.Plugin) int {
	switch compose.State(p.State) {
	case compose.Active:
		return 0
	case compose.Failed:
		return 3
	case compose.Inactive:
		return 4
	}
	if strings.HasPrefix(p.Reason, "conflict: ") {
		return 2
	}
	return 1
}

// unserved tells whether p lacks a key that no listed plugin provides. A plugin
// that got as far as its apply, or waits for other keys only, has it from the
// host.
func unserved(p view.Plugin, key string) bool {
	switch compose.State(p.State) {
	case compose.Active, compose.Loading, compose.Unloading, compose.Failed:
		return false
	}
	waits, ok := strings.CutPrefix(p.Reason, "waiting for ")
	if !ok || compose.State(p.State) != compose.Pending {
		return true
	}
	for part := range strings.SplitSeq(waits, ", ") {
		if rest, ok := strings.CutPrefix(part, key); ok && (rest == "" || rest[0] == ':' || rest[0] == ' ') {
			return true
		}
	}
	return false
}

// title is a node in one line: what is active goes without saying.
func (n pluginNode) title() string {
	if n.state == string(compose.Active) || n.state == "" {
		return n.name
	}
	if n.reason == "" {
		return n.name + " (" + n.state + ")"
	}
	return n.name + " (" + n.state + ": " + n.reason + ")"
}

// cycle returns the names of a shortest circle that begins with the edge e, by
// required keys: who waits for whom, from its first plugin in roster order on.
// It is empty when there is none.
func (g *pluginGraph) cycle(e pluginEdge) string {
	if !e.required {
		return ""
	}
	// From the provider on, along what it waits for, back to the consumer.
	via := map[int]int{e.provider: e.provider}
	for queue := []int{e.provider}; len(queue) > 0; queue = queue[1:] {
		at := queue[0]
		if at == e.consumer {
			break
		}
		for _, i := range g.to[at] {
			next := g.edges[i]
			if _, seen := via[next.provider]; next.required && !seen {
				via[next.provider] = at
				queue = append(queue, next.provider)
			}
		}
	}
	if _, closed := via[e.consumer]; !closed {
		return ""
	}
	path := []int{e.consumer} // backwards: each waits for the one before it
	for at := e.consumer; at != e.provider; {
		at = via[at]
		path = append(path, at)
	}
	slices.Reverse(path)
	first := slices.Index(path, slices.Min(path))
	var text strings.Builder
	text.WriteString("cycle: ")
	for i := range path {
		text.WriteString(g.nodes[path[(first+i)%len(path)]].name + " -> ")
	}
	return text.String() + g.nodes[path[first]].name
}
