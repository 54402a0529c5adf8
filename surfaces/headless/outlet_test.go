package headless_test

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"io"
	"os"
	"strings"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"pgregory.net/rapid"

	"starling/bus/event"
	"starling/bus/view"
	"starling/surfaces/headless"
)

// A reader that begins late gets every byte, and nobody waits for it before End.
func TestSlowReader(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		answer := strings.Repeat("0123456789abcde\n", 300<<10/16)
		read, write := io.Pipe()
		l := newLab(t, headless.Options{Out: write})
		l.prompt = func(context.Context, string) view.Outcome { return view.Outcome{Stop: "end", Text: answer} }
		got := make(chan string)
		go func() {
			time.Sleep(2 * time.Second)
			all, err := io.ReadAll(bufio.NewReaderSize(read, 512))
			if err != nil {
				t.Error(err)
			}
			got <- string(all)
		}()
		began := time.Now()
		code := l.printer.Run(context.Background(), l, headless.Prompt{Text: "go"})
		if took := time.Since(began); took != 0 {
			t.Errorf("Run waited for the reader for %v", took)
		}
		code = l.printer.End(context.Background(), code)
		write.Close()
		if all := <-got; code != 0 || all != answer {
			t.Errorf("code %d, %d of %d bytes", code, len(all), len(answer))
		}
	})
}

// A reader that never reads holds up nobody for long after an interrupt or the
// time limit.
func TestReaderThatStalls(t *testing.T) {
	for _, c := range []struct {
		ctx  func() (context.Context, context.CancelFunc)
		code int
	}{
		{func() (context.Context, context.CancelFunc) {
			ctx, cancel := context.WithCancel(context.Background())
			time.AfterFunc(time.Minute, cancel)
			return ctx, cancel
		}, headless.ExitInterrupted},
		{func() (context.Context, context.CancelFunc) {
			return context.WithTimeout(context.Background(), time.Minute)
		}, headless.ExitLimit},
	} {
		synctest.Test(t, func(t *testing.T) {
			read, write := io.Pipe()
			l := newLab(t, headless.Options{Out: write, Format: headless.StreamJSON})
			ctx, cancel := c.ctx()
			defer cancel()
			began := time.Now()
			code := l.run(ctx, headless.Prompt{Text: "go"})
			if took := time.Since(began); code != c.code || took < time.Minute || took > time.Minute+5*time.Second {
				t.Errorf("code %d after %v", code, took)
			}
			if !strings.Contains(l.err.String(), "stdout: its reader did not take the last ") {
				t.Errorf("stderr %q", l.err.String())
			}
			read.Close() // the writer that was left behind ends
			synctest.Wait()
		})
	}
}

// broken is a writer that takes some bytes, then fails.
type broken struct {
	left int
	err  error
}

func (b *broken) Write(p []byte) (int, error) {
	if len(p) > b.left {
		return b.left, b.err
	}
	b.left -= len(p)
	return len(p), nil
}

// A stdout that fails ends the run at once, with status 1: in silence when the
// reader left, else with the reason.
func TestWriterThatFails(t *testing.T) {
	for _, c := range []struct {
		err  error
		said string
	}{
		{syscall.EPIPE, ""},
		{syscall.ENOSPC, "starling: stdout: no space left on device\n"},
	} {
		l := newLab(t, headless.Options{Out: &broken{left: 10, err: c.err}, Format: headless.StreamJSON, Quiet: true})
		l.prompt = func(ctx context.Context, _ string) view.Outcome {
			send(l, event.RunStart, &event.RunStartEvent{Run: handle{}})
			<-ctx.Done() // ended by the first line
			if cause := context.Cause(ctx); !errors.Is(cause, c.err) {
				t.Errorf("cause %v", cause)
			}
			return view.Outcome{Stop: "aborted", Denied: 1}
		}
		if code := l.run(context.Background(), headless.Prompt{Text: "go"}); code != headless.ExitFailed {
			t.Errorf("%v: code %d", c.err, code)
		}
		if got := l.err.String(); got != c.said {
			t.Errorf("%v: stderr %q, want %q", c.err, got, c.said)
		}
	}
	// The same of a text answer, when the run is over.
	l := newLab(t, headless.Options{Out: &broken{err: syscall.ENOSPC}})
	if code := l.run(context.Background(), headless.Prompt{Text: "go"}); code != headless.ExitFailed {
		t.Errorf("text: code %d", code)
	}
}

// A reader that leaves ends the run also while nothing is printed.
func TestReaderThatLeaves(t *testing.T) {
	read, write, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer write.Close()
	l := newLab(t, headless.Options{Out: write, Format: headless.StreamJSON})
	go func() {
		if _, err := io.ReadFull(read, make([]byte, 10)); err != nil {
			t.Error(err)
		}
		read.Close()
	}()
	l.prompt = func(ctx context.Context, _ string) view.Outcome {
		send(l, event.RunStart, &event.RunStartEvent{Run: handle{}})
		<-ctx.Done()
		return view.Outcome{Stop: "aborted"}
	}
	if code := l.run(context.Background(), headless.Prompt{Text: "go"}); code != headless.ExitFailed || l.err.String() != "" {
		t.Errorf("code %d, stderr %q", code, l.err.String())
	}
}

// A reader that is far behind misses the output of running tools and is told how
// much; everything else comes.
func TestProgressIsLeftOut(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		read, write := io.Pipe()
		l := newLab(t, headless.Options{Out: write, Format: headless.StreamJSON, Quiet: true})
		all := make(chan string, 1)
		start := make(chan struct{})
		go func() {
			<-start
			text, err := io.ReadAll(read)
			if err != nil {
				t.Error(err)
			}
			all <- string(text)
		}()
		chunk := strings.Repeat("x", 64<<10)
		const chunks = 40
		l.prompt = func(context.Context, string) view.Outcome {
			for range chunks {
				send(l, event.ToolProgress, &event.ToolProgressEvent{ID: "c", Tool: "t", Chunk: chunk})
			}
			close(start)
			time.Sleep(time.Second) // the reader catches up
			send(l, event.ToolProgress, &event.ToolProgressEvent{ID: "c", Tool: "t", Chunk: "end"})
			return view.Outcome{Stop: "end"}
		}
		code := l.run(context.Background(), headless.Prompt{Text: "go"})
		write.Close()
		shown, skipped := 0, 0
		for _, line := range strings.Split(strings.TrimSpace(<-all), "\n") {
			var p struct {
				Type, Text string
				Skipped    int
			}
			if err := json.Unmarshal([]byte(line), &p); err != nil {
				t.Fatal(err)
			}
			if p.Type == "tool_progress" {
				shown += len(p.Text)
				skipped += p.Skipped
			}
		}
		if code != 0 || skipped == 0 || shown+skipped != chunks*len(chunk)+len("end") || shown > 2<<20 {
			t.Errorf("code %d, %d bytes shown, %d skipped", code, shown, skipped)
		}
	})
}

// Whatever a text holds, a line parses, gives the text back and cannot steer a
// terminal.
func TestLinesProperty(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		text := rapid.OneOf(rapid.String(), rapid.StringMatching(`(\x1b\[[0-9]m|\r|[\x{80}-\x{9f}]|[\x{202a}-\x{202e}]|[\x{e0000}-\x{e007f}]|\x{2028}|[a-z\n"\\]|\x{1f469})*`)).Draw(rt, "text")
		l := newLab(t, headless.Options{Format: headless.JSON, Quiet: true})
		l.prompt = func(context.Context, string) view.Outcome { return view.Outcome{Stop: "end", Text: text} }
		l.run(context.Background(), headless.Prompt{Text: "go"})
		line := l.out.String()
		if strings.IndexFunc(strings.TrimSuffix(line, "\n"), view.Steers) >= 0 {
			rt.Fatalf("%q steers", line)
		}
		if got := l.fields(t)["text"]; got != text {
			rt.Fatalf("got %q, want %q", got, text)
		}
	})
}

// Arguments that are no JSON, or no UTF-8, break no line.
func TestOddArguments(t *testing.T) {
	for arguments, want := range map[string]string{`{"a":1`: `"{\"a\":1"`, "": `""`, "\"\xff\u009b\"": "\"\ufffd\\u009b\"", "{\n \"a\": 1}": `{"a":1}`} {
		l := newLab(t, headless.Options{Format: headless.StreamJSON, Quiet: true})
		l.prompt = func(context.Context, string) view.Outcome {
			send(l, event.ToolCall, &event.ToolCallEvent{ID: "c", Name: "t", Arguments: json.RawMessage(arguments)})
			return view.Outcome{Stop: "end"}
		}
		l.run(context.Background(), headless.Prompt{Text: "go"})
		if line := `"arguments":` + want + `,"origin"`; !strings.Contains(l.out.String(), line) {
			t.Errorf("%q: no %s in %s", arguments, line, l.out.String())
		}
	}
}
