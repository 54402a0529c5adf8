package bind

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"sync"
	"time"

	"go.starlark.net/starlark"
	"go.starlark.net/starlarkstruct"

	"starling/bus/chat"
	"starling/script"
	"starling/trust"
)

// Models answers what plugins ask of models, out of the session's purse.
type Models interface {
	// Check holds model and thinking of a request against what there is; its error
	// names that. A level the model lacks but others have is no fault.
	Check(model, thinking string) error
	// Ask sends one request without tools and returns the whole reply. A failure
	// is in the reply, which carries what was used all the same.
	Ask(ctx context.Context, plugin string, q Question) Reply
	// List returns the models that can be named.
	List() []ModelInfo
}

// Question is one request of a plugin.
type Question struct {
	Model     string
	System    string
	Messages  []chat.Message
	Thinking  string // a level; "off" by default
	MaxTokens int    // 0: the model's own limit
}

// Reply is what a model answered.
type Reply struct {
	Text  string
	Stop  chat.StopReason
	Usage chat.Usage
	Err   error
}

// ModelInfo is one line of model.list().
type ModelInfo struct {
	ID         string  `field:"id"`
	Name       string  `field:"name"`
	Provider   string  `field:"provider"`
	InputCost  float64 `field:"input_cost"`  // US dollars per million tokens
	OutputCost float64 `field:"output_cost"` // the same
	Reasoning  bool    `field:"reasoning"`
	// Unusable says why the model cannot be asked, "" when it can. Plugins are told of
	// those that can alone.
	Unusable string
}

const (
	askTimeout = 5 * time.Minute
	// askTogether is how many requests of all plugins run at once; the rest wait.
	askTogether = 16
)

// asks are the requests of one mount.
type asks struct {
	mu   sync.Mutex
	next int
	open map[int]context.CancelFunc
}

// spending is what plugins paid for their requests in this session, in US
// dollars, by name: a reload does not give a plugin its money back.
type spending struct {
	mu   sync.Mutex
	paid map[string]float64
}

func (s *spending) add(plugin string, usd float64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.paid == nil {
		s.paid = map[string]float64{}
	}
	s.paid[plugin] += usd
}

// within holds what a plugin spent against the ceiling of its word.
func (s *spending) within(plugin string, words trust.Words) error {
	usd, limited, err := words.ModelCeiling()
	if err != nil || !limited {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.paid[plugin] >= usd {
		most := strconv.FormatFloat(usd, 'f', -1, 64)
		return fmt.Errorf("this plugin has spent the $%s that model:%s in uses gives it in a session", most, most)
	}
	return nil
}

func (a *asks) begin(stop context.CancelFunc) int {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.next++
	if a.open == nil {
		a.open = map[int]context.CancelFunc{}
	}
	a.open[a.next] = stop
	return a.next
}

func (a *asks) end(id int) {
	a.mu.Lock()
	defer a.mu.Unlock()
	delete(a.open, id)
}

// cancel ends a request; false when there is none of that id.
func (a *asks) cancel(id int) bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	stop, ok := a.open[id]
	if ok {
		stop()
	}
	return ok
}

func (a *asks) busy() int {
	a.mu.Lock()
	defer a.mu.Unlock()
	return len(a.open)
}

func modelWords() []builtin {
	return []builtin{
		{name: "model.ask", run: askModel},
		{name: "model.cancel", run: func(p *Plugin, _ *call, args starlark.Tuple, kwargs []starlark.Tuple) (starlark.Value, error) {
			var id int
			if err := starlark.UnpackArgs("model.cancel", args, kwargs, "id", &id); err != nil {
				return nil, err
			}
			if err := p.needs(trust.Model); err != nil {
				return nil, fmt.Errorf("model.cancel %w", err)
			}
			return starlark.Bool(p.asks.cancel(id)), nil
		}},
		{name: "model.busy", run: func(p *Plugin, _ *call, args starlark.Tuple, kwargs []starlark.Tuple) (starlark.Value, error) {
			if err := starlark.UnpackArgs("model.busy", args, kwargs); err != nil {
				return nil, err
			}
			return starlark.MakeInt(p.asks.busy()), nil
		}},
		{name: "model.list", run: func(p *Plugin, _ *call, args starlark.Tuple, kwargs []starlark.Tuple) (starlark.Value, error) {
			if err := starlark.UnpackArgs("model.list", args, kwargs); err != nil {
				return nil, err
			}
			if err := p.needs(trust.Model); err != nil {
				return nil, fmt.Errorf("model.list %w", err)
			}
			if p.host.Models == nil {
				return nil, notAvailable("model.list")
			}
			var list []starlark.Value
			for _, m := range p.host.Models.List() {
				list = append(list, modelValue(m))
			}
			return starlark.NewList(list), nil
		}},
	}
}

func modelValue(m ModelInfo) starlark.Value {
	return starlarkstruct.FromStringDict(starlark.String("model"), starlark.StringDict{
		"id": starlark.String(m.ID), "name": starlark.String(m.Name), "provider": starlark.String(m.Provider),
		"input_cost": starlark.Float(m.InputCost), "output_cost": starlark.Float(m.OutputCost), "reasoning": starlark.Bool(m.Reasoning),
	})
}

// askModel is model.ask: with a reply it returns an id at once, without it waits.
func askModel(p *Plugin, c *call, args starlark.Tuple, kwargs []starlark.Tuple) (starlark.Value, error) {
	var request *starlark.Dict
	var reply starlark.Value = starlark.None
	if err := starlark.UnpackArgs("model.ask", args, kwargs, "request", &request, "reply?", &reply); err != nil {
		return nil, err
	}
	fail := func(err error) (starlark.Value, error) { return nil, fmt.Errorf("model.ask: %w", err) }
	if err := p.needs(trust.Model); err != nil {
		return fail(err)
	}
	if p.host.Models == nil {
		return nil, notAvailable("model.ask")
	}
	q, timeout, err := question(request)
	if err != nil {
		return fail(err)
	}
	if err := p.host.Models.Check(q.Model, q.Thinking); err != nil {
		return fail(err)
	}
	if err := p.host.spending.within(p.Name(), p.words); err != nil {
		return fail(err)
	}
	if reply == starlark.None {
		switch c.Info().Kind {
		case script.Tool, script.Command, script.Gate, script.Reply:
		default:
			return fail(errors.New("outside tools, commands and gates it needs reply=…: a listener must not wait for a model"))
		}
		ctx, stop := context.WithCancel(c.Context())
		defer stop()
		id := p.asks.begin(stop)
		var v starlark.Value
		c.Host(func() { v = p.ask(ctx, id, q, timeout) })
		if err := c.Context().Err(); err != nil {
			return fail(context.Cause(c.Context()))
		}
		return v, nil
	}
	fn, err := callable("model.ask: reply", reply, 1)
	if err != nil {
		return nil, err
	}
	ready := make(chan int, 1)
	started, err := p.async(c, "model.ask", fn, func(ctx context.Context) (starlark.Value, error) {
		return p.ask(ctx, <-ready, q, timeout), nil
	})
	if err != nil {
		return fail(err)
	}
	id := p.asks.begin(started.(*task).stop)
	ready <- id
	return starlark.MakeInt(id), nil
}

// ask sends the request when there is room for it and makes the reply's value.
func (p *Plugin) ask(ctx context.Context, id int, q Question, timeout time.Duration) starlark.Value {
	ctx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	var r Reply
	select {
	case p.host.room <- struct{}{}:
		r = p.host.Models.Ask(ctx, p.Name(), q)
		<-p.host.room
	case <-ctx.Done():
		r.Err = ctx.Err()
	}
	p.asks.end(id)
	p.host.spending.add(p.Name(), r.Usage.Cost)
	if errors.Is(r.Err, context.DeadlineExceeded) {
		r.Err = fmt.Errorf("no answer within %s", timeout)
	}
	message := starlark.Value(starlark.None)
	if r.Err != nil {
		message = starlark.String(r.Err.Error())
	}
	return starlarkstruct.FromStringDict(starlark.String("reply"), starlark.StringDict{
		"id": starlark.MakeInt(id), "ok": starlark.Bool(r.Err == nil), "text": starlark.String(r.Text), "error": message,
		"stop": starlark.String(r.Stop), "usage": usageValue(r.Usage), "cost": starlark.Float(r.Usage.Cost),
	})
}

var questionFields = []string{"model", "messages", "system", "thinking", "max_tokens", "timeout_ms"}

// question reads the request of model.ask.
func question(d *starlark.Dict) (q Question, timeout time.Duration, err error) {
	q.Thinking, timeout = "off", askTimeout
	for _, item := range d.Items() {
		key, _ := starlark.AsString(item[0])
		text, isText := starlark.AsString(item[1])
		n, notInt := starlark.AsInt32(item[1])
		switch key {
		case "model", "system", "thinking":
			if !isText {
				return q, 0, fmt.Errorf("%s must be a text, not %s", key, item[1].Type())
			}
			*map[string]*string{"model": &q.Model, "system": &q.System, "thinking": &q.Thinking}[key] = text
		case "max_tokens", "timeout_ms":
			if notInt != nil || n < 1 {
				return q, 0, fmt.Errorf("%s must be a number of at least 1", key)
			}
			if key == "max_tokens" {
				q.MaxTokens = n
			} else {
				timeout = time.Duration(n) * time.Millisecond
			}
		case "messages":
			if q.Messages, err = prefix("model.ask", item[1]); err != nil {
				return q, 0, err
			}
			for i, m := range q.Messages {
				if m.Role == chat.System {
					return q, 0, fmt.Errorf("messages[%d]: role must be \"user\" or \"assistant\"; the system text has a field of its own", i)
				}
			}
		default:
			return q, 0, fmt.Errorf("a request has no field %q%s", key, didYouMean(key, questionFields))
		}
	}
	switch {
	case q.Model == "":
		return q, 0, errors.New("the request needs a model")
	case len(q.Messages) == 0:
		return q, 0, errors.New("the request needs messages")
	}
	return q, timeout, nil
}
