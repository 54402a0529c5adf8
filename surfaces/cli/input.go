package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"starling/surfaces/headless"
)

const (
	// maxInput is the most that stdin may hold, in bytes: far more than any model
	// reads, and too little to fill the memory of a machine.
	maxInput = 8 << 20
	// silence is how long stdin may keep a person waiting before they are told.
	silence = time.Second
)

// readInput reads stdin to its end. It says what it waits for when that takes
// long, and ends with ctx.
func readInput(ctx context.Context, p Process) (string, error) {
	type answer struct {
		data []byte
		err  error
	}
	done := make(chan answer, 1)
	go func() {
		// A read that nobody waits for any more ends with the process.
		data, err := io.ReadAll(io.LimitReader(p.Stdin, maxInput+1))
		done <- answer{data, err}
	}()
	tell := time.NewTimer(silence)
	defer tell.Stop()
	for {
		select {
		case a := <-done:
			if a.err != nil {
				return "", usage("stdin: %w", a.err)
			}
			return input(a.data)
		case <-tell.C:
			fmt.Fprintln(p.Stderr, "starling: waiting for the end of stdin, which goes into the prompt (Ctrl-D ends it on a terminal)")
		case <-ctx.Done():
			code, err := over(ctx, "while waiting for the end of stdin")
			return "", exit{code, err}
		}
	}
}

func input(data []byte) (string, error) {
	text := strings.ToValidUTF8(string(data), "\ufffd")
	switch {
	case len(data) > maxInput:
		return "", usage("stdin has more than %d MiB: put it into a file and name that in the prompt", maxInput>>20)
	case strings.TrimSpace(text) == "":
		return "", exit{headless.ExitUsage, errors.New("stdin is empty or closed: --stdin and - take a part of the prompt from it")}
	case strings.Contains(text, "\x00"):
		return "", usage("stdin is no text: put it into a file and name that in the prompt")
	}
	return text, nil
}
