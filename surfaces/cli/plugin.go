package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	ucli "github.com/urfave/cli/v2"
	"golang.org/x/term"

	"starling/agent/harness"
	"starling/bus/view"
	"starling/surfaces/headless"
	"starling/trust"
)

// pluginCommand is starling plugin: what a workspace brings, and who depends on
// whom. Nothing of it runs a plugin.
func pluginCommand(p Process) *ucli.Command {
	sub := func(name, usageText, about string, flags []ucli.Flag, run func(*ucli.Context) error) *ucli.Command {
		return &ucli.Command{
			Name: name, Usage: about, UsageText: "starling plugin " + usageText, Flags: flags, HideHelpCommand: true,
			OnUsageError: func(_ *ucli.Context, err error, _ bool) error { return err },
			Action: func(c *ucli.Context) error {
				if c.NArg() > 0 {
					return usage("plugin %s takes no argument %q", name, c.Args().First())
				}
				return run(c)
			},
		}
	}
	json := &ucli.BoolFlag{Name: "json", Usage: "as JSON"}
	return &ucli.Command{
		Name: "plugin", Usage: "trust, list and look at plugins", HideHelpCommand: true,
		UsageText:    "starling plugin trust | revoke | digest | list | graph",
		OnUsageError: func(_ *ucli.Context, err error, _ bool) error { return err },
		Subcommands: []*ucli.Command{
			sub("trust", "trust", "show what this workspace brings and ask whether to trust it", nil, func(c *ucli.Context) error { return trustWorkspace(c.Context, p) }),
			sub("revoke", "revoke", "take back every answer given for this workspace", nil, func(*ucli.Context) error { return revokeWorkspace(p) }),
			sub("digest", "digest", "print the digest that --trust-digest takes", nil, func(*ucli.Context) error { return printDigest(p) }),
			sub("list", "list [--json]", "list every plugin with the state it would reach", []ucli.Flag{
				json,
				&ucli.BoolFlag{Name: "trust-plugins", Usage: "as if the workspace were approved"},
			}, func(c *ucli.Context) error {
				o := pluginOptions(p)
				o.TrustPlugins = c.Bool("trust-plugins")
				return listPlugins(c, p, o)
			}),
			sub("graph", "graph [--format tree|mermaid|dot] [--all]", "draw who waits for whom", []ucli.Flag{
				&ucli.StringFlag{Name: "format", Value: "tree", Usage: "`FORM`: tree, mermaid or dot"},
				&ucli.BoolFlag{Name: "all", Usage: "with the registries of the host"},
				&ucli.BoolFlag{Name: "trust-plugins", Usage: "as if the workspace were approved"},
				&ucli.StringSliceFlag{Name: "plugin", Usage: "the plugin at `PATH` too"},
			}, func(c *ucli.Context) error { return printGraph(c, p) }),
		},
		Action: func(c *ucli.Context) error {
			if c.NArg() == 0 {
				return usage("plugin needs a subcommand: trust, revoke, digest, list or graph")
			}
			return usage("there is no plugin subcommand %q; there are trust, revoke, digest, list and graph (a prompt goes behind -p)", c.Args().First())
		},
	}
}

func pluginOptions(p Process) harness.Options {
	return harness.Options{Home: p.Home(), UserHome: p.UserHome, Cwd: p.Cwd, LookupEnv: p.LookupEnv, Environ: p.Environ}
}

func openWorkspace(p Process) (*harness.Workspace, error) {
	w, err := harness.OpenWorkspace(pluginOptions(p))
	if err != nil {
		return nil, exit{headless.ExitUsage, err}
	}
	return w, nil
}

func trustWorkspace(ctx context.Context, p Process) error {
	w, err := openWorkspace(p)
	if err != nil {
		return err
	}
	if len(w.Question().Subjects) == 0 {
		return say(p.Stdout, "%s brings nothing that is not approved", view.CleanLine(w.Path()))
	}
	terminal := isTerminal(p.Stdin)
	if !terminal {
		// Nobody can answer here, but somebody may read.
		if err := say(p.Stdout, "%s", strings.TrimSuffix(w.Question().Text(), "\n")); err != nil {
			return err
		}
	}
	answer, err := w.Ask(ctx, p.Stdin, p.Stdout, terminal)
	if err != nil {
		return exit{headless.ExitFailed, err}
	}
	switch answer {
	case trust.TrustVersion:
		return say(p.Stdout, "trusted: exactly this version, in this folder")
	case trust.TrustEdits:
		return say(p.Stdout, "trusted: this version. Edits count in a session that is started with --trust-edits")
	case trust.TrustNot:
		return say(p.Stdout, "not trusted: nothing of it runs")
	}
	if ctx.Err() != nil {
		// The line of the question is still open.
		return errors.Join(say(p.Stdout, ""), exit{headless.ExitInterrupted, errors.New("the question was interrupted; nothing is stored")})
	}
	return exit{headless.ExitUsage, errors.New("no answer was given and nothing is stored; answer on a terminal, or use --trust-plugins or --trust-digest for one run")}
}

func revokeWorkspace(p Process) error {
	w, err := openWorkspace(p)
	if err != nil {
		return err
	}
	n, err := w.Revoke()
	if err != nil {
		return exit{headless.ExitFailed, err}
	}
	return say(p.Stdout, "%d answers taken back", n)
}

// printDigest prints the digest alone on stdout, and what it covers on stderr.
func printDigest(p Process) error {
	w, err := openWorkspace(p)
	if err != nil {
		return err
	}
	for _, u := range w.Units() {
		fmt.Fprintf(p.Stderr, "%s  %s  %s\n", view.CleanLine(u.Name), u.Verdict, u.Digest.Short())
	}
	return say(p.Stdout, "%s", w.Digest())
}

func printGraph(c *ucli.Context, p Process) error {
	o := pluginOptions(p)
	o.TrustPlugins, o.Plugins = c.Bool("trust-plugins"), pluginPaths(c)
	listing, err := harness.ListPlugins(c.Context, o)
	if err != nil {
		return exit{headless.ExitUsage, err}
	}
	text, err := graphText(listing.Plugins, c.String("format"), c.Bool("all"))
	if err != nil {
		return usage("plugin graph: %w", err)
	}
	return say(p.Stdout, "%s", strings.TrimSuffix(text, "\n"))
}

func say(w io.Writer, format string, args ...any) error {
	if _, err := fmt.Fprintf(w, format+"\n", args...); err != nil {
		return exit{headless.ExitFailed, fmt.Errorf("stdout: %w", err)}
	}
	return nil
}

// isTerminal tells whether a person can answer there.
func isTerminal(r io.Reader) bool {
	f, ok := r.(*os.File)
	if !ok {
		return false
	}
	return term.IsTerminal(int(f.Fd()))
}
