package transcript

import (
	"bytes"
	"encoding/json"
	"fmt"
	"regexp"
	"strings"

	"starling/bus/view"
	"starling/surfaces"
	"starling/surfaces/tui/kit"
)

// State of a call.
type State int

// The states.
const (
	Running State = iota
	Done
	Failed
	Refused
)

const (
	folded  = 15       // rows of output that are shown before it is folded
	glimpse = 3        // rows of a change that show unasked
	keep    = 64 << 10 // bytes of running output that are kept, from the end
	most    = 1 << 20  // bytes of output that are laid out when it is open
	column  = 6        // cells of the name of a tool
)

// Call is one tool call, or a command of the person, on screen.
type Call struct {
	id, name, summary string // clean
	note              string // at the right: "84 lines", "+12 −3", or why it was refused
	state             State
	output            string // raw while it runs: sequences may be cut in two
	lost              int    // lines of it that are no longer kept
	diff              []surfaces.DiffLine
	base              Depth // how far it is open unasked: Folded or Part
	level             Depth // how far the person opened it with a click
	set               bool  // by a click, since all of them were opened last
	views             []func(l Look) []Row
}

func (c *Call) gapAfter(before block) bool {
	_, same := before.(*Call)
	return !same
}

func (c *Call) depth(l Look) Depth {
	if c.set {
		return c.level
	}
	return min(c.base+l.Open, Whole)
}

// toggle opens the call a step further, and closes it after the last.
func (c *Call) toggle(l Look) {
	now := c.depth(l)
	c.set = true
	if now == Part && !c.more() {
		now = Whole
	}
	c.level = now.next()
}

// more tells whether there is more than a folded call shows.
func (c *Call) more() bool {
	return len(c.diff) > folded || strings.Count(c.output, "\n") >= folded || len(c.output) > folded*80
}

func (c *Call) rows(l Look) []Row {
	out := []Row{c.head(l)}
	limit := 0
	switch depth := c.depth(l); {
	case depth == Part:
		limit = folded
	case depth == Whole:
		limit = 1 << 30
	case len(c.diff) > 0 || c.state == Running:
		limit = glimpse
	}
	switch {
	case len(c.diff) > 0:
		out = append(out, c.change(l, limit)...)
	case limit > 0 && c.output != "":
		out = append(out, c.text(l, limit)...)
	}
	for _, draw := range c.views {
		out = append(out, draw(l)...)
	}
	return out
}

func (c *Call) head(l Look) Row {
	sign, style := l.Signs.Call, surfaces.Good
	switch c.state {
	case Running:
		style = surfaces.Accent
	case Failed, Refused:
		sign, style = l.Signs.Failed, surfaces.Bad
	}
	name := c.name + strings.Repeat(" ", max(column-kit.Width(c.name), 0)) + " "
	room := l.Width - 2 - kit.Width(sign) - 1
	name = kit.Clip(name, room, l.Signs.Ellipsis)
	room -= kit.Width(name)
	note := c.note
	noteStyle := surfaces.Dim
	if c.state == Failed || c.state == Refused {
		noteStyle = surfaces.Bad
	}
	if w := kit.Width(note); w > 0 {
		noteRoom := max(room-kit.Width(c.summary)-2, room/2)
		note = kit.Clip(note, noteRoom, l.Signs.Ellipsis)
	}
	summary := c.summary
	if note != "" {
		summary = kit.Clip(summary, room-kit.Width(note)-2, l.Signs.Ellipsis)
	} else {
		summary = kit.Clip(summary, room, l.Signs.Ellipsis)
	}
	pad := max(room-kit.Width(summary)-kit.Width(note), 0)
	return row(span(" "+sign+" ", style), span(name, surfaces.Bold), span(summary, 0),
		span(strings.Repeat(" ", pad), 0), span(note, noteStyle))
}

// rest says how much of a block is folded.
func rest(l Look, hidden int) Row {
	last := "└"
	if l.Signs.ASCII {
		last = "`"
	}
	r := row(span(kit.Clip(fmt.Sprintf("   %s %s", last, plural(hidden, "more line")), l.Width, l.Signs.Ellipsis), surfaces.Dim))
	if room := l.Width - kit.Width(r.Spans[0].Text); l.More != "" && room > 0 {
		r.Tip = span(kit.Clip(" "+l.Signs.Dot+" "+l.More+" shows more", room, l.Signs.Ellipsis), surfaces.Dim)
	}
	return r
}

func (c *Call) change(l Look, limit int) []Row {
	lines := c.diff
	for len(lines) > 0 && lines[0].Sign == '=' {
		lines = lines[1:]
	}
	hidden := 0
	if limit == glimpse {
		// What is new is what one wants to see first.
		for len(lines) > 0 && lines[0].Sign != '+' && lines[0].Sign != '-' {
			lines = lines[1:]
			hidden++
		}
	}
	if len(lines) > limit+1 {
		hidden += len(lines) - limit
		lines = lines[:limit]
	} else if limit == glimpse {
		hidden = 0
	}
	var out []Row
	for _, d := range lines {
		out = append(out, DiffRow(d, l)...)
	}
	if hidden > 0 {
		out = append(out, rest(l, hidden))
	}
	return out
}

// DiffRow returns the rows of one line of a diff.
func DiffRow(d surfaces.DiffLine, l Look) []Row {
	head := "   " + l.Signs.Down + " "
	n := d.New
	if d.Sign == '-' {
		n = d.Old
	}
	text, style := d.Text, d.Style()
	switch {
	case n > 0:
		text = fmt.Sprintf("%3d %c %s", n, d.Sign, d.Text)
	case d.Sign == '@' || d.Sign == '=':
		text = kit.Clip(text, l.Width-kit.Width(head), l.Signs.Ellipsis)
	}
	var out []Row
	for _, p := range kit.ChopPieces(text, l.Width-kit.Width(head)) {
		out = append(out, pieceRow(p, span(head, surfaces.Dim), span(p.Text, style)))
	}
	return out
}

// text are the rows of output: the last ones while it runs, else the first ones.
func (c *Call) text(l Look, limit int) []Row {
	head := "   " + l.Signs.Down + " "
	width := l.Width - kit.Width(head)
	source, cut := c.output, 0
	if c.state == Running && limit <= folded {
		source = lastLines(source, limit)
		cut = strings.Count(c.output[:len(c.output)-len(source)], "\n")
	} else {
		source, cut = firstLines(source, limit)
	}
	if room := limit * max(width, 1) * 4; limit <= folded && len(source) > room {
		source = source[:boundary(source, room)]
	}
	if len(source) > most {
		at := boundary(source, most)
		cut = strings.Count(source[at:], "\n") + 1
		source, l.More = source[:at], ""
	}
	if c.state == Running {
		source = printed(source)
	}
	style := surfaces.Dim
	lines := kit.ChopPieces(strings.TrimRight(source, "\n"), width)
	if len(lines) > limit {
		lines = lines[:limit]
		cut = max(cut, 1)
	}
	var out []Row
	for _, p := range lines {
		out = append(out, pieceRow(p, span(head, surfaces.Dim), span(p.Text, style)))
	}
	if cut > 0 && c.state != Running {
		out = append(out, rest(l, cut))
	}
	return out
}

// printed is what a terminal would be left with: clean, and of a line that was written
// over again the last one.
func printed(raw string) string {
	if !strings.Contains(raw, "\r") {
		return kit.Clean(raw)
	}
	var b strings.Builder
	for line := range strings.SplitAfterSeq(raw, "\n") {
		text, ended := strings.CutSuffix(line, "\n")
		text = strings.TrimRight(text, "\r")
		b.WriteString(text[strings.LastIndexByte(text, '\r')+1:])
		if ended {
			b.WriteByte('\n')
		}
	}
	return kit.Clean(b.String())
}

// firstLines returns n lines from the beginning and how many are left out.
func firstLines(text string, n int) (string, int) {
	text = strings.TrimRight(text, "\n")
	at := 0
	for i := 0; i < n; i++ {
		j := strings.IndexByte(text[at:], '\n')
		if j < 0 {
			return text, 0
		}
		at += j + 1
	}
	return text[:at], strings.Count(text[at:], "\n") + 1
}

func lastLines(text string, n int) string {
	text = strings.TrimRight(text, "\n")
	end := len(text)
	for i := 0; i < n; i++ {
		j := strings.LastIndexByte(text[:end], '\n')
		if j < 0 {
			return text
		}
		end = j
	}
	return text[end+1:]
}

// Result of a call, as a screen reads it.
type Result struct {
	Content string
	IsError bool
	Details json.RawMessage
}

// details are the fields of built-in tools that show.
type details struct {
	Denied  bool    `json:"denied"`
	By      string  `json:"by"`
	Why     string  `json:"why"`
	Diff    string  `json:"diff"`
	Added   *int    `json:"added"`
	Removed *int    `json:"removed"`
	Total   *int    `json:"total_lines"`
	From    *int    `json:"from_line"`
	To      *int    `json:"to_line"`
	Matches *int    `json:"matches"`
	Files   *int    `json:"files"`
	Entries *int    `json:"entries"`
	Status  *int    `json:"status"`
	Signal  string  `json:"signal"`
	Timeout bool    `json:"timed_out"`
	Stopped bool    `json:"stopped"`
	Elapsed float64 `json:"elapsed_ms"`
	Lines   *int    `json:"lines"`
	Answer  *string `json:"answer"`
}

// end settles a call.
func (c *Call) end(r Result, minus string) {
	c.output = printed(r.Content)
	c.state = Done
	if r.IsError {
		c.state = Failed
	}
	var d details
	if len(r.Details) > 0 && json.Unmarshal(r.Details, &d) != nil {
		d = details{} // of a plugin, in a shape of its own
	}
	c.diff = surfaces.PatchLines(d.Diff)
	switch {
	case d.Denied:
		c.state = Refused
		c.note = kit.RevealLine("blocked by " + d.By + ": " + d.Why)
		if d.By == "" {
			c.note = kit.RevealLine("refused: " + d.Why)
		}
	case r.IsError && d.Status == nil:
		first, rest, _ := strings.Cut(strings.TrimSpace(c.output), "\n")
		if strings.HasSuffix(first, ":") { // what it introduces says more
			next, _, _ := strings.Cut(rest, "\n")
			first += " " + strings.TrimPrefix(strings.TrimSpace(next), "- ")
		}
		c.note = kit.CleanLine(first)
	case d.Answer != nil && *d.Answer != "":
		c.note = kit.RevealLine(*d.Answer)
	case d.Answer != nil:
		c.note = "no answer"
	case d.Timeout:
		c.state, c.note = Failed, "timed out"
	case d.Stopped:
		c.state, c.note = Failed, "stopped"
	case d.Signal != "":
		c.state, c.note = Failed, kit.CleanLine(d.Signal)
	case d.Status != nil && *d.Status != 0:
		c.state, c.note = Failed, fmt.Sprintf("status %d", *d.Status)
	case d.Status != nil && d.Lines != nil && *d.Lines == 0:
		c.note = "no output"
	case d.Status != nil && d.Lines != nil: // without the notes behind the output
		c.note = plural(*d.Lines, "line")
	case d.Added != nil && d.Removed != nil:
		c.note = fmt.Sprintf("+%d %s%d", *d.Added, minus, *d.Removed)
	case d.From != nil && d.To != nil:
		c.note = plural(max(*d.To-*d.From+1, 0), "line")
	case d.Matches != nil:
		c.note = plural(*d.Matches, "match")
		if *d.Matches != 1 {
			c.note = fmt.Sprintf("%d matches", *d.Matches)
		}
	case d.Entries != nil:
		c.note = fmt.Sprintf("%d entries", *d.Entries)
	case d.Files != nil:
		c.note = plural(*d.Files, "file")
	case strings.TrimSpace(c.output) != "":
		c.note = plural(strings.Count(strings.TrimRight(c.output, "\n"), "\n")+1, "line")
	default:
		c.note = ""
	}
}

// Summary is the arguments of a call in one line: the value that tells most, or all
// of them as they are. It ends in "…" where that is not all of it.
func Summary(arguments string) string {
	var m map[string]any
	if json.Unmarshal([]byte(arguments), &m) != nil {
		return kit.RevealLine(brief(flat(arguments)))
	}
	for _, key := range []string{"command", "pattern", "path", "url", "query", "name", "question", "text"} {
		if s, ok := m[key].(string); ok && s != "" {
			line := brief(s)
			if key == "pattern" {
				if p, ok := m["path"].(string); ok && p != "" {
					line += " in " + brief(p)
				}
			}
			return kit.RevealLine(line)
		}
	}
	if len(m) == 0 {
		return ""
	}
	return kit.RevealLine(brief(flat(arguments)))
}

// flat are arguments as they are, without the lines they are laid out in.
func flat(arguments string) string {
	var b bytes.Buffer
	if strings.Contains(arguments, "\n") && json.Compact(&b, []byte(arguments)) == nil {
		arguments = b.String()
	}
	return view.ReadableJSON(arguments)
}

// blanks are the signs of a text that draw nothing and only set apart.
var blanks = regexp.MustCompile(`[ \t\x{3000}]{2,}`)

// brief is the first line of a text with single blanks, and "…" behind it where that is
// not all of it: behind many blanks, the rest would be out of sight.
func brief(text string) string {
	text = strings.Trim(text, " \t\n")
	begins := head(text)
	first, _, more := strings.Cut(begins, "\n")
	line := strings.TrimRight(blanks.ReplaceAllString(first, " "), " \t")
	if more || len(begins) < len(text) || len(line) < len(first) {
		line += " …"
	}
	return line
}

// head is as much of a text as one line may need.
func head(s string) string {
	if len(s) > 2000 {
		return s[:boundary(s, 2000)]
	}
	return s
}

// NoteOf says in a few words what came of a call.
func NoteOf(r Result, ascii bool) (note string, failed bool) {
	minus := "−"
	if ascii {
		minus = "-"
	}
	var c Call
	c.end(r, minus)
	return c.note, c.state != Done
}
