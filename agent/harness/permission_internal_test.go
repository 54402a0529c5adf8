package harness

import "testing"

// A call in one line is what a person reads, however its arguments were encoded.
func TestSummaryOf(t *testing.T) {
	for arguments, want := range map[string]string{
		`{"command":"make \u003e log \u0026\u0026 less\nrm log"}`: "t make > log && less …",
		`{"query":"a \u003c b"}`:                                  `t {"query":"a < b"}`,
		`{"query":"\\u003c"}`:                                     `t {"query":"\\u003c"}`,
		`{}`:                                                      "t {}",
	} {
		if got := summaryOf("t", []byte(arguments)); got != want {
			t.Errorf("%s: %s, want %s", arguments, got, want)
		}
	}
}
