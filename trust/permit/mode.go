package permit

import (
	"fmt"
	"slices"
	"strings"
)

// Modes are the modes from the most careful to the least.
var Modes = []Mode{ModePlan, ModeAsk, ModeAutoEdit, ModeYolo}

// ParseMode reads the name of a mode; "" is ModeAsk.
func ParseMode(name string) (Mode, error) {
	switch m := Mode(name); {
	case name == "":
		return ModeAsk, nil
	case slices.Contains(Modes, m):
		return m, nil
	}
	names := make([]string, len(Modes))
	for i, m := range Modes {
		names[i] = string(m)
	}
	return "", fmt.Errorf("there is no mode %q; take one of %s", name, strings.Join(names, ", "))
}
