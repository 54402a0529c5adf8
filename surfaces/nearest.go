package surfaces

import "strings"

// Nearest returns the candidate that name was most likely meant to be: that needs the
// fewest edits to become name, if they are few for its length; of two, the one that
// begins alike. Case and underscores do not count. It is "" when none is near.
func Nearest(name string, candidates []string) string {
	want := fold(name)
	if want == "" || len(want) > 64 {
		return ""
	}
	best, limit := "", (len(want)+2)/3+1
	for _, c := range candidates {
		if c == name {
			continue
		}
		d := distance(want, fold(c), limit+1)
		if d < limit || d == limit && best != "" && commonPrefix(want, fold(c)) > commonPrefix(want, fold(best)) {
			best, limit = c, d
		}
	}
	return best
}

// commonPrefix is the length of the common beginning: of two names equally near, the
// one that begins alike is meant.
func commonPrefix(a, b string) int {
	n := 0
	for n < len(a) && n < len(b) && a[n] == b[n] {
		n++
	}
	return n
}

func fold(s string) string {
	return strings.ToLower(strings.ReplaceAll(s, "_", ""))
}

// distance is the number of edits (insert, delete, replace, swap of two
// neighbours) from a to b, or limit when it is at least that.
func distance(a, b string, limit int) int {
	if d := len(a) - len(b); d >= limit || -d >= limit {
		return limit
	}
	row := func() []int { return make([]int, len(b)+1) }
	before, last, next := row(), row(), row()
	for j := range last {
		last[j] = j
	}
	for i := 1; i <= len(a); i++ {
		next[0] = i
		least := i
		for j := 1; j <= len(b); j++ {
			cost := 1
			if a[i-1] == b[j-1] {
				cost = 0
			}
			next[j] = min(last[j-1]+cost, last[j]+1, next[j-1]+1)
			if i > 1 && j > 1 && a[i-1] == b[j-2] && a[i-2] == b[j-1] {
				next[j] = min(next[j], before[j-2]+1)
			}
			least = min(least, next[j])
		}
		if least >= limit {
			return limit
		}
		before, last, next = last, next, before
	}
	return min(last[len(b)], limit)
}
