package value

import (
	"encoding/json"
	"testing"
)

// BenchmarkView makes a view of an event and reads two fields, first and again.
func BenchmarkView(b *testing.B) {
	p := &payload{Text: "hello", Args: json.RawMessage(`{"path": "a.txt", "content": "x"}`), Paths: []string{"a.txt"}}
	var w Viewer
	b.Run("make and read", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			v, err := w.View("event", p, nil)
			if err != nil {
				b.Fatal(err)
			}
			for _, name := range []string{"text", "paths"} {
				if _, err := v.Attr(name); err != nil {
					b.Fatal(err)
				}
			}
		}
	})
	b.Run("read again", func(b *testing.B) {
		b.ReportAllocs()
		v, err := w.View("event", p, nil)
		if err != nil {
			b.Fatal(err)
		}
		for b.Loop() {
			if _, err := v.Attr("arguments"); err != nil {
				b.Fatal(err)
			}
		}
	})
}
