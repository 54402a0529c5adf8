package harness_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"starling/bus/view"
)

// naming is a plugin that asks the model its command names.
const naming = `
inject = ["commands"]
uses = ["model"]
def apply(ctx):
    def ask(args):
        r = attempt(lambda: model.ask({"model": args, "messages": [{"role": "user", "text": "hi"}]}))
        return r.error if not r.ok else "%s" % r.value.text
    command("ask", "d", ask)
`

// A plugin that names a scenario reads no file by it: it hears nothing of what is in one
// that is none, and waits for no pipe.
func TestScenarioOfPlugin(t *testing.T) {
	p := newPlace(t)
	p.write("home/plugins/asker.star", naming)
	p.write("ws/fine.star", `say("played")`)
	p.write("ws/secret", "topsecret hush\n")
	p.write("ws/word", "topsecret\n")
	pipe := filepath.Join(p.options.Cwd, "pipe")
	if err := unix.Mkfifo(pipe, 0o600); err != nil {
		t.Fatal(err)
	}
	e := p.start()
	for name, want := range map[string]string{"fine.star": "played", "secret": "no scenario", "word": "no scenario", "nothing": "no scenario", "pipe": "no scenario"} {
		r, err := e.Command(t.Context(), "ask", "script:"+name)
		got := strings.Join(r.Lines, " ")
		if err != nil || !strings.Contains(got, want) || strings.Contains(got, "topsecret") {
			t.Errorf("%s: %q %v", name, got, err)
		}
	}
}

// A person may name a pipe, and nobody waits with them.
func TestModelFromAPipe(t *testing.T) {
	p := newPlace(t)
	pipe := filepath.Join(p.options.Cwd, "pipe")
	if err := unix.Mkfifo(pipe, 0o600); err != nil {
		t.Fatal(err)
	}
	e := p.start()
	set := make(chan error)
	go func() {
		_, err := e.SetModel("script:pipe")
		set <- err
	}()
	w, err := os.OpenFile(pipe, os.O_WRONLY, 0) // there is one who reads now
	if err != nil {
		t.Fatal(err)
	}
	seen := make(chan view.Status, 1)
	go func() { seen <- e.Status() }()
	select {
	case <-seen:
	case <-time.After(time.Minute):
		t.Error("the status waits for a pipe")
	}
	_, err = w.WriteString(`say("played")`)
	if err = errors.Join(err, w.Close()); err != nil {
		t.Fatal(err)
	}
	if err := <-set; err != nil {
		t.Fatal(err)
	}
	if o := e.Prompt(context.Background(), "go"); o.Text != "played" {
		t.Errorf("%+v", o)
	}
}
