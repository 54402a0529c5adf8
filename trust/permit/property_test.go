package permit_test

import (
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"starling/bus"
	"starling/bus/spec"
	"starling/trust"
	"starling/trust/command"
	"starling/trust/permit"
)

var strictness = map[permit.Effect]int{permit.Allow: 0, permit.Ask: 1, permit.Deny: 2}

var someRules = []string{
	"*", "bash", "b*", "edit", "read", "deploy",
	"bash(git status)", "bash(git *)", "bash(git push *)", "bash(git * status)", "bash(rm *)", "bash(> out/*)", "bash(>> **)", "bash(< a)", "bash(A=*)", "bash(A=1)",
	"edit(src/**)", "edit(a)", "edit(~/**)", "edit(/**)", "read(**)", "grep(secret/**)", "deploy(env=live)", "deploy(env=*)",
}

func aRule(t *rapid.T) permit.Listed {
	r, err := permit.ParseRule(rapid.SampledFrom(someRules).Draw(t, "rule"))
	if err != nil {
		t.Fatal(err)
	}
	return permit.Listed{
		Rule:   r,
		Effect: rapid.SampledFrom([]permit.Effect{permit.Allow, permit.Ask, permit.Deny}).Draw(t, "effect"),
		Source: rapid.SampledFrom([]permit.Source{permit.FromFlag, permit.FromHome, permit.FromSession, permit.FromWorkspace}).Draw(t, "source"),
	}
}

func aPart(t *rapid.T) command.Part {
	var p command.Part
	switch rapid.IntRange(0, 4).Draw(t, "kind") {
	case 0:
		p = redirect(rapid.SampledFrom([]string{">", ">>", "<", "2>", "&>"}).Draw(t, "op"),
			rapid.SampledFrom([]string{"out/a", "a", "secret/x", "/x/y", "$f", "../z"}).Draw(t, "file"))
	case 1:
		p = variable(rapid.SampledFrom([]string{"A=1", "A=2", "B=1", "A=$x"}).Draw(t, "variable"))
	default:
		p = part(rapid.SliceOfN(rapid.SampledFrom([]string{"git", "status", "push", "-c", "rm", "/bin/rm", "$x", "*", "a b", "it's", "A=1"}), 1, 4).Draw(t, "words")...)
	}
	p.Dir = rapid.SampledFrom([]string{workspace, workspace, "/w/sub", "/x", ""}).Draw(t, "dir")
	p.Risk = rapid.SampledFrom([]spec.Risk{spec.RiskRead, spec.RiskChange, spec.RiskDestructive, spec.RiskNetwork}).Draw(t, "risk")
	p.Free = rapid.IntRange(0, 3).Draw(t, "free") == 0
	return p
}

var somePaths = []string{"a", "src/b", "secret/c", ".envrc", "/x/y", "/h/z", "/h/.ssh/id_rsa", "."}

func aLine(t *rapid.T) *command.Reading {
	r := &command.Reading{
		Parts:      rapid.SliceOfN(rapid.Custom(aPart), 0, 3).Draw(t, "parts"),
		Paths:      rapid.SliceOfN(rapid.SampledFrom(somePaths), 0, 2).Draw(t, "paths"),
		PathsKnown: rapid.Bool().Draw(t, "known"),
	}
	if rapid.IntRange(0, 5).Draw(t, "unread") == 0 {
		r.Unread = "a loop"
	}
	for range rapid.SampledFrom([]int{0, 0, 0, 1, 2}).Draw(t, "findings") {
		f := command.Finding{Why: "it does harm"}
		if rapid.Bool().Draw(t, "loss") {
			f.Loss = &command.Loss{Dir: workspace}
		}
		r.Floor = append(r.Floor, f)
	}
	return r
}

func aCall(t *rapid.T) permit.Call {
	c := bash(nil)
	if rapid.Bool().Draw(t, "bash") {
		c.Command = aLine(t)
	} else {
		c = on(rapid.SampledFrom([]string{"edit", "read", "grep", "deploy", "write"}).Draw(t, "tool"),
			rapid.SampledFrom([]spec.Risk{spec.RiskRead, spec.RiskChange, spec.RiskDestructive, ""}).Draw(t, "risk"),
			rapid.SliceOfN(rapid.SampledFrom(somePaths), 0, 2).Draw(t, "paths")...)
		c.PathsKnown = rapid.Bool().Draw(t, "known")
		c.Arguments = []byte(rapid.SampledFrom([]string{`{}`, `{"env":"live"}`, `{"env":1,"env":"live"}`, `[]`}).Draw(t, "arguments"))
	}
	c.Rewritten, c.Replaced = rapid.Bool().Draw(t, "rewritten"), rapid.Bool().Draw(t, "replaced")
	return c
}

var modes = []permit.Mode{permit.ModeYolo, permit.ModeAutoEdit, permit.ModeAsk, permit.ModePlan}

// world is a call, a policy without rules, and rules for it.
type world struct {
	call  permit.Call
	p     permit.Policy
	rules []permit.Listed
	says  permit.Verdicts
	kind  bus.VerdictKind
}

func aWorld(t *rapid.T) world {
	w := world{
		call:  aCall(t),
		rules: rapid.SliceOfN(rapid.Custom(aRule), 0, 4).Draw(t, "rules"),
		kind:  rapid.SampledFrom([]bus.VerdictKind{bus.NoOpinion, bus.Allow, bus.Ask, bus.Deny}).Draw(t, "plugin"),
		p: permit.Policy{
			Mode: rapid.SampledFrom(modes).Draw(t, "mode"),
			At:   trust.Folders{Workspace: workspace, Home: home}, StateHome: home + "/.starling",
		},
	}
	w.says = says(w.kind)
	return w
}

func (w world) decide(more ...permit.Listed) permit.Decision {
	rules := new(permit.Rules)
	for _, l := range append(slices.Clone(w.rules), more...) {
		rules.With(l.Source, l.Effect, l.Rule)
	}
	w.p.Rules = rules
	return permit.Decide(w.call, w.p, w.says)
}

// No rule, mode or plugin loosens the floor; work that may be lost in yolo is told.
func TestPropertyFloorHolds(t *testing.T) {
	floors := 0
	rapid.Check(t, func(t *rapid.T) {
		w := aWorld(t)
		d := w.decide()
		c := w.call.Command
		floor, losses := false, 0
		if c != nil {
			floor = c.Unread != ""
			for _, f := range c.Floor {
				if f.Loss != nil {
					losses++
				}
				floor = floor || f.Loss == nil || w.p.Mode != permit.ModeYolo
			}
		}
		for _, path := range w.call.Paths {
			floor = floor || path == "/h/.ssh/id_rsa" || path == ".envrc" && w.call.Risk != spec.RiskRead && (w.call.Risk != "" || !w.call.ReadOnly)
		}
		switch {
		case floor && d.Effect == permit.Allow:
			t.Fatalf("the floor was passed: %+v", d)
		case floor && d.Effect == permit.Ask && !d.Floor:
			t.Fatalf("the floor is not told: %+v", d)
		case d.Floor && !floor, d.Floor && len(d.Always) > 0:
			t.Fatalf("a floor that is none, or has an always: %+v", d)
		case d.Effect != permit.Deny && len(d.Losses) != losses, d.Effect == permit.Deny && d.Losses != nil:
			t.Fatalf("%d losses: %+v", losses, d)
		}
		if floor {
			floors++
		}
	})
	if floors == 0 {
		t.Fatal("no call met the floor")
	}
}

// A rule that denies is the last word, and no rule that denies or asks loosens.
func TestPropertyStrictRulesOnlyTighten(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		w := aWorld(t)
		before := w.decide()
		more := aRule(t)
		after := w.decide(more)
		if more.Effect != permit.Allow && strictness[after.Effect] < strictness[before.Effect] {
			t.Fatalf("%s %s made %+v of %+v", more.Effect, more.Rule, after, before)
		}
		if before.Effect == permit.Deny && after.Effect != permit.Deny {
			t.Fatalf("%s %s lifted the denial %+v: %+v", more.Effect, more.Rule, before, after)
		}
		all, err := permit.ParseRule(w.call.Tool)
		if err != nil {
			t.Fatal(err)
		}
		if d := w.decide(more, permit.Listed{Rule: all, Effect: permit.Deny, Source: more.Source}); d.Effect != permit.Deny {
			t.Fatalf("deny %s: %+v", all, d)
		}
	})
}

// A command with one more part is never judged milder, nor one that touches more.
func TestPropertyMorePartsOnlyTighten(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		w := aWorld(t)
		w.call = bash(aLine(t))
		before := w.decide()
		longer := *w.call.Command
		at := rapid.IntRange(0, len(longer.Parts)).Draw(t, "at")
		longer.Parts = slices.Insert(slices.Clone(longer.Parts), at, aPart(t))
		longer.Paths = append(slices.Clone(longer.Paths), rapid.SampledFrom(somePaths).Draw(t, "path"))
		longer.PathsKnown = longer.PathsKnown && rapid.Bool().Draw(t, "still known")
		w.call.Command = &longer
		if after := w.decide(); strictness[after.Effect] < strictness[before.Effect] {
			t.Fatalf("%+v became %+v", before, after)
		}
	})
}

// A stricter mode, and a plugin that says less than allow, are never milder.
func TestPropertyModesAreOrdered(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		w := aWorld(t)
		last := permit.Allow
		for _, mode := range modes {
			w.p.Mode = mode
			d := w.decide()
			if strictness[d.Effect] < strictness[last] {
				t.Fatalf("mode %s: %+v, milder than %s", mode, d, last)
			}
			last = d.Effect
		}
		var effects []int
		for _, kind := range []bus.VerdictKind{bus.Allow, bus.NoOpinion, bus.Ask, bus.Deny} {
			w.says = says(kind)
			effects = append(effects, strictness[w.decide().Effect])
		}
		if !slices.IsSorted(effects) {
			t.Fatalf("verdicts from allow to deny give %v", effects)
		}
	})
}

// What "always" stores lets exactly that call run, and rules taken back leave
// nothing.
func TestPropertyAlways(t *testing.T) {
	stored := 0
	check := func(t *rapid.T) {
		w := aWorld(t)
		w.says = nil
		rules := new(permit.Rules)
		for _, l := range w.rules {
			rules.With(l.Source, l.Effect, l.Rule)
		}
		w.p.Rules = rules
		before := permit.Decide(w.call, w.p, nil)
		listed := rules.List()
		if len(before.Always) > 0 {
			stored++
			if before.Effect != permit.Ask {
				t.Fatalf("always without a question: %+v", before)
			}
			for _, text := range before.Always {
				r, err := permit.ParseRule(text)
				if err != nil {
					t.Fatal(err)
				}
				if err := rules.Always(permit.FromSession, r); err != nil {
					t.Fatal(err)
				}
			}
			if d := permit.Decide(w.call, w.p, nil); d.Effect != permit.Allow {
				t.Fatalf("%q were stored and it still is %+v", before.Always, d)
			}
		}
		for _, l := range rules.List() {
			if !slices.Contains(listed, l) {
				if err := rules.Remove(l); err != nil {
					t.Fatal(err)
				}
			}
		}
		if diff := cmp.Diff(before, permit.Decide(w.call, w.p, nil)); diff != "" {
			t.Fatalf("after taking the rules back: %s", diff)
		}
	}
	for range 20 { // one round may draw none
		if rapid.Check(t, check); stored > 0 {
			break
		}
	}
	if stored == 0 {
		t.Fatal("always was never an answer")
	}
}

// The rule for one part of a command covers no part of other words.
func TestPropertyAlwaysIsExact(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		w := world{p: permit.Policy{Mode: permit.ModeAsk, At: trust.Folders{Workspace: workspace, Home: home}}}
		one, other := aPart(t), aPart(t)
		one.Dir, other.Dir = workspace, workspace
		one.Free, other.Free, one.Risk, other.Risk = false, false, spec.RiskChange, spec.RiskChange
		w.call = bash(line(one))
		d := w.decide()
		var rules []permit.Listed
		for _, text := range d.Always {
			r, err := permit.ParseRule(text)
			if err != nil {
				t.Fatal(err)
			}
			rules = append(rules, permit.Listed{Rule: r, Effect: permit.Allow, Source: permit.FromSession})
		}
		w.call = bash(line(other))
		same := one.Kind == other.Kind && slices.Equal(one.Words[len(one.Words)-1:], other.Words[len(other.Words)-1:])
		if one.Kind != command.Redirect {
			same = one.Kind == other.Kind && slices.Equal(one.Words, other.Words)
		}
		if d := w.decide(rules...); len(rules) > 0 && d.Effect == permit.Allow && !same {
			t.Fatalf("%q of %v covers %v", rules, one, other)
		}
	})
}
