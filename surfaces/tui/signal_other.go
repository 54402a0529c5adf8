//go:build !unix

package tui

import "os"

// caught are the signals the session answers itself.
var caught = []os.Signal{os.Interrupt}

func (s *Session) signal(os.Signal) { s.stop(nil) }

// suspend does nothing: there are no stopped programs here.
func (s *Session) suspend() {}
