package command

import (
	"slices"
	"strings"

	"starling/bus/spec"
	"starling/trust"
)

// touch notes a path the line is sure to touch and returns where it leads: nil
// when nobody can tell.
func (r *reader) touch(v value, st *state) []string {
	if !v.known {
		r.whole = false
		return nil
	}
	at := r.places(st, v.text)
	for _, abs := range at {
		r.touches(abs)
	}
	if len(at) != 1 {
		r.whole = false
	}
	return at
}

// touches notes a path, links followed.
func (r *reader) touches(abs string) {
	r.paths[abs] = true
	r.strays = r.strays || !r.inside(abs)
}

// writes judges files that a part writes; over: what stood there is gone.
func (r *reader) writes(files []value, st *state, part int, over bool) {
	loss, open := &Loss{Dir: st.dir, Kinds: []Lost{File}}, openLoss{follow: true}
	for _, file := range files {
		if !file.known {
			r.whole = false
		}
		for _, v := range meant(file) {
			r.writesOne(file.known, v, st, part, loss, &open)
		}
	}
	switch {
	case len(loss.Kinds) > 1:
		loss.Names = nil
		r.lossOf(over, part, loss, "a file nobody knows beforehand may be overwritten")
	case len(loss.Names) > 0:
		r.lossOf(over, part, loss, "what stands in "+r.list(loss.Names)+" is overwritten", open)
	}
}

func (r *reader) writesOne(sure bool, v value, st *state, part int, loss *Loss, open *openLoss) {
	if v.known && device(v.text) == "" && strings.HasPrefix(v.text, "/dev/") && !strings.HasPrefix(v.text, "/dev/shm/") {
		return
	}
	var at []string
	switch {
	case sure:
		at = r.touch(v, st)
	case v.known:
		at = r.places(st, v.text)
	default:
		if at = r.globFolder(v, st); at != nil {
			open.globs = append(open.globs, globs(v, at)...)
			r.floorOfGlobs(globs(v, at), part)
		}
	}
	if at == nil {
		if v.known && len(r.linked) > 0 {
			r.find(Finding{Part: part, Why: "it writes through a link that this line makes: " + clip(v.src)})
		}
		loss.anywhere()
		return
	}
	for _, abs := range at {
		r.writeFloor(abs, part)
		if below(abs, "/dev") {
			continue
		}
		if loss.Names = append(loss.Names, abs); v.known {
			open.names = append(open.names, abs)
		}
	}
}

// lossOf reports work that may be lost; open is at most one, for what globs match.
func (r *reader) lossOf(over bool, part int, loss *Loss, why string, open ...openLoss) {
	if !over || r.guessing {
		return
	}
	r.find(Finding{Part: part, Why: why, Paths: slices.Clone(loss.Names), Loss: loss})
	for _, o := range open {
		if o.finding = len(r.out.Floor) - 1; len(o.globs) > 0 && r.texts == 1 {
			r.open = append(r.open, o)
		}
	}
}

// globFolder is the folder whose files a pattern names; nil when it may lead
// through links.
func (r *reader) globFolder(v value, st *state) []string {
	if !v.glob {
		return nil
	}
	i := strings.LastIndexByte(v.prefix, '/')
	if strings.Contains(v.text[i+1:], "/") {
		return nil
	}
	folder := "."
	if i >= 0 {
		folder = v.text[:i+1]
	}
	return r.places(st, folder)
}

func (r *reader) list(paths []string) string {
	names := make([]string, 0, 3)
	for i, p := range paths {
		if i == 3 {
			names = append(names, "others")
			break
		}
		names = append(names, r.relative(p))
	}
	return strings.Join(names, ", ")
}

// writeFloor asks for files that hand over rights and for devices.
func (r *reader) writeFloor(abs string, part int) {
	if why := device(abs); why != "" {
		r.find(Finding{Part: part, Why: "it writes to " + why, Paths: []string{abs}})
		return
	}
	if strings.HasPrefix(abs, "/dev/") {
		return
	}
	if why := r.floorPath(abs); why != "" {
		r.find(Finding{Part: part, Why: "it writes " + r.relative(abs) + ": " + why, Paths: []string{abs}})
	}
}

// floorPath is trust.FloorPath, asked once for each path.
func (r *reader) floorPath(abs string) string {
	why, ok := r.floor[abs]
	if !ok {
		why = trust.FloorPath(r.folders, r.at.StateHome, abs)
		r.floor[abs] = why
	}
	return why
}

// keys is trust.CredentialPath, asked once for each path.
func (r *reader) keys(abs string) string {
	why, ok := r.secret[abs]
	if !ok {
		why = trust.CredentialPath(r.folders, abs)
		r.secret[abs] = why
	}
	return why
}

func (r *reader) readFloor(abs string, part int) {
	if why := r.keys(abs); why != "" {
		r.find(Finding{Part: part, Why: "it reads " + r.relative(abs) + ": " + why, Paths: []string{abs}})
	}
	if why := device(abs); why != "" {
		r.find(Finding{Part: part, Why: "it reads " + why, Paths: []string{abs}})
	}
}

// writer judges the programs that write or remove files named in their
// arguments.
func (c *command) writer() bool {
	r, st := c.r, c.st
	change := func() { c.set(spec.RiskChange, false, "it changes files") }
	switch c.name {
	case "rm", "unlink", "rmdir", "shred", "srm", "trash", "trash-put":
		c.set(spec.RiskDestructive, false, "it removes files")
		c.remove(c.operands(), c.has("rR", "recursive"), c.has("f", "force") || c.name == "shred", c.name != "rmdir")
	case "find", "gfind":
		c.finder()
	case "tee", "sponge":
		change()
		files := c.operands()
		if len(files) == 0 {
			c.set(spec.RiskRead, false, "writes no file")
		}
		r.writes(files, st, c.part, !c.has("a", "append"))
	case "touch", "mkdir", "mkfifo", "mknod":
		change()
		r.writes(c.operands("-m", "--mode", "-d", "-t", "--date"), st, c.part, false)
	case "truncate", "fallocate":
		c.set(spec.RiskDestructive, false, "it cuts files")
		r.writes(c.operands("-s", "--size", "-l", "-o"), st, c.part, true)
	case "dd":
		c.dd()
	case "cp", "mv", "install", "ln", "rsync", "gcp", "gmv":
		c.copies()
	case "chmod", "chown", "chgrp", "setfacl", "chattr", "setcap":
		c.modes()
	case "sed", "gsed", "perl", "ruby":
		if !c.inPlace() {
			return false
		}
	case "vi", "vim", "nvim", "nano", "emacs", "ed", "ex", "patch", "gzip", "gunzip", "xz", "unxz", "bzip2", "zstd", "dos2unix", "unix2dos":
		change()
		r.whole = false
		r.writes(c.operands("-s", "-p"), st, c.part, c.name != "patch")
		c.interpreter()
	default:
		return c.privileged() || c.devices()
	}
	return true
}

// remove judges targets of a removal.
func (c *command) remove(targets []value, recursive, forced, loses bool) {
	r, st := c.r, c.st
	loss, open := &Loss{Dir: st.dir, Kinds: []Lost{File}}, openLoss{}
	strong := recursive || forced
	for _, v := range targets {
		list := meant(v)
		if !v.known {
			r.whole = false
			if r.globFolder(v, st) == nil && strong {
				r.find(Finding{Part: c.part, Why: "it removes by force what nobody knows beforehand: " + clip(v.src)})
			}
		}
		for _, m := range list {
			if m.known {
				c.removeOne(v.known, m, strong || c.hidden(), loss, &open)
			} else {
				c.removeGlob(m, strong, loss, &open)
			}
		}
	}
	if len(loss.Kinds) > 1 { // of some nobody knows where
		loss.Names, open.globs = nil, nil
	}
	if loses && (len(loss.Names) > 0 || len(loss.Kinds) > 1) {
		words := make([]string, len(targets))
		for i, v := range targets {
			words[i] = v.src
		}
		if !c.how.shell {
			open.globs = nil
		}
		r.lossOf(true, c.part, loss, "it removes "+clip(strings.Join(words, " ")), open)
	}
}

// anywhere makes a loss one of all work.
func (l *Loss) anywhere() { l.Kinds = []Lost{Worktree, Untracked, Ignored} }

// removeOne judges one target that is known; sure: it surely is one.
func (c *command) removeOne(sure bool, v value, strong bool, loss *Loss, open *openLoss) {
	r := c.r
	at := r.names(c.st, v.text)
	if at == nil {
		r.whole = false
		if strong && sure {
			r.find(Finding{Part: c.part, Why: "it removes by force what nobody knows beforehand: " + clip(v.src)})
		}
		loss.anywhere()
		return
	}
	for _, abs := range at {
		if sure {
			r.touches(abs)
		}
		if why := r.precious(abs); why != "" && strong {
			r.find(Finding{Part: c.part, Why: "it removes by force " + why + " (" + r.relative(abs) + ")", Paths: []string{abs}})
		}
		r.writeFloor(abs, c.part)
	}
	if len(at) > 1 {
		r.whole = false
	}
	loss.Names, open.names = append(loss.Names, at...), append(open.names, at...)
}

// removeGlob judges one target that is a pattern, or that nobody knows.
func (c *command) removeGlob(v value, strong bool, loss *Loss, open *openLoss) {
	r := c.r
	folders := r.globFolder(v, c.st)
	if folders == nil {
		loss.anywhere()
		return
	}
	for _, abs := range folders {
		if why := r.precious(abs + "/x"); strong && (why != "" || broad(v.text) && r.above(abs) != "") {
			r.find(Finding{Part: c.part, Why: "it removes by force everything in " + r.relative(abs), Paths: []string{abs}})
		}
		r.writeFloor(abs+"/"+strings.Trim(v.text[strings.LastIndexByte(v.text, '/')+1:], "*?"), c.part)
	}
	list := globs(v, folders)
	r.floorOfGlobs(list, c.part)
	loss.Names, open.globs = append(loss.Names, folders...), append(open.globs, list...)
}

// broad patterns take nearly everything in a folder.
func broad(pattern string) bool {
	pattern = pattern[strings.LastIndexByte(pattern, '/')+1:]
	in := false
	for _, c := range pattern {
		switch {
		case c == '[':
			in = true
		case c == ']':
			in = false
		case in, strings.ContainsRune("*?.!", c):
		default:
			return false
		}
	}
	return true
}

func (c *command) dd() {
	r := c.r
	c.set(spec.RiskChange, false, "it copies bytes")
	for _, v := range c.args[1:] {
		if !v.known && v.prefix == "" {
			r.whole = false
		}
		if rest, ok := strings.CutPrefix(v.prefix, "of="); ok {
			c.set(spec.RiskDestructive, false, "it writes over a file")
			r.writes([]value{tail(v, rest)}, c.st, c.part, true)
		}
		if rest, ok := strings.CutPrefix(v.prefix, "if="); ok {
			for _, abs := range r.touch(tail(v, rest), c.st) {
				r.readFloor(abs, c.part)
			}
		}
		if !v.known && strings.HasPrefix(v.src, "of=") && v.prefix == "" {
			r.find(Finding{Part: c.part, Why: "it writes to a place nobody knows beforehand: " + clip(v.src)})
		}
	}
}

// copies: the last operand, or that of -t, is written.
func (c *command) copies() {
	r, st := c.r, c.st
	c.set(spec.RiskChange, false, "it writes files")
	args := c.operands("-S", "-m", "-o", "-g", "--suffix", "--mode", "--owner", "--group", "-e", "--rsh", "--exclude", "--include", "-t", "--target-directory")
	dest, ok := value{}, false
	if c.name != "rsync" {
		dest, ok = c.valueOf("t", "target-directory")
	}
	if !ok {
		if len(args) == 0 {
			return
		}
		if c.name == "ln" && len(args) == 1 {
			args = append(args, literal("."))
		}
		dest, args = args[len(args)-1], args[:len(args)-1]
	}
	if c.name == "install" && c.has("d", "directory") {
		args, dest = append(args, dest), value{}
	}
	if c.name == "rsync" {
		for _, v := range append(slices.Clone(args), dest) {
			if strings.Contains(v.text, ":") || strings.Contains(v.text, "@") {
				c.set(spec.RiskNetwork, false, "it reaches the network")
			}
		}
		if c.has("e", "rsh", "rsync-path") {
			r.whole = false
		}
		if c.has("", "delete", "remove-source-files", "del") {
			c.set(worse(spec.RiskDestructive, r.riskOf(c.part)), false, "it removes files")
			c.remove([]value{dest}, true, true, true)
		}
	}
	targets := []value{dest}
	for _, v := range args {
		if v.known && dest.known {
			targets = append(targets, literal(strings.TrimSuffix(dest.text, "/")+"/"+baseName(v.text)))
		}
		if c.name == "mv" {
			for _, abs := range r.names(st, v.text) {
				if why := r.above(abs); why != "" && v.known {
					r.find(Finding{Part: c.part, Why: "it moves away " + why, Paths: []string{abs}})
				}
				if v.known {
					r.writeFloor(abs, c.part)
				}
			}
		}
		if c.name != "ln" {
			r.touch(v, st)
		}
		if v.known && slices.ContainsFunc(r.places(st, v.text), r.came) {
			for _, to := range targets {
				r.fetchTo(to, st)
			}
		}
	}
	if c.name == "ln" {
		defer c.links(args, targets)
	}
	if c.name == "mv" || c.name == "gmv" {
		c.moved(args, targets)
	}
	over := !c.has("n", "no-clobber") && (c.name != "ln" || c.has("f", "force"))
	r.writes(targets, st, c.part, over)
}

// links: what a link leads to is as good as written, and what the line does
// behind the link cannot be looked up yet.
func (c *command) links(from, to []value) {
	r := c.r
	for _, v := range from {
		for _, abs := range r.names(c.st, v.text) {
			if v.known {
				r.writeFloor(abs, c.part)
			}
		}
	}
	for _, v := range to {
		if v.known {
			r.linked = append(r.linked, r.names(c.st, v.text)...)
		}
	}
	if len(to) > 0 && !to[0].known {
		c.st.lost()
	}
}

func (r *reader) riskOf(part int) spec.Risk {
	if part < 0 {
		return spec.RiskChange
	}
	return r.out.Parts[part].Risk
}

func baseName(s string) string {
	s = strings.TrimRight(s, "/")
	return s[strings.LastIndexByte(s, '/')+1:]
}

// modes: rights and owners.
func (c *command) modes() {
	r := c.r
	c.set(spec.RiskChange, false, "it changes rights of files")
	args := c.operands("--reference", "-m", "-x")
	switch c.name {
	case "chown", "setcap":
		c.set(spec.RiskDestructive, false, "it gives files to another user")
		r.find(Finding{Part: c.part, Why: c.name + " gives a file or a program other rights"})
	case "chmod":
		if len(args) > 0 && setsID(args[0]) || slices.ContainsFunc(c.args[1:], func(v value) bool {
			return strings.HasPrefix(v.prefix, "-") && setsID(tail(v, strings.TrimPrefix(v.text, "-"))) && strings.Contains(v.text, "s")
		}) {
			r.find(Finding{Part: c.part, Why: "it makes a program run with the rights of its owner"})
		}
	}
	if len(args) > 1 {
		args = args[1:]
	}
	for _, v := range args {
		for _, abs := range r.touch(v, c.st) {
			if why := r.precious(abs); why != "" && c.has("R", "recursive") {
				r.find(Finding{Part: c.part, Why: "it changes the rights of everything in " + why, Paths: []string{abs}})
			}
			r.writeFloor(abs, c.part)
		}
	}
}

// setsID tells whether a mode sets the bit that runs a program as its owner.
func setsID(v value) bool {
	if !v.known {
		return true
	}
	mode := v.text
	if isNumber(mode) {
		mode = strings.TrimLeft(mode, "0")
		return len(mode) > 3 && strings.ContainsAny(mode[:len(mode)-3], "24567")
	}
	for _, clause := range strings.Split(mode, ",") {
		if i := strings.IndexAny(clause, "+="); i >= 0 && strings.Contains(clause[i:], "s") {
			return true
		}
	}
	return false
}
