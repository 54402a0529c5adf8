package bind

import (
	"testing"
	"time"

	"starling/script"
)

// A command or request that names no time has what a person waits for where one does,
// and half of it elsewhere.
func TestTimeouts(t *testing.T) {
	for kind, want := range map[script.Kind]time.Duration{
		script.Tool: time.Minute, script.Command: time.Minute, script.Gate: time.Minute,
		script.Listener: 30 * time.Second, script.Reply: 30 * time.Second, script.Apply: 30 * time.Second,
		script.Update: 30 * time.Second, script.Service: 30 * time.Second,
	} {
		if got, err := timeoutFor(kind, 0); got != want || err != nil {
			t.Errorf("%s: %v %v, want %v", kind, got, err, want)
		}
		if got, err := timeoutFor(kind, 1500); got != 1500*time.Millisecond || err != nil {
			t.Errorf("%s with a time of its own: %v %v", kind, got, err)
		}
	}
}
