package cli

import (
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"strings"

	ucli "github.com/urfave/cli/v2"

	"starling/agent/harness"
	sessions "starling/agent/session"
	"starling/bus/view"
	"starling/script/discover"
	"starling/surfaces/headless"
	"starling/tools/snapshot"
)

// sessionCommand is starling session: what runs left behind.
func sessionCommand(p Process) *ucli.Command {
	return &ucli.Command{
		Name: "session", Usage: "bring back work a command discarded", HideHelpCommand: true,
		UsageText:    "starling session restore | snapshots",
		OnUsageError: func(_ *ucli.Context, err error, _ bool) error { return err },
		Subcommands: []*ucli.Command{
			{
				Name: "restore", Usage: "bring back what a snapshot holds", HideHelpCommand: true,
				UsageText:    "starling session restore ID [PATH…] [--to DIR]",
				OnUsageError: func(_ *ucli.Context, err error, _ bool) error { return err },
				Flags:        []ucli.Flag{&ucli.StringFlag{Name: "to", Usage: "write the files below `DIR` and leave everything else alone"}},
				Action:       func(c *ucli.Context) error { return restoreSnapshot(c, p) },
			},
			{
				Name: "snapshots", Usage: "list the snapshots of this workspace", HideHelpCommand: true,
				UsageText:    "starling session snapshots [--json]",
				OnUsageError: func(_ *ucli.Context, err error, _ bool) error { return err },
				Flags:        []ucli.Flag{&ucli.BoolFlag{Name: "json", Usage: "as JSON, with every file"}},
				Action: func(c *ucli.Context) error {
					if c.NArg() > 0 {
						return usage("session snapshots takes no argument %q", c.Args().First())
					}
					return listSnapshots(c, p)
				},
			},
		},
		Action: func(c *ucli.Context) error {
			if c.NArg() == 0 {
				return usage("session needs a subcommand: restore or snapshots")
			}
			return usage("there is no session subcommand %q; there are restore and snapshots (a prompt goes behind -p)", c.Args().First())
		},
	}
}

// snapshotStore is the store of the workspace the process is in.
func snapshotStore(p Process) (*snapshot.Store, error) {
	home := p.Home()
	if home == "" {
		return nil, usage("there is no home folder, so there are no snapshots; set STARLING_HOME")
	}
	workspace, err := filepath.EvalSymlinks(discover.FindWorkspace(p.Cwd, p.UserHome))
	if err != nil {
		return nil, usage("workspace: %w", err)
	}
	return &snapshot.Store{Dir: snapshot.Dir(home, workspace), Workspace: workspace, Environ: p.Environ}, nil
}

func restoreSnapshot(c *ucli.Context, p Process) error {
	ref, paths, to, err := restoreArgs(c)
	if err != nil {
		return err
	}
	store, err := snapshotStore(p)
	if err != nil {
		return err
	}
	if dir, ok := snapshot.Find(p.Home(), ref); ok {
		store.Dir = dir // of another workspace
	}
	o := snapshot.RestoreOptions{}
	for _, path := range paths {
		o.Paths = append(o.Paths, absolute(p.Cwd, path))
	}
	if to != "" {
		o.To = absolute(p.Cwd, to)
	}
	report, err := store.Restore(c.Context, ref, o)
	if report != nil {
		if err := printReport(p, report); err != nil {
			return err
		}
	}
	switch {
	case err != nil:
		return exit{headless.ExitFailed, err}
	case !report.Complete():
		return exit{code: headless.ExitFailed}
	}
	return nil
}

// restoreArgs reads the arguments; options may stand behind the paths.
func restoreArgs(c *ucli.Context) (ref string, paths []string, to string, err error) {
	to = c.String("to")
	given := c.IsSet("to")
	args, plain := c.Args().Slice(), false
	for i := 0; i < len(args); i++ {
		value, inline := strings.CutPrefix(args[i], "--to=")
		switch {
		case plain || !strings.HasPrefix(args[i], "-"):
			paths = append(paths, args[i])
		case args[i] == "--":
			plain = true
		case inline:
			to, given = value, true
		case args[i] == "--to" && i+1 < len(args):
			i++
			to, given = args[i], true
		default:
			return "", nil, "", usage("session restore does not know %q; a path that begins with a dash goes behind --", args[i])
		}
	}
	switch {
	case len(paths) == 0:
		return "", nil, "", usage("session restore needs the ID of a snapshot; starling session snapshots lists them")
	case given && to == "":
		return "", nil, "", usage("--to needs a folder")
	}
	return paths[0], paths[1:], to, nil
}

func absolute(cwd, path string) string {
	if filepath.IsAbs(path) {
		return path
	}
	return filepath.Join(cwd, path)
}

func printReport(p Process, r *snapshot.Report) error {
	if r.Before != "" {
		if err := say(p.Stdout, "what stood there is kept: %s", snapshot.RestoreCommand(r.Before)); err != nil {
			return err
		}
	}
	git := 0 // files of repositories are counted, not listed
	for _, one := range r.Results {
		if inside := string(filepath.Separator) + ".git" + string(filepath.Separator); one.What == "file" && one.State != snapshot.Failed && strings.Contains(string(one.Name), inside) {
			git++
			continue
		}
		name := string(one.Name)
		if rel, err := filepath.Rel(p.Cwd, name); err == nil && filepath.IsLocal(rel) && filepath.IsAbs(name) {
			name = rel
		}
		line := fmt.Sprintf("%s: %s %s", one.State, one.What, view.CleanLine(name))
		if one.Note != "" {
			line += " (" + view.CleanLine(one.Note) + ")"
		}
		if err := say(p.Stdout, "%s", line); err != nil {
			return err
		}
	}
	if git > 0 {
		if err := say(p.Stdout, "%d files of git itself", git); err != nil {
			return err
		}
	}
	for _, note := range r.Notes {
		if err := say(p.Stdout, "note: %s", view.CleanLine(note)); err != nil {
			return err
		}
	}
	return nil
}

func listSnapshots(c *ucli.Context, p Process) error {
	store, err := snapshotStore(p)
	if err != nil {
		return err
	}
	list, err := store.List()
	if err != nil {
		fmt.Fprintln(p.Stderr, headless.Said(err.Error()))
	}
	failed := err != nil
	if c.Bool("json") {
		if list == nil {
			list = []*snapshot.Snapshot{}
		}
		data, err := json.MarshalIndent(map[string]any{"snapshots": list}, "", "  ")
		if err != nil {
			return exit{headless.ExitFailed, err}
		}
		if err := say(p.Stdout, "%s", data); err != nil {
			return err
		}
	} else if len(list) == 0 && !failed {
		return say(p.Stdout, "no snapshots of this workspace")
	} else {
		for _, s := range list {
			err := say(p.Stdout, "%s  %s  %s  before: %s", s.ID, s.Time.Local().Format("2006-01-02 15:04"), s.Summary(), view.CleanLine(string(s.Why)))
			if err != nil {
				return err
			}
		}
	}
	if failed {
		return exit{code: headless.ExitFailed}
	}
	return nil
}

// listSessions lists the sessions of the workspace, the newest first; files that are
// none are named.
func listSessions(p Process, o harness.Options) error {
	list, err := harness.Sessions(o)
	if err != nil {
		fmt.Fprintln(p.Stderr, headless.Said(err.Error()))
	}
	var one *sessions.FileError // the others are there all the same
	some := err == nil || errors.As(err, &one)
	if len(list) == 0 && some {
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
	if !some {
		return exit{code: headless.ExitFailed}
	}
	return nil
}
