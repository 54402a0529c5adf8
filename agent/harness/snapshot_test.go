package harness_test

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"starling/tools/snapshot"
)

// repository makes the workspace one of git, with nothing in it.
func (p *place) repository() {
	p.t.Helper()
	cmd := exec.Command("git", "init", "-q")
	cmd.Dir, cmd.Env = p.ws, []string{"PATH=" + os.Getenv("PATH"), "HOME=" + p.root, "GIT_CONFIG_NOSYSTEM=1"}
	if out, err := cmd.CombinedOutput(); err != nil {
		p.t.Fatalf("%v: %s", err, out)
	}
}

// restore brings the newest snapshot of the workspace back.
func (p *place) restore() {
	p.t.Helper()
	ws, err := filepath.EvalSymlinks(p.ws)
	if err != nil {
		p.t.Fatal(err)
	}
	s := &snapshot.Store{Dir: snapshot.Dir(p.home, ws), Workspace: ws, Environ: p.options.Environ}
	if _, err := s.Restore(context.Background(), "last", snapshot.RestoreOptions{}); err != nil {
		p.t.Fatal(err)
	}
}

// One call of a reply brings the work where another discards: the snapshot before
// the second sees what the first left, whatever stands beside them.
func TestSnapshotSeesTheCallBefore(t *testing.T) {
	p := newPlace(t)
	p.repository()
	p.write("ws/a.txt", "work\n")
	p.scenario(`
calls([
    call("bash", command = "sleep 0.3; mkdir d; mv a.txt d/"),
    call("bash", command = "rm -rf d"),
    call("bash", command = "ls"),
])
say("done")
`)
	p.prompt(p.start(), "go")
	if got := p.read("ws/d/a.txt") + p.read("ws/a.txt"); got != "" {
		t.Fatalf("nothing was lost: %q", got)
	}
	p.restore()
	if got := p.read("ws/d/a.txt"); got != "work\n" {
		t.Errorf("came back as %q", got)
	}
}
