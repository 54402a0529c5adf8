package tui

import (
	"errors"
	"fmt"
	"os"

	"github.com/gdamore/tcell/v2"
	"golang.org/x/term"
)

// ErrNoTerminal is returned where standard input or output is no terminal, before
// anything was made.
var ErrNoTerminal = errors.New("a session needs a terminal for input and output; for one prompt without one, use starling -p PROMPT")

// CheckTerminal returns ErrNoTerminal unless a person sits at both files.
func CheckTerminal(in, out *os.File) error {
	if in == nil || out == nil || !term.IsTerminal(int(in.Fd())) || !term.IsTerminal(int(out.Fd())) {
		return ErrNoTerminal
	}
	return nil
}

// WantsPlain tells whether a terminal can show lines only.
func WantsPlain(env func(string) string) bool {
	switch env("TERM") {
	case "", "dumb":
		return true
	}
	return false
}

// openScreen makes a screen over the terminal; Init is not called yet.
func openScreen() (tcell.Screen, *terminal, error) {
	dev, err := tcell.NewDevTty()
	if err != nil {
		if dev, err = tcell.NewStdIoTty(); err != nil {
			return nil, nil, fmt.Errorf("the terminal does not open: %w; try --plain", err)
		}
	}
	t := newTerminal(dev)
	info, err := tcell.LookupTerminfo(os.Getenv("TERM"))
	if err != nil {
		// A terminal this system has never heard of: nearly all of them speak this.
		if spoken, lookup := tcell.LookupTerminfo("xterm-256color"); lookup == nil {
			info, err = spoken, nil
		}
	}
	var screen tcell.Screen
	if err == nil {
		here := *info
		// With another size, cells would be made first that are thrown away.
		if size, err := t.WindowSize(); err == nil {
			here.Columns, here.Lines = size.Width, size.Height
		}
		screen, err = tcell.NewTerminfoScreenFromTtyTerminfo(t, &here)
	}
	if err != nil {
		return nil, nil, fmt.Errorf("the terminal %q cannot be drawn on: %w; try --plain", os.Getenv("TERM"), err)
	}
	return screen, t, nil
}

// themeName decides which theme to begin with, and whether the terminal is asked for
// its background.
func themeName(want string, env func(string) string) (name string, ask bool) {
	switch {
	case env("NO_COLOR") != "":
		return "none", false
	case want != "" && want != "auto":
		return want, false
	}
	if light, ok := lightByEnv(env("COLORFGBG")); ok && light {
		return "light", true
	}
	return "dark", true
}
