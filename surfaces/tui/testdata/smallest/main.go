// Command smallest is the least program that draws on a terminal: what a session
// takes beyond it is the session's own cost. It ends with the first key.
package main

import (
	"fmt"
	"os"

	"github.com/gdamore/tcell/v2"
)

func main() {
	if err := run(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func run() error {
	s, err := tcell.NewScreen()
	if err != nil {
		return err
	}
	if err := s.Init(); err != nil {
		return err
	}
	defer s.Fini()
	for i, r := range "what is to be done?" {
		s.SetContent(i, 0, r, nil, tcell.StyleDefault)
	}
	s.ShowCursor(0, 0)
	s.Show()
	for {
		if _, ok := s.PollEvent().(*tcell.EventKey); ok {
			return nil
		}
	}
}
