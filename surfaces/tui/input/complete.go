package input

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"starling/bus/view"
)

// Kind of a completion.
type Kind int

// The kinds.
const (
	Commands  Kind = iota + 1 // the names after a slash
	Arguments                 // what may follow a name
	Files                     // paths after an @
)

// Request asks for completions of kind Arguments or Files.
type Request struct {
	// Gen is handed back with the answer; an answer to an older one is dropped.
	Gen  int
	Kind Kind
	// Name of the command, for Arguments.
	Name string
	// Text is what was typed so far: after the name, or after the @.
	Text string
}

// Candidate is one line of the list.
type Candidate struct {
	Text string // what is put in
	Help string
	From string // the plugin it comes from
}

// completion is the list above the text.
type completion struct {
	open     bool
	kind     Kind
	from, to int // what a candidate replaces
	query    string
	name     string
	gen      int
	// all are candidates as they came; shown are those that answer the query.
	all      []Candidate
	shown    []Candidate
	mark     int
	moved    bool // the person moved the mark
	top      int
	commands []Candidate
	// refused tells that Esc closed the list: it stays closed while the caret stands in
	// the same place.
	refused bool
}

func (c *completion) close() {
	c.open, c.moved = false, false
	c.gen++ // what is on its way is late
}

// SetCommands sets what a slash offers, in the order to show.
func (e *Editor) SetCommands(commands []view.Command) {
	e.pop.commands = nil
	for _, c := range commands {
		e.pop.commands = append(e.pop.commands, Candidate{
			Text: view.CleanLine(c.Name), Help: view.CleanLine(c.Description), From: view.CleanLine(c.From),
		})
	}
	if e.pop.open && e.pop.kind == Commands {
		e.pop.all = e.pop.commands
		e.pop.filter()
	}
}

// Offer brings candidates for a request. It is false when they came too late.
func (e *Editor) Offer(gen int, candidates []Candidate) bool {
	c := &e.pop
	if gen != c.gen || c.kind != Arguments && c.kind != Files {
		return false
	}
	c.all = nil
	for _, one := range candidates {
		c.all = append(c.all, Candidate{Text: view.CleanLine(one.Text), Help: view.CleanLine(one.Help), From: view.CleanLine(one.From)})
	}
	if c.kind == Files {
		c.show(c.all) // the best of all files, in their order already
		return true
	}
	c.filter()
	return true
}

// filter shows what answers the query.
func (c *completion) filter() {
	var found []Candidate
	for _, i := range rank(c.query, len(c.all), func(i int) string { return c.all[i].Text }) {
		found = append(found, c.all[i])
	}
	if c.kind == Commands && c.query != "" {
		// What begins as typed comes first: /mo is /mode before /memory.
		slices.SortStableFunc(found, func(a, b Candidate) int {
			return rankOf(a, c.query) - rankOf(b, c.query)
		})
	}
	c.show(found)
}

// show opens the list with what is in it, or closes one with nothing.
func (c *completion) show(found []Candidate) {
	c.shown = found
	c.open = len(c.shown) > 0
	if !c.moved {
		c.mark = 0
	}
	c.mark = min(c.mark, max(len(c.shown)-1, 0))
}

func rankOf(c Candidate, query string) int {
	switch {
	case c.Text == query:
		return 0
	case strings.HasPrefix(c.Text, query):
		return 1
	}
	return 2
}

// context finds what the caret stands in.
func (e *Editor) context() (kind Kind, from, to int, name, query string) {
	text, caret := e.b.p.text, e.b.caret
	if strings.HasPrefix(text, "/") {
		end := strings.IndexFunc(text, unicode.IsSpace)
		if end < 0 {
			end = len(text)
		}
		switch word := text[1:end]; {
		case strings.ContainsAny(word, "/"+string(foldMark)): // a path, no command
		case caret <= end && caret > 0:
			return Commands, 1, end, "", text[1:caret]
		case caret > end && end < len(text) && text[end] == ' ' && !strings.ContainsAny(text, "\n"+string(foldMark)):
			return Arguments, end + 1, len(text), word, strings.TrimLeft(text[end+1:caret], " ")
		}
	}
	if at, ok := mentionAt(text, caret); ok {
		end := caret + strings.IndexFunc(text[caret:]+" ", func(r rune) bool { return unicode.IsSpace(r) || r == foldMark })
		return Files, at, end, "", strings.TrimPrefix(text[at+1:caret], `"`)
	}
	return 0, 0, 0, "", ""
}

// complete opens, narrows or closes the list after a change.
func (e *Editor) complete() {
	c := &e.pop
	kind, from, to, name, query := e.context()
	if kind == 0 {
		c.close()
		c.kind, c.refused = 0, false
		return
	}
	if kind != c.kind || from != c.from || name != c.name {
		c.all, c.shown, c.moved, c.mark, c.refused = nil, nil, false, 0, false
	}
	c.kind, c.from, c.to, c.name, c.query = kind, from, to, name, query
	if c.refused {
		return
	}
	c.moved = false
	c.gen++
	if kind == Commands {
		c.all = c.commands
		c.filter()
		return
	}
	c.filter() // of what is there; better ones are on their way
	if e.o.Ask != nil {
		e.o.Ask(Request{Gen: c.gen, Kind: kind, Name: name, Text: query})
	}
}

// moved closes the list when the caret left what it is about.
func (e *Editor) moved() {
	c := &e.pop
	if !c.open && c.kind == 0 {
		return
	}
	if kind, from, _, _, _ := e.context(); kind != c.kind || from != c.from {
		c.close()
		c.kind = 0
	}
}

// openCompletion opens the list anew, after Esc closed it.
func (e *Editor) openCompletion() {
	e.pop.refused = false
	e.complete()
}

// popKey handles the keys of an open list.
func (e *Editor) popKey(chord string) bool {
	c := &e.pop
	if !c.open {
		return false
	}
	switch action := e.o.Keys[chord]; {
	case chord == "esc":
		c.close()
		c.refused = true
	case action == Up:
		c.mark, c.moved = (c.mark+len(c.shown)-1)%len(c.shown), true
	case action == Down:
		c.mark, c.moved = (c.mark+1)%len(c.shown), true
	case chord == "pageup":
		c.mark, c.moved = max(c.mark-popupRows, 0), true
	case chord == "pagedown":
		c.mark, c.moved = min(c.mark+popupRows, len(c.shown)-1), true
	case action == Complete:
		e.accept()
	case action == Attach && c.kind == Files:
		e.attach()
	case action == Send:
		if !e.enterAccepts() {
			c.close()
			return false
		}
		e.accept()
	default:
		return false
	}
	return true
}

// enterAccepts tells whether Enter takes the marked line; else it sends what is
// written: a whole name, or arguments nobody chose from the list.
func (e *Editor) enterAccepts() bool {
	c := &e.pop
	marked := c.shown[c.mark].Text
	switch c.kind {
	case Commands:
		return marked != e.b.p.text[c.from:c.to]
	case Arguments:
		return c.moved && marked != e.b.p.text[c.from:c.to]
	}
	return true
}

// accept puts the marked candidate in.
func (e *Editor) accept() {
	c := &e.pop
	text := c.shown[c.mark].Text
	switch {
	case c.kind == Commands:
		text += " "
	case c.kind == Files && strings.HasSuffix(text, "/"):
		text = "@" + text // a folder: go on
	case c.kind == Files:
		text = Mention(text) + " "
	}
	to := c.to
	if strings.HasSuffix(text, " ") && strings.HasPrefix(e.b.p.text[to:], " ") {
		to++
	}
	refuse := c.kind != Commands && !strings.HasSuffix(text, "/")
	e.b.change(c.from, to, plainPiece(text))
	e.changed()
	if refuse {
		c.close()
	}
}

func (e *Editor) attach() {
	c := &e.pop
	path := c.shown[c.mark].Text
	if strings.HasSuffix(path, "/") {
		e.accept()
		return
	}
	e.b.change(c.from, c.to, foldPiece(fileFold(path)).join(plainPiece(" ")))
	e.changed()
}

// Mention spells a path as it is cited in a text: @path, or @"path" where it has
// spaces.
func Mention(path string) string {
	if strings.ContainsAny(path, " \t") {
		return `@"` + path + `"`
	}
	return "@" + path
}

// opens tells whether an @ begins a path: user@example does not.
func opens(text string, at int) bool {
	r, n := utf8.DecodeLastRuneInString(text[:at])
	return n == 0 || unicode.IsSpace(r) || r == foldMark || strings.ContainsRune("([{'\",:", r)
}

// mentionAt returns where the path the caret stands in begins, with its @.
func mentionAt(text string, caret int) (at int, ok bool) {
	line := strings.LastIndexByte(text[:caret], '\n') + 1
	at = strings.LastIndexByte(text[line:caret], '@')
	if at < 0 {
		return 0, false
	}
	at += line
	typed := text[at+1 : caret]
	if !opens(text, at) || strings.ContainsRune(typed, foldMark) {
		return 0, false
	}
	if rest, quoted := strings.CutPrefix(typed, `"`); quoted {
		return at, !strings.Contains(rest, `"`)
	}
	return at, !strings.ContainsFunc(typed, unicode.IsSpace)
}
