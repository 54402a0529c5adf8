//go:build unix

package main

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// What the tools are measured with.
const (
	files   = 50_000        // of the tree that is searched
	perDir  = 100           // of them
	flooded = 2_000_000_000 // bytes that one command prints
)

// searches compares grep over many files, in a run of its own, with the programs
// that do the same; a run that only says hello is subtracted by the reader.
func (b bench) searches(rounds int) (group, error) {
	tree := filepath.Join(b.work, "tree")
	for n := range files / perDir {
		dir := filepath.Join(tree, fmt.Sprintf("d%03d", n))
		if err := os.MkdirAll(dir, 0o700); err != nil {
			return group{}, err
		}
		for i := range perDir {
			text := strings.Repeat(fmt.Sprintf("func f%d(x int) int { return x + %d }\n", i, n), 8+(n+i)%56)
			if n%50 == 0 && i == 7 {
				text += "// the needle\n"
			}
			if err := os.WriteFile(filepath.Join(dir, fmt.Sprintf("f%d.go", i)), []byte(text), 0o600); err != nil {
				return group{}, err
			}
		}
	}
	script, err := b.scenario("search.star", "call(\"grep\", pattern = \"the needle\")\nreply(lambda last: say(last))\n")
	if err != nil {
		return group{}, err
	}
	hello, err := b.scenario("hello.star", "say(\"Hello.\")\n")
	if err != nil {
		return group{}, err
	}
	want := "d450/f7.go"
	g := group{rounds: rounds}
	plain := []string{b.starling, "--quiet", "--model", "script:" + script, "search"}
	if path, err := exec.LookPath("rg"); err == nil {
		g.commands = append(g.commands,
			&command{name: "`rg`, 50 000 files", dir: tree, args: []string{path, "--no-config", "the needle", "."}, want: want},
			&command{name: "starling, `grep` through rg", dir: tree, args: plain, want: want})
	}
	if path, err := exec.LookPath("grep"); err == nil {
		g.commands = append(g.commands, &command{name: "`grep -r`, 50 000 files", dir: tree, args: []string{path, "-rn", "the needle", "."}, want: want})
	}
	g.commands = append(g.commands,
		&command{name: "starling, `grep` of its own", dir: tree, path: "/nowhere", args: plain, want: want},
		&command{name: "starling, hello there", dir: tree, path: "/nowhere", args: []string{b.starling, "--quiet", "--model", "script:" + hello, "hello"}, want: "Hello."})
	return g, nil
}

// flood is the memory of a command that prints 2 GB, beside that of hello.
func (b bench) flood() (group, error) {
	script, err := b.scenario("flood.star", fmt.Sprintf("call(\"bash\", command = \"yes | head -c %d\")\nreply(lambda last: say(\"the end\"))\n", flooded))
	if err != nil {
		return group{}, err
	}
	quiet, err := b.scenario("quiet.star", "call(\"bash\", command = \"yes | head -c 20000\")\nreply(lambda last: say(\"the end\"))\n")
	if err != nil {
		return group{}, err
	}
	run := func(script string) []string {
		return []string{b.starling, "--quiet", "--mode", "yolo", "--model", "script:" + script, "go"}
	}
	return group{rounds: 1, commands: []*command{
		{name: "starling, a command prints 20 kB", args: run(quiet), want: "the end"},
		{name: "starling, a command prints 2 GB", args: run(script), want: "the end"},
	}}, nil
}

func (b bench) scenario(name, text string) (string, error) {
	path := filepath.Join(b.work, name)
	return path, os.WriteFile(path, []byte(text), 0o600)
}

// tools are the groups that need no yardstick.
func (b bench) tools(rounds int) ([]group, error) {
	search, err := b.searches(max(rounds/3, 3))
	flood, err2 := b.flood()
	return []group{search, flood}, errors.Join(err, err2)
}

// size is a line about the program's file.
func size(path string) string {
	info, err := os.Stat(path)
	if err != nil {
		return "The size of the program is not known: " + err.Error()
	}
	return fmt.Sprintf("The program is %.1f MB.", float64(info.Size())/1e6)
}
