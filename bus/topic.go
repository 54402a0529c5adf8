package bus

import "fmt"

// Mode says what the listeners of a topic may do and how their answers combine.
type Mode int

// The five modes. The law of each is in answers (dispatch.go).
const (
	Emit      Mode = iota // everybody runs, answers are ignored
	Waterfall             // each sees what the one before returned
	Refusable             // everybody runs, the first refusal stands, rewrites before it work as a waterfall
	Fields                // each field of the answer combines by its own rule
	Verdicts              // everybody is asked; deny > ask > allow > no opinion
)

func (m Mode) String() string {
	return [...]string{"emit", "waterfall", "refusable", "fields", "verdicts"}[m]
}

// Policy says what an error of a listener means.
type Policy int

// The failure policies.
const (
	Open   Policy = iota // reported; the value before it is kept
	Closed               // counts as a refusal (as a denial, for verdicts)
)

// None is the answer type of topics whose listeners answer nothing.
type None struct{}

// Refusal is how a listener says no.
type Refusal struct {
	Why  string // for the model and the screen
	Stop bool   // the run ends after this batch
	By   Owner  // filled in by the bus
	Err  error  // set when the refusal stands for a failed listener
}

// Verdict is one opinion on a permission.
type Verdict struct {
	Kind   VerdictKind
	Why    string
	Always bool // remember an allow
	By     Owner
	Err    error // set when the verdict stands for a failed listener
}

// VerdictKind orders opinions by strength.
type VerdictKind int

// The opinions, weakest first.
const (
	NoOpinion VerdictKind = iota
	Allow
	Ask
	Deny
)

func (k VerdictKind) String() string {
	return [...]string{"no opinion", "allow", "ask", "deny"}[k]
}

// Topic describes one event: E is the payload, A what a listener may answer.
// Topics are made by the constructors below and never change.
type Topic[E, A any] struct {
	name      string
	mode      Mode
	policy    Policy
	coalesce  bool
	exclusive bool
	refusal   func(*A) *Refusal
	refuse    func(*E, Refusal)
	fold      func(*E, *A, Owner) error
	verdict   func(*E) *Verdict
}

// Name of the event, such as "agent/tool-call".
func (t *Topic[E, A]) Name() string { return t.name }

// Mode of the event.
func (t *Topic[E, A]) Mode() Mode { return t.mode }

// Policy on failure.
func (t *Topic[E, A]) Policy() Policy { return t.policy }

// Coalesced tells whether a reader that is late may be given only the newest.
func (t *Topic[E, A]) Coalesced() bool { return t.coalesce }

// NewEmit makes a topic whose listeners only look.
func NewEmit[E any](name string) *Topic[E, None] {
	return &Topic[E, None]{name: name, mode: Emit}
}

// Coalesce marks a topic whose events a late reader may skip. It returns t.
func (t *Topic[E, A]) Coalesce() *Topic[E, A] { t.coalesce = true; return t }

// NotReentrant marks a topic whose announcement from inside its own dispatch
// is dropped, so that a listener that causes it cannot loop. It returns t.
func (t *Topic[E, A]) NotReentrant() *Topic[E, A] { t.exclusive = true; return t }

// NewWaterfall makes a topic whose answers change the payload one after
// another. fold applies one answer; its error means the answer was ill-formed
// and did not count.
func NewWaterfall[E, A any](name string, fold func(*E, *A, Owner) error) *Topic[E, A] {
	return &Topic[E, A]{name: name, mode: Waterfall, fold: fold}
}

// NewFields makes a topic whose answers are sets of fields; fold combines each
// by its own rule.
func NewFields[E, A any](name string, fold func(*E, *A, Owner) error) *Topic[E, A] {
	return &Topic[E, A]{name: name, mode: Fields, fold: fold}
}

// NewRefusable makes a topic that can be refused. refusal reads a refusal out
// of an answer (nil: none), refuse writes the first one into the payload, and
// fold, which may be nil, applies a rewrite.
func NewRefusable[E, A any](name string, policy Policy, refusal func(*A) *Refusal, refuse func(*E, Refusal), fold func(*E, *A, Owner) error) *Topic[E, A] {
	return &Topic[E, A]{name: name, mode: Refusable, policy: policy, refusal: refusal, refuse: refuse, fold: fold}
}

// NewVerdicts makes a topic that asks for opinions; at returns where the
// payload keeps the strongest.
func NewVerdicts[E any](name string, policy Policy, at func(*E) *Verdict) *Topic[E, Verdict] {
	return &Topic[E, Verdict]{name: name, mode: Verdicts, policy: policy, verdict: at}
}

// PanicError is a recovered panic of a listener.
type PanicError struct{ Value any }

func (e *PanicError) Error() string { return fmt.Sprintf("panic: %v", e.Value) }
