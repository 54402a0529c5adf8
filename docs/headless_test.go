package docs_test

import (
	"bytes"
	"context"
	"os"
	"regexp"
	"strings"
	"testing"

	"starling/surfaces/cli"
)

var (
	fence = regexp.MustCompile("(?ms)^```(\\w+)\n(.*?)^```$")
	// The page names no session, which differs between runs, and shortens usage.
	sessionID = regexp.MustCompile(`"session":"[^"]*",`)
	usage     = regexp.MustCompile(`"usage":\{[^}]*\}`)
	// oneBlock are deltas of one block: where they are cut is a matter of time.
	oneBlock = regexp.MustCompile(`(?m)^(.*"type":"delta",.*"text":")(.*)"\}\n.*"type":"delta",.*"text":"(.*"\})$`)
)

// TestHeadlessPage runs the example of docs/headless.md: what each command prints
// is what the page shows.
func TestHeadlessPage(t *testing.T) {
	page, err := os.ReadFile("headless.md")
	if err != nil {
		t.Fatal(err)
	}
	_, example, found := strings.Cut(string(page), "## Example")
	if !found {
		t.Fatal("the page has no example")
	}
	blocks := map[string][]string{}
	for _, m := range fence.FindAllStringSubmatch(example, -1) {
		blocks[m[1]] = append(blocks[m[1]], m[2])
	}
	if len(blocks["python"]) != 2 || len(blocks["sh"]) != 2 || len(blocks["json"]) != 2 {
		t.Fatalf("the example has other blocks: %v", blocks)
	}
	workspace := t.TempDir()
	put(t, workspace, "guard.star", blocks["python"][0])
	put(t, workspace, "steps.star", blocks["python"][1])
	for i, command := range blocks["sh"] {
		var out, errs bytes.Buffer
		code := cli.Main(strings.Fields(command), cli.Process{
			Stdin: strings.NewReader(""), Stdout: &out, Stderr: &errs, Cwd: workspace, UserHome: t.TempDir(),
			LookupEnv: func(string) (string, bool) { return "", false }, Context: context.Background(),
		})
		got := sessionID.ReplaceAllString(usage.ReplaceAllString(out.String(), `"usage":{}`), "")
		for oneBlock.MatchString(got) {
			got = oneBlock.ReplaceAllString(got, "$1$2$3")
		}
		if code != 0 || got != blocks["json"][i] {
			t.Errorf("%s: status %d, got\n%s\nthe page shows\n%s\nstderr: %s", command, code, got, blocks["json"][i], errs.String())
		}
	}
}
