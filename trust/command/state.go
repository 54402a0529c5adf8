package command

import (
	"maps"
	"slices"
)

// state is what the shell knows at one point of the line.
type state struct {
	dir  string   // "" when nobody can tell
	also []string // where it may be instead, when a cd failed
	vars map[string]string
	// each are the words that variables of loops around may be; never changed in place.
	each map[string][]value
	// funcs are functions that surely stand here.
	funcs map[string]bool
	// strict: a command that fails ends the line (set -e).
	strict bool
	in     input
}

// input is what a command reads from its standard input.
type input struct {
	kind     inputKind
	text     string // of inputText
	download bool   // it comes from the network
	keys     string // why it may name files of keys
}

type inputKind int

const (
	inputNone    inputKind = iota // the terminal, or nothing
	inputText                     // known text
	inputUnknown                  // from a pipe, a file, a text with substitutions
)

const maxAlso = 4 // folders the shell may be in before nobody can tell

func (st *state) copy() *state {
	c := *st
	c.also = slices.Clone(st.also)
	c.vars = maps.Clone(st.vars)
	c.funcs = maps.Clone(st.funcs)
	return &c
}

// dirs are all folders the shell may be in; none when nobody can tell.
func (st *state) dirs() []string {
	if st.dir == "" {
		return nil
	}
	return append([]string{st.dir}, st.also...)
}

// lost: nobody can tell any more where the shell is.
func (st *state) lost() { st.dir, st.also = "", nil }

// maybe adds folders the shell may be in.
func (st *state) maybe(dirs []string) {
	if st.dir == "" {
		return
	}
	for _, dir := range dirs {
		if dir != st.dir && !slices.Contains(st.also, dir) {
			st.also = append(st.also, dir)
		}
	}
	if len(st.also) > maxAlso {
		st.lost()
	}
}

// join takes in what another way through the line leads to.
func (st *state) join(other *state) {
	if st.dir == "" || other.dir == "" {
		st.lost()
	} else {
		st.maybe(other.dirs())
	}
	for name := range st.funcs {
		if !other.funcs[name] {
			delete(st.funcs, name)
		}
	}
	for name, value := range st.vars {
		if v, ok := other.vars[name]; !ok || v != value {
			delete(st.vars, name)
		}
	}
	st.strict = st.strict && other.strict
}
