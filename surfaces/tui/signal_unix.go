//go:build unix

package tui

import (
	"os"
	"os/signal"
	"syscall"

	"starling/bus/view"
)

// caught are the signals the session answers itself.
var caught = []os.Signal{syscall.SIGTERM, syscall.SIGHUP, syscall.SIGINT, syscall.SIGTSTP}

func (s *Session) signal(sig os.Signal) {
	switch sig {
	case syscall.SIGTSTP:
		s.suspend()
	case syscall.SIGINT:
		s.stop(nil)
	default:
		s.stop(&Signalled{sig})
	}
}

// suspend gives the terminal back and stops the program until it is continued. It
// runs inside the loop only: drawing while the screen is suspended would hang.
func (s *Session) suspend() {
	err := s.outside(func() error {
		signal.Reset(syscall.SIGTSTP)
		defer signal.Notify(s.signals, syscall.SIGTSTP)
		return syscall.Kill(0, syscall.SIGTSTP)
	})
	if err != nil {
		s.notice(view.Notice{Text: "the session cannot be suspended: " + err.Error(), Warn: true})
	}
}
