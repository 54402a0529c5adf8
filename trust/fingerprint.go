package trust

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"hash"
	"sort"
	"strings"
)

// Bundle is a set of files: what one answer is about. Names are
// slash-separated and mean nothing but themselves; no file is opened by them.
type Bundle map[string][]byte

// Digest names exactly the names and bytes of one bundle, as "sha256:" and 64
// hexadecimal digits. The zero value names nothing.
type Digest string

const digestPrefix = "sha256:"

// shortDigits is enough for people to tell versions apart; decisions compare
// the full form.
const shortDigits = 12

// Digest of the bundle. The order in which files were found does not count;
// every name and content carries its length, so that bytes cannot move from
// one to the other unseen.
func (b Bundle) Digest() Digest {
	h := sha256.New()
	h.Write([]byte("starling bundle 1\n"))
	for _, name := range b.Names() {
		writeSized(h, []byte(name))
		writeSized(h, b[name])
	}
	return Digest(digestPrefix + hex.EncodeToString(h.Sum(nil)))
}

func writeSized(h hash.Hash, data []byte) {
	var size [8]byte
	binary.BigEndian.PutUint64(size[:], uint64(len(data)))
	h.Write(size[:])
	h.Write(data)
}

// Names of the files, sorted.
func (b Bundle) Names() []string {
	names := make([]string, 0, len(b))
	for name := range b {
		names = append(names, name)
	}
	sort.Strings(names)
	return names
}

// Short form for people, such as "sha256:0123456789ab".
func (d Digest) Short() string {
	if len(d) <= len(digestPrefix)+shortDigits {
		return string(d)
	}
	return string(d[:len(digestPrefix)+shortDigits])
}

// ParseDigest reads the full form of a digest, as --trust-digest takes it. The
// short form is an error: it does not name one content only.
func ParseDigest(s string) (Digest, error) {
	digits, ok := strings.CutPrefix(s, digestPrefix)
	if !ok {
		return "", fmt.Errorf("digest %q: does not start with %q; \"starling plugin digest\" prints it", s, digestPrefix)
	}
	if raw, err := hex.DecodeString(digits); err != nil || len(raw) != sha256.Size || strings.ToLower(digits) != digits {
		return "", fmt.Errorf("digest %q: must be %q and %d lower-case hexadecimal digits; \"starling plugin digest\" prints it",
			s, digestPrefix, 2*sha256.Size)
	}
	return Digest(s), nil
}
