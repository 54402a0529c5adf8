package docs_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	pathpkg "path"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"starling/bus/compose"
	"starling/bus/event"
)

const architecture = "docs/architecture.md"

// literalRows returns the string literals of each element of a table in
// house_test.go.
func literalRows(t *testing.T, name string) [][]string {
	t.Helper()
	file, err := parser.ParseFile(token.NewFileSet(), filepath.Join("..", "house_test.go"), nil, 0)
	if err != nil {
		t.Fatal(err)
	}
	var all [][]string
	ast.Inspect(file, func(n ast.Node) bool {
		spec, ok := n.(*ast.ValueSpec)
		if !ok || spec.Names[0].Name != name || len(spec.Values) != 1 {
			return true
		}
		for _, e := range spec.Values[0].(*ast.CompositeLit).Elts {
			var row []string
			ast.Inspect(e, func(n ast.Node) bool {
				if lit, ok := n.(*ast.BasicLit); ok && lit.Kind == token.STRING {
					text, err := strconv.Unquote(lit.Value)
					if err != nil {
						t.Fatal(err)
					}
					row = append(row, text)
				}
				return true
			})
			all = append(all, row)
		}
		return false
	})
	if len(all) == 0 {
		t.Fatalf("house_test.go holds no table %s", name)
	}
	return all
}

// TestFloorTables: the tables are those the house test holds.
func TestFloorTables(t *testing.T) {
	var want, got [][]string
	for _, room := range literalRows(t, "rooms") {
		if room[0] == "" {
			room[0] = "main.go"
		}
		want = append(want, room)
	}
	want = append(want, literalRows(t, "fences")...)
	for _, cells := range rows(section(t, page(t, architecture), "Floors")) {
		row := []string{strings.Trim(cells[0], "`")}
		if cells[1] == "any room" {
			row = append(row, "*")
		} else {
			row = append(row, spans(cells[1])...)
		}
		got = append(got, row)
	}
	if !slices.EqualFunc(got, want, slices.Equal[[]string]) {
		t.Errorf("the tables hold\n%q\nhouse_test.go holds\n%q", got, want)
	}
}

// TestTree: every package stands in the tree, and nothing else does.
func TestTree(t *testing.T) {
	var parents []string // by depth
	shown := map[string]bool{}
	for _, line := range strings.Split(blocks(section(t, page(t, architecture), "Rooms"))[0].text, "\n") {
		name := strings.TrimLeft(line, " ")
		depth := (len(line) - len(name)) / 2
		if name, _, _ = strings.Cut(name, " "); strings.HasSuffix(name, "/") {
			parents = append(parents[:depth], strings.TrimSuffix(name, "/"))
			shown[strings.Join(parents, "/")] = true
		}
	}
	packages := sources(t)
	for dir := range packages {
		if !shown[dir] {
			t.Errorf("%s is not in the tree", dir)
		}
	}
	for dir := range shown {
		if packages[dir] == 0 && dir != "examples" && dir != "docs" {
			t.Errorf("the tree shows %s, which holds no package", dir)
		}
	}
}

// sources counts the Go files of every folder of the repository but the root, tests
// left out.
func sources(t *testing.T) map[string]int {
	t.Helper()
	files := map[string]int{}
	err := fs.WalkDir(os.DirFS(".."), ".", func(path string, e fs.DirEntry, err error) error {
		switch dir := pathpkg.Dir(path); {
		case err != nil:
			return err
		case e.IsDir() && path != "." && (e.Name() == "testdata" || strings.HasPrefix(e.Name(), ".")):
			return fs.SkipDir
		case dir != "." && strings.HasSuffix(path, ".go") && !strings.HasSuffix(path, "_test.go"):
			files[dir]++
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return files
}

var place = regexp.MustCompile(`^([a-z0-9_/]+\.go): ([A-Za-z.]+)$`)

// declares tells whether a file declares a function; Type.Method names a method.
func declares(t *testing.T, path, name string) bool {
	t.Helper()
	file, err := parser.ParseFile(token.NewFileSet(), filepath.Join("..", filepath.FromSlash(path)), nil, 0)
	if err != nil {
		t.Errorf("%s: %v", path, err)
		return true
	}
	for _, d := range file.Decls {
		fn, ok := d.(*ast.FuncDecl)
		if !ok {
			continue
		}
		full := fn.Name.Name
		if fn.Recv != nil {
			full = receiver(fn.Recv.List[0].Type) + "." + full
		}
		if full == name {
			return true
		}
	}
	return false
}

func receiver(x ast.Expr) string {
	switch x := x.(type) {
	case *ast.StarExpr:
		return receiver(x.X)
	case *ast.IndexExpr:
		return receiver(x.X)
	case *ast.IndexListExpr:
		return receiver(x.X)
	case *ast.Ident:
		return x.Name
	}
	return ""
}

// TestPlaces: every file and function a page names is there.
func TestPlaces(t *testing.T) {
	checked := 0
	for _, name := range pages(t) {
		for _, span := range spans(page(t, name)) {
			m := place.FindStringSubmatch(span)
			if m == nil {
				continue
			}
			checked++
			if !declares(t, m[1], m[2]) {
				t.Errorf("%s: %s does not declare %s", name, m[1], m[2])
			}
		}
	}
	if checked < 60 {
		t.Fatalf("only %d places were seen", checked)
	}
}

// TestSteps: ten steps each, and each names a file and a function.
func TestSteps(t *testing.T) {
	for _, heading := range []string{"A prompt in ten steps", "A terminal session in ten steps", "A plugin in ten steps", "A reload in ten steps"} {
		text := section(t, page(t, architecture), heading)
		steps := regexp.MustCompile(`(?m)^\d+\. `).Split(text, -1)[1:]
		if len(steps) != 10 {
			t.Errorf("%s: %d steps", heading, len(steps))
		}
		for i, step := range steps {
			named := 0
			for _, span := range spans(step) {
				if place.MatchString(span) {
					named++
				}
			}
			if named == 0 {
				t.Errorf("%s: step %d names no file and function", heading, i+1)
			}
		}
	}
}

// TestStates: the table has the states of a mount.
func TestStates(t *testing.T) {
	var got []string
	for _, cells := range rows(section(t, page(t, architecture), "States of a mount")) {
		got = append(got, strings.Trim(cells[0], "`"))
	}
	var want []string
	for _, s := range []compose.State{compose.Pending, compose.Loading, compose.Active, compose.Unloading, compose.Failed, compose.Inactive} {
		want = append(want, string(s))
	}
	if !slices.Equal(got, want) {
		t.Errorf("states %q, want %q", got, want)
	}
}

// anywhere are the events without a place in a run's order.
var anywhere = []string{event.Notice.Name(), event.Tick.Name(), event.ProviderError.Name(), event.ProcessExit.Name(), event.FileChange.Name()}

// eventOrder are the events in the order the page gives.
func eventOrder(t *testing.T) []string {
	t.Helper()
	var order []string
	for _, line := range strings.Split(blocks(section(t, page(t, architecture), "The order of events in a run"))[0].text, "\n") {
		if fields := strings.Fields(line); len(fields) > 0 {
			order = append(order, fields[0])
		}
	}
	return order
}

// TestEventOrderIsWhole: the page gives every event its place.
func TestEventOrderIsWhole(t *testing.T) {
	got := append(eventOrder(t), anywhere...)
	slices.Sort(got)
	for _, name := range anywhere {
		if !slices.Contains(spans(section(t, page(t, architecture), "The order of events in a run")), name) {
			t.Errorf("%s has no word", name)
		}
	}
	if !slices.Equal(got, event.Names()) {
		t.Errorf("events %q, want %q", got, event.Names())
	}
}
