package cli

import (
	"fmt"

	ucli "github.com/urfave/cli/v2"

	"starling/agent/harness"
	"starling/bus/view"
	"starling/surfaces/headless"
)

// modelCommand is starling model: what can be named with --model.
func modelCommand(p Process) *ucli.Command {
	return &ucli.Command{
		Name: "model", Usage: "list models", HideHelpCommand: true, UsageText: "starling model list",
		OnUsageError: func(_ *ucli.Context, err error, _ bool) error { return err },
		Subcommands: []*ucli.Command{{
			Name: "list", Usage: "list the models of models.json", HideHelpCommand: true,
			OnUsageError: func(_ *ucli.Context, err error, _ bool) error { return err },
			Action: func(c *ucli.Context) error {
				if c.NArg() > 0 {
					return usage("model list takes no argument %q", c.Args().First())
				}
				return listModels(p)
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

func listModels(p Process) error {
	list, err := harness.Models(pluginOptions(p))
	if err != nil {
		fmt.Fprintf(p.Stderr, "starling: %s\n", view.Clean(err.Error()))
	}
	for _, m := range list {
		line := fmt.Sprintf("%s  $%g in, $%g out per million tokens", view.CleanLine(m.ID), m.InputCost, m.OutputCost)
		if m.InputCost == 0 && m.OutputCost == 0 {
			line = view.CleanLine(m.ID) + "  price not known"
		}
		if err := say(p.Stdout, "%s", line); err != nil {
			return err
		}
	}
	if err := say(p.Stdout, "demo  built in, offline\nscript:FILE  a scenario file"); err != nil {
		return err
	}
	if err != nil {
		return exit{code: headless.ExitUsage}
	}
	return nil
}

// listSessions lists the sessions of the workspace, the newest first.
func listSessions(p Process, o harness.Options) error {
	list, err := harness.Sessions(o)
	if err != nil {
		fmt.Fprintf(p.Stderr, "starling: %s\n", view.Clean(err.Error()))
	}
	if len(list) == 0 && err == nil {
		return say(p.Stdout, "no sessions of this workspace")
	}
	for _, s := range list {
		title := s.Title
		if title == "" {
			title = s.Prompt
		}
		if err := say(p.Stdout, "%s  %s  %s", s.ID, s.Updated.Local().Format("2006-01-02 15:04"), view.CleanLine(title)); err != nil {
			return err
		}
	}
	if err != nil {
		return exit{code: headless.ExitFailed}
	}
	return nil
}
