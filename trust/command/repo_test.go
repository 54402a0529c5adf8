package command_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"starling/trust/command"
)

// repo makes a repository in a workspace below a folder.
func repo(t *testing.T) command.Setting {
	t.Helper()
	top, err := filepath.EvalSymlinks(t.TempDir())
	must(t, err)
	at := command.Setting{Workspace: filepath.Join(top, "ws"), Home: filepath.Join(top, "home"), Env: []string{"PATH=" + os.Getenv("PATH"), "HOME=" + filepath.Join(top, "home")}}
	must(t, os.MkdirAll(filepath.Join(at.Workspace, "sub"), 0o755))
	must(t, os.MkdirAll(at.Home, 0o755))
	put(t, at, "a.txt", "one\n")
	put(t, at, "sub/b.txt", "two\n")
	git(t, at.Workspace, "init", "-q")
	git(t, at.Workspace, "add", ".")
	git(t, at.Workspace, "-c", "user.name=a", "-c", "user.email=a@example.org", "commit", "-qm", "one")
	return at
}

func git(t *testing.T, dir string, args ...string) {
	t.Helper()
	cmd := exec.Command("git", args...)
	cmd.Dir = dir
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("git %v: %v: %s", args, err, out)
	}
}

func put(t *testing.T, at command.Setting, name, text string) {
	t.Helper()
	must(t, os.MkdirAll(filepath.Dir(filepath.Join(at.Workspace, name)), 0o755))
	must(t, os.WriteFile(filepath.Join(at.Workspace, name), []byte(text), 0o755))
}

// TestQuietGit: plain forms of git are free in a repository that names no program.
func TestQuietGit(t *testing.T) {
	at := repo(t)
	git(t, at.Workspace, "remote", "add", "origin", "https://example.org/x")
	git(t, at.Workspace, "config", "branch.main.merge", "refs/heads/main")
	for line, want := range map[string]bool{
		"git status": true, "git status -s": true, "git status --short -b": true, "git diff": true, "git diff --stat HEAD~1 -- a.txt sub": true, "git diff --cached": true, "git log": true,
		"git log --oneline -5": true, "git log -n 3 --format='%h %s' -- sub": true, "git log -p -S x": true, "git show": true, "git show HEAD:a.txt": true, "git show --stat main..HEAD": true,
		"git branch": true, "git branch -a -vv": true, "git rev-parse --show-toplevel": true, "git ls-files": true, "git blame -L 1,2 a.txt": true, "git remote -v": true, "git -C sub status": true,
		"git --no-pager log -1": true, "cd sub && git status": true, "git status && ls": true, "git diff | head -50": true, "GIT_TERMINAL_PROMPT=0 git status": true,
		"git diff ../x": false, "git diff /etc/passwd a.txt": false, "git diff --no-index a b": false, "git log --output=x": false, "git diff --ext-diff": false, "git log --show-signature": false,
		"git log --format=%GS": false, "git status ../..": false, "git diff $X": false, "git status --unlisted": false, "git diff -Ofile": false, "git log --textconv": false, "git diff --submodule=log": false,
		"git -c core.fsmonitor=./x status": false, "git --git-dir=x status": false, "git -p log": false, "GIT_DIR=x git status": false, "export GIT_DIR=x; git status": false, "PATH=.; git status": false,
		"HOME=.; git status": false, "git fetch": false, "git add .": false, "./git status": false, "git() { make; }; git status": false, "cd .. && git status": false, "git -C .. status": false,
		"git show --format='%(signature)'": false, "git cat-file --textconv HEAD:a.txt": false, "git branch new": false, "git stash list": false,
	} {
		if got := command.Read(line, at); free(got) != want {
			t.Errorf("%s: free %v, want %v: %+v", line, !want, want, got.Parts)
		}
	}
	none := at
	none.Env = nil
	if free(command.Read("git status", none)) {
		t.Error("free with an environment nobody knows")
	}
	none.Env = append(at.Env, "GIT_DIR=/x")
	if free(command.Read("git status", none)) {
		t.Error("free in a repository that the environment names")
	}
}

// TestLoudGit: a repository that names a program, or leads elsewhere, is not free.
func TestLoudGit(t *testing.T) {
	config := func(text string) func(t *testing.T, at command.Setting) {
		return func(t *testing.T, at command.Setting) {
			f, err := os.OpenFile(filepath.Join(at.Workspace, ".git/config"), os.O_APPEND|os.O_WRONLY, 0)
			must(t, err)
			_, err = f.WriteString(text)
			must(t, err)
			must(t, f.Close())
		}
	}
	link := func(from, to string) func(t *testing.T, at command.Setting) {
		return func(t *testing.T, at command.Setting) {
			must(t, os.Rename(filepath.Join(at.Workspace, from), filepath.Join(at.Workspace, "..", to)))
			must(t, os.Symlink(filepath.Join("..", to), filepath.Join(at.Workspace, from)))
		}
	}
	for name, change := range map[string]func(t *testing.T, at command.Setting){
		"fsmonitor":           config("[core]\n\tfsmonitor = ./x\n"),
		"fsmonitor, compact":  config("[core] fsmonitor = ./x\n"),
		"fsmonitor, in caps":  config("[CORE]\n\tFSMonitor = ./x\n"),
		"a joined line":       config("[user]\n\tname = a\\\n[core]fsmonitor=./x\n"),
		"pager":               config("[core]\n\tpager = ./x\n"),
		"pager of one":        config("[pager]\n\tlog = ./x\n"),
		"hooks":               config("[core]\n\thooksPath = .\n"),
		"textconv":            config("[diff \"x\"]\n\ttextconv = ./x\n"),
		"external diff":       config("[diff]\n\texternal = ./x\n"),
		"filter":              config("[filter \"x\"]\n\tclean = ./x\n"),
		"include":             config("[include]\n\tpath = ../x\n"),
		"alias":               config("[alias]\n\tstatus = !./x\n"),
		"gpg":                 config("[gpg]\n\tprogram = ./x\n"),
		"worktree":            config("[core]\n\tworktree = ..\n"),
		"bare":                config("[core]\n\tbare = true\n"),
		"partial clone":       config("[remote \"o\"]\n\tpromisor = true\n"),
		"an unreadable line":  config("what is this?\n"),
		"a dotted section":    config("[core.x]\n\tfsmonitor = ./x\n"),
		"post-index-change":   func(t *testing.T, at command.Setting) { put(t, at, ".git/hooks/post-index-change", "#!/bin/sh\n") },
		"alternates":          func(t *testing.T, at command.Setting) { put(t, at, ".git/objects/info/alternates", "/x\n") },
		"commondir":           func(t *testing.T, at command.Setting) { put(t, at, ".git/commondir", "/x\n") },
		"a linked repository": link(".git", "elsewhere"),
		"linked objects":      link(".git/objects", "objects"),
		"a linked config":     link(".git/config", "config"),
		"a broken index":      func(t *testing.T, at command.Setting) { put(t, at, ".git/index", "DIRC") },
		"a submodule": func(t *testing.T, at command.Setting) {
			git(t, at.Workspace, "update-index", "--add", "--cacheinfo", "160000,1111111111111111111111111111111111111111,mod")
		},
		"an index of version 4": func(t *testing.T, at command.Setting) { git(t, at.Workspace, "update-index", "--index-version", "4") },
		"a file for a repository": func(t *testing.T, at command.Setting) {
			must(t, os.Rename(filepath.Join(at.Workspace, ".git"), filepath.Join(at.Workspace, "..", "g")))
			put(t, at, ".git", "gitdir: ../g\n")
		},
		"one without files": func(t *testing.T, at command.Setting) { put(t, at, "sub/HEAD", "ref: refs/heads/x\n") },
		"none":              func(t *testing.T, at command.Setting) { must(t, os.RemoveAll(filepath.Join(at.Workspace, ".git"))) },
	} {
		t.Run(name, func(t *testing.T) {
			at := repo(t)
			if !free(command.Read("cd sub && git status", at)) {
				t.Fatal("not free to begin with")
			}
			change(t, at)
			for _, line := range []string{"cd sub && git status", "git -C sub diff", "cd sub && git log"} {
				if free(command.Read(line, at)) {
					t.Errorf("%s is free", line)
				}
			}
		})
	}
}

// TestQuietGo: go says its version and its settings without a question where the
// module needs no other toolchain.
func TestQuietGo(t *testing.T) {
	at := repo(t)
	for line, want := range map[string]bool{
		"go version": true, "go env": true, "go env GOPATH GOOS": true, "go env -json": true, "go version ./x": false, "go env -w GOFLAGS=x": false, "go env -u GOFLAGS": false, "go list": false,
		"go vet ./...": false, "GOFLAGS=x go version": false, "go env $X": false, "./go version": false,
	} {
		if got := command.Read(line, at); free(got) != want {
			t.Errorf("%s: free %v, want %v: %+v", line, !want, want, got.Parts)
		}
	}
	for module, want := range map[string]bool{
		"module x\n\ngo 1.20\n": true, "module x\n\ngo 1.20\n\ntoolchain default\n": true, "module x\n\ngo 9.1\n": false, "module x\n\ngo 1.20\n\ntoolchain go9.1.2\n": false, "module x\n\ngo what\n": false,
	} {
		put(t, at, "go.mod", module)
		if got := command.Read("cd sub && go version", at); free(got) != want {
			t.Errorf("%q: free %v, want %v", module, !want, want)
		}
	}
}
