package command

import (
	"slices"
	"strings"
	"sync"

	"mvdan.cc/sh/v3/syntax"

	"starling/bus/spec"
)

// wrap describes a program that runs its arguments.
type wrap struct {
	opts     string // see optionTable; with another nobody can tell what runs
	operands int    // words before the command
	assigns  bool   // NAME=VALUE may stand before the command
	raises   bool   // it gives other rights
	writes   string // options whose value is a file that is written
	file     bool   // the first operand is a file that is written
	line     string // options whose value is a line for a shell
	program  string // options whose value is a program
	config   string // options that make it do more than run the command
}

// wraps are the wrappers. A transparent one is Free and what it runs is the part
// a rule must cover: `timeout 9 go test` asks for `go test`. There is no terminal,
// so nohup writes no file.
var wraps = sync.OnceValue(func() map[string]wrap {
	return map[string]wrap{
		"env": {opts: "-i0v -uCS= --ignore-environment --null --unset= --chdir= --split-string= --debug --block-signal? --default-signal? --ignore-signal? " +
			"--list-signal-handling --argv0=", assigns: true},
		"nohup":    {},
		"setsid":   {opts: "-cfw --ctty --fork --wait"},
		"nice":     {opts: "-0123456789 -n= --adjustment="},
		"ionice":   {opts: "-t -cn= --class= --classdata= --ignore"},
		"timeout":  {opts: "-vfp -ks= --kill-after= --signal= --foreground --preserve-status --verbose", operands: 1},
		"gtimeout": {opts: "-vfp -ks= --kill-after= --signal= --foreground --preserve-status --verbose", operands: 1},
		"stdbuf":   {opts: "-ioe= --input= --output= --error="},
		"time":     {opts: "-apqvlh -fo= --append --format= --output= --portability --quiet --verbose", writes: "-o --output"},
		"command":  {opts: "-pvV"},
		"builtin":  {},
		"exec":     {opts: "-cl -a="},
		"chrt":     {opts: "-abfiormRv -TPD= --all-tasks --batch --fifo --idle --other --rr --reset-on-fork --verbose --sched-runtime= --sched-period= --sched-deadline=", operands: 1},
		"taskset":  {opts: "-ac --all-tasks --cpu-list", operands: 1}, "chronic": {opts: "-ev"}, "unbuffer": {opts: "-p"}, "caffeinate": {opts: "-dimsu -tw="},
		"strace": {opts: "-cCdfFhiknqrtTvVwxyYzZ -aeEoOpPsSuUXI= --output= --trace= --follow-forks --summary --string-limit=", writes: "-o --output"},
		"ltrace": {opts: "-bcCfhiLrStTV -aADelnopsuwxF= --output= --config=", writes: "-o --output", config: "-F --config"},
		"xargs": {opts: "-0prtxo -adEILnPs= -eil? --null --interactive --no-run-if-empty --verbose --exit --open-tty --arg-file= --delimiter= --eof? --max-args= --max-procs= --max-chars= " +
			"--max-lines? --replace? --show-limits"},
		"flock":   {opts: "-nsxueFow -wEc= --nonblock --nb --shared --exclusive --unlock --close --no-fork --verbose --timeout= --wait= --conflict-exit-code= --command=", operands: 1, line: "-c --command", file: true},
		"watch":   {opts: "-bcdegtxwpC -nq= --beep --color --no-color --differences? --errexit --chgexit --interval= --equexit= --no-title --exec --no-wrap --precise"},
		"busybox": {}, "toybox": {}, "entr": {opts: "-acdnprsz"},
		"sudo": {opts: "-AbBEeHiKklNnPsSVv -CDghpRrtTuU= --user= --group= --host= --prompt= --chdir= --chroot= --role= --type= --close-from= --command-timeout= --other-user= --non-interactive --preserve-env? --set-home --login --stdin --shell --background --askpass --bell --reset-timestamp --edit --list --validate", assigns: true, raises: true},
		"doas": {opts: "-Lns -Cu=", raises: true}, "pkexec": {opts: "--user= --disable-internal-agent --keep-cwd", raises: true}, "run0": {opts: "-ugD= --user= --group= --chdir= --unit= --property= --background= --nice= --setenv=", raises: true},
		"su":               {opts: "-lmpPf -cgGswT= --command= --group= --supp-group= --shell= --login --preserve-environment --fast --pty", operands: 1, line: "-c --command", raises: true},
		"runuser":          {opts: "-lmpPf -cgGsuw= --command= --user= --group= --shell= --login --preserve-environment --fast --pty", line: "-c --command", raises: true},
		"chroot":           {opts: "--userspec= --groups= --skip-chdir", operands: 1, raises: true},
		"unshare":          {opts: "-imnpuUCTfrc -SGRw= --ipc? --mount? --net? --pid? --uts? --user? --cgroup? --fork --map-root-user --map-current-user --mount-proc? --setuid= --setgid= --root= --wd= --kill-child?"},
		"nsenter":          {opts: "-aimnpuUCTFrZ -tSGw= --target= --all --mount? --uts? --ipc? --net? --pid? --user? --root? --wd?", raises: true},
		"setpriv":          {raises: true},
		"script":           {opts: "-aefqVr -cEBIOTtm= --append --flush --force --quiet --return --command= --echo= --log-in= --log-out= --log-io= --log-timing= --output-limit=", operands: 1, line: "-c --command", writes: "-B -I -O -T --log-in --log-out --log-io --log-timing", file: true},
		"capsh":            {raises: true},
		"dbus-run-session": {opts: "--config-file= --dbus-daemon=", config: "--config-file", program: "--dbus-daemon"},
		"xvfb-run":         {opts: "-adlh -efnpsw= --auto-servernum --listen-tcp --error-file= --auth-file= --server-num= --xauth-protocol= --server-args= --wait=", writes: "-e -f --error-file --auth-file"},
		"firejail":         {opts: "--quiet --noprofile --net= --private --output= --output-stderr= --profile= --allusers --seccomp --caps.drop=", writes: "--output --output-stderr", config: "--profile"},
		"bwrap":            {opts: "--bind== --ro-bind== --dev-bind== --symlink== --proc= --dev= --tmpfs= --dir= --chdir= --unshare-all --unshare-net --unshare-user --unshare-pid --unshare-ipc --share-net --die-with-parent --new-session --setenv== --unsetenv= --clearenv --uid= --gid= --hostname="},
		"proxychains":      {opts: "-q -f=", config: "-f"}, "proxychains4": {opts: "-q -f=", config: "-f"},
		"parallel": {opts: "-0kqtuvX -jaIdSNnLP= --jobs= --keep-order --halt= --bar --eta --dry-run --arg-file= --colsep= --delimiter= --joblog= --line-buffer --max-args= --tag --timeout= --retries= --will-cite --null --verbose", writes: "--joblog"},
	}
})

func (c *command) wrapper() bool {
	w, ok := wraps()[c.name]
	if !ok {
		return false
	}
	r := c.r
	st := c.st
	if w.raises {
		c.set(spec.RiskDestructive, false, "it acts with other rights")
		r.find(Finding{Part: c.part, Why: c.name + " acts with the rights of another user"})
	} else {
		c.set(spec.RiskRead, !c.ours(), "runs a command, which is judged by itself")
	}
	if c.name == "script" {
		c.set(spec.RiskChange, false, "it writes what it sees to a file")
		r.whole = false
	}
	if c.name == "exec" && c.bare && len(c.args) == 1 {
		return true // its redirections are parts
	}
	at, sure := c.wrapped(w)
	if v, ok := c.option(w.line); ok {
		c.ownFiles(w, at)
		c.code(v, c.name)
		return true
	}
	if !sure {
		r.unread("nobody can tell what %s runs", c.name)
		r.whole = false
		return true
	}
	c.ownFiles(w, at)
	if st = c.wrapperState(st); st == nil {
		return true
	}
	rest := c.args[at:]
	for w.assigns && len(rest) > 0 {
		name, _, ok := strings.Cut(rest[0].prefix, "=")
		if !ok || !syntax.ValidName(name) {
			break
		}
		r.setVariable(name, rest[0].word(), st, true)
		rest = rest[1:]
	}
	c.inside(rest, st, w)
	return true
}

// wrapperState is where the wrapped command runs; nil when there is none.
func (c *command) wrapperState(st *state) *state {
	st = st.copy()
	switch c.name {
	case "command":
		if c.has("vV") {
			c.set(spec.RiskRead, !c.ours(), "looks up a name")
			return nil
		}
	case "env", "sudo", "run0":
		if v, ok := c.valueOf(map[string]string{"env": "C", "sudo": "D", "run0": "D"}[c.name], "chdir"); ok {
			dirs := c.r.places(st, v.text)
			if st.lost(); v.known && len(dirs) == 1 {
				st.dir = dirs[0]
			}
		}
	case "chroot", "nsenter", "unshare", "bwrap", "firejail":
		st.lost()
	case "xargs":
		if v, ok := c.valueOf("a", "arg-file"); ok {
			c.r.inputFile(v, st, -1)
		}
	}
	st.in = c.st.in
	return st
}

// inside judges the wrapped command.
func (c *command) inside(rest []value, st *state, w wrap) {
	r := c.r
	if c.name == "env" {
		if v, ok := c.valueOf("S", "split-string"); ok {
			line := v.text
			for _, more := range rest {
				v.known = v.known && more.known
				line += " " + quote(more.text)
			}
			v.text = line
			if strings.ContainsAny(line, "\\$") {
				v.known = false // env has escapes of its own
			}
			c.code(v, "env -S")
			return
		}
	}
	switch c.name {
	case "watch":
		if !c.has("x", "exec") {
			c.joined(rest)
			return
		}
	case "parallel":
		c.parallel(rest)
		return
	case "xargs":
		if len(rest) == 0 {
			rest = []value{literal("echo")}
		}
		if why := c.st.in.keys; why != "" && opens(baseName(rest[0].text)) {
			r.find(Finding{Part: c.part, Why: why})
		}
		mark := ""
		if v, ok := c.valueOf("I", "replace"); ok && v.known {
			mark = v.text
		} else if c.has("i", "replace") {
			mark = "{}"
		}
		rest = filled(rest, mark)
	}
	if len(rest) == 0 {
		if w.raises {
			return
		}
		if c.set(spec.RiskChange, false, "runs nothing that can be seen"); c.name == "env" {
			c.set(spec.RiskRead, false, "lists variables")
		}
		return
	}
	how := argv{download: c.how.download || c.name == "xargs" && st.in.download, floor: c.how.floor, part: c.part}
	if c.name == "builtin" || c.name == "exec" || c.name == "command" {
		// The folder and the variables of this shell, without functions.
		in := c.st.in
		c.st.in = st.in
		r.run(c.st, rest, how)
		c.st.in = in
		return
	}
	r.run(st, rest, how)
}

// filled puts what nobody knows where the words of the input go.
func filled(args []value, mark string) []value {
	out := slices.Clone(args)
	if mark == "" {
		return append(out, nobodyKnows("…"))
	}
	for i, v := range out {
		if strings.Contains(v.text, mark) {
			before, after, _ := strings.Cut(v.text, mark)
			v.known, v.prefix, v.suffix = false, before, after
			out[i] = v
		}
	}
	return out
}

// joined words are a line for a shell.
func (c *command) joined(words []value) {
	v := value{known: true}
	for _, w := range words {
		v.known = v.known && w.known
		v.text += w.text + " "
		v.src += w.src + " "
	}
	c.code(v, c.name)
}

func (c *command) parallel(rest []value) {
	i := slices.IndexFunc(rest, func(v value) bool { return strings.HasPrefix(v.text, ":::") })
	template := rest
	if i >= 0 {
		template = rest[:i]
	}
	if len(template) == 0 {
		c.r.unread("parallel runs lines nobody knows")
		return
	}
	c.r.unread("parallel makes lines for a shell of its input")
	mark := "{}"
	if !slices.ContainsFunc(template, func(v value) bool { return strings.Contains(v.text, mark) }) {
		mark = ""
	}
	c.r.run(c.child(), filled(template, mark), argv{floor: true, part: c.part})
}

// option is the value of the first of these options that the wrapper is given.
func (c *command) option(names string) (value, bool) {
	for _, name := range strings.Fields(names) {
		if v, ok := c.words.named[name]; ok {
			return v, true
		}
	}
	return value{}, false
}

// ownFiles judges what a wrapper opens besides the command it runs, and what else
// it is told to run.
func (c *command) ownFiles(w wrap, at int) {
	r := c.r
	change := func(why string) {
		if !w.raises {
			c.set(spec.RiskChange, false, why)
		}
	}
	var files []value
	for _, name := range strings.Fields(w.writes) {
		v, ok := c.words.named[name]
		if line, piped := strings.CutPrefix(strings.TrimLeft(v.prefix, "!"), "|"); ok && c.name == "strace" && (piped || strings.HasPrefix(v.prefix, "!")) {
			change("it runs a line of its own")
			c.code(tail(v, line), "strace -o")
		} else if ok {
			files = append(files, v)
		}
	}
	if w.file {
		if v := c.words.first; v.src != "" && !(v.known && isNumber(v.text)) {
			files = append(files, v)
		}
	}
	if len(files) > 0 {
		change("it writes a file of its own")
		r.writes(files, c.st, c.part, c.name != "flock" && !c.words.has("-a", "--append"))
	}
	if v, ok := c.option(w.program); ok {
		change("it runs another program besides")
		r.run(c.child(), []value{v}, argv{floor: true, part: c.part})
	}
	if v, ok := c.option(w.config); ok {
		change("a file says what it does")
		r.touch(v, c.st)
		r.whole = false
	}
}

// wrapped finds the first word of the wrapped command and sorts the options before
// it. false: nobody can tell.
func (c *command) wrapped(w wrap) (int, bool) {
	table, i := optionsOf(w.opts, c.name == "bwrap"), 1
	g := &given{used: map[string]bool{}, named: map[string]value{}, ok: true}
	c.words = g
	for ; i < len(c.args); i++ {
		v := c.args[i]
		if !v.known && v.prefix == "" && v.many {
			return i, false
		}
		if v.is("--") {
			i++
			break
		}
		if !strings.HasPrefix(v.prefix, "-") {
			break
		}
		if v.is("-") {
			if c.name == "env" || c.name == "su" {
				continue
			}
			break
		}
		if !v.known && !strings.Contains(v.prefix, "=") && len(v.prefix) < 3 {
			return i, false
		}
		if strings.HasPrefix(v.prefix, "--") || table.exact {
			i += g.long(table, v, c.args[i+1:])
		} else {
			i += g.cluster(table, v, c.args[i+1:])
		}
	}
	for n := w.operands; n > 0 && i < len(c.args); n-- {
		if c.args[i].many {
			return i, false
		}
		if g.first.src == "" {
			g.first = c.args[i]
		}
		i++
	}
	for w.line != "" && i < len(c.args) && strings.HasPrefix(c.args[i].prefix, "-") { // flock FILE -c LINE
		if v := c.args[i]; strings.HasPrefix(v.prefix, "--") {
			i += g.long(table, v, c.args[i+1:])
		} else {
			i += g.cluster(table, v, c.args[i+1:])
		}
		i++
	}
	return min(i, len(c.args)), g.ok
}
