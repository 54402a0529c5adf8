package command

import (
	"slices"
	"strings"
	"sync"
)

// network are programs that reach other machines.
var network = words("curl wget ssh scp sftp rsh ftp tftp nc ncat netcat socat telnet aria2c axel lynx w3m links httpie http https xh nmap ping dig " +
	"nslookup host whois traceroute pip pip3 pipx uvx npx pnpx bunx apt apt-get aptitude dnf yum zypper pacman apk brew port snap flatpak gem " +
	"cpan cpanm conda mamba composer gh glab aws gcloud az kubectl helm doctl flyctl heroku vercel netlify wrangler ansible ansible-playbook " +
	"mosh rclone s3cmd mail sendmail msmtp twine ngrok cloudflared")

// networkSubs are programs with words that make them reach the network.
var networkSubs = sync.OnceValue(func() map[string]map[string]bool {
	return map[string]map[string]bool{
		"npm":  set("install i ci add update upgrade publish exec x audit outdated view info search login logout init create dist-tag link"),
		"yarn": set("install add upgrade publish dlx create up npm"), "pnpm": set("install i add update publish dlx exec create up"),
		"bun": set("install add update publish x create"), "go": set("get install mod"), "cargo": set("install publish fetch update add search login"),
		"docker": set("pull push login build run search"), "podman": set("pull push login build run search"), "uv": set("sync add pip tool lock publish run"),
		"poetry": set("install add update publish lock"), "bundle": set("install update add"), "deno": set("install add run cache"), "dotnet": set("restore add"),
		"mvn": set("deploy"), "terraform": set("init apply plan destroy"), "python": {}, "nix": set("build run shell develop flake"),
	}
})

// destructive are programs that remove or overwrite for good.
var destructive = words("kill killall pkill shutdown reboot halt poweroff init telinit dropdb dropuser wipe userdel groupdel")

var destructiveSubs = sync.OnceValue(func() map[string]map[string]bool {
	return map[string]map[string]bool{
		"docker": set("rm rmi kill prune stop"), "podman": set("rm rmi kill prune stop"), "cargo": set("clean"), "npm": set("uninstall rm remove unpublish prune"),
		"go": set("clean"), "make": set("clean distclean"),
	}
})

func (c *command) sub() string {
	for _, v := range c.args[1:] {
		if v.known && !strings.HasPrefix(v.text, "-") {
			return v.text
		}
	}
	return ""
}

func (c *command) networkSub() bool {
	subs := networkSubs()[c.name]
	if c.name == "python" || c.name == "python3" {
		return len(c.args) > 2 && c.args[1].is("-m") && (c.args[2].is("pip") || c.args[2].is("http.server"))
	}
	return subs[c.sub()] || c.name == "npm" && len(c.args) == 1
}

func (c *command) destructiveSub() bool {
	if subs := destructiveSubs()[c.name]; subs[c.sub()] {
		return true
	}
	return (c.name == "docker" || c.name == "podman") && slices.ContainsFunc(c.args[1:], func(v value) bool { return v.is("prune") || v.is("rm") })
}

// reader programs and the options that make them write or run something:
// letters, then long names. Anything else they do is reading.
type readSpec struct {
	letters string
	longs   string
	most    int  // operands beyond which it writes; 0 is no bound
	none    bool // it reads no files at all
	tree    bool // it reads what is below a folder
}

var readers = sync.OnceValue(func() map[string]readSpec {
	return map[string]readSpec{
		"ls": {}, "dir": {}, "stat": {}, "file": {letters: "CzZ", longs: "compile"}, "du": {}, "df": {}, "which": {none: true}, "whereis": {none: true},
		"cat": {}, "head": {}, "tail": {}, "wc": {}, "nl": {}, "tac": {}, "rev": {}, "cut": {}, "tr": {none: true}, "paste": {}, "join": {}, "comm": {},
		"fold": {}, "fmt": {}, "expand": {}, "unexpand": {}, "column": {}, "sort": {letters: "oT", longs: "output compress-program temporary-directory"},
		"uniq": {most: 1}, "tsort": {}, "shuf": {letters: "o", longs: "output"}, "numfmt": {none: true}, "strings": {},
		"base64": {letters: "o", longs: "output"}, "base32": {}, "grep": {tree: true}, "egrep": {tree: true}, "fgrep": {tree: true},
		"rg": {longs: "pre hostname-bin", tree: true}, "fd": {letters: "xX", longs: "exec exec-batch", tree: true},
		"tree": {letters: "oR", tree: true}, "diff": {letters: "l", longs: "paginate"}, "cmp": {}, "od": {}, "hexdump": {},
		"xxd": {letters: "r", longs: "revert", most: 1}, "md5sum": {}, "sha1sum": {}, "sha224sum": {}, "sha256sum": {}, "sha384sum": {}, "sha512sum": {},
		"b2sum": {}, "cksum": {}, "sum": {}, "shasum": {}, "basename": {none: true}, "dirname": {none: true}, "pwd": {none: true}, "realpath": {none: true},
		"readlink": {none: true}, "seq": {none: true}, "sleep": {none: true}, "true": {none: true}, "false": {none: true}, "test": {none: true},
		"[": {none: true}, "echo": {none: true}, "printf": {none: true}, "uname": {none: true}, "whoami": {none: true}, "id": {none: true},
		"groups": {none: true}, "who": {none: true}, "uptime": {none: true}, "arch": {none: true}, "nproc": {none: true}, "getconf": {none: true},
		"locale": {none: true}, "tty": {none: true}, "free": {none: true}, "ps": {none: true}, "pgrep": {none: true}, "lsof": {none: true},
		"printenv": {none: true}, "jq": {}, "readelf": {}, "yes": {none: true}, "date": {letters: "s", longs: "set", none: true},
		"hostname": {most: -1, none: true}, "cal": {none: true}, "expr": {none: true}, "factor": {none: true}, "look": {},
	}
})

// toolchain programs say their version and no more when asked for it alone.
var toolchain = words("python python3 node npm pnpm yarn bun deno cargo rustc rustup gcc g++ clang java javac ruby php make cmake docker kubectl " +
	"terraform go git bash zsh perl gofmt tsc eslint prettier ruff black mypy pytest jq rg fd tar gzip curl wget ssh")

// readOnly tells whether the command reads and does nothing else.
func (c *command) readOnly() bool {
	if c.ours() {
		return false
	}
	if toolchain()[c.name] && len(c.args) == 2 && (c.args[1].is("--version") || c.args[1].is("-V") && c.name != "tar" || c.args[1].is("version") && c.name == "go") {
		return true
	}
	switch c.name {
	case "go":
		return c.goReads()
	case "sed", "gsed":
		return c.sedReads()
	case "awk", "gawk", "mawk":
		return c.awkReads()
	case "gofmt":
		return !c.hidden() && !c.has("wrc") && !c.has("", "cpuprofile")
	}
	spec, ok := readers()[c.name]
	if !ok {
		return false
	}
	longs := strings.Fields(spec.longs)
	if c.name != "echo" && c.has(spec.letters, longs...) {
		return false
	}
	if (spec.letters != "" || len(longs) > 0) && c.hidden() {
		return false
	}
	if n := len(c.operands("-f", "-s", "-w", "-c", "-l", "-n", "-o")); spec.most > 0 && n > spec.most || spec.most < 0 && n > 0 {
		return false
	}
	switch c.name {
	case "printf":
		return len(c.args) > 1 && (c.args[1].prefix != "" && c.args[1].prefix[0] != '-')
	case "uniq", "xxd", "hostname":
		return !slices.ContainsFunc(c.args[1:], func(v value) bool { return v.many })
	case "date":
		return !slices.ContainsFunc(c.operands("-d", "-r", "-f", "--date", "--reference"), func(v value) bool { return !strings.HasPrefix(v.prefix, "+") })
	case "test", "[":
		return c.plainTest()
	}
	return true
}

// plainTest: -v and -R look at a variable, whose subscript may be a command.
func (c *command) plainTest() bool {
	args := c.args[1:]
	if c.name == "[" && len(args) > 0 {
		args = args[:len(args)-1]
	}
	if len(args) > 0 && args[0].is("!") {
		args = args[1:]
	}
	for _, v := range args {
		if v.is("-v") || v.is("-R") {
			return false
		}
	}
	switch {
	case len(args) < 2:
		return true
	case len(args) == 2:
		return args[0].known
	case len(args) == 3:
		return args[1].known && !args[1].is("-a") && !args[1].is("-o")
	}
	return c.known
}

func (c *command) goReads() bool {
	if c.hidden() || len(c.args) < 2 {
		return false
	}
	for _, v := range c.args[1:] {
		name, _, _ := strings.Cut(strings.TrimLeft(v.text, "-"), "=")
		if strings.HasPrefix(v.text, "-") && slices.Contains([]string{
			"w", "u", "vettool", "toolexec", "exec", "mod", "modfile", "overlay", "pkgdir", "gccgoflags", "ldflags", "gcflags",
			"asmflags", "compiler", "C", "export", "json5", "o", "fix", "changed", "ex",
		}, name) {
			return false
		}
	}
	switch c.args[1].text {
	case "list", "vet", "version", "env", "doc", "help":
		return true
	}
	return false
}

// sedReads knows scripts that print lines and nothing else: 3p; 1,20p; $p; /x/p.
func (c *command) sedReads() bool {
	if c.hidden() || c.has("iefslz", "in-place", "expression", "file", "separate", "null-data") {
		return false
	}
	args := c.operands()
	return len(args) > 0 && args[0].known && printsLines(args[0].text)
}

func printsLines(script string) bool {
	for _, one := range strings.Split(script, ";") {
		one = strings.TrimSpace(one)
		address, isPrint := strings.CutSuffix(one, "p")
		if !isPrint {
			if address, isPrint = strings.CutSuffix(one, "d"); !isPrint {
				if address, isPrint = strings.CutSuffix(one, "q"); !isPrint {
					return false
				}
			}
		}
		if strings.Trim(address, "0123456789,$+~! ") == "" {
			continue
		}
		pattern, slash := strings.CutPrefix(address, "/")
		pattern, end := strings.CutSuffix(pattern, "/")
		if !slash || !end || strings.ContainsAny(pattern, "/\\\n;{}") {
			return false
		}
	}
	return true
}

// awkReads knows programs that neither write files nor run anything.
func (c *command) awkReads() bool {
	if c.hidden() {
		return false
	}
	args := c.operands("-F", "-v")
	for _, v := range c.args[1:] {
		if strings.HasPrefix(v.text, "-") && v.text != "-" && !strings.HasPrefix(v.text, "-F") && !strings.HasPrefix(v.text, "-v") && !v.is("--") {
			return false
		}
	}
	if len(args) == 0 || !args[0].known {
		return false
	}
	program := args[0].text
	return !strings.ContainsAny(program, ">|@") && !strings.Contains(program, "system") && !strings.Contains(program, "getline")
}
