package harness

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"starling/bus"
	"starling/bus/compose"
	"starling/bus/spec"
	"starling/bus/view"
)

// overruled is a registration that is not in effect as it was written, because something
// else has its name.
type overruled struct {
	by   bus.Owner // whose registration it is; zero for a file of the person
	what string    // such as "tool search"
	why  string    // with who has the name
	// as is the name it has instead; "" where it is not in effect at all.
	as string
}

// note says it beside the plugin.
func (o overruled) note() string {
	if o.as != "" {
		return fmt.Sprintf("%s is %s: %s", o.what, o.as, o.why)
	}
	return fmt.Sprintf("%s is not in effect: %s", o.what, o.why)
}

// line says it of the plugin.
func (o overruled) line() string {
	if o.by.Name != "" {
		o.what += " of " + o.by.Name
	}
	return o.note()
}

// overruled are the registrations that are not in effect, by kind.
func (e *Engine) overruled() []overruled {
	var all []overruled
	for _, c := range e.tools.Conflicts() {
		all = append(all, overruled{by: c.Loser, what: "tool " + c.Name, why: c.Reason})
	}
	_, commands := e.resolveCommands()
	all = append(all, commands...)
	return append(all, e.renderConflicts()...)
}

// overruledOf are the notes about one plugin.
func overruledOf(id compose.ID, all []overruled) (notes []string) {
	for _, o := range all {
		if o.by.UID == uint64(id) {
			notes = append(notes, o.note())
		}
	}
	return notes
}

// tellOverruled says what is not in effect, each as long as it lasts once. It needs
// live.mu.
func (e *Engine) tellOverruled(ctx context.Context) {
	now := map[string]bool{}
	for _, o := range e.overruled() {
		if o.as != "" {
			continue // it works, and the list of commands shows how
		}
		line := o.line()
		if !now[line] && !e.live.overruled[line] {
			e.say(ctx, view.Notice{Text: line, Warn: true})
		}
		now[line] = true
	}
	e.live.overruled = now
}

// resolveCommands says which command is typed by which name: built-in ones first, which
// nobody takes the name of, then the files of the person, then plugins in static order; a
// second command of one name is name:2.
func (e *Engine) resolveCommands() (list []named, losers []overruled) {
	holder := map[string]string{} // of each name, why another one does not get it
	add := func(c spec.Command, name string, by bus.Owner, why string) {
		holder[name] = why
		list = append(list, named{c, name, by.Name})
	}
	const builtin = "the name belongs to a built-in command"
	reserved := map[string]bool{}
	for _, name := range e.options.Screen.Commands {
		reserved[name] = true
	}
	all := e.registry.Commands.All()
	for _, entry := range all {
		if c := entry.Value; c.Builtin && !reserved[c.Name] {
			reserved[c.Name] = true
			add(c, c.Name, bus.Owner{}, builtin)
		}
	}
	for _, c := range e.written() {
		if reserved[c.Name] {
			losers = append(losers, overruled{what: "command file " + commandFile(c.Name), why: builtin})
			continue
		}
		add(c, c.Name, bus.Owner{}, "the name belongs to the command file "+commandFile(c.Name))
	}
	for _, entry := range all {
		c, name := entry.Value, entry.Value.Name
		switch {
		case c.Builtin:
			continue
		case reserved[name]:
			losers = append(losers, overruled{by: entry.Owner, what: "command " + name, why: builtin})
			continue
		}
		for n := 2; holder[name] != ""; n++ {
			name = fmt.Sprintf("%s:%d", c.Name, n)
		}
		if name != c.Name {
			losers = append(losers, overruled{by: entry.Owner, what: "command " + c.Name, as: "/" + name, why: holder[c.Name]})
		}
		add(c, name, entry.Owner, "the name belongs to "+entry.Owner.Name+", which comes first in the static order")
	}
	return list, losers
}

// renderConflicts are the renders that draw no call, because one before them draws all
// they could.
func (e *Engine) renderConflicts() (losers []overruled) {
	all := e.registry.Surfaces.Renders.All()
	for i, entry := range all {
		tool := entry.Value.Tool
		one := !strings.ContainsAny(tool, `*?[\`) // no pattern
		first := slices.IndexFunc(all[:i], func(o bus.Entry[spec.Render]) bool {
			return o.Value.Tool == tool || one && o.Value.Matches(tool)
		})
		if first >= 0 {
			losers = append(losers, overruled{
				by: entry.Owner, what: "render " + tool,
				why: "its calls are drawn by " + all[first].Owner.Name + ", which comes first in the static order",
			})
		}
	}
	return losers
}
