package command

import (
	"context"
	"strings"

	"starling/bus/view"
)

// trust is /trust [approve|revoke].
func trust(ctx context.Context, s Session, args string) Reply {
	switch args {
	case "":
		if s.AskAgain() {
			return Reply{}
		}
		return Reply{View: trustView(s)}
	case "approve":
		return setTrust(ctx, s, true)
	case "revoke":
		return setTrust(ctx, s, false)
	}
	return failure(oneOf("argument", args, []string{"approve", "revoke"}))
}

func trustView(s Session) *View {
	set := func(approve bool) func(context.Context, string) Reply {
		return func(ctx context.Context, _ string) Reply { return setTrust(ctx, s, approve) }
	}
	return &View{
		Title: "what of this workspace counts",
		Load:  func(context.Context) Body { return trustBody(s.Plugins()) },
		Keys: []Key{
			{Chord: "enter", Help: "details", Do: func(_ context.Context, id string) Reply { return Reply{View: pluginView(s, id)} }},
			{Chord: "a", Help: "approve these versions", Whole: true, Do: set(true)},
			{Chord: "x", Help: "take all approvals back", Whole: true, Do: func(context.Context, string) Reply { return Reply{Pick: revokePick(s)} }},
		},
	}
}

// revokePick asks before all approvals are taken back.
func revokePick(s Session) *Pick {
	const back = "back"
	return &Pick{Title: "take all approvals of this workspace back?", Items: []Item{
		{ID: "keep", Text: "no, keep them"},
		{ID: back, Text: "yes, take them back", Note: "its plugins stop; edits are not trusted any more"},
	}, Keys: []Key{{Chord: "enter", Help: "choose", Leaves: true, Do: func(ctx context.Context, id string) Reply {
		if id != back {
			return say("the approvals stay")
		}
		return setTrust(ctx, s, false)
	}}}}
}

func trustBody(list []view.Plugin) Body {
	var b Body
	b.say("Plugins and settings of a workspace count when you approved exactly these bytes. Those of your home folder are yours, and always count.")
	b.gap()
	t := table{columns: []column{{title: "plugin", most: 24}, {title: "answer"}, {title: "state", drop: 1}, {title: "may"}}, wrap: true}
	for _, p := range list {
		if p.Origin != "workspace" {
			continue
		}
		answer := cell{p.Approval, styleWarn}
		if p.Approval == "approved" {
			answer.style = styleGood
		}
		may := wordsOf(p.Uses)
		if may.text == "" {
			may = dim("compute, refuse and talk to you")
		}
		t.row(p.Name, p.Name, answer, pluginState(p), may)
	}
	b.add(t)
	if len(t.rows) == 0 {
		b.say("This workspace brings no plugin.")
	}
	return b
}

func setTrust(ctx context.Context, s Session, approve bool) Reply {
	if approve && s.AskAgain() { // the engine asks one at a time
		return Reply{}
	}
	said, err := s.Trust(ctx, approve)
	if err != nil {
		return failure(err)
	}
	if approve {
		return note(said, "what the workspace brings counts, as it is now")
	}
	return note(said, "nothing of the workspace counts any more")
}

// policy is /policy.
func policy(_ context.Context, s Session, _ string) Reply {
	return Reply{View: &View{
		Title: "permissions", Every: liveEvery,
		Load: func(context.Context) Body { return policyBody(s) },
		Keys: []Key{
			{Chord: "x", Help: "take the rule back", Do: func(_ context.Context, id string) Reply { return forget(s, id) }},
			{Chord: "m", Help: "choose the mode", Whole: true, Do: func(ctx context.Context, _ string) Reply { return mode(ctx, s, "") }},
		},
	}}
}

// shownDecisions are listed, the newest first.
const shownDecisions = 50

func policyBody(s Session) Body {
	var b Body
	help := ""
	for _, m := range Modes() {
		if m.Name == s.Mode() {
			help = ": " + m.Help
		}
	}
	b.pair("mode", s.Mode()+help)
	b.title("Rules")
	t := table{columns: []column{{title: "effect"}, {title: "from", drop: 1, most: 24}, {title: "rule"}}, wrap: true}
	for _, r := range s.Rules() {
		t.row(ruleID(r), effect(r.Effect), dim(r.Source), r.Rule)
	}
	b.add(t)
	if len(t.rows) == 0 {
		b.dim("none: an always in a question makes one")
	}
	b.title("Decisions, the last one first")
	t = table{columns: []column{{title: "answer"}, {title: "by", most: 24}, {title: "why", drop: 1, most: 36}, {title: "call"}}}
	all := s.Decisions()
	for i := len(all) - 1; i >= 0 && len(t.rows) < shownDecisions; i-- {
		d := all[i]
		summary := d.Summary
		if summary == "" {
			summary = d.Tool
		}
		t.row("", effect(d.Effect), d.By, dim(d.Why), summary)
	}
	b.add(t)
	if len(t.rows) == 0 {
		b.dim("none yet")
	}
	return b
}

func effect(name string) cell {
	switch name {
	case "allow":
		return cell{name, styleGood}
	case "deny":
		return cell{name, styleBad}
	}
	return cell{name, styleWarn}
}

func ruleID(r view.Rule) string { return strings.Join([]string{r.Effect, r.Rule, r.Source}, "\x00") }

func forget(s Session, id string) Reply {
	for _, r := range s.Rules() {
		if ruleID(r) != id {
			continue
		}
		if err := s.Forget(r); err != nil {
			return failure(err)
		}
		return say("%s %s does not hold any more", r.Effect, r.Rule)
	}
	return failed("mark a rule first: that one is gone")
}
