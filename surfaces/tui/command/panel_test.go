package command_test

import (
	"testing"

	"starling/surfaces"
	"starling/surfaces/tui/command"
)

// What stands on the frame of a panel names it, though a plugin is called so too.
func TestPanelByItsFrame(t *testing.T) {
	s := day()
	open := s.panels[0]
	s.panels = nil
	for _, id := range []surfaces.ID{{Plugin: "other", Name: "slow"}, {Plugin: "slow", Name: "flood"}, {Plugin: "slow", Name: "slow"}, {Plugin: "two", Name: "a"}, {Plugin: "two", Name: "b"}} {
		open.ID = id
		s.panels = append(s.panels, open)
	}
	for _, c := range []struct{ name, want, says string }{
		{"slow", "slow/slow", ""},
		{"slow/slow", "slow/slow", ""},
		{"slow/flood", "slow/flood", ""},
		{"other/slow", "other/slow", ""},
		{"flood", "slow/flood", ""},
		{"other", "other/slow", ""},
		{"two", "", `"two" could be two/a or two/b`},
	} {
		r := run(s, "/panel "+c.name)
		got := ""
		if r.Do == command.ShowPanel {
			got = r.Panel.String()
		}
		if got != c.want || text(r) != c.says {
			t.Errorf("/panel %s goes to %q and says %q", c.name, got, text(r))
		}
	}
}
