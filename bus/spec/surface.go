package spec

import (
	"context"
	"fmt"
	"path"
	"slices"
	"sync"

	"starling/bus"
)

// Surface is an interactive panel, status or overlay: a small app of model,
// update and view.
type Surface struct {
	Name      string
	Placement map[string]any // plain data, see surfaces.ParsePlacement
	// Model outlives the panel; nil begins with an empty one.
	Model *Model
	// Update handles one message, a dict of its kind and fields, and stores the new
	// model where there is one, before it returns: what else changes the model then
	// waits for it, or is seen by it. When it fails it stores nothing. May be nil.
	Update func(ctx context.Context, model *Model, msg map[string]any) ([]Ask, error)
	// View returns the widget tree (a text, for a status) as plain data; nil closes
	// the surface. host are keys laid over the model; may be empty.
	View func(ctx context.Context, model any, host map[string]any) (tree any, err error)
	Tick bool // wants the message tick, every 250 ms
}

// Ask is what an update asks of the host.
type Ask struct {
	Kind    AskKind
	Text    string // of prompt
	Name    string // of send
	Payload any    // of send, plain data
}

// AskKind is what is asked.
type AskKind string

// The kinds. A message that is sent goes to the surface that asked.
const (
	AskConsume AskKind = "consume"       // the key was used: the host does nothing with it
	AskRelease AskKind = "release_focus" // the input of the session has the keys again
	AskPrompt  AskKind = "prompt_with"
	AskSend    AskKind = "send"
)

// Model is what the host keeps for a surface: one value that is replaced and never
// changed. It is safe for concurrent use.
type Model struct {
	mu      sync.Mutex
	value   any
	version uint64
	raised  uint64
	stored  bool
	watch   map[*func()]struct{}
}

// NewModel returns a model that begins with this value: plain data or a Payload.
func NewModel(start any) *Model { return &Model{value: start} }

// Load returns the value and its version, which moves with each Store.
func (m *Model) Load() (value any, version uint64) {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.value, m.version
}

// Stored tells whether anything was stored besides the start.
func (m *Model) Stored() bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.stored
}

// Begin sets the value a panel starts with; it does not count as stored.
func (m *Model) Begin(value any) { m.put(value, false) }

// Store replaces the value and tells whoever watches.
func (m *Model) Store(value any) { m.put(value, true) }

func (m *Model) put(value any, stored bool) {
	m.mu.Lock()
	m.value = value
	m.version++
	m.stored = m.stored || stored
	var heard []func()
	for f := range m.watch {
		heard = append(heard, *f)
	}
	m.mu.Unlock()
	for _, f := range heard {
		f()
	}
}

// Raise has a dialog that a person left come back with what is stored next: somebody ran
// a command or a tool that shows it.
func (m *Model) Raise() {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.raised++
}

// Raised moves with each Raise.
func (m *Model) Raised() uint64 {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.raised
}

// Watch has f called after each change, on the goroutine that made it; f must not
// block. The function it returns ends that.
func (m *Model) Watch(f func()) (stop func()) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.watch == nil {
		m.watch = map[*func()]struct{}{}
	}
	key := &f
	m.watch[key] = struct{}{}
	return func() {
		m.mu.Lock()
		defer m.mu.Unlock()
		delete(m.watch, key)
	}
}

// Render draws tool calls of a plugin's own in the transcript. Both functions
// return a widget tree as plain data, or nil for none; each may be nil.
type Render struct {
	Tool string // a name, or a pattern with "*" and "?"
	// Call gets id, name and arguments.
	Call func(ctx context.Context, call map[string]any) (tree any, err error)
	// Result gets those and content, is_error and details.
	Result func(ctx context.Context, result map[string]any) (tree any, err error)
}

// Validate tells whether Tool is a pattern that can match.
func (r Render) Validate() error {
	if _, err := path.Match(r.Tool, "x"); err != nil || r.Tool == "" {
		return fmt.Errorf("%q is no tool name and no pattern such as \"git_*\"", r.Tool)
	}
	return nil
}

// Matches tells whether the calls of a tool are drawn by it.
func (r Render) Matches(tool string) bool {
	ok, err := path.Match(r.Tool, tool)
	return ok && err == nil
}

// Surfaces is what stands under the key "surfaces": the registry of surfaces, the
// one of renders, and the service that shows them to plugins.
type Surfaces struct {
	*Registry[Surface]
	Renders *Registry[Render]

	mu      sync.Mutex
	service Service
}

// NewSurfaces returns the registries of that name in the store.
func NewSurfaces(store *bus.Store, name string) *Surfaces {
	return &Surfaces{Registry: NewRegistry[Surface](store, name), Renders: NewRegistry[Render](store, name+", renders")}
}

// Serve sets who answers Methods and Call; nil answers with nothing again.
func (s *Surfaces) Serve(service Service) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.service = service
}

// Service returns what Serve was given.
func (s *Surfaces) Service() Service {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.service
}

// surfaceMethods are those of the service, which is there in every mode.
var surfaceMethods = []string{"list", "send", "tree"}

// Methods returns those of the service.
func (s *Surfaces) Methods() []string { return slices.Clone(surfaceMethods) }

// Call runs one method of the service. Where nothing shows surfaces there are none to
// list, and what is sent is lost.
func (s *Surfaces) Call(ctx context.Context, method string, args []any, kwargs map[string]any) (any, error) {
	service := s.Service()
	switch {
	case service != nil:
		return service.Call(ctx, method, args, kwargs)
	case !slices.Contains(surfaceMethods, method):
		return nil, fmt.Errorf("there is no method %q; it is list, send or tree", method)
	case method == "list":
		return []any{}, nil
	}
	return nil, nil
}
