package input

import (
	"cmp"
	"slices"

	"starling/surfaces"
)

// rank returns the indices of the texts that answer a query, best first; equals in
// their order.
func rank(query string, n int, text func(int) string) []int {
	type hit struct{ at, score int }
	var hits []hit
	for i := range n {
		if s, ok := surfaces.Score(query, text(i)); ok {
			hits = append(hits, hit{i, s})
		}
	}
	if query != "" {
		slices.SortStableFunc(hits, func(a, b hit) int { return cmp.Compare(b.score, a.score) })
	}
	out := make([]int, len(hits))
	for i, h := range hits {
		out[i] = h.at
	}
	return out
}
