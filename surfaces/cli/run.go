package cli

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	ucli "github.com/urfave/cli/v2"

	"starling/agent/harness"
	"starling/bus/view"
	"starling/script/discover"
	"starling/surfaces/headless"
)

func root(c *ucli.Context, words bool, p Process) error {
	o, err := options(c, p)
	if err != nil {
		return err
	}
	if c.Bool("list-plugins") {
		if c.IsSet("output") {
			return usage("--output goes with a prompt; --list-plugins takes --json")
		}
		return listPlugins(c, p, o)
	}
	if c.Bool("sessions") {
		if c.Args().Present() || c.IsSet("print") {
			return usage("--sessions lists sessions and takes no prompt; --continue and --resume go on with one")
		}
		return listSessions(p, o)
	}
	if c.Bool("json") {
		return usage("--json goes with --list-plugins; a run takes --output json")
	}
	format, err := headless.ParseFormat(c.String("output"))
	if err != nil {
		return usage("--output: %w", err)
	}
	if !c.IsSet("print") && !c.Bool("stdin") && c.NArg() == 0 {
		if err := namedPlugins(o); err != nil {
			return err
		}
		return session(c.Context, c, p, o)
	}
	ctx, cancel, err := limited(c)
	if err != nil {
		return err
	}
	defer cancel()
	prompt, err := promptOf(ctx, c, words, p)
	if err != nil {
		return err
	}
	prompt.Files = c.StringSlice("attach")
	if err := namedPlugins(o); err != nil {
		return err
	}
	out := headless.New(headless.Options{Out: p.Stdout, Err: p.Stderr, Format: format, Quiet: c.Bool("quiet")})
	return runOnce(ctx, o, out, prompt)
}

const timeoutHint = "--timeout needs a time above 0, such as 90s or 10m"

// timeLimit is the end of --timeout, as its cause.
type timeLimit time.Duration

func (t timeLimit) Error() string {
	return fmt.Sprintf("the time of --timeout %v is over", time.Duration(t))
}

// Is makes it the deadline that it is.
func (timeLimit) Is(target error) bool { return target == context.DeadlineExceeded }

// limited returns the context of a run: it ends with that of the process, or
// when the time of --timeout is over. The wait for stdin and the start count.
func limited(c *ucli.Context) (context.Context, context.CancelFunc, error) {
	if !c.IsSet("timeout") {
		return c.Context, func() {}, nil
	}
	d := c.Duration("timeout")
	if d <= 0 {
		return nil, nil, usage(timeoutHint)
	}
	ctx, cancel := context.WithTimeoutCause(c.Context, d, timeLimit(d))
	return ctx, cancel, nil
}

// over is how a program ends whose context did: its status, and why.
func over(ctx context.Context, doing string) (int, error) {
	if errors.Is(ctx.Err(), context.DeadlineExceeded) {
		return headless.ExitLimit, fmt.Errorf("%w %s", context.Cause(ctx), doing)
	}
	return headless.ExitInterrupted, errors.New("interrupted " + doing)
}

// promptOf returns the prompt of -p or of the words after the options, with what
// stdin has when --stdin or a lone - asks for it; free tells that -- ended the
// options.
func promptOf(ctx context.Context, c *ucli.Context, free bool, p Process) (headless.Prompt, error) {
	words := strings.TrimSpace(strings.Join(c.Args().Slice(), " "))
	given := strings.TrimSpace(c.String("print"))
	option := ""
	if !free {
		option = strayOption(c)
	}
	text := words
	switch {
	case c.IsSet("print") && words != "":
		return headless.Prompt{}, usage("the prompt was given twice, as -p and as %q; give it once (options come before the prompt)", words)
	case c.IsSet("print") && given == "":
		return headless.Prompt{}, usage("-p needs a prompt that is not empty")
	case given != "":
		text = given
	case option != "":
		return headless.Prompt{}, usage("%s stands behind the prompt; options come before it (-- before the prompt makes all of it words)", option)
	}
	dash := text == "-" && !free
	if dash {
		text = ""
	}
	switch {
	case dash || c.Bool("stdin"):
		input, err := readInput(ctx, p)
		return headless.Prompt{Text: text, Input: input}, err
	case text == "":
		return headless.Prompt{}, usage("give a prompt, as in: starling \"what does main.go do?\" (without one a session begins in the terminal; --stdin reads it from stdin)")
	}
	return headless.Prompt{Text: text}, nil
}

// strayOption returns the first word of the prompt that is an option of
// starling; "" for none.
func strayOption(c *ucli.Context) string {
	for _, word := range c.Args().Slice() {
		if word == "--" {
			return ""
		}
		name, _, _ := strings.Cut(word, "=")
		for _, f := range c.App.Flags {
			for _, known := range f.Names() {
				if name == "--"+known || name == "-"+known {
					return word
				}
			}
		}
	}
	return ""
}

// namedPlugins checks that every --plugin names a plugin: a guard that a script
// asks for by a wrong name must not be missing in silence.
func namedPlugins(o harness.Options) error {
	if len(o.Plugins) == 0 {
		return nil
	}
	for _, path := range o.Plugins {
		if strings.TrimSpace(path) == "" {
			return usage("--plugin needs the path of a .star file or of a folder with a main.star")
		}
	}
	found, err := discover.Find(discover.Options{Cwd: o.Cwd, Flags: o.Plugins})
	if err != nil {
		return exit{headless.ExitUsage, err}
	}
	for _, f := range found.Files {
		if f.Err != nil {
			return exit{headless.ExitUsage, f.Err}
		}
	}
	return nil
}

func runOnce(ctx context.Context, o harness.Options, out *headless.Printer, prompt headless.Prompt) error {
	o.Host, o.Notify, o.Component = "headless", out.Notice, out.Component
	engine, err := harness.New(ctx, o)
	code := headless.ExitUsage
	switch {
	case err != nil && ctx.Err() != nil:
		code, err = over(ctx, "before the run began")
		out.Fail(err, code)
	case err != nil:
		out.Fail(err, code)
	default:
		code = out.Run(ctx, engine, prompt)
		// The composition is taken down also after an interrupt: teardowns have
		// their own limits.
		if err := engine.Close(context.WithoutCancel(ctx)); err != nil {
			out.Notice(view.Notice{Text: "at the end: " + err.Error(), Warn: true})
		}
	}
	if code = out.End(ctx, code); code != headless.ExitOK {
		return exit{code: code}
	}
	return nil
}
