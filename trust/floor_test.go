package trust_test

import (
	"testing"

	"starling/trust"
)

// TestFloorLists: what starts by itself, in the home and for CI, is on the floor.
func TestFloorLists(t *testing.T) {
	at := trust.Folders{Workspace: "/users/ann/shop", Home: "/users/ann"}
	for _, name := range []string{
		".zlogout", ".bash_aliases", ".config/zsh/.zshrc", ".config/nushell/config.nu", ".gdbinit", ".ipython/profile_default/startup/x.py", ".ipython/profile_x/ipython_config.py",
		".local/bin/ls", "bin/git", ".cargo/bin/cargo", ".cargo/config.toml", ".config/pip/pip.conf", ".config/hypr/hyprland.conf", ".Xresources", ".config/elvish/rc.elv", ".psqlrc", ".lldbinit",
		"shop/.forgejo/workflows/a.yml", "shop/.gitea/workflows/a.yml", "shop/.woodpecker.yml", "shop/.woodpecker/a.yaml", "shop/.cirrus.yml", "shop/.semaphore/semaphore.yml",
		"shop/.teamcity/settings.kts", "shop/appveyor.yml", "shop/cloudbuild.yaml", "shop/azure-pipelines.yaml", "shop/.azure-pipelines/a.yml", "shop/.github/actions/a/action.yml",
		"shop/sub/.devcontainer/devcontainer.json", "shop/.devcontainer/x/devcontainer.json", "shop/.vscode/launch.json", "shop/.vscode/tasks.json", "shop/.VSCODE/Tasks.json", "shop/AppVeyor.yml",
	} {
		if trust.FloorPath(at, "", "/users/ann/"+name) == "" {
			t.Errorf("%s is not on the floor", name)
		}
	}
	for _, name := range []string{"shop/bin/x", "shop/.local/bin/x", "shop/config/nushell/x", "shop/.github/dependabot.yml", "binary", "notes/bin/x", ".config/foo", "shop/.vscode/notes.md", ".local/bin"} {
		if why := trust.FloorPath(at, "", "/users/ann/"+name); why != "" {
			t.Errorf("%s: %s", name, why)
		}
	}
	at.Workspace = "/users/ann/bin/tools"
	if why := trust.FloorPath(at, "", "/users/ann/bin/tools/x"); why != "" {
		t.Errorf("a workspace among programs: %s", why)
	}
}

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
