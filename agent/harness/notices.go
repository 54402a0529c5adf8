package harness

import (
	"context"

	"starling/bus"
	"starling/bus/event"
	"starling/bus/view"
)

// notices shows lines to the person at once and announces them as code/notice
// later: whoever notifies may hold the lock of a plugin that listens.
type notices struct {
	show func(view.Notice)
	port bus.Port[event.NoticeEvent, bus.None]
	out  *announcer
}

func newNotices(b *bus.Bus, show func(view.Notice), out *announcer) *notices {
	return &notices{show: show, port: bus.PortOf(b, event.Notice), out: out}
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
