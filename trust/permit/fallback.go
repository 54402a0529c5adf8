package permit

import (
	"fmt"
	"slices"
	"strings"

	"starling/bus/spec"
	"starling/trust"
	"starling/trust/command"
)

// edits are the tools whose changes auto-edit lets run inside the workspace.
var edits = []string{"write", "edit", "memory_save"}

// mode names the mode for By; one nobody knows asks.
func (j *judge) mode() string {
	switch j.p.Mode {
	case ModeAutoEdit, ModePlan, ModeYolo:
		return "mode " + string(j.p.Mode)
	}
	return "mode " + string(ModeAsk)
}

// byMode decides about a call no rule is about and that is no command.
func (j *judge) byMode() Decision {
	outside := j.outside()
	known := risk(j.c) == spec.RiskRead && len(outside) == 0
	edit := slices.Contains(edits, j.c.Tool) && !j.c.Replaced && j.c.PathsKnown && len(j.c.Paths) > 0 && len(outside) == 0
	switch {
	case j.p.Mode == ModeYolo:
		return Decision{Effect: Allow, By: "mode yolo", Reasons: []string{"in mode yolo everything but the safety floor runs"}}
	case known:
		return Decision{Effect: Allow, By: "read", Reasons: []string{j.c.Tool + " only reads"}}
	case j.p.Mode == ModeAutoEdit && edit && risk(j.c) == spec.RiskChange:
		return Decision{Effect: Allow, By: "mode auto-edit", Reasons: []string{"in mode auto-edit edits inside the workspace run"}}
	}
	if fault := j.fault(); fault != "" {
		return Decision{Effect: Deny, By: "path", Reasons: []string{fault}}
	}
	d := Decision{Effect: Ask, By: j.mode(), Always: j.alwaysCall()}
	for _, path := range outside {
		d.Reasons = append(d.Reasons, path+" is outside the workspace")
	}
	if why := j.kind(); why != "" {
		d.Reasons = append(d.Reasons, why)
	}
	if j.c.Replaced {
		d.Reasons = append(d.Reasons, "a plugin took the place of the built-in "+j.c.Tool)
	}
	d.Hint = j.allowHint(d.Always)
	if d.Hint != "" && edit && j.p.Mode != ModePlan && len(j.opening) == 0 {
		d.Hint += ", or run with --mode auto-edit"
	}
	return d
}

// fault says why the path of a call can be none, whatever rules say; "" when it may
// be one.
func (j *judge) fault() string {
	if shapes[j.c.Tool] != ofPaths || j.c.PathsKnown {
		return ""
	}
	values, ok := argument(j.c.Arguments, "path")
	if !ok || len(values) != 1 {
		return ""
	}
	name := values[0]
	if strings.TrimSpace(name) == "" {
		return "the path is empty; name a file of the workspace, as in src/a.txt"
	}
	for _, part := range strings.Split(name, "/") {
		if len(part) > maxName {
			return fmt.Sprintf("a name in the path has %d bytes, more than %d that a file system takes; shorten it", len(part), maxName)
		}
	}
	if _, err := trust.Follow(j.pl.abs(name)); err != nil {
		return err.Error() + "; name another path"
	}
	return ""
}

const maxName = 255 // bytes of one name on every common file system

// outside returns the paths of the call outside of the workspace, as people read
// them.
func (j *judge) outside() []string {
	var all []string
	for _, abs := range j.pl.absAll(j.c.Paths) {
		if !j.pl.inside(abs) {
			all = append(all, display(j.pl, abs))
		}
	}
	return all
}

// kind says in words what the call can do; "" for reading.
func (j *judge) kind() string {
	switch risk(j.c) {
	case spec.RiskRead:
		return ""
	case spec.RiskDestructive:
		return j.c.Tool + " can destroy something, and no rule allows it"
	case spec.RiskNetwork:
		if host, _, ok := hostOf(j.c.Arguments); ok && shapes[j.c.Tool] == ofHost {
			return fmt.Sprintf("%s speaks to %s, and no rule allows it", j.c.Tool, host)
		}
		return j.c.Tool + " speaks to another machine, and no rule allows it"
	}
	return j.c.Tool + " changes something, and no rule allows it"
}

// uncovered says why a part of a command asks.
func (j *judge) uncovered(part command.Part, inside bool) string {
	text := fmt.Sprintf("no rule covers %s", part.Text)
	switch {
	case part.Kind == command.Simple && part.Dir == "":
		return text + " (nobody can tell in which folder it would run)"
	case part.Kind == command.Simple && !j.pl.inside(part.Dir):
		return text + " (it would run in " + part.Dir + ", outside the workspace)"
	case part.Risk == spec.RiskRead && !inside:
		return text + " (it may touch something outside the workspace)"
	case part.Why != "":
		return text + " (" + part.Why + ")"
	}
	return text
}
