package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"os/signal"
	"path/filepath"
	"runtime/debug"
	"strconv"
	"strings"
	"syscall"

	ucli "github.com/urfave/cli/v2"

	"starling/agent"
	"starling/agent/harness"
	"starling/surfaces/headless"
	"starling/trust"
	"starling/trust/permit"
)

// Process is what a run needs of the process around it.
type Process struct {
	Stdin          io.Reader
	Stdout, Stderr io.Writer
	LookupEnv      func(string) (string, bool)
	Environ        []string
	Cwd            string
	UserHome       string
	Context        context.Context // ends on an interrupt
}

// System is the real process. An interrupt, a hang-up or a termination signal
// ends its context; a second one ends the process at once.
func System() Process {
	// A reader that left is an error of the write, not the death of the process:
	// the session is still closed. The signal is caught and not ignored, since
	// commands that tools start would inherit that.
	signal.Notify(make(chan os.Signal, 1), syscall.SIGPIPE)
	ends := []os.Signal{os.Interrupt, syscall.SIGTERM}
	if !signal.Ignored(syscall.SIGHUP) { // as under nohup
		ends = append(ends, syscall.SIGHUP)
	}
	ctx, cancel := context.WithCancelCause(context.Background())
	caught := make(chan os.Signal, 1)
	signal.Notify(caught, ends...)
	go func() {
		cancel(signalled{<-caught})
		signal.Stop(caught)
	}()
	cwd, err := os.Getwd()
	if err != nil {
		cwd = "."
	}
	home, _ := os.UserHomeDir() // "" is handled by Home
	return Process{
		Stdin: os.Stdin, Stdout: os.Stdout, Stderr: os.Stderr,
		LookupEnv: os.LookupEnv, Environ: os.Environ(), Cwd: cwd, UserHome: home, Context: ctx,
	}
}

// signalled is the cause of a context that a signal ended.
type signalled struct{ os.Signal }

func (s signalled) Error() string { return s.String() }

// Home is starling's own folder: STARLING_HOME, else .starling in the person's
// home folder, else none.
func (p Process) Home() string {
	if dir, _ := p.LookupEnv("STARLING_HOME"); dir != "" {
		if !filepath.IsAbs(dir) {
			dir = filepath.Join(p.Cwd, dir)
		}
		return dir
	}
	if p.UserHome == "" {
		return ""
	}
	return filepath.Join(p.UserHome, ".starling")
}

// Version of the program; a release sets it at link time.
var Version = ""

func version() string {
	if Version != "" {
		return Version
	}
	if info, ok := debug.ReadBuildInfo(); ok && info.Main.Version != "" && info.Main.Version != "(devel)" {
		return info.Main.Version
	}
	return "devel"
}

// exit carries a status through urfave/cli.
type exit struct {
	code int
	err  error // printed; nil when everything was said
}

func (e exit) Error() string {
	if e.err == nil {
		return ""
	}
	return e.err.Error()
}

func usage(format string, args ...any) error {
	return exit{headless.ExitUsage, fmt.Errorf(format, args...)}
}

// Main runs the program and returns its exit status.
func Main(args []string, p Process) int {
	if len(args) == 2 && (args[1] == "--version" || args[1] == "-v") {
		if say(p.Stdout, "starling version %s", version()) != nil {
			return headless.ExitFailed
		}
		return headless.ExitOK
	}
	app := newApp(args, p)
	err := app.RunContext(p.Context, args)
	var e exit
	switch {
	case err == nil:
		return headless.ExitOK
	case errors.As(err, &e):
		// A reader of stdout that left has heard enough.
		if e.err != nil && !errors.Is(e.err, syscall.EPIPE) {
			fmt.Fprintln(p.Stderr, headless.Said(e.err.Error()))
		}
		return e.code
	}
	// What urfave/cli itself found wrong with the flags.
	hint := "see starling --help"
	if strings.Contains(err.Error(), " for flag -timeout: ") {
		hint = timeoutHint
	}
	fmt.Fprintln(p.Stderr, headless.Said(err.Error()+"; "+hint))
	return headless.ExitUsage
}

func newApp(args []string, p Process) *ucli.App {
	app := &ucli.App{
		Name:                   "starling",
		Usage:                  "a coding agent whose every behaviour is a small Starlark plugin",
		ArgsUsage:              "[prompt…]",
		UsageText:              "starling [options]              a session in the terminal\nstarling [options] prompt…      one run\nstarling [options] -p PROMPT",
		Version:                version(),
		Writer:                 p.Stdout,
		ErrWriter:              p.Stderr,
		HideHelpCommand:        true,
		UseShortOptionHandling: true,
		// A rule or a path may hold a comma.
		DisableSliceFlagSeparator: true,
		ExitErrHandler:            func(*ucli.Context, error) {}, // Main prints and maps
		OnUsageError:              func(_ *ucli.Context, err error, _ bool) error { return err },
		Flags: []ucli.Flag{
			&ucli.StringFlag{Name: "print", Aliases: []string{"p"}, Usage: "run `PROMPT` once and print the answer"},
			&ucli.StringFlag{Name: "model", Usage: "`NAME` of the model: one of models.json (starling model list), demo, or script:FILE for a scenario file"},
			&ucli.StringFlag{Name: "think", Usage: "thinking `LEVEL`: off, minimal, low, medium, high, xhigh or max"},
			&ucli.StringFlag{Name: "resume", Usage: "go on with the session `ID`, a prefix of it, or last; each with :MESSAGE"},
			&ucli.BoolFlag{Name: "continue", Usage: "go on with the newest session of this folder", DisableDefaultText: true},
			&ucli.BoolFlag{Name: "sessions", Usage: "list the sessions of this workspace", DisableDefaultText: true},
			&ucli.StringFlag{Name: "system", Usage: "`TEXT` in the place of the base of the system prompt"},
			&ucli.StringFlag{Name: "append-system", Usage: "`TEXT` behind the system prompt"},
			&ucli.BoolFlag{Name: "no-context", Usage: "leave out AGENTS.md files and skills", DisableDefaultText: true},
			&ucli.IntFlag{Name: "max-turns", Usage: "end a run after `N` turns", DefaultText: strconv.Itoa(agent.DefaultMaxTurns)},
			&ucli.Float64Flag{Name: "max-cost", Usage: "end a run when its session cost this many `USD`", DefaultText: "none"},
			&ucli.StringFlag{Name: "mode", Usage: "`MODE` of permissions, what runs unasked: ask (reads), auto-edit (edits in the workspace too), plan (reads alone) or yolo (all but the safety floor)", Value: string(permit.ModeAsk)},
			&ucli.StringSliceFlag{Name: "allow", Usage: "run calls of this `RULE` unasked, such as 'bash(go test *)' (repeatable)"},
			&ucli.StringSliceFlag{Name: "ask", Usage: "ask before calls of this `RULE` (repeatable)"},
			&ucli.StringSliceFlag{Name: "deny", Usage: "never run calls of this `RULE` (repeatable)"},
			&ucli.StringSliceFlag{Name: "allow-path", Usage: "take paths of this `GLOB` off the safety floor (repeatable)"},
			&ucli.StringSliceFlag{Name: "add-dir", Usage: "let tools work in this `FOLDER` too (repeatable)"},
			&ucli.StringSliceFlag{Name: "plugin", Usage: "load the plugin at `PATH` too (repeatable, commas); counts as approved"},
			&ucli.BoolFlag{Name: "no-plugins", Usage: "load no plugin but those of --plugin", DisableDefaultText: true},
			&ucli.BoolFlag{Name: "trust-plugins", Usage: "approve the plugins and settings of this workspace for this run", DisableDefaultText: true},
			&ucli.StringFlag{Name: "trust-digest", Usage: "approve them if they have exactly this `DIGEST` (see starling plugin digest)"},
			&ucli.BoolFlag{Name: "trust-edits", Usage: "load edits of running plugins, also between the turns of a run", DisableDefaultText: true},
			&ucli.BoolFlag{Name: "list-plugins", Usage: "list every plugin with the state it would reach, and run nothing", DisableDefaultText: true},
			&ucli.BoolFlag{Name: "json", Usage: "with --list-plugins: as JSON", DisableDefaultText: true},
			&ucli.StringFlag{Name: "output", Usage: "`FORMAT` of the answer: text, json (one document) or stream-json (one event a line)", Value: string(headless.Text)},
			&ucli.BoolFlag{Name: "stdin", Usage: "put what stdin has behind the prompt; so does a lone - as the prompt", DisableDefaultText: true},
			&ucli.StringSliceFlag{Name: "attach", Usage: "send the text or the image of this `FILE` along with the (first) prompt (repeatable)"},
			&ucli.DurationFlag{Name: "timeout", Usage: "end a run after this `TIME`, such as 90s or 10m", DefaultText: "none"},
			&ucli.BoolFlag{Name: "plain", Usage: "a session without a screen: one line an event, questions by number", DisableDefaultText: true},
			&ucli.BoolFlag{Name: "quiet", Usage: "no progress lines on stderr", DisableDefaultText: true},
		},
		Commands: []*ucli.Command{pluginCommand(p), modelCommand(p), sessionCommand(p)},
	}
	remember(app.Flags)
	rememberAdded()
	words := ended(args, app.Flags)
	if words {
		app.Commands = nil // what follows is a prompt, whatever its first word
	}
	app.Action = func(c *ucli.Context) error { return root(c, words, p) }
	return app
}

// ended tells whether -- stands before the first word that is no option, so that
// everything behind it is the prompt.
func ended(args []string, flags []ucli.Flag) bool {
	takesValue := map[string]bool{}
	for _, f := range flags {
		if v, ok := f.(ucli.DocGenerationFlag); ok && v.TakesValue() {
			for _, name := range f.Names() {
				takesValue[name] = true
			}
		}
	}
	for i := 1; i < len(args); i++ {
		switch arg := args[i]; {
		case arg == "--":
			return true
		case !strings.HasPrefix(arg, "-"), arg == "-":
			return false
		case takesValue[strings.TrimLeft(arg, "-")]:
			i++
		}
	}
	return false
}

// pluginPaths are the values of --plugin, which commas part.
func pluginPaths(c *ucli.Context) []string {
	var paths []string
	for _, value := range c.StringSlice("plugin") {
		paths = append(paths, strings.Split(value, ",")...)
	}
	return paths
}

func options(c *ucli.Context, p Process) (harness.Options, error) {
	o := harness.Options{
		Home: p.Home(), UserHome: p.UserHome, Cwd: p.Cwd,
		Plugins: pluginPaths(c), NoPlugins: c.Bool("no-plugins"),
		TrustPlugins: c.Bool("trust-plugins"), TrustEdits: c.Bool("trust-edits"),
		Model: c.String("model"), Think: c.String("think"), MaxTurns: c.Int("max-turns"), MaxCost: c.Float64("max-cost"),
		Resume: c.String("resume"), Continue: c.Bool("continue"),
		System: c.String("system"), AppendSystem: c.String("append-system"), NoContext: c.Bool("no-context"),
		Mode: c.String("mode"), Allow: c.StringSlice("allow"), Ask: c.StringSlice("ask"), Deny: c.StringSlice("deny"),
		AllowPaths: c.StringSlice("allow-path"), AddDirs: c.StringSlice("add-dir"),
		LookupEnv: p.LookupEnv, Environ: p.Environ,
	}
	if given := c.String("trust-digest"); c.IsSet("trust-digest") {
		digest, err := trust.ParseDigest(given)
		if err != nil {
			return o, usage("--trust-digest: %w", err)
		}
		o.TrustDigest = digest
	}
	if c.IsSet("max-turns") && o.MaxTurns < 1 {
		return o, usage("--max-turns needs a number of at least 1")
	}
	for _, name := range []string{"system", "append-system"} {
		if c.IsSet(name) && strings.TrimSpace(c.String(name)) == "" {
			return o, usage("--%s needs a text that is not empty", name)
		}
	}
	switch {
	case c.IsSet("max-cost") && !(o.MaxCost > 0 && o.MaxCost <= math.MaxFloat64): // NaN is no cap either
		return o, usage("--max-cost needs an amount above 0")
	case c.IsSet("resume") && o.Resume == "":
		return o, usage("--resume needs the id of a session; --sessions lists them")
	case o.Continue && o.Resume != "":
		return o, usage("--resume and --continue name two sessions; give one of them")
	}
	return o, nil
}
