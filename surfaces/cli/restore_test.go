package cli_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"

	"github.com/rogpeppe/go-internal/testscript"

	"starling/tools/snapshot"
	"starling/trust/command"
)

// hold takes the snapshot of a line that would discard work in the current
// folder, and prints its id: hold LINE.
func hold(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 1 {
		ts.Fatalf("usage: hold LINE")
	}
	workspace, err := filepath.EvalSymlinks(ts.MkAbs("."))
	ts.Check(err)
	home := filepath.Join(ts.Getenv("HOME"), ".starling")
	store := &snapshot.Store{
		Dir: snapshot.Dir(home, workspace), Workspace: workspace,
		Environ: []string{"PATH=" + os.Getenv("PATH"), "HOME=" + ts.Getenv("HOME")},
	}
	var losses []command.Loss
	for _, f := range command.Read(args[0], command.Setting{Workspace: workspace}).Floor {
		if f.Loss != nil {
			losses = append(losses, *f.Loss)
		}
	}
	snap, err := store.Take(context.Background(), losses, args[0])
	ts.Check(err)
	if snap == nil {
		ts.Fatalf("nothing of %q is at stake", args[0])
	}
	ts.Setenv("ID", snap.ID)
	fmt.Fprintln(ts.Stdout(), snap.ID)
}
