package fs_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

func (d *desk) preview(name string, a args) string {
	d.t.Helper()
	tool, _, ok := d.reg.Lookup(name)
	if !ok || tool.Preview == nil {
		d.t.Fatalf("no preview of %s", name)
	}
	raw, err := json.Marshal(a)
	if err != nil {
		d.t.Fatal(err)
	}
	return tool.Preview(d.t.Context(), raw)
}

// What a person is shown before a call is the diff that stands in its details after
// it, and looking changes nothing.
func TestPreviewIsTheDiff(t *testing.T) {
	line := rapid.SampledFrom([]string{"a\n", "b\n", "a\r\n", "\tc", "\n", "long " + strings.Repeat("x", 300) + "\n", "caf\u00e9\n"})
	rapid.Check(t, func(rt *rapid.T) {
		d := deskIn(t, filepath.Join(t.TempDir()))
		old := strings.Join(rapid.SliceOfN(line, 0, 12).Draw(rt, "old"), "")
		path := filepath.Join(d.dir, "f")
		there := rapid.Bool().Draw(rt, "there")
		if there {
			if err := os.WriteFile(path, []byte(old), 0o644); err != nil {
				rt.Fatal(err)
			}
		}
		if there {
			if _, err := d.call("read", args{"path": "f"}); err != nil {
				rt.Fatal(err)
			}
		}
		name, a := "write", args{"path": "f", "content": strings.Join(rapid.SliceOfN(line, 0, 12).Draw(rt, "new"), "")}
		if there && rapid.Bool().Draw(rt, "edit") {
			name, a = "edit", args{"path": "f", "edits": []args{{"old_text": line.Draw(rt, "from"), "new_text": line.Draw(rt, "to"), "all": true}}}
		}
		shown := d.preview(name, a)
		after, err := os.ReadFile(path)
		if there && string(after) != old || !there && err == nil {
			rt.Fatalf("the preview changed %q to %q", old, after)
		}
		r, err := d.call(name, a)
		if err != nil {
			if !strings.HasPrefix(shown, "the call would be refused: ") {
				rt.Fatalf("shown %q, and then %v", shown, err)
			}
			return
		}
		var made struct{ Diff string }
		if err := json.Unmarshal(r.Details, &made); err != nil {
			rt.Fatal(err)
		}
		if shown != made.Diff && (made.Diff != "" || !strings.Contains(shown, " would ")) {
			rt.Fatalf("shown %q, made %q", shown, made.Diff)
		}
	})
}

// The preview of a call that is asked about because of where it leads shows what it
// would do there; one that cannot be made says why; arguments that do not fit are
// left to be shown as they are. A look is no read: what changed since stays unknown
// to the model.
func TestPreviewOfOddCalls(t *testing.T) {
	d := newDesk(t)
	outside := filepath.Join(filepath.Dir(d.dir), "outside.txt")
	for path, text := range map[string]string{outside: "one\n", filepath.Join(d.dir, "f"): "one\n"} {
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if got := d.preview("edit", args{"path": outside, "edits": []args{{"old_text": "one", "new_text": "two"}}}); !strings.Contains(got, "-one\n+two\n") {
		t.Errorf("outside: %q", got)
	}
	if got := d.preview("write", args{"path": "deep/new.txt", "content": "x\n"}); !strings.Contains(got, "--- /dev/null") || !strings.Contains(got, "+x\n") {
		t.Errorf("a new file: %q", got)
	}
	for _, a := range []args{{"path": "f"}, {"path": 7, "edits": []args{}}, {}} {
		if got := d.preview("edit", a); got != "" && !strings.HasPrefix(got, "the call would be refused") {
			t.Errorf("%v: %q", a, got)
		}
	}
	big := strings.Repeat("line\n", 1<<20)
	if got := d.preview("write", args{"path": "f", "content": big}); !strings.Contains(got, "no diff of files so large") {
		t.Errorf("a large file: %.100q", got)
	}
	d.read(args{"path": "f"})
	if err := os.WriteFile(filepath.Join(d.dir, "f"), []byte("ONE\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	d.preview("write", args{"path": "f", "content": "two\n"})
	d.preview("edit", args{"path": "f", "edits": []args{{"old_text": "ONE", "new_text": "two"}}})
	if _, err := d.call("write", args{"path": "f", "content": "two\n"}); err == nil || !strings.Contains(err.Error(), "changed by somebody else") {
		t.Errorf("after a look: %v", err)
	}
}
