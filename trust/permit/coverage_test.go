package permit_test

import (
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"starling/bus/spec"
	"starling/trust/command"
	"starling/trust/permit"
)

// Allow rules are compared with the structure of a command, never with its text.
func TestCommandCoverage(t *testing.T) {
	status, touch := part("git", "status"), part("touch", "x")
	for _, c := range []struct {
		name  string
		rules []string
		line  *command.Reading
		left  []string // uncovered; nil: it runs
	}{
		{"the command", []string{"bash(git status)"}, line(status), nil},
		{"something after it", []string{"bash(git status)"}, line(status, touch), []string{"touch x"}},
		{"something in a substitution", []string{"bash(git status)"}, line(part("git", "status", "$(touch x)"), touch), []string{"git status $(touch x)", "touch x"}},
		{"another word", []string{"bash(git status)"}, line(part("git", "statusx")), []string{"git statusx"}},
		{"a redirection", []string{"bash(git status)"}, line(status, redirect(">", "x")), []string{"> x"}},
		{"an option before", []string{"bash(git status)"}, line(part("git", "-c", "alias.status=!touch x", "status")), []string{"git -c alias.status=!touch x status"}},
		{"an option after", []string{"bash(git status)"}, line(part("git", "status", "-s")), []string{"git status -s"}},
		{"another program of the name", []string{"bash(git status)"}, line(part("/tmp/git", "status")), []string{"/tmp/git status"}},
		{"an unknown word", []string{"bash(git status)"}, line(part("git", "$x")), []string{"git $x"}},
		{"an unknown program", []string{"bash(git status)"}, line(part("$x", "status")), []string{"$x status"}},
		{"a variable", []string{"bash(git status)"}, line(variable("GIT_DIR=/tmp/x"), status), []string{"GIT_DIR=/tmp/x"}},
		{"one word", []string{"bash(git status)"}, line(part("git")), []string{"git"}},
		{"elsewhere", []string{"bash(git status)"}, line(in("/tmp/clone", status)), []string{"git status"}},
		{"nobody knows where", []string{"bash(git status)"}, line(in("", status)), []string{"git status"}},
		{"a folder below", []string{"bash(git status)"}, line(in("/w/sub", status)), nil},
		{"both covered", []string{"bash(git status)", "bash(touch x)"}, line(status, touch), nil},
		{"free parts", []string{"bash(git status)"}, line(free(part("cd", "sub")), status, free(part("head", "-5"))), nil},
		{"a free part beside a place outside", []string{"bash(git status)"}, touching(line(status, free(part("head", "-5")), reads(part("head", "/etc/x"))), "/etc/x"), []string{"head /etc/x"}},
		{"a reading part", []string{"bash(git status)"}, line(status, reads(part("ls"))), nil},
		{"a reading part outside", []string{"bash(git status)"}, touching(line(status, reads(part("ls", "/x"))), "/x"), []string{"ls /x"}},

		{"star for none", []string{"bash(go test *)"}, line(part("go", "test")), nil},
		{"star for one", []string{"bash(go test *)"}, line(part("go", "test", "./...")), nil},
		{"star for many", []string{"bash(go test *)"}, line(part("go", "test", "-run", "X", "./...")), nil},
		{"star for the unknown", []string{"bash(go test *)"}, line(part("go", "test", "$flags")), nil},
		{"the unknown before a star", []string{"bash(go test *)"}, line(part("go", "$flags", "test", "x")), []string{"go $flags test x"}},
		{"star, another command", []string{"bash(go test *)"}, line(part("go", "testx")), []string{"go testx"}},
		{"middle star", []string{"bash(kubectl --context * get *)"}, line(part("kubectl", "--context", "dev", "get", "pods")), nil},
		{"middle star for none", []string{"bash(a * b)"}, line(part("a", "b")), []string{"a b"}},
		{"middle star for two", []string{"bash(a * b)"}, line(part("a", "x", "y", "b")), []string{"a x y b"}},
		{"middle star for an option", []string{"bash(git * status)"}, line(part("git", "-c", "status")), []string{"git -c status"}},
		{"middle star for the unknown", []string{"bash(a * b)"}, line(part("a", "$x", "b")), []string{"a $x b"}},
		{"a star that means itself", []string{"bash(echo '*')"}, line(part("echo", "x")), []string{"echo x"}},
		{"every command", []string{"bash"}, line(in("", part("$x", "y")), redirect(">", "$f"), variable("A=$b")), nil},
		{"every tool", []string{"*"}, line(part("rm", "x"), redirect(">", "/tmp/x")), nil},
		{"another tool", []string{"edit"}, line(status), []string{"git status"}},

		{"a file", []string{"bash(ls)", "bash(> out/*.txt)"}, line(part("ls"), redirect(">", "out/a.txt")), nil},
		{"a file, forced", []string{"bash(> out/*.txt)"}, line(redirect(">|", "out/a.txt")), nil},
		{"a file, both streams", []string{"bash(> out/*.txt)"}, line(redirect("&>", "out/a.txt")), nil},
		{"a file, of a descriptor", []string{"bash(> out/*.txt)"}, line(redirect("2>", "out/a.txt")), nil},
		{"a file, appended", []string{"bash(> out/*.txt)"}, line(redirect(">>", "out/a.txt")), nil},
		{"a file, anew where appending is allowed", []string{"bash(>> out/*.txt)"}, line(redirect(">", "out/a.txt")), []string{"> out/a.txt"}},
		{"a file, read where writing is allowed", []string{"bash(> out/*.txt)"}, line(redirect("<", "out/a.txt")), []string{"< out/a.txt"}},
		{"a file, both ways", []string{"bash(> a)", "bash(< a)"}, line(redirect("<>", "a")), []string{"<> a"}},
		{"a file below", []string{"bash(> out/*.txt)"}, line(in("/w/out", redirect(">", "a.txt"))), nil},
		{"a file, from another folder", []string{"bash(> out/*.txt)"}, line(in("/w/x", redirect(">", "out/a.txt"))), []string{"> out/a.txt"}},
		{"a file, nobody knows where", []string{"bash(> out/*.txt)"}, line(in("", redirect(">", "out/a.txt"))), []string{"> out/a.txt"}},
		{"a file, up and down", []string{"bash(> out/*.txt)"}, line(redirect(">", "out/../a.txt")), []string{"> out/../a.txt"}},
		{"a file nobody knows", []string{"bash(> out/*.txt)"}, line(redirect(">", "$f")), []string{"> $f"}},
		{"a file outside", []string{"bash(> ~/out/*)"}, line(redirect(">", "/h/out/a")), nil},

		{"a value", []string{"bash(CI=1)"}, line(variable("CI=1")), nil},
		{"another value", []string{"bash(CI=1)"}, line(variable("CI=2")), []string{"CI=2"}},
		{"any value", []string{"bash(CI=*)"}, line(variable("CI=$(x)")), nil},
		{"another name", []string{"bash(CI=*)"}, line(variable("CIX=1")), []string{"CIX=1"}},
		{"an unknown value", []string{"bash(CI=1)"}, line(variable("CI=$x")), []string{"CI=$x"}},
		{"an empty value", []string{"bash(CI=)"}, line(variable("CI=")), nil},
		{"no value", []string{"bash(CI=)", "bash(CI=1)"}, line(variable("CI")), []string{"CI"}},
		{"no value, where any is allowed", []string{"bash(CI=*)"}, line(variable("CI")), nil},
		{"a value more", []string{"bash(CI=1)"}, line(variable("CI+=1")), []string{"CI+=1"}},
		{"a text for a command", []string{"bash(python -)"}, line(part("python", "-"), reads(redirect("<<", "x"))), []string{"<< x"}},
		{"a text for a filter", nil, line(reads(part("cat")), free(redirect("<<", "x"))), nil},
		{"a text for any command", []string{"bash"}, line(part("python", "-"), reads(redirect("<<<", "x"))), nil},
		{"a file to read", nil, line(reads(redirect("<", "a"))), nil},
		{"a program of that name", []string{"bash(CI=1)"}, line(part("CI=1")), []string{"CI=1"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			rules := make([]string, len(c.rules))
			for i, r := range c.rules {
				rules[i] = "allow " + r
			}
			d := permit.Decide(bash(c.line), policy(t, permit.ModeAsk, rules...), nil)
			want := permit.Ask
			if c.left == nil {
				want = permit.Allow
			}
			if d.Effect != want || !slices.Equal(d.Uncovered, c.left) {
				t.Errorf("got %+v; want %s, uncovered %q", d, want, c.left)
			}
		})
	}
}

// A link leads a redirection where it leads, also when nothing is there yet.
func TestRedirectionThroughLinks(t *testing.T) {
	root, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	ws := filepath.Join(root, "ws")
	for _, err := range []error{
		os.MkdirAll(filepath.Join(ws, "out"), 0o700), os.Mkdir(filepath.Join(root, "outside"), 0o700),
		os.Symlink("../../outside/new.txt", filepath.Join(ws, "out/link.txt")), os.Symlink("../outside", filepath.Join(ws, "dir")),
		os.Symlink("out", filepath.Join(ws, "in")), os.Symlink("loop.txt", filepath.Join(ws, "out/loop.txt")),
	} {
		if err != nil {
			t.Fatal(err)
		}
	}
	for file, want := range map[string]permit.Effect{
		"out/a.txt": permit.Allow, "out/link.txt": permit.Ask, "dir/a.txt": permit.Ask, "out/../dir/a.txt": permit.Ask,
		"in/a.txt": permit.Allow, "out/loop.txt": permit.Ask, filepath.Join(ws, "out/a.txt"): permit.Allow,
		filepath.Join(root, "outside/a.txt"): permit.Ask, "dir/../ws/out/a.txt": permit.Allow,
	} {
		p := policy(t, permit.ModeAsk, "allow bash(> out/*.txt)")
		p.At.Workspace = ws
		if d := permit.Decide(bash(line(in(ws, redirect(">", file)))), p, nil); d.Effect != want {
			t.Errorf("%s: got %+v, want %s", file, d, want)
		}
	}
}

// The rules of files, hosts and arguments that allow, ask and deny.
func TestRulesOfOtherTools(t *testing.T) {
	unknown := on("edit", spec.RiskChange, "src/a")
	unknown.PathsKnown = false
	url := func(u string) permit.Call {
		return with(`{"url":"`+u+`"}`, permit.Call{Tool: "fetch", Risk: spec.RiskNetwork})
	}
	deploy := func(arguments string) permit.Call {
		return with(arguments, permit.Call{Tool: "deploy", Risk: spec.RiskChange, PathsKnown: true})
	}
	for _, c := range []struct {
		name string
		call permit.Call
		// what becomes of it in mode ask with allow RULE, in yolo with deny RULE
		rule        string
		allow, deny permit.Effect
	}{
		{"a file", on("edit", spec.RiskChange, "src/a/b.go"), "edit(src/**)", permit.Allow, permit.Deny},
		{"one of two", on("edit", spec.RiskChange, "src/a", "b"), "edit(src/**)", permit.Ask, permit.Deny},
		{"none", on("edit", spec.RiskChange, "b"), "edit(src/**)", permit.Ask, permit.Allow},
		{"perhaps others", unknown, "edit(src/**)", permit.Ask, permit.Deny},
		{"perhaps this", unknown, "edit(b)", permit.Ask, permit.Ask},
		{"another tool", on("write", spec.RiskChange, "src/a"), "edit(src/**)", permit.Ask, permit.Allow},
		{"up", on("edit", spec.RiskChange, "/x"), "edit(**)", permit.Ask, permit.Allow},
		{"every file", on("edit", spec.RiskChange, "a"), "edit", permit.Allow, permit.Deny},
		{"no file", on("edit", spec.RiskChange), "edit", permit.Allow, permit.Deny},
		{"no file, some allowed", on("edit", spec.RiskChange), "edit(src/**)", permit.Ask, permit.Allow},
		{"every file, outside", on("edit", spec.RiskChange, "/x/a"), "edit", permit.Ask, permit.Deny},
		{"every file, unknown", unknown, "edit", permit.Ask, permit.Deny},
		{"a file outside", on("edit", spec.RiskChange, "/x/a"), "edit(/x/*)", permit.Allow, permit.Deny},
		{"at home", on("read", spec.RiskRead, "/h/notes/a"), "read(~/notes/**)", permit.Allow, permit.Deny},
		{"a folder", on("ls", spec.RiskRead, "/h/notes"), "ls(~/notes/**)", permit.Allow, permit.Deny},
		{"a folder above", on("grep", spec.RiskRead, "."), "grep(secret/**)", permit.Allow, permit.Ask},
		{"a folder beside", on("grep", spec.RiskRead, "src"), "grep(secret/**)", permit.Allow, permit.Allow},
		{"some files below", on("grep", spec.RiskRead, "src"), "grep(**/*.pem)", permit.Allow, permit.Ask},
		{"a file beside", on("read", spec.RiskRead, "src"), "read(secret/**)", permit.Allow, permit.Allow},

		{"a host", url("https://example.org/a"), "fetch(example.org)", permit.Allow, permit.Deny},
		{"a host, spelled otherwise", url("HTTPS://Example.Org:443"), "fetch(example.org)", permit.Allow, permit.Deny},
		{"as a user", url("https://example.org@evil.org/"), "fetch(example.org)", permit.Ask, permit.Allow},
		{"in a path", url("https://evil.org/example.org"), "fetch(example.org)", permit.Ask, permit.Allow},
		{"at the end", url("https://evil-example.org"), "fetch(*.example.org)", permit.Ask, permit.Allow},
		{"below", url("http://a.b.example.org"), "fetch(*.example.org)", permit.Allow, permit.Deny},
		{"a port", url("http://127.0.0.1:8080/x"), "fetch(127.0.0.1:8080)", permit.Allow, permit.Deny},
		{"another port", url("http://127.0.0.1:8081/x"), "fetch(127.0.0.1:8080)", permit.Ask, permit.Allow},
		{"no address", url("::"), "fetch(example.org)", permit.Ask, permit.Ask},
		{"two addresses", with(`{"url":"https://a.b","url":"https://example.org"}`, url("")), "fetch(example.org)", permit.Ask, permit.Ask},

		{"an argument", deploy(`{"env":"staging","n":1}`), "deploy(env=staging)", permit.Allow, permit.Deny},
		{"a number", deploy(`{"n":1}`), "deploy(n=1)", permit.Allow, permit.Deny},
		{"true", deploy(`{"dry":true}`), "deploy(dry=true)", permit.Allow, permit.Deny},
		{"begins so", deploy(`{"env":"staging-2"}`), "deploy(env=staging)", permit.Ask, permit.Allow},
		{"any text", deploy(`{"env":"eu-x-2"}`), "deploy(env=eu-*-2)", permit.Allow, permit.Deny},
		{"missing", deploy(`{"other":"env=staging"}`), "deploy(env=staging)", permit.Ask, permit.Allow},
		{"deeper", deploy(`{"x":{"env":"staging"}}`), "deploy(env=staging)", permit.Ask, permit.Allow},
		{"no text", deploy(`{"env":["staging"]}`), "deploy(env=staging)", permit.Ask, permit.Ask},
		{"twice", deploy(`{"env":"staging","env":"live"}`), "deploy(env=staging)", permit.Ask, permit.Ask},
		{"every call", deploy(`{}`), "deploy", permit.Allow, permit.Deny},
		{"every call of some", deploy(`{}`), "de*y", permit.Allow, permit.Deny},
		{"every tool", deploy(`{}`), "*", permit.Allow, permit.Deny},
		{"others", deploy(`{}`), "x*", permit.Ask, permit.Allow},
	} {
		t.Run(c.name, func(t *testing.T) {
			for rule, want := range map[string]permit.Effect{"allow ": c.allow, "deny ": c.deny} {
				mode := permit.ModeAsk
				if rule == "deny " {
					mode = permit.ModeYolo
				}
				if d := permit.Decide(c.call, policy(t, mode, rule+c.rule), nil); d.Effect != want {
					t.Errorf("%s%s: got %+v, want %s", rule, c.rule, d, want)
				}
			}
		})
	}
}

// What denies or asks is taken widely: where it may be meant, a person is asked,
// in every mode.
func TestRulesThatDenyCommands(t *testing.T) {
	unread := line()
	unread.Unread = "a loop"
	for _, c := range []struct {
		rule string
		line *command.Reading
		want permit.Effect
	}{
		{"bash(rm *)", line(part("rm", "-r", "x")), permit.Deny},
		{"bash(rm *)", line(part("ls"), part("/bin/rm", "x")), permit.Deny},
		{"bash(rm *)", line(part("rmdir", "x")), permit.Allow},
		{"bash(rm *)", line(part("$x", "y")), permit.Ask},
		{"bash(/bin/rm *)", line(part("rm", "y")), permit.Allow},
		{"bash(git push *)", line(part("git", "push")), permit.Deny},
		{"bash(git push *)", line(in("", part("git", "push", "x"))), permit.Deny},
		{"bash(git push *)", line(part("git", "-C", "sub", "push", "x")), permit.Ask},
		{"bash(git push *)", line(part("git", "-c", "a=b", "--bare", "push")), permit.Ask},
		{"bash(git push *)", line(part("git", "$x")), permit.Ask},
		{"bash(git push *)", line(part("git", "pull", "push")), permit.Allow},
		{"bash(git push *)", line(part("hg", "push")), permit.Allow},
		{"bash(git push)", line(part("git", "push", "origin")), permit.Allow},
		{"bash(git * push)", line(part("git", "-C", "push")), permit.Deny},
		{"bash(> secret/**)", line(redirect(">>", "secret/x")), permit.Deny},
		{"bash(>> secret/**)", line(redirect("2>", "secret/x")), permit.Deny},
		{"bash(> secret/**)", line(redirect("<", "secret/x")), permit.Allow},
		{"bash(> secret/**)", line(redirect(">", "$x")), permit.Ask},
		{"bash(> secret/**)", line(in("", redirect(">", "x"))), permit.Ask},
		{"bash(> secret/**)", line(redirect(">", "x")), permit.Allow},
		{"bash(> **)", line(part("x"), free(redirect("2>&", "1")), free(redirect("<&", "-"))), permit.Allow},
		{"bash(> **)", line(redirect(">&", "1.txt")), permit.Deny},
		{"bash(> **)", line(part("x"), free(redirect("<<", "a"))), permit.Allow},
		{"bash(A=*)", line(variable("A+=1")), permit.Deny},
		{"bash(A=*)", line(variable("$x")), permit.Ask},
		{"bash(LD_PRELOAD=*)", line(variable("LD_PRELOAD=$x"), part("ls")), permit.Deny},
		{"bash(A=1)", line(variable("A=$x")), permit.Ask},
		{"bash(A=1)", line(variable("A=2")), permit.Allow},
		{"bash(rm *)", unread, permit.Ask},
		{"bash", line(), permit.Deny},
	} {
		for _, rest := range [][]string{nil, {"allow bash"}, {"allow *"}} {
			p := policy(t, permit.ModeYolo, append(rest, "deny "+c.rule)...)
			if d := permit.Decide(bash(c.line), p, nil); d.Effect != c.want {
				t.Errorf("deny %s beside %q, %v: got %+v, want %s", c.rule, rest, c.line.Parts, d, c.want)
			}
			want := c.want
			if want == permit.Deny {
				want = permit.Ask
			}
			p = policy(t, permit.ModeYolo, append(rest, "ask "+c.rule)...)
			d := permit.Decide(bash(c.line), p, nil)
			if d.Effect != want {
				t.Errorf("ask %s beside %q: got %+v, want %s", c.rule, rest, d, want)
			}
			if len(d.Always) > 0 {
				t.Errorf("ask %s: always %q would not help", c.rule, d.Always)
			}
		}
	}
	// The rule that asks, not one that may deny, is named when both are there.
	d := permit.Decide(bash(line(part("git", "-C", "x", "push"))), policy(t, permit.ModeAsk, "deny bash(git push *)", "ask bash(git *)"), nil)
	if diff := cmp.Diff("rule ask bash(git *)", d.By); diff != "" {
		t.Error(diff)
	}
}
