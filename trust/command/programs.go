package command

import (
	"slices"
	"strings"

	"starling/bus/spec"
)

// finder judges find: its starting points, what it runs and what it removes.
func (c *command) finder() {
	r, st := c.r, c.st
	var starts []value
	i := 1
	for ; i < len(c.args); i++ {
		v := c.args[i]
		if strings.HasPrefix(v.prefix, "-") && !slices.Contains([]string{"-H", "-L", "-P"}, v.text) && !strings.HasPrefix(v.text, "-O") && v.text != "-D" ||
			v.is("(") || v.is("!") || v.is("\\(") {
			break
		}
		if !strings.HasPrefix(v.text, "-") {
			starts = append(starts, v)
		}
	}
	if len(starts) == 0 {
		starts = []value{literal(".")}
	}
	tests := c.args[i:]
	narrow := narrowed(tests)
	links := slices.ContainsFunc(c.args[1:], func(v value) bool { return v.is("-L") || v.is("-follow") })
	c.set(spec.RiskRead, false, "it looks for files")
	if slices.ContainsFunc(tests, func(v value) bool { return v.many }) {
		c.set(spec.RiskChange, false, "nobody knows all of its words")
		r.whole = false
	}
	runs := false
	if strange(c.args[1:i], tests) {
		c.set(spec.RiskChange, false, "it has an option nobody listed")
		r.whole = false
	}
	for j := 0; j < len(tests); j++ {
		switch v := tests[j]; v.text {
		case "-exec", "-execdir", "-ok", "-okdir":
			end := j + 1
			for end < len(tests) && !tests[end].is(";") && !tests[end].is("+") {
				end++
			}
			if end == j+1 {
				continue
			}
			runs, r.tangled = true, true
			c.foundKeys(starts, tests[:j], baseName(tests[j+1].text))
			c.set(spec.RiskRead, !c.ours(), "looks for files and runs a command on them, which is judged by itself")
			c.each(tests[j+1:end], starts, narrow, v.text)
			j = end
		case "-delete":
			c.set(spec.RiskDestructive, false, "it removes files")
			c.removeFound(starts, narrow && !links)
			runs = true
		case "-fprint", "-fprint0", "-fls", "-fprintf":
			if j+1 < len(tests) {
				c.set(spec.RiskChange, false, "it writes a file")
				r.writes(tests[j+1:j+2], st, c.part, true)
			}
		case "-files0-from":
			r.whole = false
		}
	}
	for _, v := range starts {
		r.touch(v, st)
	}
	if where, why := c.mayFind(starts, tests); why != "" && !c.how.floor && c.part >= 0 {
		r.notes[c.part].keys = "it hands on what is found below " + r.relative(where) + ", and that may be keys: " + why
	}
	if runs {
		r.whole = false
	}
}

// finderWords are the tests of find, and those with a value.
var (
	finderWords = words("-H -L -P -daystart -depth -d -empty -executable -false -ls -mount -nogroup -noleaf -not -nouser -o -or -a -and -print -print0 -prune -quit " +
		"-readable -true -writable -xdev -ignore_readdir_race -noignore_readdir_race -warn -nowarn -follow -delete")
	finderValues = words("-amin -anewer -atime -cmin -cnewer -ctime -fstype -gid -group -ilname -iname -inum -ipath -iregex -iwholename -links -lname -maxdepth " +
		"-mindepth -mmin -mtime -name -newer -newermt -newerct -newerat -newermm -path -perm -printf -regex -regextype -samefile -size -type -uid -used -user " +
		"-wholename -xtype -fprint -fprint0 -fls -files0-from")
)

// strange tells whether find is given a word that nobody listed.
func strange(before, tests []value) bool {
	for _, v := range before {
		if strings.HasPrefix(v.prefix, "-") && !finderWords()[v.text] && !strings.HasPrefix(v.text, "-O") {
			return true
		}
	}
	for j := 0; j < len(tests); j++ {
		switch v := tests[j]; {
		case v.is("-fprintf"):
			j += 2
		case finderValues()[v.text]:
			j++
		case v.is("-exec"), v.is("-execdir"), v.is("-ok"), v.is("-okdir"):
			for j++; j < len(tests) && !tests[j].is(";") && !tests[j].is("+"); j++ {
			}
		case !finderWords()[v.text] && !v.is("(") && !v.is(")") && !v.is("!") && !v.is(","):
			return true
		}
	}
	return false
}

// narrowed tells whether find is held to names of some kind.
func narrowed(tests []value) bool {
	narrow := false
	for i, v := range tests {
		switch v.text {
		case "!", "-not", "-o", "-or", ",", "(":
			return false
		case "-name", "-iname", "-path", "-ipath", "-wholename":
			narrow = narrow || i+1 < len(tests) && tests[i+1].known && !broad(tests[i+1].text)
		}
	}
	return narrow
}

func (c *command) removeFound(starts []value, narrow bool) {
	r, st := c.r, c.st
	for _, v := range starts {
		at := r.places(st, v.text)
		if !v.known || at == nil {
			r.find(Finding{Part: c.part, Why: "it removes what is below a folder nobody knows beforehand: " + clip(v.src)})
			at = nil
		}
		for _, abs := range at {
			why := r.precious(abs)
			if why != "" && (!narrow || !r.inside(abs)) {
				r.find(Finding{Part: c.part, Why: "it removes what is below " + why + " (" + r.relative(abs) + ")", Paths: []string{abs}})
			}
			r.writeFloor(abs, c.part)
		}
		r.lossOf(true, c.part, &Loss{Dir: st.dir, Kinds: []Lost{Worktree, Untracked, Ignored}, Names: at}, "files below "+clip(v.src)+" are removed")
	}
}

// each judges the command find runs: {} stands for what it found.
func (c *command) each(args, starts []value, narrow bool, how string) {
	r := c.r
	st := c.child()
	st.in = input{}
	if strings.HasSuffix(how, "dir") {
		st.lost()
	}
	if baseName(args[0].text) == "rm" && args[0].known {
		p := Part{Kind: Simple, Dir: st.dir, Risk: spec.RiskDestructive, Why: "it removes files"}
		for _, v := range args {
			w := v.word()
			w.Known = w.Known && !strings.Contains(w.Text, "{}")
			p.Words = append(p.Words, w)
		}
		inner := *c
		inner.args = args
		if !c.how.floor {
			inner.part = r.add(p, note{program: "rm"})
		}
		inner.removeFound(starts, narrow && !inner.has("rR", "recursive"))
		return
	}
	filledArgs := slices.Clone(args)
	for i, v := range filledArgs {
		before, after, ok := strings.Cut(v.text, "{}")
		if ok && v.known {
			filledArgs[i] = value{src: v.src, prefix: before, suffix: after, vars: v.vars}
		}
	}
	r.run(st, filledArgs, argv{floor: c.how.floor, part: c.part})
}

// inPlace judges sed -i, perl -i and ruby -i. false: nothing is edited.
func (c *command) inPlace() bool {
	r := c.r
	letters := "i"
	edits := false
	for _, v := range c.args[1:] {
		if strings.HasPrefix(v.prefix, "-") && !strings.HasPrefix(v.prefix, "--") && strings.Contains(v.prefix, letters) && !strings.HasPrefix(v.prefix, "-I") {
			edits = true
		}
		edits = edits || option(v, "", "in-place") && len(v.prefix) > 3
	}
	if !edits {
		return false
	}
	c.set(spec.RiskChange, false, "it edits files in place")
	args := c.operands("-e", "-f", "-l")
	if !slices.ContainsFunc(c.args[1:], func(v value) bool { return v.is("-e") || v.is("-f") || strings.HasPrefix(v.prefix, "-e") }) && len(args) > 0 {
		if c.name == "sed" || c.name == "gsed" || !c.has("e") {
			args = args[1:]
		}
	}
	r.whole = false // a script of sed or perl may name others
	if more := c.sedWrites(); len(more) > 0 && (c.name == "sed" || c.name == "gsed") {
		r.writes(more, c.st, c.part, true)
	}
	if len(args) > 0 {
		r.writes(args, c.st, c.part, true)
	}
	return true
}

// privileged programs change users and rights.
var privilegedPrograms = words("usermod useradd userdel groupadd groupmod groupdel gpasswd passwd chpasswd visudo adduser deluser newgrp sg setuid " +
	"machinectl polkit pkcheck setenforce aa-disable insmod modprobe rmmod sysctl iptables nft ufw csrutil spctl dscl")

func (c *command) privileged() bool {
	if !privilegedPrograms()[c.name] {
		return false
	}
	c.set(spec.RiskDestructive, false, "it changes users or rights")
	c.r.whole = false
	c.r.find(Finding{Part: c.part, Why: c.name + " changes users, rights or the system"})
	return true
}

var devicePrograms = words("mkswap fdisk sfdisk cfdisk gdisk sgdisk parted wipefs blkdiscard hdparm badblocks mount umount losetup cryptsetup " +
	"lvremove vgremove pvremove mdadm zpool diskutil swapoff swapon e2fsck fsck tune2fs resize2fs nvme flashrom efibootmgr grub-install")

func (c *command) devices() bool {
	if !devicePrograms()[c.name] && !strings.HasPrefix(c.name, "mkfs") && !strings.HasPrefix(c.name, "newfs") {
		return false
	}
	c.set(spec.RiskDestructive, false, "it works on devices")
	c.r.whole = false
	c.r.find(Finding{Part: c.part, Why: c.name + " works on raw devices"})
	return true
}

// fetching notes what a download writes.
func (c *command) fetching() {
	r := c.r
	switch c.name {
	case "curl", "wget", "aria2c", "axel", "http", "https", "xh", "lynx", "w3m", "fetch", "nc", "ncat", "netcat", "socat", "scp", "sftp", "ssh", "gh", "ftp":
	default:
		return
	}
	if !c.how.floor && c.part >= 0 {
		r.notes[c.part].download = true
	}
	var files []value
	switch c.name {
	case "curl":
		if v, ok := c.valueOf("o", "output"); ok {
			files = append(files, v)
		}
		for _, name := range []string{"config", "cookie-jar", "dump-header", "trace"} {
			if v, ok := c.valueOf("", name); ok && name != "config" {
				files = append(files, v)
			}
		}
		if c.has("O", "remote-name") {
			files = append(files, c.urlNames()...)
		}
	case "wget":
		if v, ok := c.valueOf("O", "output-document"); ok {
			files = append(files, v)
		} else {
			files = append(files, c.urlNames()...)
		}
	case "aria2c", "axel":
		if v, ok := c.valueOf("o", "out", "output"); ok {
			files = append(files, v)
		} else {
			files = append(files, c.urlNames()...)
		}
	case "scp":
		if args := c.operands("-i", "-P", "-o", "-F", "-J", "-l", "-c"); len(args) > 1 && !strings.Contains(args[len(args)-1].text, ":") {
			files = append(files, args[len(args)-1])
		}
	}
	for _, v := range files {
		if v.is("-") {
			continue
		}
		r.fetchTo(v, c.st)
		r.writes([]value{v}, c.st, c.part, true)
	}
}

// urlNames are the files that addresses are stored under.
func (c *command) urlNames() []value {
	var out []value
	for _, v := range c.operands() {
		text, _, _ := strings.Cut(v.text, "?")
		if v.known && strings.Contains(text, "/") && baseName(text) != "" {
			out = append(out, literal(baseName(text)))
		}
	}
	return out
}

// starters have something run later or by itself, and files that were fetched.
func (c *command) starters() {
	r := c.r
	switch c.name {
	case "crontab", "at", "batch", "launchctl", "systemd-run", "update-rc.d", "chkconfig", "schtasks", "loginctl", "atq":
		if c.name == "crontab" && c.has("l") || c.name == "atq" {
			break
		}
		r.find(Finding{Part: c.part, Why: c.name + " has something run later, when nobody looks"})
	case "systemctl", "rc-update":
		if slices.ContainsFunc(c.args[1:], func(v value) bool {
			return v.is("enable") || v.is("link") || v.is("edit") || v.is("mask") || v.is("disable") || v.is("set-property") || !v.known
		}) {
			r.find(Finding{Part: c.part, Why: c.name + " changes what starts with the machine"})
		}
	case "ssh-keygen", "ssh-copy-id", "gpg", "secret-tool", "security", "pass":
		if c.name == "security" || c.name == "secret-tool" || c.name == "pass" || c.has("", "export-secret-keys", "export-secret-subkeys") {
			r.find(Finding{Part: c.part, Why: c.name + " reads stored passwords or keys"})
		}
	}
}
