package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"os/exec"
	"sort"
	"strings"
	"testing"
)

// module is the import path prefix of every room.
const module = "starling/"

// room is one line of the floor table in docs/architecture.md: the packages
// below a path, and the rooms they may import besides their own.
type room struct {
	path string
	may  []string
}

// rooms is the floor table. The longest path that is a prefix of a package
// decides. "*" is any room.
var rooms = []room{
	{"", []string{"*"}}, // main.go
	{"surfaces/cli", []string{"*"}},
	{"evals", []string{"agent", "agent/harness", "script/scenario", "tools", "trust", "bus"}},
	{"surfaces/tui", []string{"surfaces", "surfaces/markdown", "bus"}},
	{"surfaces/headless", []string{"surfaces", "bus"}},
	{"agent/harness", []string{"agent", "script", "script/scenario", "surfaces", "surfaces/markdown", "surfaces/web", "tools", "trust", "bus"}},
	{"agent", []string{"tools", "trust", "bus"}},
	{"script", []string{"surfaces", "tools", "trust", "bus"}},
	{"script/scenario", []string{"script", "tools", "trust", "bus"}},
	{"tools", []string{"trust", "bus"}},
	{"surfaces", []string{"bus"}},
	{"surfaces/markdown", []string{"surfaces", "bus"}},
	{"surfaces/web", []string{"surfaces", "bus"}},
	{"trust", []string{"bus"}},
	{"bus", nil},
	{"examples", []string{"*"}},
}

// fence keeps a library inside the rooms that own it.
type fence struct {
	imported string // path or prefix ending in "/"
	rooms    []string
}

var fences = []fence{
	{"go.starlark.net/", []string{"script"}},
	{"github.com/rivo/tview", []string{"surfaces/tui"}},
	{"github.com/gdamore/tcell/", []string{"surfaces/tui"}},
	{"github.com/urfave/cli/", []string{"surfaces/cli"}},
	{"github.com/fsnotify/fsnotify", []string{"script/watch"}},
	{"github.com/nats-io/", []string{"evals/queue"}},
	{"mvdan.cc/sh/", []string{"trust/command"}},
	{"github.com/yuin/goldmark", []string{"tests"}},
	{"net/http", []string{"agent/provider", "agent/model", "tools/fetch", "tools/mcp", "script/bind"}},
}

type goPackage struct {
	ImportPath, Name string
	Standard         bool
	Imports          []string
}

// TestHouse holds the floor table and the library fences: an arrow only points
// down, and a library stays in its room.
func TestHouse(t *testing.T) {
	all := listPackages(t)
	ours := 0
	for _, p := range all {
		if !inModule(p.ImportPath) {
			continue
		}
		ours++
		from := strings.TrimPrefix(strings.TrimPrefix(p.ImportPath, "starling"), "/")
		for _, imported := range p.Imports {
			if edge := breaks(from, imported, all); edge != "" {
				t.Errorf("%s imports %s: %s", p.ImportPath, imported, edge)
			}
		}
	}
	if ours < 20 {
		t.Fatalf("only %d packages of ours were seen; the fence would hold nothing", ours)
	}
}

// TestHouseNamesTheEdge proves the fence on edges that must not exist.
func TestHouseNamesTheEdge(t *testing.T) {
	all := map[string]goPackage{"fmt": {ImportPath: "fmt", Standard: true}}
	for _, c := range []struct{ from, imported, want string }{
		{"bus", "starling/trust", "room bus may not import room trust"},
		{"bus/compose", "github.com/google/go-cmp/cmp", "bus uses the standard library only"},
		{"script/bind", "starling/surfaces/tui", "room script may not import room surfaces/tui"},
		{"agent", "starling/script", "room agent may not import room script"},
		{"agent", "go.starlark.net/starlark", "belongs to script"},
		{"surfaces/tui", "starling/agent/harness", "room surfaces/tui may not import room agent/harness"},
		{"trust", "net/http", "belongs to agent/provider"},
	} {
		if got := breaks(c.from, c.imported, all); !strings.Contains(got, c.want) {
			t.Errorf("%s -> %s: got %q, want %q in it", c.from, c.imported, got, c.want)
		}
	}
	if got := breaks("agent/harness", "starling/script/bind", all); got != "" {
		t.Errorf("an allowed edge was refused: %s", got)
	}
}

func inModule(path string) bool { return path == "starling" || strings.HasPrefix(path, module) }

// breaks returns why the import must not be, or "".
func breaks(from, imported string, all map[string]goPackage) string {
	for _, f := range fences {
		if imported != f.imported && !(strings.HasSuffix(f.imported, "/") && strings.HasPrefix(imported, f.imported)) &&
			!strings.HasPrefix(imported, f.imported+"/") {
			continue
		}
		if imported == "net/http/httptrace" {
			continue
		}
		inside := false
		for _, r := range f.rooms {
			inside = inside || from == r || strings.HasPrefix(from, r+"/")
		}
		if !inside {
			return "this library belongs to " + strings.Join(f.rooms, ", ")
		}
	}
	here := roomOf(from)
	if !inModule(imported) {
		if here.path == "bus" && !all[imported].Standard {
			return "bus uses the standard library only"
		}
		return ""
	}
	there := roomOf(strings.TrimPrefix(strings.TrimPrefix(imported, "starling"), "/"))
	if there.path == here.path {
		return ""
	}
	for _, m := range here.may {
		if m == "*" || m == there.path {
			return ""
		}
	}
	return "room " + here.path + " may not import room " + there.path + " (see the floor table in docs/architecture.md)"
}

func roomOf(pkg string) room {
	sorted := append([]room(nil), rooms...)
	sort.Slice(sorted, func(i, j int) bool { return len(sorted[i].path) > len(sorted[j].path) })
	for _, r := range sorted {
		if r.path == "" || pkg == r.path || strings.HasPrefix(pkg, r.path+"/") {
			return r
		}
	}
	return room{}
}

func listPackages(t *testing.T) map[string]goPackage {
	t.Helper()
	out, err := exec.Command("go", "list", "-deps", "-json=ImportPath,Name,Standard,Imports", "./...").Output()
	if err != nil {
		var exit *exec.ExitError
		if errors.As(err, &exit) {
			t.Fatalf("go list: %v\n%s", err, exit.Stderr)
		}
		t.Fatal(err)
	}
	all := map[string]goPackage{}
	for dec := json.NewDecoder(bytes.NewReader(out)); ; {
		var p goPackage
		if err := dec.Decode(&p); errors.Is(err, io.EOF) {
			return all
		} else if err != nil {
			t.Fatal(err)
		}
		all[p.ImportPath] = p
	}
}
