package cli_test

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// want is a call that the model makes.
type want struct {
	name string
	args any
}

// asking is a lab whose model makes one reply of calls after the other, each call
// once it read the results of those before, and then says done. ROOT/ in arguments is
// the folder of the lab. before, if not nil, is called ahead of each reply.
func asking(t *testing.T, before func(l *lab, n int), replies ...[]want) *lab {
	t.Helper()
	var l *lab
	there := make(chan struct{})
	defer close(there)
	l = newLab(t, func(w *reply, n int, _ string) {
		<-there
		if before != nil {
			before(l, n)
		}
		if n >= len(replies) {
			w.send(says("done"))
			return
		}
		var chunks []string
		for i, c := range replies[n] {
			args, err := json.Marshal(c.args)
			if err != nil {
				t.Error(err)
			}
			chunks = append(chunks, toolCall(i, fmt.Sprintf("c%d-%d", n, i), c.name, strings.ReplaceAll(string(args), "ROOT/", l.root+"/")))
		}
		w.send(data(append(chunks, finish("tool_calls"))...))
	})
	return l
}

// one makes each call a reply of its own.
func one(calls ...want) [][]want {
	replies := make([][]want, len(calls))
	for i, c := range calls {
		replies[i] = []want{c}
	}
	return replies
}

type object map[string]any

func bash(line string) want { return want{"bash", object{"command": line}} }

func edit(path, before, after string) want {
	return want{"edit", object{"path": path, "edits": []object{{"old_text": before, "new_text": after}}}}
}

// results are what the model read of its calls, in order, as of the last request.
func (l *lab) results() []string {
	l.t.Helper()
	sent := l.sent()
	var texts []string
	for _, m := range messages(l.t, sent[len(sent)-1].body) {
		if m.Role == "tool" {
			texts = append(texts, m.text())
		}
	}
	return texts
}

// done runs starling to the model's last word and returns the results.
func (l *lab) done(args ...string) []string {
	l.t.Helper()
	e := l.run(append([]string{"--quiet"}, args...)...)
	if e.code != 0 || !strings.HasSuffix(strings.TrimSpace(e.stdout), "done") {
		l.t.Fatal(e)
	}
	return l.results()
}

// bytesOf is the content of a file that must be there.
func (l *lab) bytesOf(name string) string {
	l.t.Helper()
	raw, err := os.ReadFile(filepath.Join(l.root, name))
	if err != nil {
		l.t.Fatal(err)
	}
	return string(raw)
}

func fine(t *testing.T, results []string, want int) {
	t.Helper()
	if len(results) != want {
		t.Fatalf("%d results: %q", len(results), results)
	}
	for i, r := range results {
		if strings.Contains(r, "not found") || strings.Contains(r, "failed") || strings.Contains(r, "Blocked") {
			t.Fatalf("result %d: %s", i, r)
		}
	}
}
