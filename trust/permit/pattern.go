package permit

import (
	"errors"
	"fmt"
	"strings"

	"starling/trust"
	"starling/trust/command"
)

// commandPattern is what a rule of bash covers: one part of a line.
type commandPattern struct {
	kind  command.Kind
	words []patternWord // of a command; the last may be rest
	op    string        // of a redirection: >, >>, < or <>
	glob  string
	name  string // of a variable
	value string
	any   bool // any value
}

// patternWord is one word of a command.
type patternWord struct {
	text string
	star bool // an argument; at the end any number of them
}

var (
	redirection = lazily(`^(?:[0-9]*|&|\{[A-Za-z_]\w*\})([<>]+[|&]?)\s*(.*)$`)
	assignment  = lazily(`^[A-Za-z_][A-Za-z0-9_]*=`)
)

// parseCommand reads the pattern of a rule of bash.
func parseCommand(text string) (commandPattern, error) {
	if m := redirection().FindStringSubmatch(text); m != nil {
		return parseRedirection(text, m[1], m[2])
	}
	words, err := lex(text)
	if err != nil {
		return commandPattern{}, err
	}
	first := words[0]
	if name := assignment().FindString(first.text); name != "" && len(name) <= first.bare {
		if len(words) > 1 {
			return commandPattern{}, fmt.Errorf("a variable set for a command has a rule of its own; write bash(%s) and bash(%s)",
				quote(first.text), strings.TrimSpace(text[strings.IndexByte(text, ' '):]))
		}
		p := commandPattern{kind: command.Assign, name: strings.TrimSuffix(name, "="), value: first.text[len(name):]}
		if first.tail == "*" {
			p.value, p.any = "", true
		} else if first.inner {
			return commandPattern{}, fmt.Errorf("a * stands for the whole value; write bash(%s*)", name)
		}
		return p, nil
	}
	p := commandPattern{kind: command.Simple}
	for i, w := range words {
		switch {
		case w.star && i == 0:
			return commandPattern{}, errors.New("a rule names its program; write it, as in bash(go test *), or bash for every command")
		case w.inner:
			return commandPattern{}, fmt.Errorf("a * stands for whole arguments; write %s, or quote it where it means itself", starred(words[:i]))
		}
		// Two at the end are one: any number and any number more.
		p.words = append(p.words, patternWord{w.text, w.star})
	}
	return p, nil
}

// starred is the rule of some words and any arguments.
func starred(words []lexed) string {
	parts := make([]string, 0, len(words)+1)
	for i, w := range words {
		parts = append(parts, patternWord{w.text, w.star}.spell(i == 0))
	}
	if len(parts) == 0 {
		parts = append(parts, "PROGRAM")
	}
	return "bash(" + strings.Join(append(parts, "*"), " ") + ")"
}

func parseRedirection(text, op, glob string) (commandPattern, error) {
	example := "bash(> out/*.txt)"
	if !strings.HasPrefix(text, op) {
		return commandPattern{}, fmt.Errorf("a rule names the file and neither number nor &; write bash(%s FILE), as in %s", strings.TrimRight(op, "&|"), example)
	}
	if op == ">|" {
		op = ">"
	}
	switch op {
	case ">", ">>", "<", "<>":
	default:
		return commandPattern{}, fmt.Errorf("redirections are named with >, >>, < and <>, as in %s", example)
	}
	if glob == "" {
		return commandPattern{}, fmt.Errorf("name the file as well, as in %s", example)
	}
	if err := trust.CheckPathPattern(glob); err != nil {
		return commandPattern{}, fmt.Errorf("%w; the file is a glob from the workspace, as in %s, or from ~/ or /", err, example)
	}
	return commandPattern{kind: command.Redirect, op: op, glob: glob}, nil
}

// String is the pattern in its one spelling.
func (p commandPattern) String() string {
	switch p.kind {
	case command.Redirect:
		return p.op + " " + p.glob
	case command.Assign:
		if p.any {
			return p.name + "=*"
		}
		if p.value == "" {
			return p.name + "="
		}
		return p.name + "=" + quote(p.value)
	}
	parts := make([]string, len(p.words))
	for i, w := range p.words {
		parts[i] = w.spell(i == 0)
	}
	return strings.Join(parts, " ")
}

func (w patternWord) spell(first bool) string {
	switch {
	case w.star:
		return "*"
	case first && (assignment().MatchString(w.text) || w.text == "!"):
		return forceQuote(w.text)
	}
	return quote(w.text)
}

// plainWord needs no quotes, in a shell and in a rule.
var plainWord = lazily(`^[A-Za-z0-9_@%+=:,./^-][A-Za-z0-9_@%+=:,./^~#!-]*$`)

// quote spells a word as a shell and a rule read it back.
func quote(word string) string {
	if plainWord().MatchString(word) || word == "{}" {
		return word
	}
	return forceQuote(word)
}

func forceQuote(word string) string {
	return "'" + strings.ReplaceAll(word, "'", `'\''`) + "'"
}

// lexed is one word of a pattern.
type lexed struct {
	text  string
	bare  int    // how many bytes at the start were not quoted
	star  bool   // it is a * that was not quoted
	inner bool   // such a * stands beside other text
	tail  string // what follows the first = as it was written
}

// lex reads words as a shell does, without anything it would expand.
func lex(text string) ([]lexed, error) {
	var words []lexed
	for i := 0; i < len(text); {
		if text[i] == ' ' {
			i++
			continue
		}
		w, n, err := lexWord(text[i:], len(words) == 0)
		if err != nil {
			return nil, err
		}
		words = append(words, w)
		i += n
	}
	if len(words) == 0 {
		return nil, errors.New("names no command; write one, as in bash(git status)")
	}
	return words, nil
}

func lexWord(text string, first bool) (w lexed, size int, err error) {
	var out strings.Builder
	stars, quoted := 0, false
	i := 0
	for i < len(text) && text[i] != ' ' {
		part, wide := text[i:i+1], 1
		switch c := text[i]; c {
		case '\'', '"':
			if part, wide, err = unquote(text[i:]); err != nil {
				return w, 0, err
			}
			quoted = true
		case '\\':
			if i+1 == len(text) {
				return w, 0, errors.New(`ends with "\"; quote the word instead, as in bash(grep 'a b' *)`)
			}
			part, wide, quoted = runeAt(text[i+1:]), 1+len(runeAt(text[i+1:])), true
		case '*':
			stars++
		default:
			if err := special(text, i, first); err != nil {
				return w, 0, err
			}
		}
		out.WriteString(part)
		i += wide
		if !quoted {
			w.bare = out.Len()
		}
	}
	w.text = out.String()
	_, w.tail, _ = strings.Cut(text[:i], "=")
	w.star = stars == 1 && text[:i] == "*"
	w.inner = stars > 0 && !w.star
	return w, i, nil
}

func runeAt(text string) string {
	for _, r := range text {
		return string(r)
	}
	return ""
}

// unquote reads a quoted piece and returns how long it was.
func unquote(text string) (piece string, size int, err error) {
	var out strings.Builder
	mark := text[0]
	for i := 1; i < len(text); i++ {
		switch {
		case text[i] == mark:
			return out.String(), i + 1, nil
		case mark == '"' && text[i] == '\\' && i+1 < len(text) && strings.IndexByte("\"\\$`", text[i+1]) >= 0:
			i++
		case mark == '"' && (text[i] == '$' || text[i] == '`'):
			return "", 0, errExpansion
		}
		out.WriteByte(text[i])
	}
	return "", 0, fmt.Errorf("a quote (%c) is not closed; write bash(grep 'a b' *)", mark)
}

var errExpansion = errors.New(`what a shell would put in is not known to a rule: write * for such an argument, as in bash(go test *), or put "$" in single quotes where it means itself`)

// special refuses what a shell would take for more than a character.
func special(text string, i int, first bool) error {
	switch c := text[i]; c {
	case '$', '`':
		return errExpansion
	case ';', '&', '|':
		return fmt.Errorf("%q joins commands and a rule covers one; write a rule for each, as bash(git add *) and bash(git status)", c)
	case '<', '>':
		return errors.New("a redirection has a rule of its own; write two, as bash(go list *) and bash(> out/*.txt)")
	case '(', ')', '?', '[', '{', '}':
		word, _, _ := strings.Cut(text[i:], " ")
		if c == '{' && i == 0 && word == "{}" || c == '}' && strings.HasPrefix(text, "{}") && i == 1 && (len(text) == 2 || text[2] == ' ') {
			return nil
		}
		return fmt.Errorf("%q means more to a shell; quote the word where it means itself, as in bash(ls 'a?b'), or write * for the argument", c)
	case '~', '#':
		if i == 0 {
			return fmt.Errorf("%q at the start of a word is not itself to a shell; write the whole path, or quote it", c)
		}
	case '!':
		if first && i == 0 {
			return errors.New(`"!" is no program; leave it out: what a command returns does not matter to a rule`)
		}
	}
	return nil
}
