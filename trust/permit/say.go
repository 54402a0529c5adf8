package permit

import (
	"slices"
	"strings"

	"starling/bus/spec"
	"starling/trust/command"
)

// by names the rule that decided.
func by(l Listed) string { return "rule " + string(l.Effect) + " " + l.Rule.String() }

var saidBy = map[Effect]string{Allow: "allows", Ask: "asks for", Deny: "denies"}

// said is what a rule does, as a sentence with its origin.
func said(l Listed) string {
	return "the rule " + l.Rule.String() + " " + saidBy[l.Effect] + " it (" + origin(l) + ")"
}

// doubt is said of a rule that asks; one that denies asks where it may be meant.
func (j *judge) doubt(l Listed) string {
	if l.Effect == Deny {
		return "the rule " + l.Rule.String() + ", which denies (" + origin(l) + "), may be about it"
	}
	return said(l)
}

func origin(l Listed) string {
	switch l.Source {
	case FromFlag:
		return "--" + string(l.Effect)
	case FromSession:
		return "of this session"
	case FromWorkspace:
		return "rules.json, for this workspace"
	}
	return "rules.json"
}

// takeBack says how a rule that asks or denies goes away.
func takeBack(l Listed) string {
	if l.Source == FromFlag {
		return "start without --" + string(l.Effect) + " " + quote(l.Rule.String())
	}
	return "take the rule " + l.Rule.String() + " back with /policy, or remove it from rules.json"
}

// floorHint says what lets a call run that the floor asks about: paths can be
// named, beside what it needs then, and work that is lost can be kept first.
func (j *judge) floorHint(asked bool) string {
	f := j.floor
	switch {
	case asked: // a rule would still ask
		return ""
	case f.pathsOnly && len(f.paths) > 0:
		for _, abs := range f.paths {
			pattern, ok := j.pl.at.Pattern(abs)
			if !ok {
				return ""
			}
			if flag := "--allow-path " + quote(pattern); !slices.Contains(j.opening, flag) && !j.p.opens(j.pl, abs) {
				j.opening = append(j.opening, flag)
			}
		}
		if rest := j.open(); rest.Effect == Ask {
			return rest.Hint
		}
		return "start with " + strings.Join(j.opening, " ")
	case f.lossOnly:
		return "run with --mode yolo, which keeps a snapshot of the work first"
	}
	return ""
}

// allowHint names the flags that would allow a call; "" without rules.
func (j *judge) allowHint(rules []string) string {
	if len(rules) == 0 {
		return ""
	}
	flags := slices.Clone(j.opening)
	for _, r := range rules {
		flags = append(flags, "--allow "+quote(r))
	}
	hint := "start with " + strings.Join(flags, " ")
	switch {
	case len(j.opening) > 0:
		return hint
	case len(rules) > 1:
		return hint + " or add those rules to rules.json"
	}
	return hint + " or add that rule to rules.json"
}

// partsHint names the rules for uncovered parts. Where no rule is exact, it shows
// a wider one for a person to judge.
func (j *judge) partsHint(parts []command.Part) string {
	var rules []string
	for _, part := range parts {
		r, ok := j.exactRule(part)
		if !ok {
			r, ok = j.widerRule(part)
		}
		if !ok {
			// No pattern covers it: a text that is run, a folder nobody knows.
			hint := "only the rule " + j.c.Tool + ", which allows every command, covers " + clip(part.Text) + ": start with "
			return hint + strings.Join(append(slices.Clone(j.opening), "--allow "+quote(j.c.Tool)), " ")
		}
		if !slices.Contains(rules, r.String()) {
			rules = append(rules, r.String())
		}
	}
	return j.allowHint(rules)
}

// alwaysParts returns one rule for each part; none when a part has no exact one,
// for then the line would ask again.
func (j *judge) alwaysParts(parts []command.Part) []string {
	var rules []string
	for _, part := range parts {
		r, ok := j.exactRule(part)
		if !ok {
			return nil
		}
		if !slices.Contains(rules, r.String()) {
			rules = append(rules, r.String())
		}
	}
	return rules
}

// exactRule returns the rule that covers a part and nothing else.
func (j *judge) exactRule(part command.Part) (Rule, bool) {
	p := commandPattern{kind: part.Kind}
	switch part.Kind {
	case command.Simple:
		for _, w := range part.Words {
			if !w.Known {
				return Rule{}, false
			}
			p.words = append(p.words, patternWord{text: w.Text})
		}
	case command.Redirect:
		to := redirect(j.pl, part)
		glob, ok := j.pl.at.Pattern(to.file)
		if !to.known || !ok {
			return Rule{}, false
		}
		p.op, p.glob = to.op, glob
	case command.Assign:
		name, value, known := assign(part)
		if !known {
			return Rule{}, false
		}
		p.name, p.value = name, value
	}
	return j.checked(p, part)
}

// widerRule lets a star stand for the arguments from the first unknown one on.
func (j *judge) widerRule(part command.Part) (Rule, bool) {
	p := commandPattern{kind: part.Kind}
	switch part.Kind {
	case command.Simple:
		for _, w := range part.Words {
			if !w.Known {
				break
			}
			p.words = append(p.words, patternWord{text: w.Text})
		}
		if len(p.words) == 0 {
			return Rule{}, false
		}
		p.words = append(p.words, patternWord{text: "*", star: true})
	case command.Assign:
		p.name, _, _ = assign(part)
		p.any = true
	default:
		return Rule{}, false
	}
	return j.checked(p, part)
}

// checked returns the rule of a pattern when it can be written and covers the
// part.
func (j *judge) checked(p commandPattern, part command.Part) (Rule, bool) {
	r, err := ParseRule(j.c.Tool + "(" + p.String() + ")")
	return r, err == nil && r.allowsPart(j.pl, part)
}

// alwaysCall returns the rules that would allow a call that is no command: its
// files, its host, else the tool. Nothing that destroys is allowed for good by
// its tool alone.
func (j *judge) alwaysCall() []string {
	switch shapes[j.c.Tool] {
	case ofCommand:
		return nil
	case ofPaths:
		return j.alwaysPaths()
	case ofHost:
		host, port, ok := hostOf(j.c.Arguments)
		if !ok {
			return nil
		}
		return j.written(j.c.Tool + "(" + hostPattern(host, port) + ")")
	}
	if risk(j.c) == spec.RiskDestructive {
		return nil
	}
	return j.written(j.c.Tool)
}

func (j *judge) alwaysPaths() []string {
	if !j.c.PathsKnown {
		return nil
	}
	var rules []string
	for _, abs := range j.pl.absAll(j.c.Paths) {
		pattern, ok := j.pl.at.Pattern(abs)
		if !ok {
			return nil
		}
		rule := j.written(j.c.Tool + "(" + pattern + ")")
		if rule == nil {
			return nil
		}
		if !slices.Contains(rules, rule[0]) {
			rules = append(rules, rule[0])
		}
	}
	return rules
}

// written returns a rule as a list of one when it can be written and allows the
// call or a path of it.
func (j *judge) written(text string) []string {
	r, err := ParseRule(text)
	if err != nil {
		return nil
	}
	return []string{r.String()}
}
