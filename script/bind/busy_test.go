package bind_test

import (
	"slices"
	"testing"
)

// The host hears of each call into a plugin, and how many there are: calls one after the
// other are one each time.
func TestBusy(t *testing.T) {
	w := newWorld(t)
	var heard []int
	w.binder.Busy = func(calls int) { heard = append(heard, calls) }
	w.load(map[string]string{"one": `
inject = ["tools"]
def apply(ctx):
    tool("work", "d", {}, lambda args: "done")
`})
	w.active("one")
	heard = nil
	for range 3 {
		if _, err := w.run("work", "{}"); err != nil {
			t.Fatal(err)
		}
	}
	if !slices.Equal(heard, []int{1, 1, 1}) {
		t.Errorf("it heard %v", heard)
	}
}
