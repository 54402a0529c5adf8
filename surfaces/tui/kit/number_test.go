package kit_test

import (
	"testing"

	"starling/surfaces/tui/kit"
)

func TestTokens(t *testing.T) {
	for n, want := range map[int]string{
		0: "0", 999: "999", 1234: "1.2k", 9_949: "9.9k", 9_999: "10k", 12_300: "12k", 999_499: "999k", 999_500: "1.0M", 1_000_000: "1M", 1_250_000: "1.2M", 128_000_000: "128M",
	} {
		if got := kit.Tokens(n); got != want {
			t.Errorf("%d tokens: %s, want %s", n, got, want)
		}
	}
}
