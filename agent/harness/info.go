package harness

import (
	"errors"
	"slices"
	"sync"

	"starling/script/bind"
)

// info is what plugins read of the session.
func (e *Engine) info() bind.Info {
	return bind.Info{
		SystemPrompt: func() string {
			if text := e.composed.Load(); text != nil {
				return *text
			}
			return ""
		},
		Instructions: func() []bind.TextFile {
			var list []bind.TextFile
			for _, i := range e.texts.Instructions {
				list = append(list, bind.TextFile{Path: i.Path, Text: i.Text})
			}
			return list
		},
		Skills: func() []bind.SkillInfo {
			var list []bind.SkillInfo
			for _, s := range e.texts.Skills {
				list = append(list, bind.SkillInfo{Name: s.Name, Description: s.Description, Path: s.Path, Project: s.Project})
			}
			return list
		},
		Tools: func() []bind.ToolInfo {
			var list []bind.ToolInfo
			for _, t := range e.tools.List() {
				list = append(list, bind.ToolInfo{Name: t.Name, Description: t.Description, Snippet: firstLine(t.Description)})
			}
			return list
		},
		Session: func() (bind.SessionInfo, bool) {
			if e.record == nil {
				return bind.SessionInfo{}, false
			}
			return e.record.info()
		},
	}
}

func firstLine(text string) string {
	for i, r := range text {
		if r == '\n' || r == '.' {
			return text[:i]
		}
	}
	return text
}

// maxQueued is how many prompts of plugins one prompt of a person may lead to: a
// plugin that always asks for more ends here.
const maxQueued = 8

// promptQueue holds the prompts of plugins until the run before them ended.
type promptQueue struct {
	mu    sync.Mutex
	lines []queuedPrompt
	// away are texts that wait on the screen, chain how many of them were run since
	// the person's last line.
	away  []string
	chain int
}

type queuedPrompt struct{ plugin, text string }

func (q *promptQueue) put(plugin, text string) error {
	q.mu.Lock()
	defer q.mu.Unlock()
	if len(q.lines) >= maxQueued {
		return errors.New("too many prompts are queued")
	}
	q.lines = append(q.lines, queuedPrompt{plugin, text})
	return nil
}

// hand counts a text that is to wait on the screen.
func (q *promptQueue) hand(text string) error {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.chain+len(q.away) >= maxQueued {
		return errors.New("too many prompts are queued; it is the person's turn")
	}
	q.away = append(q.away, text)
	return nil
}

// handed tells whether a text waited on the screen, and takes it.
func (q *promptQueue) handed(text string) bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	i := slices.Index(q.away, text)
	if i < 0 {
		return false
	}
	q.away = slices.Delete(q.away, i, i+1)
	return true
}

// begun tells the queue which text runs now: a line of the person lets plugins ask
// anew. What they edited is theirs.
func (q *promptQueue) begun(text string) {
	plugins := q.handed(text)
	q.mu.Lock()
	defer q.mu.Unlock()
	if plugins {
		q.chain++
	} else {
		q.chain = 0
	}
}

// take returns the next prompt, as long as fewer than maxQueued were run.
func (q *promptQueue) take(run int) (queuedPrompt, bool) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if len(q.lines) == 0 || run >= maxQueued {
		return queuedPrompt{}, false
	}
	next := q.lines[0]
	q.lines = q.lines[1:]
	return next, true
}

// drop empties the queue and returns what was left in it.
func (q *promptQueue) drop() []queuedPrompt {
	q.mu.Lock()
	defer q.mu.Unlock()
	left := q.lines
	q.lines = nil
	return left
}
