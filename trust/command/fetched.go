package command

import (
	"slices"
	"strings"
)

// Code that came from the network in the same line: read from a pipe, from a file
// that was fetched, or out of an archive.

// came tells whether a file was fetched, or lies where fetched files were put.
func (r *reader) came(abs string) bool {
	return r.fetched[abs] || slices.ContainsFunc(r.arrived, func(dir string) bool { return below(abs, dir) })
}

const justFetched = "it runs what was just fetched from the network"

// readsCode tells whether a program runs its standard input, beside those that
// interpreter finds out by themselves.
func (c *command) readsCode(args []value) bool {
	dash := func(v value) bool {
		return v.is("-") || v.is("/dev/stdin") || v.is("/dev/fd/0") || v.is("/proc/self/fd/0")
	}
	file, given := c.valueOf("f", "file", "makefile")
	switch c.name {
	case "deno", "bun":
		return slices.ContainsFunc(args, dash)
	case "awk", "gawk", "mawk", "nawk", "make", "gmake":
		return given && dash(file)
	case "psql", "mysql", "sqlite3", "mongosh", "redis-cli":
		return !c.has("c", "command", "execute") && (!given || dash(file))
	case "bc", "gdb", "expect", "ed", "ex", "bash", "lldb", "cmake", "ghci", "irb":
		return true
	case "ssh":
		return len(args) > 1
	case "docker", "podman", "kubectl", "nerdctl":
		return slices.ContainsFunc(c.args[1:], func(v value) bool { return shells()[baseName(v.text)] || interpreters()[baseName(v.text)] }) ||
			(c.sub() == "build" || c.sub() == "load" || c.sub() == "import") || c.sub() == "apply" || c.sub() == "create"
	}
	return false
}

// fetchedCode reports fetched text that a program runs.
func (c *command) fetchedCode(args []value) {
	switch {
	case c.st.in.download && c.readsCode(args):
		c.r.find(Finding{Part: c.part, Why: justFetched})
	case (c.name == "deno" || c.name == "bun") && len(args) > 0 && (args[0].is("run") || args[0].is("x") || c.name == "deno") &&
		slices.ContainsFunc(args, func(v value) bool { return remote(v.prefix) }):
		c.r.find(Finding{Part: c.part, Why: justFetched})
	}
	if c.name == "deno" || c.name == "bun" {
		for _, v := range args[min(1, len(args)):] {
			c.scriptFile(v)
		}
	}
	if v, ok := c.valueOf("f", "file"); ok && strings.HasSuffix(c.name, "awk") {
		c.scriptFile(v)
	}
}

func remote(text string) bool {
	return strings.HasPrefix(text, "http://") || strings.HasPrefix(text, "https://") || strings.HasPrefix(text, "npm:") || strings.HasPrefix(text, "jsr:")
}

// builders run what the folder they work in says.
var builders = words("make gmake ninja cmake meson npm npx yarn pnpm bun cargo go mvn gradle gradlew rake bundle pip pip3 poetry uv composer tox just task scons bazel ant docker")

// builds reports a builder that works where fetched files were put, and text it
// reads that was fetched.
func (c *command) builds() {
	r := c.r
	if c.st.in.download && !interpreters()[c.name] && c.readsCode(c.operands("-i", "-p", "-l", "-o", "-F", "-J", "-n")) {
		r.find(Finding{Part: c.part, Why: justFetched})
	}
	if !builders()[c.name] || len(r.arrived)+len(r.fetched) == 0 {
		return
	}
	places := c.st.dirs()
	for _, v := range c.bases() {
		places = append(places, r.places(c.st, v.text)...)
	}
	for _, v := range c.operands() {
		if strings.HasPrefix(v.text, ".") || strings.Contains(v.text, "/") {
			places = append(places, r.places(c.st, v.text)...)
		}
	}
	if v, ok := c.valueOf("f", "file", "makefile"); ok && v.known {
		places = append(places, r.places(c.st, v.text)...)
	}
	if slices.ContainsFunc(places, r.came) {
		r.find(Finding{Part: c.part, Why: justFetched})
	}
}
