package command

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"starling/bus/chat"
	"starling/surfaces"
	"starling/surfaces/tui/kit"
)

// The styles that are used by name here.
const (
	styleDim    = surfaces.Dim
	styleAccent = surfaces.Accent
	styleBad    = surfaces.Bad
	styleGood   = surfaces.Good
	styleWarn   = surfaces.Warn
)

// contextUse is /context.
func contextUse(_ context.Context, s Session, _ string) Reply {
	st := s.Status()
	var b Body
	b.pair("model", st.Model)
	used := kit.Tokens(st.Tokens) + " tokens"
	if st.Context > 0 {
		used = fmt.Sprintf("%s of %s tokens, %d%%", kit.Tokens(st.Tokens), kit.Tokens(st.Context), (st.Tokens*100+st.Context/2)/st.Context)
	}
	b.pair("in use", used)
	shares, total := sharesOf(s.Transcript())
	if total == 0 {
		b.gap()
		b.say("The conversation is empty: what is in use is the system prompt and the tools.")
		return Reply{Body: b}
	}
	b.title("The conversation by size")
	t := table{columns: []column{{title: "what"}, {title: "blocks", right: true, drop: 1}, {title: "bytes", right: true, drop: 2}, {title: "share", right: true}, {}}}
	for _, x := range shares {
		percent := (x.bytes*100 + total/2) / total
		t.row("", x.name, fmt.Sprint(x.blocks), kit.Grouped(x.bytes), fmt.Sprintf("%d%%", percent), cell{strings.Repeat("#", percent/5), styleAccent})
	}
	b.add(t)
	b.gap()
	b.dim("/new begins another conversation.")
	return Reply{Body: b}
}

type share struct {
	name   string
	blocks int
	bytes  int
}

// sharesOf counts the conversation by what it is made of, the largest first.
func sharesOf(all []chat.Message) (shares []share, total int) {
	by := map[string]*share{}
	count := func(name string, n int) {
		if n == 0 {
			return
		}
		if by[name] == nil {
			by[name] = &share{name: name}
		}
		by[name].blocks++
		by[name].bytes += n
		total += n
	}
	for _, m := range all {
		for _, b := range m.Blocks {
			n := len(b.Text) + len(b.Arguments)
			if b.Kind == chat.Image {
				n = chat.ImageTokens * 4 // what it weighs, in text
			}
			count(kindOf(m.Role, b), n)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(by)) {
		shares = append(shares, *by[name])
	}
	slices.SortStableFunc(shares, func(a, b share) int { return b.bytes - a.bytes })
	return shares, total
}

func kindOf(role chat.Role, b chat.Block) string {
	switch {
	case b.Kind == chat.Image:
		return "images"
	case b.Kind == chat.Result:
		return "results of " + b.Name
	case b.Kind == chat.Call:
		return "tool calls"
	case b.Kind == chat.Thinking:
		return "thoughts"
	case role == chat.User:
		return "what you said"
	case role == chat.System:
		return "notes"
	}
	return "answers"
}

// cost is /cost.
func cost(_ context.Context, s Session, _ string) Reply {
	by := map[string]chat.Usage{}
	replies := map[string]int{}
	var sum chat.Usage
	for _, m := range s.Transcript() {
		if m.Usage != nil {
			by[m.Model] = by[m.Model].Add(*m.Usage)
			replies[m.Model]++
			sum = sum.Add(*m.Usage)
		}
	}
	var b Body
	total := s.Status().Cost
	if len(by) == 0 && total == 0 {
		return say("nothing was asked of a model yet")
	}
	t := table{columns: []column{
		{title: "model", most: 32},
		{title: "replies", right: true, drop: 3},
		{title: "input", right: true},
		{title: "output", right: true},
		{title: "from cache", right: true, drop: 1},
		{title: "to cache", right: true, drop: 2},
		{title: "cost", right: true},
	}}
	for _, name := range slices.Sorted(maps.Keys(by)) {
		u := by[name]
		t.row("", modelName(name), fmt.Sprint(replies[name]), kit.Tokens(u.Input), kit.Tokens(u.Output), kit.Tokens(u.CacheRead), kit.Tokens(u.CacheWrite), price(u.Cost))
	}
	b.add(t)
	b.gap()
	if total > 0 {
		b.pair("this session", dollars(total))
	}
	if rest := total - sum.Cost; rest > 0.00005 {
		b.pair("of that", dollars(rest)+" for what is no longer in the conversation, and for what plugins asked")
	}
	if total == 0 {
		b.dim("The price of this model is not known; models.json can say it.")
	}
	return Reply{Body: b}
}

// price is what a model's replies cost; a dash where nobody said.
func price(d float64) string {
	if d <= 0 {
		return "-"
	}
	return dollars(d)
}

func modelName(name string) string {
	if name == "" {
		return "(not named)"
	}
	return name
}

// dollars writes an amount; small ones with more digits.
func dollars(d float64) string {
	switch {
	case d <= 0:
		return "$0"
	case d < 0.0001:
		return "< $0.0001"
	case d < 1:
		return fmt.Sprintf("$%.4f", d)
	}
	return fmt.Sprintf("$%.2f", d)
}
