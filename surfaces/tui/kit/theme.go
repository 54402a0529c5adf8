package kit

import (
	"fmt"

	"github.com/gdamore/tcell/v2"

	"starling/surfaces"
)

// Theme gives the names of styles their looks. It is never changed and may be shared.
type Theme struct {
	Name  string // dark, light or none
	names [8]tcell.Style

	Border tcell.Style // of columns and rules
	Focus  tcell.Style // border of the part that has the keys
	Mark   tcell.Style // the selected line of a list, and what the mouse selected
	Person tcell.Style // the bar beside what a person said
	Shell  tcell.Style // the border while a ! command is written
}

// ThemeNames are the themes there are.
func ThemeNames() []string { return []string{"dark", "light", "none"} }

// NewTheme returns a theme by name; "none" uses no colour. The error of an unknown
// name lists those there are.
func NewTheme(name string) (*Theme, error) {
	for _, known := range ThemeNames() {
		if name == known {
			return newTheme(name), nil
		}
	}
	return nil, fmt.Errorf("there is no theme %q: take dark, light or none", name)
}

// palette of one background, as 24-bit colours; tcell takes the nearest where a
// terminal has fewer.
type palette struct{ accent, good, warn, bad, code, dim, border, mark int32 }

var palettes = map[string]palette{
	"dark":  {accent: 0x6cb6ff, good: 0x7fc97f, warn: 0xe5b567, bad: 0xf07178, code: 0xc3a6e0, dim: 0x8a8f98, border: 0x50555e, mark: 0x2f3a4a},
	"light": {accent: 0x0550ae, good: 0x1a7f37, warn: 0x8a5a00, bad: 0xb42318, code: 0x6f42c1, dim: 0x667085, border: 0xb0b5bd, mark: 0xd6e4f7},
}

func newTheme(name string) *Theme {
	plain := tcell.StyleDefault
	t := &Theme{Name: name}
	for i := range t.names {
		t.names[i] = plain
	}
	t.names[surfaces.Title] = plain.Bold(true)
	p, coloured := palettes[name]
	if !coloured {
		t.names[surfaces.Dim] = plain.Dim(true)
		t.names[surfaces.Accent] = plain.Bold(true)
		t.names[surfaces.Bad] = plain.Bold(true)
		t.Border, t.Focus = plain.Dim(true), plain.Bold(true)
		t.Mark = plain.Reverse(true)
		t.Person, t.Shell = plain.Bold(true), plain.Bold(true)
		return t
	}
	fg := func(rgb int32) tcell.Style { return plain.Foreground(tcell.NewHexColor(rgb)) }
	t.names[surfaces.Dim] = fg(p.dim)
	t.names[surfaces.Accent] = fg(p.accent)
	t.names[surfaces.Good] = fg(p.good)
	t.names[surfaces.Warn] = fg(p.warn)
	t.names[surfaces.Bad] = fg(p.bad)
	t.names[surfaces.Code] = fg(p.code)
	t.Border, t.Focus = fg(p.border), fg(p.accent)
	t.Mark = plain.Background(tcell.NewHexColor(p.mark))
	t.Person, t.Shell = fg(p.accent), fg(p.bad)
	return t
}

// Style of a text.
func (t *Theme) Style(s surfaces.Style) tcell.Style {
	out := t.names[0]
	if i := int(s & surfaces.Theme); i < len(t.names) {
		out = t.names[i]
	}
	if s&surfaces.Bold != 0 {
		out = out.Bold(true)
	}
	if s&surfaces.Italic != 0 {
		out = out.Italic(true)
	}
	if s&surfaces.Underline != 0 {
		out = out.Underline(true)
	}
	return out
}

// Over puts the background and emphasis of top over a style and keeps its colour.
func Over(base, top tcell.Style) tcell.Style {
	_, bg, attrs := top.Decompose()
	if bg != tcell.ColorDefault {
		base = base.Background(bg)
	}
	_, _, own := base.Decompose()
	return base.Attributes(own | attrs)
}
