package surfaces

import (
	"slices"
	"strings"
)

// Style is how text looks: at most one name of the theme, and emphasis. The zero
// value is plain text. A screen gives the names their colours.
type Style uint16

// The names of the theme, of which a style has one at most.
const (
	Title Style = 1 + iota
	Dim
	Accent
	Good
	Warn
	Bad
	Code

	// Theme masks the name of the theme in a style.
	Theme Style = 0x0f
)

// Emphasis, to be added to a name of the theme.
const (
	Bold Style = 1 << (4 + iota)
	Italic
	Underline
)

// themeNames and emphasisNames are in the order of their constants.
var (
	themeNames    = []string{"title", "dim", "accent", "good", "warn", "bad", "code"}
	emphasisNames = []string{"bold", "italic", "underline"}
)

// StyleNames lists the names a style is made of.
func StyleNames() []string { return slices.Concat(themeNames, emphasisNames) }

// String returns the names in canonical order with a space between; "" is plain.
func (s Style) String() string {
	var names []string
	if i := int(s & Theme); i > 0 && i <= len(themeNames) {
		names = append(names, themeNames[i-1])
	}
	for i, name := range emphasisNames {
		if s&(Bold<<i) != 0 {
			names = append(names, name)
		}
	}
	return strings.Join(names, " ")
}

// With returns the style with the parts of o over it: its name of the theme, where
// it has one, and its emphasis besides.
func (s Style) With(o Style) Style {
	if o&Theme != 0 {
		s &^= Theme
	}
	return s | o
}

// ParseStyle reads names with spaces between, such as "accent bold". An unknown
// name and a second name of the theme are errors that say so.
func ParseStyle(text string) (Style, error) {
	var s Style
	for _, name := range strings.Fields(text) {
		if i := slices.Index(themeNames, name); i >= 0 {
			one := Style(i + 1)
			if s&Theme != 0 && s&Theme != one {
				return 0, failf("%q and %q cannot be one style; choose one of them", s&Theme, name)
			}
			s |= one
			continue
		}
		i := slices.Index(emphasisNames, name)
		if i < 0 {
			return 0, failf("unknown style %s%s", quote(name), orOneOf(name, StyleNames()))
		}
		s |= Bold << i
	}
	return s, nil
}
