package shell

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"slices"
	"strings"
	"sync"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// reason is why the engine ended a process.
type reason int

const (
	none reason = iota
	stopped
	cancelled
	timedOut
	noTerminal
)

// process is one command from start to the moment nothing of it is left.
type process struct {
	engine          *Engine
	queued          bool // it has one of the engine's places
	id, pid         int
	origin, command string
	started         time.Time
	tree            *tree

	exited  chan struct{} // the command itself was reaped; state is set
	state   *os.ProcessState
	drained chan struct{} // both pipes are at their end
	asked   chan struct{} // somebody wants the process to end; why is set
	tried   chan struct{} // everything was done to end it
	gone    chan struct{} // nothing is left

	returned    chan struct{} // Run may return; outcome and listenerErr are set
	once        sync.Once     // closes returned
	outcome     Outcome
	listenerErr error

	stdin      *os.File    // nil without input
	pipes      [2]*os.File // of stdout and stderr; one for both when merged
	merged     bool        // also when the command itself redirects its errors
	out        sync.Mutex  // serialises the two readers; held during onOutput
	stdout     capture
	stderr     capture
	both       capture
	spill      *spill
	folder     string // where the shell reports its last folder; "" without
	onOutput   func([]byte)
	discarding bool // Run has returned
	screen     screen
	drawing    chan struct{} // closed when something first draws on a terminal that is none

	mu         sync.Mutex
	why        reason
	background bool
	over       bool
}

// start starts the command with its pipes and their readers.
func (e *Engine) start(id int, pl plan, c Command) (*process, error) {
	p := &process{
		engine: e, queued: c.Queue, id: id, origin: c.Origin, command: c.String(), started: e.opt.Now(),
		exited: make(chan struct{}), drained: make(chan struct{}), asked: make(chan struct{}),
		drawing: make(chan struct{}), tried: make(chan struct{}), gone: make(chan struct{}), returned: make(chan struct{}),
		onOutput: c.OnOutput, merged: c.Merge || mergesItself(c.Line), spill: e.newSpill(id),
	}
	for _, s := range []*capture{&p.stdout, &p.stderr, &p.both} {
		s.headMax, s.tailMax = cmp.Or(max(c.Head, 0), e.opt.Head), cmp.Or(max(c.Tail, 0), e.opt.Tail)
	}
	if mark := e.markOf(id); mark != "" {
		pl.env = append(slices.DeleteFunc(slices.Clone(pl.env), func(kv string) bool { return strings.HasPrefix(kv, markName+"=") }), markName+"="+mark)
	}
	if c.KeepDir {
		if err := p.report(&pl); err != nil {
			return nil, err
		}
	}
	// A session of its own takes the terminal away: /dev/tty cannot be opened.
	cmd := &exec.Cmd{Path: pl.path, Args: pl.args, Dir: pl.dir, Env: pl.env, SysProcAttr: &syscall.SysProcAttr{Setsid: true}}
	theirs, err := p.connect(cmd, c)
	if f := markFile(e.markOf(id)); f != nil {
		cmd.ExtraFiles = make([]*os.File, markFD-3+1)
		cmd.ExtraFiles[markFD-3] = f
		theirs = append(theirs, f)
	}
	if err == nil {
		err = cmd.Start()
	}
	for _, f := range theirs {
		_ = f.Close()
	}
	if err != nil {
		p.disconnect()
		_ = p.lastFolder()
		return nil, startError(pl, err)
	}
	p.pid = cmd.Process.Pid
	p.tree = newTree(p.pid, p.exited, p.pipes[:], e.system)
	p.tree.mark, p.tree.since = e.markOf(id), startOf(p.pid)
	p.follow(cmd, c.Stdin)
	return p, nil
}

func startError(pl plan, err error) error {
	if errors.Is(err, syscall.E2BIG) {
		size := 0
		for _, a := range pl.args {
			size += len(a)
		}
		return fmt.Errorf("shell: start %s: a command of %d bytes is too long for the system; give its text as input or in a file: %w", pl.path, size, err)
	}
	return fmt.Errorf("shell: start %s: %w", pl.path, err)
}

// connect makes the pipes. The files it returns are the command's ends, to be
// closed here once it has them.
func (p *process) connect(cmd *exec.Cmd, c Command) (theirs []*os.File, err error) {
	for i, to := range []*io.Writer{&cmd.Stdout, &cmd.Stderr} {
		if i > 0 && c.Merge {
			*to = cmd.Stdout
			break
		}
		r, w, err := os.Pipe()
		if err != nil {
			return theirs, err
		}
		p.pipes[i], *to = r, w
		theirs = append(theirs, w)
	}
	if c.Stdin == "" {
		return theirs, nil // os/exec connects the null device
	}
	r, w, err := os.Pipe()
	if err != nil {
		return theirs, err
	}
	p.stdin, cmd.Stdin = w, r
	return append(theirs, r), nil
}

func (p *process) disconnect() {
	for _, f := range []*os.File{p.stdin, p.pipes[0], p.pipes[1]} {
		if f != nil {
			_ = f.Close()
		}
	}
}

// follow starts the goroutines that feed, read and reap the command. Each ends
// with its pipe or its process.
func (p *process) follow(cmd *exec.Cmd, stdin string) {
	if p.stdin != nil {
		go func() {
			_, _ = io.WriteString(p.stdin, stdin) // a command may end before it has read all
			_ = p.stdin.Close()
		}()
	}
	var readers sync.WaitGroup
	readers.Go(func() { p.read(p.pipes[0], &p.stdout) })
	if p.pipes[1] != nil {
		readers.Go(func() { p.read(p.pipes[1], &p.stderr) })
	}
	go func() { readers.Wait(); close(p.drained) }()
	go func() {
		_ = cmd.Wait() // the state says all; a failed wait leaves it nil
		p.state = cmd.ProcessState
		close(p.exited)
	}()
}

func (p *process) read(pipe *os.File, stream *capture) {
	defer pipe.Close()
	buf := make([]byte, 64<<10)
	for {
		n, err := pipe.Read(buf)
		if n > 0 {
			p.take(stream, buf[:n])
		}
		if err != nil {
			return
		}
	}
}

func (p *process) take(stream *capture, chunk []byte) {
	p.out.Lock()
	defer p.out.Unlock()
	if p.discarding {
		return
	}
	stream.add(chunk)
	if p.screen.see(chunk) {
		close(p.drawing)
	}
	if !p.both.whole(len(chunk)) {
		p.spill.add(&p.both, chunk)
	}
	p.both.add(chunk)
	if p.onOutput == nil {
		return
	}
	defer func() {
		if r := recover(); r != nil {
			p.onOutput = nil
			p.listenerErr = fmt.Errorf("shell: the listener of process %d's output panicked: %v", p.id, r)
		}
	}()
	p.onOutput(chunk)
}

// ask asks for the end of the process; the first reason stands.
func (p *process) ask(why reason) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.why == none && !p.over {
		p.why = why
		close(p.asked)
	}
}

// release lets Run return.
func (p *process) release() { p.once.Do(func() { close(p.returned) }) }

// record fixes the outcome; what is printed later is thrown away.
func (p *process) record(background bool) {
	p.mu.Lock()
	why := p.why
	p.background = background
	p.mu.Unlock()
	var left []Child
	if background {
		left = p.children()
	}

	p.out.Lock()
	defer p.out.Unlock()
	p.discarding = true
	o := &p.outcome
	o.ID, o.Background, o.Elapsed = p.id, background, p.engine.opt.Now().Sub(p.started)
	o.Status, o.Signal = p.status()
	o.Left, o.Dir = left, p.lastFolder()
	o.Stdout, o.Stderr, o.Output = p.stdout.text(), p.stderr.text(), p.both.text()
	o.Truncated = o.Output.Omitted() > 0
	o.TimedOut, o.Stopped, o.Cancelled = why == timedOut, why == stopped, why == cancelled
	o.NeedsTerminal = why == noTerminal || o.Status != 0 && needsTerminal(p.merged, o.Stderr, o.Output)
	o.Spill, o.SpillBytes, o.SpillErr = p.spill.close()
	p.stdout, p.stderr, p.both, p.onOutput = capture{}, capture{}, capture{}, nil
}

// status of the command itself: -1 and the signal's name after a signal, and
// plain -1 while it has not been reaped.
func (p *process) status() (int, string) {
	if !p.hasExited() || p.state == nil {
		return -1, ""
	}
	if ws, ok := p.state.Sys().(syscall.WaitStatus); ok && ws.Signaled() {
		return -1, unix.SignalName(ws.Signal())
	}
	return p.state.ExitCode(), ""
}

func (p *process) row(now time.Time) Row {
	p.mu.Lock()
	defer p.mu.Unlock()
	r := Row{ID: p.id, PID: p.pid, Origin: p.origin, Command: p.command, Elapsed: now.Sub(p.started)}
	status, signal := p.status()
	switch {
	case !p.over && p.background:
		r.Status, r.Running = "background", true
	case !p.over:
		r.Status, r.Running = "running", true
	case p.why == timedOut:
		r.Status = "timed out"
	case p.why == stopped:
		r.Status = "stopped"
	case p.why == cancelled:
		r.Status = "cancelled"
	case p.why == noTerminal:
		r.Status = "needs a terminal"
	case signal != "":
		r.Status = "signalled"
	default:
		r.Status = fmt.Sprintf("exited(%d)", status)
	}
	return r
}
