package bash

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"starling/bus/spec"
	"starling/tools/shell"
)

func benchTool(b *testing.B) spec.Tool {
	dir := b.TempDir()
	e := shell.New(shell.Options{Dir: dir, Env: []string{"PATH=" + os.Getenv("PATH")}, Spill: filepath.Join(b.TempDir(), "spill")})
	b.Cleanup(func() { _ = e.Close(b.Context()) })
	return New(Options{Engine: e, Workspace: dir}).Tool()
}

var trueCall = spec.ToolCall{Arguments: json.RawMessage(`{"command": "true"}`), Progress: func(string) {}}

// BenchmarkTrue compares a call with the process it is about: "ratio" is how many
// times as long it takes.
func BenchmarkTrue(b *testing.B) {
	tool := benchTool(b)
	var ours, plain time.Duration
	for b.Loop() {
		start := time.Now()
		if r, err := tool.Execute(b.Context(), trueCall); err != nil || r.IsError {
			b.Fatal(r, err)
		}
		between := time.Now()
		if err := exec.CommandContext(b.Context(), "bash", "-c", "true").Run(); err != nil {
			b.Fatal(err)
		}
		ours, plain = ours+between.Sub(start), plain+time.Since(between)
	}
	b.ReportMetric(float64(ours)/float64(plain), "ratio")
}

// BenchmarkParallel is 20 calls side by side.
func BenchmarkParallel(b *testing.B) {
	tool := benchTool(b)
	for b.Loop() {
		var all sync.WaitGroup
		for range 20 {
			all.Go(func() {
				if r, err := tool.Execute(b.Context(), trueCall); err != nil || r.IsError {
					b.Error(r, err)
				}
			})
		}
		all.Wait()
	}
}
