package markdown

import (
	"maps"
	"slices"
)

// Languages returns the names of the languages that are highlighted, sorted.
func Languages() []string { return slices.Sorted(maps.Keys(languages())) }
