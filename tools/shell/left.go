package shell

import (
	"cmp"
	"slices"
)

// Child is a process that lives on after its command ended.
type Child struct {
	PID  int
	Name string // its command line, shortened; "" where the system does not tell
}

// maxChildren is how many children of one command are named.
const maxChildren = 16

// children names what is left of the command.
func (p *process) children() []Child {
	if p.pipesOpen() {
		p.tree.findWriters()
	}
	left := p.tree.alive()
	slices.SortFunc(left, func(a, b entry) int { return cmp.Compare(a.pid, b.pid) })
	var list []Child
	for _, e := range left[:min(len(left), maxChildren)] {
		if e.pid != 0 {
			list = append(list, Child{PID: e.pid, Name: shorten(nameOf(e.pid))})
		}
	}
	return list
}

// shorten keeps the start of a command line.
func shorten(line string) string {
	const most = 80
	if len(line) <= most {
		return line
	}
	return string(trimEnd([]byte(line[:most]))) + "…"
}
