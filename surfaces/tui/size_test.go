package tui

import (
	"errors"
	"testing"

	"github.com/gdamore/tcell/v2"
)

// sizeTeller is a terminal of which only the size is asked.
type sizeTeller struct {
	tcell.Tty
	size tcell.WindowSize
	err  error
}

func (s *sizeTeller) WindowSize() (tcell.WindowSize, error) { return s.size, s.err }

// A terminal that tells no size, as a serial line or one that hung up, never leaves
// the screen without cells: drawing on none goes round for ever.
func TestSizeIsNeverNone(t *testing.T) {
	tty := &sizeTeller{}
	term := newTerminal(tty)
	for _, c := range []struct {
		size tcell.WindowSize
		err  error
		w, h int
	}{
		{tcell.WindowSize{}, nil, 80, 24},
		{tcell.WindowSize{Width: 40, Height: 12}, nil, 40, 12},
		{tcell.WindowSize{}, nil, 40, 12},
		{tcell.WindowSize{Width: 100, Height: 30}, errors.New("it is gone"), 40, 12},
		{tcell.WindowSize{Width: 100, Height: 0}, nil, 40, 12},
		{tcell.WindowSize{Width: 100, Height: 30}, nil, 100, 30},
	} {
		tty.size, tty.err = c.size, c.err
		if got, err := term.WindowSize(); err != nil || got.Width != c.w || got.Height != c.h {
			t.Errorf("%+v, %v: got %+v, %v, want %dx%d", c.size, c.err, got, err, c.w, c.h)
		}
	}
}
