package fs

import (
	"regexp/syntax"
	"slices"
	"unicode"
	"unicode/utf8"
)

// automaton finds lines in which a pattern may match, byte by byte and each byte
// once. It takes the borders of words and lines for nothing and every character
// beyond ASCII for every other, so it finds all lines that match and some that do
// not. Its states are made as texts need them. One goroutine uses it.
type automaton struct {
	prog  *syntax.Prog
	empty bool // the pattern matches everywhere
	// next holds 256 entries a state: the next state, unmade or may.
	next   []int32
	states map[string]int32
	sets   [][]uint32 // by state: the instructions that wait for a byte, sorted
	start  []uint32

	mark []bool // of a closure that is being made
}

const (
	unmade int32 = 0
	may    int32 = -1 // the line may match
	first  int32 = 1  // at the start of a line
	// maxStates bounds the memory, 1 KiB a state. What would need more is said to match.
	maxStates = 1000
	// maxProg is the longest program for which an automaton is made.
	maxProg = 2000
)

// program is what automata of a pattern are made of; nil when it is too long.
func program(tree *syntax.Regexp) *syntax.Prog {
	prog, err := syntax.Compile(tree.Simplify())
	if err != nil || len(prog.Inst) > maxProg {
		return nil
	}
	return prog
}

func newAutomaton(prog *syntax.Prog) *automaton {
	a := &automaton{prog: prog, states: map[string]int32{}, next: make([]int32, 256), sets: [][]uint32{nil}, mark: make([]bool, len(prog.Inst))}
	set, found := a.closure(nil, uint32(prog.Start))
	a.start, a.empty = a.sorted(set), found
	a.state(a.start)
	return a
}

// seek returns a place at or behind from, the start of a line, in the first line
// that may match; -1 when none does.
func (a *automaton) seek(text []byte, from int) int {
	if a.empty {
		return from
	}
	s, next := first, a.next
	for i := from; i < len(text); i++ {
		n := next[int(s)<<8|int(text[i])]
		if n <= unmade {
			if n == unmade {
				n = a.step(s, text[i])
				next = a.next
			}
			if n == may {
				return i
			}
		}
		s = n
	}
	return -1
}

// step makes the transition of a state by a byte.
func (a *automaton) step(s int32, b byte) int32 {
	n := first
	if b != '\n' {
		var set []uint32
		found := false
		for _, pc := range a.sets[s] {
			inst := &a.prog.Inst[pc]
			switch {
			case b < utf8.RuneSelf && !inst.MatchRune(rune(b)), b >= utf8.RuneSelf && !wide(inst):
				continue
			case b >= utf8.RuneSelf && !a.mark[pc]: // more bytes of the character may follow
				a.mark[pc] = true
				set = append(set, pc)
			}
			var hit bool
			set, hit = a.closure(set, inst.Out)
			found = found || hit
		}
		for _, pc := range a.start {
			if !a.mark[pc] {
				a.mark[pc] = true
				set = append(set, pc)
			}
		}
		if set = a.sorted(set); found {
			n = may
		} else {
			n = a.state(set)
		}
	}
	a.next[int(s)<<8|int(b)] = n
	return n
}

// closure adds the instructions that are reached without a byte; true when one of
// them is a match.
func (a *automaton) closure(set []uint32, pc uint32) ([]uint32, bool) {
	found := false
	for todo := []uint32{pc}; len(todo) > 0; {
		pc := todo[len(todo)-1]
		todo = todo[:len(todo)-1]
		if a.mark[pc] {
			continue
		}
		a.mark[pc] = true
		set = append(set, pc)
		switch inst := &a.prog.Inst[pc]; inst.Op {
		case syntax.InstAlt, syntax.InstAltMatch:
			todo = append(todo, inst.Out, inst.Arg)
		case syntax.InstCapture, syntax.InstEmptyWidth, syntax.InstNop:
			todo = append(todo, inst.Out)
		case syntax.InstMatch:
			found = true
		}
	}
	return set, found
}

// sorted leaves those that wait for a byte, and takes the marks off all.
func (a *automaton) sorted(set []uint32) []uint32 {
	for _, pc := range set {
		a.mark[pc] = false
	}
	set = slices.DeleteFunc(set, func(pc uint32) bool {
		switch a.prog.Inst[pc].Op {
		case syntax.InstRune, syntax.InstRune1, syntax.InstRuneAny, syntax.InstRuneAnyNotNL:
			return false
		}
		return true
	})
	slices.Sort(set)
	return set
}

// state is the number of a set, may when there is no room for it.
func (a *automaton) state(set []uint32) int32 {
	key := make([]byte, 0, 2*len(set))
	for _, pc := range set {
		key = append(key, byte(pc), byte(pc>>8))
	}
	if n, ok := a.states[string(key)]; ok {
		return n
	}
	if len(a.sets) > maxStates {
		return may
	}
	n := int32(len(a.sets))
	a.states[string(key)] = n
	a.sets = append(a.sets, set)
	a.next = append(a.next, make([]int32, 256)...)
	return n
}

// wide tells whether an instruction takes a character beyond ASCII.
func wide(inst *syntax.Inst) bool {
	switch inst.Op {
	case syntax.InstRuneAny, syntax.InstRuneAnyNotNL:
		return true
	}
	if len(inst.Rune) == 1 {
		r := inst.Rune[0]
		if r >= utf8.RuneSelf {
			return true
		}
		if inst.Op == syntax.InstRune1 || syntax.Flags(inst.Arg)&syntax.FoldCase == 0 {
			return false
		}
		for at := unicode.SimpleFold(r); at != r; at = unicode.SimpleFold(at) {
			if at >= utf8.RuneSelf {
				return true
			}
		}
		return false
	}
	return len(inst.Rune) > 0 && inst.Rune[len(inst.Rune)-1] >= utf8.RuneSelf
}
