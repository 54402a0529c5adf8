package golden

import (
	"fmt"
	"os"
	"strings"
	"testing"
)

// judged is a test that only keeps what it is told.
type judged struct {
	testing.TB
	said string
}

func (j *judged) Helper() {}

func (j *judged) Errorf(format string, args ...any) { j.said += fmt.Sprintf(format, args...) }

func (j *judged) Fatal(args ...any) {
	j.said += fmt.Sprint(args...)
	panic(j)
}

// compared is what a test would hear.
func compared(name, got string) string {
	j := new(judged)
	func() {
		defer func() {
			if p := recover(); p != nil && p != j {
				panic(p)
			}
		}()
		Compare(j, name, got)
	}()
	return j.said
}

// What differs, and a file that is not there, fail the test; only -update writes one.
func TestCompare(t *testing.T) {
	t.Chdir(t.TempDir())
	if said := compared("a", "one\n"); !strings.Contains(said, "a.golden") {
		t.Errorf("no file: %q", said)
	}
	if _, err := os.Stat("testdata"); err == nil {
		t.Error("a file was written unasked")
	}
	*update = true
	t.Cleanup(func() { *update = false })
	if said := compared("a", "one\n"); said != "" {
		t.Errorf("written anew: %q", said)
	}
	*update = false
	if said := compared("a", "one\n"); said != "" {
		t.Errorf("the same: %q", said)
	}
	if said := compared("a", "two\n"); !strings.Contains(said, "one") || !strings.Contains(said, "two") {
		t.Errorf("another: %q", said)
	}
}
