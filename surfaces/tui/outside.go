package tui

import (
	"fmt"
	"os"
	"os/exec"
	"strings"
)

// outside gives the terminal back for as long as f takes. It belongs to the event
// loop, which draws nothing meanwhile.
func (s *Session) outside(f func() error) error {
	if s.screen == nil {
		return f()
	}
	if err := s.screen.Suspend(); err != nil {
		return fmt.Errorf("the terminal does not let go: %w", err)
	}
	err := f()
	if resumed := s.screen.Resume(); resumed != nil {
		s.stop(fmt.Errorf("the terminal does not come back: %w", resumed))
		return err
	}
	s.screen.Sync()
	s.redraw()
	return err
}

// editText has a text changed in $VISUAL or $EDITOR; ok is false when the editor
// failed.
func editText(o Options, text string) (changed string, ok bool, err error) {
	command := o.Env("VISUAL")
	if command == "" {
		command = o.Env("EDITOR")
	}
	if command == "" {
		command = "vi"
	}
	f, err := os.CreateTemp("", "starling-*.md")
	if err != nil {
		return "", false, fmt.Errorf("the text cannot be edited: %w", err)
	}
	defer func() { err = firstError(err, os.Remove(f.Name())) }()
	_, err = f.WriteString(text)
	if err = firstError(err, f.Close()); err != nil {
		return "", false, fmt.Errorf("the text cannot be edited: %w", err)
	}
	words := append(strings.Fields(command), f.Name())
	c := exec.Command(words[0], words[1:]...)
	c.Stdin, c.Stdout, c.Stderr = o.In, o.Out, os.Stderr
	if err := c.Run(); err != nil {
		return "", false, fmt.Errorf("the editor %q: %w; set EDITOR to another one", command, err)
	}
	b, err := os.ReadFile(f.Name())
	if err != nil {
		return "", false, fmt.Errorf("the edited text cannot be read: %w", err)
	}
	return string(b), true, nil
}

func firstError(a, b error) error {
	if a != nil {
		return a
	}
	return b
}

// Signalled is the error of a session that a signal ended.
type Signalled struct{ Signal os.Signal }

func (e *Signalled) Error() string { return "ended by " + e.Signal.String() }
