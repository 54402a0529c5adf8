//go:build unix

package tui

import (
	"os"
	"os/signal"
	"syscall"

	"golang.org/x/sys/unix"

	"starling/bus/view"
)

// caught are the signals the session answers itself.
var caught = []os.Signal{syscall.SIGTERM, syscall.SIGHUP, syscall.SIGINT, syscall.SIGQUIT, syscall.SIGTSTP}

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

// suspend gives the terminal back and stops the program and its job until the shell
// continues them. It runs inside the loop only: drawing while the screen is suspended
// would hang.
//
// The signal is SIGSTOP: once SIGTSTP was caught, the runtime never gives it its first
// meaning back. A session leader is not stopped, since no shell is there to wake it.
func (s *Session) suspend() {
	if session, err := unix.Getsid(0); err == nil && session == os.Getpid() {
		s.hint("no shell to go back to", hintTime)
		return
	}
	err := s.outside(func() error {
		continued := make(chan os.Signal, 1)
		signal.Notify(continued, syscall.SIGCONT)
		defer signal.Stop(continued)
		if err := syscall.Kill(0, syscall.SIGSTOP); err != nil {
			return err
		}
		// The stop comes a little after the call. Going on before would leave the
		// terminal raw for the shell.
		<-continued
		return nil
	})
	if err != nil {
		s.notice(view.Notice{Text: "the session cannot be suspended: " + err.Error(), Warn: true})
	}
}
