package command_test

import (
	"slices"
	"testing"

	"starling/surfaces"
	"starling/surfaces/tui/command"
)

// /sidebar says so where there is nothing beside that it could hide or show: a panel
// that is closed, and one that stands elsewhere, are none.
func TestSidebarSaysWhenNothingIsBeside(t *testing.T) {
	const none = "no plugin shows a panel beside now; /panel lists those there are"
	beside := func(p surfaces.Panel) bool { return p.Placement.Kind == surfaces.Side }
	elsewhere := slices.DeleteFunc(slices.Clone(day().panels), beside)
	closed := slices.Clone(day().panels)
	for i := range closed {
		closed[i].Tree = nil
	}
	for _, c := range []struct {
		name   string
		panels []surfaces.Panel
		want   string
	}{
		{"two beside", day().panels, ""},
		{"elsewhere", elsewhere, none},
		{"closed", closed, none},
		{"no panel", nil, none},
	} {
		for _, line := range []string{"/sidebar", "/sidebar on", "/sidebar off"} {
			s := day()
			s.panels = c.panels
			r := run(s, line)
			if got := text(r); got != c.want || r.Do != command.Sidebar {
				t.Errorf("%s, %s: says %q, want %q; does %d", c.name, line, got, c.want, r.Do)
			}
		}
	}
}
