package script

import (
	"context"
	"fmt"
	"strings"
	"time"

	"go.starlark.net/starlark"
	"go.starlark.net/syntax"

	"starling/script/value"
)

// Env is what an instance needs from its host.
type Env struct {
	// Predeclared names; their values must be frozen or safe to share. Those that
	// Program.Uses does not name may be missing.
	Predeclared starlark.StringDict
	// Print gets what print shows, at most 64 KiB; nil drops it.
	Print func(text string)
	// Limits over the plugin's own; the zero value is the defaults.
	Limits Limits
	// Locks shared by all instances that may call each other; nil is a table of
	// its own.
	Locks *Locks
	// OnStuck hears, once, on a goroutine of its own, that a call was abandoned.
	OnStuck func(reason *AbandonedError)
	// Tick runs every 10 000 steps of a call, on its goroutine; may be nil.
	Tick func(*Call)
	// Watch runs every 5 ms for a call that has been computing longer than that;
	// may be nil. It must not block.
	Watch func(*Call)
}

// Stats of an instance since it was made.
type Stats struct {
	Calls, Errors int64
	Steps         uint64
	Slowest       time.Duration // computing time of the slowest call
	SlowestIn     string        // what that call was for
}

// Instance is one life of a program: its globals, its lock, its limits. All
// methods are safe for concurrent use.
type Instance struct {
	prog        *Program
	env         Env
	locks       *Locks
	limits      Limits
	predeclared starlark.StringDict

	// Guarded by locks.mu.
	globals starlark.StringDict
	modules map[string]starlark.StringDict
	began   bool // Load was called
	stack   []*Call
	queue   []*waiter
	stuck   *AbandonedError
	closed  bool
	timer   *time.Timer      // of the watch
	every   time.Duration    // what it is set to; 0 = not set
	worker  *worker          // idle
	thread  *starlark.Thread // reused by outermost calls; nil while in use
	idlers  []chan struct{}
	stats   Stats
}

// New makes an instance of a compiled program. Nothing runs before Load.
func (p *Program) New(env Env) *Instance {
	i := &Instance{prog: p, env: env, locks: env.Locks, modules: map[string]starlark.StringDict{}}
	if i.locks == nil {
		i.locks = NewLocks()
	}
	i.limits = p.decl.Limits.Over(env.Limits).Full()
	i.predeclared = make(starlark.StringDict, len(p.used))
	for name, v := range hostBuiltins(env.Print) {
		i.predeclared[name] = v
	}
	for name, v := range env.Predeclared {
		if p.Uses(name) {
			i.predeclared[name] = v
		}
	}
	return i
}

// Name of the plugin.
func (i *Instance) Name() string { return i.prog.Name() }

// Program the instance was made of.
func (i *Instance) Program() *Program { return i.prog }

// Limits in force, with the defaults filled in.
func (i *Instance) Limits() Limits { return i.limits }

// Global returns a global of the loaded file, or nil.
func (i *Instance) Global(name string) starlark.Value {
	i.locks.mu.Lock()
	defer i.locks.mu.Unlock()
	return i.globals[name]
}

// Stats so far.
func (i *Instance) Stats() Stats {
	i.locks.mu.Lock()
	defer i.locks.mu.Unlock()
	return i.stats
}

// Stuck returns why the instance was given up, or nil.
func (i *Instance) Stuck() *AbandonedError {
	i.locks.mu.Lock()
	defer i.locks.mu.Unlock()
	return i.stuck
}

// Load runs the top level of the file once, refuses it when it changed a
// declaration, and freezes its globals.
func (i *Instance) Load(ctx context.Context) error {
	if i.prog.prog == nil {
		return &Error{File: i.prog.path, Msg: "loaded before it was compiled"}
	}
	i.locks.mu.Lock()
	again := i.began
	i.began = true
	i.locks.mu.Unlock()
	if again {
		return &Error{File: i.prog.path, Msg: "loaded twice"}
	}
	_, err := i.run(ctx, CallInfo{Kind: Loading, What: "its top level"}, task{body: func(t *starlark.Thread) (starlark.Value, error) {
		globals, err := i.prog.prog.Init(t, i.predeclared)
		if err != nil {
			return nil, err
		}
		// Walking the globals is the host's work, with bounds of its own: a slow
		// machine must not take it for a plugin that does not stop.
		CallOf(t).Host(func() {
			if err = i.prog.checkGlobals(globals); err == nil {
				err = i.prog.freeze(globals)
			}
		})
		if err != nil {
			return nil, err
		}
		i.locks.mu.Lock()
		i.globals = globals
		i.locks.mu.Unlock()
		return starlark.None, nil
	}})
	return err
}

// checkGlobals compares what the file declared with what running it made.
func (p *Program) checkGlobals(globals starlark.StringDict) error {
	var errs ErrorList
	for _, name := range declared {
		want, ok := p.folded[name]
		if !ok {
			continue
		}
		have, err := value.ToGo(globals[name])
		if err != nil || !samePlain(want, have) {
			errs.add(p.declaredAt(name), "%s was changed after its declaration; declarations are read without running the file and cannot change", name)
		}
	}
	if p.lib {
		return nil
	}
	if apply, ok := globals["apply"].(*starlark.Function); ok {
		if n := apply.NumParams(); n == 0 || n == 1 && apply.HasKwargs() {
			errs.add(apply.Position(), "%s", oneParameter)
		}
	} else if v := globals["apply"]; v != nil {
		if _, ok := v.(starlark.Callable); !ok {
			errs = append(errs, &Error{File: p.path, Msg: fmt.Sprintf("apply must be a function, not %s", v.Type())})
		}
	}
	return errs.err()
}

func (p *Program) declaredAt(name string) syntax.Position {
	for _, st := range p.file.Stmts {
		if a, ok := st.(*syntax.AssignStmt); ok {
			if id, ok := unparen(a.LHS).(*syntax.Ident); ok && id.Name == name {
				return id.NamePos
			}
		}
	}
	return syntax.MakePosition(&p.path, 0, 0)
}

// Apply calls apply(ctx) and refuses what it returns, if anything.
func (i *Instance) Apply(ctx context.Context, arg starlark.Value) error {
	fn, ok := i.Global("apply").(starlark.Callable)
	if !ok {
		return &Error{File: i.prog.path, Msg: "there is no apply function", Hint: "a plugin registers what it offers in def apply(ctx)"}
	}
	v, err := i.Call(ctx, CallInfo{Kind: Apply, What: "apply"}, fn, starlark.Tuple{arg}, nil)
	if err != nil || v == starlark.None {
		return err
	}
	e := &Error{
		File: i.prog.path, Msg: fmt.Sprintf("apply must return nothing, it returned %s %s", article(v.Type()), value.Format(v, 60)),
		Hint: "register with on, tool, command … inside apply",
	}
	if f, ok := fn.(*starlark.Function); ok {
		e.Line, e.Col = int(f.Position().Line), int(f.Position().Col)
	}
	return e
}

func article(noun string) string {
	if noun != "" && strings.ContainsRune("aeiou", rune(noun[0])) {
		return "an " + noun
	}
	return "a " + noun
}

// Call calls a function of the plugin: one call at a time, first come first
// served; a call that carries the context of an open one may come back in. The
// error is an *Error with the place, or says why the call could not enter
// (AbandonedError, BusyError, DeadlockError, UnloadedError, the context's end).
// What the call returned is the plugin's own: copy it before it crosses.
func (i *Instance) Call(ctx context.Context, info CallInfo, fn starlark.Callable, args starlark.Tuple, kwargs []starlark.Tuple) (starlark.Value, error) {
	return i.run(ctx, info, task{fn: fn, args: args, kwargs: kwargs})
}

func among(k Kind, kinds []Kind) bool {
	for _, other := range kinds {
		if k == other {
			return true
		}
	}
	return len(kinds) == 0
}

// busy returns the calls of these kinds that run or wait. It needs locks.mu.
func (i *Instance) busy(kinds []Kind) (running []*Call, waiting []*waiter) {
	for _, c := range i.stack {
		if among(c.info.Kind, kinds) {
			running = append(running, c)
		}
	}
	for _, w := range i.queue {
		if among(w.call.info.Kind, kinds) {
			waiting = append(waiting, w)
		}
	}
	return running, waiting
}

// Idle waits until no call of these kinds (all, without any) runs or waits for
// its turn, or until ctx ends.
func (i *Instance) Idle(ctx context.Context, kinds ...Kind) error {
	for {
		i.locks.mu.Lock()
		running, waiting := i.busy(kinds)
		if len(running)+len(waiting) == 0 {
			i.locks.mu.Unlock()
			return nil
		}
		ch := make(chan struct{})
		i.idlers = append(i.idlers, ch)
		i.locks.mu.Unlock()
		select {
		case <-ch:
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
}

// Cancel ends the calls of these kinds (all, without any), running and waiting.
func (i *Instance) Cancel(kinds ...Kind) {
	i.locks.mu.Lock()
	defer i.locks.mu.Unlock()
	err := fmt.Errorf("cancelled by the host: %w", context.Canceled)
	running, waiting := i.busy(kinds)
	for _, c := range running {
		c.cancel(err)
	}
	for _, w := range waiting {
		i.drop(w)
		w.ready <- fmt.Errorf("plugin %s: %s: %w", i.Name(), w.call.info, err)
	}
}

// Close refuses every later call; calls that run go on to their end. An instance
// that is not closed keeps a goroutine for a second after its last call.
func (i *Instance) Close() {
	i.locks.mu.Lock()
	defer i.locks.mu.Unlock()
	i.closed = true
	i.refuseAll(&UnloadedError{i.Name()})
	i.retire()
	i.wakeIdle()
}
