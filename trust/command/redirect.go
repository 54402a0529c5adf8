package command

import (
	"strings"

	"mvdan.cc/sh/v3/syntax"

	"starling/bus/spec"
)

// redirect reads one redirection and says what it gives to the command.
func (r *reader) redirect(red *syntax.Redirect, st *state) {
	from := len(r.out.Parts)
	r.inner(red.Word, st)
	switch red.Op {
	case syntax.Hdoc, syntax.DashHdoc:
		r.hereDocument(red, st)
		return
	case syntax.WordHdoc:
		v := r.value(red.Word, st)
		st.in = input{kind: inputUnknown}
		if v.known || v.glob {
			st.in = input{kind: inputText, text: v.text}
		}
		st.in.download = r.downloads(from, len(r.out.Parts))
		for _, name := range v.vars {
			st.in.download = st.in.download || r.tainted[name]
		}
		p := Part{Kind: Redirect, Words: []Word{{Text: "<<<", Known: true}, v.word()}, Dir: st.dir, Risk: spec.RiskRead, Why: "text for the command"}
		r.add(p, note{})
		return
	}
	v := r.value(red.Word, st)
	op := red.Op.String()
	if red.N != nil {
		op = red.N.Value + op
	}
	if (red.Op == syntax.DplOut || red.Op == syntax.DplIn) && (isNumber(strings.TrimSuffix(v.text, "-")) || v.is("-")) && v.known {
		r.add(Part{Kind: Redirect, Words: []Word{{Text: op, Known: true}, v.word()}, Dir: st.dir, Free: true, Risk: spec.RiskRead, Why: "joins two streams"}, note{})
		return
	}
	p := Part{Kind: Redirect, Words: []Word{{Text: op, Known: true}, v.word()}, Dir: st.dir}
	if reads := red.Op == syntax.RdrIn || red.Op == syntax.DplIn; reads {
		p.Risk, p.Why = spec.RiskRead, "reads a file"
		i := r.add(p, note{})
		st.in = input{kind: inputUnknown}
		r.inputFile(v, st, i)
		return
	}
	p.Risk, p.Why = spec.RiskChange, "writes a file"
	i := r.add(p, note{})
	r.outputFile(v, st, i, red.Op)
}

func isNumber(s string) bool { return s != "" && strings.Trim(s, "0123456789") == "" }

func (r *reader) inputFile(v value, st *state, part int) {
	if v.is("/dev/null") {
		r.free(part, "reads nothing")
		st.in = input{}
		return
	}
	if v.known && (strings.HasPrefix(v.text, "/dev/tcp/") || strings.HasPrefix(v.text, "/dev/udp/")) {
		r.raise(part, spec.RiskNetwork, "it reaches the network")
		st.in.download = true
		return
	}
	if !v.known {
		r.keyGlob(v, st, part)
		r.keyEnds(v, st, part)
	}
	at := r.touch(v, st)
	all := len(at) > 0
	for _, abs := range at {
		r.readFloor(abs, part)
		all = all && r.inside(abs)
		st.in.download = st.in.download || r.fetched[abs]
	}
	if all {
		r.free(part, "reads a file of the workspace")
	}
}

func (r *reader) outputFile(v value, st *state, part int, op syntax.RedirOperator) {
	if v.known && (strings.HasPrefix(v.text, "/dev/tcp/") || strings.HasPrefix(v.text, "/dev/udp/")) {
		r.raise(part, spec.RiskNetwork, "it reaches the network")
		return
	}
	if v.known && strings.HasPrefix(v.text, "/dev/") {
		if at := r.places(st, v.text); len(at) == 1 && strings.HasPrefix(at[0], "/dev/") || v.is("/dev/null") || v.is("/dev/stderr") || v.is("/dev/stdout") {
			if device(v.text) == "" && !strings.HasPrefix(v.text, "/dev/shm/") {
				r.free(part, "writes no file")
				return
			}
		}
	}
	appends := op == syntax.AppOut || op == syntax.AppAll || op == syntax.RdrInOut
	r.writes([]value{v}, st, part, !appends)
}

// hereDocument: a text without substitutions is known.
func (r *reader) hereDocument(red *syntax.Redirect, st *state) {
	v, from := value{known: true}, len(r.out.Parts)
	if red.Hdoc != nil {
		r.inner(red.Hdoc, st)
		v = r.document(red, st)
	}
	st.in = input{kind: inputUnknown}
	if v.known {
		st.in = input{kind: inputText, text: v.text}
	}
	st.in.download = r.downloads(from, len(r.out.Parts))
	for _, name := range v.vars {
		st.in.download = st.in.download || r.tainted[name]
	}
	r.add(Part{
		Kind: Redirect, Words: []Word{{Text: "<<", Known: true}, v.word()}, Dir: st.dir,
		Risk: spec.RiskRead, Why: "text for the command",
	}, note{})
}

// document evaluates the body of a here-document.
func (r *reader) document(red *syntax.Redirect, st *state) value {
	quoted := false
	for _, part := range red.Word.Parts {
		lit, ok := part.(*syntax.Lit)
		quoted = quoted || !ok || strings.Contains(lit.Value, `\`)
	}
	e := evaluation{r: r, st: st}
	e.v.src = r.source(red.Hdoc)
	for _, part := range red.Hdoc.Parts {
		switch p := part.(type) {
		case *syntax.Lit:
			text := p.Value
			if !quoted {
				text = unescapeQuoted(text)
			}
			e.text.WriteString(text)
		case *syntax.ParamExp:
			e.param(p, true)
		default:
			e.unknown(false)
		}
	}
	return e.done()
}

func (r *reader) free(part int, why string) {
	if part < 0 {
		return
	}
	p := &r.out.Parts[part]
	p.Free, p.Risk, p.Why = true, spec.RiskRead, why
}

// receive judges the texts handed to a command: to one that only reads or stores
// what it is given, they cost nothing.
func (r *reader) receive(redirs []*syntax.Redirect, from int) {
	harmless := true
	for i := from; i < len(r.out.Parts); i++ {
		if p := r.out.Parts[i]; p.Kind == Simple && p.Risk != spec.RiskRead && !stores[r.notes[i].program] {
			harmless = false
		}
	}
	if !harmless || len(redirs) == 0 {
		return
	}
	for i := from; i < len(r.out.Parts); i++ {
		p := &r.out.Parts[i]
		if p.Kind == Redirect && strings.HasPrefix(p.Words[0].Text, "<<") {
			p.Free = true
		}
	}
}

// stores are programs that keep or send the text they read and never run it.
var stores = map[string]bool{"tee": true, "git": true, "cp": true, "dd": true, "touch": true, "mkdir": true}

// fetches notes the files that take the output of something that downloads.
func (r *reader) fetches(redirs []*syntax.Redirect, from int, st *state) {
	if !r.downloads(from, len(r.notes)) {
		return
	}
	for _, red := range redirs {
		switch red.Op {
		case syntax.RdrOut, syntax.AppOut, syntax.RdrClob, syntax.RdrAll, syntax.AppAll:
			r.fetchTo(r.value(red.Word, st), st)
		}
	}
}

// fetchTo notes a file as downloaded.
func (r *reader) fetchTo(v value, st *state) {
	if !v.known {
		return
	}
	for _, abs := range r.places(st, v.text) {
		r.fetched[abs] = true
	}
}
