package session_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"starling/agent/session"
	"starling/bus/chat"
)

// What is stored comes back as it was: signatures, usage, details, images, and
// calls nobody answered.
func TestMessagesComeBackAsStored(t *testing.T) {
	st := store(t)
	want := []chat.Message{
		user("hällo <&> \u2028 \x00 \"quoted\" \\n"),
		{
			Role: chat.Assistant, Stop: chat.StopTools, Model: "p/m", Usage: &chat.Usage{Input: 7, Output: 3, CacheRead: 1, Cost: 0.25},
			Blocks: []chat.Block{
				{Kind: chat.Thinking, Text: "hm", Signature: "eyJhbGciOiJ9.eyJzdWIiOiIx.c2lnbmF0dXJl"},
				{Kind: chat.Call, ID: "c1", Name: "read", Arguments: "{\"path\":\n\"a\"}"},
				{Kind: chat.Call, ID: "c2", Name: "read"},
			},
		},
		{Role: chat.ToolRole, Blocks: []chat.Block{
			{Kind: chat.Result, ID: "c1", Name: "read", Text: "x", IsError: true, Details: json.RawMessage(`{"a":[1,2,{"b":null}]}`)},
		}},
		{Role: chat.User, Blocks: []chat.Block{{Kind: chat.Image, MIME: "image/png", Data: []byte{0, 1, 255, '\n'}}}},
		{Role: chat.Assistant, Blocks: []chat.Block{{Kind: chat.Text, Text: "par"}}, Stop: chat.StopError, Error: "cut off"},
		{Role: chat.Assistant},
	}
	st.Mask = masker("not-in-there-at-all")
	s := begin(t, st, want...)
	for _, from := range []*session.Session{s, must[*session.Session](t)(st.Read(s.ID()))} {
		got := must[[]chat.Message](t)(from.Messages())
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("messages (-want +got):\n%s", diff)
		}
	}
	ok(t, s.Close())
}

// The file is format 1, to the byte.
func TestFormat(t *testing.T) {
	st := store(t)
	st.Rand = bytes.NewReader([]byte{1, 2, 3, 4})
	call, result := asks("c1")
	s := begin(t, st, user("go"), call, result, reply("done"))
	ok(t, s.Label("", "a <title>"))
	ok(t, s.Label("4", "end"))
	ok(t, s.Jump(""))
	ok(t, s.Append(user("again")))
	ok(t, s.Close())
	got := must[[]byte](t)(os.ReadFile(s.Path()))
	golden := filepath.Join("testdata", "format1.golden")
	if os.Getenv("UPDATE_GOLDEN") != "" {
		ok(t, os.WriteFile(golden, got, 0o644))
	}
	if diff := cmp.Diff(string(must[[]byte](t)(os.ReadFile(golden))), string(got)); diff != "" {
		t.Errorf("the format changed (-want +got):\n%s", diff)
	}
}

func TestFilesArePrivate(t *testing.T) {
	st := store(t)
	s := begin(t, st, user("x"))
	defer s.Close()
	r := must[*session.Recorder](t)(s.Recorder())
	ok(t, r.Record("p", "c", "clock", 0, json.RawMessage(`"`+strings.Repeat("x", 5000)+`"`)))
	ok(t, s.Flush())
	seen := 0
	ok(t, filepath.WalkDir(st.Dir, func(path string, d os.DirEntry, err error) error {
		if err != nil {
			return err
		}
		seen++
		want := os.FileMode(0o600)
		if d.IsDir() {
			want = 0o700
		}
		if info := must[os.FileInfo](t)(d.Info()); info.Mode().Perm() != want {
			t.Errorf("%s has mode %v, want %v", path, info.Mode().Perm(), want)
		}
		return nil
	}))
	if seen != 5 { // folder, session, record, blobs, one blob
		t.Errorf("%d files and folders, want 5", seen)
	}
}

func TestNothingSaidLeavesNoFile(t *testing.T) {
	st := store(t)
	s := must[*session.Session](t)(st.Create(session.Meta{Cwd: "/w"}))
	if _, err := s.ResumeRef(); err == nil {
		t.Error("an empty session offers to be resumed")
	}
	ok(t, s.Close())
	if entries := must[[]os.DirEntry](t)(os.ReadDir(st.Dir)); len(entries) != 0 {
		t.Errorf("left %v", entries)
	}
	if err := s.Append(user("x")); !errors.Is(err, session.ErrClosed) {
		t.Errorf("append after close: %v", err)
	}
}

// Two sessions of one moment get two ids, even when chance repeats itself; and
// ids sort by time.
func TestIDs(t *testing.T) {
	st := store(t)
	st.Now = func() time.Time { return time.Date(2026, 3, 1, 1, 2, 3, 4e6, time.FixedZone("", 3600)) }
	st.Rand = bytes.NewReader([]byte{1, 1, 1, 1, 1, 1, 1, 1, 2, 2, 2, 2})
	a, b := begin(t, st, user("a")), begin(t, st, user("b"))
	if a.ID() != "20260301-000203-004-01010101" || b.ID() != "20260301-000203-004-02020202" {
		t.Errorf("ids %s, %s", a.ID(), b.ID())
	}
	if _, err := st.Create(session.Meta{}); err == nil {
		t.Error("a source of random bytes at its end was not noticed")
	}
	ok(t, errors.Join(a.Close(), b.Close()))
}

func TestResolve(t *testing.T) {
	st := store(t)
	st.Rand = bytes.NewReader([]byte{1, 1, 1, 1, 2, 2, 2, 2})
	a, _ := written(t, st, user("a"))
	b, _ := written(t, st, user("b"), reply("c"), user("d"))
	for _, c := range []struct{ ref, want, err string }{
		{a, a, ""},
		{a[:len(a)-1], a, ""},
		{"last", b, ""},
		{"2026", "", a + ", " + b},
		{"1999", "", "there is none"},
		{"", "", "there is none"},
		{"../x", "", "there is none"},
	} {
		got, err := st.Resolve(c.ref)
		if got != c.want || (c.err == "") != (err == nil) || err != nil && !strings.Contains(err.Error(), c.err) {
			t.Errorf("%q: %q, %v; want %q, %q", c.ref, got, err, c.want, c.err)
		}
	}
	s := must[*session.Session](t)(st.Open("last:2"))
	same(t, s, user("b"), reply("c"))
	ok(t, s.Close())
	if _, err := st.Open("last:9"); err == nil || !strings.Contains(err.Error(), `"9"`) {
		t.Errorf("unknown message: %v", err)
	}
	if s, err := st.Open("last"); err != nil { // the refused one gave the lock back
		t.Error(err)
	} else {
		ok(t, s.Close())
	}
}

func TestTree(t *testing.T) {
	st := store(t)
	call, result := asks("c1")
	s := begin(t, st, user("one"), call, result, reply("two"), user("three"))
	for _, id := range []string{"2", "3"} {
		if err := s.Jump(id); !errors.Is(err, session.ErrInsideTurn) {
			t.Errorf("jump to %s: %v", id, err)
		}
		if _, err := s.Branch(id); !errors.Is(err, session.ErrInsideTurn) {
			t.Errorf("branch at %s: %v", id, err)
		}
	}
	if s.Head() != "5" {
		t.Errorf("a refused jump moved the head to %s", s.Head())
	}
	if prompt := must[string](t)(s.Branch("5")); prompt != "three" || s.Head() != "4" {
		t.Errorf("prompt %q, head %s", prompt, s.Head())
	}
	ok(t, s.Append(user("other")))
	ok(t, s.Label("6", "second try"))
	ok(t, s.Jump("5"))
	ok(t, s.Close())

	s = holds(t, st, s.ID(), user("one"), call, result, reply("two"), user("three"))
	nodes := s.Nodes()
	if n := nodes[5]; n.Parent != "4" || n.Label != "second try" || !n.Leaf || n.Time.IsZero() || nodes[3].Leaf {
		t.Errorf("nodes %+v", nodes)
	}
	for from, want := range map[string]string{"": "6", "1": "6", "5": "5", "6": "6"} {
		if got := must[string](t)(s.Newest(from)); got != want {
			t.Errorf("newest under %q is %s, want %s", from, got, want)
		}
	}
	ok(t, s.Jump(""))
	ok(t, s.Append(user("root")))
	same(t, s, user("root"))
	ok(t, s.Close())
}

func TestFork(t *testing.T) {
	st := store(t)
	call, result := asks("c1")
	from := begin(t, st, user("one"), call, result, reply("two"), user("three"))
	ok(t, from.Label("4", "here"))
	fork, prompt, err := st.Fork(from.ID()+":5", session.Meta{Cwd: "/elsewhere"}) // while it is in use
	ok(t, err)
	if prompt != "three" || fork.ForkedFrom() != from.ID()+":4" || fork.Meta().Cwd != "/elsewhere" || fork.Meta().Model != "m" {
		t.Errorf("prompt %q, from %q, meta %+v", prompt, fork.ForkedFrom(), fork.Meta())
	}
	ok(t, fork.Append(user("new")))
	ok(t, fork.Close())
	ok(t, from.Close())
	again := holds(t, st, fork.ID(), user("one"), call, result, reply("two"), user("new"))
	if label := again.Nodes()[3].Label; label != "here" {
		t.Errorf("label %q", label)
	}
	ok(t, again.Close())
	ok(t, holds(t, st, from.ID(), user("one"), call, result, reply("two"), user("three")).Close())
	if _, _, err := st.Fork(from.ID()+":2", session.Meta{}); !errors.Is(err, session.ErrInsideTurn) {
		t.Errorf("fork inside a turn: %v", err)
	}
	if infos := must[[]session.Info](t)(st.List(session.Filter{})); len(infos) != 2 {
		t.Errorf("a refused fork left something: %+v", infos)
	}
}

// E-08 on the reading side: a call without a result is returned without one, and
// its line stays as it is; what a request needs is the loop's to add.
func TestE08OrphansAreReadAsStored(t *testing.T) {
	st := store(t)
	call, _ := asks("c1")
	id, path := written(t, st, user("one"), call, user("continue"), reply("two"))
	before := lines(t, path)
	s := holds(t, st, id, user("one"), call, user("continue"), reply("two"))
	ok(t, s.Append(user("more")))
	ok(t, s.Close())
	if diff := cmp.Diff(before, lines(t, path)[:len(before)]); diff != "" {
		t.Errorf("old lines were rewritten:\n%s", diff)
	}
}

func TestDamage(t *testing.T) {
	st := store(t)
	id, path := written(t, st, user("one"), reply("two"))
	appendRaw(t, path, strings.Join([]string{
		`{"kind":"later","at":5,"id":{}}`,
		`{"kind":"message","id":"3","parent":"2","ts":"2026-01-01T00:00:00Z","role":"user","blocks":[{"kind":"te{"kind":"x"}`,
		`garbage`, ``,
		`{"kind":"message","id":"9","parent":"7","role":"user","blocks":[{"kind":"text","text":"lost parent"}]}`,
		`{"role":"assistant","kind":"message","blocks":[{"kind":"text","text":"no id"}],"error":"\u0041"}`,
		`{"kind":"message","id":"2","parent":"line-9","role":"user","blocks":[{"kind":"text","text":"twice"}]}`,
		`{"kind":"head","at":"77"}`, `{"kind":"label","node":"77","text":"x"}`, `[1]`,
	}, "\n")+"\n")
	s := must[*session.Session](t)(st.Open(id))
	got, err := s.Messages()
	want := []chat.Message{user("one"), reply("two"), user("lost parent"), {Role: chat.Assistant, Blocks: []chat.Block{{Kind: chat.Text, Text: "no id"}}}, user("twice")}
	if diff := cmp.Diff(texts(want), texts(got)); diff != "" {
		t.Errorf("messages (-want +got):\n%s", diff)
	}
	if err == nil || !strings.Contains(err.Error(), path) || !strings.Contains(err.Error(), "message 3") {
		t.Errorf("the message that cannot be read: %v", err)
	}
	if n := len(s.Problems()); n != 6 {
		t.Errorf("%d problems: %q", n, s.Problems())
	}
	before := lines(t, path)
	ok(t, s.Append(user("on")))
	ok(t, s.Close())
	after := lines(t, path)
	if diff := cmp.Diff(before, after[:len(before)]); diff != "" || !strings.Contains(after[len(after)-1], `"id":"10"`) {
		t.Errorf("lines we do not know were not kept:\n%s\n%s", diff, after[len(after)-1])
	}
}

func TestForeignFiles(t *testing.T) {
	st := store(t)
	ok(t, os.MkdirAll(st.Dir, 0o700))
	for name, c := range map[string]struct{ text, err string }{
		"newer":  {`{"kind":"session","version":2,"id":"newer"}` + "\n", "use a newer starling"},
		"none":   {`{"kind":"session","id":"none"}` + "\n", "no version"},
		"other":  {`{"kind":"message","id":"1"}` + "\n", "no header"},
		"binary": {"\x00\x01\xff", "no header"},
		"empty":  {"", "is empty"},
	} {
		path := filepath.Join(st.Dir, name+".jsonl")
		ok(t, os.WriteFile(path, []byte(c.text), 0o600))
		_, err := st.Open(name)
		if err == nil || !strings.Contains(err.Error(), c.err) || !strings.Contains(err.Error(), path) {
			t.Errorf("%s: %v, want %q with the file's name", name, err, c.err)
		}
		if got := string(must[[]byte](t)(os.ReadFile(path))); got != c.text {
			t.Errorf("%s was changed: %q", name, got)
		}
	}
	written(t, st, user("fine"))
	infos, err := st.List(session.Filter{})
	if len(infos) != 1 || infos[0].Prompt != "fine" {
		t.Errorf("a bad file hides good ones: %+v", infos)
	}
	if err == nil || !strings.Contains(err.Error(), "newer.jsonl") || strings.Contains(err.Error(), "empty.jsonl") {
		t.Errorf("error of the listing: %v", err)
	}
}

// A pipe in the place of a file of a session is an error at once, wherever it is used.
func TestPipes(t *testing.T) {
	st := store(t)
	id, path := written(t, st, user("fine"))
	ok(t, syscall.Mkfifo(path+".owner", 0o600))
	ok(t, syscall.Mkfifo(strings.TrimSuffix(path, ".jsonl")+".plugins.jsonl", 0o600))
	s := must[*session.Session](t)(st.Open(id))
	if _, err := s.Recorder(); err == nil || !strings.Contains(err.Error(), "not a regular file") {
		t.Errorf("record to write: %v", err)
	}
	if _, err := st.Recording(id); err == nil || !strings.Contains(err.Error(), "not a regular file") {
		t.Errorf("record to read: %v", err)
	}
	ok(t, os.Remove(path))
	ok(t, syscall.Mkfifo(path, 0o600))
	if _, err := s.Messages(); err == nil || !strings.Contains(err.Error(), "not a regular file") {
		t.Errorf("a message: %v", err)
	}
	ok(t, s.Close())
}

// What cannot be JSON does not keep a message from being stored.
func TestOddMessages(t *testing.T) {
	st := store(t)
	nan := 0.0
	m := chat.Message{
		Role: chat.Assistant, Usage: &chat.Usage{Input: 1, Cost: nan / nan},
		Blocks: []chat.Block{
			{Kind: chat.Text, Text: "a\xffb"},
			{Kind: chat.Result, ID: "x", Details: json.RawMessage(`{broken`)},
			{Kind: chat.Result, ID: "y", Details: json.RawMessage("{\n\"a\": 1\n}")},
		},
	}
	id, path := written(t, st, m)
	if n := len(lines(t, path)); n != 2 {
		t.Errorf("%d lines", n)
	}
	s := must[*session.Session](t)(st.Read(id))
	got := must[[]chat.Message](t)(s.Messages())[0]
	if got.Text() != "a\uFFFDb" || string(got.Blocks[1].Details) != `"{broken"` || string(got.Blocks[2].Details) != `{"a":1}` || got.Usage.Input != 1 {
		t.Errorf("%+v", got)
	}
	if !(m.Usage.Cost != m.Usage.Cost) {
		t.Error("the caller's message was changed")
	}
}

// A message beyond the longest line is stored without its longest parts.
func TestLongestLine(t *testing.T) {
	st := store(t)
	huge := strings.Repeat("x", session.MaxLine)
	id, path := written(t, st, user("before"), chat.Message{Role: chat.ToolRole, Blocks: []chat.Block{
		{Kind: chat.Result, ID: "c", Text: huge, Details: json.RawMessage(`"x"`)},
		{Kind: chat.Image, Data: make([]byte, session.MaxLine/2)},
	}}, user("after"))
	if info := must[os.FileInfo](t)(os.Stat(path)); info.Size() > session.MaxLine+1000 {
		t.Errorf("the file has %d bytes", info.Size())
	}
	s := must[*session.Session](t)(st.Read(id))
	got := must[[]chat.Message](t)(s.Messages())
	if len(got) != 3 || !strings.Contains(got[1].Blocks[0].Text[len(got[1].Blocks[0].Text)-60:], "bytes are not in the session file") ||
		got[1].Blocks[0].ID != "c" || got[1].Blocks[1].Kind != chat.Text || got[2].Text() != "after" {
		t.Error("not shortened as documented")
	}
}

// Several goroutines may write, read and walk one session.
func TestConcurrent(t *testing.T) {
	st := session.Wrapped(store(t), func(f session.File) session.File { return unsynced{f} })
	var mu sync.Mutex
	clock := st.Now
	st.Now = func() time.Time {
		mu.Lock()
		defer mu.Unlock()
		return clock()
	}
	s := begin(t, st, user("one"))
	var all sync.WaitGroup
	for range 4 {
		all.Go(func() {
			for range 25 {
				if err := s.Append(user("x"), reply("y")); err != nil {
					t.Error(err)
				}
				if got, err := s.Messages(); err != nil || len(got)%2 != 1 {
					t.Errorf("%d messages, %v: a reader saw half of an append", len(got), err)
				}
				s.Nodes()
				if err := s.Label("1", "l"); err != nil {
					t.Error(err)
				}
			}
		})
	}
	all.Wait()
	ok(t, s.Close())
	if n := len(messages(t, must[*session.Session](t)(st.Read(s.ID())))); n != 201 {
		t.Errorf("%d messages", n)
	}
}
