//go:build unix

package main

import (
	"strings"
	"testing"
	"time"
)

// TestTable: medians and minima, against the first command of the group.
func TestTable(t *testing.T) {
	of := func(ms ...int) []run {
		var runs []run
		for _, m := range ms {
			runs = append(runs, run{time.Duration(m) * time.Millisecond, time.Duration(2*m) * time.Millisecond, int64(m) << 20})
		}
		return runs
	}
	if got := apart("a turn", 2, group{commands: []*command{{name: "a", runs: of(14)}, {name: "b", runs: of(22)}}},
		group{commands: []*command{{name: "c", runs: of(4)}, {name: "d", runs: of(7)}}}); !strings.Contains(got, "(b less d): wall 7.5 / 7.5 ms, ratio 1.50 / 1.50; CPU 15.0") {
		t.Errorf("got %s", got)
	}
	got := table([]group{{commands: []*command{{name: "a", runs: of(9, 2, 4)}, {name: "b", runs: of(6, 10, 5, 4)}}}})
	want := []string{
		"| command | runs | wall | ratio | CPU | ratio | peak memory | ratio |",
		"| --- | --- | --- | --- | --- | --- | --- | --- |",
		"| a | 3 | 4.0 / 2.0 ms | 1.00 / 1.00 | 8.0 / 4.0 ms | 1.00 / 1.00 | 4.0 / 2.0 MiB | 1.00 / 1.00 |",
		"| b | 4 | 5.5 / 4.0 ms | 1.38 / 2.00 | 11.0 / 8.0 ms | 1.38 / 2.00 | 5.5 / 4.0 MiB | 1.38 / 2.00 |",
	}
	if diff := strings.TrimSpace(got); diff != strings.Join(want, "\n") {
		t.Errorf("got\n%s", got)
	}
}
