package tui

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"sync/atomic"
	"time"

	"github.com/gdamore/tcell/v2"

	"starling/bus/chat"
	"starling/bus/view"
	"starling/surfaces"
	"starling/surfaces/tui/command"
	"starling/surfaces/tui/input"
	"starling/surfaces/tui/kit"
	"starling/surfaces/tui/panel"
	"starling/surfaces/tui/transcript"
)

// Options of a session.
type Options struct {
	// In and Out are the terminal; nil for the standard files.
	In, Out *os.File
	// Env looks up the environment; nil for os.Getenv.
	Env func(string) string
	// Plain asks for the line mode; TERM=dumb does too.
	Plain bool
	// Theme is auto, dark, light or none; "" is auto.
	Theme string
	// NoMouse leaves the mouse to the terminal.
	NoMouse bool
	// Forget keeps the conversation from being printed to the ordinary screen at the
	// end.
	Forget bool
	// Bell rings when a person is needed and when a run ends.
	Bell bool
	// Keys over the usual ones, key to action: see command.Bind.
	Keys map[string]string
	// Attach are the files that go with the first prompt.
	Attach []string
	// History of what was typed; nil for an empty one.
	History *input.History
}

// Session is a session in a terminal: Component and Notice hear it, Run shows it.
// Everything but Run may be called from any goroutine, before Run too, and waits for
// nothing.
type Session struct {
	o      Options
	keys   input.Keymap
	others command.Shortcuts
	plain  bool
	in     *inbox

	// The rest belongs to the event loop.
	engine  *opening
	ready   bool     // the engine is there
	held    []func() // for when it is
	screen  tcell.Screen
	term    *terminal
	theme   *kit.Theme
	auto    bool // the theme follows the background
	signs   *kit.Signs
	looks   atomic.Pointer[kit.Theme]
	tr      *transcript.Transcript
	editor  *input.Editor
	modals  []kit.Modal // pickers and the like, the newest last
	asking  *input.Questions
	panels  *panel.Manager                // nil without panels
	source  atomic.Pointer[surfaces.Host] // of the panels; nil before they are there
	pump    pump
	waiting func() bool // more input waits
	signals chan os.Signal
	live    atomic.Bool // a run goes
	now     func() time.Time
	status  view.Status
	mode    string
	work    work
	lines   *lines // of the line mode

	ctx      context.Context
	running  *activity // the prompt that runs; nil for none
	changing int       // commands at work that decide where the next prompt goes
	jobs     []*job    // commands of the person that run
	calls    int       // ! commands so far
	holds    bool      // the person stopped a run: what is queued waits for them
	stopped  bool      // the loop is to end
	failure  error
	quitHint time.Time // of the first Ctrl-C
	typed    time.Time // the last key of the prompt
	// meanwhile is what was told since the first of the commands that run began: it
	// outlives a conversation that takes the place of the one before.
	meanwhile []view.Notice
	hintTill  time.Time
	pasting   bool
	paste     []rune
	buttons   tcell.ButtonMask
	dragged   kit.Part // the part a press began in
	shown     string   // text of a prompt that is in the transcript before its run began
	look      func()   // ends the look for files that goes on; nil before the first
	wants     bool     // the status is to be read again
	reading   bool     // it is being read
	drawn     func()   // once the first frame stands
	started   func()   // for tests: likewise
	area      areas
}

// activity is a prompt on its way.
type activity struct {
	stop     func()
	done     chan struct{}
	stopping bool   // the person has stopped it
	told     string // the error of its last turn, which is on the screen
}

// New checks the terminal and the options and makes nothing yet. ErrNoTerminal names
// the way without one.
func New(o Options) (*Session, error) {
	if o.Env == nil {
		o.Env = os.Getenv
	}
	if o.In == nil {
		o.In = os.Stdin
	}
	if o.Out == nil {
		o.Out = os.Stdout
	}
	plain := o.Plain || WantsPlain(o.Env)
	if !plain {
		if err := CheckTerminal(o.In, o.Out); err != nil {
			return nil, err
		}
	}
	return newSession(o, plain)
}

func newSession(o Options, plain bool) (*Session, error) {
	name, ask := themeName(o.Theme, o.Env)
	th, err := kit.NewTheme(name)
	if err != nil {
		return nil, err
	}
	keys, others, err := command.Bind(o.Keys)
	if err != nil {
		return nil, err
	}
	s := &Session{
		o: o, keys: keys, others: others, plain: plain, in: newInbox(), theme: th, auto: ask,
		signs: kit.SignsFor(kit.ASCIILocale(o.Env)), now: time.Now,
		wants: true, work: work{keys: others},
	}
	s.looks.Store(th)
	s.tr = transcript.New(th, s.signs)
	s.tr.Copy = s.copy
	s.tr.SetMore(s.shows())
	s.editor = input.NewEditor(s.editorOptions())
	s.asking = input.NewQuestions(input.QuestionsOptions{
		Host: host{s}, Answer: s.answer, Check: s.check, Keys: keys,
		Running: func() bool { return s.running != nil }, Stop: func() { s.stopRun() },
		Later: s.putOff,
	})
	return s, nil
}

// Notice shows a line in the conversation, behind what was said in an earlier time.
func (s *Session) Notice(n view.Notice) {
	s.onceReady(func() {
		s.wants = true // what is told of is often on the status line, or a command
		s.notice(n)
	})
}

// mostMeanwhile is how many lines a command may tell that leads to another session.
const mostMeanwhile = 100

func (s *Session) notice(n view.Notice) {
	if len(s.jobs) > 0 && len(s.meanwhile) < mostMeanwhile {
		s.meanwhile = append(s.meanwhile, n)
	}
	if s.lines != nil {
		s.lines.notice(n)
		return
	}
	s.tr.Notice(n)
}

// Run shows the session until the person leaves it, a signal ends it or ctx does. Its
// first frame does not wait for the engine that open makes; an error of open ends the
// session and is returned. When Run returns open has, and the terminal is as it was
// before; after a panic too.
func (s *Session) Run(ctx context.Context, open Open) error {
	if s.plain {
		return s.runLines(ctx, open)
	}
	screen, term, err := openScreen()
	if err != nil {
		return err
	}
	s.term = term
	if s.auto {
		term.background = func(light bool) { s.in.do(func() { s.setBackground(light) }) }
		time.AfterFunc(colourWait, term.stopAsking)
	}
	term.typed = func(r rune) {
		ev := tcell.NewEventKey(tcell.KeyRune, r, tcell.ModAlt)
		if r == 0x1b {
			ev = tcell.NewEventKey(tcell.KeyEscape, 0, tcell.ModNone)
		}
		s.in.do(func() { s.event(ev) })
	}
	term.late = func(text string) {
		s.in.do(func() {
			s.pasting, s.paste = false, nil
			s.pasted(text)
		})
	}
	return s.show(ctx, screen, open)
}

// show runs the session on a screen that is not initialised yet.
func (s *Session) show(ctx context.Context, screen tcell.Screen, open Open) error {
	s.engine = &opening{done: make(chan struct{})}
	// What waits for the engine must not outlive the session.
	waits, end := context.WithCancel(ctx)
	defer end()
	s.screen, s.ctx = screen, waits
	if err := screen.Init(); err != nil {
		return fmt.Errorf("the terminal cannot be drawn on: %w; try --plain", err)
	}
	defer func() {
		// Also on the way out of a panic: it is printed on a terminal in order.
		screen.Fini()
	}()
	screen.EnablePaste()
	if !s.o.NoMouse {
		screen.EnableMouse(tcell.MouseButtonEvents | tcell.MouseDragEvents)
	}
	s.signs = kit.SignsFor(s.signs.ASCII || screen.CharacterSet() != "UTF-8")
	s.focus()
	for _, path := range s.o.Attach {
		s.editor.AttachFile(path)
	}
	opens, abort := context.WithCancel(ctx)
	defer abort()
	s.drawn = func() { s.open(opens, open) }
	err := s.loop(ctx)
	width, _ := screen.Size()
	screen.Fini()
	if !s.ready {
		abort()
	}
	<-s.engine.done
	s.leave()
	if s.o.Out == nil || s.engine.driver == nil {
		return err
	}
	if !s.o.Forget {
		if printed := s.leftover(s.o.Out, width); err == nil {
			err = printed
		}
	}
	if printed := s.farewell(s.o.Out); err == nil {
		err = printed
	}
	return err
}

// goesOn says how the conversation goes on when it was left; "" where there is none.
func (s *Session) goesOn() string {
	if s.engine.driver.Status().Session == "" {
		return ""
	}
	return "go on with: starling --continue"
}

// farewell writes how the conversation goes on to the ordinary screen.
func (s *Session) farewell(out io.Writer) error {
	line := s.goesOn()
	if line == "" {
		return nil
	}
	if s.o.Env("NO_COLOR") == "" {
		line = "\x1b[2m" + line + "\x1b[0m"
	}
	_, err := fmt.Fprintln(out, line)
	return err
}

// leaveWait is how long a run may take to end when the person leaves.
const leaveWait = 3 * time.Second

// leave stops the run and waits for it a little: its end is still recorded.
func (s *Session) leave() {
	if s.running == nil {
		return
	}
	s.running.stop()
	select {
	case <-s.running.done:
	case <-time.After(leaveWait):
	}
}

// leftover writes the conversation to the ordinary screen.
func (s *Session) leftover(out io.Writer, width int) error {
	if width <= 0 {
		width = 80
	}
	b := bufio.NewWriterSize(out, 16<<10) // a write a line takes longer than the lines
	err := s.tr.Text(width, func(line string) error {
		_, err := fmt.Fprintln(b, line)
		return err
	})
	return errors.Join(err, b.Flush())
}

// replay shows messages of an earlier time.
func (s *Session) replay(messages []chat.Message) {
	for _, m := range messages {
		switch m.Role {
		case chat.User:
			s.tr.Person(m.Said())
			s.along(filesOf(m))
		case chat.Assistant:
			s.replayReply(m)
		}
		for _, b := range m.Blocks {
			if b.Kind == chat.Result {
				s.tr.Finish(b.ID, transcript.Result{Content: b.Text, IsError: b.IsError, Details: b.Details})
				if tree := presentedIn(b.Details); tree != nil {
					s.present(b.ID, tree)
				}
			}
		}
	}
	s.tr.EndReply()
}

// filesOf names the files of a message: each begins with its name in brackets or before a
// colon.
func filesOf(m chat.Message) []string {
	var names []string
	texts := 0
	for _, b := range m.Blocks {
		if b.Kind != chat.Text {
			continue
		}
		if texts++; texts > 1 {
			name, _, _ := strings.Cut(strings.TrimPrefix(b.Text, "["), ":")
			names = append(names, name)
		}
	}
	return names
}

func (s *Session) replayReply(m chat.Message) {
	for _, b := range m.Blocks {
		switch b.Kind {
		case chat.Text:
			s.tr.Write(b.Text, false)
		case chat.Thinking:
			s.tr.Write(b.Text, true)
		case chat.Call:
			s.tr.EndReply()
			s.tr.Begin(b.ID, b.Name, b.Arguments)
		}
	}
	s.tr.EndReply()
	switch {
	case m.Stop == chat.StopAborted:
		s.tr.Notice(view.Notice{Text: "stopped"})
	case m.Error != "":
		s.tr.Notice(view.Notice{Text: m.Error, Warn: true})
	}
}

// setBackground takes the theme that fits what the terminal said.
func (s *Session) setBackground(light bool) {
	if !s.auto {
		return
	}
	name := "dark"
	if light {
		name = "light"
	}
	if name == s.theme.Name {
		return
	}
	if err := s.useTheme(name); err != nil {
		s.notice(view.Notice{Text: err.Error(), Warn: true})
	}
}

// useTheme changes the theme by name; an unknown name is an error that lists those
// there are.
func (s *Session) useTheme(name string) error {
	th, err := kit.NewTheme(name)
	if err != nil {
		return err
	}
	s.theme = th
	s.looks.Store(th)
	s.tr.SetTheme(th)
	s.redraw()
	return nil
}
