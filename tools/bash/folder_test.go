package bash

import (
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"pgregory.net/rapid"

	"starling/bus/chat"
	"starling/tools/shell"
)

// Each step is one call: what it runs, the folder after it (below the workspace)
// and what its result says.
func TestKeptFolder(t *testing.T) {
	type step struct{ line, cwd, says string }
	for _, c := range []struct {
		name  string
		steps []step
	}{
		{"cd stays", []step{
			{"mkdir -p a/b && cd a", "a", "[the next command runs in a]"},
			{"pwd", "a", "WS/a"},
			{"cd b", "a/b", "runs in a/b]"},
			{"cd ../..; pwd", "", "WS\n[the next command runs in the workspace root]"},
		}},
		{"variables do not", []step{{"x=1; export x", "", ""}, {"echo \"<$x>\"", "", "<>"}}},
		{"also after a failure", []step{{"mkdir a; cd a; false", "a", "[exit status 1, no output]\n[the next command runs in a]"}}},
		{"a subshell's does not", []step{{"mkdir a; (cd a); pwd", "", "WS"}}},
		{"outside", []step{
			{"mkdir a; cd a", "a", "runs in a]"},
			{"cd /; pwd", "a", "/\n[the folder / is outside the workspace and was not kept; the next command runs in a]"},
			{"pwd", "a", "WS/a"},
		}},
		{"out through a link", []step{{"ln -s / out; cd out", "", "[the folder / is outside the workspace and was not kept; the next command runs in the workspace root]"}}},
		{"beside the workspace", []step{{"mkdir ../$(basename $PWD)2; cd ../$(basename $PWD)2", "", "is outside the workspace"}}},
		{"exec", []step{
			{"mkdir a; cd a && exec pwd", "", "WS/a\n[the folder this ended in was not kept: it is gone, or the shell could not say because of exec or a trap on EXIT; the next command runs in the workspace root]"},
			{"exec pwd", "", "WS"},
		}},
		{"a trap on EXIT", []step{{"trap 'echo bye' EXIT; mkdir a; cd a; exit 3", "", "bye\n[exit status 3]\n[the folder this ended in was not kept"}}},
		// Bug report C-05, and its kind: whatever becomes of the kept folder.
		{"the folder disappears", []step{
			{"mkdir s && cd s", "s", "runs in s]"},
			{"rm -rf ../s", "s", ""},
			{"pwd", "", "WS\n[the folder s is gone: this ran in the workspace root, and so does the next]"},
			{"pwd", "", "WS"},
		}},
		{"the folder became a link to the outside", []step{
			{"mkdir s && cd s", "s", "runs in s]"},
			{"cd ..; rmdir s; ln -s / s; cd /", "s", "outside"},
			{"pwd", "", "WS\n[the folder s is gone"},
		}},
		{"the folder became a file", []step{
			{"mkdir s && cd s", "s", "runs in s]"},
			{"rmdir ../s; echo >../s; exit 0", "s", ""},
			{"pwd", "", "WS\n[the folder s is gone"},
		}},
		{"the folder was moved", []step{
			{"mkdir s && cd s", "s", "runs in s]"},
			{"mv ../s ../t; true", "t", "runs in t]"},
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			l := newLab(t, nil)
			for _, s := range c.steps {
				r := l.run(s.line)
				want := strings.ReplaceAll(s.says, "WS", l.dir)
				if got := filepath.Join(l.dir, s.cwd); l.Cwd() != got || r.Cwd != got {
					t.Errorf("%s: folder %s, details say %s, want %s", s.line, l.Cwd(), r.Cwd, got)
				}
				if !strings.Contains(r.Content, want) || want == "" && strings.Contains(r.Content, "folder") {
					t.Errorf("%s: %q, want %q", s.line, r.Content, want)
				}
			}
		})
	}
}

// An added folder counts as workspace, and a workspace named by a link is the one
// it leads to.
func TestKeptFolderOfExtra(t *testing.T) {
	extra, link := t.TempDir(), filepath.Join(t.TempDir(), "link")
	l := newLab(t, func(_ *shell.Options, o *Options) {
		if err := os.Symlink(o.Workspace, link); err != nil {
			t.Fatal(err)
		}
		o.Workspace, o.Extra = link, []string{extra}
	})
	if r := l.run("cd " + extra); r.Cwd != resolved(extra) || !strings.Contains(r.Content, "runs in "+resolved(extra)) {
		t.Errorf("%+v", r)
	}
	if r := l.run("cd " + link); r.Cwd != l.dir || !strings.Contains(r.Content, "runs in the workspace root") {
		t.Errorf("%+v", r)
	}
}

// Bug report C-05: without its root nothing can run, and the error says what to do;
// a root that is made again is used again.
func TestRootIsGone(t *testing.T) {
	l := newLab(t, nil)
	l.run("mkdir a && cd a")
	if err := os.RemoveAll(l.dir); err != nil {
		t.Fatal(err)
	}
	if _, err := l.try(t.Context(), "pwd", 0, nil); err == nil || !strings.Contains(err.Error(), l.dir+" is gone") || !strings.Contains(err.Error(), "make it again") {
		t.Errorf("error %v", err)
	}
	if err := os.Mkdir(l.dir, 0o755); err != nil {
		t.Fatal(err)
	}
	if r := l.run("pwd"); r.Content != l.dir+"\n" {
		t.Errorf("%q", r.Content)
	}
}

// Calls side by side start in one folder; one that stays does not take back where
// another went.
func TestFolderBesideEachOther(t *testing.T) {
	l := newLab(t, nil)
	l.run("mkdir a; mkfifo moved")
	var all sync.WaitGroup
	all.Go(func() {
		if r := l.run("cd a; echo >../moved"); r.Cwd != filepath.Join(l.dir, "a") || !r.Moved {
			t.Errorf("%+v", r)
		}
	})
	all.Go(func() {
		if r := l.run("read x <moved; sleep 0.3; pwd"); r.Content != l.dir+"\n" || r.Cwd != l.dir || r.Moved {
			t.Errorf("%+v", r)
		}
	})
	all.Wait()
	if l.Cwd() != filepath.Join(l.dir, "a") {
		t.Errorf("kept %s", l.Cwd())
	}
}

// A conversation that goes on starts where its last command ended.
func TestRestore(t *testing.T) {
	l := newLab(t, nil)
	message := func(name string, details string) chat.Message {
		return chat.Message{Role: chat.ToolRole, Blocks: []chat.Block{{Kind: chat.Result, Name: name, Details: []byte(details)}}}
	}
	in := func(dir string) chat.Message {
		return message("bash", `{"status": 1, "cwd": "`+dir+`", "moved": true}`)
	}
	stayed := func(dir string) chat.Message { return message("bash", `{"status": 1, "cwd": "`+dir+`"}`) }
	a := filepath.Join(l.dir, "a")
	said := chat.TextMessage(chat.User, "go on")
	for _, c := range []struct {
		name       string
		transcript []chat.Message
		want       string
	}{
		{"nothing", nil, l.dir},
		{"a call", []chat.Message{in(l.dir), in(a), said}, a},
		{"back to the root", []chat.Message{in(a), in(l.dir)}, l.dir},
		{"calls beside it that stayed", []chat.Message{stayed(l.dir), in(a), stayed(l.dir), stayed(l.dir)}, a},
		{"nothing but calls that stayed", []chat.Message{stayed(l.dir), stayed(a)}, a},
		{"a blocked call after it", []chat.Message{in(a), message("bash", "")}, a},
		{"another tool after it", []chat.Message{in(a), message("other", `{"cwd": "/"}`)}, a},
		{"of another workspace", []chat.Message{in(a), in("/elsewhere")}, l.dir},
		{"out by dots", []chat.Message{in(a + "/../..")}, l.dir},
		{"relative", []chat.Message{in("a")}, l.dir},
	} {
		l.Restore([]chat.Message{in(filepath.Join(l.dir, "before"))})
		l.Restore(c.transcript)
		if l.Cwd() != c.want {
			t.Errorf("%s: %s, want %s", c.name, l.Cwd(), c.want)
		}
	}
	l.Restore([]chat.Message{in(a)})
	if r := l.run("pwd"); !strings.Contains(r.Content, l.dir+"\n[the folder a is gone") {
		t.Errorf("%q", r.Content)
	}
	// What a call leaves is what Restore finds.
	r := l.run("mkdir b; cd b; false")
	other := New(Options{Engine: l.engine, Workspace: l.dir})
	other.Restore([]chat.Message{message("bash", string(r.ToolResult.Details))})
	if other.Cwd() != filepath.Join(l.dir, "b") {
		t.Errorf("%s", other.Cwd())
	}
}

// What was judged in a folder runs in it or not at all, whatever the calls judged
// with it do first; the next reply is judged anew.
func TestRunsWhereItWasJudged(t *testing.T) {
	l := newLab(t, nil)
	judge := func(lines ...string) {
		for _, line := range lines {
			raw, err := json.Marshal(map[string]string{"command": line})
			if err != nil {
				t.Fatal(err)
			}
			if paths, _ := l.Tool().Paths(raw); line == "cat x" && len(paths) != 1 {
				t.Errorf("%s touches %q", line, paths)
			}
		}
	}
	judge("mkdir -p a/b; cd a/b", "pwd")
	l.run("mkdir -p a/b; cd a/b")
	if r := l.run("pwd"); r.Content != l.dir+"\n" || r.Cwd != l.dir || r.Moved {
		t.Errorf("judged in the root: %q", r.Content)
	}
	if r := l.run("pwd"); r.Content != l.dir+"\n" {
		t.Errorf("judged in the root, the second of two: %q", r.Content)
	}
	judge("pwd")
	if r := l.run("pwd"); r.Content != filepath.Join(l.dir, "a/b")+"\n" {
		t.Errorf("judged in a/b: %q", r.Content)
	}
	// It went away since: the call that was judged there does not run elsewhere.
	judge("rm -rf ../b", "touch ../mark")
	l.run("rm -rf ../b")
	if _, err := l.try(t.Context(), "touch ../mark", 0, nil); err == nil || !strings.Contains(err.Error(), "a/b went away after this call was checked") {
		t.Errorf("error %v", err)
	}
	if _, err := os.Stat(filepath.Join(filepath.Dir(l.dir), "mark")); err == nil {
		t.Error("it ran beside the workspace")
	}
	// A folder that was gone before is judged as the root.
	l.run("mkdir c; cd c")
	if err := os.Remove(filepath.Join(l.dir, "c")); err != nil {
		t.Fatal(err)
	}
	judge("cat x", "pwd")
	if r := l.run("pwd"); !strings.HasPrefix(r.Content, l.dir+"\n[the folder c is gone") {
		t.Errorf("%q", r.Content)
	}
	for i := range 3 * mostJudged {
		judge(fmt.Sprint("echo ", i))
	}
	if len(l.judged) > mostJudged {
		t.Errorf("%d lines remembered", len(l.judged))
	}
}

func TestReadStartsInTheKeptFolder(t *testing.T) {
	l := newLab(t, nil)
	l.run("mkdir a; cd a")
	r, err := l.Read([]byte(`{"command": "cat x"}`))
	if err != nil || r.Line != "cat x" || !r.PathsKnown || !slices.Equal(r.Paths, []string{"a/x"}) {
		t.Errorf("%+v %v", r, err)
	}
	if _, err := l.Read([]byte(`{"command": 3}`)); err == nil {
		t.Error("a number was read as a line")
	}
	for _, p := range r.Parts {
		if p.Dir != l.Cwd() {
			t.Errorf("part %+v, want it in %s", p, l.Cwd())
		}
	}
}

// A line that is said to stay does: whatever lines of words, separators and folders
// bash is given, the folder it ends in is the one it started in.
func TestStays(t *testing.T) {
	root := resolved(t.TempDir())
	for _, dir := range []string{"cd", "s/cd", "s/t"} {
		if err := os.MkdirAll(filepath.Join(root, dir), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	for name, text := range map[string]string{"move": "cd s\n", "s/move": "pushd t\n"} {
		if err := os.WriteFile(filepath.Join(root, name), []byte(text), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	b := New(Options{Workspace: root})
	words := []string{
		"cd", "pushd", "popd", "builtin", "command", "eval", "source", ".", "exec", "time", "!", "if", "then", "fi", "for", "in", "do", "done",
		"s", "./move", "move", "s/move", "true", "x=cd", "env", "-P", "trap", "EXIT", "0", "mapfile", "-C", "-c", "1", "echo", "test",
		";", "&&", "||", "|", "&", "\n", "\t", "'c'd", `c\d`, "$x", "${x}", "`echo cd`", "{", "}", "(", ")", "cd()", ">", "<", "<<<", "~", "*",
	}
	stayed := 0
	rapid.Check(t, func(t *rapid.T) {
		line := strings.Join(rapid.SliceOfN(rapid.SampledFrom(words), 1, 7).Draw(t, "words"), " ")
		if !b.stays(line, root) {
			return
		}
		stayed++
		cmd := exec.Command("bash", "-c", "--", "trap 'pwd -P >&9' EXIT\n"+line)
		cmd.Dir = root
		r, w, err := os.Pipe()
		if err != nil {
			t.Fatal(err)
		}
		defer r.Close()
		for range 6 {
			cmd.ExtraFiles = append(cmd.ExtraFiles, nil)
		}
		cmd.ExtraFiles = append(cmd.ExtraFiles, w) // descriptor 9
		_ = cmd.Run()                              // most lines are nonsense
		_ = w.Close()
		got, err := io.ReadAll(r)
		if err != nil {
			t.Fatal(err)
		}
		if end := strings.TrimSpace(string(got)); end != root && end != "" {
			t.Fatalf("%q ends in %s", line, end)
		}
	})
	if stayed == 0 {
		t.Error("no line was tried")
	}
	for line, want := range map[string]bool{
		"go test ./...": true, "git status --short | head -5": true, "make build && ./starling --version": true, "ls > out.txt": true,
		"": true, "cd s": false, ". ./move": false, "x=1; ./move": true, "abcd": false, `ls "a"`: false, "$X": false, "f() { cd s; }; f": false,
	} {
		if got := b.stays(line, root); got != want {
			t.Errorf("stays(%q) is %v", line, got)
		}
	}
	if b.stays("true", filepath.Join(root, "s")) {
		t.Error("a folder below the root may be moved while a command is in it")
	}
}
