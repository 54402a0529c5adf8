package harness_test

import (
	"context"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"starling/agent/harness"
)

// What a plugin put in the place of its log keeps nobody: neither who reads the log
// nor who writes to it.
func TestPluginLogIsAPipe(t *testing.T) {
	p := newPlace(t)
	p.write("home/plugins/chatty.star", "inject = [\"commands\"]\ndef apply(ctx):\n    command(\"talk\", \"d\", lambda args: log(args))\n")
	p.write("home/logs/other.log", "a line\n")
	if err := unix.Mkfifo(filepath.Join(p.root, "home/logs/chatty.log"), 0o600); err != nil {
		t.Fatal(err)
	}
	e, err := harness.New(t.Context(), p.options)
	if err != nil {
		t.Fatal(err)
	}
	p.command(e, "talk", "line")
	if got := e.PluginLog("chatty", 9); got != nil {
		t.Errorf("of a pipe: %q", got)
	}
	if got := e.PluginLog("other", 9); len(got) != 1 {
		t.Errorf("of a file: %q", got)
	}
	if err := e.Close(context.Background()); err == nil || !strings.Contains(err.Error(), "log of plugin chatty: ") {
		t.Errorf("what could not be logged is told at the end: %v", err)
	}
}
