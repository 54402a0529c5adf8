package input

import (
	"net/url"
	"path/filepath"
	"slices"
	"strings"
)

// imageEndings are those of files that models see.
var imageEndings = []string{".png", ".jpg", ".jpeg", ".gif", ".webp"}

// droppedImage is the path of an image that a terminal pastes when its file is dropped on
// it: alone, absolute, and quoted in one of the ways terminals have; "" for any other text.
func droppedImage(text string) string {
	path := strings.TrimSpace(text)
	if len(path) > 4096 || strings.ContainsAny(path, "\n\x00") {
		return ""
	}
	if !slices.Contains(imageEndings, strings.ToLower(filepath.Ext(strings.TrimRight(path, `'"`)))) {
		return ""
	}
	switch {
	case strings.HasPrefix(path, "file://"):
		u, err := url.Parse(path)
		if err != nil || u.Host != "" && u.Host != "localhost" {
			return ""
		}
		path = u.Path
	case len(path) > 2 && (path[0] == '\'' || path[0] == '"'):
		if path[len(path)-1] != path[0] {
			return ""
		}
		path = path[1 : len(path)-1]
	default:
		path = unescaped(path)
	}
	if !filepath.IsAbs(path) && !strings.HasPrefix(path, "~/") {
		return ""
	}
	return path
}

// unescaped takes away the backslashes a shell would.
func unescaped(s string) string {
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		if s[i] == '\\' && i+1 < len(s) {
			i++
		}
		b.WriteByte(s[i])
	}
	return b.String()
}

// dropped attaches an image whose path was pasted, once it is known to be there. Until
// then the path stands in the text, and it stays if the file is not there.
func (e *Editor) dropped(text string) {
	path := droppedImage(text)
	if path == "" || e.o.Exists == nil {
		return
	}
	there := false
	e.o.Host.Go(func() { there = e.o.Exists(path) }, func() {
		stands := tidy(text)
		at := strings.LastIndex(e.b.p.text, stands)
		if !there || at < 0 {
			return
		}
		caret, end := e.b.caret, at+len(stands)
		e.b.change(at, end, foldPiece(fileFold(path)).join(plainPiece(" ")))
		switch {
		case caret < at:
			e.b.caret = caret
		case caret > end: // written behind it meanwhile
			e.b.caret += caret - end
		}
		e.changed()
	})
}
