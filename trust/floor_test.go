package trust_test

import (
	"testing"

	"starling/trust"
)

func TestFloorPath(t *testing.T) {
	at := trust.Folders{Workspace: "/work/shop", Home: "/users/ann"}
	if why := trust.FloorPath(trust.Folders{Workspace: "/usr/src/app"}, "", "/usr/src/app/main.go"); why != "" {
		t.Errorf("a workspace below /usr: %s", why)
	}
	for _, c := range []struct {
		path  string
		floor bool
	}{
		{"/work/shop/src/main.go", false},
		{"/work/shop/docs/git/hooks.md", false},
		{"/work/shop/.gitignore", false},
		{"/work/shop/.starling/plugins/x.star", true},
		{"/work/shop/.STARLING/plugins/x.star", true},
		{"/work/shop/sub/.starling/plugins.json", true},
		{"/work/shop/.git/hooks/pre-commit", true},
		{"/work/shop/sub/.git/config", true},
		{"/work/shop/.git/COMMIT_EDITMSG", true},
		{"/work/shop/.git/HEAD", true},
		{"/work/shop/.git/config.worktree", true},
		{"/work/shop/.git/objects/info/alternates", true},
		{"/work/shop/.GIT/Hooks/post-merge", true},
		{"/work/shop/.git", true}, // a file of that name says where the repository is
		{"/work/shop/sub/.git", true},
		{"/work/shop/.gitmodules", true},
		{"/work/shop/.github/README.md", false},
		{"/work/shop/git/HEAD", false},
		{"/work/shop/.husky/pre-commit", true},
		{"/work/shop/.pre-commit-config.yaml", true},
		{"/work/shop/sub/Lefthook.yml", true},
		{"/work/shop/Makefile", false},
		{"/work/shop/.github/workflows/ci.yml", true},
		{"/work/shop/.ci/run", true},
		{"/work/shop/.envrc", true},
		{"/state/home/plugins/x.star", true},
		{"/state/homely/x", false},
		{"/users/ann/notes/a.md", false},
		{"/users/ann/.bashrc", true},
		{"/users/ann/.ssh/authorized_keys", true},
		{"/users/ann/.config/fish/config.fish", true},
		{"/users/ann/.config/app/x", false},
		{"/etc/passwd", true},
		{"/usr/local/bin/x", true},
		{"/tmp/x", false},
	} {
		why := trust.FloorPath(at, "/state/home", c.path)
		if (why != "") != c.floor {
			t.Errorf("%s: floor %v (%s), want %v", c.path, why != "", why, c.floor)
		}
	}
}
