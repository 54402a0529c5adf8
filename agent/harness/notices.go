package harness

import (
	"context"
	"fmt"
	"sync"
	"time"

	"starling/bus"
	"starling/bus/event"
	"starling/bus/view"
)

const (
	// noticeBurst is how many lines a plugin may show at once; one more each noticeEvery.
	noticeBurst = 20
	noticeEvery = time.Second
	// noticeRest is how long lines are left out before their number is told.
	noticeRest = 2 * time.Second
)

// notices shows lines to the person at once and announces them as code/notice
// later: whoever notifies may hold the lock of a plugin that listens.
type notices struct {
	show func(view.Notice)
	port bus.Port[event.NoticeEvent, bus.None]
	out  *announcer

	mu     sync.Mutex
	floods map[string]*flood // by plugin
}

// flood counts the lines of one plugin.
type flood struct {
	shown float64 // of those it may show at once; falls with time
	at    time.Time
	left  int         // out, and not told yet
	tell  *time.Timer // nil while nothing is left out
}

func newNotices(b *bus.Bus, show func(view.Notice), out *announcer) *notices {
	return &notices{show: show, port: bus.PortOf(b, event.Notice), out: out, floods: map[string]*flood{}}
}

// plugin says what a plugin notifies of: too many lines at once are left out, and their
// number is told.
func (n *notices) plugin(ctx context.Context, notice view.Notice, now time.Time) {
	if n.taken(notice.From, now) {
		n.say(ctx, notice)
	}
}

// taken counts a line of a plugin and tells whether it is shown.
func (n *notices) taken(plugin string, now time.Time) bool {
	n.mu.Lock()
	defer n.mu.Unlock()
	f := n.floods[plugin]
	if f == nil {
		f = &flood{at: now}
		n.floods[plugin] = f
	}
	f.shown = max(0, f.shown-float64(now.Sub(f.at))/float64(noticeEvery))
	f.at = now
	if f.shown <= noticeBurst-1 {
		f.shown++
		return true
	}
	f.left++
	if f.tell == nil {
		f.tell = time.AfterFunc(noticeRest, func() { n.leftOut(plugin) })
	}
	return false
}

// leftOut tells how many lines of a plugin were left out.
func (n *notices) leftOut(plugin string) {
	n.mu.Lock()
	f := n.floods[plugin]
	left := f.left
	f.left, f.tell = 0, nil
	n.mu.Unlock()
	if left > 0 {
		n.say(context.Background(), view.Notice{Text: fmt.Sprintf("%d more notices of %s were left out", left, plugin), Warn: true})
	}
}

// close tells what is left.
func (n *notices) close() {
	n.mu.Lock()
	var waiting []string
	for plugin, f := range n.floods {
		if f.tell != nil && f.tell.Stop() {
			waiting = append(waiting, plugin)
		}
	}
	n.mu.Unlock()
	for _, plugin := range waiting {
		n.leftOut(plugin)
	}
}

// say shows a notice and queues its announcement, unless it was caused by a
// listener of code/notice.
func (n *notices) say(ctx context.Context, notice view.Notice) {
	n.show(notice)
	if bus.Inside(ctx, event.Notice.Name()) || !n.port.Listening() {
		return
	}
	text := notice.Text
	if notice.From != "" {
		text = notice.From + ": " + text
	}
	n.out.later(func() { n.port.Send(context.Background(), &event.NoticeEvent{Text: text}) })
}
