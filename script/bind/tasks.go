package bind

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"go.starlark.net/starlark"
	"go.starlark.net/starlarkstruct"

	"starling/bus/spec"
	"starling/script"
	"starling/script/value"
)

// How much a plugin may have going beside it.
const (
	tasksTogether = 16  // tasks that run at once
	tasksWaiting  = 256 // further ones that wait for their turn, in order
)

// tasks are what a plugin started and does not wait for: the reply= forms and
// the tool calls it keeps open. They end with the plugin.
type tasks struct {
	ctx    context.Context
	cancel context.CancelCauseFunc
	wg     sync.WaitGroup

	mu      sync.Mutex
	closed  bool
	running int
	waiting []*job // oldest first
}

// job is one task that was asked for.
type job struct {
	ctx  context.Context
	stop context.CancelFunc
	run  func(ctx context.Context)
}

var errUnloaded = errors.New("the plugin was unloaded")

func newTasks() *tasks {
	t := &tasks{}
	t.ctx, t.cancel = context.WithCancelCause(context.Background())
	return t
}

// start runs f on a goroutine, as soon as it is its turn. A context that ended
// while it waited is handed to f all the same. The error says that the plugin is
// leaving, or that it has too much going.
func (t *tasks) start(f func(ctx context.Context)) (stop context.CancelFunc, err error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	switch {
	case t.closed:
		return nil, errUnloaded
	case t.running >= tasksTogether && len(t.waiting) >= tasksWaiting:
		return nil, fmt.Errorf("this plugin waits for %d replies and has %d more tasks in line; start the next ones when replies have come", tasksTogether, tasksWaiting)
	}
	j := &job{run: f}
	j.ctx, j.stop = context.WithCancel(t.ctx)
	if t.running >= tasksTogether {
		t.waiting = append(t.waiting, j)
		return func() { j.stop(); t.drop(j) }, nil
	}
	t.running++
	t.wg.Add(1)
	go t.work(j)
	return j.stop, nil
}

// work runs a task, and then those that waited for its place.
func (t *tasks) work(j *job) {
	defer t.wg.Done()
	for ; j != nil; j = t.nextJob() {
		j.run(j.ctx)
		j.stop()
	}
}

// nextJob is the one that waited longest; nil gives the place back.
func (t *tasks) nextJob() *job {
	t.mu.Lock()
	defer t.mu.Unlock()
	if len(t.waiting) == 0 {
		t.running--
		return nil
	}
	j := t.waiting[0]
	t.waiting = t.waiting[1:]
	return j
}

// drop lets a stopped task that waits run out of turn, to see that it was stopped.
func (t *tasks) drop(j *job) {
	t.mu.Lock()
	defer t.mu.Unlock()
	i := slices.Index(t.waiting, j)
	if i < 0 || t.closed { // what is left at the end is drained by those that run
		return
	}
	t.waiting = slices.Delete(t.waiting, i, i+1)
	// Whoever stops it may hold what the task needs to end.
	t.wg.Go(func() { j.run(j.ctx) })
}

// close cancels every task and waits for its end, or for ctx.
func (t *tasks) close(ctx context.Context) error {
	t.mu.Lock()
	t.closed = true
	t.mu.Unlock()
	t.cancel(errUnloaded)
	done := make(chan struct{})
	go func() {
		t.wg.Wait()
		close(done)
	}()
	select {
	case <-done:
		return nil
	case <-ctx.Done():
		return errors.New("something it started did not end in time")
	}
}

// openCalls are the tool calls a plugin keeps open.
type openCalls struct {
	mu    sync.Mutex
	next  int
	stops map[int]context.CancelFunc
	idle  []chan struct{}
}

// enter counts a call until done; the context it returns ends with cancel too.
func (o *openCalls) enter(ctx context.Context) (_ context.Context, done func()) {
	ctx, stop := context.WithCancel(ctx)
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.stops == nil {
		o.stops = map[int]context.CancelFunc{}
	}
	id := o.next
	o.next++
	o.stops[id] = stop
	return ctx, func() {
		stop()
		o.mu.Lock()
		defer o.mu.Unlock()
		delete(o.stops, id)
		if len(o.stops) == 0 {
			for _, ch := range o.idle {
				close(ch)
			}
			o.idle = nil
		}
	}
}

// wait returns when no call is open, or with why ctx ended.
func (o *openCalls) wait(ctx context.Context) error {
	o.mu.Lock()
	if len(o.stops) == 0 {
		o.mu.Unlock()
		return nil
	}
	ch := make(chan struct{})
	o.idle = append(o.idle, ch)
	o.mu.Unlock()
	select {
	case <-ch:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

func (o *openCalls) cancel() {
	o.mu.Lock()
	defer o.mu.Unlock()
	for _, stop := range o.stops {
		stop()
	}
}

// toolRun is one tool call while its plugin may keep it open.
type toolRun struct {
	progress func(string)
	original func(context.Context, json.RawMessage) (spec.ToolResult, error) // nil: replaces none

	mu     sync.Mutex
	handle *laterHandle
	stops  []context.CancelFunc // of what it started
}

type toolRunKey struct{}

func toolRunOf(ctx context.Context) *toolRun {
	r, _ := ctx.Value(toolRunKey{}).(*toolRun)
	return r
}

// async runs work beside the plugin and then calls reply with what it returned.
// It returns the handle of the task at once.
func (p *Plugin) async(c *call, word string, reply starlark.Callable, work func(ctx context.Context) (starlark.Value, error)) (starlark.Value, error) {
	run, begun := toolRunOf(c.Context()), c.Context().Value(recordKey{})
	t := &task{word: word}
	stop, err := p.tasks.start(func(ctx context.Context) {
		defer t.finish()
		if run != nil {
			ctx = context.WithValue(ctx, toolRunKey{}, run)
		}
		v, err := work(ctx)
		if ctx.Err() != nil {
			return // nobody waits for it any more
		}
		if err != nil {
			v = starlarkstruct.FromStringDict(starlark.String("failure"), starlark.StringDict{"ok": starlark.False, "error": starlark.String(err.Error())})
		}
		// Under the call that asked: a replay finds the reply where it was asked for.
		p.keep(context.WithValue(ctx, recordKey{}, begun), word+" reply", v, nil)
		if _, err := p.run(ctx, script.CallInfo{Kind: script.Reply, What: "reply of " + word}, reply, starlark.Tuple{v}, nil); err != nil {
			p.replyFailed(ctx, run, word, err)
		}
	})
	if err != nil {
		return nil, err
	}
	t.stop = stop
	if run != nil {
		run.mu.Lock()
		run.stops = append(run.stops, stop)
		run.mu.Unlock()
	}
	return t, nil
}

// replyFailed ends the tool call that waits for the reply, if one does; else the
// person is told.
func (p *Plugin) replyFailed(ctx context.Context, run *toolRun, word string, err error) {
	if ctx.Err() != nil {
		return
	}
	if run != nil {
		run.mu.Lock()
		h := run.handle
		run.mu.Unlock()
		if h != nil && h.end(laterResult{err: err}) {
			return
		}
	}
	p.warn(ctx, "reply of %s: %v", word, err)
}

// task is the handle of a reply= form.
type task struct {
	word string
	stop context.CancelFunc
	mu   sync.Mutex
	over bool
}

var _ starlark.HasAttrs = (*task)(nil)

func (t *task) String() string        { return "<task " + t.word + ">" }
func (t *task) Type() string          { return "task" }
func (t *task) Freeze()               {}
func (t *task) Truth() starlark.Bool  { return true }
func (t *task) Hash() (uint32, error) { return 0, errors.New("unhashable: task") }
func (t *task) AttrNames() []string   { return []string{"done", "stop"} }

func (t *task) finish() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.over = true
}

// Attr: done tells whether it ended, stop() ends it without a reply.
func (t *task) Attr(name string) (starlark.Value, error) {
	switch name {
	case "done":
		t.mu.Lock()
		defer t.mu.Unlock()
		return starlark.Bool(t.over), nil
	case "stop":
		return starlark.NewBuiltin("stop", func(_ *starlark.Thread, b *starlark.Builtin, args starlark.Tuple, kwargs []starlark.Tuple) (starlark.Value, error) {
			if err := starlark.UnpackPositionalArgs(b.Name(), args, kwargs, 0); err != nil {
				return nil, err
			}
			t.stop()
			return starlark.None, nil
		}), nil
	}
	return nil, fmt.Errorf("task has no .%s field%s", name, didYouMean(name, t.AttrNames()))
}

// laterHandle is an open tool call, finished from another callback.
type laterHandle struct {
	run     *toolRun
	timeout time.Duration
	ended   chan laterResult // one

	mu        sync.Mutex
	over      bool
	cancelled bool
}

type laterResult struct {
	result spec.ToolResult
	err    error
}

const laterDefault = 600 // seconds

var laterWord = builtin{name: "later", run: func(_ *Plugin, c *call, args starlark.Tuple, kwargs []starlark.Tuple) (starlark.Value, error) {
	seconds := laterDefault
	if err := starlark.UnpackArgs("later", args, kwargs, "timeout_s?", &seconds); err != nil {
		return nil, err
	}
	if seconds < 1 {
		return nil, fmt.Errorf("later: timeout_s must be at least 1, not %d", seconds)
	}
	if most := int(mostTime.Seconds()); seconds > most {
		return nil, fmt.Errorf("later: timeout_s must be at most %d, a week, not %d", most, seconds)
	}
	run := toolRunOf(c.Context())
	if run == nil || c.Info().Kind != script.Tool {
		return nil, errors.New("later works only inside execute of a tool, which returns its handle")
	}
	run.mu.Lock()
	defer run.mu.Unlock()
	if run.handle != nil {
		return nil, errors.New("later was called already in this tool call")
	}
	run.handle = &laterHandle{run: run, timeout: time.Duration(seconds) * time.Second, ended: make(chan laterResult, 1)}
	return run.handle, nil
}}

// end finishes the call; false when it was over.
func (h *laterHandle) end(r laterResult) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.over {
		return false
	}
	h.over = true
	h.ended <- r
	return true
}

// wait holds the tool call open until the plugin finishes it, its time is over,
// the run is cancelled or the plugin leaves.
func (p *Plugin) wait(ctx context.Context, h *laterHandle) (spec.ToolResult, error) {
	timer := time.NewTimer(h.timeout)
	defer timer.Stop()
	select {
	case r := <-h.ended:
		return r.result, r.err
	case <-timer.C:
		h.abandon()
		return spec.ToolResult{}, fmt.Errorf("plugin %s did not finish the call within %s", p.Name(), h.timeout)
	case <-ctx.Done():
		h.abandon()
		return spec.ToolResult{}, context.Cause(ctx)
	case <-p.tasks.ctx.Done():
		h.abandon()
		return spec.ToolResult{}, fmt.Errorf("plugin %s was unloaded before it finished the call", p.Name())
	}
}

// abandon marks the call cancelled and ends what it started.
func (h *laterHandle) abandon() {
	h.mu.Lock()
	h.over, h.cancelled = true, true
	h.mu.Unlock()
	h.run.mu.Lock()
	stops := h.run.stops
	h.run.mu.Unlock()
	for _, stop := range stops {
		stop()
	}
}

var _ starlark.HasAttrs = (*laterHandle)(nil)

func (h *laterHandle) String() string        { return "<open tool call>" }
func (h *laterHandle) Type() string          { return "later" }
func (h *laterHandle) Freeze()               {}
func (h *laterHandle) Truth() starlark.Bool  { return true }
func (h *laterHandle) Hash() (uint32, error) { return 0, errors.New("unhashable: later") }
func (h *laterHandle) AttrNames() []string   { return []string{"cancelled", "done", "progress"} }

// Attr: done(result) finishes the call, progress(text) reports, cancelled tells.
func (h *laterHandle) Attr(name string) (starlark.Value, error) {
	switch name {
	case "cancelled":
		h.mu.Lock()
		defer h.mu.Unlock()
		return starlark.Bool(h.cancelled), nil
	case "done":
		return starlark.NewBuiltin("done", func(_ *starlark.Thread, b *starlark.Builtin, args starlark.Tuple, kwargs []starlark.Tuple) (starlark.Value, error) {
			var v starlark.Value = starlark.None
			if err := starlark.UnpackArgs(b.Name(), args, kwargs, "result?", &v); err != nil {
				return nil, err
			}
			r, err := toolResult(v)
			if err != nil {
				return nil, fmt.Errorf("done: %w", err)
			}
			return starlark.Bool(h.end(laterResult{result: r})), nil
		}), nil
	case "progress":
		return starlark.NewBuiltin("progress", func(thread *starlark.Thread, b *starlark.Builtin, args starlark.Tuple, kwargs []starlark.Tuple) (starlark.Value, error) {
			var v starlark.Value
			if err := starlark.UnpackArgs(b.Name(), args, kwargs, "text", &v); err != nil {
				return nil, err
			}
			h.mu.Lock()
			over := h.over
			h.mu.Unlock()
			if c := script.CallOf(thread); c != nil && !over {
				text := value.Text(v, noticeLimit)
				// Listeners of agent/tool-progress may be in this plugin too.
				c.After(func(context.Context) { h.run.progress(text) })
			}
			return starlark.None, nil
		}), nil
	}
	return nil, fmt.Errorf("later has no .%s field%s", name, didYouMean(name, h.AttrNames()))
}
