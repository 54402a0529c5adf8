package journal

import "testing"

// What the tests must know of the file.
const (
	Slots    = slots
	SlotSize = slotSize
	MaxName  = maxName
)

// DeathsIn reads a journal file.
var DeathsIn = deathsIn

// Path of the file of j.
func (j *Journal) Path() string { return j.pages.file.Name() }

// Off tells whether j gave up or was closed.
func (j *Journal) Off() bool { return j.off.Load() }

// MustOpen opens a journal that begins with no deaths and is closed at the end.
func MustOpen(t testing.TB, dir string) *Journal {
	t.Helper()
	j, deaths, err := Open(dir)
	if err != nil || j == nil || len(deaths) > 0 {
		t.Fatalf("open: %v, %v, %v", j, deaths, err)
	}
	t.Cleanup(func() {
		if err := j.Close(); err != nil {
			t.Error(err)
		}
	})
	return j
}
