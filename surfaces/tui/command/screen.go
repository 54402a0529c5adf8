package command

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"starling/bus/chat"
	"starling/surfaces"
	"starling/surfaces/tui/kit"
	frames "starling/surfaces/tui/panel"
)

func quit(context.Context, Session, string) Reply { return Reply{Do: Quit} }

func clearScreen(_ context.Context, s Session, _ string) Reply {
	if s.Lines() {
		return say("/clear has no effect here: what is printed stays. /new begins another conversation.")
	}
	return Reply{Do: ClearScreen, Body: Say("The screen is empty, the conversation goes on; /new begins another one.")}
}

// sidebar is /sidebar [on|off].
func sidebar(_ context.Context, s Session, args string) Reply {
	if args != "" {
		if err := oneOf("state", args, []string{"on", "off"}); err != nil {
			return failure(err)
		}
	}
	if s.Lines() {
		return say("/sidebar has no effect here: nothing stands beside lines. /panel NAME prints a panel.")
	}
	if args == "" {
		args = "on"
		if s.Beside() {
			args = "off"
		}
	}
	beside := func(p surfaces.Panel) bool { return p.Placement.Kind == surfaces.Side && p.Open() }
	said := "the panels beside are shown"
	switch {
	case !slices.ContainsFunc(s.Panels(), beside):
		said = "no plugin shows a panel beside now; /panel lists those there are"
	case args == "off":
		said = "the panels beside are hidden; /sidebar shows them again"
	}
	return Reply{Do: Sidebar, Arg: args, Body: Say(said)}
}

// Themes are those a person can choose; auto follows the background.
func Themes() []string { return append([]string{"auto"}, kit.ThemeNames()...) }

// theme is /theme [NAME].
func theme(_ context.Context, s Session, args string) Reply {
	if args != "" || s.Lines() {
		return setTheme(s, args)
	}
	p := &Pick{Title: "theme", Keys: []Key{{
		Chord: "enter", Help: "choose", Leaves: true,
		Do: func(_ context.Context, id string) Reply { return setTheme(s, id) },
	}}}
	for i, name := range Themes() {
		item := Item{ID: name, Text: name}
		if name == s.Theme() {
			p.Mark, item.Note = i, "now"
		}
		p.Items = append(p.Items, item)
	}
	return Reply{Pick: p}
}

func setTheme(s Session, name string) Reply {
	if name != "" {
		if err := oneOf("theme", name, Themes()); err != nil {
			return failure(err)
		}
	}
	if s.Lines() {
		return say("/theme has no effect here: lines have no colours.")
	}
	return Reply{Do: SetTheme, Arg: name, Body: Say("the theme is " + name)}
}

func completeTheme(ctx context.Context, s Session, _ string) []Candidate {
	return words(Themes()...)(ctx, s, "")
}

// panel is /panel [NAME].
func panel(_ context.Context, s Session, args string) Reply {
	var all []surfaces.Panel
	for _, p := range s.Panels() {
		if p.Placement.Kind != surfaces.Status {
			all = append(all, p)
		}
	}
	if args != "" {
		return panelNamed(all, args)
	}
	p := &Pick{Title: "panels", Empty: "no plugin has a panel", Keys: []Key{{
		Chord: "enter", Help: "go there", Leaves: true,
		Do: func(_ context.Context, id string) Reply { return panelNamed(all, id) },
	}}}
	for _, x := range all {
		note := string(x.Placement.Kind)
		if !x.Open() {
			note += ", closed"
		}
		p.Items = append(p.Items, Item{ID: x.ID.String(), Text: x.ID.String(), Note: note})
	}
	return Reply{Pick: p}
}

// panelNamed finds a panel by PLUGIN/NAME or by what stands on its frame, else by one
// of both names where it says which.
func panelNamed(all []surfaces.Panel, name string) Reply {
	var hits []surfaces.Panel
	var known []string
	for _, p := range all {
		known = append(known, p.ID.String(), p.ID.Name)
		if p.ID.String() == name || frames.Name(p.ID) == name {
			hits = []surfaces.Panel{p}
			break
		}
		if p.ID.Name == name || p.ID.Plugin == name {
			hits = append(hits, p)
		}
	}
	switch {
	case len(hits) > 1:
		var names []string
		for _, p := range hits {
			names = append(names, p.ID.String())
		}
		return failed("%q could be %s", name, strings.Join(names, " or "))
	case len(hits) == 1 && !hits[0].Open():
		return failed("the panel %s is closed; its plugin opens it", hits[0].ID)
	case len(hits) == 1:
		return Reply{Do: ShowPanel, Panel: hits[0].ID}
	case len(all) == 0:
		return failed("no plugin has a panel")
	}
	if meant := surfaces.Nearest(name, known); meant != "" {
		return failed("there is no panel %q; did you mean %q?", name, meant)
	}
	return failed("there is no panel %q; /panel lists them", name)
}

func completePanel(_ context.Context, s Session, _ string) []Candidate {
	var list []Candidate
	for _, p := range s.Panels() {
		if p.Placement.Kind != surfaces.Status && p.Open() {
			list = append(list, Candidate{Text: p.ID.String(), From: p.ID.Plugin})
		}
	}
	return list
}

// copyText is /copy [code|all].
func copyText(_ context.Context, s Session, args string) Reply {
	text, what := "", ""
	switch args {
	case "":
		text, what = lastAnswer(s.Transcript()), "the last answer"
	case "code":
		text, what = lastCode(lastAnswer(s.Transcript())), "the last code of the last answer"
	case "all":
		text, what = whole(s.Transcript()), "the conversation"
	default:
		return failure(oneOf("part", args, []string{"code", "all"}))
	}
	if text == "" {
		return failed("there is nothing to copy: %s is empty", what)
	}
	return Reply{Copy: text, Body: Say(fmt.Sprintf("copied %s, %s bytes", what, kit.Grouped(len(text))))}
}

func lastAnswer(all []chat.Message) string {
	for i := len(all) - 1; i >= 0; i-- {
		if text := strings.TrimSpace(all[i].Text()); all[i].Role == chat.Assistant && text != "" {
			return text
		}
	}
	return ""
}

// lastCode is the last fenced block of a text, without its fences.
func lastCode(text string) string {
	var code []string
	last, fence := "", ""
	for line := range strings.SplitSeq(text, "\n") {
		trimmed := strings.TrimLeft(line, " ")
		mark := trimmed[:len(trimmed)-len(strings.TrimLeft(trimmed, "`"))]
		switch {
		case fence == "" && len(mark) >= 3:
			fence, code = mark, nil
		case fence != "" && len(mark) >= len(fence) && strings.TrimSpace(trimmed) == mark:
			last, fence = strings.Join(code, "\n"), ""
		case fence != "":
			code = append(code, line)
		}
	}
	return last
}

// whole is the conversation as text: what was said, and the calls by name.
func whole(all []chat.Message) string {
	var b strings.Builder
	for _, m := range all {
		text := strings.TrimSpace(m.Text())
		if text != "" && m.Role == chat.User {
			text = "> " + strings.ReplaceAll(text, "\n", "\n> ")
		}
		if text != "" {
			b.WriteString(text + "\n\n")
		}
		for _, c := range m.Calls() {
			fmt.Fprintf(&b, "[%s %s]\n\n", c.Name, c.Arguments)
		}
	}
	return strings.TrimSpace(b.String())
}
