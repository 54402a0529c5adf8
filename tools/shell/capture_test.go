package shell

import (
	"bytes"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"unicode/utf8"

	"pgregory.net/rapid"
)

// However a stream is cut into chunks, what is kept is its start and its end,
// and the counts are those of the whole.
func TestCaptureKeepsHeadAndTail(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		c := capture{headMax: rapid.IntRange(1, 20).Draw(t, "head"), tailMax: rapid.IntRange(1, 20).Draw(t, "tail")}
		var all []byte
		for _, chunk := range rapid.SliceOf(rapid.SliceOf(rapid.SampledFrom([]byte("ab\n\xff\xc3\xa9")))).Draw(t, "chunks") {
			whole := c.whole(len(chunk))
			c.add(chunk)
			all = append(all, chunk...)
			if whole != (len(all) <= c.headMax+c.tailMax) {
				t.Fatalf("whole is %v at %d bytes", whole, len(all))
			}
		}
		got := c.text()
		lines := int64(bytes.Count(all, []byte("\n")))
		if len(all) > 0 && all[len(all)-1] != '\n' {
			lines++
		}
		if got.Bytes != int64(len(all)) || got.Lines != lines {
			t.Fatalf("%d bytes, %d lines; want %d, %d", got.Bytes, got.Lines, len(all), lines)
		}
		if len(all) <= c.headMax+c.tailMax {
			if got.String() != string(all) || got.Omitted() != 0 {
				t.Fatalf("%q, want all of %q", got, all)
			}
			return
		}
		if !bytes.HasPrefix(all, []byte(got.Head)) || !bytes.HasSuffix(all, []byte(got.Tail)) {
			t.Fatalf("%+v is not the head and tail of %q", got, all)
		}
		if len(got.Head) < c.headMax-utf8.UTFMax+1 || len(got.Tail) < c.tailMax-utf8.UTFMax+1 {
			t.Fatalf("%+v keeps too little of %q", got, all)
		}
	})
}

func TestCutBetweenCharacters(t *testing.T) {
	for cut := range 8 {
		c := capture{headMax: 4 + cut, tailMax: 4 + cut}
		c.add([]byte(strings.Repeat("é€😀", 20)))
		if got := c.text(); !utf8.ValidString(got.Head) || !utf8.ValidString(got.Tail) || got.Omitted() <= 0 {
			t.Errorf("%d: %q", cut, got)
		}
	}
}

func TestTextSaysWhatIsMissing(t *testing.T) {
	got := Text{Head: "a\nb", Tail: "y\nz", Bytes: 106, Lines: 53}.String()
	if want := "a\nb\n[… 100 bytes, about 50 lines, left out …]\ny\nz"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
}

// Bug report C-03: output of any size and shape costs no memory. What is
// asserted is all that was ever allocated, which no collection hides.
func TestMemoryIsBounded(t *testing.T) {
	const size = 300 << 20
	for _, c := range []struct {
		name, line string
		lines      int64
	}{
		{"short lines", "yes | head -c 314572800", size / 2},
		{"one line", "head -c 314572800 /dev/zero", 1},
	} {
		t.Run(c.name, func(t *testing.T) {
			e := newEngine(t, nil)
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			heard := 0
			o := run(t, e, Command{Line: c.line, OnOutput: func(b []byte) { heard += len(b) }})
			runtime.ReadMemStats(&after)
			if o.Stdout.Bytes != size || o.Stdout.Lines != c.lines || heard != size || !o.Truncated {
				t.Errorf("%d bytes, %d lines, %d heard", o.Stdout.Bytes, o.Stdout.Lines, heard)
			}
			if kept := len(o.Stdout.Head) + len(o.Stdout.Tail); kept != 128<<10 {
				t.Errorf("%d bytes kept", kept)
			}
			if used := after.TotalAlloc - before.TotalAlloc; used > 16<<20 {
				t.Errorf("%d bytes allocated", used)
			}
		})
	}
}

func TestSpill(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "spill")
	e := newEngine(t, func(o *Options) { o.Spill, o.Head, o.Tail, o.SpillLimit = dir, 100, 100, 3000 })
	if o := run(t, e, Command{Line: "head -c 200 /dev/zero"}); o.Spill != "" || o.Truncated {
		t.Errorf("outcome %+v of output that fits", o)
	}
	o := run(t, e, Command{Line: "seq 500"}) // 1892 bytes
	whole := read(t, o.Spill)
	if o.SpillErr != nil || o.SpillBytes != o.Output.Bytes || !strings.HasPrefix(whole, "1\n2\n") || !strings.HasSuffix(whole, "499\n500\n") || int64(len(whole)) != o.Output.Bytes {
		t.Errorf("outcome %+v, %d bytes in the file", o, len(whole))
	}
	if info, err := os.Stat(o.Spill); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("%v %v", info.Mode(), err)
	}
	if o := run(t, e, Command{Line: "seq 5000"}); o.SpillBytes != 3000 || len(read(t, o.Spill)) != 3000 {
		t.Errorf("outcome %+v past the limit", o)
	}
	if err := e.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(o.Spill); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("after close: %v", err)
	}
}

// All spill files together are bounded: the oldest make room, but for those that
// are being written.
func TestSpillTotal(t *testing.T) {
	e := newEngine(t, func(o *Options) {
		o.Spill, o.Head, o.Tail, o.SpillTotal = filepath.Join(t.TempDir(), "spill"), 100, 100, 5000
	})
	var paths []string
	for range 4 {
		o := run(t, e, Command{Line: "seq 500"}) // 1892 bytes
		if o.SpillErr != nil || o.SpillBytes != 1892 {
			t.Errorf("outcome %+v", o)
		}
		paths = append(paths, o.Spill)
	}
	for i, path := range paths {
		if _, err := os.Stat(path); (err == nil) != (i >= 2) {
			t.Errorf("file %d of %d: %v", i, len(paths), err)
		}
	}
	o := run(t, e, Command{Line: "seq 5000"}) // 23893 bytes
	if o.SpillErr == nil || !strings.Contains(o.SpillErr.Error(), "used up") || o.SpillBytes != 5000 || o.Output.Bytes != 23893 || o.Status != 0 {
		t.Errorf("outcome %+v", o)
	}
	if whole := read(t, o.Spill); int64(len(whole)) != o.SpillBytes || !strings.HasPrefix(whole, "1\n2\n") {
		t.Errorf("%d bytes in the file, told of %d", len(whole), o.SpillBytes)
	}
}

// A spill folder that cannot be used costs the file, not the command.
func TestSpillFails(t *testing.T) {
	file := filepath.Join(t.TempDir(), "file")
	program(t, file, "")
	e := newEngine(t, func(o *Options) { o.Spill, o.Head, o.Tail = filepath.Join(file, "x"), 10, 10 })
	o := run(t, e, Command{Line: "seq 500"})
	if o.SpillErr == nil || o.Spill != "" || o.Status != 0 || o.Output.Bytes != 1892 {
		t.Errorf("outcome %+v", o)
	}
}
