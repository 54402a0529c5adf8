package permit

import (
	"bytes"
	"encoding/json"
	"net/url"
	"path"
	"path/filepath"
	"strconv"
	"strings"

	"starling/trust"
	"starling/trust/command"
)

// fit tells how sure it is that a rule is about a call. Only a sure one allows;
// asking and denying rules ask where it may be.
type fit int

const (
	no fit = iota
	maybe
	yes
)

// allowsPart tells whether the rule, as one that allows, covers a part of a
// command. A pattern was written for commands of the workspace: it covers no
// command that runs elsewhere.
func (r Rule) allowsPart(pl places, part command.Part) bool {
	if r.pattern == "" {
		return true
	}
	p, err := parseCommand(r.pattern)
	if err != nil || p.kind != part.Kind || shapes[r.tool] != ofCommand {
		return false
	}
	switch part.Kind {
	case command.Simple:
		return pl.inside(part.Dir) && part.Dir != "" && exactly(p.words, part.Words, false)
	case command.Redirect:
		to := redirect(pl, part)
		return to.known && covers(p.op, to.op) && pl.at.Matches(p.glob, to.file)
	case command.Assign:
		name, value, known := assign(part)
		return name == p.name && (p.any || known && value == p.value)
	}
	return false
}

// meetsPart tells how the rule, as one that asks or denies, fits a part. It takes
// a program by the last part of its path, passes over options a program may be
// given before its subcommand, and lets what is not known stand for anything.
func (r Rule) meetsPart(pl places, part command.Part) fit {
	if r.pattern == "" {
		return yes
	}
	p, err := parseCommand(r.pattern)
	if err != nil {
		return maybe
	}
	if p.kind != part.Kind {
		return no
	}
	switch part.Kind {
	case command.Simple:
		switch {
		case exactly(p.words, part.Words, true):
			return yes
		case loosely(p.words, part.Words):
			return maybe
		}
	case command.Redirect:
		to := redirect(pl, part)
		switch {
		case to.op == "" || !covers(p.op, to.op) && !covers(to.op, p.op):
			return no
		case !to.known:
			return maybe
		case pl.at.Matches(p.glob, to.file):
			return yes
		}
	case command.Assign:
		name, value, known := assign(part)
		switch {
		case name == "":
			return maybe
		case name != p.name:
			return no
		case p.any || known && value == p.value:
			return yes
		case !known:
			return maybe
		}
	}
	return no
}

// exactly matches words that are known against a pattern. byName takes a program
// by the last part of its path where the pattern names it so, and lets options
// stand for a star.
func exactly(pattern []patternWord, words []command.Word, byName bool) bool {
	for i, p := range pattern {
		if p.star && i == len(pattern)-1 {
			return true // also what is not known: every argument is covered
		}
		if i >= len(words) || !words[i].Known {
			return false
		}
		word := words[i].Text
		switch {
		case p.star:
			if strings.HasPrefix(word, "-") && !byName {
				return false
			}
		case i == 0 && byName:
			if !sameProgram(p.text, word) {
				return false
			}
		case p.text != word:
			return false
		}
	}
	return len(words) == len(pattern)
}

func sameProgram(pattern, word string) bool {
	return pattern == word || !strings.Contains(pattern, "/") && pattern == path.Base(word)
}

// loosely tells whether words could be what the pattern means: a word that is
// not known may be any number of words, and between the words of the pattern may
// stand options, each with a value.
func loosely(pattern []patternWord, words []command.Word) bool {
	// reached[i]: the words so far may be the first i of the pattern.
	reached := make([]bool, len(pattern)+1)
	reached[0] = true
	option := make([]bool, len(pattern)+1) // as reached, after an option whose value may follow
	for n, w := range words {
		next, after := make([]bool, len(pattern)+1), make([]bool, len(pattern)+1)
		for i := range reached {
			if option[i] && !strings.HasPrefix(w.Text, "-") {
				next[i] = true
			}
			if !reached[i] {
				continue
			}
			rest := i == len(pattern)-1 && pattern[i].star
			switch {
			case rest:
				next[i] = true
			case !w.Known:
				for j := i; j <= len(pattern); j++ {
					next[j] = true
				}
			case i < len(pattern) && (pattern[i].star || pattern[i].text == w.Text || n == 0 && sameProgram(pattern[i].text, w.Text)):
				next[i+1] = true
			}
			if i > 0 && w.Known && strings.HasPrefix(w.Text, "-") {
				next[i], after[i] = true, true
			}
		}
		reached, option = next, after
	}
	last := len(pattern) - 1
	return reached[len(pattern)] || last >= 0 && pattern[last].star && reached[last]
}

// descriptor is the operator of a redirection, with what it redirects.
var descriptor = lazily(`^(?:[0-9]+|\{[A-Za-z_]\w*\}|&)?([<>]+)([|&]?)$`)

// stream is what >& and <& join, or close.
var stream = lazily(`^(?:[0-9]+-?|-)$`)

// target is what a redirection does.
type target struct {
	op   string // >, >>, < or <>; what else there is no rule names; "" for no file
	file string // absolute, links followed
	// known: the file is.
	known bool
}

func redirect(pl places, part command.Part) target {
	if len(part.Words) != 2 {
		return target{}
	}
	m, file := descriptor().FindStringSubmatch(part.Words[0].Text), part.Words[1]
	switch {
	case m == nil || m[2] == "&" && file.Known && stream().MatchString(file.Text):
		return target{}
	case !file.Known || file.Text == "":
		return target{op: m[1]}
	case filepath.IsAbs(file.Text):
		at, err := trust.Follow(file.Text)
		return target{m[1], at, err == nil}
	case part.Dir == "":
		return target{op: m[1]}
	}
	at, err := trust.Follow(part.Dir + "/" + file.Text)
	return target{m[1], at, err == nil}
}

// covers tells whether a rule of one operator is also about another: who may
// write a file anew may append to it.
func covers(rule, op string) bool { return rule == op || rule == ">" && op == ">>" }

// assign returns the name of a variable, "" when nobody knows it, and its value.
func assign(part command.Part) (name, value string, known bool) {
	if len(part.Words) != 1 {
		return "", "", false
	}
	w := part.Words[0]
	name, value, set := strings.Cut(w.Text, "=")
	name, appended := strings.CutSuffix(name, "+")
	if !variableName().MatchString(name) {
		return "", "", false
	}
	return name, value, w.Known && set && !appended
}

var variableName = lazily(`^[A-Za-z_][A-Za-z0-9_]*$`)

// allowsPath tells whether the rule, as one that allows, covers a path of a call.
// Without a pattern it is about the workspace: a place outside is named.
func (r Rule) allowsPath(pl places, abs string) bool {
	if r.pattern == "" {
		return pl.inside(abs)
	}
	return pl.at.Matches(r.pattern, abs) || looksBelow(r.tool) && matchesFolder(pl.at, r.pattern, abs)
}

// matchesFolder tells whether everything below a folder matches: docs/** is about
// docs itself too where a tool looks below it.
func matchesFolder(at trust.Folders, pattern, abs string) bool {
	if pattern == "**" {
		return abs == at.Workspace
	}
	folder, all := strings.CutSuffix(pattern, "/**")
	return all && folder != "" && folder != "~" && at.Matches(folder, abs)
}

// meetsPaths tells how the rule, as one that asks or denies, fits the paths of a
// call of its tool.
func (r Rule) meetsPaths(pl places, paths []string, all bool) fit {
	if r.pattern == "" {
		return yes
	}
	best := no
	for _, abs := range paths {
		switch {
		case pl.at.Matches(r.pattern, abs) || looksBelow(r.tool) && matchesFolder(pl.at, r.pattern, abs):
			return yes
		case looksBelow(r.tool) && near(pl.at, r.pattern, abs):
			best = maybe
		}
	}
	if !all {
		best = maybe
	}
	return best
}

// near tells whether something below the folder abs could match a pattern.
func near(at trust.Folders, pattern, abs string) bool {
	root, wild := pattern, false
	if i := strings.IndexAny(pattern, "*?["); i >= 0 {
		root, wild = pattern[:strings.LastIndexByte(pattern[:i], '/')+1], true
	}
	base, err := at.Abs(strings.TrimSuffix(root, "/"))
	switch {
	case strings.HasPrefix(pattern, "/") && strings.Trim(root, "/") == "":
		base = "/"
	case root == "":
		base = at.Workspace
	case err != nil:
		return false // no home to be in
	}
	return trust.Below(base, abs) || wild && trust.Below(abs, base)
}

// meetsHost tells how the rule fits the address a call would fetch.
func (r Rule) meetsHost(arguments json.RawMessage) fit {
	if r.pattern == "" {
		return yes
	}
	host, port, ok := hostOf(arguments)
	switch {
	case !ok:
		return maybe
	case trust.MatchesHost(r.pattern, host, port):
		return yes
	}
	return no
}

// hostOf reads host and port from the argument url.
func hostOf(arguments json.RawMessage) (host string, port int, ok bool) {
	values, ok := argument(arguments, "url")
	if !ok || len(values) != 1 {
		return "", 0, false
	}
	u, err := url.Parse(values[0])
	if err != nil || u.Hostname() == "" {
		return "", 0, false
	}
	switch strings.ToLower(u.Scheme) {
	case "http":
		port = 80
	case "https":
		port = 443
	default:
		return "", 0, false
	}
	if u.Port() != "" {
		if port, err = strconv.Atoi(u.Port()); err != nil {
			return "", 0, false
		}
	}
	return u.Hostname(), port, true
}

// hostPattern spells a host for a rule; the ports of http and https go without
// saying, as a rule without a port is about every one.
func hostPattern(host string, port int) string {
	host = strings.ToLower(strings.TrimSuffix(host, "."))
	if port == 80 || port == 443 {
		return host
	}
	if strings.Contains(host, ":") {
		host = "[" + host + "]"
	}
	return host + ":" + strconv.Itoa(port)
}

// meetsArgument tells how the rule fits the argument its pattern names.
func (r Rule) meetsArgument(arguments json.RawMessage) fit {
	if r.pattern == "" {
		return yes
	}
	key, pattern, _ := strings.Cut(r.pattern, "=")
	values, ok := argument(arguments, key)
	if !ok {
		return maybe
	}
	hits := 0
	for _, v := range values {
		if matchText(pattern, v) {
			hits++
		}
	}
	switch {
	case hits == 0:
		return no
	case len(values) > 1: // which of them counts is the tool's affair
		return maybe
	}
	return yes
}

// argument returns the values of a key of an object, more than one where it is
// there again. It is false when one of them is no text, number, true or false,
// and when there is no such object.
func argument(object json.RawMessage, key string) (values []string, ok bool) {
	dec := json.NewDecoder(bytes.NewReader(object))
	dec.UseNumber()
	if t, err := dec.Token(); err != nil || t != json.Delim('{') {
		return nil, false
	}
	for dec.More() {
		name, err := dec.Token()
		if err != nil {
			return nil, false
		}
		var value json.RawMessage
		if err := dec.Decode(&value); err != nil {
			return nil, false
		}
		if name != key {
			continue
		}
		var text string
		switch first := value[0]; {
		case first == '"':
			if json.Unmarshal(value, &text) != nil {
				return nil, false
			}
		case first == '{' || first == '[' || first == 'n':
			return nil, false
		default:
			text = string(value)
		}
		values = append(values, text)
	}
	return values, true
}
