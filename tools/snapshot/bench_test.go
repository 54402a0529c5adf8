package snapshot_test

import (
	"context"
	"fmt"
	"testing"

	"starling/trust/command"
)

// BenchmarkClean is the price of a question that is not asked: a clean tree of
// 10 000 files, beside one git status of it, and a file that is not there yet.
func BenchmarkClean(b *testing.B) {
	l := newLab(b)
	for i := range 10_000 {
		l.write(fmt.Sprintf("d%02d/f%03d", i/200, i), "x\n")
	}
	l.run("git init -q && git add . && git commit -qm all && sleep 1 && git status >/dev/null")
	whole := []command.Loss{{Dir: l.repo, Kinds: []command.Lost{command.Worktree, command.Index, command.Untracked}}}
	one := func(name string) []command.Loss {
		return []command.Loss{{Dir: l.repo, Kinds: []command.Lost{command.File}, Names: []string{l.path(name)}}}
	}
	for name, losses := range map[string][]command.Loss{"take": whole, "tracked-file": one("d01/f200"), "new-file": one("new")} {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				if snap, err := l.store.Take(context.Background(), losses, "bench"); snap != nil || err != nil {
					b.Fatal(snap, err)
				}
			}
		})
	}
	b.Run("git-status", func(b *testing.B) {
		for b.Loop() {
			l.run("git status --porcelain >/dev/null")
		}
	})
}
