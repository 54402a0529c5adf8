package bash

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"

	"starling/bus/spec"
	"starling/tools/shell"
)

// floodSize makes a process of this test program the host of a flood: it names the
// bytes of each output.
const floodSize = "STARLING_TEST_FLOOD"

// instead is what the program does instead of its tests; nil for nothing.
func instead() func() int {
	if os.Getenv(floodSize) == "" {
		return nil
	}
	return flood
}

// flood runs four calls side by side, each with that much output in short lines, and
// one line of 200 MB, and prints how far resident memory grew meanwhile.
func flood() int {
	size, err := strconv.ParseInt(os.Getenv(floodSize), 10, 64)
	if err == nil {
		err = pour(size)
	}
	if err != nil {
		fmt.Println(err)
		return 1
	}
	return 0
}

func pour(size int64) (err error) {
	dir, err := os.MkdirTemp("", "flood")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	e := shell.New(shell.Options{
		Dir: dir, Env: []string{"PATH=" + os.Getenv("PATH")}, Spill: filepath.Join(dir, "spill"), SpillLimit: 1 << 20,
	})
	defer func() {
		if closing := e.Close(context.Background()); err == nil {
			err = closing
		}
	}()
	tool := New(Options{Engine: e, Workspace: dir}).Tool()
	call := func(line string, bytes, lines int64) error {
		arguments, err := json.Marshal(map[string]any{"command": line, "timeout_s": 3000})
		if err != nil {
			return err
		}
		r, err := tool.Execute(context.Background(), spec.ToolCall{Arguments: arguments, Progress: func(string) {}})
		if err != nil {
			return err
		}
		var d Details
		if err := json.Unmarshal(r.Details, &d); err != nil {
			return err
		}
		if d.Bytes != bytes || d.Lines != lines || !d.Truncated || len(r.Content) > MaxHead+MaxTail+500 {
			return fmt.Errorf("%s: %+v, %d bytes shown", line, d, len(r.Content))
		}
		return nil
	}
	if err := call("seq 100000", 588895, 100000); err != nil { // what the runtime takes once
		return err
	}
	before, err := peak()
	if err != nil {
		return err
	}
	errs := make([]error, 5)
	var all sync.WaitGroup
	for i := range 4 {
		all.Go(func() { errs[i] = call(fmt.Sprintf("yes | head -c %d", size), size, size/2) })
	}
	all.Go(func() { errs[4] = call("head -c 200000000 /dev/zero | tr '\\0' x", 200_000_000, 1) })
	all.Wait()
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	after, err := peak()
	if err != nil {
		return err
	}
	fmt.Println(after - before)
	return nil
}

// peak is the most bytes this process had in memory so far.
func peak() (int64, error) {
	status, err := os.ReadFile("/proc/self/status")
	if err != nil {
		return 0, err
	}
	for line := range strings.Lines(string(status)) {
		if rest, ok := strings.CutPrefix(line, "VmHWM:"); ok {
			kb, err := strconv.ParseInt(strings.Fields(rest)[0], 10, 64)
			return kb << 10, err
		}
	}
	return 0, fmt.Errorf("no VmHWM in %s", status)
}

// Bug report C-03: output without an end costs no memory, neither one line nor many,
// nor four calls at once. With SOAK each of the four prints 2 GB.
func TestMemoryIsBounded(t *testing.T) {
	size := "67108864"
	if os.Getenv("SOAK") != "" {
		size = "2147483648"
	}
	cmd := exec.CommandContext(t.Context(), os.Args[0])
	cmd.Env = append(os.Environ(), floodSize+"="+size)
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	grown, err := strconv.ParseInt(strings.TrimSpace(string(out)), 10, 64)
	if err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	t.Logf("resident memory grew by %d KiB", grown>>10)
	if grown > 64<<20 {
		t.Errorf("resident memory grew by %d MiB", grown>>20)
	}
}
