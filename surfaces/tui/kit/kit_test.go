package kit_test

import (
	"strings"
	"testing"

	"github.com/gdamore/tcell/v2"
	"github.com/rivo/tview"
	"pgregory.net/rapid"

	"starling/bus/view"
	"starling/surfaces"
	"starling/surfaces/tui/kit"
)

var anyText = rapid.OneOf(
	rapid.StringMatching(`[a-z \[\]]{0,60}`),
	rapid.StringMatching(`[a-z漢字한éשل 👩‍👧\x{0301}\x{200d}\x{fe0f}🇩🇪]{0,40}`),
)

// Lines are not wider than asked for, and together they are the text but for spaces at
// the breaks.
func TestWrapProperty(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text := view.Clean(anyText.Draw(t, "text"))
		width := rapid.IntRange(1, 30).Draw(t, "width")
		var chopped []string
		for _, p := range kit.ChopPieces(text, width) {
			chopped = append(chopped, p.Text)
		}
		for name, lines := range map[string][]string{"wrap": kit.Wrap(text, width), "chop": chopped} {
			for _, line := range lines {
				if _, rest, _ := kit.Cluster(line); kit.Width(line) > width && rest != "" {
					t.Fatalf("%s: %q is %d wide, more than %d", name, line, kit.Width(line), width)
				}
			}
			if got := strings.Join(lines, ""); name == "chop" && got != text {
				t.Fatalf("chop lost something: %q", got)
			} else if strings.ReplaceAll(got, " ", "") != strings.ReplaceAll(text, " ", "") {
				t.Fatalf("%s lost something: %q of %q", name, got, text)
			}
		}
	})
}

func TestClipProperty(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text := view.CleanLine(anyText.Draw(t, "text"))
		width := rapid.IntRange(0, 30).Draw(t, "width")
		got := kit.Clip(text, width, "…")
		if kit.Width(got) > width {
			t.Fatalf("%q is wider than %d", got, width)
		}
		if kit.Width(text) <= width && got != text && width > 0 {
			t.Fatalf("%q was cut to %q", text, got)
		}
		head, rest := kit.Cut(text, width)
		if head+rest != text {
			t.Fatalf("cut into %q and %q", head, rest)
		}
	})
}

// Widths are those of the library that draws.
func TestWidthIsTheScreens(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text := view.CleanLine(anyText.Draw(t, "text"))
		if got, want := kit.Width(text), tview.TaggedStringWidth(tview.Escape(text)); got != want {
			t.Fatalf("%q is %d wide, drawn %d", text, got, want)
		}
	})
}

func TestPut(t *testing.T) {
	screen := tcell.NewSimulationScreen("UTF-8")
	if err := screen.Init(); err != nil {
		t.Fatal(err)
	}
	defer screen.Fini()
	screen.SetSize(10, 2)
	for _, c := range []struct {
		text        string
		width, want int
		row         string
	}{
		{"abc", 10, 3, "abc"},
		{"[red]x[-]", 10, 9, "[red]x[-]"},
		{"漢字漢字漢字", 5, 4, "漢字"},
		{"e\u0301a", 2, 2, "e\u0301a"},
		{"", 5, 0, ""},
		{"abc", 0, 0, ""},
	} {
		kit.Fill(screen, kit.Rect{W: 10, H: 1}, " ", tcell.StyleDefault)
		if got := kit.Put(screen, 0, 0, c.width, c.text, tcell.StyleDefault); got != c.want {
			t.Errorf("%q took %d cells, want %d", c.text, got, c.want)
		}
		var row strings.Builder
		for x := 0; x < 10; {
			text, _, w := screen.Get(x, 0)
			row.WriteString(text)
			x += max(w, 1)
		}
		if got := strings.TrimRight(row.String(), " "); got != c.row {
			t.Errorf("%q is drawn as %q", c.text, got)
		}
	}
}

func TestChord(t *testing.T) {
	for _, c := range []struct {
		key  tcell.Key
		r    rune
		mods tcell.ModMask
		want string
	}{
		{tcell.KeyRune, 'a', 0, "a"},
		{tcell.KeyRune, 'A', tcell.ModShift, "A"},
		{tcell.KeyRune, ' ', 0, "space"},
		{tcell.KeyRune, 'x', tcell.ModAlt, "alt+x"},
		{tcell.KeyEnter, '\r', 0, "enter"},
		{tcell.KeyEnter, '\r', tcell.ModShift, "shift+enter"},
		{tcell.KeyEnter, '\r', tcell.ModAlt, "alt+enter"},
		{tcell.KeyEnter, '\r', tcell.ModAlt | tcell.ModCtrl, "alt+enter"},
		{tcell.KeyCtrlJ, 0, tcell.ModCtrl, "ctrl+j"},
		{tcell.KeyF6, 0, 0, "f6"},
		{tcell.KeyF12, 0, tcell.ModShift, "shift+f12"},
		{tcell.KeyBacktab, 0, tcell.ModShift, "backtab"},
		{tcell.KeyBacktab, 0, 0, "backtab"},
		{tcell.KeyTab, 0, tcell.ModShift, "backtab"},
		{tcell.KeyPgUp, 0, 0, "pageup"},
		{tcell.KeyUp, 0, tcell.ModCtrl | tcell.ModAlt | tcell.ModShift, "ctrl+alt+shift+up"},
	} {
		if got := kit.Chord(tcell.NewEventKey(c.key, c.r, c.mods)); got != c.want {
			t.Errorf("%v %q %v is %q, want %q", c.key, c.r, c.mods, got, c.want)
		}
	}
}

// Every name of a style has a look of its own, or at least emphasis where there is no
// colour; themes know each other apart.
func TestThemes(t *testing.T) {
	for _, name := range kit.ThemeNames() {
		th, err := kit.NewTheme(name)
		if err != nil {
			t.Fatal(err)
		}
		for _, style := range surfaces.StyleNames() {
			s, err := surfaces.ParseStyle(style)
			if err != nil {
				t.Fatal(err)
			}
			fg, bg, _ := th.Style(s).Decompose()
			if name == "none" && (fg != tcell.ColorDefault || bg != tcell.ColorDefault) {
				t.Errorf("none has a colour for %s", style)
			}
			if name != "none" && th.Style(s) == th.Style(0) {
				t.Errorf("%s: %s looks like plain text", name, style)
			}
		}
		if fg, bg, attrs := th.Mark.Decompose(); fg == tcell.ColorDefault && bg == tcell.ColorDefault && attrs == 0 {
			t.Errorf("%s: what is marked looks like the rest", name)
		}
	}
	if _, err := kit.NewTheme("blue"); err == nil || !strings.Contains(err.Error(), "dark, light or none") {
		t.Errorf("an unknown theme: %v", err)
	}
}

// Signs of one name take the same cells in both sets where they stand in a column.
func TestSigns(t *testing.T) {
	for _, g := range []*kit.Signs{kit.SignsFor(false), kit.SignsFor(true)} {
		for _, sign := range append([]string{g.Call, g.Failed, g.Good, g.Bar, g.Prompt, g.Shell, g.Dot, g.Across, g.Down, g.Fold, g.Open, g.On, g.Off}, append(g.Spinner, g.Steps...)...) {
			if kit.Width(sign) != 1 {
				t.Errorf("%q is %d cells wide", sign, kit.Width(sign))
			}
			for _, r := range sign {
				if g.ASCII && r >= 0x7f {
					t.Errorf("%q is no ASCII", sign)
				}
			}
		}
	}
	for _, c := range []struct {
		vars map[string]string
		want bool
	}{
		{nil, false},
		{map[string]string{"LANG": "C"}, true},
		{map[string]string{"LANG": "de_DE.UTF-8"}, false},
		{map[string]string{"LANG": "de_DE.UTF-8", "LC_ALL": "POSIX"}, true},
		{map[string]string{"LANG": "C", "LC_CTYPE": "C.utf8"}, false},
	} {
		if got := kit.ASCIILocale(func(k string) string { return c.vars[k] }); got != c.want {
			t.Errorf("%v: %v", c.vars, got)
		}
	}
}
