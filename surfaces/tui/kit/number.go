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

// Tokens is a number of tokens: "850", "1.2k", "128k", "1M".
func Tokens(n int) string {
	switch {
	case n >= 1_000_000 && n%1_000_000 < 50_000:
		return fmt.Sprintf("%dM", n/1_000_000)
	case n >= 999_500: // else it were 1000k
		return fmt.Sprintf("%.1fM", float64(n)/1e6)
	case n >= 9_950:
		return fmt.Sprintf("%dk", (n+500)/1000)
	case n >= 1000:
		return fmt.Sprintf("%.1fk", float64(n)/1000)
	}
	return strconv.Itoa(n)
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
