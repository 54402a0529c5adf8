package trust_test

import (
	"testing"

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
