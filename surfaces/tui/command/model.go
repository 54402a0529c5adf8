package command

import (
	"context"
	"slices"
	"strings"

	"starling/bus/view"
	"starling/surfaces/tui/kit"
)

// chooseModel is /model [NAME [LEVEL]].
func chooseModel(_ context.Context, s Session, args string) Reply {
	f := strings.Fields(args)
	switch len(f) {
	case 0:
		return Reply{Pick: modelPick(s)}
	case 1:
		return setModel(s, f[0])
	case 2:
		r := setModel(s, f[0])
		if r.Warn {
			return r
		}
		level := setLevel(s, f[1])
		r.Warn = level.Warn
		r.Body.parts = append(r.Body.parts, level.Body.parts...)
		return r
	}
	return failed("/model takes a name and a level, such as /model %s high", s.Status().Model)
}

func modelPick(s Session) *Pick {
	at := s.Status().Model
	p := &Pick{Title: "model", Empty: "no model is known; models.json names them", Keys: []Key{{
		Chord: "enter", Help: "choose", Leaves: true,
		Do: func(_ context.Context, id string) Reply { return modelThenLevel(s, id) },
	}}}
	for i, m := range s.Models() {
		notes := []string{m.Provider}
		if m.Context > 0 {
			notes = append(notes, kit.Tokens(m.Context))
		}
		if m.Name != "" && m.Name != m.ID {
			notes = append([]string{m.Name}, notes...)
		}
		if isModel(m, at) {
			p.Mark = i
			notes = append(notes, "now")
		}
		detail := "does not think aloud"
		if len(m.Levels) > 0 {
			detail = "thinks: " + strings.Join(m.Levels, ", ")
		}
		p.Items = append(p.Items, Item{ID: m.ID, Text: m.ID, Note: join(notes), Detail: detail})
	}
	return p
}

// modelThenLevel sets a model and, where it has levels, asks for one.
func modelThenLevel(s Session, id string) Reply {
	r := setModel(s, id)
	if r.Warn {
		return r
	}
	for _, m := range s.Models() {
		if m.ID == id && len(m.Levels) > 1 {
			r.Pick = levelPick(s, m)
		}
	}
	return r
}

func setModel(s Session, name string) Reply {
	said, err := s.SetModel(name)
	if err != nil {
		return failure(err)
	}
	return note(said, "the model is %s%s", s.Status().Model, fromNextTurn(s))
}

// think is /think [LEVEL].
func think(_ context.Context, s Session, args string) Reply {
	if args != "" {
		return setLevel(s, args)
	}
	m := currentModel(s)
	if len(m.Levels) == 0 {
		return failed("%s has no levels of thinking; /model chooses another model", s.Status().Model)
	}
	return Reply{Pick: levelPick(s, m)}
}

func levelPick(s Session, m view.Model) *Pick {
	p := &Pick{Title: "thinking of " + m.ID, Keys: []Key{{
		Chord: "enter", Help: "choose", Leaves: true,
		Do: func(_ context.Context, id string) Reply { return setLevel(s, id) },
	}}}
	at := s.Status().Thinking
	for i, level := range m.Levels {
		item := Item{ID: level, Text: level}
		if level == at {
			p.Mark, item.Note = i, "now"
		}
		p.Items = append(p.Items, item)
	}
	return p
}

func setLevel(s Session, level string) Reply {
	if m := currentModel(s); len(m.Levels) > 0 && !slices.Contains(ladder, level) {
		if err := oneOf("level", level, m.Levels); err != nil {
			return failure(err)
		}
	}
	said, err := s.SetThinking(level)
	if err != nil {
		return failure(err)
	}
	return note(said, "thinking is %s%s", level, fromNextTurn(s))
}

// ladder are all levels: a model that lacks one takes the nearest and says so.
var ladder = []string{"off", "minimal", "low", "medium", "high", "xhigh", "max"}

func fromNextTurn(s Session) string {
	if s.Running() {
		return ", from the next turn on"
	}
	return ""
}

// currentModel is the one that answers now; the zero value when it is not listed.
func currentModel(s Session) view.Model {
	at := s.Status().Model
	for _, m := range s.Models() {
		if isModel(m, at) {
			return m
		}
	}
	return view.Model{}
}

// isModel tells whether a name of the status is this model: its id, or the end of it.
func isModel(m view.Model, name string) bool {
	return name != "" && (m.ID == name || m.Name == name || strings.HasSuffix(m.ID, "/"+name))
}

func completeModel(_ context.Context, s Session, args string) []Candidate {
	if name, _, ok := strings.Cut(args, " "); ok {
		for _, m := range s.Models() {
			if isModel(m, name) {
				return levels(m, name+" ")
			}
		}
		return nil
	}
	var list []Candidate
	for _, m := range s.Models() {
		list = append(list, Candidate{Text: m.ID, Help: join([]string{m.Provider, contextOf(m)})})
	}
	return list
}

func contextOf(m view.Model) string {
	if m.Context <= 0 {
		return ""
	}
	return kit.Tokens(m.Context)
}

func completeLevel(_ context.Context, s Session, _ string) []Candidate {
	return levels(currentModel(s), "")
}

func levels(m view.Model, before string) []Candidate {
	var list []Candidate
	for _, l := range m.Levels {
		list = append(list, Candidate{Text: before + l})
	}
	return list
}

// Mode is a permission mode.
type Mode struct{ Name, Help string }

// Modes are those there are, the narrowest first.
func Modes() []Mode {
	return []Mode{
		{"plan", "only what reads may run"},
		{"ask", "reading runs, a change asks first"},
		{"auto-edit", "edits in the workspace run, commands ask"},
		{"yolo", "all runs but what the safety floor asks"},
	}
}

// NextMode is the one behind mode, for Shift-Tab. yolo is not reached by a key alone:
// one press too many must not let everything run.
func NextMode(mode string) string {
	switch mode {
	case "ask":
		return "auto-edit"
	case "auto-edit":
		return "plan"
	}
	return "ask"
}

// mode is /mode [NAME].
func mode(_ context.Context, s Session, args string) Reply {
	if args != "" {
		return setMode(s, args)
	}
	p := &Pick{Title: "permission mode", Keys: []Key{{
		Chord: "enter", Help: "choose", Leaves: true,
		Do: func(_ context.Context, id string) Reply { return setMode(s, id) },
	}}}
	for i, m := range Modes() {
		item := Item{ID: m.Name, Text: m.Name, Note: m.Help}
		if m.Name == s.Mode() {
			p.Mark, item.Note = i, m.Help+" (now)"
		}
		p.Items = append(p.Items, item)
	}
	return Reply{Pick: p}
}

func setMode(s Session, name string) Reply {
	if err := s.SetMode(name); err != nil {
		return failure(err)
	}
	for _, m := range Modes() {
		if m.Name == name {
			return say("mode %s: %s", name, m.Help)
		}
	}
	return say("mode %s", name)
}

func completeMode(context.Context, Session, string) []Candidate {
	var list []Candidate
	for _, m := range Modes() {
		list = append(list, Candidate{Text: m.Name, Help: m.Help})
	}
	return list
}

// join puts what is not empty side by side.
func join(parts []string) string {
	return strings.Join(slices.DeleteFunc(slices.Clone(parts), func(p string) bool { return p == "" }), ", ")
}
