//go:build linux

package cli_test

import (
	"fmt"
	"os/exec"
	"strings"
	"testing"
)

// tagged is what other screens take for colours and regions.
const tagged = `[red]x[-] [YELLOW] ["a"]b[""] [::b] arr[0] [x[]`

// roughModel prints what no screen likes, and asks for the terminal.
const roughModel = `
expect("tags")
calls([say("model: [red]x[-] [YELLOW] [\"a\"]b[\"\"] [::b] arr[0] [x[]"), call("read", path = "[red]name.txt")])
say("tags are over")

expect("escapes")
say("before\033[31m\033[2J\033]0;title\007\033[?1049l\u009b5mafter \u202edesrever \u05e9\u05dc\u05d5\u05dd \U0001f468\u200d\U0001f469\u200d\U0001f467 \u65e5\u672c end")

expect("one long line")
say("x" * 400000 + "tail")

expect("line 9999")
say("the paste came whole")

expect("a password")
call("bash", command = "(read -r secret </dev/tty && echo got $secret) 2>&1 || echo no terminal for me; sleep 0.5")
expect("no terminal for me")
say("nobody typed a password")
`

const roughPlugins = `inject = ["surfaces"]
def apply(ctx):
    def update(model, msg):
        if msg.kind == "key":
            fail("[red]update failed[-]")
        return model
    surface("breaks", {"kind": "side", "side": "right"}, lambda m: ui.text("[red]label[-]"), update = update)
    surface("malformed", {"kind": "side", "side": "right"}, lambda m: {"type": "lst"})
    def forever(m):
        for i in range(100000):
            for j in range(100000):
                m = m
    surface("loops", {"kind": "side", "side": "right"}, forever)
`

// TestRough: what models, plugins, pastes and windows may do, the session goes on and
// is drawn in order. Without tmux it says so and proves nothing; CI has it.
func TestRough(t *testing.T) {
	if _, err := exec.LookPath("tmux"); err != nil {
		t.Log("there is no tmux here: nothing was driven")
		return
	}
	d := newDesk(t)
	d.write(d.shop+"/rough.star", roughModel)
	d.write(d.shop+"/[red]name.txt", "tool: "+tagged+"\n")
	d.typed("starling --mode yolo --model script:rough.star; echo status=$?")
	d.keys("Enter")
	d.sees("what is to be done?", "script:rough.star")
	for _, one := range []struct {
		name string
		do   func(d *desk)
	}{
		{"F-02 text is no markup", func(d *desk) {
			d.line("tags " + tagged)
			d.sees("▌ tags "+tagged, "model: "+tagged, "[red]name.txt", "tags are over")
			d.keys("M-o")
			d.sees("tool: " + tagged)
			d.keys("M-o")
			d.idle()
		}},
		{"escape sequences, right to left, joined characters", func(d *desk) {
			d.line("escapes")
			// Sequences are gone, and so is what turns the direction; the rest stays.
			d.sees("before", "after", "desrever", "שלום", "日本", "end", "script:rough.star")
			d.idle()
			if out := d.tmux("display-message", "-p", "#{alternate_on} #{pane_title}"); !strings.HasPrefix(out, "1 ") || strings.Contains(out, "title") {
				d.t.Errorf("the terminal is %q", out)
			}
		}},
		{"one long line", func(d *desk) {
			d.line("one long line")
			d.sees("xtail", "what is to be done?")
			d.idle()
		}},
		{"F-03 a paste of a megabyte", func(d *desk) {
			var text strings.Builder
			for i := range 10000 {
				fmt.Fprintf(&text, "line %d\t%s\r\n", i, strings.Repeat("p", 90))
			}
			d.paste(text.String())
			d.waits("one entry", func(screen string) bool {
				return strings.Contains(input(screen), "10 000 lines") || strings.Contains(input(screen), "10 001 lines")
			})
			d.gone("Esc stops") // nothing was sent
			d.keys("Enter")
			d.sees("the paste came whole")
			d.idle()
		}},
		{"C-04 who wants the terminal gets none", func(d *desk) {
			d.line("a password")
			d.sees("● bash")
			d.typed("for me")
			d.sees("nobody typed a password")
			d.waits("the keys in the prompt", func(screen string) bool { return strings.Contains(input(screen), "for me") })
			d.keys("C-u")
			d.waits("an empty prompt", func(screen string) bool { return !strings.Contains(input(screen), "for me") })
		}},
		{"F-06 the cursor is on the caret", func(d *desk) {
			d.typed("日本語")
			d.waits("the text", func(screen string) bool { return strings.Contains(input(screen), "日本語") })
			d.cursor(3 + 6)
			d.keys("Left")
			d.cursor(3 + 4)
			d.typed("é")
			d.cursor(3 + 5)
			d.keys("C-u", "C-k")
			d.cursor(3)
		}},
		{"plugins that loop, fail and draw nonsense", func(d *desk) {
			d.plugin("rough.star", roughPlugins)
			d.sees("rough/malformed", "widget type", "rough/loops", "limit", "[red]label[-]")
			d.keys("F6")
			d.waits("a panel with the keys", func(screen string) bool { return strings.Contains(screen, "━") })
			for range 3 { // panels; then the prompt has the keys again
				d.keys("k", "F6")
			}
			d.sees("[red]update failed[-]")
			d.waits("the keys at the prompt", hasNot("━"))
			d.typed("still here")
			d.waits("the text", func(screen string) bool { return strings.Contains(input(screen), "still here") })
			d.keys("C-u")
		}},
		{"sizes", func(d *desk) {
			for _, size := range [][2]int{{40, 12}, {80, 24}, {120, 40}, {200, 60}, {20, 5}, {110, 34}} {
				d.tmux("resize-window", "-x", fmt.Sprint(size[0]), "-y", fmt.Sprint(size[1]))
				d.typed("w")
				d.waits(fmt.Sprint(size), func(screen string) bool {
					lines := strings.Split(strings.TrimSuffix(screen, "\n"), "\n")
					return len(lines) == size[1] && strings.Contains(screen, "› w")
				})
				d.keys("C-u")
				d.waits("an empty prompt", func(screen string) bool { return !strings.Contains(screen, "› w\n") })
			}
		}},
		{"leaving", func(d *desk) {
			d.keys("C-c", "C-c")
			d.sees("status=0")
		}},
	} {
		if !t.Run(one.name, func(t *testing.T) { d.t = t; one.do(d) }) {
			return
		}
	}
}

// cursor waits until the cursor is shown in a column.
func (d *desk) cursor(column int) {
	d.t.Helper()
	want := fmt.Sprintf("1 %d", column)
	d.waits("the cursor at "+want, func(string) bool {
		return strings.TrimSpace(d.tmux("display-message", "-p", "#{cursor_flag} #{cursor_x}")) == want
	})
}
