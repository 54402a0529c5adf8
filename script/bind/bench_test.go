package bind_test

import (
	"context"
	"fmt"
	"os"
	"slices"
	"testing"
	"time"

	"go.starlark.net/starlark"

	"starling/bus"
	"starling/bus/compose"
	"starling/bus/event"
	"starling/bus/spec"
	"starling/script"
	"starling/script/bind"
	"starling/script/discover"
	"starling/script/journal"
	"starling/script/limits"
	"starling/script/value"
)

// stage is a host for benchmarks: a bus, a composition and nothing else.
type stage struct {
	b       *testing.B
	bus     *bus.Bus
	runtime *compose.Runtime
	binder  *bind.Binder
}

func newStage(b *testing.B, log *journal.Journal) *stage {
	store := bus.NewStore()
	s := &stage{b: b, bus: bus.New(store)}
	s.runtime = compose.New(compose.Options{Store: store})
	s.bus.Report = func(_ context.Context, f bus.Failure) { b.Errorf("%s: %v", f.Owner.Name, f.Err) }
	s.bus.Barrier = s.runtime.Barrier
	dir := b.TempDir()
	s.binder = bind.New(bind.Host{
		Bus: s.bus, Name: "headless", Cwd: dir, Workspace: dir, Home: b.TempDir(), Journal: log,
		LookupEnv: func(string) (string, bool) { return "", false },
		Notify:    func(_ context.Context, from, text string, _ bool) { b.Errorf("%s: %s", from, text) },
		Log:       func(string, string) {}, Now: time.Now,
		CurrentRun: func() event.Run { return nil },
		Stuck:      func(p *bind.Plugin, reason error) { b.Errorf("%s: %v", p.Name(), reason) },
	})
	registries := spec.NewRegistries(store)
	s.mount(compose.Component{
		Name: "host", Origin: "host", Position: bus.At(bus.ClassHost, 0, "host"), Provides: spec.RegistryKeys,
		Apply: func(sc *compose.Scope) error {
			for key, registry := range registries.ByKey() {
				if err := sc.Provide(key, registry); err != nil {
					return err
				}
			}
			return nil
		},
	})
	b.Cleanup(func() {
		if err := s.runtime.Shutdown(context.Background()); err != nil {
			b.Error(err)
		}
	})
	return s
}

func (s *stage) mount(c compose.Component) {
	if _, err := s.runtime.Mount(c); err != nil {
		s.b.Fatal(err)
	}
}

func (s *stage) plugin(name string, src []byte) {
	s.mount(s.binder.Component(compiled(s.b, name, src), discover.File{Name: name, Path: name + ".star", Origin: discover.Flag}, bind.Settings{}))
}

// settle waits, and fails unless everything is active.
func (s *stage) settle() {
	if err := s.runtime.Settle(context.Background()); err != nil {
		s.b.Fatal(err)
	}
	for _, row := range s.runtime.Roster().Rows {
		if row.State != compose.Active {
			s.b.Fatalf("%s is %s: %s", row.Name, row.State, row.Reason)
		}
	}
}

func compiled(b *testing.B, name string, src []byte) *script.Program {
	prog, err := script.Parse(name, name+".star", src)
	if err == nil {
		err = bind.Compile(prog)
	}
	if err != nil {
		b.Fatal(err)
	}
	return prog
}

func example(b *testing.B, name string) []byte {
	src, err := os.ReadFile("../../examples/plugins/" + name + ".star")
	if err != nil {
		b.Fatal(err)
	}
	return src
}

// guardOf returns the listener that guard.star registers, without a host.
func guardOf(b *testing.B) starlark.Callable {
	var guard starlark.Callable
	names := limits.Predeclared(limits.Defaults())
	names["on"] = starlark.NewBuiltin("on", func(_ *starlark.Thread, _ *starlark.Builtin, args starlark.Tuple, _ []starlark.Tuple) (starlark.Value, error) {
		guard = args[1].(starlark.Callable)
		return starlark.None, nil
	})
	names["block"] = starlark.NewBuiltin("block", func(_ *starlark.Thread, _ *starlark.Builtin, args starlark.Tuple, _ []starlark.Tuple) (starlark.Value, error) {
		return args[0], nil
	})
	i := compiled(b, "guard", example(b, "guard")).New(script.Env{Predeclared: names})
	if err := i.Load(context.Background()); err != nil {
		b.Fatal(err)
	}
	if err := i.Apply(context.Background(), starlark.None); err != nil {
		b.Fatal(err)
	}
	i.Close()
	return guard
}

// writing is the call a guard looks at: a file it has nothing against.
func writing() *event.ToolCallEvent {
	return &event.ToolCallEvent{
		ID: "call_1", Name: "write", Arguments: []byte(`{"path": "src/app/main.go", "content": "package main\n"}`),
		Paths: []string{"src/app/main.go"}, PathsKnown: true, Known: true, Origin: "main",
	}
}

// BenchmarkGuard has guard.star decide about a call of write: the bare function
// with a view that was read before, the same with a new payload each time, and
// the plugin on the bus without and with the journal of a session.
func BenchmarkGuard(b *testing.B) {
	for _, way := range []struct {
		name string
		once func(*testing.B) func()
	}{{"bare/kept", bareKept}, {"bare/fresh", bareFresh}, {"bus", onBus}, {"bus/journal", onBusJournalled}} {
		b.Run(way.name, func(b *testing.B) {
			once := way.once(b)
			b.ReportAllocs()
			for b.Loop() {
				once()
			}
		})
	}
}

// BenchmarkGuardRatio takes turns between the bare call and the bus, so that what
// else the machine does slows both, and reports how many times longer the bus
// took: the median of the rounds.
func BenchmarkGuardRatio(b *testing.B) {
	for _, way := range []struct {
		name string
		bare func(*testing.B) func()
		full func(*testing.B) func()
	}{
		{"fresh payload", bareFresh, onBus},
		{"fresh payload, journal", bareFresh, onBusJournalled},
		{"bare keeps its view", bareKept, onBus},
		{"bare keeps its view, journal", bareKept, onBusJournalled},
	} {
		b.Run(way.name, func(b *testing.B) {
			const calls = 200
			timed := func(f func()) float64 {
				start := time.Now()
				for range calls {
					f()
				}
				return float64(time.Since(start).Nanoseconds()) / calls
			}
			bare, full := way.bare(b), way.full(b)
			var bares, fulls, ratios []float64
			for b.Loop() {
				x, y := timed(bare), timed(full)
				bares, fulls, ratios = append(bares, x), append(fulls, y), append(ratios, y/x)
			}
			b.ReportMetric(median(bares), "bare-ns")
			b.ReportMetric(median(fulls), "bus-ns")
			b.ReportMetric(median(ratios), "ratio")
		})
	}
}

func median(list []float64) float64 {
	slices.Sort(list)
	return list[len(list)/2]
}

func bareKept(b *testing.B) func()  { return bare(b, false) }
func bareFresh(b *testing.B) func() { return bare(b, true) }

func bare(b *testing.B, fresh bool) func() {
	var viewer value.Viewer
	guard, thread := guardOf(b), &starlark.Thread{}
	extra := starlark.StringDict{"event": starlark.String("agent/tool-call")}
	args := starlark.Tuple{nil}
	return func() {
		if fresh || args[0] == nil {
			view, err := viewer.View("event", writing(), extra)
			if err != nil {
				b.Fatal(err)
			}
			args = starlark.Tuple{view}
		}
		if v, err := starlark.Call(thread, guard, args, nil); err != nil || v != starlark.None {
			b.Fatal(v, err)
		}
	}
}

func onBus(b *testing.B) func() { return guarding(b, nil) }

func onBusJournalled(b *testing.B) func() {
	log, _, err := journal.Open(b.TempDir())
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { _ = log.Close() })
	return guarding(b, log)
}

func guarding(b *testing.B, log *journal.Journal) func() {
	s := newStage(b, log)
	s.plugin("guard", example(b, "guard"))
	s.settle()
	port, ctx := bus.PortOf(s.bus, event.ToolCall), context.Background()
	refused := writing()
	refused.Paths = []string{"go.sum"}
	if port.Send(ctx, refused); !refused.Blocked {
		b.Fatal("the guard does not guard")
	}
	return func() {
		e := writing()
		if port.Send(ctx, e); e.Blocked {
			b.Fatal("refused")
		}
	}
}

// BenchmarkListeners announces one event to many listeners in Starlark, each of
// its own plugin; they share one view.
func BenchmarkListeners(b *testing.B) {
	src := []byte("def apply(ctx):\n    def look(e):\n        return e.kind + e.text == \"\"\n    on(\"agent/event\", lambda e: None if look(e) else None)\n")
	for _, n := range []int{0, 1, 10, 100} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			s := newStage(b, nil)
			for i := range n {
				s.plugin(fmt.Sprintf("p%d", i), src)
			}
			s.settle()
			port, ctx := bus.PortOf(s.bus, event.Stream), context.Background()
			b.ReportAllocs()
			for b.Loop() {
				port.Send(ctx, &event.StreamEvent{Kind: "delta", Block: "text", Text: "token"})
			}
		})
	}
}

// BenchmarkFurther brings up one more plugin beside others: read, rewritten,
// compiled, loaded, applied.
func BenchmarkFurther(b *testing.B) {
	for _, lines := range []int{40, 200} {
		src := sized(lines)
		for _, n := range []int{10, 50, 100} {
			b.Run(fmt.Sprintf("lines=%d/plugins=%d", lines, n), func(b *testing.B) {
				b.ReportAllocs()
				for b.Loop() {
					b.StopTimer()
					s := newStage(b, nil)
					b.StartTimer()
					for i := range n {
						s.plugin(fmt.Sprintf("p%d", i), src)
					}
					s.settle()
					b.StopTimer()
					if err := s.runtime.Shutdown(context.Background()); err != nil {
						b.Fatal(err)
					}
					b.StartTimer()
				}
				b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*n), "ns/plugin")
			})
		}
	}
}

// sized is a plugin of about so many lines, shaped as people write them.
func sized(lines int) []byte {
	src := []byte(`"""A plugin of some size."""

inject = ["commands"]

LIMIT = 20

def apply(ctx):
    seen = {"n": 0}

    def look(call):
        seen["n"] += 1
        if call.name == "write" and call.paths_known and len(call.paths) > LIMIT:
            return block("too many files: " + ", ".join(call.paths))
        return None

    on("agent/tool-call", look)
`)
	for n := 17; n+9 <= lines; n += 9 {
		src = fmt.Appendf(src, `
def part_%d(items, prefix = "- "):
    """Puts items into words."""
    rows = []
    for i, item in enumerate(items):
        if not item.get("hidden", False):
            name = item["name"].strip().replace("_", " ")
            rows.append("%%s%%d. %%s" %% (prefix, i + 1, name))
    return "\n".join(rows) if rows else "nothing"
`, n)
	}
	return src
}
