package session_test

import (
	"fmt"
	"strings"
	"testing"

	"starling/agent/session"
)

func BenchmarkAppend(b *testing.B) {
	d := &disk{room: 1 << 60}
	st := d.store(b)
	st.Mask = masker("a-key-of-some-length", "another-key-of-some-length")
	s := begin(b, st, user("one"))
	m := reply(strings.Repeat("A sentence of an answer.\n", 40))
	d.writes, d.syncs = 0, 0
	b.ReportAllocs()
	for b.Loop() {
		ok(b, s.Append(m))
	}
	b.ReportMetric(float64(d.writes)/float64(b.N), "writes/op")
	b.ReportMetric(float64(d.syncs)/float64(b.N), "syncs/op")
	ok(b, s.Close())
}

func BenchmarkList1000(b *testing.B) {
	st := store(b)
	unsyncedStore := session.Wrapped(st, func(f session.File) session.File { return unsynced{f} })
	for i := range 1000 {
		call, result := asks("c")
		result.Blocks[0].Text = strings.Repeat("x", 30_000)
		written(b, unsyncedStore, user(fmt.Sprint("prompt ", i)), call, result, reply("done"))
	}
	b.ReportAllocs()
	for b.Loop() {
		if n := len(must[[]session.Info](b)(st.List(session.Filter{}))); n != 1000 {
			b.Fatal(n)
		}
	}
}

func BenchmarkResume300MB(b *testing.B) {
	st := store(b)
	id := largeSession(b, st, 50_000, 300<<20)
	b.ReportAllocs()
	for b.Loop() {
		s := must[*session.Session](b)(st.Open(id))
		if _, _, err := s.Recent(session.ResumeBytes); err != nil {
			b.Fatal(err)
		}
		ok(b, s.Close())
	}
}

func BenchmarkMask(b *testing.B) {
	m := masker("a-key-of-some-length", "another-key-of-some-length")
	for name, text := range map[string]string{
		"plain":   strings.Repeat("A sentence of an answer. ", 2600),
		"escapes": strings.Repeat(`fmt.Printf("a sentence\n") `, 2600),
	} {
		b.Run(name, func(b *testing.B) {
			b.SetBytes(int64(len(text)))
			b.ReportAllocs()
			for b.Loop() {
				m.Text(text)
			}
		})
	}
}
