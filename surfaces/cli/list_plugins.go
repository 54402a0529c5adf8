package cli

import (
	"encoding/json"
	"fmt"
	"io"
	"strings"

	ucli "github.com/urfave/cli/v2"

	"starling/agent/harness"
	"starling/bus/view"
	"starling/surfaces/headless"
	"starling/surfaces/tui/command"
)

// listPlugins prints every plugin with the state it would reach. It runs
// nothing, asks nothing and ends with status 0.
func listPlugins(c *ucli.Context, p Process, o harness.Options) error {
	o.Screen.Commands = command.Names()
	listing, err := harness.ListPlugins(c.Context, o)
	if err != nil {
		return exit{headless.ExitUsage, err}
	}
	if c.Bool("json") {
		return writeJSON(p.Stdout, listing)
	}
	for _, n := range listing.Notices {
		fmt.Fprintln(p.Stderr, headless.Said(n))
	}
	return writeTable(p.Stdout, listing.Plugins)
}

func writeJSON(w io.Writer, listing any) error {
	enc := json.NewEncoder(w)
	enc.SetIndent("", "  ")
	enc.SetEscapeHTML(false)
	if err := enc.Encode(listing); err != nil {
		return exit{headless.ExitFailed, err}
	}
	return nil
}

func writeTable(w io.Writer, plugins []view.Plugin) error {
	var b strings.Builder
	if len(plugins) == 0 {
		b.WriteString("no plugins\n")
	}
	width := [3]int{}
	for _, pl := range plugins {
		for i, cell := range [3]string{pl.Name, place(pl), pl.State} {
			width[i] = max(width[i], len(cell))
		}
	}
	for _, pl := range plugins {
		line := fmt.Sprintf("%-*s  %-*s  %-*s  %s", width[0], view.CleanLine(pl.Name), width[1], place(pl), width[2], pl.State, view.CleanLine(pl.Reason))
		b.WriteString(strings.TrimRight(line, " ") + "\n")
		detail(&b, "", pl.Description)
		for _, d := range []struct {
			label string
			items []string
		}{
			{"inject", pl.Inject},
			{"provides", pl.Provides},
			{"emits", pl.Emits},
			{"uses", pl.Uses},
			{"registers", pl.Registrations},
			{"note", pl.Notes},
		} {
			detail(&b, d.label+": ", strings.Join(d.items, ", "))
		}
	}
	if _, err := io.WriteString(w, b.String()); err != nil {
		return exit{headless.ExitFailed, fmt.Errorf("stdout: %w", err)}
	}
	return nil
}

// place joins origin and approval; an approved one goes without saying.
func place(pl view.Plugin) string {
	if pl.Approval == "approved" || pl.Approval == "" {
		return pl.Origin
	}
	return pl.Origin + " (" + pl.Approval + ")"
}

func detail(b *strings.Builder, label, text string) {
	if text != "" {
		b.WriteString("    " + label + view.CleanLine(text) + "\n")
	}
}
