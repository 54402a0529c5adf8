//go:build darwin || dragonfly || freebsd || linux || netbsd || openbsd

package journal_test

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"pgregory.net/rapid"

	"starling/script/journal"
)

// told is what is open in a journal, newest first; "!" marks the innermost.
func told(deaths []journal.Death) string {
	var all []string
	for _, d := range deaths {
		mark := ""
		if d.Innermost {
			mark = "!"
		}
		all = append(all, d.Plugin+":"+d.What+mark)
	}
	return strings.Join(all, " ")
}

// left is what a death of this process right now would leave.
func left(t interface {
	Helper()
	Fatal(...any)
}, j *journal.Journal,
) []journal.Death {
	t.Helper()
	data, err := os.ReadFile(j.Path())
	if err != nil {
		t.Fatal(err)
	}
	return journal.DeathsIn(data)
}

func files(t *testing.T, dir string) []string {
	t.Helper()
	names, err := filepath.Glob(filepath.Join(dir, "*"))
	if err != nil {
		t.Fatal(err)
	}
	return names
}

func TestEntries(t *testing.T) {
	j := journal.MustOpen(t, t.TempDir())
	step := func(want string) {
		t.Helper()
		if got := told(left(t, j)); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
	step("")
	before := time.Now()
	alpha := j.Enter("alpha", "agent/tool-call")
	step("alpha:agent/tool-call!")
	if when := left(t, j)[0].When; when.Before(before.Round(0)) || when.After(time.Now().Round(0)) {
		t.Errorf("entered %v, after %v", when, before)
	}
	beta := j.EnterFrom(alpha, "beta", "service shell")
	step("beta:service shell! alpha:agent/tool-call")
	gamma := j.Enter("gamma", "tick")
	step("gamma:tick! beta:service shell! alpha:agent/tool-call")
	// Two calls out of one are both at work.
	delta := j.EnterFrom(alpha, "delta", "x")
	step("delta:x! gamma:tick! beta:service shell! alpha:agent/tool-call")
	delta.Leave()
	delta.Leave()
	gamma.Leave()
	step("beta:service shell! alpha:agent/tool-call")
	// A call that ended while what came out of it goes on hides nobody.
	epsilon := j.EnterFrom(beta, "epsilon", "x")
	beta.Leave()
	step("epsilon:x! alpha:agent/tool-call")
	epsilon.Leave()
	alpha.Leave()
	step("")
}

// Leaving twice must not end the call that got the slot meanwhile.
func TestLeaveTwice(t *testing.T) {
	j := journal.MustOpen(t, t.TempDir())
	first := j.Enter("first", "x")
	first.Leave()
	second := j.Enter("second", "x")
	first.Leave()
	if got := told(left(t, j)); got != "second:x!" {
		t.Errorf("got %q", got)
	}
	second.Leave()
}

func TestNames(t *testing.T) {
	for _, c := range []struct{ plugin, what, want string }{
		{"", "", ":!"},
		{"дрозд", "tool 漢字", "дрозд:tool 漢字!"},
		{"alpha", strings.Repeat("x", 300), "alpha:" + strings.Repeat("x", 211) + "!"},
		{"alpha", strings.Repeat("ж", 300), "alpha:" + strings.Repeat("ж", 105) + "!"},
		{strings.Repeat("n", journal.MaxName), strings.Repeat("x", 300), strings.Repeat("n", journal.MaxName) + ":" + strings.Repeat("x", 56) + "!"},
		// A name cut short could be another plugin's.
		{strings.Repeat("n", journal.MaxName+1), "x", ""},
	} {
		j := journal.MustOpen(t, t.TempDir())
		e := j.Enter(c.plugin, c.what)
		if got := told(left(t, j)); got != c.want {
			t.Errorf("%s %s: got %q, want %q", c.plugin, c.what, got, c.want)
		}
		e.Leave()
	}
}

func TestFullTable(t *testing.T) {
	j := journal.MustOpen(t, t.TempDir())
	entries := make([]journal.Entry, journal.Slots)
	for i := range entries {
		entries[i] = j.Enter(fmt.Sprint("p", i), "x")
	}
	over := j.EnterFrom(entries[0], "over", "x")
	if n := len(left(t, j)); n != journal.Slots {
		t.Fatalf("%d slots are taken", n)
	}
	entries[9].Leave()
	// What comes out of a call that found no slot came out of the one before it.
	after := j.EnterFrom(over, "after", "x")
	deaths := left(t, j)
	if deaths[0].Plugin != "after" || !deaths[0].Innermost {
		t.Errorf("newest is %+v", deaths[0])
	}
	if last := deaths[len(deaths)-1]; last.Plugin != "p0" || last.Innermost {
		t.Errorf("oldest is %+v", last)
	}
	over.Leave()
	if n := len(left(t, j)); n != journal.Slots {
		t.Errorf("leaving a call that is not there left %d", n)
	}
	for _, e := range append(entries, after) {
		e.Leave()
	}
	if got := left(t, j); len(got) > 0 {
		t.Errorf("left %v", got)
	}
}

func TestBlamed(t *testing.T) {
	at := time.Unix(1, 0)
	got := journal.Blamed([]journal.Death{
		{"shell", "service", at, true},
		{"caller", "tool", at, false},
		{"todos", "tick", at, true},
		{"shell", "older", at, true},
	})
	if told(got) != "shell:service! todos:tick!" {
		t.Errorf("got %v", told(got))
	}
	if journal.Blamed(nil) != nil {
		t.Error("nobody died")
	}
}

func TestNoJournal(t *testing.T) {
	j, deaths, err := journal.Open("")
	if j != nil || deaths != nil || err != nil {
		t.Fatalf("%v %v %v", j, deaths, err)
	}
	e := j.EnterFrom(j.Enter("alpha", "x"), "beta", "x")
	e.Leave()
	journal.Entry{}.Leave()
	if err := j.Close(); err != nil {
		t.Error(err)
	}
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if j, _, err := journal.Open(filepath.Join(file, "below")); j != nil || err == nil || !strings.HasPrefix(err.Error(), "journal of running plugins: ") {
		t.Errorf("a folder that cannot be: %v %v", j, err)
	}
}

func TestClose(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "made", "on the way")
	j := journal.MustOpen(t, dir)
	if names := files(t, dir); len(names) != 1 || !strings.HasPrefix(filepath.Base(names[0]), fmt.Sprintf("journal-%d-", os.Getpid())) {
		t.Errorf("files %v", names)
	}
	stays := j.Enter("alpha", "x")
	if err := j.Close(); err != nil {
		t.Error(err)
	}
	if names := files(t, dir); len(names) > 0 {
		t.Errorf("files %v", names)
	}
	late := j.Enter("late", "x")
	stays.Leave()
	late.Leave()
	if err := j.Close(); err != nil {
		t.Error(err)
	}
}

// A slot that was written by halves blames nobody and hides nobody.
func TestTornSlot(t *testing.T) {
	j := journal.MustOpen(t, t.TempDir())
	alpha := j.Enter("alpha", "one")
	beta := j.Enter("beta", "two")
	whole, err := os.ReadFile(j.Path())
	if err != nil {
		t.Fatal(err)
	}
	for at := range 40 + len("alphaone") {
		data := slices.Clone(whole)
		data[at] ^= 0x5a
		if got := told(journal.DeathsIn(data)); got != "beta:two!" {
			t.Errorf("byte %d changed: %q", at, got)
		}
	}
	for size := range 2 * journal.SlotSize {
		want := ""
		if size >= journal.SlotSize {
			want = "alpha:one!"
		}
		if got := told(journal.DeathsIn(whole[:size])); got != want {
			t.Errorf("cut at %d: %q", size, got)
		}
	}
	alpha.Leave()
	beta.Leave()
}

// Pages that cannot be written any more end the journal, not the process.
func TestCutShort(t *testing.T) {
	j := journal.MustOpen(t, t.TempDir())
	e := j.Enter("alpha", "x")
	if err := os.Truncate(j.Path(), 0); err != nil {
		t.Fatal(err)
	}
	j.Enter("beta", "x").Leave()
	if !j.Off() {
		t.Error("the journal goes on without its pages")
	}
	j.Enter("gamma", "x").Leave()
	e.Leave()
}

// The journal lists exactly the calls that were entered and not left, and blames
// those that none of the others came out of.
func TestJournalProperty(t *testing.T) {
	dir := t.TempDir()
	rapid.Check(t, func(t *rapid.T) {
		j, _, err := journal.Open(dir)
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = j.Close() }()
		type open struct {
			journal.Entry
			name  string
			outer string
		}
		var stack []open // oldest first
		for n := range rapid.IntRange(0, 40).Draw(t, "steps") {
			if len(stack) > 0 && rapid.IntRange(0, 2).Draw(t, "leave") == 0 {
				i := rapid.IntRange(0, len(stack)-1).Draw(t, "which")
				gone := stack[i]
				if slices.ContainsFunc(stack, func(o open) bool { return o.outer == gone.name }) {
					continue // TestEntries has what ends too early
				}
				gone.Leave()
				stack = slices.Delete(stack, i, i+1)
				continue
			}
			o := open{name: fmt.Sprint("p", n)}
			if len(stack) > 0 && rapid.Bool().Draw(t, "nested") {
				from := stack[rapid.IntRange(0, len(stack)-1).Draw(t, "from")]
				o.outer = from.name
				o.Entry = j.EnterFrom(from.Entry, o.name, "x")
			} else {
				o.Entry = j.Enter(o.name, "x")
			}
			stack = append(stack, o)
		}
		var want []journal.Death
		for _, o := range slices.Backward(stack) {
			waits := slices.ContainsFunc(stack, func(other open) bool { return other.outer == o.name })
			want = append(want, journal.Death{Plugin: o.name, What: "x", Innermost: !waits})
		}
		if got := told(left(t, j)); got != told(want) {
			t.Fatalf("got %s, want %s", got, told(want))
		}
	})
}

func TestConcurrent(t *testing.T) {
	j := journal.MustOpen(t, t.TempDir())
	var wg sync.WaitGroup
	for g := range 100 { // more than there are slots
		wg.Go(func() {
			name := fmt.Sprint("plugin", g)
			for range 200 {
				outer := j.Enter(name, "tool")
				inner := j.EnterFrom(outer, name, "service")
				inner.Leave()
				outer.Leave()
			}
		})
	}
	for range 20 {
		for _, d := range left(t, j) {
			if !strings.HasPrefix(d.Plugin, "plugin") || d.What != "tool" && d.What != "service" {
				t.Errorf("read %+v", d)
			}
		}
	}
	wg.Wait()
	if got := left(t, j); len(got) > 0 {
		t.Errorf("left %v", told(got))
	}
	all := make([]journal.Entry, journal.Slots)
	for i := range all {
		all[i] = j.Enter("last", "x")
	}
	if n := len(left(t, j)); n != journal.Slots {
		t.Errorf("a slot was lost: %d are there", n)
	}
}

// Closing while calls come and go neither faults nor leaves a file.
func TestCloseMeanwhile(t *testing.T) {
	dir := t.TempDir()
	for range 20 {
		j := journal.MustOpen(t, dir)
		var wg sync.WaitGroup
		for range 4 {
			wg.Go(func() {
				for range 50 {
					j.Enter("alpha", "x").Leave()
				}
			})
			wg.Go(func() {
				if err := j.Close(); err != nil {
					t.Error(err)
				}
			})
		}
		wg.Wait()
	}
	if names := files(t, dir); len(names) > 0 {
		t.Errorf("files %v", names)
	}
}

// Whatever bytes of a file are wrong, nobody is named who was not in it.
func TestTornProperty(t *testing.T) {
	j := journal.MustOpen(t, t.TempDir())
	j.EnterFrom(j.Enter("alpha", "x"), "beta", "y")
	j.Enter("gamma", "z")
	whole, err := os.ReadFile(j.Path())
	if err != nil {
		t.Fatal(err)
	}
	used := 3 * journal.SlotSize
	rapid.Check(t, func(t *rapid.T) {
		data := slices.Clone(whole[:rapid.IntRange(0, used).Draw(t, "size")])
		hurt := map[int]bool{}
		for range rapid.IntRange(0, 4).Draw(t, "edits") {
			at := rapid.IntRange(0, used-1).Draw(t, "at")
			if rapid.Bool().Draw(t, "in the head") {
				at = at/journal.SlotSize*journal.SlotSize + at%16 // seq, sum and lengths
			}
			if at < len(data) {
				data[at] = rapid.Byte().Draw(t, "byte")
				hurt[at/journal.SlotSize] = true
			}
		}
		deaths := journal.DeathsIn(data)
		known := told(left(t, j))
		for _, d := range deaths {
			if name := d.Plugin + ":" + d.What; !strings.Contains(known, name) {
				t.Fatalf("%q was never entered", name)
			}
		}
		if unhurt := len(data)/journal.SlotSize - len(hurt); len(deaths) < unhurt {
			t.Fatalf("%d of %d that are whole: %v", len(deaths), unhurt, told(deaths))
		}
		if len(deaths) > 0 && len(journal.Blamed(deaths)) == 0 {
			t.Fatalf("of %v nobody is blamed", deaths)
		}
	})
}

func BenchmarkEnter(b *testing.B) {
	j := journal.MustOpen(b, b.TempDir())
	b.Run("one", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			j.Enter("wordcount", "agent/tool-call").Leave()
		}
	})
	b.Run("parallel", func(b *testing.B) {
		b.ReportAllocs()
		b.RunParallel(func(pb *testing.PB) {
			for pb.Next() {
				j.Enter("wordcount", "agent/tool-call").Leave()
			}
		})
	})
}
