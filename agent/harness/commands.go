package harness

import (
	"context"
	"fmt"
	"sort"
	"strings"
	"sync"
	"time"

	"starling/bus/spec"
	"starling/bus/view"
)

// completeTime is how long a completion may take: the person types on.
const completeTime = 300 * time.Millisecond

// named is a command under the name it is typed by.
type named struct {
	spec.Command
	name string
	from string // the plugin; "" for a built-in and for files of the person
}

// commands are all of them, by the name each is typed by.
func (e *Engine) commands() []named {
	list, _ := e.resolveCommands()
	return list
}

// Commands are those of plugins and of the person's files, sorted by name.
func (e *Engine) Commands() []view.Command {
	var list []view.Command
	for _, c := range e.commands() {
		list = append(list, view.Command{Name: c.name, Description: c.Description, From: c.from})
	}
	sort.Slice(list, func(i, j int) bool { return list[i].Name < list[j].Name })
	return list
}

func (e *Engine) command(name string) (named, []string, bool) {
	var known []string
	for _, c := range e.commands() {
		if c.name == name {
			return c, nil, true
		}
		known = append(known, c.name)
	}
	sort.Strings(known)
	return named{}, known, false
}

// Command runs the command of that name.
func (e *Engine) Command(ctx context.Context, name, args string) (view.CommandReply, error) {
	if err := e.runtime.Settle(ctx); err != nil {
		return view.CommandReply{}, err
	}
	c, known, ok := e.command(name)
	if !ok {
		return view.CommandReply{Known: known}, nil
	}
	r, err := c.Run(ctx, args)
	reply := view.CommandReply{Found: true, Lines: r.Lines}
	if err == nil && r.NewSession {
		if err = e.Switch(ctx, ""); err == nil {
			reply.Renewed = true
			e.notice(ctx, "the next prompt begins a new session")
		}
	}
	if next, queued := e.queue.take(0); queued && err == nil && e.options.Host == "headless" {
		// Nobody types a line after this one, so what the command asked for runs now.
		o := e.Prompt(ctx, next.text)
		if o.Text != "" {
			reply.Lines = append(reply.Lines, o.Text)
		}
		reply.Ran = &o
	}
	return reply, err
}

// completions are the completions that go on. One that a plugin does not answer is
// not asked for again meanwhile.
type completions struct {
	mu   sync.Mutex
	busy map[string]bool
}

func (c *completions) begin(name string) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.busy[name] {
		return false
	}
	if c.busy == nil {
		c.busy = map[string]bool{}
	}
	c.busy[name] = true
	return true
}

func (c *completions) end(name string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.busy, name)
}

// Complete proposes values for the text behind a command. A plugin that takes too
// long, or is at it still since an earlier key, proposes nothing.
func (e *Engine) Complete(ctx context.Context, name, args string) ([]string, error) {
	c, _, ok := e.command(name)
	if !ok || c.Complete == nil || !e.completing.begin(name) {
		return nil, nil
	}
	type answer struct {
		list []string
		err  error
	}
	ctx, cancel := context.WithTimeout(ctx, completeTime)
	defer cancel()
	done := make(chan answer, 1)
	go func() {
		defer e.completing.end(name)
		list, err := c.Complete(ctx, args)
		done <- answer{list, err}
	}()
	select {
	case a := <-done:
		if a.err != nil && ctx.Err() != nil {
			return nil, nil
		}
		return a.list, a.err
	case <-ctx.Done():
		return nil, nil
	}
}

// enqueue takes a text like a line a person typed. A plugin that always asks for
// more ends at maxQueued behind one line of the person.
func (e *Engine) enqueue(from, text string) error {
	hook := e.options.Screen.Queued
	if hook == nil {
		return e.queue.put(from, text)
	}
	if strings.TrimSpace(text) == "" {
		return fmt.Errorf("the prompt is empty")
	}
	if from == "" {
		return hook(from, text)
	}
	if err := e.queue.hand(text); err != nil {
		return err
	}
	err := hook(from, text)
	if err != nil {
		e.queue.handed(text)
	}
	return err
}
