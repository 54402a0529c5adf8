package command

import (
	"slices"
	"strings"
)

// What may stand before the operands of a program, as a list of words: -abc are
// letters alone; a mark behind them says more. "=" is a value that is no path,
// "@" one that is, "?" a value that is only ever attached, "^" that the program
// then touches more than it is told, "==" and "=@" are two values. A program that
// is given anything else does something nobody listed.

// optionTable is such a list, looked up.
type optionTable struct {
	letters map[byte]string   // to the mark
	longs   map[string]string // with their dashes, to the mark
	exact   bool              // no letters are joined: -ps is one option
}

func optionsOf(list string, exact bool) optionTable {
	t := optionTable{letters: map[byte]string{}, longs: map[string]string{}, exact: exact}
	for _, word := range strings.Fields(list) {
		name := strings.TrimRight(word, "=@?^")
		mark := word[len(name):]
		if exact || strings.HasPrefix(name, "--") {
			t.longs[name] = mark
			continue
		}
		for i := 1; i < len(name); i++ {
			t.letters[name[i]] = mark
		}
	}
	return t
}

// given is what a program is given, sorted by its option table.
type given struct {
	operands []value
	paths    []value          // values of options that are paths
	values   []value          // values of options that are none
	used     map[string]bool  // options, as -x or --name
	named    map[string]value // the last value of each option
	first    value            // of a wrapper the first operand
	wide     bool             // it touches more than its words say
	ok       bool             // every option is listed, and no word hides one
}

func (g *given) has(names ...string) bool {
	return slices.ContainsFunc(names, func(name string) bool { return g.used[name] })
}

// sorted sorts the words of a command.
func (t optionTable) sorted(args []value) *given {
	g := &given{used: map[string]bool{}, named: map[string]value{}, ok: true}
	for i := 0; i < len(args); i++ {
		v := args[i]
		switch {
		case v.is("--"):
			g.operands = append(g.operands, args[i+1:]...)
			return g
		case !v.known && v.maybeOption():
			g.ok = false
			g.operands = append(g.operands, v)
		case !strings.HasPrefix(v.prefix, "-") || v.prefix == "-":
			g.operands = append(g.operands, v)
		case strings.HasPrefix(v.prefix, "--") || t.exact:
			i += g.long(t, v, args[i+1:])
		default:
			i += g.cluster(t, v, args[i+1:])
		}
	}
	return g
}

// long takes --name, --name=value, --name value.
func (g *given) long(t optionTable, v value, next []value) int {
	name, inline, has := strings.Cut(v.text, "=")
	mark, ok := t.longs[name]
	if !ok && t.exact && len(name) > 2 && t.longs[name[:2]] == "=" && isCount(strings.TrimPrefix(name[2:], "+")) {
		return 0 // -c16
	}
	g.used[name] = true
	if !ok {
		g.ok = false
		return 0
	}
	if has {
		g.ok = g.ok && mark != "" && mark != "^"
		g.take(name, mark[:min(1, len(mark))], tail(v, inline))
		return 0
	}
	return g.follow(name, mark, next)
}

// cluster takes -abc, -nVALUE, -n VALUE.
func (g *given) cluster(t optionTable, v value, next []value) int {
	for i := 1; i < len(v.text); i++ {
		mark, ok := t.letters[v.text[i]]
		g.used["-"+v.text[i:i+1]] = true
		switch {
		case !ok:
			g.ok = false
			return 0
		case mark == "?":
			return 0
		case mark == "^":
			g.wide = true
		case mark != "" && i+1 < len(v.text):
			g.take("-"+v.text[i:i+1], mark, tail(v, v.text[i+1:]))
			return 0
		case mark != "":
			return g.follow("-"+v.text[i:i+1], mark, next)
		}
	}
	return 0
}

// follow takes the values of an option from the words behind it.
func (g *given) follow(name, mark string, next []value) int {
	switch mark {
	case "", "?":
		return 0
	case "^":
		g.wide = true
		return 0
	}
	if len(next) < len(mark) {
		g.ok = false
		return len(next)
	}
	for i := range mark {
		g.take(name, mark[i:i+1], next[i])
	}
	return len(mark)
}

func (g *given) take(name, mark string, v value) {
	g.named[name] = v
	if v.many {
		g.ok = false // it may be several words
	}
	if mark == "@" {
		g.paths = append(g.paths, v)
		return
	}
	g.values = append(g.values, v)
}
