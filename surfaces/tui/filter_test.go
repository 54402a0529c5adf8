package tui

import (
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// fed returns what goes on to the key decoder and the pastes, for bytes in portions.
func fed(asked bool, portions ...string) (keys string, pastes []string, colour string) {
	f := filter{asked: asked}
	var b strings.Builder
	for _, p := range portions {
		b.Write(f.push([]byte(p)))
	}
	b.Write(f.giveUp())
	return b.String(), f.pasted, f.colour
}

func TestFilter(t *testing.T) {
	both := pasteBegin + pasteEnd
	for _, c := range []struct {
		name, in, keys string
		asked          bool
		pastes         string // joined with "|"
		colour         string
	}{
		{name: "keys", in: "a\x1b[Ab\r", keys: "a\x1b[Ab\r"},
		{name: "a paste", in: "a" + pasteBegin + "x\ry" + pasteEnd + "b", keys: "a" + both + "b", pastes: "x\ny"},
		{name: "line ends", in: pasteBegin + "1\n2\r\n3\r4\r\n\r\n5" + pasteEnd, keys: both, pastes: "1\n2\n3\n4\n\n5"},
		{name: "escape sequences within", in: pasteBegin + "x\x1b[31my\x1b[20z" + pasteEnd, keys: both, pastes: "x\x1b[31my\x1b[20z"},
		{name: "a begin within", in: pasteBegin + "x" + pasteBegin + "y" + pasteEnd, keys: both, pastes: "x" + pasteBegin + "y"},
		{name: "two", in: pasteBegin + "x" + pasteEnd + pasteBegin + pasteEnd, keys: both + both, pastes: "x|"},
		{name: "a stray end", in: pasteEnd + "a", keys: pasteEnd + "a"},
		{name: "no text", in: pasteBegin + "a\xffb" + pasteEnd, keys: both, pastes: "a\ufffdb"},
		{name: "the background, BEL", asked: true, in: "a\x1b]11;rgb:1e1e/1e1e/1e1e\x07b", keys: "ab", colour: "rgb:1e1e/1e1e/1e1e"},
		{name: "the background, ST", asked: true, in: "\x1b]11;rgb:ff/ff/ff\x1b\\b", keys: "b", colour: "rgb:ff/ff/ff"},
		{name: "nobody asked", in: "\x1b]11;rgb:ff/ff/ff\x07", keys: "\x1b]11;rgb:ff/ff/ff\x07"},
		{name: "keys before the answer", asked: true, in: "\x1b[A\x1bx\x1b]11;rgb:0/0/0\x07", keys: "\x1b[A\x1bx", colour: "rgb:0/0/0"},
		{name: "a paste before the answer", asked: true, in: pasteBegin + "\x1b]11;x\x07" + pasteEnd, keys: both, pastes: "\x1b]11;x\a"},
		{name: "two escapes", asked: true, in: "\x1b\x1b[A", keys: "\x1b\x1b[A"},
		{name: "an answer without an end", asked: true, in: "\x1b]11;" + strings.Repeat("x", 80), keys: "\x1b]11;" + strings.Repeat("x", 80)},
	} {
		t.Run(c.name, func(t *testing.T) {
			whole := []string{c.in}
			single := strings.Split(c.in, "")
			if strings.Contains(c.in, "\xff") {
				single = whole
			}
			for _, portions := range [][]string{whole, single} {
				keys, pastes, colour := fed(c.asked, portions...)
				if keys != c.keys || strings.Join(pastes, "|") != c.pastes || colour != c.colour {
					t.Errorf("in %d portions: keys %q, pastes %q, colour %q", len(portions), keys, pastes, colour)
				}
			}
		})
	}
}

// However bytes are cut, the filter comes to the same; what is typed outside pastes
// comes through byte by byte.
func TestFilterPortions(t *testing.T) {
	piece := rapid.SampledFrom([]string{
		"a", "\r", "\n", "\x1b", "[", "2", "0", "1", "~", "]", "1;", ";", "\x07", "\\", "é",
		pasteBegin, pasteEnd, "\x1b]11;rgb:1/2/3\x07", "\x1b[A",
	})
	rapid.Check(t, func(rt *rapid.T) {
		in := strings.Join(rapid.SliceOfN(piece, 0, 40).Draw(rt, "in"), "")
		asked := rapid.Bool().Draw(rt, "asked")
		keys, pastes, colour := fed(asked, in)
		var portions []string
		for rest := in; rest != ""; {
			n := rapid.IntRange(1, len(rest)).Draw(rt, "n")
			portions = append(portions, rest[:n])
			rest = rest[n:]
		}
		k, p, c := fed(asked, portions...)
		if k != keys || strings.Join(p, "\x00") != strings.Join(pastes, "\x00") || c != colour {
			rt.Fatalf("%q in %q: keys %q and %q, pastes %q and %q, colour %q and %q", in, portions, keys, k, pastes, p, colour, c)
		}
		if !asked && !strings.Contains(in, pasteBegin) && keys != in {
			rt.Fatalf("%q comes through as %q", in, keys)
		}
	})
}

func TestColours(t *testing.T) {
	for reply, want := range map[string]string{
		"rgb:ffff/ffff/ffff": "light", "rgb:1e1e/1e1e/1e1e": "dark", "rgb:ff/ff/f0": "light", "rgb:0/0/0": "dark",
		"rgba:ffff/ffff/ffff/ffff": "light", "rgb:ff/ff": "", "red": "", "rgb:/f/f": "", "rgb:x/y/z": "",
	} {
		light, ok := lightColour(reply)
		if got := named(light, ok); got != want {
			t.Errorf("%q is %q, want %q", reply, got, want)
		}
	}
	for value, want := range map[string]string{"0;15": "light", "15;0": "dark", "0;default;15": "light", "15;8": "dark", "": "", "x": "", "0;7": "light"} {
		light, ok := lightByEnv(value)
		if got := named(light, ok); got != want {
			t.Errorf("COLORFGBG %q is %q, want %q", value, got, want)
		}
	}
	for _, c := range []struct {
		want, no, fgbg, name string
		ask                  bool
	}{
		{name: "dark", ask: true},
		{fgbg: "0;15", name: "light", ask: true},
		{want: "light", name: "light"},
		{want: "light", no: "1", name: "none"},
	} {
		name, ask := themeName(c.want, func(k string) string { return map[string]string{"NO_COLOR": c.no, "COLORFGBG": c.fgbg}[k] })
		if name != c.name || ask != c.ask {
			t.Errorf("%+v: %q, %v", c, name, ask)
		}
	}
}

func named(light, ok bool) string {
	switch {
	case !ok:
		return ""
	case light:
		return "light"
	}
	return "dark"
}

func FuzzFilter(f *testing.F) {
	f.Add([]byte(pasteBegin+"a\x1b[201"), []byte("~b"), true)
	f.Add([]byte("\x1b]11;rgb:"), []byte("0/0/0\x07"), true)
	f.Fuzz(func(t *testing.T, a, b []byte, asked bool) {
		keys, pastes, _ := fed(asked, string(a), string(b))
		whole, all, _ := fed(asked, string(a)+string(b))
		if keys != whole || strings.Join(pastes, "\x00") != strings.Join(all, "\x00") {
			t.Errorf("cut at %d: %q and %q, whole %q and %q", len(a), keys, pastes, whole, all)
		}
	})
}

// A pasted text cannot end its own paste, send itself or press a key: what lies between
// the first beginning and the last end of what came at once is text, and where a read was
// full, what comes with the next.
func TestPasteCannotEndItself(t *testing.T) {
	both := pasteBegin + pasteEnd
	long := strings.Repeat("x", full)
	for name, c := range map[string]struct {
		reads  []string
		keys   string
		pastes string // joined with "|"
	}{
		"Enter":               {[]string{pasteBegin + "!touch x" + pasteEnd + "\r" + pasteEnd}, both, "!touch x\n"},
		"a key":               {[]string{pasteBegin + "a" + pasteEnd + "\x07b" + pasteEnd}, both, "a\x07b"},
		"another beginning":   {[]string{pasteBegin + "a" + pasteEnd + "\r" + pasteBegin + "b" + pasteEnd}, both, "a\n" + pasteBegin + "b"},
		"an end in an end":    {[]string{pasteBegin + "a\x1b[20" + pasteEnd + "1~\r" + pasteEnd}, both, "a\n"},
		"across reads":        {[]string{pasteBegin + long + pasteEnd + "\r", "more" + pasteEnd}, both, long + "\nmore"},
		"across three":        {[]string{pasteBegin + long + pasteEnd + "\r", long, pasteEnd}, both, long + "\n" + long},
		"a mark that is cut":  {[]string{pasteBegin + "a\x1b[20", "1~\r" + pasteEnd}, both, "a\n"},
		"a key behind it":     {[]string{pasteBegin + "go" + pasteEnd + "\r"}, both + "\r", "go"},
		"a key, a long paste": {[]string{pasteBegin + long, "go" + pasteEnd + "\r"}, both + "\r", long + "go"},
		"an end alone":        {[]string{"a" + pasteEnd + "b" + pasteEnd}, "a" + pasteEnd + "b" + pasteEnd, ""},
	} {
		var f filter
		keys := ""
		for _, r := range c.reads {
			keys += string(f.read([]byte(r)))
		}
		if keys != c.keys || strings.Join(f.pasted, "|") != c.pastes || f.pasting {
			t.Errorf("%s: keys %q, pastes %.40q", name, keys, f.pasted)
		}
	}
	// A key behind a paste that filled its read waits for more, and is text if none comes.
	var f filter
	f.read([]byte(pasteBegin + long + pasteEnd + "\r"))
	if f.finish(); strings.Join(f.pasted, "|") != long+"\n" {
		t.Errorf("%.40q", f.pasted)
	}
}

// However a text without marks is read, the paste is that text.
func TestPasteInReads(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		text := strings.Repeat(rapid.SampledFrom([]string{"a", "bc\n", "\x1b[A", "\x1b[20"}).Draw(rt, "piece"), rapid.IntRange(0, 5000).Draw(rt, "times"))
		rest := pasteBegin + text + pasteEnd
		var f filter
		keys := ""
		for rest != "" {
			n := rapid.IntRange(1, len(rest)).Draw(rt, "n")
			keys += string(f.read([]byte(rest[:n])))
			rest = rest[n:]
		}
		if keys != pasteBegin+pasteEnd || len(f.pasted) != 1 || f.pasted[0] != text {
			rt.Fatalf("keys %q, %d pastes of %d bytes", keys, len(f.pasted), len(text))
		}
	})
}
