package fs

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"starling/bus/spec"
	"starling/trust"
)

// The test program stands in for rg where it is called so: a machine without it
// must run these tests too.
func TestMain(m *testing.M) {
	if os.Args[0] == "rg" {
		os.Exit(standIn(os.Args[1:]))
	}
	os.Exit(m.Run())
}

// standIn prints the names of files with a matching line, taking each byte as a
// character.
func standIn(arguments []string) int {
	latin := func(b []byte) string {
		var s strings.Builder
		for _, c := range b {
			s.WriteRune(rune(c))
		}
		return s.String()
	}
	var re *regexp.Regexp
	code := 1
	for i, a := range arguments {
		if words, ok := strings.CutPrefix(a, "--regexp="); ok {
			re = regexp.MustCompile(words)
		}
		if a != "--" {
			continue
		}
		for _, path := range arguments[i+1:] {
			content, err := os.ReadFile(path)
			if err != nil {
				return 2
			}
			for line := range bytes.Lines(content) {
				if re.MatchString(latin(line)) {
					fmt.Printf("%s\x00", path)
					code = 0
					break
				}
			}
		}
	}
	return code
}

// programs are the rgs there are: the stand-in, and a real one.
func programs(t testing.TB) map[string]string {
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	if err := os.Symlink(self, filepath.Join(dir, "rg")); err != nil {
		t.Fatal(err)
	}
	paths := map[string]string{"stand-in": dir}
	for _, dir := range filepath.SplitList(os.Getenv("PATH")) {
		if _, err := os.Stat(filepath.Join(dir, "rg")); err == nil {
			paths["real"] = dir
		}
	}
	return paths
}

func grepText(t interface{ Fatalf(string, ...any) }, f *Files, ctx *testing.T, a map[string]any) string {
	b, err := json.Marshal(a)
	if err != nil {
		t.Fatalf("%v", err)
	}
	r, err := f.grep(ctx.Context(), spec.ToolCall{Arguments: b})
	if err != nil {
		t.Fatalf("%v: %v", a, err)
	}
	return r.Content
}

// With rg and without, the same lines are found.
func TestGrepWithRg(t *testing.T) {
	dir := t.TempDir()
	jail, err := trust.NewJail(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer jail.Close()
	own := New(jail)
	for name, path := range programs(t) {
		with := NewWith(jail, Options{Env: []string{"PATH=relative:" + path}})
		with.rgFrom, with.rgAll = 1, true
		if with.program("rg") == "" {
			t.Fatalf("%s is not found in %s", name, path)
		}
		piece := rapid.SampledFrom([]string{
			"a", "B", "k", `\s`, `\b`, `\w`, `\W`, "^", "$", "[^a]", "(a|B)", "x*", `\.`, ".", "é", "é?", "[à-é]", "(?i)s", `\B`, "a{2}", `\x{FFFD}`, "[[:^alpha:]]", `\pL`, "(?s).", `[\n ]`, "-",
		})
		word := rapid.SampledFrom([]string{"a", "aa", "B", "k", "K", "s", "ſ", "\u212A", "é", "\xe9", " ", "\t", ".", "\r", "\uFFFD", "-"})
		rapid.Check(t, func(rt *rapid.T) {
			pattern := rapid.Map(rapid.SliceOfN(piece, 1, 4), func(p []string) string { return strings.Join(p, "") }).
				Filter(func(p string) bool { _, err := regexp.Compile(p); return err == nil }).Draw(rt, "pattern")
			for i := range 3 {
				lines := rapid.SliceOfN(rapid.Map(rapid.SliceOfN(word, 0, 4), func(w []string) string { return strings.Join(w, "") }), 0, 4).Draw(rt, "lines")
				if err := os.WriteFile(filepath.Join(dir, fmt.Sprint(i)), []byte(strings.Join(lines, "\n")), 0o644); err != nil {
					rt.Fatal(err)
				}
			}
			a := map[string]any{"pattern": pattern, "ignore_case": rapid.Bool().Draw(rt, "ignore case")}
			if diff := cmp.Diff(grepText(rt, own, t, a), grepText(rt, with, t, a)); diff != "" {
				rt.Fatalf("%s, without and with (-, +):\n%s", name, diff)
			}
		})
	}
}

// A program of the workspace is none of ours, and one that fails loses nothing.
func TestGrepWithBadRg(t *testing.T) {
	dir, bin := t.TempDir(), t.TempDir()
	jail, err := trust.NewJail(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer jail.Close()
	marker := filepath.Join(bin, "ran")
	script := "#!/bin/sh\necho x > " + marker + "\nexit 2\n"
	for _, d := range []string{dir, bin} {
		if err := os.WriteFile(filepath.Join(d, "rg"), []byte(script), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	linked := t.TempDir()
	if err := os.Symlink(filepath.Join(dir, "rg"), filepath.Join(linked, "rg")); err != nil {
		t.Fatal(err)
	}
	for i := range 1500 { // more than are opened one by one
		if err := os.WriteFile(filepath.Join(dir, fmt.Sprint(i)), []byte("a1b\n"), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	a := map[string]any{"pattern": "a[0-9]b", "limit": 1}
	want := "0:1:a1b\n[1 of 1500 matching lines in 1500 files shown; narrow pattern, path or glob]\n"
	for _, path := range []string{dir, linked, dir + ":" + linked, "."} {
		f := NewWith(jail, Options{Env: []string{"PATH=" + path}})
		if got := f.program("rg"); got != "" {
			t.Errorf("PATH=%s: runs %s", path, got)
		}
	}
	f := NewWith(jail, Options{Env: []string{"PATH=" + dir + ":" + bin}})
	if got := grepText(t, f, t, a); got != want {
		t.Errorf("with an automaton: %q", got)
	}
	if _, err := os.Stat(marker); err == nil {
		t.Error("the program was started for a pattern that has an automaton")
	}
	f.rgAll = true
	if got := grepText(t, f, t, a); got != want {
		t.Errorf("got %q", got)
	}
	if _, err := os.Stat(marker); err != nil {
		t.Errorf("the program outside was not started: %v", err)
	}
}
