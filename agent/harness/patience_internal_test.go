package harness

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"starling/bus"
	"starling/bus/compose"
	"starling/bus/event"
	"starling/bus/view"
)

// Bug report H-01, in a terminal: a question that nobody answers is no when its time is
// over. The call does not run, the model is told why, the run goes on to its end.
func TestH01NobodyAtTheTerminal(t *testing.T) {
	root := t.TempDir()
	ws := filepath.Join(root, "ws")
	if err := os.MkdirAll(filepath.Join(ws, ".git"), 0o755); err != nil {
		t.Fatal(err)
	}
	scenario := filepath.Join(root, "go.star")
	text := "call(\"bash\", command = \"touch made.txt\")\nreply(lambda last: say(\"told: \" + last))\n"
	if err := os.WriteFile(scenario, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	var mu sync.Mutex
	var asked, answered []string
	e, err := New(context.Background(), Options{
		Home: filepath.Join(root, "home"), UserHome: root, Cwd: ws, Host: "terminal", Model: "script:" + scenario, Mode: "ask",
		Environ: []string{"PATH=" + os.Getenv("PATH")}, Notify: func(view.Notice) {},
		Component: func(b *bus.Bus) compose.Component {
			return compose.Component{Name: "screen", Origin: "host", Position: bus.At(bus.ClassLast, 1, "screen"), Apply: func(s *compose.Scope) error {
				compose.On(s, bus.PortOf(b, event.Question), bus.Listener[event.QuestionEvent, bus.None]{
					Do: func(_ context.Context, q *event.QuestionEvent) (*bus.None, error) {
						mu.Lock()
						defer mu.Unlock()
						asked = append(asked, q.ID)
						return nil, nil
					},
				})
				compose.On(s, bus.PortOf(b, event.Answer), bus.Listener[event.AnswerEvent, bus.None]{
					Do: func(_ context.Context, a *event.AnswerEvent) (*bus.None, error) {
						mu.Lock()
						defer mu.Unlock()
						answered = append(answered, a.ID+" "+a.Value+" by "+a.By)
						return nil, nil
					},
				})
				return nil
			}}
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	e.questions.patience = 20 * time.Millisecond
	o := e.Prompt(context.Background(), "go")
	if err := e.Close(context.Background()); err != nil {
		t.Error(err)
	}
	if o.Stop != "end" || o.Denied != 1 || !strings.Contains(o.Text, "Blocked by the time limit: no answer came within") {
		t.Errorf("it ended as %+v", o)
	}
	if _, err := os.Stat(filepath.Join(ws, "made.txt")); err == nil {
		t.Error("the command ran")
	}
	mu.Lock()
	defer mu.Unlock()
	if len(asked) != 1 || len(answered) != 1 || answered[0] != asked[0]+" no by timeout" {
		t.Errorf("asked %v, answered %v", asked, answered)
	}
}
