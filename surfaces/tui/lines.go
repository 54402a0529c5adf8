package tui

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"strconv"
	"strings"
	"time"

	"starling/bus/chat"
	"starling/bus/event"
	"starling/bus/view"
	"starling/surfaces/tui/command"
	"starling/surfaces/tui/input"
	"starling/surfaces/tui/kit"
	"starling/surfaces/tui/transcript"
)

// lines is the session as lines: nothing is drawn twice, for screen readers, dumb
// terminals and lovers of scrollback. It belongs to the event loop.
type lines struct {
	s    *Session
	out  io.Writer
	bad  error // of the first write that failed
	text strings.Builder

	calls map[string]string // what runs, by id
	open  []*lineQuestion
	queue []string
	atEnd bool // the input is over
	half  string
}

// lineQuestion is a question that waits for a line.
type lineQuestion struct {
	q       *event.QuestionEvent
	choices []choice
	asked   time.Time
}

// choice is one numbered answer.
type choice struct {
	label  string
	answer view.Answer
}

// deafLines is how long after a question, and after a line that came too soon, a line
// does not answer it: it was typed before the question could be read.
const deafLines = 300 * time.Millisecond

// runLines is Run without a screen.
func (s *Session) runLines(ctx context.Context, open Open) error {
	d, err := open(ctx)
	if err != nil {
		return err
	}
	// What waits for the engine must not outlive the session.
	waits, end := context.WithCancel(ctx)
	defer end()
	s.engine, s.ctx, s.ready = opened(d), waits, true
	l := &lines{s: s, out: s.o.Out, calls: map[string]string{}}
	s.lines = l
	for _, m := range d.Transcript() {
		l.message(m)
	}
	st := d.Status()
	l.say("%s %s, model %s. /help lists the commands.", orName(st.Workspace, "starling"), st.Branch, st.Model)
	signals := make(chan os.Signal, 8)
	signal.Notify(signals, caught...)
	defer signal.Stop(signals)
	go func() {
		in := bufio.NewReader(s.o.In)
		for {
			line, err := in.ReadString('\n')
			if line != "" {
				s.in.do(func() { l.line(strings.TrimRight(line, "\r\n")) })
			}
			if err != nil {
				s.in.do(func() { l.over(err) })
				return
			}
		}
	}()
	for !s.stopped {
		select {
		case <-s.in.wake:
			l.receive()
		case sig := <-signals:
			if sig == os.Interrupt && s.stopRun() {
				l.say("stopping")
				continue
			}
			s.signal(sig)
		case <-ctx.Done():
			s.stop(context.Cause(ctx))
		}
		if l.bad != nil {
			s.stop(l.bad)
		}
		if l.atEnd && s.free() && len(s.shells) == 0 && len(l.queue) == 0 {
			s.stop(nil)
		}
	}
	l.refuseAll()
	s.leave()
	l.receive()
	if line := s.goesOn(); line != "" {
		l.say("%s", line)
	}
	return s.failure
}

func orName(name, other string) string {
	if name == "" {
		return other
	}
	return name
}

func (l *lines) say(format string, args ...any) {
	text := kit.Clean(fmt.Sprintf(format, args...))
	if _, err := fmt.Fprintln(l.out, strings.TrimRight(text, "\n ")); err != nil && l.bad == nil {
		l.bad = fmt.Errorf("the output: %w", err)
	}
}

func (l *lines) receive() {
	for _, it := range l.s.in.take() {
		switch {
		case it.f != nil:
			it.f()
		case it.kind == reply:
			l.write(it.text.String())
		case it.kind == output && strings.HasPrefix(it.id, "!"):
			l.write(it.text.String())
		}
	}
}

// write shows text line by line.
func (l *lines) write(text string) {
	l.text.WriteString(text)
	all := l.text.String()
	i := strings.LastIndexByte(all, '\n')
	if i < 0 {
		return
	}
	l.text.Reset()
	l.text.WriteString(all[i+1:])
	l.say("%s", all[:i])
}

func (l *lines) endReply() {
	if rest := l.text.String(); strings.TrimSpace(rest) != "" {
		l.say("%s", rest)
	}
	l.text.Reset()
}

func (l *lines) message(m chat.Message) {
	if m.Role == chat.User {
		l.person(m.Text())
	} else if text := m.Text(); m.Role == chat.Assistant && text != "" {
		l.say("%s", text)
	}
}

func (l *lines) person(text string) { l.say("you: %s", text) }

// notice says a line. What the model writes comes in whole lines: none is cut in two.
func (l *lines) notice(n view.Notice) {
	switch {
	case n.From != "":
		l.say("[%s] %s", kit.CleanLine(n.From), n.Text)
	case n.Warn:
		l.say("warning: %s", n.Text)
	default:
		l.say("%s", n.Text)
	}
}

func (l *lines) begun(id, name, arguments string) {
	what := oneLine(name + " " + transcript.Summary(arguments))
	if l.calls[id] == what {
		return
	}
	l.calls[id] = what
	l.endReply()
	l.say("%s %s", l.s.signs.Call, what)
}

func (l *lines) refused(id, name, by, why string) {
	l.say("%s %s: blocked by %s: %s", l.s.signs.Failed, orName(l.calls[id], kit.RevealLine(name)), kit.RevealLine(by), kit.Reveal(why))
	delete(l.calls, id)
}

func (l *lines) finished(id, name string, r transcript.Result) {
	what := orName(l.calls[id], name)
	delete(l.calls, id)
	sign := l.s.signs.Good
	note, failed := transcript.NoteOf(r, l.s.signs.ASCII)
	if failed {
		sign = l.s.signs.Failed
	}
	l.say("%s %s: %s", sign, what, orName(note, "done"))
}

// ended goes on with the next line that waits.
func (l *lines) ended() {
	l.say("ready")
	l.s.next()
}

// next runs the line that waits first and tells whether there was one.
func (l *lines) next() bool {
	if len(l.queue) == 0 {
		return false
	}
	text := l.queue[0]
	l.queue = l.queue[1:]
	l.s.prompt(input.Entry{Text: text})
	return true
}

// over is the end of the input: what runs goes on, what is asked is refused.
func (l *lines) over(err error) {
	if !errors.Is(err, io.EOF) {
		l.say("the input ended: %v", err)
	}
	l.atEnd = true
	l.refuseAll()
	l.s.goOn() // nobody is there any more to say so
}

// line takes what the person wrote. One that ends in a backslash goes on in the next.
func (l *lines) line(text string) {
	if head, more := strings.CutSuffix(text, `\`); more {
		l.half += head + "\n"
		return
	}
	text, l.half = l.half+text, ""
	if len(l.open) > 0 {
		now := l.s.now()
		if now.Sub(l.open[0].asked) >= deafLines {
			l.reply(text)
			return
		}
		l.open[0].asked = now // more of it may come
	}
	trimmed := strings.TrimSpace(text)
	_, _, isCommand := command.Split(trimmed)
	switch {
	case trimmed == "":
		l.s.goOn()
	case strings.HasPrefix(trimmed, "!"):
		l.s.shell(trimmed)
	case isCommand:
		l.s.command(trimmed)
	case !l.s.free():
		l.queue = append(l.queue, text)
		l.say("queued: %s", oneLine(text))
	default:
		l.s.holds = false
		l.s.prompt(input.Entry{Text: text})
	}
}

// question shows a question and its numbered answers.
func (l *lines) question(q *event.QuestionEvent) {
	l.endReply()
	lq := &lineQuestion{q: q, choices: choicesOf(q)}
	l.open = append(l.open, lq)
	if l.atEnd {
		l.refuseAll()
		return
	}
	if len(l.open) == 1 {
		l.show(lq)
	}
}

func (l *lines) show(lq *lineQuestion) {
	q := lq.q
	defer func() {
		// Nothing that was typed before all of it was shown answers it, nor ends as an answer.
		forgetTyped(l.s.o.In)
		lq.asked = l.s.now()
	}()
	l.say("? %s", kit.Reveal(q.Summary))
	if q.Detail != "" && q.Detail != q.Summary {
		l.say("%s", kit.Reveal(q.Detail))
	}
	for _, r := range q.Reasons {
		l.say("  because: %s", kit.RevealLine(r))
	}
	for i, c := range lq.choices {
		l.say("  %d %s", i+1, c.label)
	}
	switch {
	case len(lq.choices) == 0:
		l.say("write your answer:")
	case q.Kind == "permission":
		l.say("number (behind no, why; behind edit, the arguments as JSON):")
	default:
		l.say("number:")
	}
}

func choicesOf(q *event.QuestionEvent) []choice {
	options := q.Options
	if len(options) == 0 && q.Kind == "permission" {
		options = []string{view.AnswerYes, view.AnswerNo}
	}
	var out []choice
	for _, o := range options {
		if o == view.AnswerAlways {
			rules := strings.Join(q.Always, ", ")
			out = append(out, choice{oneLine("always in this session: " + rules), view.Answer{Value: o}},
				choice{oneLine("always in this workspace: " + rules), view.Answer{Value: o, Everywhere: true}})
			continue
		}
		out = append(out, choice{kit.RevealLine(o), view.Answer{Value: o}})
	}
	return out
}

// reply takes a line as the answer to the first question.
func (l *lines) reply(text string) {
	lq := l.open[0]
	a := view.Answer{Value: text}
	if len(lq.choices) > 0 {
		number, rest, _ := strings.Cut(strings.TrimSpace(text), " ")
		n, err := strconv.Atoi(number)
		if err != nil || n < 1 || n > len(lq.choices) {
			l.say("a number from 1 to %d, please", len(lq.choices))
			return
		}
		a = lq.choices[n-1].answer
		rest = strings.TrimSpace(rest)
		switch {
		case a.Value == view.AnswerNo:
			a.Why = rest
		case a.Value == view.AnswerEdit && rest == "":
			l.say("write the arguments behind the number; they are judged anew: %s", kit.Reveal(view.ReadableJSON(string(lq.q.Arguments))))
			return
		case a.Value == view.AnswerEdit:
			a.Arguments = []byte(rest)
			l.recheck(lq, a)
			return
		}
	}
	l.settled(lq.q.ID)
	l.s.answer(lq.q.ID, a)
}

// recheck sends edited arguments only when the tool takes them.
func (l *lines) recheck(lq *lineQuestion, a view.Answer) {
	l.s.beside(func(d Driver) func() {
		err := d.Recheck(lq.q.Tool, a.Arguments)
		return func() {
			if err != nil {
				l.say("these arguments do not fit: %v", err)
				return
			}
			l.settled(lq.q.ID)
			l.s.answer(lq.q.ID, a)
		}
	})
}

// settled takes a question away and shows the next one.
func (l *lines) settled(id string) {
	for i, lq := range l.open {
		if lq.q.ID != id {
			continue
		}
		l.open = append(l.open[:i:i], l.open[i+1:]...)
		if i == 0 && len(l.open) > 0 {
			l.show(l.open[0])
		}
		return
	}
}

// refuseAll answers no to what is open: nobody is there. A no about trust is kept, and
// nobody said it: such a question goes without an answer.
func (l *lines) refuseAll() {
	open := l.open
	l.open = nil
	for _, lq := range open {
		if lq.q.Kind == "trust" {
			continue
		}
		a := view.Answer{Value: view.AnswerNo}
		if lq.q.Kind == "question" {
			a.Value = ""
		}
		l.s.answer(lq.q.ID, a)
	}
}

// pick prints what can be chosen, with numbers that are good for nothing but the eye:
// the command takes the name.
func (l *lines) pick(p *command.Pick) {
	l.say("%s:", p.Title)
	if len(p.Items) == 0 {
		l.say("  %s", p.Empty)
	}
	for _, it := range p.Items {
		text := it.Text
		if it.ID != "" && it.ID != text {
			text = it.ID + "  " + text
		}
		l.say("  %s  %s", oneLine(text), oneLine(it.Note))
	}
}
