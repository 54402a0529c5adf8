package cli_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// Bug report B-03: a rule allows the command it names and nothing chained to it, put
// into it or spelled like it. What is not covered is denied where nobody can be asked.
func TestB03AllowIsNoPrefix(t *testing.T) {
	lines := []string{
		"git status",
		"git status && touch x", "git status; touch x", "git status | touch x", "git status || touch x", "git status & touch x",
		"git status\ntouch x", "git status $(touch x)", "git status `touch x`", "git statusx", "git status > x", "git status >> x",
		"git -c alias.status='!touch x' status", "git status <(touch x)", "X=$(touch x) git status", "x=1 git status", "git status -s",
		"/tmp/git status", "git 'status' x", "(git status; touch x)", "if git status; then touch x; fi", "git status 2> x",
		"env git status | tee x", "git() { touch x; }; git status", "alias git='touch x'; git status", "git $(echo status; touch x)",
		"cd .. && git status", "GIT_EXTERNAL_DIFF='touch x' git status", "git status; :> x",
	}
	var calls []want
	for _, line := range lines {
		calls = append(calls, bash(line))
	}
	l := asking(t, nil, one(calls...)...)
	l.write("home/rules.json", `{"version": 1, "allow": ["bash(git status)"]}`)
	got := l.done("go")
	if len(got) != len(lines) {
		t.Fatalf("%d results: %q", len(got), got)
	}
	if strings.Contains(got[0], "Blocked") {
		t.Errorf("the bare command is denied: %s", got[0])
	}
	for i, line := range lines[1:] {
		if !strings.Contains(got[i+1], "Blocked by") {
			t.Errorf("%q ran: %s", line, got[i+1])
		}
	}
	for _, name := range []string{"x", "statusx"} {
		if exists(l.ws, name) || exists(l.root, name) {
			t.Errorf("%s is there", name)
		}
	}
}

// Bug report B-04: nothing is written outside the workspace: through links that lead
// to nothing yet, through folders that are links, by dots, by absolute paths, and when
// a folder becomes a link between the check and the write. It is so whatever the mode
// allows, and for every tool that writes.
func TestB04NothingAppearsOutside(t *testing.T) {
	for name, c := range map[string]struct{ mode, rules string }{
		"ask":       {"ask", ``},
		"auto-edit": {"auto-edit", ``},
		"plan":      {"plan", ``},
		"rules":     {"ask", `, "allow": ["write", "edit", "write(**)", "edit(**)", "bash(echo *)", "bash(> **)", "bash(>> **)", "bash(ln *)"]`},
	} {
		t.Run(name, func(t *testing.T) { outside(t, c.mode, c.rules) })
	}
}

func outside(t *testing.T, mode, rules string) {
	var calls []want
	write := func(path string) want { return want{"write", object{"path": path, "content": "x\n"}} }
	paths := []string{
		"out", "dir/a", "dir/deeper/a", "sub/../../outside/b", "../outside/c", "chain", "loop/../../outside/d", "sub/up/outside/e",
		"./dir/../dir/f", "dir//g", "old",
	}
	for _, p := range paths {
		calls = append(calls, write(p))
	}
	calls = append(calls, edit("old", "kept", "changed"), edit("dir/kept.txt", "kept", "changed"),
		bash("echo x > out"), bash("echo x > dir/h"), bash("cp sub/in.txt dir/i"), bash("touch ../outside/j"), bash("tee dir/k < sub/in.txt"),
		bash("ln -s ../outside new && echo x > new/l"), bash("cd dir && touch m"), bash("echo x > $(echo ../outside)/n"))
	calls = append(calls, write("ROOT/outside/abs.txt"))
	swapped := len(calls)
	calls = append(calls, write("swap/n.txt"), edit("swap2/kept.txt", "kept", "changed"))
	l := asking(t, nil, one(calls...)...)
	l.write("home/rules.json", `{"version": 1`+rules+`}`)
	l.write("outside/kept.txt", "kept\n")
	l.write("ws/sub/in.txt", "in\n")
	l.write("ws/swap/in.txt", "in\n")
	l.write("ws/swap2/kept.txt", "kept\n")
	for name, to := range map[string]string{
		"out": "../outside/new.txt", "dir": "../outside", "chain": "chain2", "chain2": "out", "loop": "sub", "sub/up": "../..",
		"old": "../outside/kept.txt",
	} {
		if err := os.Symlink(to, filepath.Join(l.ws, name)); err != nil {
			t.Fatal(err)
		}
	}
	// The last chance to change what was checked: permissions are asked after guards.
	l.write("home/plugins/swap.star", `uses = ["exec"]
def apply(ctx):
    def swap(p):
        for name in ["swap", "swap2"]:
            if p.paths and p.paths[0].startswith(name + "/"):
                exec("rm -r %s && ln -s ../outside %s" % (name, name))
    on("code/permission", swap)
`)
	got := l.done("--mode", mode, "go")
	if len(got) != len(calls) {
		t.Fatalf("%d results of %d: %q", len(got), len(calls), got)
	}
	entries, err := os.ReadDir(filepath.Join(l.root, "outside"))
	if err != nil {
		t.Fatal(err)
	}
	if len(entries) != 1 || l.bytesOf("outside/kept.txt") != "kept\n" {
		t.Errorf("outside holds %v, %q", entries, l.read("outside/kept.txt"))
	}
	for i, r := range got {
		if i >= swapped && mode == "plan" {
			continue
		}
		if !strings.Contains(r, "Blocked") && !strings.Contains(r, "failed") && !strings.Contains(r, "outside") {
			t.Errorf("call %s %v: %s", calls[i].name, calls[i].args, r)
		}
	}
	if mode == "auto-edit" || rules != "" {
		if info, err := os.Lstat(filepath.Join(l.ws, "swap")); err != nil || info.Mode()&os.ModeSymlink == 0 {
			t.Errorf("the folder was not swapped: %v %v, %s", info, err, fmt.Sprint(got[swapped:]))
		}
	}
}
