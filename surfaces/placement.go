package surfaces

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// ValidateName checks the name of a surface: letters, digits, ". _ - :" and spaces
// inside, at most 40 characters.
func ValidateName(name string) error {
	ok := name != "" && utf8.RuneCountInString(name) <= 40 && strings.TrimSpace(name) == name
	for _, r := range name {
		ok = ok && (unicode.IsLetter(r) || unicode.IsDigit(r) || strings.ContainsRune("._-: ", r))
	}
	if !ok {
		return failf("the name %s must be 1 to 40 letters, digits or \". _ - :\"", quote(name))
	}
	return nil
}

// Kind of a placement.
type Kind string

// The kinds.
const (
	Side    Kind = "side"
	Status  Kind = "status"
	Overlay Kind = "overlay"
	Bottom  Kind = "bottom"
)

// Placement is where a surface wants to be. Sizes are in cells, the frame not
// counted; 0 leaves them to the screen, which has the last word anyway.
type Placement struct {
	Kind   Kind
	Side   string // side: "left" or "right"
	Order  int    // side: panels of one side stand in this order
	Width  int    // side, overlay
	Height int    // overlay, bottom
}

// placements are the kinds and the fields of each besides "kind".
var placements = map[Kind][]string{
	Side:    {"side", "width", "order"},
	Status:  {},
	Overlay: {"width", "height"},
	Bottom:  {"height"},
}

// maxCells is the largest size that makes sense on any screen.
const maxCells = 10_000

// ParsePlacement reads the placement of a surface from plain data. Errors name the
// field and, where a name was mistyped, the one that was meant.
func ParsePlacement(v any) (Placement, error) {
	m, err := dict(v)
	if err != nil {
		return Placement{}, failf(`must be a dict such as {"kind": "side", "side": "right"}, not %s`, kindOf(v))
	}
	p := newParser()
	r := p.reader(m)
	kind := Kind(r.name("kind", true, "side", "status", "overlay", "bottom"))
	if r.err != nil {
		return Placement{}, r.err
	}
	out := Placement{Kind: kind}
	r.allow(append([]string{"kind"}, placements[kind]...), string(kind)+" placement")
	switch kind {
	case Side:
		if out.Side = r.name("side", false, "left", "right"); out.Side == "" {
			out.Side = "right"
		}
		out.Order = r.number("order", -maxCells, maxCells, 0)
		out.Width = r.number("width", 1, maxCells, 0)
	case Overlay:
		out.Width = r.number("width", 1, maxCells, 0)
		out.Height = r.number("height", 1, maxCells, 0)
	case Bottom:
		out.Height = r.number("height", 1, maxCells, 0)
	}
	return out, r.err
}
