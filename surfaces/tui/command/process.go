package command

import (
	"context"
	"fmt"
	"strconv"
	"strings"
	"time"

	"starling/bus/view"
	"starling/surfaces/tui/kit"
)

// tools is /tools.
func tools(_ context.Context, s Session, _ string) Reply {
	t := table{columns: []column{{title: "tool", most: 28}, {title: "risk"}, {title: "from", drop: 1, most: 20}, {title: "what it does"}}, wrap: true}
	for _, x := range s.Tools() {
		t.row("", x.Name, risk(x.Risk), dim(x.From), firstSentence(x.Description))
	}
	if len(t.rows) == 0 {
		return say("the model can call nothing")
	}
	var b Body
	b.add(t)
	return page("tools", b)
}

// risk is a class of calls; the harmful ones stand out.
func risk(class string) cell {
	switch class {
	case "read":
		return dim(class)
	case "destructive":
		return cell{class, styleBad}
	case "network", "change":
		return cell{class, styleWarn}
	}
	return cell{text: class}
}

// firstSentence shortens a description that is written for the model.
func firstSentence(text string) string {
	text = strings.TrimSpace(view.CleanLine(text))
	if i := strings.Index(text, ". "); i >= 0 {
		return text[:i+1]
	}
	return text
}

// skills is /skills.
func skills(_ context.Context, s Session, _ string) Reply {
	t := table{columns: []column{{title: "skill", most: 28}, {title: "where", drop: 1, most: 40}, {title: "for"}}, wrap: true}
	for _, x := range s.Skills() {
		t.row("", x.Name, dim(x.Path), x.Description)
	}
	if len(t.rows) == 0 {
		return say("there is no skill here: each is a folder with a SKILL.md")
	}
	var b Body
	b.add(t)
	return page("skills", b)
}

// liveEvery is how often a view of what changes by itself is read.
const liveEvery = time.Second

// processes is /ps [stop ID].
func processes(_ context.Context, s Session, args string) Reply {
	if args == "" {
		return Reply{View: processView(s)}
	}
	what, id, _ := strings.Cut(args, " ")
	if err := oneOf("argument", what, []string{"stop"}); err != nil {
		return failure(err)
	}
	return stopProcess(s, strings.TrimSpace(id))
}

func processView(s Session) *View {
	return &View{
		Title: "processes", Every: liveEvery,
		Load: func(context.Context) Body { return processBody(s.Processes()) },
		Keys: []Key{
			{Chord: "enter", Help: "details", Do: func(_ context.Context, id string) Reply { return processDetail(s, id) }},
			{Chord: "x", Help: "stop", Do: func(_ context.Context, id string) Reply { return stopProcess(s, id) }},
		},
	}
}

func processBody(list []view.Process) Body {
	var b Body
	t := table{columns: []column{{title: "id", right: true}, {title: "state", most: 18}, {title: "time", right: true, drop: 1}, {title: "of", drop: 2, most: 20}, {title: "command"}}}
	for _, p := range list {
		t.row(strconv.Itoa(p.ID), strconv.Itoa(p.ID), processState(p), kit.Elapsed(p.Elapsed), dim(p.Origin), p.Command)
	}
	b.add(t)
	if b.Empty() {
		b.say("Nothing was started yet.")
	}
	return b
}

func processState(p view.Process) cell {
	if p.Running {
		return cell{"running", styleAccent}
	}
	return dim(p.Status)
}

func processDetail(s Session, id string) Reply {
	for _, p := range s.Processes() {
		if strconv.Itoa(p.ID) != id {
			continue
		}
		var b Body
		b.pair("command", p.Command)
		b.pair("state", processState(p).text)
		b.pair("time", kit.Elapsed(p.Elapsed))
		b.pair("started by", p.Origin)
		b.pair("system id", strconv.Itoa(p.PID))
		return page("process "+id, b)
	}
	return failed("there is no process %s any more", id)
}

func stopProcess(s Session, id string) Reply {
	n, err := strconv.Atoi(id)
	if err != nil {
		return failed("/ps stop takes the number that /ps shows, not %q", id)
	}
	if err := s.StopProcess(n); err != nil {
		return failure(err)
	}
	return say("process %d is told to end", n)
}

func completeProcess(_ context.Context, s Session, _ string) []Candidate {
	var list []Candidate
	for _, p := range s.Processes() {
		if p.Running {
			list = append(list, Candidate{Text: fmt.Sprintf("stop %d", p.ID), Help: p.Command})
		}
	}
	return list
}
