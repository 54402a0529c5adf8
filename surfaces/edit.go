package surfaces

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"starling/bus/view"
)

// editKey applies one key to the text of an input. used is false for a key that
// means nothing there.
func editKey(w Widget, m Message, multiline bool) (out Widget, used bool) {
	ctrl, alt := slices.Contains(m.Modifiers, "ctrl"), slices.Contains(m.Modifiers, "alt")
	word := ctrl || alt
	begin, end := lineAt(w.Text, w.Caret, multiline)
	switch m.Code {
	case "left":
		if word {
			return w.to(wordBefore(w.Text, w.Caret)), true
		}
		return w.to(before(w.Text, w.Caret)), true
	case "right":
		if word {
			return w.to(wordAfter(w.Text, w.Caret)), true
		}
		return w.to(w.Caret + Cluster(w.Text[w.Caret:])), true
	case "home":
		return w.to(begin), true
	case "end":
		return w.to(end), true
	case "up", "down":
		if to, ok := vertical(w, begin, end, m.Code); multiline && ok {
			return w.to(to), true
		}
		return w, false
	case "backspace":
		from := before(w.Text, w.Caret)
		if word {
			from = wordBefore(w.Text, w.Caret)
		}
		return w.without(from, w.Caret), true
	case "delete":
		return w.without(w.Caret, w.Caret+Cluster(w.Text[w.Caret:])), true
	case "space":
		return w.insert(" "), !word
	case "enter":
		return w.insert("\n"), multiline && !ctrl
	}
	if utf8.RuneCountInString(m.Code) == 0 || slices.Contains(KeyNames(), m.Code) {
		return w, false
	}
	if ctrl && !alt {
		switch m.Code {
		case "a":
			return w.to(begin), true
		case "e":
			return w.to(end), true
		case "k":
			return w.without(w.Caret, end), true
		case "u":
			return w.without(begin, w.Caret), true
		case "w":
			return w.without(wordBefore(w.Text, w.Caret), w.Caret), true
		}
	}
	if word {
		return w, false
	}
	if text := view.CleanLine(m.Code); text != "" {
		return w.insert(text), true
	}
	return w, false
}

// paste puts a text in at the caret: a single line takes line ends as spaces.
func (w Widget) paste(text string, multiline bool) Widget {
	text = view.Clean(strings.ReplaceAll(text, "\r\n", "\n"))
	if !multiline {
		text = view.CleanLine(strings.TrimRight(text, "\n"))
	}
	return w.insert(text)
}

func (w Widget) to(caret int) Widget {
	w.Caret = caret
	return w
}

// insert puts text in, unless the input would be longer than MaxText.
func (w Widget) insert(text string) Widget {
	if len(w.Text)+len(text) > MaxText {
		return w
	}
	w.Text = w.Text[:w.Caret] + text + w.Text[w.Caret:]
	w.Caret += len(text)
	return w
}

func (w Widget) without(from, to int) Widget {
	w.Text = w.Text[:from] + w.Text[to:]
	w.Caret = from
	return w
}

// lineAt returns the bounds of the line the caret is in.
func lineAt(s string, caret int, multiline bool) (begin, end int) {
	if !multiline {
		return 0, len(s)
	}
	begin = strings.LastIndexByte(s[:caret], '\n') + 1
	if end = strings.IndexByte(s[caret:], '\n'); end < 0 {
		return begin, len(s)
	}
	return begin, caret + end
}

// vertical moves the caret one line up or down, as many characters into it.
func vertical(w Widget, begin, end int, code string) (caret int, ok bool) {
	column := 0
	for i := begin; i < w.Caret; i += Cluster(w.Text[i:]) {
		column++
	}
	switch {
	case code == "up" && begin > 0:
		begin, end = lineAt(w.Text, begin-1, true)
	case code == "down" && end < len(w.Text):
		begin, end = lineAt(w.Text, end+1, true)
	default:
		return 0, false
	}
	for ; column > 0 && begin < end; column-- {
		begin += Cluster(w.Text[begin:])
	}
	return min(begin, end), true
}

func isWord(r rune) bool { return unicode.IsLetter(r) || unicode.IsNumber(r) || r == '_' || extends(r) }

func wordBefore(s string, i int) int {
	skip := func(word bool) {
		for i > 0 {
			r, n := utf8.DecodeLastRuneInString(s[:i])
			if isWord(r) != word {
				return
			}
			i -= n
		}
	}
	skip(false)
	skip(true)
	return i
}

func wordAfter(s string, i int) int {
	skip := func(word bool) {
		for i < len(s) {
			r, n := utf8.DecodeRuneInString(s[i:])
			if isWord(r) != word {
				return
			}
			i += n
		}
	}
	skip(false)
	skip(true)
	return i
}
