package wire

import (
	"net/url"
	"strings"
)

// minSecret is the length below which a secret is none: taking it out would only
// spoil texts.
const minSecret = 6

const hidden = "[key]"

// Mask takes secrets out of texts. The zero value hides nothing.
type Mask struct{ r *strings.Replacer }

// NewMask returns a mask of the secrets, also in their forms of addresses.
func NewMask(secrets ...string) Mask {
	var pairs []string
	for _, s := range secrets {
		if s = strings.TrimSpace(s); len(s) < minSecret {
			continue
		}
		pairs = append(pairs, s, hidden)
		if q := url.QueryEscape(s); q != s {
			pairs = append(pairs, q, hidden)
		}
		if p := url.PathEscape(s); p != s {
			pairs = append(pairs, p, hidden)
		}
	}
	if pairs == nil {
		return Mask{}
	}
	return Mask{strings.NewReplacer(pairs...)}
}

// Text returns s without the secrets.
func (m Mask) Text(s string) string {
	if m.r == nil {
		return s
	}
	return m.r.Replace(s)
}
