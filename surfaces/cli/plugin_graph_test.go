package cli

import (
	"fmt"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"starling/bus/view"
)

// row is a plugin by "STATE: reason", the keys it needs and those it provides.
func row(name, state, needs, provides string) view.Plugin {
	p := view.Plugin{Name: name, State: state, Inject: strings.Fields(needs), Provides: strings.Fields(provides)}
	if s, reason, ok := strings.Cut(state, ": "); ok {
		p.State, p.Reason = s, reason
	}
	return p
}

func draw(t *testing.T, plugins []view.Plugin, format string, all bool) string {
	t.Helper()
	text, err := graphText(plugins, format, all)
	if err != nil {
		t.Fatal(err)
	}
	return text
}

func TestGraphTree(t *testing.T) {
	const ring = "pending: cycle: alpha -> beta -> gamma -> alpha"
	for _, c := range []struct {
		name    string
		plugins []view.Plugin
		all     bool
		want    string
	}{
		{name: "none", want: "no plugins\n"},
		{name: "alone", plugins: []view.Plugin{row("alpha", "active", "", "a")}, want: "alpha\n"},
		{name: "chain", plugins: []view.Plugin{
			row("gamma", "active", "b", ""), row("beta", "active", "a", "b"), row("alpha", "active", "", "a"),
		}, want: `
alpha
└─ [a] beta
   └─ [b] gamma
`},
		{name: "star", plugins: []view.Plugin{
			row("hub", "active", "", "one two"), row("a", "active", "one two", ""),
			row("b", "active", "two", "b"), row("c", "active", "b two", ""),
		}, want: `
hub
├─ [one, two] a
├─ [two] b
│  └─ [b] c
└─ [two] c (above)
`},
		{name: "ring of three", plugins: []view.Plugin{
			row("alpha", ring, "b", "a"), row("beta", ring, "c", "b"), row("gamma", ring, "a", "c"),
			row("after", "pending: waiting for c", "c", ""), row("apart", "active", "", ""),
		}, want: `
apart
alpha (pending: cycle: alpha -> beta -> gamma -> alpha)
└─ [a] gamma (pending: cycle above)
   ├─ [c] beta (pending: cycle above)
   │  └─ [b] alpha (cycle above)
   └─ [c] after (pending: waiting for c)
`},
		{name: "a ring nobody has named yet, and who hangs from it first", plugins: []view.Plugin{
			row("aside", "pending: waiting for b", "b", ""), row("beta", "loading", "c", "b"), row("gamma", "pending", "b", "c"),
		}, want: `
beta (loading)
├─ [b] aside (pending: waiting for b)
└─ [b] gamma (pending)
   └─ [c] beta (cycle: beta -> gamma -> beta)
`},
		{name: "through itself", plugins: []view.Plugin{row("alpha", "pending: cycle: alpha -> alpha", "a", "a")}, want: `
alpha (pending: cycle: alpha -> alpha)
└─ [a] alpha (cycle above)
`},
		{name: "a ring with an optional key holds nobody up", plugins: []view.Plugin{
			row("alpha", "active", "b", "a"), row("beta", "active", "a?", "b"),
		}, want: `
beta
└─ [b] alpha
   └─ [a?] beta (above)
`},
		{name: "conflict", plugins: []view.Plugin{
			row("alpha", "active", "", "shell"),
			row("beta", `pending: conflict: "shell" is provided by alpha`, "", "shell"),
			row("user", "active", "shell", ""),
		}, want: `
alpha
└─ [shell] user
beta (pending: conflict: "shell" is provided by alpha)
`},
		{name: "the winner waits as well", plugins: []view.Plugin{
			row("alpha", "pending: waiting for x", "x", "shell"),
			row("beta", `pending: conflict: "shell" is provided by alpha (waiting for x)`, "", "shell"),
			row("user", "pending: waiting for shell", "shell", ""),
		}, want: `
alpha (pending: waiting for x)
├─ [shell] user (pending: waiting for shell)
└─ needs [x]: missing
beta (pending: conflict: "shell" is provided by alpha (waiting for x))
`},
		{name: "missing", plugins: []view.Plugin{
			row("alpha", "pending: waiting for board, shell (provided only in realm \"x\")", "board memory shell todos?", "a"),
			row("beta", "active", "memory", ""), // of the host
			row("off", "inactive: not approved", "board", ""),
			row("broken", "failed: apply: broken.star:1:2: no", "memory", ""),
		}, want: `
alpha (pending: waiting for board, shell (provided only in realm "x"))
├─ needs [board]: missing
├─ needs [shell]: missing
└─ needs [todos?]: missing
beta
off (inactive: not approved)
└─ needs [board]: missing
broken (failed: apply: broken.star:1:2: no)
`},
		{name: "optional", plugins: []view.Plugin{
			row("nag", "active", "todos?", ""), row("todos", "active", "", "todos"), row("both", "active", "todos? todos", ""),
		}, want: `
todos
├─ [todos?] nag
└─ [todos?, todos] both
`},
		{name: "two providers, each in its realm", plugins: []view.Plugin{
			row("one", "active", "", "shell"), row("two", "active", "", "shell"), row("user", "active", "shell", "u"), row("next", "active", "u", ""),
		}, want: `
one
└─ [shell] user
   └─ [u] next
two
└─ [shell] user (above)
`},
		{name: "what is switched off or failed provides last", plugins: []view.Plugin{
			row("off", "inactive: switched off in plugins.json", "", "shell"), row("failed", "failed: apply: no", "", "shell"),
			row("user", "pending: waiting for shell", "shell", ""),
		}, want: `
off (inactive: switched off in plugins.json)
failed (failed: apply: no)
└─ [shell] user (pending: waiting for shell)
`},
		{name: "host registries are left out", plugins: []view.Plugin{row("alpha", "active", "tools commands? surfaces gates strategies evals", "")}, want: "alpha\n"},
		{name: "unless asked", all: true, plugins: []view.Plugin{
			row("alpha", "active", "tools commands?", "a"), row("beta", "active", "a gates", ""), row("thief", "failed: no", "", "tools"),
		}, want: `
thief (failed: no)
(host)
├─ [tools, commands?] alpha
│  └─ [a] beta
└─ [gates] beta (above)
`},
		{name: "the host itself is listed", all: true, plugins: []view.Plugin{
			{Name: "host", Origin: "host", State: "active", Provides: []string{"tools"}}, row("alpha", "active", "tools", ""),
		}, want: `
host
└─ [tools] alpha
`},
		{name: "names", plugins: []view.Plugin{
			row("дрозд", "active", "", "ключ"), row("a\x1b[31m\"b\nc", "pending: waiting \x07for\t漢字", "ключ 漢字\u202e", ""),
		}, want: `
дрозд
└─ [ключ] a"b c (pending: waiting for 漢字)
   └─ needs [漢字]: missing
`},
	} {
		t.Run(c.name, func(t *testing.T) {
			if d := cmp.Diff(strings.TrimPrefix(c.want, "\n"), draw(t, c.plugins, "tree", c.all)); d != "" {
				t.Errorf("(-want +got)\n%s", d)
			}
		})
	}
}

// hostile has something of everything, and names that mean something to Mermaid
// and DOT.
var hostile = []view.Plugin{
	row("todos", "active", "tools", "todos"),
	row(`a"]; x %%{init}%% <b>&`, "pending: waiting for board, \"x\\n\"", "todos? board \"x\\n\"", "n"),
	row("漢字", "pending: waiting for n", "n todos board?", ""),
}

func TestGraphMermaid(t *testing.T) {
	want := `flowchart LR
  p0["todos"]
  p1["a#34;#93;#59; x #37;#37;#123;init#125;#37;#37; #60;b#62;#38;<br/>pending<br/>waiting for board, #34;x#92;n#34;"]:::waits
  p2["漢字<br/>pending<br/>waiting for n"]:::waits
  p1 -.->|"todos?"| p0
  p2 -->|"todos"| p0
  p2 -->|"n"| p1
  m0(["board<br/>missing"]):::waits
  m1(["#34;x#92;n#34;<br/>missing"]):::waits
  p1 -->|"board"| m0
  p1 -->|"#34;x#92;n#34;"| m1
  p2 -.->|"board?"| m0
  classDef waits stroke-dasharray: 4 3
`
	if d := cmp.Diff(want, draw(t, hostile, "mermaid", false)); d != "" {
		t.Errorf("(-want +got)\n%s", d)
	}
}

func TestGraphDOT(t *testing.T) {
	want := `digraph plugins {
  rankdir=LR
  node [shape=box]
  p0 [label="todos"]
  p1 [label="a\"]; x %%{init}%% <b>&amp;\npending\nwaiting for board, \"x\\n\"", style=dashed]
  p2 [label="漢字\npending\nwaiting for n", style=dashed]
  p3 [label="(host)"]
  p1 -> p0 [label="todos?", style=dashed]
  p2 -> p0 [label="todos"]
  p2 -> p1 [label="n"]
  p0 -> p3 [label="tools"]
  m0 [label="board\nmissing", shape=ellipse, style=dashed]
  m1 [label="\"x\\n\"\nmissing", shape=ellipse, style=dashed]
  p1 -> m0 [label="board"]
  p1 -> m1 [label="\"x\\n\""]
  p2 -> m0 [label="board?", style=dashed]
}
`
	if d := cmp.Diff(want, draw(t, hostile, "dot", true)); d != "" {
		t.Errorf("(-want +got)\n%s", d)
	}
}

func TestGraphFormat(t *testing.T) {
	if draw(t, hostile, "", false) != draw(t, hostile, "tree", false) {
		t.Error("without a format it is no tree")
	}
	if _, err := graphText(nil, "svg\x1b[31m", false); err == nil || err.Error() != "--format svg: there is tree, mermaid and dot" {
		t.Errorf("got %v", err)
	}
}

func TestGraphOfManyIsTheSameEachTime(t *testing.T) {
	var plugins []view.Plugin
	for i := range 200 {
		needs := ""
		for d := 2; d < 5 && i >= d; d++ {
			needs += fmt.Sprintf(" k%d k%d?", i/d, i-d)
		}
		plugins = append(plugins, row(fmt.Sprint("plugin", i), "active", needs, fmt.Sprintf("k%d x%d", i, i%7)))
	}
	for _, format := range []string{"tree", "mermaid", "dot"} {
		first := draw(t, plugins, format, true)
		for range 10 {
			if draw(t, plugins, format, true) != first {
				t.Fatalf("%s differs", format)
			}
		}
		if n := strings.Count(first, "plugin"); n < 200 {
			t.Errorf("%s names %d plugins", format, n)
		}
	}
}

// Whatever the roster: each plugin is drawn once, each edge has its line, and
// nothing that steers a terminal comes through.
func TestGraphProperty(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		keys := []string{"a", "b", "c", "d", "e", "tools"}
		var plugins []view.Plugin
		for i := range rapid.IntRange(1, 9).Draw(t, "plugins") {
			p := view.Plugin{Name: fmt.Sprintf("<%d>", i), State: rapid.SampledFrom([]string{"active", "pending", "failed", "inactive"}).Draw(t, "state")}
			p.Reason = rapid.SampledFrom([]string{"", "waiting for a, c", "conflict: \"a\" is provided by x", "\x1b[1mbold\n"}).Draw(t, "reason")
			p.Provides = rapid.SliceOfNDistinct(rapid.SampledFrom(keys[:5]), 0, 3, rapid.ID).Draw(t, "provides")
			for _, key := range rapid.SliceOfNDistinct(rapid.SampledFrom(keys), 0, 4, rapid.ID).Draw(t, "needs") {
				p.Inject = append(p.Inject, key+rapid.SampledFrom([]string{"", "?"}).Draw(t, "optional"))
			}
			plugins = append(plugins, p)
		}
		all := rapid.Bool().Draw(t, "all")
		g := newPluginGraph(plugins, all)
		missing, roots := 0, 0
		for _, n := range g.nodes {
			missing += len(n.missing)
		}
		tree := graphTree(g)
		lines := strings.Split(strings.TrimSuffix(tree, "\n"), "\n")
		drawn := map[string]int{}
		for _, line := range lines {
			root := !strings.Contains(line, "─ ")
			cut := strings.HasSuffix(line, "(above)") || strings.Contains(line, "> (cycle")
			if root {
				roots++
			}
			if root && cut {
				t.Fatalf("a root is cut:\n%s", tree)
			}
			for _, p := range plugins {
				if !cut && strings.Contains(line, p.Name) {
					drawn[p.Name]++
				}
			}
		}
		if want := len(g.edges) + missing + roots; len(lines) != want {
			t.Fatalf("%d lines for %d edges, %d missing and %d roots:\n%s", len(lines), len(g.edges), missing, roots, tree)
		}
		for _, p := range plugins {
			if drawn[p.Name] != 1 {
				t.Fatalf("%s is drawn %d times:\n%s", p.Name, drawn[p.Name], tree)
			}
		}
		for _, text := range []string{tree, graphMermaid(g), graphDOT(g)} {
			if strings.ContainsAny(text, "\x1b\a\t") || !utf8.ValidString(text) {
				t.Fatalf("%q", text)
			}
		}
	})
}
