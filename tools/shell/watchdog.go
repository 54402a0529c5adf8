package shell

import (
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"syscall"
)

// watchdog is a process that ends what is left of an engine whose own process was
// killed and could not: it waits for a word on its input, and an input that ends
// without one means that nobody is left to say it.
type watchdog struct {
	word *os.File
	cmd  *exec.Cmd
}

// watch is the watchdog's script; $1 is the mark of the engine. It needs an
// environment that can be read, as on Linux, and finds the processes as marks.go
// does: by their variable or by their file. Thrice, because a process may fork
// meanwhile.
var watch = `read -r word && exit 0
for signal in TERM KILL KILL KILL; do
  pids=$(
    grep -lsz "^` + markName + `=$1\." /proc/[0-9]*/environ | cut -d / -f 3
    ls -l /proc/[0-9]*/fd/` + fmt.Sprint(markFD) + ` 2>/dev/null | grep -F "` + markFileName + `$1." | sed 's|.* /proc/\([0-9]*\)/fd/.*|\1|'
  )
  [ -n "$pids" ] || exit 0
  kill -s $signal $pids
  sleep 0.5
done`

// startWatchdog starts the watchdog before the first command. Without one
// everything works but the death of this process; so a fault is none.
func (e *Engine) startWatchdog() {
	if !e.opt.Watchdog || e.mark == "" || runtime.GOOS != "linux" {
		return
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.watchdogStarted || e.closed {
		return
	}
	e.watchdogStarted = true
	in, word, err := os.Pipe()
	if err != nil {
		return
	}
	defer in.Close()
	// Neither the environment nor the PATH of the person: it runs what the system
	// has, and must not carry the mark itself.
	cmd := &exec.Cmd{
		Path: "/bin/sh", Args: []string{"sh", "-c", watch, "sh", e.mark}, Env: []string{"PATH=/usr/bin:/bin"}, Dir: "/",
		Stdin: in, SysProcAttr: &syscall.SysProcAttr{Setsid: true},
	}
	if cmd.Start() != nil {
		_ = word.Close()
		return
	}
	e.watchdog = &watchdog{word, cmd}
}

// stopWatchdog sends it away.
func (e *Engine) stopWatchdog() {
	e.mu.Lock()
	w := e.watchdog
	e.watchdog = nil
	e.mu.Unlock()
	if w == nil {
		return
	}
	_, _ = w.word.WriteString("done\n") // it may have been killed
	_ = w.word.Close()
	_ = w.cmd.Wait()
}
