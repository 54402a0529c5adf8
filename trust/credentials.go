package trust

import (
	"path"
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
