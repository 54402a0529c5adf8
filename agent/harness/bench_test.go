package harness_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"starling/agent/harness"
)

// folder is a home and a workspace of a benchmark.
func folder(b *testing.B) (harness.Options, string) {
	root := b.TempDir()
	plugins := filepath.Join(root, "home", "plugins")
	for _, dir := range []string{plugins, filepath.Join(root, "ws", ".git")} {
		if err := os.MkdirAll(dir, 0o755); err != nil {
			b.Fatal(err)
		}
	}
	return harness.Options{
		Home: filepath.Join(root, "home"), UserHome: root, Cwd: filepath.Join(root, "ws"),
		Host: "headless", Model: "demo",
	}, plugins
}

// save writes a file as editors do: a new one, moved over the old.
func save(b *testing.B, path string, content []byte) {
	if err := os.WriteFile(path+".tmp", content, 0o644); err != nil {
		b.Fatal(err)
	}
	if err := os.Rename(path+".tmp", path); err != nil {
		b.Fatal(err)
	}
}

func started(b *testing.B, o harness.Options, active int) *harness.Engine {
	e, err := harness.New(context.Background(), o)
	if err != nil {
		b.Fatal(err)
	}
	n := 0
	for _, row := range e.Plugins() {
		if row.State == "active" {
			n++
		}
	}
	if n != active {
		b.Fatalf("%d plugins are active, want %d", n, active)
	}
	return e
}

func closed(b *testing.B, e *harness.Engine) {
	if err := e.Close(context.Background()); err != nil {
		b.Fatal(err)
	}
}

// BenchmarkStart starts an engine with so many plugins in its home: each is found,
// read, rewritten, compiled, loaded and applied.
func BenchmarkStart(b *testing.B) {
	for _, lines := range []int{40, 200} {
		for _, n := range []int{0, 10, 50, 100} {
			b.Run(fmt.Sprintf("lines=%d/plugins=%d", lines, n), func(b *testing.B) {
				o, dir := folder(b)
				for i := range n {
					save(b, filepath.Join(dir, fmt.Sprintf("p%d.star", i)), sized(lines))
				}
				b.ReportAllocs()
				for b.Loop() {
					e := started(b, o, n)
					b.StopTimer()
					closed(b, e)
					b.StartTimer()
				}
				b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*max(n, 1)), "ns/plugin")
			})
		}
	}
}

// BenchmarkSave measures from a saved file to the moment its new version answers:
// the watcher's quiet time, the look at the disk, the swap.
func BenchmarkSave(b *testing.B) {
	for _, n := range []int{1, 100} {
		b.Run(fmt.Sprintf("plugins=%d", n), func(b *testing.B) {
			o, dir := folder(b)
			for i := range n - 1 {
				save(b, filepath.Join(dir, fmt.Sprintf("p%d.star", i)), sized(200))
			}
			version := func(v int) []byte {
				return fmt.Appendf(nil, "inject = [\"commands\"]\ndef apply(ctx):\n    command(\"version%d\", \"tells it\", lambda args: [\"here\"])\n", v)
			}
			edited := filepath.Join(dir, "edited.star")
			save(b, edited, version(0))
			e := started(b, o, n)
			defer closed(b, e)
			ctx := context.Background()
			answers := func(v int) bool {
				reply, err := e.Command(ctx, fmt.Sprintf("version%d", v), "")
				if err != nil {
					b.Fatal(err)
				}
				return reply.Found
			}
			// The first edit waits for the watcher to begin.
			v := 1
			edit := func() time.Duration {
				begin := time.Now()
				save(b, edited, version(v))
				for !answers(v) {
					if time.Since(begin) > time.Minute {
						b.Fatalf("version %d never answered", v)
					}
					time.Sleep(200 * time.Microsecond)
				}
				v++
				return time.Since(begin)
			}
			edit()
			best, worst := time.Hour, time.Duration(0)
			for b.Loop() {
				took := edit()
				best, worst = min(best, took), max(worst, took)
			}
			b.ReportMetric(float64(best.Microseconds())/1000, "best-ms")
			b.ReportMetric(float64(worst.Microseconds())/1000, "worst-ms")
		})
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
