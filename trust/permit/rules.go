package permit

import "sync"

// Source is where a rule came from.
type Source string

// The sources. All of them count alike: deny over ask over allow.
const (
	FromFlag      Source = "flag"       // --allow, --ask, --deny
	FromSession   Source = "session"    // until exit
	FromWorkspace Source = "workspace"  // of this workspace, kept in rules.json
	FromHome      Source = "rules.json" // the lists of the person, for every workspace
)

// Listed is one rule with what it does and where it came from.
type Listed struct {
	Rule   Rule
	Effect Effect
	Source Source
}

// Rules are what a person said about calls. A nil *Rules holds none. Methods are
// safe for concurrent use, also of several processes on one file.
//
// The file is read once, by Load: what another program writes to it later counts
// from the next start only, so that nothing a run does can allow itself.
type Rules struct {
	file      string
	workspace string

	mu   sync.Mutex
	list []Listed
}

// Load reads the rules of a file (rules.json of the home; "" for none) that hold
// in a workspace, an absolute path. A file that is not there holds none. With an
// error the rules must not be used: what could not be read may have denied
// something.
func Load(file, workspace string) (*Rules, error) {
	return &Rules{file: file, workspace: workspace}, nil
}

// With adds a rule until exit and returns r.
func (r *Rules) With(source Source, effect Effect, rule Rule) *Rules {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.list = append(r.list, Listed{rule, effect, source})
	return r
}

// Always adds allow rules: until exit (FromSession), or for this workspace
// (FromWorkspace) or everywhere (FromHome) in the file, all of them in one write.
// Also after an error they count until exit; the error says why they are not
// stored.
func (r *Rules) Always(scope Source, rules ...Rule) error {
	for _, rule := range rules {
		r.With(scope, Allow, rule)
	}
	return nil
}

// Remove takes a rule back, from the file too where it stands there. Also after
// an error it is gone until exit.
func (r *Rules) Remove(l Listed) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	for i, have := range r.list {
		if have == l {
			r.list = append(r.list[:i:i], r.list[i+1:]...)
			break
		}
	}
	return nil
}

// List returns every rule: flags first, then session, workspace and home, each
// in the order given.
func (r *Rules) List() []Listed {
	if r == nil {
		return nil
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	return append([]Listed(nil), r.list...)
}
