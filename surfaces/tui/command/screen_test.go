package command_test

import (
	"slices"
	"strings"
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

// /sidebar alone does the other thing of what is shown, and says what it did.
func TestSidebarTurnsOver(t *testing.T) {
	for hidden, want := range map[bool]string{false: "off: the panels beside are hidden; /sidebar shows them again", true: "on: the panels beside are shown"} {
		s := day()
		s.hidden = hidden
		if r := run(s, "/sidebar"); r.Do != command.Sidebar || r.Arg+": "+text(r) != want {
			t.Errorf("hidden %v: %q, says %q", hidden, r.Arg, text(r))
		}
	}
}

// What the person put off is asked again before anything else is asked about trust: by
// /trust, by /trust approve and by the key of its page. To take approvals back waits for
// no answer.
func TestTrustAsksAgainFirst(t *testing.T) {
	for _, c := range []struct {
		line  string
		aside bool
		did   string
		view  bool
	}{
		{"/trust", true, "", false},
		{"/trust", false, "", true},
		{"/trust approve", true, "", false},
		{"/trust approve", false, "trust true", false},
		{"/trust revoke", true, "trust false", false},
	} {
		s := day()
		s.aside = c.aside
		r := run(s, c.line)
		if got := strings.Join(s.did, ", "); got != c.did || (r.View != nil) != c.view || c.aside && c.did == "" && !r.Body.Empty() {
			t.Errorf("%s, put off %v: did %q, view %v, says %q", c.line, c.aside, got, r.View != nil, text(r))
		}
	}
	s := day()
	page := run(s, "/trust").View
	s.aside = true
	for _, k := range page.Keys {
		if k.Chord == "a" {
			k.Do(t.Context(), "")
		}
	}
	if len(s.did) > 0 {
		t.Errorf("the key of the page did %q", s.did)
	}
}
