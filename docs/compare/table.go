//go:build unix

package main

import (
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"slices"
	"strings"
	"syscall"
	"time"
)

// peak is the largest resident size of a process that ended, in bytes.
func peak(p *os.ProcessState) int64 {
	usage, ok := p.SysUsage().(*syscall.Rusage)
	if !ok {
		return 0
	}
	if runtime.GOOS == "darwin" {
		return int64(usage.Maxrss)
	}
	return int64(usage.Maxrss) << 10
}

func load() string {
	out, err := exec.Command("uptime").Output()
	if err != nil {
		return "not known"
	}
	_, after, _ := strings.Cut(string(out), "load average")
	return fmt.Sprintf("%s on %d CPUs", strings.TrimLeft(strings.TrimSpace(after), "s: "), runtime.NumCPU())
}

// spread is the median and the minimum of one figure.
type spread struct{ median, least float64 }

func over(runs []run, figure func(run) float64) spread {
	all := make([]float64, len(runs))
	for i, r := range runs {
		all[i] = figure(r)
	}
	slices.Sort(all)
	return spread{(all[len(all)/2] + all[(len(all)-1)/2]) / 2, all[0]}
}

// apart writes what one of n things takes by itself, of each command: the group with n
// of them less the group with none, over n. The second of a group is held against the
// first.
func apart(what string, n int, many, none group) string {
	var b strings.Builder
	var first [2]spread
	for i, c := range many.commands {
		fmt.Fprintf(&b, "%s by itself (%s less %s): ", what, c.name, none.commands[i].name)
		for j, of := range []func(run) float64{
			func(r run) float64 { return float64(r.wall) / float64(time.Millisecond) },
			func(r run) float64 { return float64(r.cpu) / float64(time.Millisecond) },
		} {
			with, without := over(c.runs, of), over(none.commands[i].runs, of)
			is := spread{(with.median - without.median) / float64(n), (with.least - without.least) / float64(n)}
			if i == 0 {
				first[j] = is
			}
			fmt.Fprintf(&b, "%s %.1f / %.1f ms, ratio %.2f / %.2f", []string{"wall", "; CPU"}[j], is.median, is.least, is.median/first[j].median, is.least/first[j].least)
		}
		b.WriteString("\n")
	}
	return b.String()
}

// table writes the figures as Markdown. Ratios are against the first command of
// a group, of medians and, behind the slash, of minima.
func table(groups []group) string {
	var b strings.Builder
	b.WriteString("| command | runs | wall | ratio | CPU | ratio | peak memory | ratio |\n| --- | --- | --- | --- | --- | --- | --- | --- |\n")
	figures := []struct {
		of   func(run) float64
		unit string
	}{
		{func(r run) float64 { return float64(r.wall) / float64(time.Millisecond) }, "ms"},
		{func(r run) float64 { return float64(r.cpu) / float64(time.Millisecond) }, "ms"},
		{func(r run) float64 { return float64(r.peak) / (1 << 20) }, "MiB"},
	}
	for _, g := range groups {
		for _, c := range g.commands {
			fmt.Fprintf(&b, "| %s | %d |", c.name, len(c.runs))
			for _, f := range figures {
				is, first := over(c.runs, f.of), over(g.commands[0].runs, f.of)
				fmt.Fprintf(&b, " %.1f / %.1f %s | %.2f / %.2f |", is.median, is.least, f.unit, is.median/first.median, is.least/first.least)
			}
			b.WriteString("\n")
		}
	}
	return b.String()
}
