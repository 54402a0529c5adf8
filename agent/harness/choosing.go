package harness

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"starling/agent/model"
	"starling/agent/session"
	"starling/bus/chat"
	"starling/bus/view"
)

// choice is the model of a session and the thinking level a person asked for, which
// outlives a model that does not have it.
type choice struct {
	built built
	level string
}

// current is the model of the session.
func (m *models) current() built {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.choice.built
}

func (m *models) chosen() choice {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.choice
}

func (m *models) choose(c choice) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.choice = c
}

// Models are those that can be chosen by name: of models.json, else that of a known
// key variable; the demo is the last.
func (e *Engine) Models() []view.Model {
	m := e.models
	known := m.known
	if found, _, ok := model.FromEnvironment(m.env); ok && len(known) == 0 {
		known = []model.Model{found}
	}
	var list []view.Model
	for _, k := range known {
		if usable(k) {
			list = append(list, modelRow(k))
		}
	}
	list = append(list, view.Model{ID: demoModel, Name: "the built-in offline demo", Levels: levelNames(model.DefaultLevels())})
	return append(list, m.others(list)...)
}

func modelRow(k model.Model) view.Model {
	row := view.Model{ID: k.FullName(), Name: k.Name, Provider: k.Provider, Context: k.ContextWindow, Levels: levelNames(k.Levels())}
	if row.Name == "" {
		row.Name = k.ID
	}
	return row
}

func levelNames(levels []model.Level) []string {
	var names []string
	for _, l := range levels {
		names = append(names, string(l))
	}
	return names
}

// others are the models that were asked for by a name that no list has, such as a file of
// steps: who leaves one finds the way back.
func (m *models) others(listed []view.Model) []view.Model {
	m.mu.Lock()
	defer m.mu.Unlock()
	var rows []view.Model
	for _, asked := range slices.Sorted(maps.Keys(m.made)) {
		b := m.made[asked]
		is := func(row view.Model) bool { return row.ID == b.name || row.Name == b.name }
		if slices.ContainsFunc(listed, is) || slices.ContainsFunc(rows, is) {
			continue
		}
		row := view.Model{ID: asked, Name: b.name, Levels: levelNames(model.DefaultLevels())}
		if b.model.ID != "" {
			row = modelRow(b.model)
		}
		rows = append(rows, row)
	}
	return rows
}

// SetModel takes a name as --model does; the next turn uses it. The note is for the
// person.
func (e *Engine) SetModel(name string) (note string, err error) {
	if strings.TrimSpace(name) == "" {
		return "", fmt.Errorf("name a model, as in --model")
	}
	b, err := e.models.get(name)
	if err != nil {
		return "", err
	}
	c := choice{b, e.models.chosen().level}
	level, lowered, err := b.think(c.level)
	if err != nil {
		return "", err
	}
	e.models.choose(c)
	e.agent.SetModel(b.provider, b.name)
	e.agent.SetThinking(level)
	return lines(b.note, lowered, e.uncapped(b)), nil
}

// SetThinking takes a level as --think does, "" for the model's own; the next turn
// uses it.
func (e *Engine) SetThinking(level string) (note string, err error) {
	c := e.models.chosen()
	have, note, err := c.built.think(level)
	if err != nil {
		return "", err
	}
	c.level = level
	e.models.choose(c)
	e.agent.SetThinking(have)
	return note, nil
}

// uncapped says where --max-cost cannot count.
func (e *Engine) uncapped(b built) string {
	if e.options.MaxCost > 0 && b.model.ID != "" && b.model.Cost == (model.Cost{}) {
		return "the price of " + b.name + " is not known here, so --max-cost counts only what its server says it cost"
	}
	return ""
}

// carry counts what a session spent before it is gone on with, for --max-cost and for
// who looks on; nil is a new one. Where nobody asks, the session is not read for it.
func (e *Engine) carry(s *session.Session) {
	capped := e.options.MaxCost > 0
	if !capped && !e.asksPerson() {
		return
	}
	var used chat.Usage
	var unpriced []string
	var err error
	if s != nil {
		used, unpriced, err = s.Usage()
	}
	if capped {
		e.models.purse.Carry(used)
	}
	e.bill.Store(&bill{before: used.Cost, mark: e.models.purse.Spent().Cost})
	if s == nil {
		return
	}
	warn := func(text string) { e.say(context.Background(), view.Notice{Text: text, Warn: true}) }
	if err != nil {
		what := "the cost that is shown"
		if capped {
			what = "--max-cost"
		}
		warn(fmt.Sprintf("%s does not count all of session %s: %v", what, s.ID(), err))
	}
	if !capped {
		return
	}
	now := e.models.current()
	unpriced = slices.DeleteFunc(unpriced, func(name string) bool {
		return name == demoModel || strings.HasPrefix(name, scriptPrefix) || // they cost nothing
			name == now.name && e.uncapped(now) != "" // that is said already
	})
	if len(unpriced) > 0 {
		warn(fmt.Sprintf("session %s has replies without a price, of %s: --max-cost does not count them", s.ID(), view.CleanLine(strings.Join(unpriced, ", "))))
	}
}

// bill is what the session that is on had cost when it was gone on with, and what all
// of this process had by then.
type bill struct{ before, mark float64 }

// spent is what the session that is on cost as a whole, in US dollars.
func (e *Engine) spent() float64 {
	all := e.models.purse.Spent().Cost
	if b := e.bill.Load(); b != nil {
		return max(0, b.before+all-b.mark)
	}
	return all
}

// lines joins those that say something.
func lines(texts ...string) string {
	var out []string
	for _, t := range texts {
		if t != "" {
			out = append(out, t)
		}
	}
	return strings.Join(out, "\n")
}
