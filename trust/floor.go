package trust

import (
	"path"
	"slices"
	"strings"
)

// Floor paths are files whose change hands over rights: what runs by itself, what
// holds keys, and starling's own configuration. Whatever a rule or a plugin
// says, no fs.write reaches one.

// floorHome are paths below the person's home, as globs.
var floorHome = []string{
	".bashrc", ".bash_profile", ".bash_login", ".bash_logout", ".profile", ".zshrc", ".zshenv", ".zprofile", ".zlogin",
	".kshrc", ".cshrc", ".tcshrc", ".login", ".inputrc", ".xprofile", ".xinitrc", ".xsessionrc", ".pam_environment",
	".config/fish/**", ".config/autostart/**", ".config/systemd/**", ".config/environment.d/**", ".local/share/systemd/**",
	".gitconfig", ".config/git/**", ".ssh/**", ".gnupg/**", ".aws/**", ".azure/**", ".config/gcloud/**", ".kube/**",
	".docker/config.json", ".netrc", ".npmrc", ".pypirc", ".pgpass", ".git-credentials", ".config/gh/**", ".vault-token",
	".vimrc", ".vim/**", ".config/nvim/**", ".emacs", ".emacs.d/**", ".tmux.conf", "Library/LaunchAgents/**",
	".zlogout", ".logout", ".bash_aliases", ".bash_functions", ".zsh/**", ".oh-my-zsh/**", ".config/zsh/**", ".config/bash/**", ".mkshrc", ".xonshrc", ".config/xonsh/**",
	".config/nushell/**", "Library/Application Support/nushell/**", ".config/elvish/**", ".config/powershell/**", ".xsession", ".Xresources", ".mailcap",
	".gdbinit", ".config/gdb/**", ".lldbinit", ".ipython/profile_*/startup/**", ".ipython/profile_*/*_config.py", ".pythonrc", ".pythonrc.py", ".irbrc", ".pryrc", ".Rprofile",
	".psqlrc", ".sqliterc", ".screenrc", ".gvimrc", ".exrc", ".config/emacs/**", ".config/tmux/**", ".config/direnv/**", ".config/hypr/**", ".config/sway/**", ".config/i3/**",
	".local/share/applications/**", ".config/Code/User/**", ".cargo/config", ".cargo/config.toml", ".gradle/init.gradle", ".gradle/init.d/**", ".config/pip/**", ".pip/pip.conf", ".yarnrc",
	".local/bin/**", "bin/**", ".cargo/bin/**",
}

// floorPrograms are those of them whose files are programs: where the workspace is
// one of them, its files are the work.
var floorPrograms = []string{".local/bin", "bin", ".cargo/bin"}

// floorAnywhere are paths below any folder, as globs of their last parts.
var floorAnywhere = []string{
	".git", ".git/**", ".gitmodules", ".husky/**", ".pre-commit-config.yaml", ".pre-commit-config.yml",
	"lefthook.yml", "lefthook.yaml", ".lefthook.yml", ".lefthook.yaml",
	".github/workflows/**", ".gitlab-ci.yml", ".circleci/**", "Jenkinsfile", "azure-pipelines.yml", ".drone.yml",
	".travis.yml", "bitbucket-pipelines.yml", ".buildkite/**", ".ci/**", ".envrc", ".vscode/tasks.json", ".vscode/settings.json",
	".vscode/launch.json", ".github/actions/**", ".forgejo/**", ".gitea/**", ".woodpecker.yml", ".woodpecker.yaml", ".woodpecker/**", ".cirrus.yml", ".cirrus.star", ".semaphore/**",
	".teamcity/**", "appveyor.yml", ".appveyor.yml", "cloudbuild.yaml", "cloudbuild.yml", "cloudbuild.json", "azure-pipelines.yaml", ".azure-pipelines/**",
	".devcontainer.json", ".devcontainer/devcontainer.json", ".devcontainer/*/devcontainer.json",
}

// floorSystem are folders of the system.
var floorSystem = []string{"/etc", "/boot", "/dev", "/proc", "/sys", "/bin", "/sbin", "/lib", "/lib64", "/usr", "/var/spool/cron"}

// FloorPath tells why no plugin may write abs, an absolute path with its links
// resolved; "" when it may. stateHome is starling's own folder, "" for none.
func FloorPath(at Folders, stateHome, abs string) string {
	abs = path.Clean(abs)
	if _, inside := pathBelow(abs, stateHome); stateHome != "" && inside {
		return "it is a file of starling itself"
	}
	parts := strings.Split(strings.TrimPrefix(abs, "/"), "/")
	for i, part := range parts {
		if strings.EqualFold(part, ".starling") {
			return "it is a file of starling itself"
		}
		tail := strings.Join(parts[i:], "/")
		for _, glob := range floorAnywhere {
			if first, _, _ := strings.Cut(glob, "/"); strings.EqualFold(first, part) && matchPath(strings.ToLower(glob), strings.ToLower(tail)) {
				return "it is run or read by other programs on their own (" + glob + ")"
			}
		}
	}
	if at.Home != "" {
		if rest, inside := pathBelow(abs, at.Home); inside {
			for _, glob := range floorHome {
				if first, _, _ := strings.Cut(glob, "/"); strings.HasPrefix(rest, first) && matchPath(glob, rest) && !worksOnPrograms(at, glob) {
					return "it is read at start-up or holds keys (~/" + glob + ")"
				}
			}
		}
	}
	if _, inside := pathBelow(abs, at.Workspace); inside && at.Workspace != "" {
		return "" // a workspace may lie in a folder of the system, as in containers
	}
	for _, dir := range floorSystem {
		if _, inside := pathBelow(abs, dir); inside {
			return "it belongs to the system (" + dir + ")"
		}
	}
	return ""
}

// worksOnPrograms tells whether the workspace is in the folder of programs that a
// glob is about.
func worksOnPrograms(at Folders, glob string) bool {
	dir, ok := strings.CutSuffix(glob, "/**")
	return ok && slices.Contains(floorPrograms, dir) && Below(at.Workspace, strings.TrimSuffix(at.Home, "/")+"/"+dir)
}
