package spec_test

import (
	"testing"

	"starling/bus/spec"
)

func TestModel(t *testing.T) {
	m := spec.NewModel("start")
	heard := 0
	stop := m.Watch(func() { heard++ })
	m.Begin("begun")
	if v, version := m.Load(); v != "begun" || version != 1 || m.Stored() {
		t.Errorf("begun: %v, version %d, stored %v", v, version, m.Stored())
	}
	m.Store("stored")
	if v, version := m.Load(); v != "stored" || version != 2 || !m.Stored() {
		t.Errorf("stored: %v, version %d, stored %v", v, version, m.Stored())
	}
	stop()
	m.Store("unheard")
	if heard != 2 {
		t.Errorf("heard %d changes", heard)
	}
}

func TestRenderMatches(t *testing.T) {
	for _, c := range []struct {
		pattern, tool string
		want          bool
	}{
		{"bash", "bash", true}, {"bash", "bash2", false}, {"git_*", "git_log", true}, {"*", "anything", true}, {"?", "ab", false},
	} {
		if got := (spec.Render{Tool: c.pattern}).Matches(c.tool); got != c.want {
			t.Errorf("%s, %s: %v", c.pattern, c.tool, got)
		}
	}
	for _, bad := range []string{"", "[", "a[b"} {
		if (spec.Render{Tool: bad}).Validate() == nil {
			t.Errorf("%q is taken", bad)
		}
	}
}
