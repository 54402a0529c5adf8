package surfaces

import (
	"fmt"
	"maps"
	"time"

	"starling/bus/spec"
	"starling/bus/view"
)

// start begins the goroutine where there is work and none runs. It needs mu.
func (p *panel) start() {
	if p.running || p.gone || len(p.queue) == 0 && !p.tick && !p.viewDue() {
		return
	}
	p.running = true
	p.h.work(1)
	go p.run()
}

// wake is called when the model moved.
func (p *panel) wake() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.start()
}

// viewDue tells whether the view must be made. It needs mu.
func (p *panel) viewDue() bool {
	_, version := p.model.Load()
	if !p.asked && version == p.drawn {
		return false
	}
	return p.place.Kind != Status || p.drawnAt.IsZero() || time.Since(p.drawnAt) >= statusEvery
}

// tickNow lets the plugin hear a tick, unless it has not heard the last one.
func (p *panel) tickNow() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.gone {
		return
	}
	p.tick = p.tick || p.reg.Tick && p.reg.Update != nil
	// What a status says may depend on more than its model.
	p.asked = p.asked || p.place.Kind == Status && time.Since(p.drawnAt) >= statusEvery
	p.start()
}

// run does what there is to do, then ends.
func (p *panel) run() {
	for {
		p.mu.Lock()
		switch {
		case p.gone:
		case p.viewDue() && p.viewFirst():
			p.mu.Unlock()
			p.view()
			continue
		case len(p.queue) > 0:
			q := p.queue[0]
			p.queue = p.queue[1:]
			p.level()
			p.mu.Unlock()
			p.update(q)
			continue
		case p.tick:
			p.tick = false
			p.mu.Unlock()
			p.update(posted{m: Message{Kind: TickMessage}})
			continue
		}
		p.running = false
		p.mu.Unlock()
		p.h.work(-1)
		return
	}
}

// viewFirst tells whether the view goes before what waits: when nothing waits, when
// messages kept it back for long, and before a submit, which would hide that the
// text of an input followed the person. It needs mu.
func (p *panel) viewFirst() bool {
	if len(p.queue) == 0 {
		return !p.tick
	}
	return !p.drawnAt.IsZero() && (time.Since(p.drawnAt) >= viewEvery || p.queue[0].m.Kind == SubmitMessage)
}

// update hands one message to the plugin and does what it asks.
func (p *panel) update(q posted) {
	_, before := p.model.Load()
	asks, err := p.callUpdate(q.m)
	_, after := p.model.Load()
	if q.m.Kind == ChangeMessage {
		p.handled(q.m)
	}
	p.mu.Lock()
	gone := p.gone
	if after != before && q.raises {
		p.model.Raise()
	}
	p.shown.UpdateErr = ""
	if err != nil {
		p.shown.UpdateErr = view.Clean(fmt.Sprintf("surface %q: update: %v", p.id.Name, err))
	}
	p.mu.Unlock()
	if gone {
		q.reply.give(false)
		return
	}
	if err != nil {
		q.reply.give(false)
		p.fault("update", err)
		return
	}
	consumed := false
	for _, a := range asks {
		switch a.Kind {
		case spec.AskConsume:
			consumed = true
		case spec.AskRelease:
			if p.h.o.Release != nil {
				p.h.o.Release(p.id)
			}
		case spec.AskPrompt:
			err = p.prompt(a.Text)
		case spec.AskSend:
			err = p.send(a, q)
		}
		if err != nil {
			p.fault("update", err)
			err = nil
		}
	}
	q.reply.give(consumed)
}

func (p *panel) prompt(text string) error {
	if p.h.o.Prompt == nil {
		return fmt.Errorf("%s: there is no prompt here", spec.AskPrompt)
	}
	return p.h.o.Prompt(p.id.Plugin, text)
}

// send queues what the update of q sends to its own surface.
func (p *panel) send(a spec.Ask, q posted) error {
	if q.chain >= maxChain {
		return fmt.Errorf("send: %d messages came out of each other; send only when something changed", maxChain)
	}
	p.put(posted{m: Message{Kind: UserMessage, Name: a.Name, Payload: a.Payload}, chain: q.chain + 1, raises: q.raises})
	return nil
}

// callUpdate calls into the plugin. A panic of a component is its fault, not the
// host's.
func (p *panel) callUpdate(m Message) (asks []spec.Ask, err error) {
	defer recovered(&err)
	return p.reg.Update(p.ctx, p.model, m.Fields())
}

func (p *panel) callView(model any) (tree any, err error) {
	defer recovered(&err)
	var host map[string]any
	if p.place.Kind == Status && p.h.o.Running != nil {
		host = map[string]any{"running": p.h.o.Running()}
	} else if p.place.Kind == Status {
		host = map[string]any{"running": false}
	}
	return p.reg.View(p.ctx, model, host)
}

func recovered(err *error) {
	if v := recover(); v != nil {
		*err = fmt.Errorf("panic: %v", v)
	}
}

// fault reports an error once, until another one comes; that of a plugin on its way
// out is none.
func (p *panel) fault(what string, err error) {
	text := what + ": " + err.Error()
	p.mu.Lock()
	again := p.said == text || p.gone
	p.said = text
	p.mu.Unlock()
	if !again && p.h.stands(p.seq) {
		p.h.report(p.id, "%s", text)
	}
}

// view asks the plugin what to show.
func (p *panel) view() {
	p.mu.Lock()
	p.asked = false
	p.mu.Unlock()
	model, version := p.model.Load()
	raised := p.model.Raised() // of this version, or of one that is viewed next
	v, err := p.callView(model)
	var tree *Node
	var text string
	switch {
	case err != nil || v == nil:
	case p.place.Kind == Status:
		text, err = parseStatus(v)
	default:
		tree, err = Parse(v)
	}
	if err != nil && p.place.Kind == Status {
		p.fault("view", err) // the line has no room for it
	}
	p.mu.Lock()
	p.drawn, p.drawnAt = version, time.Now()
	if p.gone {
		p.mu.Unlock()
		return
	}
	next := p.shown
	next.Tree, next.Text, next.Err = tree, text, ""
	if err != nil {
		next.Err = view.Clean(fmt.Sprintf("surface %q: view: %v", p.id.Name, err))
		if p.place.Kind != Status {
			next.Tree = errorTree(next.Err)
		}
	}
	next.Raised = p.h.raised(p, raised, next.Open())
	p.reconcile(&next)
	moved := p.publish(next)
	p.mu.Unlock()
	if moved {
		p.h.changed(p.id)
	}
}

// publish makes a snapshot the current one, if it differs. It needs mu.
func (p *panel) publish(next Panel) bool {
	if p.gone || next.Tree == nil && p.shown.Tree == nil && next.Text == p.shown.Text && next.Err == p.shown.Err {
		return false
	}
	if !p.shown.Open() && next.Open() {
		p.openedAt = time.Now()
	}
	next.Version = p.shown.Version + 1
	p.shown = next
	return true
}

// errorTree is what a panel shows in place of a tree.
func errorTree(text string) *Node {
	n, err := Parse(map[string]any{"type": "rows", "children": []any{
		map[string]any{"type": "text", "text": "this panel failed", "style": "bad bold"},
		map[string]any{"type": "text", "text": cut(text, 4<<10)},
	}})
	if err != nil {
		return &Node{Type: Text, Key: "#text", Text: "this panel failed"}
	}
	return n
}

// widgets returns a copy of the widgets, to be changed. It needs mu.
func (p *panel) widgets() map[string]Widget {
	if p.shown.Widgets == nil {
		return map[string]Widget{}
	}
	return maps.Clone(p.shown.Widgets)
}
