package trust

import (
	"errors"
	"fmt"
	"sort"
	"strconv"
	"strings"
	"unicode/utf8"
)

// Kind is a capability word without its scope.
type Kind string

// The capability words. What each opens up is in docs/plugins.md.
const (
	FSRead  Kind = "fs.read"
	FSWrite Kind = "fs.write"
	Exec    Kind = "exec"
	Net     Kind = "net"
	Listen  Kind = "listen"
	Model   Kind = "model"
	Env     Kind = "env"
	Prompt  Kind = "prompt"
	Steer   Kind = "steer"
	Permit  Kind = "permit"
)

// kinds in the order in which people read them.
var kinds = []Kind{FSRead, FSWrite, Exec, Net, Listen, Model, Env, Prompt, Steer, Permit}

// otherNames are what authors write when they mean a word.
var otherNames = map[string]Kind{
	"fs": FSRead, "read": FSRead, "file": FSRead, "files": FSRead, "fs.list": FSRead, "fs.stat": FSRead, "fs.exists": FSRead,
	"write": FSWrite, "fs.append": FSWrite, "fs.remove": FSWrite, "fs.delete": FSWrite, "fs.lock": FSWrite,
	"shell": Exec, "bash": Exec, "run": Exec, "process": Exec, "command": Exec,
	"http": Net, "https": Net, "http.get": Net, "http.post": Net, "http.request": Net, "network": Net, "fetch": Net,
	"http.serve": Listen, "serve": Listen, "server": Listen,
	"model.ask": Model, "ask": Model, "llm": Model, "env.get": Env, "environ": Env, "environment": Env,
	"note": Steer, "allow": Permit, "permission": Permit,
}

// wordLimit keeps a word readable in the trust question, where it is never cut.
const wordLimit = 200

// Word is one capability word as in a plugin's uses: what is granted and how far.
// Make one with ParseWord.
type Word struct {
	Kind Kind
	// Scope is the text after the colon; empty without one.
	Scope string
}

// String is the word as written in uses.
func (w Word) String() string {
	if w.Scope == "" {
		return string(w.Kind)
	}
	return string(w.Kind) + ":" + w.Scope
}

// ParseWord reads one word. Errors say what to write instead.
func ParseWord(text string) (Word, error) {
	if err := plainText(text); err != nil {
		return Word{}, fmt.Errorf("word %q: %w", text, err)
	}
	kind, scope, scoped := strings.Cut(text, ":")
	w := Word{Kind: Kind(kind), Scope: scope}
	if !known(w.Kind) {
		return Word{}, fmt.Errorf("word %q: unknown%s", text, suggestion(kind, scope, scoped))
	}
	if !scoped {
		return w, nil
	}
	if scope == "" {
		return Word{}, fmt.Errorf("word %q: nothing after the colon; write %q or name what it is limited to", text, kind)
	}
	if err := w.checkScope(); err != nil {
		return Word{}, fmt.Errorf("word %q: %w", text, err)
	}
	return w, nil
}

// plainText refuses what could show a person another word than the one granted.
func plainText(text string) error {
	switch {
	case text == "":
		return errors.New("is empty")
	case len(text) > wordLimit:
		return fmt.Errorf("has %d bytes, more than %d", len(text), wordLimit)
	case !utf8.ValidString(text) || Sanitize(text) != text:
		return errors.New("holds bytes or characters that cannot be shown")
	case strings.TrimSpace(text) != text:
		return errors.New("starts or ends with a space")
	}
	return nil
}

func known(k Kind) bool {
	for _, one := range kinds {
		if one == k {
			return true
		}
	}
	return false
}

// suggestion names the known word closest to kind, with the scope kept where it
// fits.
func suggestion(kind, scope string, scoped bool) string {
	lower := strings.ToLower(kind)
	best, ok := otherNames[lower]
	if !ok {
		distance := 3 // further away it is another word, not a slip
		for _, k := range kinds {
			if d := editDistance(lower, string(k)); d < distance {
				best, distance = k, d
			}
		}
	}
	if best == "" {
		names := make([]string, len(kinds))
		for i, k := range kinds {
			names[i] = string(k)
		}
		return "; the words are " + strings.Join(names, ", ")
	}
	if scoped {
		if w, err := ParseWord(string(best) + ":" + scope); err == nil {
			return fmt.Sprintf("; did you mean %q?", w.String())
		}
	}
	return fmt.Sprintf("; did you mean %q?", string(best))
}

// editDistance counts the insertions, deletions and replacements from a to b.
func editDistance(a, b string) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := 1; i <= len(a); i++ {
		diagonal := row[0]
		row[0] = i
		for j := 1; j <= len(b); j++ {
			cost := diagonal
			if a[i-1] != b[j-1] {
				cost++
			}
			diagonal = row[j]
			row[j] = min(cost, row[j]+1, row[j-1]+1)
		}
	}
	return row[len(b)]
}

// checkScope vets the text after the colon. Errors do not repeat the word.
func (w Word) checkScope() error {
	switch w.Kind {
	case FSRead, FSWrite:
		return checkPathGlob(w.Scope)
	case Exec:
		return checkProgram(w.Scope)
	case Net:
		_, _, err := splitHost(w.Scope)
		return err
	case Listen:
		_, _, err := splitListen(w.Scope)
		return err
	case Model:
		_, err := parseUSD(w.Scope)
		return err
	case Env:
		return checkEnvGlob(w.Scope)
	}
	return fmt.Errorf("takes no scope; write %q", string(w.Kind))
}

// parseUSD reads a ceiling such as 0.50, in US dollars.
func parseUSD(s string) (float64, error) {
	digits := true
	for _, r := range s {
		digits = digits && (r >= '0' && r <= '9' || r == '.')
	}
	usd, err := strconv.ParseFloat(s, 64)
	if !digits || err != nil || strings.HasPrefix(s, ".") || strings.HasSuffix(s, ".") {
		return 0, errors.New(`the ceiling is an amount of US dollars such as "model:0.50"`)
	}
	if usd <= 0 || usd > 1e6 {
		return 0, errors.New(`the ceiling must be above 0 and at most 1000000 US dollars; "model" has none of its own`)
	}
	return usd, nil
}

// Words are the capability words of one plugin.
type Words []Word

// ParseWords reads the words of a plugin's uses. A word written twice counts
// once. Every word that is wrong is in the error, and none of them is returned.
func ParseWords(texts []string) (Words, error) {
	var words Words
	var errs []error
	seen := map[Word]bool{}
	for _, text := range texts {
		w, err := ParseWord(text)
		if err != nil {
			errs = append(errs, err)
			continue
		}
		if !seen[w] {
			seen[w] = true
			words = append(words, w)
		}
	}
	return words.sorted(), errors.Join(errs...)
}

// Strings are the words as written in uses.
func (w Words) Strings() []string {
	out := make([]string, len(w))
	for i, word := range w {
		out[i] = word.String()
	}
	return out
}

// Has tells whether any word of that kind is among them.
func (w Words) Has(k Kind) bool {
	for _, word := range w {
		if word.Kind == k {
			return true
		}
	}
	return false
}

// sorted puts words into the order in which people read them: by kind, the widest
// first, then by scope.
func (w Words) sorted() Words {
	place := map[Kind]int{}
	for i, k := range kinds {
		place[k] = i
	}
	sort.Slice(w, func(i, j int) bool {
		if w[i].Kind != w[j].Kind {
			return place[w[i].Kind] < place[w[j].Kind]
		}
		return w[i].Scope < w[j].Scope
	})
	return w
}

// Added returns the words of next that old does not already grant: those a
// person has to be asked about. Scopes are compared as written; a narrower
// scope that only matching could prove covered counts as new.
func Added(old, next Words) Words {
	var added Words
	for _, w := range next {
		covered := false
		for _, have := range old {
			covered = covered || have.covers(w)
		}
		if !covered {
			added = append(added, w)
		}
	}
	return added.sorted()
}

// covers tells whether whoever holds h may do all that w allows.
func (h Word) covers(w Word) bool {
	switch {
	case h == w:
		return true
	case h.Kind != w.Kind || w.Scope == "":
		return false
	case h.Kind == Model && h.Scope != "":
		have, err := parseUSD(h.Scope)
		want, err2 := parseUSD(w.Scope)
		return err == nil && err2 == nil && want <= have
	case h.Scope != "":
		return false
	}
	// h has no scope: it covers scopes of its kind that do not reach further.
	switch w.Kind {
	case FSRead, FSWrite:
		return !outside(w.Scope)
	case Listen:
		host, _, err := splitListen(w.Scope)
		return err == nil && host.IsLoopback()
	case Env:
		return !IsKeyVariable(w.Scope) // an exact name yields what a glob never does
	}
	return true
}

// Sentence says to a person what the word allows; it has no full stop.
func (w Word) Sentence() string {
	switch w.Kind {
	case FSRead:
		return "reads " + w.where()
	case FSWrite:
		return "writes, changes and removes " + w.where()
	case Exec:
		if w.Scope == "" {
			return "anything you can do"
		}
		return "starts " + w.Scope + " with arguments of its choice; what " + w.Scope + " itself starts is not limited"
	case Net:
		if w.Scope == "" {
			return "talks to any host, this machine and your network among them, and can send what it has read"
		}
		return "talks to " + w.Scope + " and can send it what it has read"
	case Listen:
		if w.Scope == "" {
			return "serves requests that come from this machine"
		}
		return w.listenSentence()
	case Model:
		if w.Scope == "" {
			return "asks models, paid from the session's purse, without a ceiling of its own"
		}
		return "asks models, paid from the session's purse, up to $" + w.Scope + " a session"
	case Env:
		return w.envSentence()
	case Prompt:
		return "types prompts as if you had"
	case Steer:
		return "changes what the model reads and what tools are given"
	case Permit:
		return "answers permission questions for you and acts in panels of other plugins"
	}
	return "nothing starling knows"
}

func (w Word) where() string {
	switch {
	case w.Scope == "":
		return "any file of the workspace"
	case outside(w.Scope):
		return w.Scope + ", outside the workspace"
	}
	return w.Scope + " in the workspace"
}

func (w Word) listenSentence() string {
	host, port, err := splitListen(w.Scope)
	if err != nil {
		return "nothing: the address is malformed"
	}
	from := "requests that reach this machine at " + host.String()
	switch {
	case host.IsLoopback():
		from = "requests that come from this machine"
	case host.IsUnspecified():
		from = "requests from every network this machine is in"
	}
	if port == "" {
		return "serves " + from
	}
	return "serves " + from + ", on port " + port
}

func (w Word) envSentence() string {
	switch {
	case w.Scope == "":
		return "reads environment variables, except those that hold keys"
	case hasWildcard(w.Scope):
		return "reads environment variables named " + w.Scope + ", except those that hold keys"
	case IsKeyVariable(w.Scope):
		return "reads the environment variable " + w.Scope + ", which holds a key"
	}
	return "reads the environment variable " + w.Scope
}
