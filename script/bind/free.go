package bind

import (
	"context"
	"fmt"
	"time"

	startime "go.starlark.net/lib/time"
	"go.starlark.net/starlark"
	"go.starlark.net/starlarkstruct"

	"starling/script"
	"starling/script/value"
)

var attemptWord = builtin{name: "attempt", run: func(_ *Plugin, c *call, args starlark.Tuple, kwargs []starlark.Tuple) (starlark.Value, error) {
	if len(args) == 0 {
		return nil, fmt.Errorf("attempt needs a function, as in attempt(json.decode, text)")
	}
	v, err := starlark.Call(c.thread, args[0], args[1:], kwargs)
	fields := starlark.StringDict{"ok": starlark.True, "value": v, "error": starlark.None}
	if err != nil {
		fields = starlark.StringDict{"ok": starlark.False, "value": starlark.None, "error": starlark.String(err.Error())}
	}
	return starlarkstruct.FromStringDict(starlarkstruct.Default, fields), nil
}}

var clipWord = builtin{name: "clip", run: func(_ *Plugin, _ *call, args starlark.Tuple, kwargs []starlark.Tuple) (starlark.Value, error) {
	var text string
	var n int
	if err := starlark.UnpackArgs("clip", args, kwargs, "text", &text, "n", &n); err != nil {
		return nil, err
	}
	if n < 1 {
		return nil, fmt.Errorf("clip: n must be at least 1, not %d", n)
	}
	count := 0
	for i := range text {
		if count == n {
			return starlark.String(text[:i] + "…"), nil
		}
		count++
	}
	return starlark.String(text), nil
}}

var notifyWord = builtin{name: "notify", run: func(p *Plugin, c *call, args starlark.Tuple, kwargs []starlark.Tuple) (starlark.Value, error) {
	var text starlark.Value
	if err := starlark.UnpackArgs("notify", args, kwargs, "text", &text); err != nil {
		return nil, err
	}
	line := value.Text(text, noticeLimit)
	// Listeners of code/notice may be in this plugin too.
	p.after(c, func(ctx context.Context) { p.host.Notify(ctx, p.owner.Name, line, false) })
	return starlark.None, nil
}}

const noticeLimit = 4 << 10 // bytes of one notice

var logWord = builtin{name: "log", run: func(p *Plugin, _ *call, args starlark.Tuple, kwargs []starlark.Tuple) (starlark.Value, error) {
	var text starlark.Value
	if err := starlark.UnpackArgs("log", args, kwargs, "text", &text); err != nil {
		return nil, err
	}
	p.host.Log(p.owner.Name, value.Text(text, noticeLimit))
	return starlark.None, nil
}}

// timeModule is the time module on the host's clock.
func (p *Plugin) timeModule() starlark.Value {
	members := starlark.StringDict{}
	for name, v := range startime.Module.Members {
		members[name] = v
	}
	members["now"] = starlark.NewBuiltin("time.now", func(thread *starlark.Thread, _ *starlark.Builtin, _ starlark.Tuple, _ []starlark.Tuple) (starlark.Value, error) {
		now := time.Now
		if p.host.Now != nil {
			now = p.host.Now
		}
		at := now()
		if c := script.CallOf(thread); c != nil {
			p.keep(c.Context(), "time.now", starlark.String(at.UTC().Format(time.RFC3339Nano)), nil)
		}
		return startime.Time(at), nil
	})
	return &starlarkstruct.Module{Name: "time", Members: members}
}
