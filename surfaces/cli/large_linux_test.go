package cli_test

import (
	"fmt"
	"os"
	"strconv"
	"strings"
	"testing"
)

// resident is the memory of the session that stands in RAM, in MiB.
func (w *window) resident() float64 {
	w.t.Helper()
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", w.pid))
	if err != nil {
		w.t.Fatal(err)
	}
	for line := range strings.Lines(string(text)) {
		if rest, ok := strings.CutPrefix(line, "VmRSS:"); ok {
			kib, err := strconv.Atoi(strings.Fields(rest)[0])
			if err != nil {
				w.t.Fatal(err)
			}
			return float64(kib) / 1024
		}
	}
	w.t.Fatal("no VmRSS")
	return 0
}

// Bug report F-05: ten million bytes without a line feed come through the whole
// program, and a key typed meanwhile is on the screen before they end.
func TestLineOfTenMillion(t *testing.T) {
	const piece, pieces = 64 << 10, 160
	typed := make(chan struct{})
	l := newLab(t, func(w *reply, _ int, _ string) {
		text := data(content(strings.Repeat("word ", piece/5)))
		text = strings.TrimSuffix(text, events("[DONE]"))
		for i := range pieces {
			if i == pieces/2 {
				select {
				case <-typed:
				case <-w.r.Context().Done():
				}
			}
			w.send(text)
		}
		w.send(data(content(" TheEnd42"), finish("stop")))
	})
	w := l.open(120, 40)
	w.sees("what is to be done?")
	w.press("\x1b[200~go\x1b[201~\r")
	w.sees("word word")
	w.press("meanwhile")
	w.sees("meanwhile")
	close(typed)
	w.sees("TheEnd42")
	w.eventually("the end of the run", func() bool { return !strings.Contains(w.screen(), "Esc stops") })
	t.Logf("%.0f MiB stand in memory", w.resident())
	if got := w.resident(); got > 400 {
		t.Errorf("%.0f MiB for 10 MiB of text", got)
	}
	w.press("\x15\x03\x03")
	w.leaves()
}

// A conversation of 100 000 lines takes less than 130 MiB of memory.
func TestMemoryOfLines(t *testing.T) {
	const lines = 100_000
	var text strings.Builder
	for i := range lines {
		fmt.Fprintf(&text, "line %d of a long answer\n\n", i)
		if text.Len() > 1<<20 && i%1000 == 0 {
			text.WriteString("```\n\n```\n\n")
		}
	}
	l := newLab(t, func(w *reply, _ int, _ string) {
		rest := text.String()
		for len(rest) > 0 {
			n := min(len(rest), 32<<10)
			w.send(strings.TrimSuffix(data(content(rest[:n])), events("[DONE]")))
			rest = rest[n:]
		}
		w.send(data(content(" TheEnd42"), finish("stop")))
	})
	w := l.open(120, 40)
	w.sees("what is to be done?")
	start := w.resident()
	if start > 45 {
		t.Errorf("%.0f MiB at the start", start)
	}
	w.press("\x1b[200~go\x1b[201~\r")
	w.sees("TheEnd42")
	w.eventually("the end of the run", func() bool { return !strings.Contains(w.screen(), "Esc stops") })
	w.press("\x1b[5~\x1b[5~\x1b[1~") // pages up, and to the beginning
	w.sees("line 0 of")
	w.size(100, 40)
	w.sees("line 0 of")
	full := w.resident()
	t.Logf("%.0f MiB at the start, %.0f MiB with %d lines", start, full, lines)
	if full > 130 {
		t.Errorf("%.0f MiB with %d lines", full, lines)
	}
	w.press("\x03\x03")
	w.leaves()
}
