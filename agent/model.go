package agent

import (
	"errors"
	"fmt"

	"starling/agent/provider"
)

// model is what a turn's request is sent to.
type model struct {
	provider provider.Provider
	name     string // full id
	thinking string // level; empty for the model's own
}

// SetModel changes the model, also during a run: the next turn uses it. name is
// its full id.
func (a *Agent) SetModel(p provider.Provider, name string) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.model.provider, a.model.name = p, name
}

// SetThinking changes the thinking level, also during a run: the next turn uses
// it. An empty one leaves it to the model.
func (a *Agent) SetThinking(level string) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.model.thinking = level
}

// Model returns the full id of the model that the next turn uses.
func (a *Agent) Model() string { return a.currentModel().name }

// Thinking returns the level that the next turn asks for.
func (a *Agent) Thinking() string { return a.currentModel().thinking }

func (a *Agent) currentModel() model {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.model
}

// route replaces the turn's model by the one the plugin by named. Of a model that is
// not to be had the person is told once a run, and the turn's own is used.
func (t *turnState) route(name, by string) {
	a, r := t.r.a, t.r
	if name == "" || name == t.model.name || a.o.Models == nil {
		return
	}
	routed, known := a.routes[name]
	if !known {
		if r.unroutable[name] {
			return
		}
		var err error
		if routed, err = a.build(r, name); err != nil {
			if r.ctx.Err() == nil {
				r.unroutable[name] = true
				r.notice(fmt.Sprintf("model of %s: the model %q is not to be had, %s answers instead: %v", by, name, t.model.name, err))
			}
			return
		}
		a.routes[name] = routed
	}
	t.model.provider, t.model.name = routed.provider, routed.name
	r.setModel(t.model.name)
}

// build asks the factory for a model, once for each name.
func (a *Agent) build(r *run, name string) (model, error) {
	return await(r.ctx, func() (model, error) {
		p, full, err := a.o.Models(r.ctx, name)
		switch {
		case err != nil:
			return model{}, err
		case p == nil:
			return model{}, errors.New("there is no such model")
		case full == "":
			full = name
		}
		return model{provider: p, name: full}, nil
	})
}
