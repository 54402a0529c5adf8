package cli_test

import (
	"bytes"
	"os"
	"testing"

	"starling/surfaces/cli"
)

// H-04: a reader of a listing that left ends it in silence, with status 1.
func TestH04ListingsWithoutAReader(t *testing.T) {
	for _, args := range [][]string{
		{"--sessions"}, {"--list-plugins"}, {"--list-plugins", "--json"}, {"model", "list"}, {"model", "list", "--json"}, {"plugin", "digest"}, {"--version"},
	} {
		r, w, err := os.Pipe()
		if err != nil {
			t.Fatal(err)
		}
		r.Close()
		dir := t.TempDir()
		var stderr bytes.Buffer
		code := cli.Main(append([]string{"starling"}, args...), cli.Process{
			Stdin: bytes.NewReader(nil), Stdout: w, Stderr: &stderr, Cwd: dir, UserHome: dir,
			LookupEnv: func(string) (string, bool) { return "", false }, Context: t.Context(),
		})
		w.Close()
		if code != 1 || stderr.Len() > 0 {
			t.Errorf("%q: status %d, %q", args, code, stderr.String())
		}
	}
}
