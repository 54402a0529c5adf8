package session_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"starling/agent/session"
	"starling/bus/chat"
)

// Money spent on a branch that was left is spent; models without a price are named
// once, and a reply that cannot be read is said and not counted.
func TestUsage(t *testing.T) {
	paid := func(model string, u chat.Usage) chat.Message {
		m := reply("done")
		m.Model, m.Usage = model, &u
		return m
	}
	st := store(t)
	s := begin(t, st, user("one"), paid("p/a", chat.Usage{Input: 1, Output: 2, CacheRead: 3, Cost: 0.5}),
		user("two"), paid("p/b", chat.Usage{Input: 10}), user("three"), paid("p/b", chat.Usage{Output: 5}), reply("free"))
	ok(t, s.Jump("2"))
	ok(t, s.Append(user("another way"), paid("p/a", chat.Usage{Cost: 0.25, CacheWrite: 1}), paid("p/c", chat.Usage{})))
	want := chat.Usage{Input: 11, Output: 7, CacheRead: 3, CacheWrite: 1, Cost: 0.75}
	for _, from := range []*session.Session{s, must[*session.Session](t)(st.Read(s.ID()))} {
		used, unpriced, err := from.Usage()
		ok(t, err)
		if diff := cmp.Diff(want, used); diff != "" || strings.Join(unpriced, " ") != "p/b" {
			t.Errorf("without a price: %v; usage (-want +got):\n%s", unpriced, diff)
		}
	}
	ok(t, s.Close())

	path := filepath.Join(st.Dir, s.ID()+".jsonl")
	text := string(must[[]byte](t)(os.ReadFile(path)))
	ok(t, os.WriteFile(path, []byte(strings.Replace(text, `"cost":0.5`, `"cost":"5"`, 1)), 0o600))
	used, _, err := must[*session.Session](t)(st.Read(s.ID())).Usage()
	if want := (chat.Usage{Input: 10, Output: 5, CacheWrite: 1, Cost: 0.25}); used != want || err == nil || !strings.Contains(err.Error(), path) {
		t.Errorf("used %+v, want %+v; %v", used, want, err)
	}
}
