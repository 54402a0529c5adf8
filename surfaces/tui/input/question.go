package input

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf16"

	"github.com/gdamore/tcell/v2"

	"starling/bus/event"
	"starling/bus/view"
	"starling/surfaces"
	"starling/surfaces/tui/kit"
)

// stage is what a question waits for.
type stage int

const (
	choosing  stage = iota
	scoping         // for how long an always holds
	reasoning       // the line behind a no
	editing         // other arguments
	writing         // an answer in one's own words
)

// question is one on the screen.
type question struct {
	modal
	deaf   deaf
	q      *event.QuestionEvent
	more   int // questions behind this one
	answer func(view.Answer)
	check  func(tool string, arguments json.RawMessage, result func(error))

	// stops tells whether Esc stops a run, which stop does and refuses.
	stops func() bool
	stop  func()
	// later puts a question about trust off.
	later func()

	keys    Keymap
	stage   stage
	mark    int // of the options of the question tool
	parts   parts
	width   int // the parts were made for
	body    body
	field   *field
	problem string // why what was typed cannot be sent
	asked   time.Time
	gen     int // of checks
	// held is an answer whose key may be the beginning of a paste; nil for none.
	held   *view.Answer
	heldAt time.Time
	after  func(d time.Duration, f func())
}

func newQuestion(host kit.Host, q *event.QuestionEvent, keys Keymap) *question {
	if keys == nil {
		keys = defaultKeys
	}
	d := &question{modal: newModal(host), q: q, keys: keys, stops: func() bool { return false }, later: func() {}}
	d.asked = d.now()
	d.after = func(wait time.Duration, f func()) { host.Go(func() { time.Sleep(wait) }, f) }
	if q.Kind == "question" && len(q.Options) == 0 {
		d.begin(writing)
	}
	return d
}

func (d *question) offers(answer string) bool {
	if answer == view.AnswerEdit && !EditsShown(d.q) {
		return false
	}
	return d.q.Kind != "question" && slices.Contains(d.q.Options, answer)
}

// choices of the stage.
func (d *question) choices() []choice {
	switch d.stage {
	case scoping:
		return []choice{{"s", "in this session"}, {"w", "in this workspace"}, {"Esc", "back"}}
	case reasoning:
		return []choice{{"Enter", "says no"}, {"Esc", "back"}}
	case editing:
		return d.written("has it judged anew", "back")
	case writing:
		if len(d.q.Options) == 0 {
			return d.written("answers", d.escape())
		}
		return d.written("answers", "back")
	}
	if d.q.Kind == "question" {
		return []choice{{"1-" + strconv.Itoa(min(len(d.q.Options), 9)), "choose"}, {"t", "own words"}, {"Esc", d.escape()}}
	}
	var out []choice
	for _, c := range []struct{ answer, key, label string }{
		{view.AnswerYes, "y", "yes"},
		{view.AnswerTrust, "y", "trust this version"},
		{view.AnswerTrustEdits, "e", "trust edits in this session"},
		{view.AnswerAlways, "a", "always"},
		{view.AnswerNo, "n", "no"},
		{view.AnswerEdit, "e", "edit"},
	} {
		if d.offers(c.answer) {
			out = append(out, choice{c.key, c.label})
		}
	}
	if d.trust() || d.stops() {
		out = append(out, choice{"Esc", d.escape()})
	}
	return out
}

// trust tells whether it is about which code counts. Such a question is none of
// the run's, and its no is kept: to leave it is no answer.
func (d *question) trust() bool { return d.q.Kind == "trust" }

// escape is what Esc does with a question that nobody is writing in.
func (d *question) escape() string {
	switch {
	case d.trust():
		return "not now"
	case d.stops():
		return "stops the run"
	}
	return "no answer"
}

// written is what can be done with a text of several lines.
func (d *question) written(sends, leaves string) []choice {
	out := []choice{{d.keys.Key(Send), sends}}
	if key := d.keys.Key(Newline); key != "" {
		out = append(out, choice{key, "line"})
	}
	return append(out, choice{"Esc", leaves})
}

func (d *question) begin(s stage) {
	d.stage, d.problem, d.width, d.body.top = s, "", 0, 0
	d.gen++
	switch s {
	case reasoning:
		d.field = newField("", true, d.keys)
	case writing:
		d.field = newField("", false, d.keys)
	case editing:
		d.field = newField(indented(d.q.Arguments), false, d.keys)
	default:
		d.field = nil
	}
}

// indented is JSON as a person reads and edits it: < is no \u003c in it, and what could
// steer the terminal is spelled out.
func indented(arguments json.RawMessage) string {
	var out bytes.Buffer
	if err := json.Indent(&out, arguments, "", "  "); err != nil {
		return string(arguments)
	}
	return visible(view.ReadableJSON(out.String()))
}

// visible spells out what JSON may hold as it is and no field keeps. Outside of its
// texts there is none.
func visible(text string) string {
	var b strings.Builder
	for _, r := range text {
		switch {
		case r == '\n' || !view.Steers(r):
			b.WriteRune(r)
		case r > 0xffff:
			high, low := utf16.EncodeRune(r)
			fmt.Fprintf(&b, `\u%04x\u%04x`, high, low)
		default:
			fmt.Fprintf(&b, `\u%04x`, r)
		}
	}
	return b.String()
}

func (d *question) finish(a view.Answer) {
	if d.done {
		return
	}
	d.done = true
	if d.answer != nil {
		d.answer(a)
	}
}

// Key answers. Every key is the question's: none reaches what is below.
func (d *question) Key(ev *tcell.EventKey) bool {
	c := chord(ev)
	if !d.done && c == "esc" && d.outermost() && d.stops() {
		d.stop() // even right after it opened: this permits nothing
		return true
	}
	if d.done || d.deaf.ignores(d.when(ev)) {
		return true
	}
	if d.held != nil {
		d.release(d.when(ev), c)
		return true
	}
	if d.field != nil {
		d.fieldKey(ev, c)
		return true
	}
	if d.stage == scoping {
		switch c {
		case "s":
			d.hold(d.when(ev), view.Answer{Value: view.AnswerAlways})
		case "w":
			d.hold(d.when(ev), view.Answer{Value: view.AnswerAlways, Everywhere: true})
		case "esc":
			d.begin(choosing)
		default:
			d.other(ev, c)
		}
		return true
	}
	if d.q.Kind == "question" {
		d.optionKey(ev, c)
		return true
	}
	switch {
	case c == "y" && d.offers(view.AnswerYes):
		d.hold(d.when(ev), view.Answer{Value: view.AnswerYes})
	case c == "y" && d.offers(view.AnswerTrust):
		d.hold(d.when(ev), view.Answer{Value: view.AnswerTrust})
	case c == "e" && d.offers(view.AnswerTrustEdits):
		d.hold(d.when(ev), view.Answer{Value: view.AnswerTrustEdits})
	case c == "a" && d.offers(view.AnswerAlways):
		d.begin(scoping)
	case c == "n" && d.q.Kind == "permission":
		d.begin(reasoning)
	case c == "esc" && d.trust():
		d.later()
	case c == "n", c == "esc":
		d.finish(view.Answer{Value: view.AnswerNo})
	case c == "e" && d.offers(view.AnswerEdit):
		d.begin(editing)
	default:
		d.other(ev, c)
	}
	return true
}

// other takes a key that answers nothing: it scrolls. A character begins the quiet time
// anew: somebody types words that are for something else.
func (d *question) other(ev *tcell.EventKey, c string) {
	if !d.body.key(c) && letter(ev) != 0 {
		d.deaf.until = d.when(ev).Add(surfaces.DeafTime)
	}
}

// outermost tells whether Esc leaves the question, and not what was opened in it.
func (d *question) outermost() bool {
	return d.stage == choosing || d.stage == writing && len(d.q.Options) == 0
}

// hold gives an answer that permits something once it is clear that its key was
// pressed alone: a terminal without bracketed paste sends a paste as keys.
func (d *question) hold(at time.Time, a view.Answer) {
	d.held, d.heldAt = &a, at
	d.after(burstGap, func() {
		if d.held == &a {
			d.finish(a)
		}
	})
}

// release decides about a held answer by the key that came after it.
func (d *question) release(at time.Time, c string) {
	a := *d.held
	d.held = nil
	if at.Sub(d.heldAt) < burstGap && c != "enter" {
		d.deaf.until = at.Add(surfaces.DeafTime)
		return
	}
	d.finish(a)
}

// optionKey chooses among the options of the question tool.
func (d *question) optionKey(ev *tcell.EventKey, c string) {
	options := d.q.Options
	switch n, err := strconv.Atoi(c); {
	case err == nil && n >= 1 && n <= len(options):
		d.finish(view.Answer{Value: options[n-1]})
	case c == "enter" && !d.body.shows(d.parts.from, d.parts.to):
		d.body.reveal(d.parts.from, d.parts.to) // nobody answers with what they do not see
	case c == "enter":
		d.finish(view.Answer{Value: options[d.mark]})
	case c == "down" && d.mark < len(options)-1:
		d.marks(d.mark + 1)
	case c == "up" && d.mark > 0:
		d.marks(d.mark - 1)
	case c == "t", c == "0":
		d.begin(writing)
	case c == "esc":
		d.finish(view.Answer{})
	default: // at the first and the last option the arrows go on to the text
		d.other(ev, c)
	}
}

// marks marks another option and brings it into sight.
func (d *question) marks(option int) {
	d.mark = option
	width := d.width
	d.width = 0
	d.compose(width)
	d.body.reveal(d.parts.from, d.parts.to)
}

func (d *question) fieldKey(ev *tcell.EventKey, c string) {
	switch {
	case c == "esc" && d.stage == writing && len(d.q.Options) == 0:
		d.finish(view.Answer{})
	case c == "esc":
		d.begin(choosing)
	case d.field.sends(c):
		d.sendField()
	case d.field.key(ev):
		d.problem = ""
	default:
		d.body.key(c)
	}
}

func (d *question) sendField() {
	text := strings.TrimSpace(d.field.text())
	switch d.stage {
	case reasoning:
		d.finish(view.Answer{Value: view.AnswerNo, Why: text})
	case writing:
		if text == "" {
			d.problem = "write an answer, or leave with Esc"
			return
		}
		d.finish(view.Answer{Value: text})
	case editing:
		d.sendEdit(text)
	}
}

// sendEdit sends arguments that are JSON and that the schema of the tool takes.
func (d *question) sendEdit(text string) {
	var v any
	if err := json.Unmarshal([]byte(text), &v); err != nil {
		d.problem = "this is no JSON: " + view.CleanLine(err.Error())
		return
	}
	arguments := json.RawMessage(text)
	if d.check == nil {
		d.finish(view.Answer{Value: view.AnswerEdit, Arguments: arguments})
		return
	}
	d.gen++
	gen := d.gen
	d.problem = "checking"
	d.check(d.q.Tool, arguments, func(err error) {
		switch {
		case d.gen != gen || d.stage != editing:
		case strings.TrimSpace(d.field.text()) != text:
			d.problem = "" // it was edited meanwhile
		case err != nil:
			d.problem = view.CleanLine(err.Error())
		default:
			d.finish(view.Answer{Value: view.AnswerEdit, Arguments: arguments})
		}
	})
}

// Paste goes into what is being written, never into an answer of one key; false where
// nothing is.
func (d *question) Paste(text string) bool {
	if d.field == nil || d.deaf.ignores(d.now()) {
		return false
	}
	d.field.paste(text)
	d.problem = ""
	return true
}

// Mouse scrolls. No click answers: one meant for what stood there before would.
func (d *question) Mouse(ev kit.Mouse) bool {
	switch ev.Action {
	case kit.WheelUp:
		d.body.scroll(-3)
	case kit.WheelDown:
		d.body.scroll(3)
	}
	return true
}
