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
		"poetry": set("install add update publish lock"), "bundle": set("install update add"), "deno": set("install add run cache eval test bench compile"), "dotnet": set("restore add"),
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
	if c.name == "go" && c.sub() == "run" { // another module
		return slices.ContainsFunc(c.args[1:], func(v value) bool { return strings.Contains(v.text, "@") })
	}
	return subs[c.sub()] || c.name == "npm" && len(c.args) == 1
}

func (c *command) destructiveSub() bool {
	if subs := destructiveSubs()[c.name]; subs[c.sub()] {
		return true
	}
	return (c.name == "docker" || c.name == "podman") && slices.ContainsFunc(c.args[1:], func(v value) bool { return v.is("prune") || v.is("rm") })
}

// toolchain programs say their version and no more when asked for it alone.
var toolchain = words("python python3 node npm pnpm yarn bun deno cargo rustc rustup gcc g++ clang java javac ruby php make cmake docker kubectl " +
	"terraform go git bash zsh perl gofmt tsc eslint prettier ruff black mypy pytest jq rg fd tar gzip curl wget ssh")

// saysVersion tells whether a program is asked for its version alone.
func (c *command) saysVersion() bool {
	return toolchain()[c.name] && len(c.args) == 2 && (c.args[1].is("--version") || c.args[1].is("-V") && c.name != "tar" || c.args[1].is("version") && c.name == "go")
}

// readOnly tells whether the command reads and does nothing else; what it is given
// is nil where that is of no matter.
func (c *command) readOnly() (*given, bool) {
	if c.ours() {
		return nil, false
	}
	if c.saysVersion() {
		return nil, true
	}
	if c.name == "go" {
		return nil, c.goReads()
	}
	spec, ok := readers()[c.name]
	if !ok {
		return nil, false
	}
	if spec.any {
		return &given{used: map[string]bool{}, ok: true}, c.name != "printf" && c.name != "test" && c.name != "[" || c.plainBuiltin()
	}
	g := spec.table(c.name).sorted(c.args[1:])
	switch n := len(g.operands); {
	case !g.ok && !spec.calm, spec.most > 0 && n > spec.most, spec.most < 0 && n > 0:
		return nil, false
	case spec.most != 0 && slices.ContainsFunc(g.operands, func(v value) bool { return v.many }):
		return nil, false
	case spec.at && slices.ContainsFunc(g.operands, func(v value) bool { return v.prefix == "" || v.prefix[0] == '@' }):
		return nil, false
	}
	switch c.name {
	case "ps": // with e it shows the environment of others
		ok = !slices.ContainsFunc(g.operands, func(v value) bool { return !v.known || strings.ContainsAny(v.text, "eE") })
	case "date":
		ok = !slices.ContainsFunc(g.operands, func(v value) bool { return !strings.HasPrefix(v.prefix, "+") })
	case "sed", "gsed":
		ok = len(g.operands) > 0 && g.operands[0].known && printsLines(g.operands[0].text)
	case "awk", "gawk", "mawk":
		ok = len(g.operands) > 0 && g.operands[0].known && awkReads(g.operands[0].text)
	case "jq":
		ok = len(g.operands) > 0 && g.operands[0].known && jqReads(g.operands[0].text)
	}
	return g, ok
}

// jqReads knows programs that load no other file.
func jqReads(program string) bool {
	return !slices.ContainsFunc([]string{"import", "include", "modulemeta", "$ENV", "env"}, func(word string) bool { return strings.Contains(program, word) })
}

// plainBuiltin: printf without -v, a test that looks at no variable by its name.
func (c *command) plainBuiltin() bool {
	if c.name == "printf" {
		return len(c.args) > 1 && (c.args[1].prefix != "" && c.args[1].prefix[0] != '-')
	}
	return c.plainTest()
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

// printsLines knows scripts that print lines and nothing else: 3p; 1,20p; $p; /x/p.
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

// awkReads knows programs that neither write files nor run anything, and read no
// file that is not among the operands.
func awkReads(program string) bool {
	return !strings.ContainsAny(program, ">|@") && !slices.ContainsFunc([]string{"system", "getline", "ARGV", "ARGC", "SYMTAB", "FUNCTAB"}, func(word string) bool {
		return strings.Contains(program, word)
	})
}
