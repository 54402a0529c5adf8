package script

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"go.starlark.net/starlark"
)

// chunk is one file of a testdata file: chunks are parted by lines of "---". An
// expected error stands on its very line as `### regexp`; `### 0: regexp` is one
// without a line.
type chunk struct {
	name string
	src  string
	want map[int][]*regexp.Regexp
}

func readChunks(t *testing.T, path string) []chunk {
	t.Helper()
	src, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	var out []chunk
	for n, text := range strings.Split(string(src), "\n---\n") {
		c := chunk{name: fmt.Sprintf("%s/%d", filepath.Base(path), n+1), src: text, want: map[int][]*regexp.Regexp{}}
		for i, line := range strings.Split(text, "\n") {
			_, want, ok := strings.Cut(line, "### ")
			if !ok {
				continue
			}
			at := i + 1
			if rest, ok := strings.CutPrefix(want, "0: "); ok {
				at, want = 0, rest
			}
			re, err := regexp.Compile(want)
			if err != nil {
				t.Fatalf("%s:%d: %v", path, i+1, err)
			}
			c.want[at] = append(c.want[at], re)
		}
		out = append(out, c)
	}
	return out
}

// check compares the errors with those the chunk expects.
func (c chunk) check(t *testing.T, err error) {
	t.Helper()
	for _, e := range flatten(err) {
		rest := c.want[e.Line]
		found := false
		for i, re := range rest {
			if re.MatchString(e.Error()) {
				c.want[e.Line] = append(append([]*regexp.Regexp{}, rest[:i]...), rest[i+1:]...)
				found = true
				break
			}
		}
		if !found {
			t.Errorf("%s: unexpected error at line %d: %v", c.name, e.Line, e)
		}
		if e.Line > 0 && !strings.HasPrefix(e.Error(), fmt.Sprintf("chunk.star:%d:", e.Line)) {
			t.Errorf("%s: error without its place: %v", c.name, e)
		}
	}
	for line, list := range c.want {
		for _, re := range list {
			t.Errorf("%s: no error at line %d matches %q (got %v)", c.name, line, re, err)
		}
	}
}

func flatten(err error) []*Error {
	var list ErrorList
	var one *Error
	switch {
	case err == nil:
		return nil
	case errors.As(err, &list):
		return list
	case errors.As(err, &one):
		return []*Error{one}
	}
	return []*Error{{Msg: err.Error()}}
}

// runChunk takes a file through its whole life until apply returned.
func runChunk(src string, env Env) error {
	p, err := Parse("chunk", "chunk.star", []byte(src))
	if err != nil {
		return err
	}
	names := map[string]bool{}
	for n := range env.Predeclared {
		names[n] = true
	}
	if err := p.Compile(names); err != nil {
		return err
	}
	i := p.New(env)
	defer i.Close()
	if err := i.Load(context.Background()); err != nil {
		return err
	}
	return i.Apply(context.Background(), starlark.None)
}

// chunkNames are what a plugin of testdata may name; on calls its function at
// once, host_data is a frozen list and host_fails an error of the host.
func chunkNames() starlark.StringDict {
	nothing := func(_ *starlark.Thread, _ *starlark.Builtin, _ starlark.Tuple, _ []starlark.Tuple) (starlark.Value, error) {
		return starlark.None, nil
	}
	data := starlark.NewList([]starlark.Value{starlark.MakeInt(1)})
	data.Freeze()
	names := starlark.StringDict{"host_data": data}
	for _, n := range []string{"tool", "command", "provide", "effect", "invoke", "notify"} {
		names[n] = starlark.NewBuiltin(n, nothing)
	}
	names["on"] = starlark.NewBuiltin("on", func(t *starlark.Thread, _ *starlark.Builtin, args starlark.Tuple, _ []starlark.Tuple) (starlark.Value, error) {
		return starlark.Call(t, args[1], nil, nil)
	})
	names["host_fails"] = starlark.NewBuiltin("host_fails", func(_ *starlark.Thread, _ *starlark.Builtin, _ starlark.Tuple, _ []starlark.Tuple) (starlark.Value, error) {
		return nil, errHost
	})
	return names
}

var errHost = errors.New("the disk is full")

func TestChunks(t *testing.T) {
	files, err := filepath.Glob("testdata/*.star")
	if err != nil || len(files) == 0 {
		t.Fatalf("no testdata: %v", err)
	}
	for _, f := range files {
		for _, c := range readChunks(t, f) {
			t.Run(c.name, func(t *testing.T) {
				c.check(t, runChunk(c.src, Env{Predeclared: chunkNames()}))
			})
		}
	}
}
