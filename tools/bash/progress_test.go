package bash

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"
	"unicode/utf8"

	"pgregory.net/rapid"
)

// However output is cut into pieces and whenever a screen looks, the chunks
// together are the clean text: no character and no sequence is torn.
func TestChunksAreTheText(t *testing.T) {
	words := []string{"a", "é", "€", "😀", "\n", "\t", "\r\n", "\x1b[31m", "\x1b[0m", "\x1b]0;t\a", "\x1b]8;;x\x1b\\", "\x1b(B", "\x1b=", "\xff"}
	rapid.Check(t, func(t *rapid.T) {
		raw := strings.Join(rapid.SliceOfN(rapid.SampledFrom(words), 0, 60).Draw(t, "words"), "")
		want, _ := clean(raw)
		p := &pump{wake: make(chan struct{}, 1)}
		var got strings.Builder
		for rest := raw; rest != ""; {
			n := rapid.IntRange(1, min(len(rest), 9)).Draw(t, "cut")
			p.take([]byte(rest[:n]))
			rest = rest[n:]
			if rapid.Bool().Draw(t, "look") {
				chunk := p.chunk(false)
				if !utf8.ValidString(chunk) {
					t.Fatalf("chunk %q", chunk)
				}
				got.WriteString(chunk)
			}
		}
		got.WriteString(p.chunk(true))
		if got.String() != want {
			t.Fatalf("%q, want %q of %q", got.String(), want, raw)
		}
	})
}

// The states of a progress bar come as lines, not as one.
func TestChunksOfAProgressBar(t *testing.T) {
	p := &pump{wake: make(chan struct{}, 1)}
	var got []string
	for _, piece := range []string{"10%\r", "20%", "\r30%\r40%", "\r", "\ndone\n"} {
		p.take([]byte(piece))
		got = append(got, p.chunk(false))
	}
	got = append(got, p.chunk(true))
	if text := strings.Join(got, "|"); text != "10%|\n20%|\n40%||\ndone\n|" {
		t.Errorf("%q", text)
	}
}

// A screen that is slow gets the newest part of what it missed, in bounded memory.
func TestChunksOfAFlood(t *testing.T) {
	p := &pump{wake: make(chan struct{}, 1)}
	for range 1000 {
		p.take([]byte("first first first\n"))
	}
	p.take([]byte(strings.Repeat("é", maxChunk)))
	p.take([]byte("\nlast\n"))
	chunk := p.chunk(true)
	if len(chunk) > maxChunk+8 || !strings.HasPrefix(chunk, "…\n") || !strings.HasSuffix(chunk, "last\n") || strings.Contains(chunk, "first") || !utf8.ValidString(chunk) {
		t.Errorf("%d bytes: %.40q", len(chunk), chunk)
	}
	if cap(p.pending) > 4*maxChunk {
		t.Errorf("%d bytes kept", cap(p.pending))
	}
}

// A call's output reaches the screen while it runs, at a bounded pace and whole.
func TestProgress(t *testing.T) {
	l := newLab(t, nil)
	var mu sync.Mutex
	var chunks []string
	start := time.Now()
	done := make(chan result, 1)
	go func() {
		r, err := l.try(t.Context(), `for i in 1 2 3; do printf '%s\xe2' $i; while [ ! -e go$i ]; do sleep 0.01; done; printf '\x82\xac\n'; done; seq 1000`, 0, func(c string) {
			mu.Lock()
			chunks = append(chunks, c)
			mu.Unlock()
		})
		if err != nil {
			t.Error(err)
		}
		done <- r
	}()
	for i, start := range []string{"1", "1€\n2", "1€\n2€\n3"} {
		until(t, "a waiting command shows "+start, func() bool {
			mu.Lock()
			defer mu.Unlock()
			return strings.Join(chunks, "") == start
		})
		if err := os.WriteFile(filepath.Join(l.dir, fmt.Sprint("go", i+1)), nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	r := <-done
	mu.Lock()
	defer mu.Unlock()
	all := strings.Join(chunks, "")
	if !strings.HasPrefix(all, "1€\n2€\n3€\n") || !strings.HasSuffix(all, "999\n1000\n") || !strings.HasPrefix(r.Content, "1€\n2€\n3€\n1\n") {
		t.Errorf("%.60q", all)
	}
	if most := int(time.Since(start)/pace) + 3; len(chunks) > most {
		t.Errorf("%d chunks, at most %d fit in that time", len(chunks), most)
	}
}

// A screen that panics or hangs on costs the command nothing.
func TestProgressPanics(t *testing.T) {
	l := newLab(t, nil)
	calls := 0
	r, err := l.try(t.Context(), "echo a; sleep 0.2; echo b", 0, func(string) { calls++; panic("boom") })
	if err != nil || r.Content != "a\nb\n" || calls != 1 {
		t.Errorf("%+v %v, %d calls", r, err, calls)
	}
}
