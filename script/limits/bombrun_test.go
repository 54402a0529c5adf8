package limits

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"
	"time"

	"go.starlark.net/starlark"
)

// bombEnv names the bomb this process is to set off instead of running tests.
const bombEnv = "LIMITS_TEST_BOMB"

func TestMain(m *testing.M) {
	if name := os.Getenv(bombEnv); name != "" {
		if err := setOff(name); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	os.Exit(m.Run())
}

// report is what the child tells of its bomb.
type report struct {
	Err       string
	Position  string
	Cancelled bool
	Returned  bool
	Late      time.Duration // from the cancel to the return
	Took      time.Duration
	Growth    int64 // most MiB of heap above the start
}

func setOff(name string) error {
	for _, b := range slices.Concat(probed, found, growing) {
		if b.name == name {
			steps, deadline := uint64(5_000_000), 6*time.Second // three times the plugin API's: a loaded machine must not decide
			if b.ends == "memory" {
				steps, deadline = math.MaxUint64, time.Minute
			}
			r, err := explode(b.src, steps, deadline)
			if err != nil {
				return err
			}
			return json.NewEncoder(os.Stdout).Encode(r)
		}
	}
	return fmt.Errorf("no bomb %q", name)
}

// hostBuiltins are what the bombs ask of a host.
func hostBuiltins() starlark.StringDict {
	nested := 0
	return starlark.StringDict{
		"emit": starlark.NewBuiltin("emit", func(_ *starlark.Thread, _ *starlark.Builtin, args starlark.Tuple, _ []starlark.Tuple) (starlark.Value, error) {
			if nested++; nested > 16 {
				return nil, errors.New("emit: plugins call each other in a circle")
			}
			defer func() { nested-- }()
			return starlark.Call(&starlark.Thread{}, args[0], nil, nil)
		}),
		"freeze": starlark.NewBuiltin("freeze", func(_ *starlark.Thread, _ *starlark.Builtin, args starlark.Tuple, _ []starlark.Tuple) (starlark.Value, error) {
			args[0].Freeze()
			return starlark.None, nil
		}),
	}
}

func explode(src string, steps uint64, deadline time.Duration) (*report, error) {
	g, err := program(src, true, Defaults(), hostBuiltins())
	if err != nil {
		return nil, err
	}
	heap := heapReader()
	base := heap()
	peak, stop, sampled := base, make(chan struct{}), make(chan struct{})
	go func() {
		defer close(sampled)
		for {
			select {
			case <-stop:
				return
			case <-time.After(time.Millisecond):
				peak = max(peak, heap())
			}
		}
	}()
	began := time.Now()
	c := start(g["f"], steps, deadline, NewWatchdog(WatchdogConfig{}))
	r := &report{}
	select {
	case <-c.done:
		r.Returned = true
	case <-time.After(deadline + 20*time.Second):
	}
	r.Took = time.Since(began)
	close(stop)
	<-sampled
	r.Growth = (peak - base) >> 20
	if at := c.cancelled.Load(); at != 0 {
		r.Cancelled = true
		r.Late = time.Since(time.Unix(0, at))
	}
	if r.Returned && c.err != nil {
		r.Err, r.Position = c.err.Error(), position(c.err)
	}
	return r, nil
}

func light(t *testing.T, name string) report {
	t.Helper()
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithTimeout(t.Context(), 2*time.Minute)
	defer stop()
	cmd := exec.CommandContext(ctx, exe)
	cmd.Env = append(os.Environ(), bombEnv+"="+name)
	var out, errs strings.Builder
	cmd.Stdout, cmd.Stderr = &out, &errs
	if err := cmd.Run(); err != nil {
		t.Fatalf("the process died: %v\n%.2000s", err, errs.String())
	}
	var r report
	if err := json.Unmarshal([]byte(out.String()), &r); err != nil {
		t.Fatalf("%v in %.500q", err, out.String())
	}
	return r
}

func TestBombs(t *testing.T) {
	for _, b := range slices.Concat(probed, found, growing) {
		t.Run(b.name, func(t *testing.T) {
			r := light(t, b.name)
			t.Logf("%v, %v after the cancel, heap +%d MiB, at %s: %.150s", r.Took.Round(time.Millisecond), r.Late.Round(time.Millisecond), r.Growth, r.Position, r.Err)
			if !r.Returned {
				t.Fatalf("did not return, cancelled: %v", r.Cancelled)
			}
			if r.Growth > 300 {
				t.Errorf("the heap grew by %d MiB", r.Growth)
			}
			// The bound is a second; a machine that others share is given more.
			if r.Late > 20*time.Second {
				t.Errorf("returned %v after the cancel", r.Late)
			}
			checkEnd(t, b, r)
		})
	}
}

func checkEnd(t *testing.T, b bomb, r report) {
	t.Helper()
	if b.ends == "value" {
		if r.Err != "" {
			t.Errorf("failed: %s", r.Err)
		}
		return
	}
	// Between two rounds of a while loop the interpreter says where the function is.
	inLoop := strings.Contains(b.src, "while") && strings.Contains(r.Err, "cancelled") && r.Position == "1:1"
	if !inLoop && !strings.HasPrefix(r.Position, fmt.Sprintf("%d:", b.line)) {
		t.Errorf("the error is at %q, not in line %d: %s", r.Position, b.line, r.Err)
	}
	end := "error"
	switch {
	case strings.Contains(r.Err, "cancelled: memory") && b.ends == "memory":
		end = "memory"
	case strings.Contains(r.Err, "cancelled"):
		end = "cancel"
	case isLimitError(r.Err):
		end = "limit"
	}
	if b.ends != "any" && end != b.ends {
		t.Errorf("ended with %s, not %s: %.300s", end, b.ends, r.Err)
	}
}

func isLimitError(msg string) bool {
	for _, part := range []string{"limit is", "limit of", "takes too long", "nested more than", "too large: more", "collide", "counting shared parts"} {
		if strings.Contains(msg, part) {
			return true
		}
	}
	return false
}
