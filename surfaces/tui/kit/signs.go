package kit

import "strings"

// Signs are the characters drawn besides text.
type Signs struct {
	ASCII                    bool
	Call, Failed, Good, Bar  string // of the transcript
	Prompt, Shell            string // before what is written
	Ellipsis, Dot, Arrow, Up string
	Across, Down             string    // lines
	Corners                  [4]string // upper left, upper right, lower left, lower right
	Joins                    [4]string // a column meeting a line: from below, from above, from the right, from the left
	Fold, Open               string    // closed and opened branches
	On, Off                  string    // full and empty part of a bar
	Steps                    []string  // of a small diagram, lowest first
	Spinner                  []string
}

var (
	unicodeSigns = &Signs{
		Call: "●", Failed: "✗", Good: "✓", Bar: "▌", Prompt: "›", Shell: "!",
		Ellipsis: "…", Dot: "·", Arrow: "↓", Up: "↑",
		Across: "─", Down: "│", Corners: [4]string{"┌", "┐", "└", "┘"}, Joins: [4]string{"┬", "┴", "┤", "├"},
		Fold: "▸", Open: "▾", On: "█", Off: "░",
		Steps:   []string{"▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"},
		Spinner: []string{"⠋", "⠙", "⠹", "⠸", "⠼", "⠴", "⠦", "⠧", "⠇", "⠏"},
	}
	asciiSigns = &Signs{
		ASCII: true,
		Call:  "*", Failed: "x", Good: "+", Bar: "|", Prompt: ">", Shell: "!",
		Ellipsis: "...", Dot: "-", Arrow: "v", Up: "^",
		Across: "-", Down: "|", Corners: [4]string{"+", "+", "+", "+"}, Joins: [4]string{"+", "+", "+", "+"},
		Fold: ">", Open: "v", On: "#", Off: ".",
		Steps:   []string{"_", ".", "-", "=", "+", "*", "%", "#"},
		Spinner: []string{"|", "/", "-", "\\"},
	}
)

// SignsFor returns the signs of a screen: ASCII ones where it shows no others.
func SignsFor(ascii bool) *Signs {
	if ascii {
		return asciiSigns
	}
	return unicodeSigns
}

// ASCIILocale tells whether the locale is not UTF-8, by LC_ALL, LC_CTYPE and LANG. A
// locale nobody set counts as UTF-8.
func ASCIILocale(env func(string) string) bool {
	for _, name := range []string{"LC_ALL", "LC_CTYPE", "LANG"} {
		if v := env(name); v != "" {
			v = strings.ToLower(v)
			return !strings.Contains(v, "utf-8") && !strings.Contains(v, "utf8")
		}
	}
	return false
}
