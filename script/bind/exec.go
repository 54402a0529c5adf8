package bind

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	"go.starlark.net/starlark"
	"go.starlark.net/starlarkstruct"

	"starling/script"
	"starling/tools/shell"
)

// The time of a command or request that names none: what a person waits for, and
// the rest.
const (
	longTimeout  = 60 * time.Second
	shortTimeout = 30 * time.Second
	// mostTime is the longest time a plugin may name: nobody waits longer, and a
	// much larger number has no duration.
	mostTime = 7 * 24 * time.Hour
)

// timeoutFor is the time a call of a kind has for a command or request that names ms.
func timeoutFor(kind script.Kind, ms int) (time.Duration, error) {
	switch {
	case ms < 0:
		return 0, fmt.Errorf("timeout_ms must be positive, not %d", ms)
	case int64(ms) > mostTime.Milliseconds():
		return 0, fmt.Errorf("timeout_ms must be at most %d, a week, not %d", mostTime.Milliseconds(), ms)
	case ms > 0:
		return time.Duration(ms) * time.Millisecond, nil
	}
	switch kind {
	case script.Tool, script.Command, script.Gate:
		return longTimeout, nil
	}
	return shortTimeout, nil
}

// exec: a list starts one program without a shell; a text is a line for bash.
var execWord = builtin{name: "exec", run: func(p *Plugin, c *call, args starlark.Tuple, kwargs []starlark.Tuple) (starlark.Value, error) {
	var (
		what  starlark.Value
		ms    int
		stdin string
		env   *starlark.Dict
		reply starlark.Value = starlark.None
	)
	if err := starlark.UnpackArgs("exec", args, kwargs, "command", &what, "timeout_ms?", &ms, "stdin?", &stdin, "env?", &env, "reply?", &reply); err != nil {
		return nil, err
	}
	cmd := shell.Command{Stdin: stdin, Origin: "plugin " + p.Name(), Queue: true}
	var err error
	if cmd.Timeout, err = timeoutFor(c.Info().Kind, ms); err != nil {
		return nil, fmt.Errorf("exec: %w", err)
	}
	if err := p.commandOf(&cmd, what); err != nil {
		return nil, fmt.Errorf("exec: %w", err)
	}
	if cmd.Env, err = stringMap(env); err != nil {
		return nil, fmt.Errorf("exec: env: %w", err)
	}
	for _, name := range slices.Sorted(maps.Keys(cmd.Env)) {
		if err := p.words.AllowsExecEnv(name, cmd.Env[name]); err != nil {
			return nil, fmt.Errorf("exec: env: %w", err)
		}
	}
	work := func(ctx context.Context) (starlark.Value, error) {
		out, err := p.host.Shell.Run(ctx, cmd)
		if err != nil {
			return nil, err
		}
		if out.Cancelled {
			return nil, errors.New("exec: it was cancelled")
		}
		return outcomeValue(out), nil
	}
	return p.hostWork(c, "exec", reply, work)
}}

// hostWork runs work of the host: now, or beside the plugin with a reply.
func (p *Plugin) hostWork(c *call, word string, reply starlark.Value, work func(context.Context) (starlark.Value, error)) (starlark.Value, error) {
	if reply == starlark.None {
		var v starlark.Value
		var err error
		c.Host(func() { v, err = work(c.Context()) })
		return v, err
	}
	fn, err := callable(word+": reply", reply, 1)
	if err != nil {
		return nil, err
	}
	started, err := p.async(c, word, fn, work)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", word, err)
	}
	return started, nil
}

// commandOf reads the first argument of exec and holds it against uses.
func (p *Plugin) commandOf(cmd *shell.Command, what starlark.Value) error {
	if line, ok := starlark.AsString(what); ok {
		cmd.Line = line
		return p.words.AllowsShell()
	}
	seq, ok := what.(starlark.Sequence)
	if !ok {
		return fmt.Errorf("the command must be a list of texts or a line for bash, not %s", what.Type())
	}
	for i, x := range elements(seq) {
		arg, ok := starlark.AsString(x)
		if !ok {
			return fmt.Errorf("argument %d must be a text, not %s", i, x.Type())
		}
		cmd.Argv = append(cmd.Argv, arg)
	}
	if len(cmd.Argv) == 0 {
		return errors.New("the command is empty")
	}
	return p.words.AllowsExec(cmd.Argv[0])
}

func outcomeValue(o shell.Outcome) starlark.Value {
	return starlarkstruct.FromStringDict(starlark.String("outcome"), starlark.StringDict{
		"status":    starlark.MakeInt(o.Status),
		"stdout":    starlark.String(o.Stdout.String()),
		"stderr":    starlark.String(o.Stderr.String()),
		"output":    starlark.String(o.Output.String()),
		"timed_out": starlark.Bool(o.TimedOut),
		"stopped":   starlark.Bool(o.Stopped),
		// As a failure has them too, one reply can tell the two apart.
		"ok": starlark.True, "error": starlark.None,
	})
}

func stringMap(d *starlark.Dict) (map[string]string, error) {
	if d == nil {
		return nil, nil
	}
	m := make(map[string]string, d.Len())
	for _, item := range d.Items() {
		k, ok := starlark.AsString(item[0])
		v, ok2 := starlark.AsString(item[1])
		if !ok || !ok2 {
			return nil, errors.New("names and values must be texts")
		}
		m[k] = v
	}
	return m, nil
}
