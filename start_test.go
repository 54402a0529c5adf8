package main

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// asProgram makes the test binary the program itself: it initialises every package
// that the program does.
const asProgram = "STARLING_TEST_AS_PROGRAM"

func TestMain(m *testing.M) {
	if os.Getenv(asProgram) != "" {
		main()
	}
	os.Exit(m.Run())
}

func version(t *testing.T, home string, env ...string) (stdout, stderr string) {
	t.Helper()
	cmd := exec.Command(os.Args[0], "--version")
	cmd.Dir = home
	cmd.Env = append([]string{asProgram + "=1", "HOME=" + home, "USERPROFILE=" + home, "SYSTEMROOT=" + os.Getenv("SYSTEMROOT")}, env...)
	var out, said bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &said
	if err := cmd.Run(); err != nil {
		t.Fatalf("--version: %v, %s", err, said.String())
	}
	return out.String(), said.String()
}

// Bounds of what runs before main, whatever is asked of the process. Time says
// nothing on a busy machine; bytes and allocations are the same in each run.
const (
	ownBytes, ownAllocs = 32 << 10, 200   // one package of ours
	allBytes, allAllocs = 768 << 10, 8000 // all packages; a compiled table of a library is soon more
)

// TestStartIsLean: nothing large is built at package initialisation. What needs a
// table or a regular expression makes it at its first use.
func TestStartIsLean(t *testing.T) {
	_, trace := version(t, t.TempDir(), "GODEBUG=inittrace=1")
	bytes, allocs, packages := 0, 0, 0
	for line := range strings.Lines(trace) {
		var name string
		var at, clock float64
		var b, a int
		if _, err := fmt.Sscanf(line, "init %s @%f ms, %f ms clock, %d bytes, %d allocs", &name, &at, &clock, &b, &a); err != nil {
			continue
		}
		bytes, allocs, packages = bytes+b, allocs+a, packages+1
		if inModule(name) && (b > ownBytes || a > ownAllocs) {
			t.Errorf("%s allocates %d bytes in %d pieces before main; the bound is %d in %d", name, b, a, ownBytes, ownAllocs)
		}
	}
	if bytes > allBytes || allocs > allAllocs {
		t.Errorf("initialisation allocates %d bytes in %d pieces, the bound is %d in %d:\n%s", bytes, allocs, allBytes, allAllocs, trace)
	}
	if packages < 50 {
		t.Fatalf("only %d packages were seen; the bound would hold nothing:\n%s", packages, trace)
	}
}

// TestVersionTouchesNothing: --version neither reads nor makes a file of the home.
func TestVersionTouchesNothing(t *testing.T) {
	home := t.TempDir()
	if out, said := version(t, home); !strings.HasPrefix(out, "starling version ") || said != "" {
		t.Errorf("--version printed %q and said %q", out, said)
	}
	if left, err := os.ReadDir(home); err != nil || len(left) > 0 {
		t.Errorf("--version left %v in an empty home, %v", left, err)
	}
	// Files that no reader could take are not read.
	for _, name := range []string{"models.json", "plugins.json", "trust.json", "permissions.json"} {
		if err := os.MkdirAll(filepath.Join(home, ".starling", name), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	if out, said := version(t, home); !strings.HasPrefix(out, "starling version ") || said != "" {
		t.Errorf("with a broken home --version printed %q and said %q", out, said)
	}
}
