package permit

import (
	"slices"
	"strings"

	"starling/bus"
	"starling/bus/spec"
	"starling/trust/command"
)

// Decide tells what becomes of a call. The order: a rule that denies; the mode
// plan; the safety floor and what could not be read; rules that ask; rules that
// allow; plugins; the mode. A later step only decides what the earlier ones left
// open, but for plugins, which may always ask or deny. plugins may be nil.
//
// It reads the file system to follow the links of redirected files, and nothing
// else.
func Decide(c Call, p Policy, plugins Verdicts) Decision {
	j := judge{c: c, p: p, pl: places{p.At, p.Extra}, rules: p.Rules.List()}
	d := j.decide(plugins)
	if d.Effect != Deny {
		d.Losses = j.floor.losses
	}
	return d
}

// judge is one decision under way.
type judge struct {
	c     Call
	p     Policy
	pl    places
	rules []Listed
	floor floor
	// opening are flags that a hint needs before any rule: they open the floor.
	opening []string
}

func (j *judge) decide(plugins Verdicts) Decision {
	denied, asked := j.strict()
	if denied != nil {
		return Decision{Effect: Deny, By: by(*denied), Reasons: []string{said(*denied)}, Hint: takeBack(*denied)}
	}
	if j.p.Mode == ModePlan && !j.c.ReadOnly {
		return Decision{
			Effect: Deny, By: "mode plan", Reasons: []string{"in mode plan only tools that read run, and " + j.c.Tool + " may change something; a person can leave the mode with /mode"},
			Hint: "run without --mode plan",
		}
	}
	j.floor = floorOf(j.c, j.p, j.pl) // last: it may look for work to lose
	var d Decision
	switch {
	case j.floor.asks():
		d = Decision{Effect: Ask, By: "floor", Reasons: slices.Clone(j.floor.reasons), Floor: true, Hint: j.floorHint(asked != nil)}
	// What carries foreign text would be judged here: below the floor, above rules.
	case asked != nil:
		d = Decision{Effect: Ask, By: by(*asked), Reasons: []string{j.doubt(*asked)}, Hint: takeBack(*asked)}
	default:
		d = j.open()
	}
	if plugins == nil {
		return d
	}
	return j.hear(plugins(d.Floor), d, asked != nil)
}

// hear joins what plugins say with what stands. An allow only answers an ordinary
// question about a call no plugin rewrote.
func (j *judge) hear(v bus.Verdict, d Decision, firm bool) Decision {
	name := v.By.Name
	if name == "" {
		name = "unknown"
	}
	who := "plugin " + name
	why := v.Why
	if why == "" && v.Err != nil {
		why = "it failed: " + v.Err.Error()
	}
	switch v.Kind {
	case bus.NoOpinion:
		return d
	case bus.Allow:
		if d.Effect != Ask || d.Floor || firm {
			return d
		}
		if j.c.Rewritten {
			d.Reasons = append(d.Reasons, who+" would allow it, which does not count for a call that a plugin rewrote")
			return d
		}
		return Decision{Effect: Allow, By: who, Reasons: reasons(who+" allows it", why)}
	case bus.Ask:
		if d.Effect == Ask {
			d.Reasons = append(d.Reasons, reasons(who+" wants a person to decide", why)...)
			d.Always, d.Hint = nil, "" // a rule would not help against a plugin
			return d
		}
		return Decision{Effect: Ask, By: who, Reasons: reasons(who+" wants a person to decide", why)}
	}
	return Decision{Effect: Deny, By: who, Reasons: reasons(who+" denies it", why)}
}

func reasons(what, why string) []string {
	if why == "" {
		return []string{what}
	}
	return []string{what + ": " + why}
}

// strict returns the rule that denies, and the one that asks. A rule that denies
// and may be about the call asks.
func (j *judge) strict() (denied, asked *Listed) {
	for i := range j.rules {
		l := &j.rules[i]
		if l.Effect == Allow || !l.Rule.names(j.c.Tool) {
			continue
		}
		switch fit := j.meets(l.Rule); {
		case fit == no:
		case l.Effect == Deny && fit == yes:
			return l, nil
		case asked == nil || asked.Effect == Deny && l.Effect == Ask && fit == yes:
			asked = l
		}
	}
	return nil, asked
}

// meets tells how a rule that asks or denies fits the call.
func (j *judge) meets(r Rule) fit {
	if r.pattern == "" {
		return yes
	}
	switch shapes[j.c.Tool] {
	case ofCommand:
		return j.meetsCommand(r)
	case ofPaths:
		return r.meetsPaths(j.pl, j.pl.absAll(j.c.Paths), j.c.PathsKnown)
	case ofHost:
		return r.meetsHost(j.c.Arguments)
	}
	return r.meetsArgument(j.c.Arguments)
}

func (j *judge) meetsCommand(r Rule) fit {
	if j.c.Command == nil {
		return maybe
	}
	best := no // what was not read is the floor's affair
	for _, part := range j.c.Command.Parts {
		best = max(best, r.meetsPart(j.pl, part))
	}
	return best
}

// open decides by the rules that allow and by the mode.
func (j *judge) open() Decision {
	if j.c.Command != nil {
		return j.command(j.c.Command)
	}
	if rule := j.allowed(); rule != nil {
		return Decision{Effect: Allow, By: by(*rule), Reasons: []string{said(*rule)}}
	}
	return j.byMode()
}

// allowed returns the rule that allows a call that is no command; of several
// that cover its paths together, the first.
func (j *judge) allowed() (first *Listed) {
	paths := j.pl.absAll(j.c.Paths)
	covered := make([]bool, len(paths))
	for i := range j.rules {
		l := &j.rules[i]
		if l.Effect != Allow || !l.Rule.names(j.c.Tool) {
			continue
		}
		switch shapes[j.c.Tool] {
		case ofCommand:
			if l.Rule.pattern == "" {
				return l
			}
		case ofPaths:
			if len(paths) == 0 && first == nil && l.Rule.pattern == "" {
				first = l
			}
			for n, abs := range paths {
				if l.Rule.allowsPath(j.pl, abs) {
					covered[n] = true
					if first == nil {
						first = l
					}
				}
			}
		case ofHost:
			if l.Rule.meetsHost(j.c.Arguments) == yes {
				return l
			}
		default:
			if l.Rule.meetsArgument(j.c.Arguments) == yes {
				return l
			}
		}
	}
	if !j.c.PathsKnown || slices.Contains(covered, false) {
		return nil
	}
	return first
}

// command decides about a line: each of its parts needs a rule, unless it would
// run by itself.
func (j *judge) command(line *command.Reading) Decision {
	inside := j.insideOnly(line)
	var first *Listed
	var uncovered []command.Part
	for _, part := range line.Parts {
		rule := j.rulePart(part)
		if rule != nil && first == nil {
			first = rule
		}
		if rule == nil && !j.free(part, inside) {
			uncovered = append(uncovered, part)
		}
	}
	switch {
	case len(uncovered) == 0 && first != nil:
		return Decision{Effect: Allow, By: by(*first), Reasons: []string{said(*first)}}
	case len(uncovered) == 0:
		return Decision{Effect: Allow, By: "read", Reasons: []string{"the command only reads, inside the workspace"}}
	case j.p.Mode == ModeYolo:
		return Decision{Effect: Allow, By: "mode yolo", Reasons: []string{"in mode yolo everything but the safety floor runs"}}
	}
	d := Decision{Effect: Ask, By: j.mode(), Always: j.alwaysParts(uncovered), Hint: j.partsHint(uncovered)}
	for _, part := range uncovered {
		d.Uncovered = append(d.Uncovered, part.Text)
		d.Reasons = append(d.Reasons, j.uncovered(part, inside))
	}
	return d
}

func (j *judge) rulePart(part command.Part) *Listed {
	for i := range j.rules {
		if l := &j.rules[i]; l.Effect == Allow && l.Rule.names(j.c.Tool) && l.Rule.allowsPart(j.pl, part) {
			return l
		}
	}
	return nil
}

// free tells whether a part runs without a rule. Each part is judged by its own
// paths, so that no further part makes one free or takes that from it.
func (j *judge) free(part command.Part, inside bool) bool {
	if part.Kind == command.Simple && (part.Dir == "" || !j.pl.inside(part.Dir)) {
		return false
	}
	return part.Free || inside && part.Risk == spec.RiskRead && !handsText(part)
}

// handsText tells whether a part gives a command a text to read. That reads
// nothing, but what the command makes of it may be anything: no class frees it.
func handsText(part command.Part) bool {
	return part.Kind == command.Redirect && len(part.Words) > 0 && strings.HasPrefix(part.Words[0].Text, "<<")
}

// insideOnly tells whether all a line touches is known and lies inside.
func (j *judge) insideOnly(line *command.Reading) bool {
	return line.PathsKnown && !slices.ContainsFunc(j.pl.absAll(line.Paths), func(abs string) bool { return !j.pl.inside(abs) })
}
