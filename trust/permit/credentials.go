package permit

import "starling/trust"

// keys are the files of a home that hold keys, as patterns.
var keys = []string{
	"~/.ssh/**", "~/.gnupg/**", "~/.aws/**", "~/.azure/**", "~/.config/gcloud/**", "~/.kube/**", "~/.docker/config.json",
	"~/.netrc", "~/.npmrc", "~/.pypirc", "~/.pgpass", "~/.git-credentials", "~/.config/gh/**", "~/.vault-token",
}

// credential tells why abs is no file to read without a question; "" when it is.
func credential(at trust.Folders, abs string) string {
	for _, pattern := range keys {
		if at.Matches(pattern, abs) {
			return "it holds keys (" + pattern + ")"
		}
	}
	return ""
}
