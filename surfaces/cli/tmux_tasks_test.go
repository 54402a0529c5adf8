//go:build linux

package cli_test

import (
	"path/filepath"
	"strconv"
	"strings"
)

// deskModel is the model of the tasks. Its long answers go on far longer than any task
// needs, and are stopped.
const deskModel = `
say("The shop sells apples. [red]not a colour[-]", thinking = "They want to know what the shop sells.")

expect("write one")
call("bash", command = "echo one > one.txt")
say("The first file is written.")

expect("write two")
call("bash", command = "mkdir -p made")
say("The second file is written.")
expect("write it again")
call("bash", command = "mkdir -p made")
say("It is written again.")

expect("write three")
call("bash", command = "mkdir -p made")
expect("the shop is closed today")
say("Then another day.")

expect("write four")
call("bash", command = "echo four > four.txt")
say("The fourth file is written.")

expect("count slowly")
say(" ".join(["slow%d" % i for i in range(2000)]), delay_ms = 50)
expect("the line that stays")
say("That line stayed.")

expect("wait for it")
call("bash", command = "until test -e go.txt; do sleep 0.1; done")
expect("go left")
say("I went left.")

expect("talk for long")
say("\n".join(["- point number %d" % i for i in range(20000)]), delay_ms = 10)

expect("which one")
call("question", question = "Which colour?", options = ["green", "blue"])
expect("blue")
say("It is painted blue.")

expect("@notes.txt")
say("I see the cited file.")
`

const deskSecond = `
expect("who are you")
say("I am the second model.")
`

const deskPlugin = `"""Greets."""
inject = ["commands"]
def apply(ctx):
    command("greet", "Greets somebody.", lambda args: "hello to " + args)
`

// tasks in the order of testdata/tasks.md.
var tasks = []func(*desk){
	taskStart, taskAsk, taskThinking, taskApprove, taskAlways, taskForget, taskDeny, taskEdit, taskQueue, taskSteer,
	taskScroll, taskFollow, taskStop, taskQuestion, taskModel, taskMode, taskShell, taskCite, taskCommand,
	taskPanel, taskWork, taskBreak, taskMend, taskPlugins, taskNew, taskResume, taskResize, taskQuit,
}

func taskStart(d *desk) {
	d.typed("starling --model script:steps.star; echo status=$?")
	d.keys("Enter")
	screen := d.sees("what is to be done?", "script:steps.star", "F6 panels")
	if line := top(screen); !strings.HasPrefix(line, " shop ") {
		d.t.Errorf("the first line is %q", line)
	}
}

func taskAsk(d *desk) {
	d.line("what does the shop sell?")
	screen := d.sees("▌ what does the shop sell?", "The shop sells apples. [red]not a colour[-]")
	if strings.Index(screen, "▌ what") > strings.Index(screen, "sells apples") {
		d.t.Errorf("the answer stands above the question:\n%s", screen)
	}
	d.idle()
}

func taskThinking(d *desk) {
	folded := below(d.sees("▸ thinking"))
	d.keys("C-t")
	d.sees("│ They want to know what the shop sells.")
	d.keys("C-t")
	d.waits("the screen of before", func(screen string) bool { return below(screen) == folded })
}

// below is a screen without its first line, which tells more of a run when it is over.
func below(screen string) string {
	_, rest, _ := strings.Cut(screen, "\n")
	return rest
}

func taskApprove(d *desk) {
	d.line("write one")
	d.sees("allow bash?", "echo one > one.txt", "y yes", "a always")
	d.pressed("y", "the question is gone", hasNot("allow bash?"))
	d.sees("The first file is written.")
	d.file("one.txt", "one\n")
}

func taskAlways(d *desk) {
	d.line("write two")
	d.sees("allow bash?", "mkdir -p made")
	d.pressed("a", "for how long", has("in this session"))
	d.pressed("s", "the question is gone", hasNot("allow bash?"))
	d.sees("The second file is written.")
	d.idle()
	d.line("write it again")
	d.sees("It is written again.") // an open question would keep it from being said
	d.idle()
}

func taskForget(d *desk) {
	d.line("/policy")
	d.sees("mkdir", "x take the rule back", "Esc leaves")
	d.pressed("x", "the rule is gone", has("does not hold any more"))
	d.pressed("Escape", "the page is gone", hasNot("Esc leaves"))
}

func taskDeny(d *desk) {
	d.line("write three")
	d.sees("allow bash?", "mkdir -p made")
	d.pressed("n", "why", has("says no"))
	d.typed("the shop is closed today")
	d.sees("the shop is closed today")
	d.keys("Enter")
	d.sees("Then another day.") // the model waits for the why
	d.idle()
}

func taskEdit(d *desk) {
	d.line("write four")
	d.sees("allow bash?", "echo four > four.txt")
	d.pressed("e", "the arguments", has(`"command": "echo four > four.txt"`))
	d.keys("C-Home", "C-k", "DC", "C-k", "DC", "C-k")
	d.gone("echo four > four.txt\"")
	d.paste(`{"command": "echo five > four.txt"}`)
	d.sees("echo five > four.txt")
	d.keys("Enter")
	d.sees("y yes", "echo five > four.txt") // what was edited is a new question
	d.pressed("y", "the question is gone", hasNot("allow bash?"))
	d.sees("The fourth file is written.")
	d.file("four.txt", "five\n")
	d.idle()
}

func taskQueue(d *desk) {
	d.line("count slowly")
	d.sees("slow1 ", "Esc stops")
	d.line("the line that stays")
	d.sees("1 queued")
	d.line("the line that goes")
	d.sees("2 queued", "the line that stays", "the line that goes")
	d.keys("Up", "DC")
	d.sees("1 queued", "the line that stays")
	d.gone("the line that goes")
	d.pressed("Escape", "the queued line is left, the run stopped", has("1 queued line waits"))
	d.pressed("Enter", "the next line runs", has("That line stayed."))
	d.idle()
}

func taskSteer(d *desk) {
	d.line("wait for it")
	d.sees("● bash", "until test -e go.txt")
	d.line("go left")
	// What was said of the line before stands on the screen, too.
	queued := func(screen string) bool {
		return strings.Contains(strings.ReplaceAll(screen, "1 queued line", ""), "1 queued")
	}
	d.waits("the line in the queue", queued)
	d.keys("Up", "M-Enter")
	d.waits("an empty queue", func(screen string) bool { return !queued(screen) })
	d.sees("▌ go left")
	d.write(filepath.Join(d.shop, "go.txt"), "")
	d.sees("I went left.")
	d.idle()
}

func taskScroll(d *desk) {
	d.line("talk for long")
	d.waits("some screens of text", func(screen string) bool {
		return strings.Contains(screen, "point number 8") && strings.Contains(screen, "point number 9")
	})
	d.keys("PPage")
	seen := d.waits("the mark", has("new output"))
	d.pressed("PPage", "what stands above", func(screen string) bool { return first(screen) != first(seen) })
	seen = d.sees("new output")
	d.sees("Esc stops")
	// What was read stays while more comes: the time of the run goes on meanwhile.
	started := d.screen()
	d.waits("a later second", func(screen string) bool {
		return foot(screen) != foot(started) && elapsedOf(screen) > elapsedOf(started)
	})
	now := d.sees("new output")
	if a, b := first(seen), first(now); a != b {
		d.t.Errorf("the first line was %q and is %q", a, b)
	}
}

func taskFollow(d *desk) {
	d.keys("End")
	then := d.gone("new output")
	d.waits("newer lines", func(screen string) bool { return first(screen) != first(then) })
}

func taskStop(d *desk) {
	d.keys("Escape")
	d.idle()
	d.sees("what is to be done?")
}

func taskQuestion(d *desk) {
	d.line("which one")
	d.sees("Which colour?", "green", "blue")
	d.pressed("2", "the question is gone", hasNot("own words"))
	d.sees("It is painted blue.")
	d.idle()
}

func taskCite(d *desk) {
	d.typed("read @not")
	d.sees("notes.txt", "Enter cites")
	d.keys("Enter")
	d.waits("the whole name", func(screen string) bool { return strings.Contains(input(screen), "read @notes.txt") })
	d.gone("Enter cites")
	d.keys("Enter")
	d.sees("I see the cited file.")
	d.idle()
}

func taskModel(d *desk) {
	d.line("/model script:second.star")
	d.sees("the model is script:second.star")
	d.waits("it at the top", func(screen string) bool {
		return strings.Contains(top(screen), "script:second.star")
	})
	d.line("who are you")
	d.sees("I am the second model.")
	d.idle()
	d.line("/model script:steps.star")
	d.waits("it at the top", func(screen string) bool { return strings.Contains(top(screen), "script:steps.star") })
}

func taskMode(d *desk) {
	mode := func(screen string) string { return strings.Fields(foot(screen))[0] }
	was := mode(d.screen())
	seen := map[string]bool{}
	for now := was; !seen[was]; {
		next := d.pressed("BTab", "another mode", func(screen string) bool { return mode(screen) != now })
		now = mode(next)
		if seen[now] {
			d.t.Fatalf("%s comes back before %s", now, was)
		}
		seen[now] = true
	}
	if len(seen) < 3 || !seen["plan"] {
		d.t.Errorf("the modes are %v", seen)
	}
}

func taskShell(d *desk) {
	d.line("! echo counted $((40 + 2))")
	d.sees("counted 42")
	d.idle()
}

func taskCommand(d *desk) {
	d.plugin("greeter.star", deskPlugin)
	d.sees("loaded greeter")
	d.typed("/gree")
	d.waits("the offer", func(screen string) bool {
		for line := range strings.Lines(screen) {
			if strings.Contains(line, "greet") && strings.Contains(line, "Greets somebody.") && strings.Contains(line, "greeter") {
				return true
			}
		}
		return false
	})
	d.keys("Tab")
	d.waits("the whole name", func(screen string) bool { return strings.Contains(input(screen), "/greet") })
	d.line("them all")
	d.sees("hello to them all")
}

func taskPanel(d *desk) {
	d.plugin("panel.star", d.example("panel.star"))
	d.sees("loaded panel", "panel/todos", "› what is to be done?")
}

func taskWork(d *desk) {
	d.keys("F6")
	d.sees("┏━ panel/todos")
	d.typed("buy milk")
	d.sees("buy milk")
	d.keys("Enter")
	d.sees("[ ] buy milk", "0 of 1")
	d.keys("BTab", "Enter")
	d.sees("[x] buy milk", "1 of 1", "drop what is done")
	d.keys("Escape")
	d.sees("┌─ panel/todos")
}

func taskBreak(d *desk) {
	text := d.example("panel.star")
	d.plugin("panel.star", strings.Replace(text, "def apply(ctx):", "def apply(ctx:", 1))
	d.waits("its line, and what the old version draws", func(screen string) bool {
		return strings.Contains(joined(screen), "panel.star:8") && strings.Contains(screen, "[x] buy milk")
	})
	d.keys("F6")
	d.sees("┏━ panel/todos")
	d.keys("Tab")
	d.typed("eggs")
	d.sees("eggs")
	d.keys("Enter")
	d.sees("[ ] eggs", "1 of 2")
	d.keys("Escape")
	d.sees("┌─ panel/todos")
}

func taskMend(d *desk) {
	d.plugin("panel.star", strings.Replace(d.example("panel.star"), `"%d of %d"`, `"%d done of %d"`, 1))
	d.sees("1 done of 2", "[x] buy milk", "[ ] eggs")
}

func taskPlugins(d *desk) {
	d.line("/plugins")
	d.sees("greeter", "panel", "active", "Esc leaves")
	d.keys("Enter")
	d.sees("greet", "Esc leaves", "greeter.star")
	d.pressed("Escape", "the list again", func(screen string) bool {
		return strings.Contains(screen, "panel ") && !strings.Contains(screen, "greeter.star")
	})
	d.pressed("Escape", "the page is gone", hasNot("Esc leaves"))
}

func taskNew(d *desk) {
	d.line("/new")
	d.gone("I see the cited file.")
	d.sees("what is to be done?", "panel/todos")
}

func taskResume(d *desk) {
	d.line("/sessions")
	d.sees("what does the shop sell?", "Esc leaves")
	d.pressed("Escape", "the page is gone", hasNot("Esc leaves"))
	d.line("/resume")
	d.sees("what does the shop sell?")
	d.pressed("Enter", "the conversation of before", has("I see the cited file."))
}

func taskResize(d *desk) {
	d.tmux("resize-window", "-x", "40", "-y", "12")
	d.waits("a small screen", func(screen string) bool {
		lines := strings.Split(strings.TrimRight(screen, "\n"), "\n")
		return len(lines) == 12 && strings.Contains(screen, "what is to be done?") && strings.HasPrefix(lines[0], " shop")
	})
	d.tmux("resize-window", "-x", "110", "-y", "34")
	d.sees("I see the cited file.", "┌─ panel/todos", "F6 panels")
}

func taskQuit(d *desk) {
	d.keys("C-c")
	d.sees("Ctrl-C again quits")
	d.keys("C-c")
	d.sees("status=0", "I see the cited file.")
	d.typed("stty -a | tr ';' '\\n' | tr ' ' '\\n' | grep -x -e '-*icanon' -e '-*echo' -e '-*isig' -e '-*opost' -e '-*icrnl' | sort | tr '\\n' '.'; echo")
	d.keys("Enter")
	d.sees("echo.icanon.icrnl.isig.opost.")
	if out := d.tmux("display-message", "-p", "#{alternate_on} #{cursor_flag} #{mouse_any_flag}"); strings.TrimSpace(out) != "0 1 0" {
		d.t.Errorf("alternate screen, cursor and mouse are %s", out)
	}
}

// joined is what stands left of the panels as one line: a long path is broken anywhere.
func joined(screen string) string {
	var b strings.Builder
	for line := range strings.Lines(screen) {
		left, _, _ := strings.Cut(line, "│")
		b.WriteString(strings.TrimSpace(left))
	}
	return b.String()
}

func top(screen string) string { return strings.Split(screen, "\n")[0] }

// first is the first line of the conversation.
func first(screen string) string { return strings.Split(screen, "\n")[1] }

func foot(screen string) string {
	lines := strings.Split(strings.TrimRight(screen, "\n"), "\n")
	return lines[len(lines)-1]
}

// elapsedOf is the time of the run at the foot, in seconds.
func elapsedOf(screen string) int {
	words := strings.Fields(foot(screen))
	n := 0
	for i := 1; i < len(words); i++ {
		unit := map[string]int{"s": 1, "min": 60}[words[i]]
		if number, err := strconv.Atoi(words[i-1]); err == nil {
			n += unit * number
		}
	}
	return n
}
