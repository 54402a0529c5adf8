package tools

import (
	"fmt"
	"strings"
)

// ArgumentError is everything that is wrong with the arguments of one call.
type ArgumentError struct{ Faults []string }

// maxFaults keeps an array of ten thousand wrong items from filling a context.
const maxFaults = 50

func (e *ArgumentError) Error() string {
	if len(e.Faults) == 1 {
		return "bad arguments: " + e.Faults[0]
	}
	var b strings.Builder
	fmt.Fprintf(&b, "bad arguments, %d faults:", len(e.Faults))
	for i, f := range e.Faults {
		if i == maxFaults {
			fmt.Fprintf(&b, "\n- and %d more", len(e.Faults)-i)
			break
		}
		b.WriteString("\n- " + f)
	}
	return b.String()
}
