package trust_test

import (
	"strings"
	"testing"

	"pgregory.net/rapid"

	"starling/trust"
)

func TestCredentialPath(t *testing.T) {
	at := trust.Folders{Workspace: "/users/ann/shop", Home: "/users/ann"}
	for _, c := range []struct {
		path string
		keys bool
	}{
		{"/users/ann/.ssh/id_rsa", true},
		{"/users/ann/.ssh/id_ed25519", true},
		{"/users/ann/.ssh/id_rsa.pub", false}, // the half everybody may have
		{"/users/ann/.ssh/known_hosts", false},
		{"/users/ann/.ssh/config", false},
		{"/users/ann/.SSH/id_rsa", true}, // some disks do not tell letters apart
		{"/users/ann/.aws/credentials", true},
		{"/users/ann/.aws/config", false},
		{"/users/ann/.netrc", true},
		{"/users/ann/.git-credentials", true},
		{"/users/ann/.config/gh/hosts.yml", true},
		{"/users/ann/.docker/config.json", true},
		{"/users/ann/.kube/config", true},
		{"/users/ann/.config/gcloud/application_default_credentials.json", true},
		{"/users/ann/.azure/msal_token_cache.json", true},
		{"/users/ann/.npmrc", true},
		{"/users/ann/.pypirc", true},
		{"/users/ann/.gnupg/private-keys-v1.d/x.key", true},
		{"/users/ann/.gnupg/pubring.kbx", false},
		{"/users/ann/certs/site.pem", true},
		{"/users/ann/site.key", true},
		{"/users/ann/notes.md", false},
		{"/users/ann/.bashrc", false}, // reading it hands over nothing
		{"/users/ann/shop/.env", false},
		{"/users/ann/shop/testdata/site.pem", false}, // the person's decision
		{"/users/ann/shop/.npmrc", false},
		{"/users/ann/.ssh/../.ssh/id_rsa", true},
		{"/users/anna/.ssh/id_rsa", false},
		{"/etc/shadow", true},
		{"/etc/passwd", false},
		{"/etc/ssh/ssh_host_rsa_key", true},
		{"/proc/12/environ", true},
		{"/proc/cpuinfo", false},
		{"/run/secrets/db", true},
		{"/tmp/x.pem", false},
	} {
		why := trust.CredentialPath(at, c.path)
		if (why != "") != c.keys {
			t.Errorf("%s: keys %v (%s), want %v", c.path, why != "", why, c.keys)
		}
	}
	whole := trust.Folders{Workspace: "/users/ann", Home: "/users/ann"}
	if trust.CredentialPath(whole, "/users/ann/.ssh/id_rsa") == "" {
		t.Error("a workspace that is the home opens the keys in it")
	}
	if why := trust.CredentialPath(trust.Folders{Workspace: "/w"}, "/users/ann/.ssh/id_rsa"); why != "" {
		t.Errorf("without a home: %s", why)
	}
}

// TestCredentialPattern: a pattern of a shell counts where it may name a key file.
func TestCredentialPattern(t *testing.T) {
	at := trust.Folders{Workspace: "/home/ann/shop", Home: "/home/ann"}
	for pattern, want := range map[string]bool{
		"/home/ann/.netr?": true, "/home/ann/.ne*": true, "/home/ann/.n[e]trc": true, "/home/ann/.[a-z]etrc": true, "/home/ann/.*": true,
		"/home/ann/*": true, "/home/ann/?netrc": true, "/home/ann/*bashrc": false, "/home/ann/.s*/id_*": true, "/home/ann/.ssh/*": true, "/home/ann/.ssh/id?rsa": true,
		"/home/*/.netrc": true, "/h*/a*/.netrc": true, "/*/*/.ssh/x_key": true, "/home/ann/shop/*.go": false, "/home/ann/.ssh/*.txt": true, "/home/ann/.ssh/co*fig": false,
		"/etc/sh*": true, "/etc/h*": false, "/root/*": true, "/proc/*/environ": true, "/proc/[0-9]*/environ": true, "/home/ann/**/.netrc": true,
		"/home/ann/.config/*/hosts.yml": true, "/home/ann/.CONFIG/G?/hosts.yml": true, "/home/bob/.netr?": false, "/home/ann/[]x]netrc": true, "/home/ann/[.]netrc": true,
	} {
		if got := trust.CredentialPattern(at, pattern, false); (got != "") != want {
			t.Errorf("%s: %q, want %v", pattern, got, want)
		}
	}
	if trust.CredentialPattern(at, "/home/ann/*", true) == "" {
		t.Error("a star that matches dots names no key")
	}
	for dir, want := range map[string]bool{
		"/": true, "/home": true, "/home/ann": true, "/home/ann/.ssh": true, "/home/ann/.config": true, "/home/ann/.config/gh": true, "/etc": true, "/home/ann/.config/foo": false,
		"/home/ann/shop": false, "/usr": false, "/home/ann/.gnupg": true,
	} {
		if got := trust.CredentialsBelow(at, dir); got != want {
			t.Errorf("below %s: %v, want %v", dir, got, want)
		}
	}
}

// TestPatternsMeet: a pattern that matches a key file is one that may.
func TestPatternsMeet(t *testing.T) {
	at := trust.Folders{Workspace: "/home/ann/shop", Home: "/home/ann"}
	keys := []string{"/home/ann/.netrc", "/home/ann/.ssh/id_rsa", "/etc/shadow", "/home/ann/.config/gh/hosts.yml", "/home/ann/.aws/sso/cache/a.json"}
	rapid.Check(t, func(t *rapid.T) {
		parts := strings.Split(rapid.SampledFrom(keys).Draw(t, "key"), "/")
		for i, part := range parts[1:] {
			from := rapid.IntRange(0, len(part)).Draw(t, "from")
			to := rapid.IntRange(from, len(part)).Draw(t, "to")
			hole := "*"
			if to == from+1 {
				hole = rapid.SampledFrom([]string{"*", "?", "[" + part[from:to] + "x]"}).Draw(t, "hole")
			}
			parts[i+1] = part[:from] + hole + part[to:]
		}
		pattern := strings.Join(parts, "/")
		if trust.CredentialPattern(at, pattern, true) == "" {
			t.Fatalf("%s matches a key", pattern)
		}
	})
}
