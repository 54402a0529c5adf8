package session_test

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"strconv"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"starling/agent/session"
	"starling/bus/chat"
)

// tree is what a session must be, said simply.
type tree struct {
	parent map[string]string
	text   map[string]string
	labels map[string]string
	head   string
	title  string
}

func (m *tree) path() []string {
	out := []string{}
	for at := m.head; at != ""; at = m.parent[at] {
		out = append([]string{m.text[at]}, out...)
	}
	return out
}

func (m *tree) ids() []string {
	ids := []string{""}
	for i := range m.parent {
		ids = append(ids, i)
	}
	return ids
}

// Random trees of appends, jumps and labels, on a disk that is full now and
// then, are the same when they are opened again.
func TestTreeProperty(t *testing.T) {
	base := t.TempDir()
	run := 0
	rapid.Check(t, func(t *rapid.T) {
		run++
		d := &disk{room: 1 << 30}
		st := session.Wrapped(session.Store{Dir: filepath.Join(base, strconv.Itoa(run))},
			func(f session.File) session.File { return onDisk{unsynced{f}, d} })
		s, err := st.Create(session.Meta{Cwd: "/w"})
		if err != nil {
			t.Fatal(err)
		}
		m := &tree{parent: map[string]string{}, text: map[string]string{}, labels: map[string]string{}}
		saved := func(err error) {
			if unsaved := (*session.UnsavedError)(nil); err != nil && !errors.As(err, &unsaved) {
				t.Fatal(err)
			}
		}
		reopen := func() {
			d.set(1 << 30)
			if err := s.Flush(); err != nil {
				t.Fatal(err)
			}
			compare(t, s, m)
			if err := s.Close(); err != nil {
				t.Fatal(err)
			}
			if len(m.parent) == 0 && m.title == "" { // left no file
				s, err = st.Create(session.Meta{Cwd: "/w"})
			} else {
				s, err = st.Open(s.ID())
			}
			if err != nil {
				t.Fatal(err)
			}
			compare(t, s, m)
		}
		t.Repeat(map[string]func(*rapid.T){
			"append": func(t *rapid.T) {
				var messages []chat.Message
				for _, text := range rapid.SliceOfN(rapid.String(), 1, 4).Draw(t, "texts") {
					messages = append(messages, user(text))
					id := strconv.Itoa(len(m.parent) + 1)
					m.parent[id], m.text[id], m.head = m.head, text, id
				}
				saved(s.Append(messages...))
			},
			"jump": func(t *rapid.T) {
				to := rapid.SampledFrom(m.ids()).Draw(t, "to")
				saved(s.Jump(to))
				m.head = to
			},
			"label": func(t *rapid.T) {
				at, text := rapid.SampledFrom(m.ids()).Draw(t, "at"), rapid.String().Draw(t, "text")
				saved(s.Label(at, text))
				if at == "" {
					m.title = text
				} else {
					m.labels[at] = text
				}
			},
			"fill the disk": func(t *rapid.T) { d.set(rapid.IntRange(0, 400).Draw(t, "room")) },
			"reopen":        func(*rapid.T) { reopen() },
			"":              func(t *rapid.T) { compare(t, s, m) },
		})
		reopen()
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
	})
}

func compare(t *rapid.T, s *session.Session, m *tree) {
	t.Helper()
	messages, err := s.Messages()
	if err != nil {
		t.Fatal(err)
	}
	got := []string{}
	for _, msg := range messages {
		got = append(got, msg.Text())
	}
	if diff := cmp.Diff(m.path(), got); diff != "" {
		t.Fatalf("path (-want +got):\n%s", diff)
	}
	nodes := s.Nodes()
	if len(nodes) != len(m.parent) || s.Head() != m.head || s.Title() != m.title || len(s.Problems()) > 0 {
		t.Fatalf("%d nodes, head %q, title %q, problems %q; want %d, %q, %q", len(nodes), s.Head(), s.Title(), s.Problems(), len(m.parent), m.head, m.title)
	}
	leaf := map[string]bool{}
	for id := range m.parent {
		leaf[id] = true
	}
	for _, parent := range m.parent {
		leaf[parent] = false
	}
	for _, n := range nodes {
		if n.Parent != m.parent[n.ID] || n.Label != m.labels[n.ID] || n.Leaf != leaf[n.ID] {
			t.Fatalf("node %+v; want parent %q, label %q, leaf %v", n, m.parent[n.ID], m.labels[n.ID], leaf[n.ID])
		}
	}
}

// Whatever is in a file, reading does not fail on it but for its header, keeps
// every byte, and goes on with it.
func FuzzReader(f *testing.F) {
	const header = `{"kind":"session","version":1,"id":"x"}` + "\n"
	golden, err := os.ReadFile(filepath.Join("testdata", "format1.golden"))
	if err != nil {
		f.Fatal(err)
	}
	_, body, _ := bytes.Cut(golden, []byte("\n"))
	f.Add(body)
	f.Add(body[:len(body)-1])
	f.Add(body[:len(body)-20])
	f.Add([]byte("\x00\x00\n\xff\n{}\nnull"))
	f.Add([]byte(`{"kind":"message","id":"1","parent":"1","role":"user","blocks":[]}` + "\n" + `{"kind":"head","at":"1"}`))
	f.Add([]byte(`{"kind":"message","id":"1","role":"user","blocks":[{"kind":"text","te{"kind":"message","id":"2"}`))
	f.Fuzz(func(t *testing.T, body []byte) {
		if len(body) > 1<<20 {
			return
		}
		st := session.Wrapped(session.Store{Dir: t.TempDir()}, func(f session.File) session.File { return unsynced{f} })
		path := filepath.Join(st.Dir, "x.jsonl")
		whole := append([]byte(header), body...)
		ok(t, os.WriteFile(path, whole, 0o600))
		s := must[*session.Session](t)(st.Open("x"))
		before, _ := s.Messages() // damaged ones are left out
		nodes := len(s.Nodes())
		last := user("after all")
		ok(t, s.Append(last))
		ok(t, s.Close())

		again := must[*session.Session](t)(st.Read("x"))
		got, _ := again.Messages()
		if diff := cmp.Diff(append(texts(before), "user: after all"), texts(got)); diff != "" {
			t.Errorf("messages (-want +got):\n%s", diff)
		}
		if n := len(again.Nodes()); n != nodes+1 {
			t.Errorf("%d nodes became %d", nodes, n)
		}
		kept := must[[]byte](t)(os.ReadFile(path))
		aside, _ := os.ReadFile(path + ".torn-1")
		mark := len(whole) - len(aside)
		if !bytes.HasPrefix(kept, whole[:mark]) || !bytes.Equal(aside, whole[mark:]) {
			t.Errorf("bytes were lost: %q became %q and %q", whole, kept, aside)
		}
		if infos := must[[]session.Info](t)(st.List(session.Filter{})); len(infos) != 1 {
			t.Errorf("listing: %+v", infos)
		}
	})
}
