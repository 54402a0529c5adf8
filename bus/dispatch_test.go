package bus_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"starling/bus"
)

// event is the payload of every topic in these tests.
type event struct {
	text    string
	fields  map[string]string
	refused *bus.Refusal
	verdict bus.Verdict
	ran     []string
}

// answer is what their listeners may say.
type answer struct {
	text   string
	field  string
	refuse *bus.Refusal
}

func foldText(e *event, a *answer, by bus.Owner) error {
	if a.text == "ill-formed" {
		return errors.New("ill-formed")
	}
	if a.text != "" {
		e.text = a.text + " by " + by.Name
	}
	return nil
}

func foldFields(e *event, a *answer, by bus.Owner) error {
	if a.field == "" {
		return errors.New("no field")
	}
	if e.fields == nil {
		e.fields = map[string]string{}
	}
	e.fields[a.field] = by.Name
	return nil
}

func refusable(policy bus.Policy) *bus.Topic[event, answer] {
	return bus.NewRefusable("test/refusable", policy,
		func(a *answer) *bus.Refusal { return a.refuse },
		func(e *event, r bus.Refusal) { e.refused = &r },
		foldText)
}

func verdicts(policy bus.Policy) *bus.Topic[event, bus.Verdict] {
	return bus.NewVerdicts("test/verdicts", policy, func(e *event) *bus.Verdict { return &e.verdict })
}

// hall is a bus with listeners named by letters, in static order.
type hall[A any] struct {
	bus      *bus.Bus
	port     bus.Port[event, A]
	count    int
	failures []bus.Failure
}

func newHall[A any](topic *bus.Topic[event, A]) *hall[A] {
	h := &hall[A]{bus: bus.New(bus.NewStore())}
	h.bus.Report = func(_ context.Context, f bus.Failure) { h.failures = append(h.failures, f) }
	h.port = bus.PortOf(h.bus, topic)
	return h
}

func (h *hall[A]) add(l bus.Listener[event, A]) (remove func()) {
	name := string(rune('a' + h.count))
	h.count++
	do := l.Do
	l.Do = func(ctx context.Context, e *event) (*A, error) {
		e.ran = append(e.ran, name)
		return do(ctx, e)
	}
	add, take := h.port.Put(bus.At(bus.ClassHome, 0, name), bus.Owner{UID: uint64(h.count), Name: name}, l)
	h.bus.Store().Commit(add)
	return func() { h.bus.Store().Commit(take) }
}

func (h *hall[A]) says(a *A) {
	h.add(bus.Listener[event, A]{Do: func(context.Context, *event) (*A, error) { return a, nil }})
}

func (h *hall[A]) fails(err error, closed bool) {
	h.add(bus.Listener[event, A]{FailClosed: closed, Do: func(context.Context, *event) (*A, error) {
		if err == nil {
			panic("oops")
		}
		return nil, err
	}})
}

func (h *hall[A]) send() *event {
	e := &event{text: "as sent"}
	h.port.Send(context.Background(), e)
	return e
}

func (h *hall[A]) reported() string {
	var lines []string
	for _, f := range h.failures {
		lines = append(lines, fmt.Sprintf("%s: %v closed=%v off=%v", f.Owner.Name, f.Err, f.Closed, f.Off))
	}
	h.failures = nil
	return strings.Join(lines, "; ")
}

func TestEmit(t *testing.T) {
	h := newHall(bus.NewEmit[event]("test/emit"))
	h.says(nil)
	h.fails(errors.New("bad"), true) // an emit cannot be refused
	h.fails(nil, false)
	h.says(&bus.None{})
	if e := h.send(); strings.Join(e.ran, "") != "abcd" || e.text != "as sent" {
		t.Errorf("ran %v, text %q", e.ran, e.text)
	}
	if got, want := h.reported(), "b: bad closed=false off=false; c: panic: oops closed=false off=false"; got != want {
		t.Errorf("reported %s, want %s", got, want)
	}
}

func TestWaterfall(t *testing.T) {
	h := newHall(bus.NewWaterfall("test/waterfall", foldText))
	h.says(&answer{text: "one"})
	h.add(bus.Listener[event, answer]{Do: func(_ context.Context, e *event) (*answer, error) {
		return &answer{text: "two after " + e.text}, nil
	}})
	h.says(&answer{text: "ill-formed"})
	h.fails(nil, false)
	h.says(nil)
	if e := h.send(); strings.Join(e.ran, "") != "abcde" || e.text != "two after one by a by b" {
		t.Errorf("ran %v, text %q", e.ran, e.text)
	}
	if got, want := h.reported(), "c: ill-formed closed=false off=false; d: panic: oops closed=false off=false"; got != want {
		t.Errorf("reported %s, want %s", got, want)
	}
}

func TestFields(t *testing.T) {
	h := newHall(bus.NewFields("test/fields", foldFields))
	h.says(&answer{field: "x"})
	h.says(&answer{field: "y"})
	h.says(&answer{})
	h.says(&answer{field: "x"})
	e := h.send()
	if len(e.fields) != 2 || e.fields["x"] != "d" || e.fields["y"] != "b" {
		t.Errorf("fields %v", e.fields)
	}
	if got, want := h.reported(), "c: no field closed=false off=false"; got != want {
		t.Errorf("reported %s, want %s", got, want)
	}
}

func TestRefusable(t *testing.T) {
	no := func(why string) *answer { return &answer{refuse: &bus.Refusal{Why: why}} }
	tests := []struct {
		name   string
		policy bus.Policy
		fill   func(*hall[answer])
		text   string
		why    string // "": not refused
		by     string
		report string
	}{
		{"nobody minds", bus.Closed, func(h *hall[answer]) { h.says(nil); h.says(nil) }, "as sent", "", "", ""},
		{
			"the first refusal stands, everybody runs, nothing changes after it", bus.Closed,
			func(h *hall[answer]) {
				h.says(&answer{text: "one"})
				h.says(no("first"))
				h.says(&answer{text: "two"})
				h.says(no("second"))
			}, "one by a", "first", "b", "",
		},
		{
			"a failing listener of a closed topic refuses", bus.Closed,
			func(h *hall[answer]) { h.says(nil); h.fails(errors.New("lost"), false); h.says(no("late")) },
			"as sent", "b failed to decide: lost", "b", "b: lost closed=true off=false",
		},
		{
			"a panic of a listener of a closed topic refuses", bus.Closed,
			func(h *hall[answer]) { h.fails(nil, false) },
			"as sent", "a failed to decide: panic: oops", "a", "a: panic: oops closed=true off=false",
		},
		{
			"a failure after a refusal changes nothing", bus.Closed,
			func(h *hall[answer]) { h.says(no("first")); h.fails(errors.New("lost"), false) },
			"as sent", "first", "a", "b: lost closed=true off=false",
		},
		{
			"an ill-formed rewrite of a closed topic refuses", bus.Closed,
			func(h *hall[answer]) { h.says(&answer{text: "ill-formed"}) },
			"as sent", "a failed to decide: ill-formed", "a", "a: ill-formed closed=true off=false",
		},
		{
			"a failing listener of an open topic does not count", bus.Open,
			func(h *hall[answer]) { h.fails(errors.New("lost"), false); h.says(&answer{text: "one"}) },
			"one by b", "", "", "a: lost closed=false off=false",
		},
		{
			"but one that asked for it does", bus.Open,
			func(h *hall[answer]) { h.fails(errors.New("lost"), true) },
			"as sent", "a failed to decide: lost", "a", "a: lost closed=true off=false",
		},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			h := newHall(refusable(test.policy))
			test.fill(h)
			e := h.send()
			if len(e.ran) != h.count || e.text != test.text {
				t.Errorf("ran %v, text %q, want %q", e.ran, e.text, test.text)
			}
			switch {
			case test.why == "" && e.refused != nil:
				t.Errorf("refused: %+v", e.refused)
			case test.why != "" && (e.refused == nil || e.refused.Why != test.why || e.refused.By.Name != test.by):
				t.Errorf("refusal %+v, want %q by %s", e.refused, test.why, test.by)
			}
			if got := h.reported(); got != test.report {
				t.Errorf("reported %q, want %q", got, test.report)
			}
		})
	}
}

func TestVerdicts(t *testing.T) {
	of := func(kinds ...bus.VerdictKind) func(*hall[bus.Verdict]) {
		return func(h *hall[bus.Verdict]) {
			for _, k := range kinds {
				h.says(&bus.Verdict{Kind: k})
			}
		}
	}
	tests := []struct {
		name   string
		policy bus.Policy
		fill   func(*hall[bus.Verdict])
		want   bus.VerdictKind
		by     string
	}{
		{"nobody", bus.Closed, of(), bus.NoOpinion, ""},
		{"no opinion", bus.Closed, of(bus.NoOpinion, bus.NoOpinion), bus.NoOpinion, ""},
		{"allow", bus.Closed, of(bus.NoOpinion, bus.Allow, bus.Allow), bus.Allow, "b"},
		{"ask is stronger than allow", bus.Closed, of(bus.Allow, bus.Ask, bus.Allow), bus.Ask, "b"},
		{"deny is strongest", bus.Closed, of(bus.Allow, bus.Deny, bus.Ask, bus.Deny), bus.Deny, "b"},
		{"a failure denies", bus.Closed, func(h *hall[bus.Verdict]) { of(bus.Allow)(h); h.fails(errors.New("lost"), false) }, bus.Deny, "b"},
		{"a failure keeps a denial", bus.Closed, func(h *hall[bus.Verdict]) { of(bus.Deny)(h); h.fails(nil, false) }, bus.Deny, "a"},
		{"a failure on an open topic is no opinion", bus.Open, func(h *hall[bus.Verdict]) { h.fails(nil, false); of(bus.Allow)(h) }, bus.Allow, "b"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			h := newHall(verdicts(test.policy))
			test.fill(h)
			e := h.send()
			if e.verdict.Kind != test.want || e.verdict.By.Name != test.by || len(e.ran) != h.count {
				t.Errorf("got %s by %q after %v, want %s by %q", e.verdict.Kind, e.verdict.By.Name, e.ran, test.want, test.by)
			}
		})
	}
}

func TestThreeStrikes(t *testing.T) {
	t.Run("three in a row switch a listener off", func(t *testing.T) {
		h := newHall(bus.NewWaterfall("test/waterfall", foldText))
		h.fails(errors.New("bad"), false)
		h.says(&answer{text: "one"})
		for range 5 {
			if e := h.send(); e.text != "one by b" {
				t.Errorf("text %q", e.text)
			}
		}
		want := "a: bad closed=false off=false; a: bad closed=false off=false; a: bad closed=false off=true"
		if got := h.reported(); got != want {
			t.Errorf("reported %s, want %s", got, want)
		}
		if e := h.send(); strings.Join(e.ran, "") != "b" {
			t.Errorf("ran %v", e.ran)
		}
	})
	t.Run("a good one between starts the count again", func(t *testing.T) {
		h := newHall(bus.NewEmit[event]("test/emit"))
		n := 0
		h.add(bus.Listener[event, bus.None]{Do: func(context.Context, *event) (*bus.None, error) {
			if n++; n%3 != 0 {
				return nil, errors.New("bad")
			}
			return nil, nil
		}})
		for range 12 {
			h.send()
		}
		if n != 12 || len(h.failures) != 8 {
			t.Errorf("ran %d times with %d failures", n, len(h.failures))
		}
	})
	t.Run("a closed topic never switches a guard off", func(t *testing.T) {
		h := newHall(refusable(bus.Closed))
		h.fails(errors.New("lost"), false)
		for i := range 6 {
			if e := h.send(); e.refused == nil {
				t.Errorf("call %d passed", i)
			}
		}
	})
	t.Run("a new load has a clean record", func(t *testing.T) {
		h := newHall(bus.NewEmit[event]("test/emit"))
		bad := bus.Listener[event, bus.None]{Do: func(context.Context, *event) (*bus.None, error) { return nil, errors.New("bad") }}
		remove := h.add(bad)
		for range 4 {
			h.send()
		}
		remove()
		h.add(bad)
		if e := h.send(); strings.Join(e.ran, "") != "b" {
			t.Errorf("ran %v", e.ran)
		}
	})
}

func TestDispatchIsASnapshot(t *testing.T) {
	h := newHall(bus.NewEmit[event]("test/emit"))
	var removeLast func()
	once := false
	h.add(bus.Listener[event, bus.None]{Do: func(context.Context, *event) (*bus.None, error) {
		if !once {
			once = true
			removeLast()
			h.says(nil) // c
		}
		return nil, nil
	}})
	removeLast = h.add(bus.Listener[event, bus.None]{Do: func(context.Context, *event) (*bus.None, error) { return nil, nil }})
	if e := h.send(); strings.Join(e.ran, "") != "ab" {
		t.Errorf("during the change %v ran", e.ran)
	}
	if e := h.send(); strings.Join(e.ran, "") != "ac" {
		t.Errorf("after the change %v ran", e.ran)
	}
	snapshot := h.port.Snapshot()
	h.says(nil) // d
	e := &event{}
	snapshot.Send(context.Background(), e)
	if strings.Join(e.ran, "") != "ac" || !snapshot.Listening() {
		t.Errorf("a kept snapshot ran %v", e.ran)
	}
}

func TestListening(t *testing.T) {
	h := newHall(bus.NewEmit[event]("test/emit"))
	if h.port.Listening() {
		t.Error("listening before anybody subscribed")
	}
	remove := h.add(bus.Listener[event, bus.None]{Do: func(context.Context, *event) (*bus.None, error) { return nil, nil }})
	if !h.port.Listening() {
		t.Error("not listening")
	}
	remove()
	if h.port.Listening() {
		t.Error("listening after the last one left")
	}
}

func TestNotReentrant(t *testing.T) {
	h := newHall(bus.NewEmit[event]("test/notice").NotReentrant())
	other := bus.PortOf(h.bus, bus.NewEmit[event]("test/other"))
	inner, heard := &event{}, 0
	h.add(bus.Listener[event, bus.None]{Do: func(ctx context.Context, _ *event) (*bus.None, error) {
		h.port.Send(ctx, inner)
		other.Send(ctx, inner)
		return nil, errors.New("a failure leaves nothing behind")
	}})
	add, _ := other.Put("x", bus.Owner{}, bus.Listener[event, bus.None]{Do: func(ctx context.Context, e *event) (*bus.None, error) {
		heard++
		h.port.Send(ctx, e) // dropped too: it comes from inside
		return nil, nil
	}})
	h.bus.Store().Commit(add)
	for i := range 2 {
		if e := h.send(); len(e.ran) != 1 || len(inner.ran) != 0 || heard != i+1 {
			t.Errorf("outer %v, inner %v, the other topic %d times", e.ran, inner.ran, heard)
		}
	}
}

func TestBarrierAndGate(t *testing.T) {
	t.Run("a barrier that fails refuses", func(t *testing.T) {
		for _, closed := range []bool{true, false} {
			h := newHall(refusable(bus.Closed))
			h.says(nil)
			h.bus.Barrier = func(context.Context) error {
				if closed {
					return context.Canceled
				}
				return nil
			}
			e := h.send()
			if (e.refused != nil) != closed || (len(e.ran) == 0) != closed {
				t.Errorf("barrier closed %v: refused %+v, ran %v", closed, e.refused, e.ran)
			}
			if closed && (!errors.Is(e.refused.Err, context.Canceled) || e.refused.Why != "the composition did not settle: context canceled") {
				t.Errorf("refusal %+v", e.refused)
			}
		}
	})
	t.Run("an absent guard refuses", func(t *testing.T) {
		h := newHall(verdicts(bus.Closed))
		h.says(&bus.Verdict{Kind: bus.Allow})
		h.bus.Gate = func(topic string) *bus.Refusal {
			return &bus.Refusal{Why: topic + " lacks its guard", By: bus.Owner{Name: "jail"}}
		}
		if e := h.send(); e.verdict.Kind != bus.Deny || e.verdict.Why != "test/verdicts lacks its guard" || e.verdict.By.Name != "jail" {
			t.Errorf("verdict %+v", e.verdict)
		}
	})
	t.Run("other modes ask neither", func(t *testing.T) {
		h := newHall(bus.NewEmit[event]("test/emit"))
		h.says(nil)
		h.bus.Barrier = func(context.Context) error { return errors.New("asked") }
		h.bus.Gate = func(string) *bus.Refusal { t.Error("asked"); return nil }
		if e := h.send(); len(e.ran) != 1 {
			t.Errorf("ran %v", e.ran)
		}
	})
}

func TestTopics(t *testing.T) {
	topic := bus.NewEmit[event]("test/emit").Coalesce()
	if topic.Name() != "test/emit" || topic.Mode() != bus.Emit || topic.Policy() != bus.Open || !topic.Coalesced() {
		t.Errorf("topic %+v", topic)
	}
	var words []string
	for m := bus.Emit; m <= bus.Verdicts; m++ {
		words = append(words, m.String())
	}
	for k := bus.NoOpinion; k <= bus.Deny; k++ {
		words = append(words, k.String())
	}
	if !slices.Equal(words, []string{"emit", "waterfall", "refusable", "fields", "verdicts", "no opinion", "allow", "ask", "deny"}) {
		t.Errorf("words %q", words)
	}
	// Two topics of one name are one event.
	b := bus.New(bus.NewStore())
	one, two := bus.PortOf(b, bus.NewEmit[event]("x/y")), bus.PortOf(b, bus.NewEmit[event]("x/y"))
	add, _ := one.Put("p", bus.Owner{}, bus.Listener[event, bus.None]{})
	b.Store().Commit(add)
	if !two.Listening() {
		t.Error("a second topic of one name is another event")
	}
}

func TestSendToNobodyAllocatesNothing(t *testing.T) {
	ctx := context.Background()
	emit := newHall(bus.NewEmit[event]("test/emit").NotReentrant())
	guard := newHall(refusable(bus.Closed))
	guard.bus.Barrier = func(context.Context) error { return nil }
	guard.bus.Gate = func(string) *bus.Refusal { return nil }
	ask := newHall(verdicts(bus.Closed))
	e := &event{}
	for name, send := range map[string]func(){
		"emit":      func() { emit.port.Send(ctx, e) },
		"listening": func() { emit.port.Listening() },
		"refusable": func() { guard.port.Send(ctx, e) },
		"verdicts":  func() { ask.port.Send(ctx, e) },
		"snapshot":  func() { emit.port.Snapshot().Send(ctx, e) },
	} {
		if n := testing.AllocsPerRun(200, send); n != 0 {
			t.Errorf("%s to nobody allocates %v times", name, n)
		}
	}
}

func BenchmarkSend(b *testing.B) {
	topics := map[string]func(n int) func(){
		"emit": func(n int) func() {
			h := newHall(bus.NewEmit[event]("test/emit"))
			return filled(h, n, nil)
		},
		"refusable": func(n int) func() { return filled(newHall(refusable(bus.Closed)), n, &answer{}) },
		"verdicts":  func(n int) func() { return filled(newHall(verdicts(bus.Closed)), n, &bus.Verdict{Kind: bus.Allow}) },
	}
	for _, mode := range []string{"emit", "refusable", "verdicts"} {
		for _, n := range []int{0, 1, 10, 100} {
			b.Run(fmt.Sprintf("%s/%d", mode, n), func(b *testing.B) {
				send := topics[mode](n)
				b.ReportAllocs()
				for b.Loop() {
					send()
				}
			})
		}
	}
}

// filled returns a dispatch to n listeners that do next to nothing.
func filled[A any](h *hall[A], n int, a *A) func() {
	for i := range n {
		add, _ := h.port.Put(bus.At(bus.ClassHome, i, ""), bus.Owner{}, bus.Listener[event, A]{
			Do: func(context.Context, *event) (*A, error) { return a, nil },
		})
		h.bus.Store().Commit(add)
	}
	ctx, e := context.Background(), &event{}
	return func() { h.port.Send(ctx, e) }
}

// A snapshot can leave out an owner, be compared, and tells who fails closed; a
// port tells who stands.
func TestSnapshotOwners(t *testing.T) {
	s := bus.NewStore()
	port := bus.PortOf(bus.New(s), bus.NewEmit[[]string]("x"))
	put := func(owner bus.Owner, closed bool) (remove bus.Op) {
		add, remove := port.Put(bus.At(bus.ClassHome, 0, owner.Name), owner, bus.Listener[[]string, bus.None]{
			FailClosed: closed,
			Do: func(_ context.Context, e *[]string) (*bus.None, error) {
				*e = append(*e, owner.Name)
				return nil, nil
			},
		})
		s.Commit(add)
		return remove
	}
	a, b := bus.Owner{UID: 1, Name: "a"}, bus.Owner{UID: 2, Name: "b"}
	put(a, false)
	removeB := put(b, true)
	snapshot := port.Snapshot()
	for _, c := range []struct {
		without []bus.Owner
		want    string
	}{{nil, "[a b]"}, {[]bus.Owner{a}, "[b]"}, {[]bus.Owner{a, b}, "[]"}, {[]bus.Owner{{UID: 3, Name: "a"}}, "[a b]"}} {
		var heard []string
		snapshot.Without(c.without...).Send(t.Context(), &heard)
		if fmt.Sprint(heard) != c.want {
			t.Errorf("without %v: %v, want %s", c.without, heard, c.want)
		}
	}
	if snapshot.FailClosed(a) || !snapshot.FailClosed(b) || !port.Stands(a) || !port.Stands(b) {
		t.Error("owners are mixed up")
	}
	if !snapshot.Same(port.Snapshot()) {
		t.Error("nothing changed, and the snapshots differ")
	}
	s.Commit(removeB)
	if snapshot.Same(port.Snapshot()) || port.Stands(b) || !snapshot.FailClosed(b) {
		t.Error("a listener that left is still there, or the snapshot changed")
	}
	put(b, true)
	if snapshot.Same(port.Snapshot()) {
		t.Error("another listener of the same owner counts as the same")
	}
}

func TestChanged(t *testing.T) {
	s := bus.NewStore()
	add, _ := bus.SlotOf[int](s, "n").Put(bus.At(bus.ClassHost, 0, "x"), bus.Owner{}, 1)
	changed := s.Changed()
	if changed != s.Changed() {
		t.Error("two channels for one change")
	}
	select {
	case <-changed:
		t.Error("closed before any commit")
	default:
	}
	s.Commit(add)
	<-changed
	if next := s.Changed(); next == changed {
		t.Error("the channel of a change that was is handed out again")
	}
}
