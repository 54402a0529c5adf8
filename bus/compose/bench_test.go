package compose_test

import (
	"fmt"
	"math/rand"
	"testing"

	"starling/bus"
	"starling/bus/compose"
)

// graphs are the shapes the costs are told for; the last one mixes the mount
// order, so that most components wait first.
func graph(shape string, n int) []compose.Component {
	rnd := rand.New(rand.NewSource(7))
	list := make([]compose.Component, n)
	for i := range list {
		key := fmt.Sprintf("s%d", i)
		c := compose.Component{
			Name: key, Position: bus.At(bus.ClassEmbedded, i, key), Provides: []string{key},
			Apply: func(s *compose.Scope) error { return s.Provide(key, i) },
		}
		switch {
		case i == 0:
		case shape == "chain":
			c.Inject = []string{fmt.Sprintf("s%d", i-1)}
		case shape == "star":
			c.Inject = []string{"s0"}
		case shape == "dag":
			for range 3 {
				c.Inject = append(c.Inject, fmt.Sprintf("s%d", rnd.Intn(i)))
			}
		}
		list[i] = c
	}
	return list
}

var sizes = []int{100, 1_000, 10_000}

func BenchmarkMount(b *testing.B) {
	for _, shape := range []string{"chain", "star", "dag"} {
		for _, n := range sizes {
			for _, order := range []string{"in order", "shuffled"} {
				b.Run(fmt.Sprintf("%s/%d/%s", shape, n, order), func(b *testing.B) {
					list := graph(shape, n)
					if order == "shuffled" {
						rand.New(rand.NewSource(3)).Shuffle(n, func(i, j int) { list[i], list[j] = list[j], list[i] })
					}
					b.ReportAllocs()
					for b.Loop() {
						r := compose.New(compose.Options{})
						for _, c := range list {
							if _, err := r.Mount(c); err != nil {
								b.Fatal(err)
							}
						}
						settle(b, r)
						b.StopTimer()
						wantActive(b, r, n)
						shutdown(b, r)
						b.StartTimer()
					}
					b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*n), "ns/mount")
				})
			}
		}
	}
}

// BenchmarkRoot switches the root of a graph off and on: everything behind it
// is undone and loaded again.
func BenchmarkRoot(b *testing.B) {
	for _, shape := range []string{"chain", "star", "dag"} {
		for _, n := range sizes {
			b.Run(fmt.Sprintf("%s/%d", shape, n), func(b *testing.B) {
				r := compose.New(compose.Options{})
				defer shutdown(b, r)
				var root compose.ID
				for i, c := range graph(shape, n) {
					id, err := r.Mount(c)
					if err != nil {
						b.Fatal(err)
					}
					if i == 0 {
						root = id
					}
				}
				settle(b, r)
				b.ReportAllocs()
				for b.Loop() {
					_ = r.Switch(root, "off")
					settle(b, r)
					_ = r.Switch(root, "")
					settle(b, r)
				}
				wantActive(b, r, n)
				b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*n), "ns/mount")
			})
		}
	}
}

// BenchmarkReplaceOne replaces one leaf among many: the cost must not be that of
// the whole.
func BenchmarkReplaceOne(b *testing.B) {
	for _, n := range sizes {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			r := compose.New(compose.Options{})
			defer shutdown(b, r)
			list := graph("star", n)
			var leaf compose.ID
			for _, c := range list {
				leaf, _ = r.Mount(c)
			}
			settle(b, r)
			b.ReportAllocs()
			for b.Loop() {
				if err := r.Replace(leaf, list[n-1]); err != nil {
					b.Fatal(err)
				}
				settle(b, r)
			}
			wantActive(b, r, n)
		})
	}
}
