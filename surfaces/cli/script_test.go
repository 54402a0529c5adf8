package cli_test

import (
	"encoding/json"
	"errors"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"strconv"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"starling/surfaces/cli"
)

func TestMain(m *testing.M) {
	programs := map[string]func(){
		"starling": func() { os.Exit(cli.Main(os.Args, cli.System())) },
	}
	maps.Copy(programs, morePrograms)
	testscript.Main(m, programs)
}

// morePrograms are programs of some systems only.
var morePrograms = map[string]func(){}

// TestExamplesAreRun holds that no example is left out: each has a script of its kind
// that runs it.
func TestExamplesAreRun(t *testing.T) {
	var all strings.Builder
	scripts, err := filepath.Glob("testdata/script/example_*.txtar")
	if err != nil || len(scripts) == 0 {
		t.Fatal(len(scripts), err)
	}
	for _, path := range scripts {
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		all.Write(text)
	}
	examples, err := filepath.Glob("../../examples/plugins/*.star")
	if err != nil || len(examples) == 0 {
		t.Fatal(len(examples), err)
	}
	for _, path := range examples {
		if name := filepath.Base(path); !strings.Contains(all.String(), "$EXAMPLES/"+name) {
			t.Errorf("no testdata/script/example_*.txtar runs %s: write one, or the example proves nothing", name)
		}
	}
}

// TestScripts runs every file of testdata/script against the real program.
func TestScripts(t *testing.T) {
	repo, err := filepath.Abs("../..")
	if err != nil {
		t.Fatal(err)
	}
	testscript.Run(t, testscript.Params{
		Dir:                 "testdata/script",
		RequireExplicitExec: true,
		RequireUniqueNames:  true,
		UpdateScripts:       os.Getenv("UPDATE_SCRIPTS") != "",
		Cmds: map[string]func(*testscript.TestScript, bool, []string){
			"exits": exits, "listed": listed, "jsonlines": jsonlines, "field": field, "hold": hold,
		},
		Setup: func(env *testscript.Env) error {
			env.Setenv("HOME", filepath.Join(env.WorkDir, "home"))
			env.Setenv("EXAMPLES", filepath.Join(repo, "examples", "plugins"))
			return os.MkdirAll(filepath.Join(env.WorkDir, "home"), 0o755)
		},
	})
}

// exits runs a command and checks its exit status: exits CODE PROGRAM ARGS…
func exits(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: exits CODE PROGRAM ARGS…")
	}
	want, err := strconv.Atoi(args[0])
	ts.Check(err)
	got := 0
	if err := ts.Exec(args[1], args[2:]...); err != nil {
		var failed *exec.ExitError
		if !errors.As(err, &failed) {
			ts.Fatalf("%v", err)
		}
		got = failed.ExitCode()
	}
	if got != want {
		ts.Fatalf("exit status %d, want %d", got, want)
	}
}

// listed checks one field of one plugin in the JSON listing of the last command:
// listed NAME FIELD VALUE, the value as JSON or else as plain text. With !, the
// plugin is not listed.
func listed(ts *testscript.TestScript, neg bool, args []string) {
	var listing struct {
		Plugins []map[string]any `json:"plugins"`
	}
	if err := json.Unmarshal([]byte(ts.ReadFile("stdout")), &listing); err != nil {
		ts.Fatalf("stdout is no listing: %v", err)
	}
	var row map[string]any
	for _, r := range listing.Plugins {
		if r["name"] == args[0] {
			if row != nil {
				ts.Fatalf("plugin %s is listed twice", args[0])
			}
			row = r
		}
	}
	switch {
	case neg && (row != nil || len(args) != 1):
		ts.Fatalf("usage: ! listed NAME; %s is listed: %v", args[0], row != nil)
	case neg:
		return
	case row == nil || len(args) != 3:
		ts.Fatalf("usage: listed NAME FIELD VALUE; %s is listed: %v", args[0], row != nil)
	}
	var want any = args[2]
	if err := json.Unmarshal([]byte(args[2]), &want); err != nil {
		want = args[2]
	}
	if got := row[args[1]]; !reflect.DeepEqual(got, want) {
		ts.Fatalf("plugin %s: %s is %#v, want %#v", args[0], args[1], got, want)
	}
}
