package snapshot

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
)

// state of a working tree, as git tells it.
type state struct {
	head, branch string // "" before the first commit, and when detached
	changes      []change
}

// change is one line of git status.
type change struct {
	path  string // relative to the working tree, without a slash at the end
	dir   bool   // a folder git does not look into
	index byte   // how it differs from HEAD: '.', 'M', 'A', 'D', 'T', 'U'; '?' and '!' as git says
	work  byte   // how the file differs from the index
	sub   string // "N..." or "S" and what is dirty inside the submodule
	// the entries of the index: one, or three in a conflict
	entries []Entry
}

// nestedChanges tells that a submodule has work of its own.
func (c change) nestedChanges() bool {
	return len(c.sub) == 4 && c.sub[0] == 'S' && (c.sub[2] == 'M' || c.sub[3] == 'U')
}

// status asks git how a working tree differs. names limit it, relative ones.
func (g *git) status(ctx context.Context, top string, untracked, ignored bool, names []string) (*state, error) {
	args := []string{"status", "--porcelain=v2", "-z", "--branch", "--no-renames", "--ignore-submodules=none", "--no-ahead-behind"}
	// Ignored files are only told together with those git does not know.
	args = append(args, "--untracked-files="+word(untracked || ignored, "all"), "--ignored="+word(ignored, "matching"))
	// Longer lists do not fit a command line: the caller compares anyway.
	const maxArgs = 64 << 10
	if n := len(strings.Join(names, "")); n > 0 && n < maxArgs && len(names) < 1000 {
		args = append(append(args, "--"), names...)
	}
	out, err := g.run(ctx, top, nil, args...)
	if err != nil {
		return nil, fmt.Errorf("state of %s: %w", top, err)
	}
	st, err := parseStatus(out)
	if err != nil {
		return nil, fmt.Errorf("state of %s: %w", top, err)
	}
	return st, nil
}

func word(on bool, yes string) string {
	if on {
		return yes
	}
	return "no"
}

// parseStatus reads porcelain version 2 with zero bytes as ends.
func parseStatus(out []byte) (*state, error) {
	st := &state{}
	for len(out) > 0 {
		line, rest, ok := bytes.Cut(out, []byte{0})
		if !ok {
			return nil, errors.New("git status ended within a line")
		}
		out = rest
		if err := st.add(string(line)); err != nil {
			return nil, err
		}
	}
	return st, nil
}

func (st *state) add(line string) error {
	kind, rest, _ := strings.Cut(line, " ")
	fields := map[string]int{"1": 7, "u": 9}[kind]
	switch {
	case kind == "#":
		key, value, _ := strings.Cut(rest, " ")
		if key == "branch.oid" && value != "(initial)" {
			st.head = value
		}
		if key == "branch.head" && value != "(detached)" {
			st.branch = value
		}
		return nil
	case kind == "?", kind == "!":
		path, dir := strings.CutSuffix(rest, "/")
		st.changes = append(st.changes, change{path: path, dir: dir, index: kind[0], work: kind[0]})
		return nil
	case fields == 0:
		return fmt.Errorf("git status printed the line %q", line)
	}
	f := strings.SplitN(rest, " ", fields+1)
	if len(f) != fields+1 || len(f[0]) != 2 || len(f[1]) != 4 {
		return fmt.Errorf("git status printed the line %q", line)
	}
	c := change{path: f[fields], index: f[0][0], work: f[0][1], sub: f[1]}
	path := Name(c.path)
	if kind == "u" {
		c.index, c.work = 'U', 'U'
		for stage := 1; stage <= 3; stage++ {
			if mode := f[1+stage]; mode != "000000" {
				c.entries = append(c.entries, Entry{Path: path, Mode: mode, Object: f[5+stage], Stage: stage})
			}
		}
	} else {
		e := Entry{Path: path, Mode: f[3], Object: f[6]}
		switch {
		case c.index == 'D':
			e = Entry{Path: path, Gone: true}
		case c.index == '.' && c.work == 'A':
			e = Entry{Path: path, Intent: true}
			c.index = 'I'
		}
		c.entries = []Entry{e}
	}
	st.changes = append(st.changes, c)
	return nil
}

// listed is an entry of the index.
type listed struct {
	Entry
	hidden bool // git was told not to look at the file
}

// index lists the entries of the index; names limit them when there are few.
func (g *git) index(ctx context.Context, top string, names []string) ([]listed, error) {
	args := []string{"ls-files", "--stage", "-v", "-z"}
	const few = 200
	if len(names) > 0 && len(names) <= few {
		args = append(append(args, "--"), names...)
	}
	out, err := g.run(ctx, top, nil, args...)
	if err != nil {
		return nil, err
	}
	var all []listed
	for line := range strings.SplitSeq(strings.TrimSuffix(string(out), "\x00"), "\x00") {
		if line == "" {
			continue
		}
		info, path, ok := strings.Cut(line, "\t")
		f := strings.Split(info, " ")
		if !ok || len(f) != 4 {
			return nil, fmt.Errorf("git ls-files printed the line %q", line)
		}
		stage, err := strconv.Atoi(f[3])
		if err != nil {
			return nil, fmt.Errorf("git ls-files printed the line %q", line)
		}
		tag := f[0]
		all = append(all, listed{
			Entry:  Entry{Path: Name(path), Mode: f[1], Object: f[2], Stage: stage},
			hidden: tag == "S" || tag != "M" && tag == strings.ToLower(tag),
		})
	}
	return all, nil
}
