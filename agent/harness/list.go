package harness

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"starling/bus"
	"starling/bus/compose"
	"starling/bus/event"
	"starling/bus/spec"
	"starling/bus/view"
	"starling/script"
	"starling/script/bind"
	"starling/script/discover"
	"starling/trust"
)

// ListPlugins tells the state every plugin would reach. It runs nothing of
// them: components with the same declarations and an apply that only provides,
// or fails where the file's own is sure to, go through the real composition.
func ListPlugins(ctx context.Context, o Options) (view.Listing, error) {
	o = o.withDefaults()
	store, storeErr := trust.Open(o.Home, o.Now)
	src := &source{options: o, store: store}
	found, err := src.read()
	if err != nil {
		return view.Listing{}, err
	}
	deaths, journalErr := nextQuarantine(o, found)
	found.leaveOut(deaths, "the next start")
	plugins := found.plugins
	runtime := compose.New(compose.Options{Store: bus.NewStore()})
	defer func() { _ = runtime.Shutdown(context.WithoutCancel(ctx)) }() // nothing to undo can fail
	if _, err := runtime.Mount(providing(hostComponent(), spec.HostKeys)); err != nil {
		return view.Listing{}, err
	}
	for i, c := range o.Components {
		c.Position = bus.At(bus.ClassEmbedded, i, c.Name)
		if _, err := runtime.Mount(providing(c, c.Provides)); err != nil {
			return view.Listing{}, err
		}
	}
	binder := bind.New(bind.Host{Workspace: o.Workspace, UserHome: o.UserHome})
	ids := make([]compose.ID, len(plugins))
	for i, pl := range plugins {
		c := pl.component(binder, found.settings.Config(pl.file.Name))
		c = providing(c, c.Provides)
		if c.Broken == nil && pl.prog != nil {
			if fault := bind.Fault(pl.prog); fault != nil {
				c.Apply = func(*compose.Scope) error { return fault }
			}
		}
		if ids[i], err = runtime.Mount(c); err != nil {
			return view.Listing{}, err
		}
	}
	if err := runtime.Settle(ctx); err != nil {
		return view.Listing{}, err
	}
	listing := view.Listing{Notices: found.notices, Plugins: []view.Plugin{}}
	for _, err := range append(found.faults, storeErr, journalErr) {
		if err != nil {
			listing.Notices = append(listing.Notices, err.Error())
		}
	}
	emitted := found.announced()
	byID := map[compose.ID]plugin{}
	for i, id := range ids {
		byID[id] = plugins[i]
	}
	owners := map[string][]string{}
	for _, row := range runtime.Roster().Rows {
		if pl, ok := byID[row.ID]; ok {
			v := listed(row, pl, emitted)
			v.Notes = append(v.Notes, taken(v, owners, o.Screen.Commands)...)
			listing.Plugins = append(listing.Plugins, v)
		}
	}
	return listing, nil
}

// taken names the tools and commands another plugin has before v in the static order, and
// the commands that are reserved; owners is what was seen so far, by registration.
func taken(v view.Plugin, owners map[string][]string, reserved []string) []string {
	var notes []string
	if v.State != string(compose.Active) {
		return nil
	}
	for _, label := range v.Registrations {
		kind, name, _ := strings.Cut(label, " ")
		if kind != "tool" && kind != "command" || name == computed || slices.Contains(owners[label], v.Name) {
			continue
		}
		owners[label] = append(owners[label], v.Name)
		if kind == "command" && slices.Contains(reserved, name) {
			notes = append(notes, fmt.Sprintf("conflict: in a session the command %s is a built-in one", name))
			continue
		}
		switch first, n := owners[label][0], len(owners[label]); {
		case n == 1:
		case kind == "tool":
			notes = append(notes, fmt.Sprintf("conflict: the tool %s is provided by %s", name, first))
		default:
			notes = append(notes, fmt.Sprintf("conflict: the command %s is provided by %s; this one is /%s:%d", name, first, name, n))
		}
	}
	return notes
}

// computed stands for the name of a registration that is not a constant.
const computed = "(computed)"

// providing replaces the apply of c by one that provides keys and does nothing.
func providing(c compose.Component, keys []string) compose.Component {
	c.Drain = nil
	c.Apply = func(s *compose.Scope) error {
		for _, key := range keys {
			if err := s.Provide(key, nil); err != nil {
				return err
			}
		}
		return nil
	}
	return c
}

func listed(row *compose.Row, pl plugin, emitted map[string]bool) view.Plugin {
	v := rowOf(row)
	// Each fault is a line of its own.
	var faults script.ErrorList
	if errors.As(pl.err, &faults) && len(faults) > 1 && v.Reason == pl.err.Error() {
		v.Reason = faults[0].Error()
		for _, fault := range faults[1:] {
			v.Notes = append(v.Notes, fault.Error())
		}
	}
	if pl.prog == nil {
		return v
	}
	d := pl.prog.Decl()
	v.Inject, v.Provides, v.Emits, v.Uses = list(d.Inject), list(d.Provides), list(d.Emits), list(d.Uses)
	v.Registrations = static(d)
	v.Notes = append(v.Notes, notes(d, emitted)...)
	if pl.file.Hides != "" {
		verb := "hides"
		if pl.file.Off != "" {
			verb = "would hide"
		}
		v.Notes = append(v.Notes, verb+" "+pl.file.Hides)
	}
	return v
}

// rowOf is a roster row as people see it.
func rowOf(row *compose.Row) view.Plugin {
	approval := "approved"
	if row.State == compose.Inactive && (row.Reason == discover.NotApproved || row.Reason == string(trust.Refused)) {
		approval = row.Reason
	}
	v := view.Plugin{
		Name: row.Name, Origin: row.Origin, Approval: approval, State: string(row.State), Reason: row.Reason,
		Inject: list(row.Inject), Provides: list(row.Provides), Emits: list(row.Emits), Uses: list(row.Uses),
		Registrations: list(row.Registrations), Missing: row.Missing, Description: row.Description, Path: row.Path,
	}
	if row.Swap != "" {
		v.Notes = append(v.Notes, row.Swap)
	}
	return v
}

// list is never nil: JSON readers get [] and not null.
func list(s []string) []string { return append([]string{}, s...) }

// static names the registrations that stand in the file.
func static(d *script.Decl) []string {
	labels := []string{}
	for _, r := range d.Registrations {
		name := r.Name
		if name == "" {
			name = computed
		}
		labels = append(labels, r.Kind+" "+name)
	}
	return labels
}

// notes are remarks on a file that stop nothing.
func notes(d *script.Decl, emitted map[string]bool) []string {
	var all []string
	for _, name := range d.Events {
		switch {
		case name == "":
		case bind.CheckEvent(name) != nil:
			all = append(all, bind.CheckEvent(name).Error())
		case !event.InFamily(name) && !emitted[name]:
			all = append(all, fmt.Sprintf("nothing announces %s", name))
		}
	}
	return all
}
