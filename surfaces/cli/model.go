package cli

import (
	"fmt"
	"io"

	ucli "github.com/urfave/cli/v2"

	"starling/agent/harness"
	"starling/bus/view"
	"starling/surfaces/headless"
)

// modelCommand is starling model: what can be named with --model.
func modelCommand(p Process) *ucli.Command {
	return &ucli.Command{
		Name: "model", Usage: "list models", HideHelpCommand: true, UsageText: "starling model list [--json]",
		OnUsageError: func(_ *ucli.Context, err error, _ bool) error { return err },
		Subcommands: []*ucli.Command{{
			Name: "list", Usage: "list the models of models.json", HideHelpCommand: true,
			Flags:        []ucli.Flag{&ucli.BoolFlag{Name: "json", Usage: "as JSON", DisableDefaultText: true}},
			OnUsageError: func(_ *ucli.Context, err error, _ bool) error { return err },
			Action: func(c *ucli.Context) error {
				if c.NArg() > 0 {
					return usage("model list takes no argument %q", c.Args().First())
				}
				return listModels(p, c.Bool("json"))
			},
		}},
		Action: func(c *ucli.Context) error {
			if c.NArg() == 0 {
				return usage("model needs a subcommand: list")
			}
			return usage("there is no model subcommand %q; there is list (a prompt goes behind -p)", c.Args().First())
		},
	}
}

// modelRow is a model in model list --json; its fields are documented in
// docs/models.md.
type modelRow struct {
	ID        string     `json:"id"` // what --model takes
	Name      string     `json:"name"`
	Provider  string     `json:"provider"`
	Reasoning bool       `json:"reasoning"`
	Cost      *modelCost `json:"cost,omitempty"`     // nil when the price is not known
	Unusable  string     `json:"unusable,omitempty"` // why it cannot be asked
}

// modelCost is a price in US dollars per million tokens.
type modelCost struct {
	Input  float64 `json:"input"`
	Output float64 `json:"output"`
}

func listModels(p Process, asJSON bool) error {
	list, faults := harness.Models(pluginOptions(p))
	if faults != nil {
		fmt.Fprintln(p.Stderr, headless.Said(faults.Error()))
	}
	rows := make([]modelRow, len(list))
	for i, m := range list {
		rows[i] = modelRow{ID: m.ID, Name: m.Name, Provider: m.Provider, Reasoning: m.Reasoning, Unusable: m.Unusable}
		if m.InputCost != 0 || m.OutputCost != 0 {
			rows[i].Cost = &modelCost{m.InputCost, m.OutputCost}
		}
	}
	var err error
	if asJSON {
		err = writeJSON(p.Stdout, struct {
			Models []modelRow `json:"models"`
		}{rows})
	} else {
		err = writeModels(p.Stdout, rows)
	}
	if err == nil && faults != nil {
		err = exit{code: headless.ExitUsage}
	}
	return err
}

func writeModels(w io.Writer, rows []modelRow) error {
	for _, m := range rows {
		about := "price not known"
		switch {
		case m.Unusable != "":
			about = m.Unusable
		case m.Cost != nil:
			about = fmt.Sprintf("$%g in, $%g out per million tokens", m.Cost.Input, m.Cost.Output)
		}
		if err := say(w, "%s  %s", view.CleanLine(m.ID), about); err != nil {
			return err
		}
	}
	return say(w, "demo  built in, offline\nscript:FILE  a scenario file")
}
