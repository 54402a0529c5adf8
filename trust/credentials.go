package trust

import (
	"path"
	"slices"
	"strings"
)

// credentialHome are files below the person's home that hold keys, as globs.
var credentialHome = []string{
	".ssh/id_*", ".ssh/*_key", ".ssh/identity", ".gnupg/private-keys-v1.d/**", ".gnupg/secring.gpg", ".aws/credentials", ".aws/sso/cache/**", ".aws/cli/cache/**", ".netrc", "_netrc",
	".git-credentials", ".config/git/credentials", ".config/gh/hosts.yml", ".config/hub", ".config/glab-cli/config.yml", ".docker/config.json",
	".kube/config", ".azure/accessTokens.json", ".azure/msal_token_cache.*", ".azure/azureProfile.json",
	".azure/service_principal_entries.*", ".config/gcloud/*.db", ".config/gcloud/*credentials*", ".config/gcloud/legacy_credentials/**",
	".npmrc", ".yarnrc.yml", ".pypirc", ".pgpass", ".my.cnf", ".cargo/credentials", ".cargo/credentials.toml", ".gem/credentials",
	".terraform.d/credentials.tfrc.json", ".vault-token", ".config/op/**", ".config/rclone/rclone.conf", ".s3cfg", ".boto", ".m2/settings.xml",
	".gradle/gradle.properties", ".nuget/NuGet.Config", ".config/doctl/config.yaml", ".config/hcloud/cli.toml", ".config/fly/config.yml",
	".fly/config.yml", ".password-store/**", ".local/share/keyrings/**", "Library/Keychains/**", ".mozilla/firefox/**/key4.db",
	".mozilla/firefox/**/logins.json", ".config/*/Login Data", ".composer/auth.json", ".config/composer/auth.json", ".htpasswd",
	".subversion/auth/**", ".config/containers/auth.json", ".oci/config", ".ibmcloud/config.json",
}

// credentialKeys are names of key files anywhere in the home outside the
// workspace, whose own files are the person's decision.
var credentialKeys = []string{"*.pem", "*.key", "*.p12", "*.pfx", "*.jks", "*.keystore", "*.kdbx", "*.ppk", "*.asc.key"}

// credentialSystem are files of the system that hold keys.
var credentialSystem = []string{
	"/etc/shadow", "/etc/shadow-", "/etc/gshadow", "/etc/gshadow-", "/etc/sudoers", "/etc/sudoers.d/**", "/etc/master.passwd",
	"/etc/ssh/ssh_host_*_key", "/etc/ssl/private/**", "/etc/krb5.keytab", "/etc/kubernetes/*.conf", "/etc/rancher/k3s/k3s.yaml",
	"/root/**", "/var/lib/kubelet/**", "/var/run/secrets/**", "/run/secrets/**", "/proc/*/environ", "/proc/*/mem", "/proc/*/task/*/environ",
	"/private/etc/master.passwd", "/var/db/dslocal/**",
}

// CredentialPath tells why reading abs, an absolute path with its links resolved,
// asks a person first: it holds keys or passwords. "" when it does not. Public
// halves of keys do not count, nor does what lies in the workspace, except where
// the workspace is the home.
func CredentialPath(at Folders, abs string) string {
	abs = path.Clean(abs)
	rest, home := "", false
	if at.Home != "" {
		rest, home = pathBelow(abs, at.Home)
	}
	if home && !strings.HasSuffix(rest, ".pub") {
		for _, glob := range credentialHome {
			if matchPath(strings.ToLower(glob), strings.ToLower(rest)) {
				return "it holds keys or passwords (~/" + glob + ")"
			}
		}
	}
	if _, inside := pathBelow(abs, at.Workspace); inside && at.Workspace != "" {
		return ""
	}
	if home {
		for _, glob := range credentialKeys {
			if matchPart(glob, strings.ToLower(path.Base(abs))) {
				return "it is a key file (" + glob + ")"
			}
		}
		return ""
	}
	for _, glob := range credentialSystem {
		if matchPath(glob, abs) {
			return "it holds keys or passwords of the system (" + glob + ")"
		}
	}
	return ""
}

// CredentialPattern tells why a pattern for file names, absolute and as a shell
// has it, may name a file that CredentialPath is about; "" when it cannot. A part
// that begins with a wildcard matches no leading dot, unless dots. Key files that
// are known by the end of their name alone do not count.
func CredentialPattern(at Folders, pattern string, dots bool) string {
	parts := strings.Split(strings.ToLower(strings.TrimPrefix(path.Clean(pattern), "/")), "/")
	for _, glob := range credentialGlobs(at) {
		if meet(parts, strings.Split(strings.ToLower(strings.TrimPrefix(glob, "/")), "/"), dots) {
			return "it may hold keys or passwords (" + glob + ")"
		}
	}
	return ""
}

// CredentialsBelow tells whether a folder surely is one that files of keys lie
// below, by the paths in which nothing is left open.
func CredentialsBelow(at Folders, dir string) bool {
	for _, glob := range credentialGlobs(at) {
		fixed := glob
		if i := strings.IndexAny(glob, wildcards); i >= 0 {
			fixed = path.Dir(glob[:i] + "x")
		}
		if Below(fixed, path.Clean(dir)) {
			return true
		}
	}
	return false
}

// credentialGlobs are the lists above as absolute globs.
func credentialGlobs(at Folders) []string {
	out := slices.Clone(credentialSystem)
	if at.Home != "" {
		for _, glob := range credentialHome {
			out = append(out, strings.TrimSuffix(at.Home, "/")+"/"+glob)
		}
	}
	return out
}

// meet tells whether some path may match both lists of parts.
func meet(a, b []string, dots bool) bool {
	switch {
	case len(a) == 0 && len(b) == 0:
		return true
	case len(a) > 0 && a[0] == "**":
		return meet(a[1:], b, dots) || len(b) > 0 && meet(a, b[1:], dots)
	case len(b) > 0 && b[0] == "**":
		return meet(a, b[1:], dots) || len(a) > 0 && meet(a[1:], b, dots)
	case len(a) == 0 || len(b) == 0:
		return false
	}
	hidden := strings.HasPrefix(b[0], ".") && !strings.HasPrefix(a[0], ".") && strings.ContainsAny(a[0][:min(1, len(a[0]))], wildcards)
	return (dots || !hidden) && meetPart(a[0], b[0]) && meet(a[1:], b[1:], dots)
}

// meetPart tells whether some name may match both globs of one part; a class
// counts as any character.
func meetPart(a, b string) bool {
	a, b = anyClass(a), anyClass(b)
	// reach[j]: the beginning of a that was read so far and b[:j] may match the same.
	reach := make([]bool, len(b)+1)
	reach[0] = true
	spread := func(reach []bool) {
		for j := range b {
			reach[j+1] = reach[j+1] || reach[j] && b[j] == '*'
		}
	}
	spread(reach)
	for i := range len(a) {
		next := make([]bool, len(b)+1)
		for j := range next {
			switch {
			case a[i] == '*':
				next[j] = reach[j] || j > 0 && next[j-1]
			case reach[j] && j < len(b) && b[j] == '*':
				next[j] = true
			}
			if j > 0 && a[i] != '*' && b[j-1] != '*' && reach[j-1] && (a[i] == '?' || b[j-1] == '?' || a[i] == b[j-1]) {
				next[j] = true
			}
		}
		spread(next)
		reach = next
	}
	return reach[len(b)]
}

// anyClass puts a question mark in the place of every class.
func anyClass(glob string) string {
	var b strings.Builder
	for glob != "" {
		size := 1
		if glob[0] == '[' {
			if end := strings.IndexByte(glob[min(2, len(glob)):], ']'); end >= 0 {
				b.WriteByte('?')
				glob = glob[end+3:]
				continue
			}
		}
		b.WriteString(glob[:size])
		glob = glob[size:]
	}
	return b.String()
}
