package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"runtime/debug"
	"strings"
	"syscall"

	ucli "github.com/urfave/cli/v2"

	"starling/agent/harness"
	"starling/surfaces/headless"
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
	// the session is still closed.
	signal.Ignore(syscall.SIGPIPE)
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM, syscall.SIGHUP)
	context.AfterFunc(ctx, stop)
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
	app := newApp(p)
	err := app.RunContext(p.Context, args)
	var e exit
	switch {
	case err == nil:
		return headless.ExitOK
	case errors.As(err, &e):
		if e.err != nil {
			fmt.Fprintf(p.Stderr, "starling: %v\n", e.err)
		}
		return e.code
	}
	// What urfave/cli itself found wrong with the flags.
	fmt.Fprintf(p.Stderr, "starling: %v; see starling --help\n", err)
	return headless.ExitUsage
}

func newApp(p Process) *ucli.App {
	return &ucli.App{
		Name:                   "starling",
		Usage:                  "a coding agent whose every behaviour is a small Starlark plugin",
		ArgsUsage:              "[prompt…]",
		UsageText:              "starling [options] prompt…\nstarling [options] -p PROMPT",
		Version:                version(),
		Writer:                 p.Stdout,
		ErrWriter:              p.Stderr,
		HideHelpCommand:        true,
		UseShortOptionHandling: true,
		ExitErrHandler:         func(*ucli.Context, error) {}, // Main prints and maps
		OnUsageError:           func(_ *ucli.Context, err error, _ bool) error { return err },
		Flags: []ucli.Flag{
			&ucli.StringFlag{Name: "print", Aliases: []string{"p"}, Usage: "run `PROMPT` once and print the answer"},
			&ucli.StringFlag{Name: "model", Usage: "`NAME` of the model: demo, or script:FILE for a scenario file"},
			&ucli.IntFlag{Name: "max-turns", Usage: "end a run after `N` turns (default 64)"},
			&ucli.StringSliceFlag{Name: "plugin", Usage: "load the plugin at `PATH` too (repeatable, commas); counts as approved"},
			&ucli.BoolFlag{Name: "no-plugins", Usage: "load no plugin but those of --plugin"},
			&ucli.BoolFlag{Name: "list-plugins", Usage: "list every plugin with the state it would reach, and run nothing"},
			&ucli.BoolFlag{Name: "json", Usage: "with --list-plugins: as JSON"},
			&ucli.BoolFlag{Name: "quiet", Usage: "no progress lines on stderr"},
		},
		Action: func(c *ucli.Context) error { return root(c, p) },
	}
}

func root(c *ucli.Context, p Process) error {
	o := options(c, p)
	if c.Bool("list-plugins") {
		return listPlugins(c, p, o)
	}
	if c.Bool("json") {
		return usage("--json goes with --list-plugins")
	}
	prompt, err := promptOf(c)
	if err != nil {
		return err
	}
	return runOnce(c.Context, p, o, prompt, c.Bool("quiet"))
}

func options(c *ucli.Context, p Process) harness.Options {
	return harness.Options{
		Home: p.Home(), UserHome: p.UserHome, Cwd: p.Cwd,
		Plugins: c.StringSlice("plugin"), NoPlugins: c.Bool("no-plugins"),
		Model: c.String("model"), MaxTurns: c.Int("max-turns"),
		LookupEnv: p.LookupEnv, Environ: p.Environ,
	}
}

// promptOf returns the prompt of -p or of the words after the options.
func promptOf(c *ucli.Context) (string, error) {
	words := strings.TrimSpace(strings.Join(c.Args().Slice(), " "))
	switch given := strings.TrimSpace(c.String("print")); {
	case c.IsSet("print") && words != "":
		return "", usage("the prompt was given twice, as -p and as %q; give it once (options come before the prompt)", words)
	case c.IsSet("print") && given == "":
		return "", usage("-p needs a prompt that is not empty")
	case given != "":
		return given, nil
	case words == "":
		return "", usage("give a prompt, as in: starling \"what does main.go do?\" (this version runs headless only)")
	case strings.HasPrefix(words, "-"):
		return "", usage("%q looks like an option; options come before the prompt, -- ends them", words)
	}
	return words, nil
}

func runOnce(ctx context.Context, p Process, o harness.Options, prompt string, quiet bool) error {
	out := headless.New(p.Stdout, p.Stderr, quiet)
	o.Host, o.Notify, o.Component = "headless", out.Notice, out.Component
	engine, err := harness.New(ctx, o)
	if err != nil {
		return exit{headless.ExitUsage, err}
	}
	code := out.Run(ctx, engine, prompt)
	// The composition is taken down also after an interrupt: teardowns have their
	// own limits.
	if err := engine.Close(context.WithoutCancel(ctx)); err != nil {
		fmt.Fprintf(p.Stderr, "starling: at the end: %v\n", err)
	}
	if code != headless.ExitOK {
		return exit{code: code}
	}
	return nil
}
