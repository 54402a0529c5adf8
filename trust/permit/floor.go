package permit

import (
	"fmt"
	"slices"
	"strings"

	"starling/bus/spec"
	"starling/trust"
	"starling/trust/command"
)

// floor is what the safety floor says about a call.
type floor struct {
	reasons []string
	losses  []command.Loss
	// paths that asked, absolute; only says that nothing else did.
	paths     []string
	pathsOnly bool
	// lossOnly: uncommitted work is all there is to lose.
	lossOnly bool
}

func (f floor) asks() bool { return len(f.reasons) > 0 }

// floorOf judges a call. What was not read may be anything, so it asks as the
// floor does.
func floorOf(c Call, p Policy, pl places) floor {
	f := floor{pathsOnly: true, lossOnly: true}
	if c.Command == nil {
		if shapes[c.Tool] == ofCommand {
			f.add("the command was not read, so nobody can tell what it does")
			f.pathsOnly = false
		}
		f.ofPaths(c, p, pl)
		return f
	}
	if c.Command.Unread != "" {
		f.add("the command could not be read whole, so nobody can tell what it does: " + c.Command.Unread)
		f.pathsOnly, f.lossOnly = false, false
	}
	for _, finding := range c.Command.Floor {
		f.ofFinding(finding, p, pl)
	}
	return f
}

func (f *floor) add(reason string) {
	if !slices.Contains(f.reasons, reason) {
		f.reasons = append(f.reasons, reason)
	}
}

func (f *floor) ofFinding(finding command.Finding, p Policy, pl places) {
	if finding.Loss != nil {
		if finding.Loss.Quiet() || p.Dirty != nil && !p.Dirty(finding) {
			return // there is no work to lose
		}
		f.losses = append(f.losses, *finding.Loss)
		if p.Mode == ModeYolo {
			return // it runs after the snapshot
		}
	}
	if len(finding.Paths) > 0 && !slices.ContainsFunc(finding.Paths, func(abs string) bool { return !p.opens(pl, abs) }) {
		return
	}
	f.add(finding.Why)
	f.paths = append(f.paths, finding.Paths...)
	f.pathsOnly = f.pathsOnly && len(finding.Paths) > 0
	f.lossOnly = f.lossOnly && finding.Loss != nil
}

func (f *floor) ofPaths(c Call, p Policy, pl places) {
	f.lossOnly = false
	for _, abs := range pl.absAll(c.Paths) {
		why := keysIn(c, p.At, pl, abs)
		if change := trust.FloorPath(p.At, p.StateHome, abs); change != "" && !readsOnly(c) && !notes(c, pl, abs) {
			why = "changes " + display(pl, abs) + ": " + change
		}
		if why == "" || p.opens(pl, abs) {
			continue
		}
		f.add(why)
		f.paths = append(f.paths, abs)
	}
}

// keysIn says which keys a call would read at a path; "" for none.
func keysIn(c Call, at trust.Folders, pl places, abs string) string {
	if why := trust.CredentialPath(at, abs); why != "" {
		return "reads " + display(pl, abs) + ": " + why
	}
	if c.Tool != "grep" { // of the tools that look below a folder the one that shows contents
		return ""
	}
	if at.Home != "" && trust.Below(at.Home, abs) && !pl.inside(abs) {
		return "looks through the home directory, keys among it"
	}
	for _, name := range []string{"id_x", "credentials", "config", "hosts.yml"} {
		if trust.CredentialPath(at, abs+"/"+name) != "" {
			return "looks through " + display(pl, abs) + ", a folder that holds keys"
		}
	}
	return ""
}

// readsOnly tells whether a call changes nothing. A tool that only reads by its
// own word may still have the risk of a change.
func readsOnly(c Call) bool { return risk(c) == spec.RiskRead }

// risk of a call; what nobody classed changes something.
func risk(c Call) spec.Risk {
	switch {
	case c.Risk != "":
		return c.Risk
	case c.ReadOnly:
		return spec.RiskRead
	}
	return spec.RiskChange
}

// notes tells whether the built-in memory tools write where they keep their notes.
func notes(c Call, pl places, abs string) bool {
	return c.Tool == "memory_save" && !c.Replaced && abs != pl.at.Workspace &&
		trust.Below(abs, pl.at.Workspace+"/.starling/memory")
}

// opens tells whether --allow-path names a path.
func (p Policy) opens(pl places, abs string) bool {
	return slices.ContainsFunc(p.AllowPaths, func(glob string) bool {
		return trust.CheckPathPattern(glob) == nil && pl.at.Matches(glob, abs)
	})
}

// CheckAllowPath vets a value of --allow-path: a glob over paths, relative to the
// workspace or from "~/" or "/". Errors say what to write.
func CheckAllowPath(glob string) error {
	if err := trust.CheckPathPattern(glob); err != nil {
		return fmt.Errorf("path %q: %w; write a path, as in --allow-path '.github/workflows/*.yml'", clip(glob), err)
	}
	return nil
}

// display names a path as a person would: from the workspace, else absolute.
func display(pl places, abs string) string {
	if abs == pl.at.Workspace {
		return "the workspace itself"
	}
	if rest, ok := strings.CutPrefix(abs, strings.TrimSuffix(pl.at.Workspace, "/")+"/"); ok && pl.at.Workspace != "" {
		return rest
	}
	return abs
}
