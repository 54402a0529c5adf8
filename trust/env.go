package trust

import (
	"errors"
	"strings"
)

// keyVariables are names of environment variables whose values are, or lead to,
// keys: upper case, as globs.
var keyVariables = []string{
	"*API_KEY*", "*APIKEY*", "*_KEY", "*_KEY_ID", "*_KEY_BASE64", "KEY",
	"*_TOKEN", "TOKEN", "TOKEN_*", "*_TOKEN_*", "*_TOKENS", "*_SECRET", "*_SECRETS", "SECRET", "SECRET_*", "*_SECRET_*",
	"*PASSWORD*", "*PASSWD*", "*PASSPHRASE*", "*_PASS", "*_CREDENTIALS", "*_CREDENTIAL", "*_PAT", "*_AUTH", "*_COOKIE",
	"AWS_*", "AZURE_*", "GOOGLE_APPLICATION_CREDENTIALS", "CLOUDSDK_AUTH_*", "VAULT_*",
	"SSH_AUTH_SOCK", "SSH_ASKPASS", "GPG_*", "KUBECONFIG", "DOCKER_AUTH_CONFIG", "NETRC", "NPM_CONFIG_*AUTH*", "PGPASSFILE",
	"DATABASE_URL", "REDIS_URL", "MONGODB_URI", "AMQP_URL", "*_DSN", "*_CONNECTION_STRING", "*_WEBHOOK_URL",
}

// IsKeyVariable tells whether an environment variable is known by its name to
// hold a key. Case does not count.
func IsKeyVariable(name string) bool {
	if name == "" {
		return false
	}
	name = strings.ToUpper(name)
	// One character at either end rules out most: each start asks about the whole
	// environment.
	may := func(glob, name byte) bool { return glob == '*' || glob == name }
	for _, glob := range keyVariables {
		if may(glob[0], name[0]) && may(glob[len(glob)-1], name[len(name)-1]) && matchPart(glob, name) {
			return true
		}
	}
	return false
}

func checkEnvGlob(scope string) error {
	for _, r := range scope {
		letter := r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || r == '_'
		if !letter && !strings.ContainsRune("*?[]!^-", r) {
			return errors.New(`is no name of an environment variable; write "env:NAME" or "env:CI_*"`)
		}
	}
	if strings.Trim(scope, "*") == "" {
		return errors.New(`for every variable that holds no key write "env"`)
	}
	return checkPart(scope)
}
