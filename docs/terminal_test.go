package docs_test

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"starling/surfaces/cli"
	"starling/surfaces/tui/command"
	"starling/surfaces/tui/input"
)

// TestTerminalPage: the tables of docs/terminal.md are those of the code, and its
// config.json is read without a fault.
func TestTerminalPage(t *testing.T) {
	text := page(t, "docs/terminal.md")
	var want []string
	for _, g := range command.KeyGroups(input.DefaultKeys(), command.DefaultShortcuts()) {
		want = append(want, "### "+g.Title)
		for _, k := range g.Keys {
			row := "| " + k.Keys + " | " + k.Help + " |"
			if k.Action != "" {
				row = "| `" + k.Action + "` " + row
			}
			want = append(want, row)
		}
	}
	lines(t, "Keys", section(t, text, "Keys"), want)
	want = nil
	for _, u := range command.Usages() {
		want = append(want, "| `"+strings.ReplaceAll(u.Line, "|", `\|`)+"` | "+u.Help+" |")
	}
	lines(t, "Commands", section(t, text, "Commands"), want)

	history := section(t, text, "History")
	for _, bound := range []string{fmt.Sprintf("the last %d,", input.HistoryLimit), fmt.Sprintf("more than %d KiB", input.HistoryBytes>>10), "`history.jsonl`"} {
		if !strings.Contains(history, bound) {
			t.Errorf("the history does not say %q", bound)
		}
	}

	settings := section(t, text, "Settings")
	var names []string
	for _, cells := range rows(settings) {
		names = append(names, strings.Trim(cells[0], "`"))
	}
	slices.Sort(names)
	if !slices.Equal(names, cli.SettingNames()) {
		t.Errorf("the table has the settings %q, the code %q", names, cli.SettingNames())
	}
	for _, theme := range command.Themes() {
		if !slices.Contains(spans(settings), theme) {
			t.Errorf("the theme %s is not named", theme)
		}
	}
	shown := blocks(settings)
	if len(shown) != 1 {
		t.Fatalf("%d files are shown", len(shown))
	}
	path := filepath.Join(t.TempDir(), "config.json")
	if err := os.WriteFile(path, []byte(shown[0].text), 0o600); err != nil {
		t.Fatal(err)
	}
	if o, faults := cli.ReadSettings(path); len(faults) > 0 || len(o.Keys) == 0 {
		t.Errorf("the file that is shown: %v", faults)
	}
}

// lines compares headings of level three and rows with those of the code.
func lines(t *testing.T, what, text string, want []string) {
	t.Helper()
	var got []string
	all := strings.Split(text, "\n")
	for i, line := range all {
		head := i+1 < len(all) && strings.HasPrefix(all[i+1], "| ---")
		if strings.HasPrefix(line, "### ") || strings.HasPrefix(line, "| ") && !head && !strings.HasPrefix(line, "| ---") {
			got = append(got, line)
		}
	}
	if !slices.Equal(got, want) {
		t.Errorf("%s: the page has\n%s\nthe code\n%s", what, strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}
