package tui

import (
	"context"
	"slices"
	"strconv"
	"strings"
	"time"

	"starling/bus/view"
	"starling/surfaces"
	"starling/surfaces/tui/command"
	"starling/surfaces/tui/input"
	"starling/surfaces/tui/transcript"
)

// asked is the session as commands see it. What belongs to the event loop is read
// there, when the command begins; with adds the engine once it is there.
type asked struct {
	Driver
	s       *Session
	running bool
	queued  []string
	goes    []string // with the next prompt, or with the line behind the command
	theme   string
	beside  bool
}

var _ command.Session = asked{}

func (a asked) Running() bool      { return a.running }
func (a asked) Queued() []string   { return a.queued }
func (a asked) Attached() []string { return a.goes }
func (a asked) Lines() bool        { return a.s.lines != nil }
func (a asked) Theme() string      { return a.theme }
func (a asked) Beside() bool       { return a.beside }
func (a asked) Keys() input.Keymap { return a.s.keys }
func (a asked) Now() time.Time     { return a.s.now() }

func (a asked) Shortcuts() command.Shortcuts { return a.s.others }

func (a asked) Panels() []surfaces.Panel {
	if h := a.s.source.Load(); h != nil {
		return h.Panels()
	}
	return nil
}

// AskAgain opens what the person put off, on the event loop; false at the end of the
// session as well.
func (a asked) AskAgain() bool {
	opened := make(chan bool, 1)
	a.s.in.do(func() {
		again := a.s.asking.AskAgain()
		if a.s.lines != nil {
			again = a.s.lines.askAgain()
		}
		a.s.needs()
		opened <- again
	})
	select {
	case again := <-opened:
		return again
	case <-a.s.ctx.Done():
		return false
	}
}

func (a asked) with(d Driver) asked {
	a.Driver = d
	return a
}

func (s *Session) asked() asked {
	a := asked{s: s, running: s.running != nil, theme: s.theme.Name, beside: s.panels != nil && !s.panels.NoSides()}
	if s.lines != nil {
		a.goes = slices.Clone(s.lines.attached)
		for _, e := range s.lines.queue {
			a.queued = append(a.queued, e.Text+inBrackets(with(e.Attached)))
		}
		return a
	}
	a.goes = s.editor.Attached()
	for _, e := range s.editor.Queue().Entries() {
		a.queued = append(a.queued, e.Text)
	}
	return a
}

// with says which files go with a line; "" for none.
func with(files []string) string {
	if len(files) == 0 {
		return ""
	}
	return "with " + strings.Join(files, ", ")
}

// command runs "/NAME ARGS", of a prompt in which files are attached.
func (s *Session) command(text string, files ...string) {
	name, _, _ := command.Split(text)
	if name == "attach" { // they are attached already, and stay it
		for _, path := range files {
			text = strings.Replace(text, input.Mention(path), "", 1)
			s.editor.AttachFile(path)
		}
	}
	_, args, _ := command.Split(text)
	a := s.asked()
	if name == "steer" && s.lines == nil {
		a.goes = files
	}
	if command.Waits(name) {
		s.beside(func(d Driver) func() {
			r := command.Run(s.ctx, a.with(d), name, args)
			return func() { s.apply(r) }
		})
		return
	}
	s.perform("/"+name, func(ctx context.Context, d Driver) command.Reply {
		return command.Run(ctx, a.with(d), name, args)
	})
}

// inOrder does work beside the loop. What the person sends meanwhile waits for done:
// it may be meant for another session, or another model.
func (s *Session) inOrder(work func(Driver) (done func())) {
	s.changing++
	s.beside(func(d Driver) func() {
		done := work(d)
		return func() {
			s.changing--
			done()
			s.next()
		}
	})
}

// free tells whether a line that is sent would run at once.
func (s *Session) free() bool { return s.ready && s.running == nil && s.changing == 0 }

// queued counts the lines that wait.
func (s *Session) queued() int {
	if s.lines != nil {
		return len(s.lines.queue)
	}
	return s.editor.Queue().Len()
}

// holding tells whether queued lines wait for a word of the person, who has stopped the
// run before them.
func (s *Session) holding() bool {
	s.holds = s.holds && s.queued() > 0
	return s.holds
}

// goOn runs what was held.
func (s *Session) goOn() {
	if s.holding() {
		s.holds = false
		s.next()
	}
}

// next runs the line that waits first, when nothing is in its way, and tells whether
// there was one.
func (s *Session) next() bool {
	if !s.free() || s.holding() {
		return false
	}
	if s.lines != nil {
		return s.lines.next()
	}
	e, ok := s.editor.Queue().Pop()
	if ok {
		s.prompt(e)
	}
	return ok
}

// apply does what a command came to.
func (s *Session) apply(r command.Reply) {
	s.wants = true
	if r.Do == command.Renew {
		s.renew(r)
		return
	}
	s.act(r)
	s.tell(r)
}

// tell shows what a command came to.
func (s *Session) tell(r command.Reply) {
	if s.lines != nil && r.Copy != "" { // lines reach no clipboard: the terminal copies what it shows
		s.lines.say("%s", r.Copy)
		return
	}
	s.body(r)
	if r.Pick != nil {
		s.pick(r.Pick)
	}
	if r.View != nil {
		s.view(r.View)
	}
	if r.Copy != "" {
		s.copy(r.Copy)
	}
	if r.Prompt != "" {
		s.send(input.Entry{Text: r.Prompt})
	}
}

func (s *Session) body(r command.Reply) {
	if r.Body.Empty() {
		return
	}
	if r.Warn {
		s.notice(view.Notice{Text: r.Body.Text(1<<20, s.signs), Warn: true})
		return
	}
	body := r.Body
	s.print(func(l transcript.Look) []transcript.Row {
		var out []transcript.Row
		for _, line := range body.Lines(max(l.Width-2, 1), l.Signs) {
			out = append(out, transcript.Row{Spans: append([]surfaces.Span{{Text: " "}}, line.Spans...)})
		}
		return out
	})
}

// print adds rows to the conversation.
func (s *Session) print(draw func(l transcript.Look) []transcript.Row) {
	if s.lines == nil {
		s.tr.Render("", draw)
		return
	}
	for _, r := range draw(transcript.Look{Width: plainWidth, Signs: s.signs}) {
		s.lines.say("%s", r.Text())
	}
}

// plainWidth is the width of tables in the line mode, in cells.
const plainWidth = 100

func (s *Session) act(r command.Reply) {
	switch r.Do {
	case command.Quit:
		s.asking.RefuseAll()
		s.stop(nil)
	case command.ClearScreen:
		s.tr.Reset()
	case command.Sidebar:
		if s.panels != nil {
			s.panels.SetNoSides(r.Arg == "off")
		}
	case command.SetTheme:
		s.auto = r.Arg == "auto"
		name := r.Arg
		if s.auto {
			name, _ = themeName("", s.o.Env)
		}
		if err := s.useTheme(name); err != nil {
			s.notice(view.Notice{Text: err.Error(), Warn: true})
		}
	case command.ShowPanel:
		s.showPanel(r.Panel)
	case command.DropQueue:
		s.dropQueued(r.Arg)
	case command.Attach:
		if s.lines != nil {
			s.lines.attached = append(s.lines.attached, r.Files...)
			return
		}
		for _, path := range r.Files {
			s.editor.AttachFile(path)
		}
	case command.Detach:
		if s.lines != nil {
			s.lines.attached = nil
			return
		}
		s.editor.Detach()
	case command.Steer:
		if s.lines != nil {
			s.lines.attached = nil
		}
		s.steer(input.Entry{Text: r.Arg, Attached: r.Files})
	}
}

// dropQueued drops the line of that number, or all that wait. No line is taken to be run
// while a command is at work, so the number is still that of the line that was meant.
func (s *Session) dropQueued(number string) {
	n, err := strconv.Atoi(number)
	switch {
	case err == nil && s.lines != nil:
		if n <= len(s.lines.queue) {
			s.lines.queue = slices.Delete(s.lines.queue, n-1, n)
		}
	case err == nil:
		s.editor.DropQueued(n - 1)
	case s.lines != nil:
		s.lines.queue = nil
	default:
		for ok := true; ok; {
			_, ok = s.editor.Queue().Pop()
		}
	}
}

// renew shows the conversation that is on now, and then what the command came to.
func (s *Session) renew(r command.Reply) {
	s.inOrder(func(d Driver) func() {
		messages := d.Transcript()
		return func() {
			defer s.tell(r)
			if s.lines != nil {
				for _, m := range messages {
					s.lines.message(m)
				}
				return
			}
			s.tr.Reset()
			s.replay(messages)
			for _, n := range s.meanwhile { // also what is wrong with this session
				s.tr.Notice(n)
			}
		}
	})
}

func (s *Session) showPanel(id surfaces.ID) {
	if s.lines == nil {
		if s.panels != nil && s.panels.NoSides() && s.standsBeside(id) {
			s.panels.SetNoSides(false) // who asks for one of them wants them back
		}
		if s.panels == nil || !s.panels.Focus(id) {
			s.notice(view.Notice{Text: "the panel " + id.String() + " shows nothing now; its plugin opens it", Warn: true})
		}
		s.focus()
		return
	}
	for _, p := range s.asked().Panels() {
		if p.ID == id && p.Tree != nil {
			s.print(s.treeRows(p.Tree))
			return
		}
	}
	s.notice(view.Notice{Text: "the panel " + id.String() + " shows nothing now; its plugin opens it", Warn: true})
}

// standsBeside tells whether a panel stands in a column beside the conversation.
func (s *Session) standsBeside(id surfaces.ID) bool {
	return slices.ContainsFunc(s.asked().Panels(), func(p surfaces.Panel) bool { return p.ID == id && p.Placement.Kind == surfaces.Side })
}

// pick lets the person choose; the line mode prints what there is.
func (s *Session) pick(p *command.Pick) {
	if s.lines != nil {
		s.lines.pick(p)
		return
	}
	items := make([]input.Item, len(p.Items))
	for i, it := range p.Items {
		items[i] = input.Item{Text: it.Text, Note: it.Note, Detail: it.Detail, Value: it.ID}
	}
	var actions []input.PickAction
	for _, k := range p.Keys {
		actions = append(actions, input.PickAction{Key: k.Chord, Label: k.Help, Do: func(it input.Item) bool {
			id, ok := it.Value.(string)
			if !ok {
				return false
			}
			s.perform(k.Help, func(ctx context.Context, _ Driver) command.Reply { return k.Do(ctx, id) })
			return k.Leaves
		}})
	}
	s.modals = append(s.modals, input.NewPicker(input.PickerOptions{
		Host: host{s}, Title: p.Title, Items: items, Mark: p.Mark, Actions: actions, Empty: p.Empty,
	}))
	s.redraw()
}

// view opens a page over the conversation; the line mode prints it.
func (s *Session) view(v *command.View) {
	if s.lines == nil {
		s.modals = append(s.modals, newPage(s, v))
		s.redraw()
		return
	}
	var b command.Body
	host{s}.Go(func() { b = v.Load(s.ctx) }, func() { s.body(command.Reply{Body: b}) })
}
