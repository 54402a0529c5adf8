//go:build unix

package cli_test

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"os/exec"
	"syscall"

	"github.com/creack/pty"
)

func init() { morePrograms["answering"] = func() { os.Exit(answering(os.Args[1], os.Args[2:])) } }

// answering runs a program on a terminal and types a file once it is asked about trust:
// what is typed before that is dropped.
func answering(file string, command []string) int {
	answer, err := os.ReadFile(file)
	if err != nil {
		return fault(err)
	}
	keys, terminal, err := pty.Open()
	if err != nil {
		return fault(err)
	}
	go func() { _, _ = io.Copy(io.Discard, keys) }() // its echo
	c := exec.Command(command[0], command[1:]...)
	c.Stdin, c.Stderr = terminal, os.Stderr
	c.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: true}
	out, err := c.StdoutPipe()
	if err != nil {
		return fault(err)
	}
	if err := c.Start(); err != nil {
		return fault(err)
	}
	var said bytes.Buffer
	buf := make([]byte, 4<<10)
	for answered := false; ; {
		n, end := out.Read(buf)
		said.Write(buf[:n])
		if !answered && bytes.Contains(said.Bytes(), []byte("Trust this version (y)")) {
			answered = true
			if _, err := keys.Write(answer); err != nil {
				return fault(err)
			}
		}
		if end != nil {
			break
		}
	}
	if _, err := os.Stdout.Write(said.Bytes()); err != nil {
		return fault(err)
	}
	if err := c.Wait(); err != nil {
		return fault(err)
	}
	return 0
}

func fault(err error) int {
	fmt.Fprintln(os.Stderr, err)
	return 1
}
