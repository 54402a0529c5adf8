package command

import (
	"os"
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// What a word nobody knows exactly can become at most. Rules go by what is known;
// this is for the question whether uncommitted work may be lost, and for the floor.

// meant are the words that v may stand for: itself, unless it is nothing but
// variables that are not set, or a variable of a loop over known words.
func meant(v value) []value {
	switch {
	case v.known && v.text == "", v.unset && v.text == "":
		return nil // no file has this name
	case v.unset:
		return []value{{text: v.text, src: v.src, known: true, prefix: v.text}}
	case v.choices != nil:
		return v.choices
	}
	return []value{v}
}

// unsetNames are variables of a text that surely have no value: the environment
// has none, and nothing in the text can give them one. Names that bash itself
// gives a value are not written in small letters.
func (r *reader) unsetNames(text string, uses map[string]int) map[string]bool {
	given := map[string]bool{"auto_resume": true, "histchars": true}
	for _, kv := range r.at.Env {
		name, _, _ := strings.Cut(kv, "=")
		if name == "BASH_ENV" || name == "ENV" {
			return nil // a file that is read first may set any
		}
		given[name] = true
	}
	unset := map[string]bool{}
	for name, n := range uses {
		if r.at.Env != nil && !given[name] && smallName(name) && !r.assigned[name] && mentions(text, name) == n {
			unset[name] = true
		}
	}
	return unset
}

func smallName(name string) bool {
	return name != "" && name[0] >= 'a' && name[0] <= 'z' && strings.Trim(name, "abcdefghijklmnopqrstuvwxyz0123456789_") == ""
}

// plainParam tells whether an expansion is the value of a variable and no more.
func plainParam(p *syntax.ParamExp) bool {
	return p.Param != nil && !p.Excl && !p.Length && !p.Width && p.Index == nil && p.Slice == nil && p.Repl == nil && p.Names == 0 && p.Exp == nil
}

// sets tells whether an expansion gives its variable a value: ${x:=y}.
func sets(p *syntax.ParamExp) bool {
	return p.Exp != nil && (p.Exp.Op == syntax.AssignUnset || p.Exp.Op == syntax.AssignUnsetOrNull)
}

// forEach tells the state inside of a for loop what its variable may be.
func (r *reader) forEach(c *syntax.ForClause, inside *state) {
	iter, ok := c.Loop.(*syntax.WordIter)
	if !ok || iter.Name == nil || len(iter.Items) == 0 || !r.loops[iter.Name.Value] {
		return
	}
	list := r.words(iter.Items, inside)
	for _, v := range list {
		if !v.known && r.globFolder(v, inside) == nil || strings.HasPrefix(v.prefix, "-") {
			return
		}
	}
	each := map[string][]value{iter.Name.Value: list}
	for name, values := range inside.each {
		if name != iter.Name.Value {
			each[name] = values
		}
	}
	inside.each = each
}

// choices are the words that a word may become which is a variable of a loop.
func (r *reader) choices(w *syntax.Word, st *state) []value {
	if len(w.Parts) != 1 {
		return nil
	}
	part := w.Parts[0]
	q, quoted := part.(*syntax.DblQuoted)
	if quoted && len(q.Parts) == 1 && !q.Dollar {
		part = q.Parts[0]
	}
	p, ok := part.(*syntax.ParamExp)
	if !ok || !plainParam(p) {
		return nil
	}
	list := st.each[p.Param.Value]
	for _, v := range list {
		if !quoted && !(v.known && v.text != "" && plain(v.text)) {
			return nil // it is split, and may be a pattern once more
		}
	}
	return list
}

// glob is a pattern in the last part of a path.
type glob struct {
	folder  string // absolute, links followed
	pattern string
}

// openLoss is a finding that may be about fewer files than it says: what its
// globs match is looked up when the whole line is read.
type openLoss struct {
	finding int
	names   []string // besides the globs
	globs   []glob
	follow  bool // a file is written through its link
}

// globs are the patterns that v means in the folders it may be in.
func globs(v value, folders []string) []glob {
	out := make([]glob, len(folders))
	for i, folder := range folders {
		out[i] = glob{folder: folder, pattern: v.text[strings.LastIndexByte(v.text, '/')+1:]}
	}
	return out
}

// floorOfGlobs asks for files of the floor among those that match now.
func (r *reader) floorOfGlobs(list []glob, part int) {
	for _, g := range list {
		names, _ := r.matches(g)
		for _, name := range names {
			r.writeFloor(g.folder+"/"+name, part)
		}
	}
}

// closeGlobs puts the files that match in the place of their folder, where
// nothing in the line can make another file that does.
func (r *reader) closeGlobs() {
	if r.out.Unread != "" {
		return
	}
	gone := map[int]bool{}
	for _, o := range r.open {
		f := &r.out.Floor[o.finding]
		if !r.calm(f.Part) {
			continue
		}
		names := slices.Clone(o.names)
		for _, g := range o.globs {
			found, ok := r.matches(g)
			if !ok {
				names = append(names, g.folder)
				continue
			}
			for _, name := range found {
				abs := g.folder + "/" + name
				names = append(names, abs)
				if to := r.at.Resolve(abs); o.follow && to != abs {
					names = append(names, to)
				}
			}
		}
		loss := *f.Loss
		loss.Names, f.Loss, f.Paths = names, &loss, slices.Clone(names)
		slices.Sort(f.Paths)
		gone[o.finding] = len(names) == 0
	}
	i := -1
	r.out.Floor = slices.DeleteFunc(r.out.Floor, func(Finding) bool { i++; return gone[i] })
}

// calm tells whether nothing changes before a part runs, but for files that are
// removed. What stands behind it in the line runs behind it, unless something in
// the line runs twice, later, or beside the rest.
func (r *reader) calm(part int) bool {
	if part < 0 {
		return false
	}
	for i, p := range r.out.Parts {
		if i == part || i > part && !r.tangled {
			continue
		}
		if p.Risk != riskOrder[0] && !r.removesOnly(i) {
			return false
		}
	}
	return true
}

func (r *reader) removesOnly(part int) bool {
	p, name := r.out.Parts[part], r.notes[part].program
	return p.Kind == Simple && !r.shadowed && !r.defined[name] && slices.Contains([]string{"rm", "unlink", "rmdir"}, name) &&
		(p.Words[0].Text == name || systemProgram(p.Words[0].Text))
}

// Bounds of what is looked up for one pattern.
const (
	maxListed  = 20_000
	maxMatched = 1000
)

// matches are at least the names a shell puts in the place of a pattern, whatever
// its options: letters may be of either case, a dot may come first. false: nobody
// can tell.
func (r *reader) matches(g glob) ([]string, bool) {
	const special = "*?[]"
	pattern := strings.ToLower(g.pattern)
	head, tail := pattern, ""
	if i := strings.IndexAny(pattern, special); i >= 0 {
		head, tail = pattern[:i], pattern[strings.LastIndexAny(pattern, special)+1:]
	}
	fits := func(name string) bool {
		name = strings.ToLower(name)
		return strings.HasPrefix(name, head) && strings.HasSuffix(name, tail)
	}
	if strings.Contains(pattern, "**") || strings.HasPrefix(pattern, ".") && (fits(".") || fits("..")) {
		return nil, false // folders below, or above
	}
	all, err := r.content(g.folder)
	if err != nil || len(all) > maxListed {
		return nil, false
	}
	var out []string
	for _, name := range all {
		if fits(name) && (name != ".git" || strings.HasPrefix(pattern, ".")) {
			out = append(out, name)
		}
	}
	slices.Sort(out)
	return out, len(out) <= maxMatched
}

// content is Setting.List, asked once for each folder.
func (r *reader) content(folder string) ([]string, error) {
	if have, ok := r.listed[folder]; ok {
		return have, nil
	}
	names, err := r.at.List(folder)
	if err == nil {
		r.listed[folder] = names
	}
	return names, err
}

func list(folder string) ([]string, error) {
	f, err := os.Open(folder)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return f.Readdirnames(-1)
}
