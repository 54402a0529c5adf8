package command

import (
	"context"
	"fmt"
	"strings"

	"starling/bus/view"
	"starling/surfaces"
)

const (
	// logLines are shown of a plugin's log.
	logLines = 12
	active   = "active"
)

// plugins is /plugins [NAME].
func plugins(_ context.Context, s Session, args string) Reply {
	if args != "" {
		if _, err := pluginNamed(s, args); err != nil {
			return failure(err)
		}
		return Reply{View: pluginView(s, args)}
	}
	return Reply{View: &View{
		Title: "plugins", Every: liveEvery,
		Load: func(context.Context) Body { return pluginsBody(s.Plugins()) },
		Keys: append([]Key{{
			Chord: "enter", Help: "details",
			Do: func(_ context.Context, id string) Reply { return Reply{View: pluginView(s, id)} },
		}}, pluginKeys(s, "")...),
	}}
}

// pluginKeys act on the marked plugin, or on the named one.
func pluginKeys(s Session, name string) []Key {
	one := func(f func(context.Context, Session, string) Reply) func(context.Context, string) Reply {
		return func(ctx context.Context, id string) Reply {
			if name != "" {
				id = name
			}
			return f(ctx, s, id)
		}
	}
	return []Key{
		{Chord: "r", Help: "load anew", Whole: name != "", Do: one(reload)},
		{Chord: "b", Help: "back to the last version that ran", Whole: name != "", Do: one(restore)},
		{Chord: "t", Help: "trust", Whole: true, Do: func(ctx context.Context, _ string) Reply { return trust(ctx, s, "") }},
	}
}

func pluginsBody(list []view.Plugin) Body {
	var b Body
	t := table{columns: []column{
		{title: "plugin", most: 24}, {title: "state"}, {title: "from", drop: 1}, {title: "words", drop: 2, most: 24}, {title: "cost", right: true, drop: 3}, {title: "what it does, or why not"},
	}}
	for _, p := range list {
		t.row(p.Name, p.Name, pluginState(p), dim(p.Origin), wordsOf(p.Uses), spent(p), doing(p))
	}
	b.add(t)
	if b.Empty() {
		b.say("No plugin is here. Those of the home folder lie in plugins/NAME.star, those of a project in .starling/plugins.")
	}
	return b
}

// wordsOf are the capability words; those that open everything stand out.
func wordsOf(words []string) cell {
	c := dim(strings.Join(words, " "))
	for _, w := range words {
		if w == "exec" || w == "permit" {
			c.style = styleWarn
		}
	}
	return c
}

// spent is what a plugin's questions to models cost; nothing when it asked none.
func spent(p view.Plugin) string {
	if p.Cost <= 0 {
		return ""
	}
	return dollars(p.Cost)
}

func pluginState(p view.Plugin) cell {
	switch p.State {
	case active:
		return cell{p.State, styleGood}
	case "failed":
		return cell{p.State, styleBad}
	case "inactive":
		return dim(p.State)
	}
	return cell{p.State, styleWarn}
}

func origin(p view.Plugin) string {
	if p.Approval == "" || p.Approval == "approved" {
		return p.Origin
	}
	return p.Origin + ", " + p.Approval
}

// doing is what is wrong with a plugin, why it is not active, or what it registered.
func doing(p view.Plugin) cell {
	if p.State == active && len(p.Notes) > 0 {
		return cell{p.Notes[0], styleWarn}
	}
	if p.State != active && p.Reason != "" {
		return cell{text: p.Reason}
	}
	if r := registered(p); r != "" {
		return cell{text: r}
	}
	return dim(p.Description)
}

// registered lists what a plugin offers. Labels of one word are what the host itself
// undoes with it.
func registered(p view.Plugin) string {
	var all []string
	for _, label := range p.Registrations {
		if strings.Contains(label, " ") {
			all = append(all, label)
		}
	}
	return strings.Join(all, ", ")
}

func pluginView(s Session, name string) *View {
	return &View{
		Title: "plugin " + name, Every: liveEvery,
		Load: func(context.Context) Body { return pluginBody(s, name) },
		Keys: pluginKeys(s, name),
	}
}

func pluginBody(s Session, name string) Body {
	var b Body
	p, err := pluginNamed(s, name)
	if err != nil {
		b.styled(err.Error(), styleBad)
		return b
	}
	if p.Description != "" {
		b.say(p.Description)
		b.gap()
	}
	state := pluginState(p)
	b.styledPair("state", state.text, state.style)
	b.pair("reason", p.Reason)
	b.pair("from", origin(p))
	b.pair("file", p.Path)
	uses := "none: it can only compute, refuse and talk to you"
	if len(p.Uses) > 0 {
		uses = strings.Join(p.Uses, ", ")
	}
	b.pair("words", uses)
	b.pair("cost", spent(p))
	b.pair("needs", strings.Join(p.Inject, ", "))
	b.styledPair("waits for", strings.Join(p.Missing, ", "), styleWarn)
	b.pair("provides", strings.Join(p.Provides, ", "))
	b.pair("announces", strings.Join(p.Emits, ", "))
	b.pair("registers", registered(p))
	for _, n := range p.Notes {
		b.styledPair("note", n, styleWarn)
	}
	b.title("Log")
	lines := s.PluginLog(name, logLines)
	if len(lines) == 0 {
		b.dim("empty: print and log(text) write to it")
	}
	for _, line := range lines {
		b.dim(line)
	}
	return b
}

// pluginNamed finds a plugin; the error proposes the one that was meant.
func pluginNamed(s Session, name string) (view.Plugin, error) {
	var names []string
	for _, p := range s.Plugins() {
		if p.Name == name {
			return p, nil
		}
		names = append(names, p.Name)
	}
	if meant := surfaces.Nearest(name, names); meant != "" {
		return view.Plugin{}, fmt.Errorf("there is no plugin %q; did you mean %q?", name, meant)
	}
	return view.Plugin{}, fmt.Errorf("there is no plugin %q; /plugins shows those there are", name)
}

// reload is /reload [NAME].
func reload(ctx context.Context, s Session, name string) Reply {
	if name != "" {
		if _, err := pluginNamed(s, name); err != nil {
			return failure(err)
		}
	}
	said, err := s.Reload(ctx, name)
	if err != nil && said == "" {
		return failure(err)
	}
	var r Reply
	if said != "" {
		r.Body.say(said)
	}
	if err != nil { // about files: the plugins go on as they are listed
		r.Warn = true
		r.Body.styled(err.Error(), styleBad)
	}
	var loaded []string
	for _, p := range s.Plugins() {
		if p.State == active {
			loaded = append(loaded, p.Name)
		}
	}
	r.Body.say(loadedLine(loaded))
	for _, p := range s.Plugins() {
		if p.State != active && (name == "" || p.Name == name) {
			r.Warn = r.Warn || p.State == "failed"
			r.Body.styled(strings.TrimSuffix(fmt.Sprintf("%s is %s: %s", p.Name, p.State, p.Reason), ": "), pluginState(p).style)
		}
	}
	return r
}

func loadedLine(names []string) string {
	switch len(names) {
	case 0:
		return "no plugin is loaded"
	case 1:
		return "1 plugin is loaded: " + names[0]
	}
	return fmt.Sprintf("%d plugins are loaded: %s", len(names), strings.Join(names, ", "))
}

func restore(ctx context.Context, s Session, name string) Reply {
	if err := s.Restore(ctx, name); err != nil {
		return failure(err)
	}
	return say("%s is back at the last version that ran; its file is as it was, and counts again when it changes", name)
}

func completePlugin(_ context.Context, s Session, _ string) []Candidate {
	var list []Candidate
	for _, p := range s.Plugins() {
		list = append(list, Candidate{Text: p.Name, Help: p.State})
	}
	return list
}
