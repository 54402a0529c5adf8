package harness_test

import (
	"strings"
	"testing"
)

// probed asks a service whether to block, and has a probe that finds out when it
// does not.
const probed = `
inject = ["svc"]
fail_closed = True
probes = [{"tool": "write", "arguments": {"path": "x", "content": "1"}, "expect": "blocked"}]
def apply(ctx):
    on("agent/tool-call", lambda e: block("no") if e.name == "write" and invoke("svc", "x") else None)
`

func service(answer string) string {
	return "provides = [\"svc\"]\ndef apply(ctx): provide(\"svc\", {\"x\": lambda: " + answer + "})\n"
}

// Probes are driven after each load: also of a plugin that did not change and was
// loaded again because its provider did.
func TestProbesAreDrivenAgain(t *testing.T) {
	p := newPlace(t)
	p.write("home/plugins/guard.star", probed)
	p.write("home/plugins/provider.star", service("True"))
	p.scenario("call(\"write\", path = \"x\", content = \"1\")\nsay(\"done\")\ncall(\"write\", path = \"x\", content = \"1\")\nsay(\"done\")\n")
	e := p.start()
	p.write("home/plugins/provider.star", service("False"))
	p.eventually("the probe", func() bool { return strings.Contains(p.said(), "guard: does not hold: probe 1") })
	if o := p.prompt(e, "go"); p.read("ws/x") != "" || o.Denied != 1 {
		t.Errorf("%+v %s\n%s", o, lastResult(e), p.said())
	}
	p.write("home/plugins/provider.star", service("1 == 1"))
	p.eventually("the guard at its post", func() bool { return strings.Count(p.said(), "reloaded provider") == 2 })
	if o := p.prompt(e, "go"); o.Denied != 1 || !strings.Contains(lastResult(e), "no") || strings.Contains(lastResult(e), "fail_closed") {
		t.Errorf("%+v %s\n%s", o, lastResult(e), p.said())
	}
}

// Also where nobody looked at the disk: the guard counts as absent from the
// moment it was loaded until its probes held.
func TestProbesAreDrivenUnasked(t *testing.T) {
	p := newPlace(t)
	p.options.Host = "eval" // nobody looks at the disk
	p.write("home/plugins/guard.star", probed)
	p.write("home/plugins/provider.star", service("True"))
	// In the static order it comes second: it serves once the first is stuck.
	p.write("home/plugins/provider2.star", service("False"))
	p.scenario("call(\"write\", path = \"x\", content = \"1\")\nsay(\"done\")\ncall(\"write\", path = \"x\", content = \"1\")\nsay(\"done\")\n")
	e := p.start()
	if err := e.LoadAgain("provider.star"); err != nil {
		t.Fatal(err)
	}
	p.eventually("the guard at its post", func() bool { return e.Absent() == "" && e.LoadsOf("guard") == 2 })
	if err := e.FailMounted("provider", "stuck: in a test"); err != nil {
		t.Fatal(err)
	}
	if o := p.prompt(e, "go"); p.read("ws/x") != "" || o.Denied != 1 || !strings.Contains(lastResult(e), "fail_closed") {
		t.Errorf("at once: %+v %s\n%s", o, lastResult(e), p.said())
	}
	p.eventually("the probe", func() bool { return strings.Contains(p.said(), "guard: does not hold: probe 1") })
	if o := p.prompt(e, "go"); p.read("ws/x") != "" || o.Denied != 1 || !strings.Contains(lastResult(e), "does not hold") {
		t.Errorf("%+v %s\n%s", o, lastResult(e), p.said())
	}
}

// A guard that is stuck, or waits for a provider that is, is missed at once.
func TestStuckGuardClosesAtOnce(t *testing.T) {
	for _, stuck := range []string{"guard", "provider"} {
		t.Run(stuck, func(t *testing.T) {
			p := newPlace(t)
			p.write("home/plugins/guard.star", strings.Replace(probed, "probes", "unused", 1))
			p.write("home/plugins/provider.star", service("False"))
			p.scenario("call(\"write\", path = \"x\", content = \"1\")\nsay(\"done\")\ncall(\"write\", path = \"y\", content = \"1\")\nsay(\"done\")\n")
			e := p.start()
			if o := p.prompt(e, "go"); o.Denied != 0 || p.read("ws/x") != "1" {
				t.Fatalf("%+v %s", o, lastResult(e))
			}
			if err := e.FailMounted(stuck, "stuck: in a test"); err != nil {
				t.Fatal(err)
			}
			if o := p.prompt(e, "go"); p.read("ws/y") != "" || o.Denied != 1 || !strings.Contains(lastResult(e), "fail_closed") {
				t.Errorf("%+v %s\n%s", o, lastResult(e), p.said())
			}
		})
	}
}
