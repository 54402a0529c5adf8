package snapshot

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
)

// FuzzParseStatus: any output is read or refused, and what is read was there.
func FuzzParseStatus(f *testing.F) {
	for _, seed := range []string{
		"# branch.oid (initial)\x00# branch.head main\x00? a b\x00! build/\x00",
		"1 .M N... 100644 100644 100644 aa bb x y\x001 D. N... 100644 000000 000000 aa 00 gone\x00",
		"1 .A N... 000000 000000 100644 00 00 new\x001 .M S.MU 160000 160000 160000 aa aa sub\x00",
		"u UU N... 100644 100644 100644 100644 aa bb cc both\x00u DU N... 100644 000000 100644 100644 aa 00 cc one\x00",
		"1 .M N... 100644\x00", "? unended", "2 R. N... 100644 100644 100644 aa bb R100 b\x00a\x00", "1 \x00u \x00",
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, out []byte) {
		st, err := parseStatus(out)
		if err != nil {
			return
		}
		for _, c := range st.changes {
			if !strings.Contains(string(out), c.path) {
				t.Errorf("%q came from nowhere", c.path)
			}
			if strings.IndexByte("?!", c.index) < 0 && (len(c.sub) != 4 || len(c.entries) == 0 && c.index != 'U') {
				t.Errorf("%+v", c)
			}
		}
	})
}

// FuzzManifest: a manifest is refused or means the same when written again.
func FuzzManifest(f *testing.F) {
	f.Add([]byte(`{"version":1,"id":"x","files":[{"path":"/a","kind":"file","mode":"644","digest":"` + strings.Repeat("a", 64) + `","size":1}]}`))
	f.Add([]byte(`{"version":1,"workspace":{"base64":"/w=="},"repos":[{"dir":"/r","index":[{"path":"a","object":"ab","stage":1}],"stash":[{"commit":"c","message":"m"}]}]}`))
	f.Add([]byte(`{"version":1,"files":[{"path":"../x","kind":"link","target":{"base64":"/w=="}}]}`))
	f.Add([]byte(`{"version":2}`))
	f.Add([]byte(`{"version":1,"files":[{"path":"/a","mode":"9"}]}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		snap, err := decode(data)
		if err != nil {
			return
		}
		again, err := json.Marshal(snap)
		if err != nil {
			t.Fatal(err)
		}
		second, err := decode(again)
		if err != nil {
			t.Fatalf("%v of %s", err, again)
		}
		if d := cmp.Diff(snap, second, cmpopts.EquateEmpty()); d != "" {
			t.Error(d)
		}
		for _, d := range snap.digests() {
			if strings.ContainsAny(d, "/.") {
				t.Errorf("digest %q leads elsewhere", d)
			}
		}
	})
}

// TestParseStatus reads one line of each kind.
func TestParseStatus(t *testing.T) {
	st, err := parseStatus([]byte("# branch.oid abc\x00# branch.head (detached)\x001 MD N... 100644 100755 000000 aa bb x y\x00" +
		"u DU N... 000000 100644 100755 100644 00 bb cc c\x00? new\nline\x00! build/\x00"))
	if err != nil {
		t.Fatal(err)
	}
	want := &state{head: "abc", changes: []change{
		{path: "x y", index: 'M', work: 'D', sub: "N...", entries: []Entry{{Path: "x y", Mode: "100755", Object: "bb"}}},
		{path: "c", index: 'U', work: 'U', sub: "N...", entries: []Entry{{Path: "c", Mode: "100644", Object: "bb", Stage: 2}, {Path: "c", Mode: "100755", Object: "cc", Stage: 3}}},
		{path: "new\nline", index: '?', work: '?'},
		{path: "build", dir: true, index: '!', work: '!'},
	}}
	if d := cmp.Diff(want, st, cmp.AllowUnexported(state{}, change{})); d != "" {
		t.Error(d)
	}
}

// TestWords: sizes and counts for people.
func TestWords(t *testing.T) {
	for n, want := range map[int64]string{0: "0 bytes", 1: "1 byte", 999: "999 bytes", 1000: "1.0 kB", 3_200_000_000: "3.2 GB", 5e18: "5.0 EB"} {
		if got := size(n); got != want {
			t.Errorf("%d is %q, want %q", n, got, want)
		}
	}
	got := []string{count(2, "stash entry"), count(2, "branch"), count(1, "file"), count(0, "file")}
	if want := []string{"2 stash entries", "2 branches", "1 file", "0 files"}; !slices.Equal(got, want) {
		t.Errorf("%q", got)
	}
}
