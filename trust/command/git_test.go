package command_test

import (
	"strings"
	"testing"

	"starling/trust/command"
)

// TestGitWrites: git writes no file of the floor unasked, whichever way, and what
// it overwrites may be lost.
func TestGitWrites(t *testing.T) {
	for line, want := range map[string]string{
		"git log --output=.git/hooks/pre-commit":                ".git",
		"git log --outp .git/hooks/pre-commit":                  ".git",
		"git diff --no-index --output=/home/ann/.bashrc a b":    ".bashrc",
		"git show --output ~/.bashrc":                           ".bashrc",
		"git archive -o .git/hooks/pre-commit HEAD":             ".git",
		"git archive HEAD --output=.git/hooks/pre-commit":       ".git",
		"git bundle create .git/hooks/pre-commit HEAD":          ".git",
		"git format-patch -1 -o ~/.ssh":                         ".ssh",
		"git format-patch -1 --output-directory=/home/ann/.ssh": ".ssh",
		"git checkout-index --prefix=.git/hooks/ -a":            ".git",
		"git mv x .github/workflows/ci.yml":                     "workflows",
		"git mv ci.yml .github/workflows":                       "workflows",
		"git mv .github/workflows/ci.yml x":                     "workflows",
		"git rm .github/workflows/ci.yml":                       "workflows",
		"git checkout other -- .github/workflows/ci.yml":        "workflows",
		"git checkout other .github/workflows/ci.yml":           "workflows",
		"git restore -s other .github/workflows/ci.yml":         "workflows",
		"git restore -s other :/.github/workflows/ci.yml":       "workflows",
		"git clone x ~/.vim":                                    ".vim",
		"git clone https://example.org/.git .git/hooks":         ".git",
		"cd ~ && git clone https://example.org/.vim":            ".vim",
		"git worktree add ~/.config/nvim":                       "nvim",
		"git worktree add -b x ~/.config/nvim main":             "nvim",
		"git init ~/.vim":                                       ".vim",
		"git submodule add https://example.org/x":               ".gitmodules",
		"git remote set-url origin z":                           "fetches from",
		"git remote add x z":                                    "fetches from",
		"git -C .git/hooks diff --output=pre-commit":            ".git",
		"git difftool -x 'rm -rf ~'":                            "names a program",
		"git difftool --extcmd='rm -rf ~'":                      "holds the workspace",
		"git clone -c core.hooksPath=x y":                       "core.hooksPath",
		"git clone --config core.hooksPath=x y":                 "core.hooksPath",
		"git clone -u ./x y":                                    "names a program",
		"git clone --upload-pack=./x y":                         "--upload-pack",
		"git clone --template=x y":                              "--template",
		"git init --template=x":                                 "--template",
		"git fetch --upload-pack=./x":                           "--upload-pack",
		"git fetch --upload-p ./x":                              "--upload-pack",
		"git push --receive-pack=./x":                           "--receive-pack",
		"git ls-remote --exec=./x .":                            "--exec",
		"git archive --remote=. --exec=./x HEAD":                "--exec",
		"git fetch ext::sh":                                     "runs a program",
		"git clone 'ext::sh -c x' y":                            "runs a program",
		"git remote-ext a 'sh'":                                 "runs a program",
		"git send-email --sendmail-cmd=./x a":                   "--sendmail-cmd",
		"git grep -O./x y":                                      "names a program",
		"git clone https://example.org/x y":                     "",
		"git worktree add ../w":                                 "",
		"git mv a b":                                            "",
		"git commit --template=x":                               "",
		"git fetch origin main":                                 "",
		"git archive HEAD":                                      "",
		"git format-patch -1":                                   "",
		"git checkout main":                                     "",
	} {
		said := ""
		for _, f := range command.Read(line, shop).Floor {
			if f.Loss == nil {
				said += f.Why + "; "
			}
		}
		if (said != "") != (want != "") || !strings.Contains(said, want) {
			t.Errorf("%s: %q, want %q", line, said, want)
		}
	}
	for line, want := range map[string]string{
		"git diff --output=a.go":            "a.go",
		"git archive -o main.c HEAD":        "main.c",
		"git archive --output=main.c HEAD":  "main.c",
		"git bundle create main.c HEAD":     "main.c",
		"git log --output main.c":           "main.c",
		"git -C sub diff --output=main.c":   "sub/main.c",
		"git diff-tree --output=main.c a b": "main.c",
	} {
		if got := lost(line, shelf()); got != want {
			t.Errorf("%s: %q is lost, want %q", line, got, want)
		}
	}
}
