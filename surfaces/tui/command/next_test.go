package command_test

import (
	"slices"
	"strings"
	"testing"

	"starling/surfaces/tui/command"
)

// /attach takes the files there are and says of the others what is against them, each
// beside the others; what is attached already stays so, once.
func TestAttach(t *testing.T) {
	for _, c := range []struct {
		line  string
		has   string
		do    command.Action
		files string
		want  string
		warn  bool
	}{
		{"/attach", "", command.None, "", "nothing is attached; /attach FILE", false},
		{"/attach", "a.txt,b.txt", command.None, "", "attached to the next prompt: a.txt, b.txt", false},
		{"/attach drop", "", command.None, "", "nothing is attached", false},
		{"/attach drop", "a.txt", command.Detach, "", "not attached any more: a.txt", false},
		{"/attach a.txt", "", command.Attach, "a.txt", "attached to the next prompt: a.txt", false},
		{"/attach  a.txt  b.txt a.txt", "", command.Attach, "a.txt,b.txt", "attached to the next prompt: a.txt, b.txt", false},
		{"/attach b.txt a.txt", "a.txt", command.Attach, "b.txt", "attached to the next prompt: a.txt, b.txt", false},
		{"/attach a.txt", "a.txt", command.None, "", "attached to the next prompt: a.txt", false},
		{"/attach @a.txt", "", command.Attach, "a.txt", "attached to the next prompt: a.txt", false},
		{`/attach "shots/a b.png" 'shots/a b.png'`, "", command.Attach, "shots/a b.png", "prompt: shots/a b.png", false},
		{`/attach shots/a\ b.png`, "", command.Attach, "shots/a b.png", "prompt: shots/a b.png", false},
		{`/attach @"shots/a b.png"`, "", command.Attach, "shots/a b.png", "prompt: shots/a b.png", false},
		{`/attach dir\c.txt`, "", command.Attach, `dir\c.txt`, `prompt: dir\c.txt`, false},
		{"/attach none", "", command.None, "", "none: no such file\nnothing is attached", true},
		{"/attach none a.txt", "", command.Attach, "a.txt", "none: no such file\na name with blanks stands in quotes\nattached to the next prompt: a.txt", true},
	} {
		s := day()
		s.files = []string{"a.txt", "b.txt", "shots/a b.png", `dir\c.txt`}
		if c.has != "" {
			s.attached = strings.Split(c.has, ",")
		}
		r := run(s, c.line)
		if got := text(r); r.Do != c.do || strings.Join(r.Files, ",") != c.files || !strings.Contains(got, c.want) || r.Warn != c.warn {
			t.Errorf("%s: action %d with %q, warning %v, says %q", c.line, r.Do, r.Files, r.Warn, got)
		}
	}
}

// Behind /attach paths are proposed, as behind @; what stands before the last one stays.
func TestAttachCompletes(t *testing.T) {
	for _, c := range []struct{ args, query, want string }{
		{"", "", "a.txt|shots/|\"a b.png\"|drop"},
		{"dr", "dr", "a.txt|shots/|\"a b.png\"|drop"},
		{"x.txt a", "a", "x.txt a.txt|x.txt shots/|x.txt \"a b.png\""},
		{"@a", "a", "@a.txt|@shots/|@\"a b.png\""},
		{`x "a b`, "a b", "x a.txt|x shots/|x \"a b.png\""},
	} {
		s := day()
		s.files = []string{"a.txt", "shots/", "a b.png"}
		list, err := command.Complete(t.Context(), s, "attach", c.args)
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, one := range list {
			got = append(got, one.Text)
		}
		if strings.Join(got, "|") != c.want || !slices.Equal(s.did, []string{`files "` + c.query + `"`}) {
			t.Errorf("%q: %q, asked for %q", c.args, got, s.did)
		}
	}
}

// A line that is sent into the run takes along what is attached.
func TestSteerTakesFiles(t *testing.T) {
	s := day()
	s.attached = []string{"a.txt"}
	if r := run(s, "/steer see this"); r.Do != command.Steer || r.Arg != "see this" || !slices.Equal(r.Files, s.attached) {
		t.Errorf("%+v", r)
	}
}

// In the line mode nothing names a key that is not there, and what has no effect says so
// and does nothing.
func TestLineMode(t *testing.T) {
	for line, want := range map[string]string{
		"/queue":         "/queue drop N drops one",
		"/help keys":     `\ at the end`,
		"/clear":         "no effect here",
		"/theme light":   "no effect here",
		"/theme":         "no effect here",
		"/sidebar":       "no effect here",
		"/sidebar on":    "no effect here",
		"/theme lihgt":   `did you mean "light"?`,
		"/sidebar maybe": "it is on, off",
		"/new":           "stop it with Ctrl-C first",
	} {
		s := day()
		s.lines, s.running = true, true
		r := run(s, line)
		if r.View != nil {
			r.Body = r.View.Load(t.Context())
		}
		got := text(r)
		if !strings.Contains(got, want) || r.Do != command.None || r.Pick != nil {
			t.Errorf("%s: does %d, says %q", line, r.Do, got)
		}
		for _, key := range []string{"Esc", "Alt-", "F6", "Del ", "Ctrl-O", "Up "} {
			if strings.Contains(got, key) {
				t.Errorf("%s names the key %q:\n%s", line, key, got)
			}
		}
	}
}
