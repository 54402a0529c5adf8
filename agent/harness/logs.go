package harness

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"starling/agent/session"
	"starling/bus/view"
	"starling/trust"
)

const (
	logLimit   = 1 << 20 // bytes of one log before it begins anew
	logRate    = 100     // lines a second and plugin
	logLineMax = 4 << 10 // bytes of one line
)

// logs keeps what plugins print, one file a plugin under the home's logs folder.
// Without a home nothing is kept.
type logs struct {
	dir  string
	now  func() time.Time
	mask *session.Masker

	mu   sync.Mutex
	open map[string]*pluginLog
	err  error // the first write that failed
}

type pluginLog struct {
	file    *os.File
	size    int64
	second  time.Time // the second being counted
	lines   int
	dropped int
}

func newLogs(home string, now func() time.Time, mask *session.Masker) *logs {
	l := &logs{now: now, mask: mask, open: map[string]*pluginLog{}}
	if home != "" {
		l.dir = filepath.Join(home, "logs")
	}
	return l
}

// line appends one line to the log of a plugin. A log that cannot be written is
// no reason to disturb a run; the first error is told at the end.
func (l *logs) line(plugin, text string) {
	if l.dir == "" {
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	p, err := l.of(plugin)
	if err == nil {
		err = p.write(l.now(), l.mask.Text(text))
	}
	if err != nil && l.err == nil {
		l.err = fmt.Errorf("log of plugin %s: %w", plugin, err)
	}
}

func (l *logs) of(plugin string) (*pluginLog, error) {
	if p, ok := l.open[plugin]; ok {
		return p, nil
	}
	if err := os.MkdirAll(l.dir, 0o700); err != nil {
		return nil, err
	}
	f, err := trust.OpenRegular(filepath.Join(l.dir, plugin+".log"), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return nil, err
	}
	p := &pluginLog{file: f}
	if info, err := f.Stat(); err == nil {
		p.size = info.Size()
	}
	l.open[plugin] = p
	return p, nil
}

func (p *pluginLog) write(now time.Time, text string) error {
	if second := now.Truncate(time.Second); !second.Equal(p.second) {
		p.second, p.lines = second, 0
		if p.dropped > 0 {
			text = fmt.Sprintf("(%d lines left out)\n%s", p.dropped, text)
			p.dropped = 0
		}
	}
	if p.lines++; p.lines > logRate {
		p.dropped++
		return nil
	}
	if len(text) > logLineMax {
		text = strings.ToValidUTF8(text[:logLineMax], "") + "…"
	}
	line := now.UTC().Format(time.RFC3339) + " " + view.Clean(text) + "\n"
	if p.size+int64(len(line)) > logLimit {
		if err := p.file.Truncate(0); err != nil {
			return err
		}
		p.size = 0
	}
	n, err := p.file.WriteString(line)
	p.size += int64(n)
	return err
}

func (l *logs) close() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	errs := []error{l.err}
	for _, p := range l.open {
		errs = append(errs, p.file.Close())
	}
	l.open = map[string]*pluginLog{}
	return errors.Join(errs...)
}
