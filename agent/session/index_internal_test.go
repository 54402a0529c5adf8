package session

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"
)

// FuzzIndex holds the index against a plain reading of the same bytes: it never
// fails behind a good header, its tree has no cycles, and what it keeps and sets
// aside is all there is.
func FuzzIndex(f *testing.F) {
	const header = `{"kind":"session","version":1,"id":"x"}` + "\n"
	f.Add([]byte(`{"kind":"message","id":"1","ts":"2026-03-01T12:00:03Z","role":"user","blocks":[{"kind":"text","text":"a"}]}` + "\n" +
		`{"kind":"message","id":"2","parent":"1","role":"assistant","blocks":[]}` + "\n" + `{"kind":"head","at":"1"}` + "\n" + `{"kind":"label","text":"t"}`))
	f.Add([]byte(`{"kind":"message","id":"1","parent":"1","role":"user"}` + "\n{\"kind\":\"message\"}\n{\"kind\":\"message\"}\n"))
	f.Add([]byte("{\"kind\":\"message\",\"id\":\"line-2\",\"role\":\"user\",\"blocks\":[]}\r\n \n\x00\n[]\n{\"kind\":7}\n{\"kind\":\"x\",\"at\":3}"))
	f.Fuzz(func(t *testing.T, body []byte) {
		whole := append([]byte(header), body...)
		s := Store{}.session()
		if err := s.index(bytes.NewReader(whole), int64(len(whole))); err != nil {
			t.Fatal(err)
		}
		if got := s.tail.size + s.tail.fragment; got != int64(len(whole)) {
			t.Errorf("%d bytes are kept or set aside, of %d", got, len(whole))
		}
		if end := whole[:s.tail.size]; s.tail.unbroken == bytes.HasSuffix(end, []byte("\n")) {
			t.Errorf("unbroken %v behind %q", s.tail.unbroken, end)
		}
		for i, n := range s.nodes {
			if n.parent >= i || s.ids[n.id] != i {
				t.Errorf("node %d is %+v", i, n)
			}
			line := whole[n.offset : n.offset+n.length]
			if bytes.Contains(line, []byte("\n")) {
				t.Errorf("node %d has the line %q", i, line)
			}
			var k skimmed
			if err := json.Unmarshal(line, &k); err == nil && !strings.HasPrefix(n.id, "line-") && (k.ID != n.id || k.Role != n.role) && !twice(line) {
				t.Errorf("node %+v of line %q", n, line)
			}
		}
		if s.head != root && s.head >= len(s.nodes) {
			t.Errorf("head %d of %d", s.head, len(s.nodes))
		}
	})
}

// twice tells whether a line may have a field twice, of which the decoder takes
// the last and the index, which stops at the blocks, the first.
func twice(line []byte) bool {
	lower := bytes.ToLower(line)
	return bytes.Count(lower, []byte(`id`)) > 1 || bytes.Count(lower, []byte(`role`)) > 1
}

func TestSkimKnowsOurLinesOnly(t *testing.T) {
	for line, want := range map[string]skimmed{
		`{"kind":"message","id":"2","parent":"1","ts":"T","role":"user","blocks":[{"kind":"text`: {Kind: "message", ID: "2", Parent: "1", TS: "T", Role: "user"},
		`{"kind":"message","id":"2","role":"user","new":"x","blocks":null}`:                      {Kind: "message", ID: "2", Role: "user"},
		`{"kind":"message","id":"2","role":"user"}`:                                              {},
		`{"kind":"message","id":"\u0032","role":"user","blocks":[]}`:                             {},
		`{"kind":"message","id":2,"role":"user","blocks":[]}`:                                    {},
		`{"kind": "message","id":"2","role":"user","blocks":[]}`:                                 {},
		`{"kind":"message","role":"user","blocks":[]}`:                                           {},
		`{"kind":"label","id":"2","role":"user","blocks":[]}`:                                    {},
		`{"kind":"message","id":"é","role":"user","blocks":[]}`:                                  {},
		`{`: {}, ``: {}, `{"`: {}, `{"kind"`: {}, `{"kind":"message`: {},
	} {
		if got, ok := skim([]byte(line)); ok != (want.Kind != "") || ok && got != want {
			t.Errorf("%s: %+v, %v", line, got, ok)
		}
	}
}

func TestScannerLongLines(t *testing.T) {
	for _, n := range []int{0, 1, scanPrefix - 1, scanPrefix, scanPrefix + 1, 3 * scanPrefix} {
		for _, end := range []string{"", "\n", "\nx", "\r\n\n"} {
			text := strings.Repeat("a", n) + end
			sc := newScanner(strings.NewReader(text))
			rest := text
			for {
				l, err := sc.line()
				if err != nil {
					break
				}
				want, _, broken := strings.Cut(rest, "\n")
				if l.broken == broken || l.length != int64(len(want)) || !strings.HasPrefix(want, string(l.prefix)) ||
					l.cut != (len(l.prefix) < len(want)) || !strings.HasPrefix(text[l.offset:], want) {
					t.Fatalf("%d %q: line of %d: %d, cut %v, broken %v", n, end, len(want), l.length, l.cut, l.broken)
				}
				rest = strings.TrimPrefix(rest[len(want):], "\n")
			}
			if rest != "" {
				t.Errorf("%d %q: %d bytes were not read", n, end, len(rest))
			}
		}
	}
}
