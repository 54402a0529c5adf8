package harness_test

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"starling/bus/compose"
)

// endless is a service of the host whose only method does not look at its
// context: what no call of a plugin can be stopped in.
type endless struct {
	entered chan struct{}
	release chan struct{}
}

func (s *endless) Methods() []string { return []string{"call"} }

func (s *endless) Call(context.Context, string, []any, map[string]any) (any, error) {
	close(s.entered)
	<-s.release
	return true, nil
}

// A call that does not stop is given up: its plugin is stuck and taken out, the
// others answer, and what it guarded is refused at once, until it is loaded again.
func TestAbandonedCall(t *testing.T) {
	p := newPlace(t)
	p.write("home/plugins/guard.star", `
fail_closed = True
inject = ["commands", "endless", "svc"]
def apply(ctx):
    command("hang", "d", lambda args: invoke("endless", "call"))
    on("agent/tool-call", lambda e: block("guarded") if e.name == "write" else None)
`)
	p.write("home/plugins/other.star", "inject = [\"commands\"]\nprovides = [\"svc\"]\ndef apply(ctx):\n    provide(\"svc\", {})\n    command(\"say\", \"d\", lambda args: \"here\")\n")
	p.scenario("call(\"read\", path = \"x\")\nsay(\"one\")\ncall(\"read\", path = \"x\")\nsay(\"two\")\ncall(\"read\", path = \"x\")\nsay(\"three\")\n")
	if err := os.WriteFile(filepath.Join(p.ws, "x"), []byte("content"), 0o600); err != nil {
		t.Fatal(err)
	}
	p.options.Host = "eval" // nobody looks at the disk
	synctest.Test(t, func(t *testing.T) {
		s := &endless{make(chan struct{}), make(chan struct{})}
		p.options.Components = []compose.Component{{
			Name: "endless", Origin: "embedded", Provides: []string{"endless"},
			Apply: func(scope *compose.Scope) error { return scope.Provide("endless", s) },
		}}
		p.t = t
		e := p.start()
		defer func() {
			close(s.release) // or what was left behind would outlive the test
			synctest.Wait()
		}()
		if o := p.prompt(e, "go"); o.Text != "one" || o.Denied != 0 {
			t.Fatalf("before: %+v %s", o, lastResult(e))
		}

		ctx, cancel := context.WithTimeout(context.Background(), time.Second)
		defer cancel()
		_, err := e.Command(ctx, "hang", "")
		if err == nil || !strings.Contains(err.Error(), "plugin guard is stuck: a call in") {
			t.Fatalf("the call was not given up: %v", err)
		}
		select {
		case <-s.entered:
		default:
			t.Fatal("the call never began")
		}
		synctest.Wait() // the engine hears of it on a goroutine of its own
		if got := p.state(e, "guard"); !strings.HasPrefix(got, "failed: stuck: plugin guard is stuck: a call in ") {
			t.Errorf("guard is %s", got)
		}
		if r, err := e.Command(context.Background(), "say", ""); err != nil || strings.Join(r.Lines, "") != "here" {
			t.Errorf("the others: %+v %v", r, err)
		}
		if r, err := e.Command(context.Background(), "hang", ""); err != nil || r.Found {
			t.Errorf("its command is still there: %+v %v", r, err)
		}
		if o := p.prompt(e, "go"); o.Text != "two" || o.Denied != 1 || !strings.Contains(lastResult(e), "the plugin guard failed (stuck: ") || !strings.Contains(lastResult(e), "fail_closed") {
			t.Errorf("the gate is open: %+v %s", o, lastResult(e))
		}

		if _, err := e.Reload(context.Background(), "guard"); err != nil {
			t.Fatal(err)
		}
		if o := p.prompt(e, "go"); o.Text != "three" || o.Denied != 0 || p.state(e, "guard") != "active" {
			t.Errorf("loaded again: %+v %s; guard is %s", o, lastResult(e), p.state(e, "guard"))
		}
	})
}
