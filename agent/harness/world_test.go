package harness_test

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"starling/agent/harness"
	"starling/bus/chat"
	"starling/bus/view"
)

// place is a home and a workspace of a test.
type place struct {
	t        *testing.T
	root     string
	home, ws string
	mu       sync.Mutex
	notices  []string
	options  harness.Options
}

func newPlace(t *testing.T) *place {
	t.Helper()
	root := t.TempDir()
	p := &place{t: t, root: root, home: filepath.Join(root, "home"), ws: filepath.Join(root, "ws")}
	for _, dir := range []string{p.home, filepath.Join(p.ws, ".git")} {
		if err := os.MkdirAll(dir, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	p.options = harness.Options{
		Home: p.home, UserHome: root, Cwd: p.ws, Host: "headless", Model: "demo", Mode: "yolo",
		Environ: []string{"PATH=" + os.Getenv("PATH")},
		Notify: func(n view.Notice) {
			p.mu.Lock()
			defer p.mu.Unlock()
			p.notices = append(p.notices, strings.ReplaceAll(n.From+": "+n.Text, root+"/", ""))
		},
	}
	return p
}

func (p *place) said() string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return strings.Join(p.notices, "\n")
}

// write puts a file below the place's root, atomically as editors do.
func (p *place) write(name, content string) {
	p.t.Helper()
	path := filepath.Join(p.root, name)
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		p.t.Fatal(err)
	}
	tmp := path + ".tmp"
	if err := os.WriteFile(tmp, []byte(content), 0o644); err != nil {
		p.t.Fatal(err)
	}
	if err := os.Rename(tmp, path); err != nil {
		p.t.Fatal(err)
	}
}

func (p *place) read(name string) string {
	data, err := os.ReadFile(filepath.Join(p.root, name))
	if err != nil {
		return ""
	}
	return string(data)
}

func (p *place) start() *harness.Engine {
	p.t.Helper()
	e, err := harness.New(context.Background(), p.options)
	if err != nil {
		p.t.Fatalf("start: %v\n%s", err, p.said())
	}
	p.t.Cleanup(func() {
		if err := e.Close(context.Background()); err != nil {
			p.t.Errorf("close: %v", err)
		}
	})
	return e
}

// state of a plugin: "active", or state and reason, or "absent".
func (p *place) state(e *harness.Engine, name string) string {
	for _, row := range e.Plugins() {
		if row.Name == name {
			if row.Reason == "" {
				return row.State
			}
			return row.State + ": " + strings.ReplaceAll(row.Reason, p.root+"/", "")
		}
	}
	return "absent"
}

// scenario makes the model play a file.
func (p *place) scenario(src string) {
	p.write("steps.star", src)
	p.options.Model = "script:" + filepath.Join(p.root, "steps.star")
}

func (p *place) prompt(e *harness.Engine, text string) view.Outcome {
	p.t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	return e.Prompt(ctx, text)
}

func (p *place) eventually(what string, ok func() bool) {
	p.t.Helper()
	for deadline := time.Now().Add(time.Minute); time.Now().Before(deadline); time.Sleep(10 * time.Millisecond) {
		if ok() {
			return
		}
	}
	p.t.Fatalf("%s did not come about within a minute\n%s", what, p.said())
}

// lastResult is the content of the newest tool result.
func lastResult(e *harness.Engine) string {
	last := ""
	for _, m := range e.Transcript() {
		for _, b := range m.Blocks {
			if b.Kind == chat.Result {
				last = b.Text
			}
		}
	}
	return last
}
