package permit

import (
	"slices"
	"strings"
)

// Strangers says of each rule of a flag that it is about none of the tools, and
// which one may have been meant. Rules that are kept hold for every workspace, and
// a star may be about tools that come later: of neither anything is said.
func (r *Rules) Strangers(tools []string) []string {
	var out []string
	for _, l := range r.List() {
		name := l.Rule.tool
		if l.Source != FromFlag || strings.Contains(name, "*") || slices.Contains(tools, name) {
			continue
		}
		meant := "the tools are " + strings.Join(tools, ", ")
		best := 3 // letters that may differ
		for _, tool := range tools {
			if d := distance(name, tool); d < best && d < len(tool) {
				best, meant = d, "did you mean "+tool+"?"
			}
		}
		out = append(out, "--"+string(l.Effect)+" "+l.Rule.String()+" is about no tool there is; "+meant)
	}
	return out
}

// distance counts the letters to change, add or leave out.
func distance(a, b string) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		last := row[0]
		row[0] = i + 1
		for j := range len(b) {
			change := last
			if a[i] != b[j] {
				change++
			}
			last = row[j+1]
			row[j+1] = min(change, row[j]+1, row[j+1]+1)
		}
	}
	return row[len(b)]
}
