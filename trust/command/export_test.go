package command

import (
	"maps"
	"slices"
)

// ReaderOptions are the options listed of each reading program, as -x or --name,
// with their marks. Programs with the same options stand for each other.
func ReaderOptions() map[string]map[string]string {
	out, seen := map[string]map[string]string{}, map[string]bool{}
	for _, name := range slices.Sorted(maps.Keys(readers())) {
		s := readers()[name]
		if seen[s.opts] && s.opts != "" {
			continue
		}
		seen[s.opts] = true
		t := s.table(name)
		out[name] = maps.Clone(t.longs)
		for c, mark := range t.letters {
			out[name]["-"+string(c)] = mark
		}
	}
	return out
}

// TakesScript tells whether the first operand of a reading program is no file.
func TakesScript(name string) bool { return readers()[name].script != "" }

// NamesOnly tells whether a reading program looks at no contents.
func NamesOnly(name string) bool { s := readers()[name]; return s.names || s.none && name != "date" }

// AnyOption tells whether a reading program takes every word as it is.
func AnyOption(name string) bool { return readers()[name].any }
