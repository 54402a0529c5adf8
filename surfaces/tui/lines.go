package tui

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"slices"
	"strings"
	"time"

	"starling/bus/chat"
	"starling/bus/view"
	"starling/surfaces"
	"starling/surfaces/tui/command"
	"starling/surfaces/tui/input"
	"starling/surfaces/tui/kit"
	"starling/surfaces/tui/transcript"
)

// lines is the session as lines: nothing is drawn twice, for screen readers, dumb
// terminals and lovers of scrollback. It belongs to the event loop.
type lines struct {
	s   *Session
	out io.Writer
	bad error // of the first write that failed
	// begins are lines that are not over yet: of the reply, by "", and of commands of the
	// person, by id.
	begins map[string]*strings.Builder

	calls map[string]string // what runs, by id
	open  []*lineQuestion
	aside []*lineQuestion // those about trust that were put off
	queue []input.Entry
	// attached are the files that go with the next prompt.
	attached []string

	atEnd bool // the input is over
	half  string
}

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
	l := &lines{s: s, out: s.o.Out, calls: map[string]string{}, begins: map[string]*strings.Builder{}}
	s.lines = l
	for _, m := range d.Transcript() {
		l.message(m)
	}
	l.say("%s. /help lists the commands.", where(d.Status(), d.Mode()))
	l.attach(ctx, d, s.o.Attach)
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
			if sig == os.Interrupt {
				l.interrupt()
				break
			}
			s.signal(sig)
			if s.stopped {
				l.say("") // off the line that was begun
			}
		case <-ctx.Done():
			s.stop(context.Cause(ctx))
		}
		if l.bad != nil {
			s.stop(l.bad)
		}
		if l.atEnd && s.free() && len(s.jobs) == 0 && len(l.queue) == 0 {
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

// where says where one is, and what answers and may run there.
func where(st view.Status, mode string) string {
	parts := []string{strings.TrimSpace(orName(st.Workspace, "starling") + " " + st.Branch)}
	if mode != "" {
		parts = append(parts, "mode "+mode)
	}
	if st.Model != "" {
		parts = append(parts, "model "+st.Model)
	}
	return strings.Join(parts, ", ")
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
			l.write("", it.text.String())
		case it.kind == output && strings.HasPrefix(it.id, "!"):
			l.write(it.id, it.text.String())
		}
	}
}

// write shows text line by line.
func (l *lines) write(id, text string) {
	b := l.begins[id]
	if b == nil {
		b = new(strings.Builder)
		l.begins[id] = b
	}
	i := strings.LastIndexByte(text, '\n')
	b.WriteString(text[:i+1])
	if i >= 0 {
		l.say("%s", strings.TrimSuffix(b.String(), "\n"))
		b.Reset()
	}
	b.WriteString(text[i+1:])
}

func (l *lines) endReply() { l.endLine("") }

// endLine shows a line that ends without a break.
func (l *lines) endLine(id string) {
	if b := l.begins[id]; b != nil && strings.TrimSpace(b.String()) != "" {
		l.say("%s", b.String())
	}
	delete(l.begins, id)
}

func (l *lines) message(m chat.Message) {
	if m.Role == chat.User {
		l.person(m.Said())
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

// ran says how a command of the person ended, in the way of a call.
func (l *lines) ran(id, line string, end view.Ended) {
	l.endLine(id)
	sign := l.s.signs.Good
	if end.Failed {
		sign = l.s.signs.Failed
	}
	l.say("%s !%s: %s", sign, oneLine(line), kit.RevealLine(end.Status))
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
	l.s.quitHint = time.Time{} // the next Ctrl-C may be meant for this run
	l.say("ready")
	l.s.next()
}

// next runs the line that waits first and tells whether there was one.
func (l *lines) next() bool {
	if len(l.queue) == 0 {
		return false
	}
	e := l.queue[0]
	l.queue = l.queue[1:]
	l.s.prompt(e)
	return true
}

// wait has a line wait for what runs, and says so.
func (l *lines) wait(e input.Entry) {
	l.s.enqueue(e)
	words := []string{"queued"}
	if what := l.s.blocks(); what != "" {
		words = append(words, "behind", what)
	}
	if files := with(e.Attached); files != "" {
		words = append(words, files)
	}
	l.say("%s: %s", oneLine(strings.Join(words, " ")), oneLine(e.Text))
}

// attach attaches files of the command line.
func (l *lines) attach(ctx context.Context, d Driver, files []string) {
	for _, path := range files {
		if err := d.Attachable(ctx, path); err != nil {
			l.say("warning: %v", err)
			continue
		}
		l.attached = append(l.attached, path)
	}
	if len(l.attached) > 0 {
		l.say("attached to the next prompt: %s", oneLine(strings.Join(l.attached, ", ")))
	}
}

// keeps attaches the files of a prompt that was not taken to the next one.
func (l *lines) keeps(e input.Entry) {
	if l.attached = slices.Concat(e.Attached, l.attached); len(l.attached) > 0 {
		l.say("attached to the next prompt: %s; /attach drop forgets it", oneLine(strings.Join(l.attached, ", ")))
	}
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
	l.s.quitHint = time.Time{}
	if head, more := strings.CutSuffix(text, `\`); more {
		l.half += head + "\n"
		return
	}
	text, l.half = l.half+text, ""
	if len(l.open) > 0 {
		now := l.s.now()
		if now.Sub(l.open[0].asked) >= surfaces.DeafTime {
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
	default:
		e := input.Entry{Text: text, Attached: l.attached}
		l.attached = nil
		l.s.deliver(e)
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
