package trust_test

import (
	"strings"
	"testing"

	"pgregory.net/rapid"

	"starling/trust"
)

// bundles are small, so that names and contents often meet.
func bundles(t *rapid.T, label string) trust.Bundle {
	text := rapid.StringMatching(`[ab\n]{0,3}`)
	b := trust.Bundle{}
	for name, content := range rapid.MapOfN(text, text, 0, 4).Draw(t, label) {
		b[name] = []byte(content)
	}
	return b
}

func same(a, b trust.Bundle) bool {
	if len(a) != len(b) {
		return false
	}
	for name, content := range a {
		other, ok := b[name]
		if !ok || string(other) != string(content) {
			return false
		}
	}
	return true
}

func TestDigestTellsBundlesApart(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		a, b := bundles(t, "a"), bundles(t, "b")
		if (a.Digest() == b.Digest()) != same(a, b) {
			t.Fatalf("%q and %q: digests %s and %s", a, b, a.Digest(), b.Digest())
		}
	})
}

func TestDigestSeesEveryByte(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		b := bundles(t, "bundle")
		b["x"] = rapid.SliceOfN(rapid.Byte(), 1, 8).Draw(t, "content")
		before := b.Digest()
		i := rapid.IntRange(0, len(b["x"])-1).Draw(t, "byte")
		b["x"][i] ^= 1 << rapid.IntRange(0, 7).Draw(t, "bit")
		if b.Digest() == before {
			t.Fatalf("byte %d of x changed, the digest did not", i)
		}
		b["x"][i] ^= 1
		renamed := trust.Bundle{}
		for name, content := range b {
			renamed[name+"'"] = content
		}
		if renamed.Digest() == b.Digest() {
			t.Fatal("the names changed, the digest did not")
		}
	})
}

// The format is kept in trust.json and in people's CI files: it must not change.
func TestDigestIsStable(t *testing.T) {
	for _, c := range []struct {
		bundle trust.Bundle
		want   trust.Digest
	}{
		{nil, "sha256:40379736684161db151283fab4ed4da32e9f798e1616cc94ac47a490adfd1bd2"},
		{trust.Bundle{"guard.star": []byte("x = 1\n"), "lib/a.star": nil}, "sha256:0cc86eec0bb7a71d1a2e2ff690ce7612da9ac5183b5b4c96474fa6d6163bf9d5"},
	} {
		if got := c.bundle.Digest(); got != c.want {
			t.Errorf("%q: got %s", c.bundle, got)
		}
	}
}

func TestParseDigest(t *testing.T) {
	d := trust.Bundle{"a": nil}.Digest()
	if got, err := trust.ParseDigest(string(d)); err != nil || got != d {
		t.Errorf("its own digest: %s, %v", got, err)
	}
	if got := d.Short(); len(got) != len("sha256:")+12 || !strings.HasPrefix(string(d), got) {
		t.Errorf("short form %q of %s", got, d)
	}
	if got := trust.Digest("").Short(); got != "" {
		t.Errorf("short form of nothing: %q", got)
	}
	for _, bad := range []string{
		"", "sha256:", d.Short(), strings.TrimPrefix(string(d), "sha256:"), string(d) + "0", " " + string(d),
		"sha256:" + strings.Repeat("g", 64), "sha256:" + strings.Repeat("A", 64), "md5:" + strings.Repeat("0", 64),
	} {
		if got, err := trust.ParseDigest(bad); err == nil || got != "" {
			t.Errorf("%q was read as %q", bad, got)
		}
	}
}
