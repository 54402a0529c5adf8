package command

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"starling/bus/view"
	"starling/surfaces"
)

// Candidate is one completion of an argument.
type Candidate struct {
	Text string // what is put in
	Help string
	From string // the plugin it comes from
}

// builtin is a command of the terminal.
type builtin struct {
	name string
	args string // as help shows them
	help string
	run  func(ctx context.Context, s Session, args string) Reply
	// complete proposes what may follow the name; nil for nothing.
	complete func(ctx context.Context, s Session, args string) []Candidate
}

// builtins are in the order they are shown in.
func builtins() []builtin {
	return []builtin{
		{"help", "[NAME|keys]", "show the commands, or one of them, or the keys", help, completeHelp},
		{"model", "[NAME [LEVEL]]", "choose the model and how much it thinks", chooseModel, completeModel},
		{"think", "[LEVEL]", "choose how much the model thinks", think, completeLevel},
		{"mode", "[NAME]", "choose what runs without a question", mode, completeMode},
		{"new", "", "begin another session", newSession, nil},
		{"resume", "[ID]", "go on with an earlier session", resume, completeSession},
		{"sessions", "", "show the sessions there are", sessions, nil},
		{"clear", "", "empty the screen; the conversation stays", clearScreen, nil},
		{"copy", "[code|all]", "copy the last answer, its code, or the conversation", copyText, words("code", "all")},
		{"context", "", "show what fills the context of the model", contextUse, nil},
		{"cost", "", "show tokens and cost", cost, nil},
		{"attach", "[FILE...|drop]", "send files along with the next prompt; show or forget them", attach, completeFile},
		{"steer", "TEXT", "send a line into the run that goes on", steer, nil},
		{"queue", "[drop [N]]", "show the lines that wait for the end of the run; drop all, or one", queue, words("drop")},
		{"tools", "", "show what the model can call", tools, nil},
		{"skills", "", "show what the model may read up on", skills, nil},
		{"ps", "[stop ID]", "show and stop processes", processes, completeProcess},
		{"plugins", "[NAME]", "show the plugins, and what they do", plugins, completePlugin},
		{"reload", "[NAME]", "load plugins anew", reload, completePlugin},
		{"trust", "[approve|revoke]", "show and change what of this workspace counts", trust, words("approve", "revoke")},
		{"policy", "", "show the rules, and who decided what", policy, nil},
		{"panel", "[NAME]", "go to a panel", panel, completePanel},
		{"sidebar", "[on|off]", "show or hide the panels beside", sidebar, words("on", "off")},
		{"theme", "[NAME]", "choose the colours", theme, completeTheme},
		{"quit", "", "leave", quit, nil},
	}
}

// Usage is how a command of the terminal is written, and what it does.
type Usage struct{ Line, Help string }

// Usages are those of the terminal's own commands, in the order they are shown in.
func Usages() []Usage {
	var all []Usage
	for _, b := range builtins() {
		all = append(all, Usage{usage(b), b.help})
	}
	return all
}

// Names are those of the terminal's own commands.
func Names() []string {
	var all []string
	for _, b := range builtins() {
		all = append(all, b.name)
	}
	return all
}

func find(name string) (builtin, bool) {
	for _, b := range builtins() {
		if b.name == name {
			return b, true
		}
	}
	return builtin{}, false
}

// Split reads /NAME ARGS. It is false for a text that is no command: a path such as
// /usr/bin, or a slash alone.
func Split(text string) (name, args string, ok bool) {
	rest, slash := strings.CutPrefix(strings.TrimSpace(text), "/")
	if !slash {
		return "", "", false
	}
	name, args = rest, ""
	if i := strings.IndexAny(rest, " \t\n"); i >= 0 {
		name, args = rest[:i], strings.TrimSpace(rest[i:])
	}
	return name, args, name != "" && !strings.Contains(name, "/")
}

// List returns every command in the order a slash offers them: the built-in ones, the
// person's own, those of plugins. A name that is taken already is left out.
func List(s Session) []view.Command {
	var list []view.Command
	for _, b := range builtins() {
		list = append(list, view.Command{Name: b.name, Description: b.help})
	}
	return append(list, others(s)...)
}

// others are the commands that are not built in.
func others(s Session) []view.Command {
	var own, foreign []view.Command
	for _, c := range s.Commands() {
		if _, taken := find(c.Name); taken {
			continue
		}
		if c.From == "" {
			own = append(own, c)
		} else {
			foreign = append(foreign, c)
		}
	}
	return append(own, foreign...)
}

// Waits tells whether a command may wait for the person: nothing is to wait for it.
func Waits(name string) bool { return name == "trust" }

// TakesFiles tells whether files may be attached to what is behind a command: with any
// other one such a line is a prompt.
func TakesFiles(name string) bool { return name == "attach" || name == "steer" }

// Run does what a person asked for with /NAME ARGS. A name nobody has comes with the
// one that was meant.
func Run(ctx context.Context, s Session, name, args string) Reply {
	args = strings.TrimSpace(args)
	if b, ok := find(name); ok {
		if b.args == "" && args != "" {
			return failed("/%s takes nothing behind it", name)
		}
		return b.run(ctx, s, args)
	}
	r, err := s.Command(ctx, name, args)
	switch {
	case err != nil:
		if from := pluginOf(s, name); from != "" {
			return failed("/%s of the plugin %s: %s", name, from, err)
		}
		return failed("/%s: %s", name, err)
	case !r.Found:
		return unknown(s, name, r.Known)
	}
	var reply Reply
	if r.Renewed {
		reply.Do = Renew
	}
	for _, line := range r.Lines {
		reply.Body.say(line)
	}
	return reply
}

func pluginOf(s Session, name string) string {
	for _, c := range s.Commands() {
		if c.Name == name {
			return c.From
		}
	}
	return ""
}

func unknown(s Session, name string, known []string) Reply {
	for _, c := range List(s) {
		known = append(known, c.Name)
	}
	hint := "/help shows those there are"
	if meant := surfaces.Nearest(name, known); meant != "" {
		hint = fmt.Sprintf("did you mean /%s?", meant)
	}
	return failed("there is no command /%s; %s", name, hint)
}

// Complete proposes what may follow the name of a command.
func Complete(ctx context.Context, s Session, name, args string) ([]Candidate, error) {
	if b, ok := find(name); ok {
		if b.complete == nil {
			return nil, nil
		}
		return b.complete(ctx, s, args), nil
	}
	texts, err := s.Complete(ctx, name, args)
	if err != nil {
		return nil, err
	}
	from := pluginOf(s, name)
	var list []Candidate
	for _, text := range texts {
		list = append(list, Candidate{Text: text, From: from})
	}
	return list, nil
}

// words completes with fixed words.
func words(all ...string) func(context.Context, Session, string) []Candidate {
	return func(context.Context, Session, string) []Candidate {
		var list []Candidate
		for _, w := range all {
			list = append(list, Candidate{Text: w})
		}
		return list
	}
}

// oneOf checks a word against those there are; the error proposes the one meant.
func oneOf(what, word string, all []string) error {
	if slices.Contains(all, word) {
		return nil
	}
	if meant := surfaces.Nearest(word, all); meant != "" {
		return fmt.Errorf("there is no %s %q; did you mean %q?", what, word, meant)
	}
	return fmt.Errorf("there is no %s %q; it is %s", what, word, strings.Join(all, ", "))
}
