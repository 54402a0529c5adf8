package markdown

import (
	"strings"

	"starling/bus/view"
	"starling/surfaces"
)

// frame is what a mark opened.
type frame struct {
	kind  markKind
	url   string
	start int            // in the painted text
	style surfaces.Style // around it
	over  surfaces.Style
	mute  bool
}

// painter puts pieces together to spans.
type painter struct {
	spans []surfaces.Span
	all   strings.Builder // the text of everything
	from  int             // of the last span, in all
	last  surfaces.Style

	style surfaces.Style
	over  surfaces.Style // of a link, over what is inside
	mute  bool           // in an image, whose text has one style
	stack []frame
}

func paint(pieces []piece, style surfaces.Style) []surfaces.Span {
	p := &painter{style: style}
	for i := range pieces {
		e := &pieces[i]
		for range e.closes {
			p.close()
		}
		p.put(e.text, p.style.With(e.style))
		for k := len(e.opens) - 1; k >= 0; k-- {
			p.open(e.opens[k])
		}
	}
	p.flush()
	return p.spans
}

// put writes text. Within an image the style is that of the image.
func (p *painter) put(text string, style surfaces.Style) {
	if text == "" {
		return
	}
	if p.mute {
		style = p.style
	}
	style = style.With(p.over)
	if style != p.last {
		p.flush()
		p.last = style
	}
	p.all.WriteString(text)
}

func (p *painter) flush() {
	// An entity may stand for a sign that steers a terminal.
	text := strings.ReplaceAll(view.Clean(p.all.String()[p.from:]), "\t", "    ")
	p.from = p.all.Len()
	if text != "" {
		p.spans = append(p.spans, surfaces.Span{Text: text, Style: p.last})
	}
}

func (p *painter) open(m mark) {
	f := frame{kind: m.kind, url: m.url, style: p.style, over: p.over, mute: p.mute}
	switch m.kind {
	case markStrike:
		p.put("~~", surfaces.Dim)
	case markImage:
		p.put("[", p.style)
	}
	f.start = p.all.Len()
	p.stack = append(p.stack, f)
	switch m.kind {
	case markImage:
		p.mute = true
	case markLink:
		if !p.mute {
			p.over = surfaces.Accent | surfaces.Underline
		}
	}
	if p.mute {
		return
	}
	switch m.kind {
	case markEmphasis:
		p.style |= surfaces.Italic
	case markStrong:
		p.style |= surfaces.Bold
	case markStrike:
		p.style = p.style.With(surfaces.Dim)
	}
}

func (p *painter) close() {
	f := p.stack[len(p.stack)-1]
	p.stack = p.stack[:len(p.stack)-1]
	p.style, p.over, p.mute = f.style, f.over, f.mute
	switch f.kind {
	case markStrike:
		p.put("~~", surfaces.Dim)
	case markImage:
		text := p.all.String()[f.start:]
		p.put("]", p.style)
		p.target(text, f.url)
	case markLink:
		p.target(p.all.String()[f.start:], f.url)
	}
}

// target shows where a link goes, unless its text says it.
func (p *painter) target(text, url string) {
	if url == "" || url == text || strings.TrimPrefix(url, "mailto:") == text {
		return
	}
	p.put(" ("+url+")", p.style.With(surfaces.Dim))
}
