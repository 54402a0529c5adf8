package harness

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"starling/agent"
	"starling/agent/model"
	"starling/agent/provider"
	"starling/agent/provider/openai"
	"starling/agent/provider/scripted"
	"starling/agent/session"
	"starling/bus/chat"
	"starling/script/bind"
	"starling/script/discover"
	"starling/script/scenario"
	"starling/tools/shell"
	"starling/trust"
)

const (
	demoModel    = "demo"
	scriptPrefix = "script:"
	// keyTime is how long a command that prints a key may take.
	keyTime = 30 * time.Second
)

// models are the models of an engine: those of models.json and of known key
// variables, and the two that need no server.
type models struct {
	options Options
	known   []model.Model
	faults  error // of models.json; the models without one count
	run     model.Run
	purse   *agent.Purse
	mask    *session.Masker // knows every key of the environment, and every one that was used
	own     *session.Masker // knows those of models alone

	mu     sync.Mutex
	made   map[string]built // by the name they were asked for
	choice choice
	asked  map[string]float64 // US dollars, by the plugin that asked
}

// built is a model that answers.
type built struct {
	provider provider.Provider
	name     string      // full
	model    model.Model // zero for the two that need no server
	note     string      // for the person
}

func newModels(o Options, purse *agent.Purse) *models {
	m := &models{options: o, purse: purse, made: map[string]built{}, asked: map[string]float64{}, mask: &session.Masker{}, own: &session.Masker{}}
	if o.Home != "" {
		m.known, m.faults = model.ReadFile(filepath.Join(o.Home, "models.json"))
	}
	for _, k := range m.known {
		if k.KeyEnv != "" {
			m.mask.Add(m.env(k.KeyEnv))
			m.own.Add(m.env(k.KeyEnv))
		}
	}
	for _, name := range model.KeyVariables() {
		m.own.Add(m.env(name))
	}
	for _, pair := range o.Environ {
		if name, value, _ := strings.Cut(pair, "="); m.isKey(name) {
			m.mask.Add(value)
		}
	}
	return m
}

// isKey tells whether an environment variable holds a key: it has the name of
// one, or a model of models.json takes its key from it.
func (m *models) isKey(name string) bool {
	return trust.IsKeyVariable(name) || slices.ContainsFunc(m.known, func(k model.Model) bool { return k.KeyEnv == name })
}

// runIn lets the commands that print keys run in an engine; their output is shown
// to nobody.
func (m *models) runIn(engine *shell.Engine) {
	m.run = func(ctx context.Context, command string) (string, error) {
		out, err := engine.Run(ctx, shell.Command{Line: command, Origin: "api_key_command", Timeout: keyTime})
		switch {
		case err != nil:
			return "", err
		case out.TimedOut:
			return "", fmt.Errorf("it took longer than %s", keyTime)
		case out.Status != 0:
			return "", fmt.Errorf("it ended with status %d", out.Status)
		}
		key := out.Stdout.String()
		m.mask.Add(key)
		m.own.Add(key)
		return key, nil
	}
}

func (m *models) env(name string) string {
	v, _ := m.options.LookupEnv(name)
	return v
}

// first is the model of a session that names none: the first of models.json, else
// that of a known key variable, else the demo.
func (m *models) first() (built, error) {
	switch {
	case len(m.known) > 0:
		// One of a later version's format does not keep the others from answering.
		return m.build(m.known[max(0, slices.IndexFunc(m.known, usable))])
	case m.faults != nil: // nobody wants the demo's answer in its place
		return built{}, fmt.Errorf("%w\nno model of models.json can be used: mend the file, or name another model, such as demo", m.faults)
	}
	if found, note, ok := model.FromEnvironment(m.env); ok {
		b, err := m.build(found)
		b.note = note
		return b, err
	}
	return built{
		provider: scripted.Demo(), name: demoModel,
		note: "no model is configured: the built-in offline demo answers; set OPENAI_API_KEY or the key variable of another known provider, or name a server in models.json (docs/models.md)",
	}, nil
}

// get returns the model of a name, made once.
func (m *models) get(name string) (built, error) {
	if b, ok := m.had(name); ok {
		return b, nil
	}
	b, err := m.resolve(name) // without the lock: a person may name a pipe
	if err != nil {
		return b, err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if first, ok := m.made[name]; ok {
		return first, nil
	}
	m.made[name] = b
	return b, nil
}

// had returns a model that was made before.
func (m *models) had(name string) (built, bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	b, ok := m.made[name]
	return b, ok
}

// byPlugin is get for a name that a plugin chose. Whatever file it names as a scenario, it
// hears nothing of what is in there, and no pipe is waited for.
func (m *models) byPlugin(name string) (built, error) {
	path, scenario := strings.CutPrefix(name, scriptPrefix)
	if _, made := m.had(name); made || !scenario {
		return m.get(name)
	}
	if info, err := os.Stat(m.absolute(path)); err == nil && info.Mode().IsRegular() {
		if b, err := m.get(name); err == nil {
			return b, nil
		}
	}
	return built{}, fmt.Errorf("%s is no scenario that can be played", name)
}

func (m *models) resolve(name string) (built, error) {
	switch {
	case name == "":
		return m.first()
	case name == demoModel:
		return built{provider: scripted.Demo(), name: demoModel}, nil
	case strings.HasPrefix(name, scriptPrefix):
		return m.scenario(strings.TrimPrefix(name, scriptPrefix))
	}
	found, err := m.find(name)
	if err != nil {
		return built{}, err
	}
	return m.build(found)
}

func (m *models) find(name string) (model.Model, error) {
	found, err := model.Resolve(name, m.known)
	if err == nil {
		return found, nil
	}
	if known, ok := model.Named(name, m.env); ok {
		return known, nil
	}
	if variable := model.MissingKey(name, m.env); variable != "" {
		return model.Model{}, fmt.Errorf("model %q: set %s to its key, or name the model in models.json (docs/models.md)", name, variable)
	}
	return model.Model{}, fmt.Errorf("%w (there are also demo and script:FILE)", err)
}

// unusable says why a model cannot be asked, "" when it can.
func unusable(m model.Model) string {
	if m.API == "" || m.API == model.OpenAICompletions {
		return ""
	}
	return fmt.Sprintf("its api %s is not usable in this version, only %s is", m.API, model.OpenAICompletions)
}

func usable(m model.Model) bool { return unusable(m) == "" }

func (m *models) build(found model.Model) (built, error) {
	if why := unusable(found); why != "" {
		return built{}, fmt.Errorf("model %s: %s", found.FullName(), why)
	}
	key := model.NewKey(found, m.env, m.run)
	p, err := openai.New(found, key.Get, openai.Options{Env: m.env, KeyRefused: key.Drop})
	if err != nil {
		return built{}, err
	}
	return built{provider: provider.Retrying(p, provider.RetryOptions{}), name: found.FullName(), model: found}, nil
}

func (m *models) absolute(path string) string {
	if filepath.IsAbs(path) {
		return path
	}
	return filepath.Join(m.options.Cwd, path)
}

func (m *models) scenario(path string) (built, error) {
	path = m.absolute(path)
	src, err := readScenario(path)
	if err != nil {
		return built{}, fmt.Errorf("%w; script:FILE takes a scenario file", err)
	}
	steps, err := scenario.Load(path, src)
	if err != nil {
		return built{}, fmt.Errorf("scenario %w", err)
	}
	return built{provider: scripted.New(steps, scripted.Clock), name: scriptPrefix + filepath.Base(path)}, nil
}

// readScenario reads a file a person named; it may be a pipe, but not without an
// end.
func readScenario(path string) ([]byte, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	data, err := io.ReadAll(io.LimitReader(f, discover.SourceLimit+1))
	if err == nil && len(data) > discover.SourceLimit {
		err = fmt.Errorf("%s has more than %d bytes", path, discover.SourceLimit)
	}
	return data, err
}

// sees tells whether the model of a full name takes images; those in a file of steps
// and the demo do, as they take all.
func (m *models) sees(name string) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, b := range m.made {
		if b.name == name {
			return b.model.ID == "" || b.model.Sees()
		}
	}
	return false
}

// think lowers a level to what the model has.
func (b built) think(level string) (string, string, error) {
	if level == "" {
		return "", "", nil
	}
	want, err := model.ParseLevel(level)
	if err != nil {
		return "", "", err
	}
	if b.model.ID == "" {
		return level, "", nil
	}
	have, note := b.model.Think(want)
	return string(have), note, nil
}

var _ bind.Models = (*models)(nil)

// Check resolves a model for a plugin, and reads the level.
func (m *models) Check(name, thinking string) error {
	b, err := m.byPlugin(name)
	if err == nil {
		_, _, err = b.think(thinking)
	}
	return err
}

// List returns the models of models.json that can be asked.
func (m *models) List() []bind.ModelInfo {
	return slices.DeleteFunc(m.all(), func(i bind.ModelInfo) bool { return i.Unusable != "" })
}

// all returns the models of models.json.
func (m *models) all() []bind.ModelInfo {
	var list []bind.ModelInfo
	for _, k := range m.known {
		name := k.Name
		if name == "" {
			name = k.ID
		}
		list = append(list, bind.ModelInfo{
			ID: k.FullName(), Name: name, Provider: k.Provider,
			InputCost: k.Cost.Input, OutputCost: k.Cost.Output, Reasoning: k.Reasoning,
			Unusable: unusable(k),
		})
	}
	return list
}

// Ask answers one question of a plugin, out of the session's purse.
func (m *models) Ask(ctx context.Context, plugin string, q bind.Question) bind.Reply {
	if _, why := m.purse.Over(); why != "" {
		return bind.Reply{Err: errors.New(why), Stop: chat.StopError}
	}
	b, err := m.byPlugin(q.Model)
	if err != nil {
		return bind.Reply{Err: err, Stop: chat.StopError}
	}
	level, _, err := b.think(q.Thinking)
	if err != nil {
		return bind.Reply{Err: err, Stop: chat.StopError}
	}
	var reply provider.Reply
	provider.Guarded(b.provider).Stream(ctx, provider.Request{
		System: q.System, Messages: q.Messages, Model: b.name, Thinking: level, MaxTokens: q.MaxTokens,
	}, func(e provider.Event) { reply.Take(e) })
	message := reply.Message()
	r := bind.Reply{Text: message.Text(), Stop: message.Stop, Err: reply.Err()}
	if message.Usage != nil {
		r.Usage = *message.Usage
	}
	m.purse.Spend(r.Usage)
	m.mu.Lock()
	m.asked[plugin] += r.Usage.Cost
	m.mu.Unlock()
	if ctx.Err() != nil && errors.Is(r.Err, provider.ErrCut) {
		// The provider said nothing more since it was told to stop.
		r.Err, r.Stop = context.Cause(ctx), chat.StopAborted
	}
	return r
}

// costOf is what a plugin's questions cost so far, in US dollars.
func (m *models) costOf(plugin string) float64 {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.asked[plugin]
}

// Models lists the models of models.json for people, those that cannot be used too.
func Models(o Options) ([]bind.ModelInfo, error) {
	m := newModels(o.withDefaults(), agent.NewPurse(agent.Caps{}))
	return m.all(), m.faults
}
