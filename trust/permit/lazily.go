package permit

import (
	"regexp"
	"sync"
)

// lazily compiles a regular expression at its first use: a process that reads no
// rule does not wait for it.
func lazily(text string) func() *regexp.Regexp {
	return sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(text) })
}
