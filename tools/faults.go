package tools

import (
	"fmt"
	"slices"
	"strings"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"github.com/santhosh-tekuri/jsonschema/v6/kind"
	"golang.org/x/text/language"
	"golang.org/x/text/message"
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

// list turns the tree of a validation error into one line a fault, ordered by
// where it is.
func list(e *jsonschema.ValidationError) []string {
	faults := collect(e)
	slices.Sort(faults)
	return slices.Compact(faults)
}

func collect(e *jsonschema.ValidationError) []string {
	switch k := e.ErrorKind.(type) {
	case *kind.AnyOf:
		return []string{at(e) + "fits none of the alternatives: " + alternatives(e)}
	case *kind.OneOf:
		if len(k.Subschemas) == 0 {
			return []string{at(e) + "fits none of the alternatives: " + alternatives(e)}
		}
		return []string{at(e) + "fits more than one of alternatives that exclude each other"}
	}
	if len(e.Causes) == 0 {
		return []string{at(e) + say(e.ErrorKind)}
	}
	var faults []string
	for _, c := range e.Causes {
		faults = append(faults, collect(c)...)
	}
	return faults
}

func alternatives(e *jsonschema.ValidationError) string {
	var all []string
	for _, c := range e.Causes {
		all = append(all, strings.Join(list(c), " and "))
	}
	return strings.Join(all, "; or ")
}

// at names a place as a path: edits[0].old_text.
func at(e *jsonschema.ValidationError) string {
	var b strings.Builder
	for _, part := range e.InstanceLocation {
		switch {
		case strings.Trim(part, "0123456789") == "":
			b.WriteString("[" + part + "]")
		case b.Len() == 0:
			b.WriteString(part)
		default:
			b.WriteString("." + part)
		}
	}
	if b.Len() == 0 {
		return ""
	}
	return b.String() + ": "
}

// say puts the frequent faults plainly and leaves the rest to the library.
func say(k jsonschema.ErrorKind) string {
	switch k := k.(type) {
	case *kind.Required:
		return "missing " + quoted(k.Missing)
	case *kind.AdditionalProperties:
		return "unknown " + quoted(k.Properties)
	case *kind.Type:
		return fmt.Sprintf("must be %s, got %s", strings.Join(k.Want, " or "), k.Got)
	case *kind.FalseSchema:
		return "is not allowed"
	case *kind.Not:
		return "has a value that is ruled out"
	}
	return k.LocalizedString(message.NewPrinter(language.English))
}

func quoted(names []string) string {
	list := make([]string, len(names))
	for i, n := range names {
		list[i] = fmt.Sprintf("%q", n)
	}
	slices.Sort(list)
	return strings.Join(list, ", ")
}
