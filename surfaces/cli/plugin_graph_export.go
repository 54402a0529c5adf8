package cli

import (
	"fmt"
	"strings"
	"unicode"

	"starling/bus/compose"
)

// graphMermaid draws a flowchart in which an arrow says "needs"; a dotted one is
// an optional key.
func graphMermaid(g *pluginGraph) string {
	var b strings.Builder
	b.WriteString("flowchart LR\n")
	for i, n := range g.nodes {
		class := ""
		if n.waits() {
			class = ":::waits"
		}
		fmt.Fprintf(&b, "  p%d[\"%s\"]%s\n", i, mermaidLines(n), class)
	}
	for _, e := range g.edges {
		arrow := "-->"
		if !e.required {
			arrow = "-.->"
		}
		fmt.Fprintf(&b, "  p%d %s|\"%s\"| p%d\n", e.consumer, arrow, mermaidText(strings.Join(e.keys, ", ")), e.provider)
	}
	leaves, needs := g.leaves()
	for i, key := range leaves {
		fmt.Fprintf(&b, "  m%d([\"%s<br/>missing\"]):::waits\n", i, mermaidText(key))
	}
	for _, n := range needs {
		arrow := "-->"
		if n.optional {
			arrow = "-.->"
		}
		fmt.Fprintf(&b, "  p%d %s|\"%s\"| m%d\n", n.consumer, arrow, mermaidText(n.key), n.leaf)
	}
	b.WriteString("  classDef waits stroke-dasharray: 4 3\n")
	return b.String()
}

func mermaidLines(n pluginNode) string {
	text := mermaidText(n.name)
	if n.waits() {
		for _, line := range []string{n.state, n.reason} {
			if line != "" {
				text += "<br/>" + mermaidText(line)
			}
		}
	}
	return text
}

// mermaidText leaves nothing in a label that Mermaid could read as its own: also
// a directive in the middle of a text counts there.
func mermaidText(text string) string {
	var b strings.Builder
	for _, r := range text {
		switch {
		case r > unicode.MaxASCII, unicode.IsLetter(r), unicode.IsDigit(r), strings.ContainsRune(" ,.?_/()-", r):
			b.WriteRune(r)
		default:
			fmt.Fprintf(&b, "#%d;", r)
		}
	}
	return b.String()
}

// graphDOT draws a digraph in which an arrow says "needs"; a dashed one is an
// optional key.
func graphDOT(g *pluginGraph) string {
	var b strings.Builder
	b.WriteString("digraph plugins {\n  rankdir=LR\n  node [shape=box]\n")
	for i, n := range g.nodes {
		label, style := dotText(n.name), ""
		if n.waits() {
			style = ", style=dashed"
			for _, line := range []string{n.state, n.reason} {
				if line != "" {
					label += `\n` + dotText(line)
				}
			}
		}
		fmt.Fprintf(&b, "  p%d [label=\"%s\"%s]\n", i, label, style)
	}
	for _, e := range g.edges {
		style := ""
		if !e.required {
			style = ", style=dashed"
		}
		fmt.Fprintf(&b, "  p%d -> p%d [label=\"%s\"%s]\n", e.consumer, e.provider, dotText(strings.Join(e.keys, ", ")), style)
	}
	leaves, needs := g.leaves()
	for i, key := range leaves {
		fmt.Fprintf(&b, "  m%d [label=\"%s\\nmissing\", shape=ellipse, style=dashed]\n", i, dotText(key))
	}
	for _, n := range needs {
		style := ""
		if n.optional {
			style = ", style=dashed"
		}
		fmt.Fprintf(&b, "  p%d -> m%d [label=\"%s\"%s]\n", n.consumer, n.leaf, dotText(n.key), style)
	}
	b.WriteString("}\n")
	return b.String()
}

// dotText quotes for a label: quotes, backslashes (which begin line ends and
// names there) and ampersands (which begin entities).
func dotText(text string) string {
	return strings.NewReplacer(`\`, `\\`, `"`, `\"`, "&", "&amp;").Replace(text)
}

// need is a key that nobody provides, and who needs it.
type need struct {
	consumer, leaf int
	key            string // as declared
	optional       bool
}

// leaves returns the missing services, each once, in the order they are met.
func (g *pluginGraph) leaves() (keys []string, needs []need) {
	index := map[string]int{}
	for i, n := range g.nodes {
		for _, declared := range n.missing {
			key, optional := strings.CutSuffix(declared, "?")
			leaf, met := index[key]
			if !met {
				leaf = len(keys)
				index[key] = leaf
				keys = append(keys, key)
			}
			needs = append(needs, need{i, leaf, declared, optional})
		}
	}
	return keys, needs
}

// waits tells whether a plugin does not serve.
func (n pluginNode) waits() bool { return n.state != string(compose.Active) && n.state != "" }
