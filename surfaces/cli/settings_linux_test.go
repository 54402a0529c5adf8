package cli_test

import (
	"io"
	"os/exec"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// A session in a terminal is as config.json says, and its faults are told in it.
func TestSettingsOnScreen(t *testing.T) {
	const keys = `"keys": {"f2": "keys", "?": "", "f1": "", "f9": "leave", "ctrl+s": "send"}`
	for name, c := range map[string]struct {
		config       string
		sees, lacks  []string
		rings, print bool
	}{
		"none": {"", []string{"? keys", "\x1b[?1000h", "\x1b[38"}, []string{"F2 keys"}, false, true},
		"all":  {`{"theme": "none", "bell": true, "mouse": false, "forget": true, ` + keys + `}`, []string{"F2 keys"}, []string{"? keys", "\x1b[?1000h", "\x1b[38"}, true, false},
		"told": {`{"bell": 1, "theem": "none", ` + keys + `}`, []string{"F2 keys", "1:10: bell: want true or false", "\x1b[38"}, nil, false, true},
	} {
		t.Run(name, func(t *testing.T) {
			l := newLab(t, func(w *reply, _ int, _ string) { w.send(data(content("zanzibar"), finish("stop"))) })
			if c.config != "" {
				l.write("home/config.json", c.config)
			}
			keys, terminal := openTerminal(t)
			if err := unix.IoctlSetWinsize(int(keys.Fd()), unix.TIOCSWINSZ, &unix.Winsize{Row: 24, Col: 160}); err != nil {
				t.Fatal(err)
			}
			var shown output
			p := exec.Command("starling")
			p.Dir, p.Env = l.ws, append([]string{"TERM=xterm-256color", "LANG=C.UTF-8"}, l.env...)
			p.Stdin, p.Stdout, p.Stderr = terminal, terminal, terminal
			p.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: true}
			if err := p.Start(); err != nil {
				t.Fatal(err)
			}
			copied := make(chan struct{})
			go func() { defer close(copied); _, _ = io.Copy(&shown, keys) }()
			over := make(chan error, 1)
			go func() { over <- p.Wait() }()
			t.Cleanup(func() { _ = p.Process.Kill() })
			press := func(bytes string) {
				if _, err := keys.WriteString(bytes); err != nil {
					t.Fatal(err)
				}
			}
			until := func(text string) {
				t.Helper()
				l.eventually(text, func() bool { return strings.Contains(shown.String(), text) })
			}
			until("what is to be done?")
			for _, text := range c.sees {
				until(text)
			}
			press("\x1b[200~a question\x1b[201~")
			if c.config == "" {
				press("\r")
			} else {
				press("\x13") // Ctrl-S
			}
			until("zanzibar")
			l.eventually("the bell", func() bool { return !c.rings || strings.Contains(shown.String(), "\a") })
			if c.config == "" {
				press("\x03")
				until("again quits")
				press("\x03")
			} else {
				press("\x1b[20~") // F9
				until("again quits")
				press("\x1b[20~")
			}
			select {
			case err := <-over:
				if err != nil {
					t.Errorf("%v\n%s", err, shown.String())
				}
			case <-time.After(time.Minute):
				t.Fatalf("it goes on\n%s", shown.String())
			}
			_ = terminal.Close()
			<-copied
			text := shown.String()
			for _, lacks := range c.lacks {
				if strings.Contains(text, lacks) {
					t.Errorf("%q is there", lacks)
				}
			}
			if strings.Contains(text, "\a") != c.rings {
				t.Errorf("it rang: %v", !c.rings)
			}
			_, after, _ := strings.Cut(text, "\x1b[?1049l")
			if strings.Contains(after, "zanzibar") != c.print {
				t.Errorf("behind the session it printed %q", after)
			}
		})
	}
}
