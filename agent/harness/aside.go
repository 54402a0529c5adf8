package harness

import (
	"errors"
	"fmt"
	"os"
	"sync"
)

// asideTotal is the most bytes that all results kept aside have together.
const asideTotal = 1 << 30

// aside is the folder of tool results that are too long for the transcript; it goes
// with the engine. Calls may read it without a question, as they read the output of
// commands that is kept there too.
type aside struct {
	dir  string
	mu   sync.Mutex
	used int
}

// keep writes content to a file of its own and returns the path.
func (a *aside) keep(content string) (path string, err error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.used+len(content) > asideTotal {
		return "", fmt.Errorf("the %d bytes that all results kept aside may have are used up", asideTotal)
	}
	if err := os.MkdirAll(a.dir, 0o700); err != nil {
		return "", err
	}
	f, err := os.CreateTemp(a.dir, "result-*.txt") // mode 0600: it may hold secrets
	if err != nil {
		return "", err
	}
	_, err = f.WriteString(content)
	if err = errors.Join(err, f.Close()); err != nil {
		return "", errors.Join(err, os.Remove(f.Name()))
	}
	a.used += len(content)
	return f.Name(), nil
}
