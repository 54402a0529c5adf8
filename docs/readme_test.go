package docs_test

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"starling/script"
	"starling/script/bind"
	"starling/surfaces/cli"
)

// session runs a command of the page as it stands there, in a fresh workspace that
// holds the examples, and returns what it wrote, both streams in order.
func session(t *testing.T, command string) string {
	t.Helper()
	workspace := t.TempDir()
	put(t, workspace, "CHANGELOG.md", "- first release\n")
	scenario, err := os.ReadFile(filepath.Join("testdata", "session.star"))
	if err != nil {
		t.Fatal(err)
	}
	put(t, workspace, "session.star", string(scenario))
	if err := os.CopyFS(filepath.Join(workspace, "examples"), os.DirFS(filepath.Join("..", "examples"))); err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	args := words(command)
	code := cli.Main(args, cli.Process{
		Stdin: strings.NewReader(""), Stdout: &out, Stderr: &out, Cwd: workspace, UserHome: t.TempDir(),
		LookupEnv: func(string) (string, bool) { return "", false }, Context: context.Background(),
	})
	if code != 0 {
		t.Errorf("%q ended with status %d", args, code)
	}
	return out.String()
}

// words splits a command line; a part in double quotes is one word.
func words(line string) []string {
	var list []string
	for i, part := range strings.Split(line, `"`) {
		if i%2 == 1 {
			list = append(list, part)
		} else {
			list = append(list, strings.Fields(part)...)
		}
	}
	return list
}

// TestReadmeSessions: what the page shows is what the commands print.
func TestReadmeSessions(t *testing.T) {
	seen := 0
	for _, b := range blocks(page(t, "README.md")) {
		if b.lang != "text" {
			continue
		}
		seen++
		command, want, _ := strings.Cut(strings.TrimPrefix(b.text, "$ "), "\n")
		if got := session(t, command); got != want {
			t.Errorf("line %d: %s\nprints\n%s\nthe page shows\n%s", b.line, command, got, want)
		}
	}
	if seen != 2 {
		t.Errorf("%d sessions were seen, want 2", seen)
	}
}

// TestReadmePlugin: the plugin of the page is one.
func TestReadmePlugin(t *testing.T) {
	i := slices.IndexFunc(blocks(page(t, "README.md")), func(b block) bool { return b.lang == "python" })
	if i < 0 {
		t.Fatal("the page shows no plugin")
	}
	prog, err := script.Parse("changelog", "changelog.star", []byte(blocks(page(t, "README.md"))[i].text))
	if err != nil {
		t.Fatal(err)
	}
	if err := bind.Compile(prog); err != nil {
		t.Error(err)
	}
}
