package kit

import (
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/gdamore/tcell/v2"
)

// Code returns the name of a key as plugins read it ("enter", "f5", or the character)
// and its modifiers in the order ctrl, alt, shift; "" for a key without a name.
func Code(ev *tcell.EventKey) (code string, mods []string) {
	key, mask := ev.Key(), ev.Modifiers()
	switch {
	case key == tcell.KeyRune && ev.Rune() == 0x7f:
		code = "backspace" // behind Escape it comes as a character
	case key == tcell.KeyRune:
		code = string(ev.Rune())
		if code == " " {
			code = "space"
		}
		if utf8.RuneCountInString(code) == 1 && code != "space" {
			mask &^= tcell.ModShift // the character says it
		}
	case names[key] != "":
		code = names[key]
		if key == tcell.KeyBacktab || key == tcell.KeyTab && mask&tcell.ModShift != 0 {
			code, mask = "backtab", mask&^tcell.ModShift // some terminals say the shift, some do not
		}
		if key == tcell.KeyEnter && mask&tcell.ModCtrl != 0 && mask&tcell.ModAlt != 0 {
			mask &^= tcell.ModCtrl // Alt-Enter of old terminals: Escape, then Ctrl-M
		}
	case key >= tcell.KeyF1 && key <= tcell.KeyF12:
		code = "f" + strconv.Itoa(int(key-tcell.KeyF1)+1)
	case key >= tcell.KeyCtrlA && key <= tcell.KeyCtrlZ:
		code, mask = string(rune('a'+int(key-tcell.KeyCtrlA))), mask|tcell.ModCtrl
	case key == tcell.KeyLF: // the byte of Ctrl-J
		code, mask = "j", mask|tcell.ModCtrl
	case key == tcell.KeyCtrlUnderscore, key == tcell.KeyUS:
		code, mask = "_", mask|tcell.ModCtrl
	case key == tcell.KeyCtrlSpace:
		code, mask = "space", mask|tcell.ModCtrl
	}
	if code == "" {
		return "", nil
	}
	for _, m := range []struct {
		mask tcell.ModMask
		name string
	}{{tcell.ModCtrl, "ctrl"}, {tcell.ModAlt, "alt"}, {tcell.ModShift, "shift"}} {
		if mask&m.mask != 0 {
			mods = append(mods, m.name)
		}
	}
	return code, mods
}

// Chord is a key as the key table writes it: "ctrl+j", "alt+enter", "f6", "a".
func Chord(ev *tcell.EventKey) string {
	code, mods := Code(ev)
	if code == "" {
		return ""
	}
	return strings.Join(append(mods, code), "+")
}

var names = map[tcell.Key]string{
	tcell.KeyEnter: "enter", tcell.KeyBackspace: "backspace", tcell.KeyBackspace2: "backspace",
	tcell.KeyTab: "tab", tcell.KeyBacktab: "backtab", tcell.KeyEscape: "esc",
	tcell.KeyUp: "up", tcell.KeyDown: "down", tcell.KeyLeft: "left", tcell.KeyRight: "right",
	tcell.KeyPgUp: "pageup", tcell.KeyPgDn: "pagedown", tcell.KeyHome: "home", tcell.KeyEnd: "end",
	tcell.KeyDelete: "delete", tcell.KeyInsert: "insert",
}
