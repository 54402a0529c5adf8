package kit

import (
	"fmt"
	"strconv"
	"time"
)

// Grouped writes 10000 as "10 000".
func Grouped(n int) string {
	s := strconv.Itoa(n)
	for i := len(s) - 3; i > 0; i -= 3 {
		s = s[:i] + " " + s[i:]
	}
	return s
}

// Elapsed is a time a person reads: "12 s", "3 min 05 s".
func Elapsed(d time.Duration) string {
	s := int(d / time.Second)
	switch {
	case s < 1:
		return fmt.Sprintf("%d ms", d.Milliseconds())
	case s < 60:
		return fmt.Sprintf("%d s", s)
	case s < 3600:
		return fmt.Sprintf("%d min %02d s", s/60, s%60)
	}
	return fmt.Sprintf("%d h %02d min", s/3600, s/60%60)
}
