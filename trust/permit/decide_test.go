package permit_test

import (
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"starling/bus"
	"starling/bus/spec"
	"starling/trust/command"
	"starling/trust/permit"
)

// Every mode with every kind of call.
func TestModes(t *testing.T) {
	unknown := on("edit", spec.RiskChange)
	unknown.PathsKnown = false
	replaced := on("write", spec.RiskChange, "a")
	replaced.Replaced = true
	page := with(`{"url":"https://example.org"}`, permit.Call{Tool: "fetch", Risk: spec.RiskNetwork, ReadOnly: true, PathsKnown: true})
	const a, q, d = permit.Allow, permit.Ask, permit.Deny
	for _, c := range []struct {
		name                  string
		call                  permit.Call
		ask, edit, plan, yolo permit.Effect
	}{
		{"read", on("read", spec.RiskRead, "a"), a, a, a, a},
		{"read outside", on("read", spec.RiskRead, "/x/a"), q, q, q, a},
		{"a tool that reads", permit.Call{Tool: "look", ReadOnly: true}, a, a, a, a},
		{"a tool that reads and speaks to a host", permit.Call{Tool: "look", ReadOnly: true, Risk: spec.RiskNetwork}, q, q, q, a},
		{"class read alone", permit.Call{Tool: "look", Risk: spec.RiskRead}, a, a, d, a},
		{"a tool of no class", permit.Call{Tool: "look"}, q, q, d, a},
		{"write", on("write", spec.RiskChange, "a"), q, a, d, a},
		{"edit", on("edit", spec.RiskChange, "a", "b"), q, a, d, a},
		{"edit outside", on("edit", spec.RiskChange, "a", "/x/b"), q, q, d, a},
		{"edit in a further folder", on("edit", spec.RiskChange, "/extra/b"), q, a, d, a},
		{"edit of nothing known", unknown, q, q, d, a},
		{"a plugin's write", replaced, q, q, d, a},
		{"memory", on("memory_save", spec.RiskChange, ".starling/memory/x.md"), q, a, d, a},
		{"another tool", on("deploy", spec.RiskChange), q, q, d, a},
		{"one that destroys", on("drop", spec.RiskDestructive), q, q, d, a},
		{"fetch", page, q, q, q, a},
		{"a command that changes", bash(line(part("make"))), q, q, d, a},
		{"a command that reads", bash(line(reads(part("ls")), free(part("head")))), a, a, d, a},
		{"a command that reads outside", bash(touching(line(reads(part("ls", "/x"))), "/x")), q, q, d, a},
		{"a command that reads in a further folder", bash(touching(line(reads(part("ls", "/extra"))), "/extra")), a, a, d, a},
		{"a command that reads what nobody knows", bash(&command.Reading{Parts: []command.Part{reads(part("cat", "$x"))}}), q, q, d, a},
		{"a command that reads, elsewhere", bash(line(in("/tmp/x", reads(part("ls"))))), q, q, d, a},
		{"a free command beside a place outside", bash(touching(line(free(part("head", "a")), reads(part("head", "/etc/x"))), "/etc/x")), q, q, d, a},
		{"a free command elsewhere", bash(line(in("/tmp/x", free(part("head", "a"))))), q, q, d, a},
		{"an empty command", bash(line()), a, a, d, a},
	} {
		for mode, want := range map[permit.Mode]permit.Effect{
			permit.ModeAsk: c.ask, permit.ModeAutoEdit: c.edit, permit.ModePlan: c.plan, permit.ModeYolo: c.yolo, "": c.ask, "later": c.ask,
		} {
			p := policy(t, mode)
			p.Extra = []string{"/extra"}
			got := permit.Decide(c.call, p, nil)
			if got.Effect != want || got.By == "" || len(got.Reasons) == 0 || got.Floor {
				t.Errorf("%s in mode %q: got %+v, want %s", c.name, mode, got, want)
			}
		}
	}
}

// The safety floor asks whatever else is said.
func TestFloor(t *testing.T) {
	found := func(f command.Finding) permit.Call {
		r := line(part("x"))
		r.Floor = []command.Finding{f}
		return bash(r)
	}
	unread := bash(line(part("x")))
	unread.Command.Unread = "a loop"
	replaced := on("memory_save", spec.RiskChange, ".starling/memory/a.md")
	replaced.Replaced = true
	for _, c := range []struct {
		name  string
		call  permit.Call
		open  []string // --allow-path
		asks  bool
		hint  string // of what asks
		needs string // in the reasons
	}{
		{"its own files", on("write", spec.RiskChange, ".starling/plugins/x.star"), nil, true, "start with --allow-path .starling/plugins/x.star", "starling itself"},
		{"its own files, read", on("read", spec.RiskRead, ".starling/plugins/x.star"), nil, false, "", ""},
		{"its own home", on("write", spec.RiskChange, "/h/.starling/rules.json"), nil, true, "start with --allow-path '~/.starling/rules.json'", "starling itself"},
		{"hooks", on("edit", spec.RiskChange, "a", ".git/hooks/x"), nil, true, "start with --allow-path .git/hooks/x", "changes .git/hooks/x"},
		{"two", on("edit", spec.RiskChange, ".envrc", "Jenkinsfile"), nil, true, "start with --allow-path .envrc --allow-path Jenkinsfile", ".envrc"},
		{"one of two opened", on("edit", spec.RiskChange, ".envrc", "Jenkinsfile"), []string{"Jenkinsfile"}, true, "start with --allow-path .envrc", ".envrc"},
		{"opened", on("edit", spec.RiskChange, ".envrc"), []string{".envrc"}, false, "", ""},
		{"another opened", on("edit", spec.RiskChange, ".envrc"), []string{"*.yml", "../x", ""}, true, "start with --allow-path .envrc", ""},
		{"shell start-up", on("write", spec.RiskChange, "/h/.bashrc"), nil, true, "start with --allow-path '~/.bashrc'", ""},
		{"the system", on("write", spec.RiskChange, "/etc/hosts"), nil, true, "start with --allow-path /etc/hosts", ""},
		{"a key, read", on("read", spec.RiskRead, "/h/.ssh/id_ed25519"), nil, true, "start with --allow-path '~/.ssh/id_ed25519'", "reads /h/.ssh/id_ed25519"},
		{"a key, opened", on("read", spec.RiskRead, "/h/.ssh/config"), []string{"~/.ssh/config"}, false, "", ""},
		{"a search through the home", on("grep", spec.RiskRead, "/h"), nil, true, "", "keys among it"},
		{"a search through everything", on("grep", spec.RiskRead, "/"), nil, true, "", "keys among it"},
		{"a search through keys", on("grep", spec.RiskRead, "/h/.ssh"), nil, true, "start with --allow-path '~/.ssh'", "a folder that holds keys"},
		{"a search in the workspace", on("grep", spec.RiskRead, "."), nil, false, "", ""},
		{"a tool that says it reads", permit.Call{Tool: "look", ReadOnly: true, Risk: spec.RiskChange, Paths: []string{".envrc"}}, nil, true, "start with --allow-path .envrc", ""},
		{"memory", on("memory_save", spec.RiskChange, ".starling/memory/a.md"), nil, false, "", ""},
		{"memory, beside it", on("memory_save", spec.RiskChange, ".starling/hooks.json"), nil, true, "start with --allow-path .starling/hooks.json", ""},
		{"a plugin's memory", replaced, nil, true, "start with --allow-path .starling/memory/a.md", ""},
		{"a write into memory", on("write", spec.RiskChange, ".starling/memory/a.md"), nil, true, "start with --allow-path .starling/memory/a.md", ""},
		{"a finding", found(command.Finding{Why: "it forces a push", Part: 0}), []string{"**", "/**"}, true, "", "it forces a push"},
		{"a finding with a path", found(command.Finding{Why: "it removes a", Paths: []string{"/h/a"}}), nil, true, "start with --allow-path '~/a'", "it removes a"},
		{"a finding with a path, opened", found(command.Finding{Why: "it removes a", Paths: []string{"/h/a"}}), []string{"~/a"}, false, "", ""},
		{"a finding with two paths, one opened", found(command.Finding{Why: "it removes a", Paths: []string{"/h/a", "/h/b"}}), []string{"~/a"}, true, "start with --allow-path '~/b'", ""},
		{"unread", unread, []string{"**"}, true, "", "could not be read whole, so nobody can tell what it does: a loop"},
		{"not read", permit.Call{Tool: "bash", Risk: spec.RiskRead, ReadOnly: true}, nil, true, "", "was not read"},
	} {
		t.Run(c.name, func(t *testing.T) {
			for _, mode := range []permit.Mode{permit.ModeAsk, permit.ModeAutoEdit, permit.ModeYolo} {
				for _, v := range []permit.Verdicts{nil, says(bus.Allow), says(bus.NoOpinion)} {
					p := policy(t, mode, "allow *", "allow "+c.call.Tool, "allow read(~/.ssh/*)", "allow grep(~/.ssh)", "allow write(~/**)", "allow write(/etc/*)")
					p.AllowPaths = c.open
					d := permit.Decide(c.call, p, v)
					if d.Floor != c.asks || (d.Effect == permit.Ask) != c.asks || c.asks && (len(d.Always) > 0 || d.By != "floor") {
						t.Fatalf("mode %s: %+v, want floor %v", mode, d, c.asks)
					}
					if c.asks && (d.Hint != c.hint || !strings.Contains(strings.Join(d.Reasons, "\n"), c.needs)) {
						t.Errorf("mode %s: %+v, want hint %q and %q", mode, d, c.hint, c.needs)
					}
				}
			}
		})
	}
}

// A hint names all a call needs, not the next thing alone.
func TestFloorHintIsWhole(t *testing.T) {
	removes := line(part("rm", "-r", "/h/a"), part("ls"))
	removes.Floor = []command.Finding{{Why: "it removes a", Paths: []string{"/h/a"}}}
	for _, c := range []struct {
		call  permit.Call
		mode  permit.Mode
		rules []string
		want  string
	}{
		{on("edit", spec.RiskChange, ".envrc"), permit.ModeAsk, nil, "start with --allow-path .envrc --allow 'edit(.envrc)'"},
		{on("edit", spec.RiskChange, ".envrc"), permit.ModeAutoEdit, nil, "start with --allow-path .envrc"},
		{on("edit", spec.RiskChange, ".envrc"), permit.ModeAsk, []string{"allow edit"}, "start with --allow-path .envrc"},
		{on("edit", spec.RiskChange, ".envrc"), permit.ModeAsk, []string{"ask edit"}, ""},
		{bash(removes), permit.ModeAsk, []string{"allow bash(ls)"}, "start with --allow-path '~/a' --allow 'bash(rm -r /h/a)'"},
		{bash(removes), permit.ModeYolo, nil, "start with --allow-path '~/a'"},
	} {
		if d := permit.Decide(c.call, policy(t, c.mode, c.rules...), nil); d.Hint != c.want {
			t.Errorf("%s in %s with %q: got %q, want %q", c.call.Tool, c.mode, c.rules, d.Hint, c.want)
		}
	}
}

// Work that may be lost asks, unless there is none; in yolo it runs, and what a
// snapshot has to hold is told.
func TestLosses(t *testing.T) {
	loss := command.Loss{Dir: workspace, Kinds: []command.Lost{command.Worktree}}
	r := line(part("git", "reset", "--hard"))
	r.Floor = []command.Finding{{Why: "it discards changes", Loss: &loss}}
	pushes := *r
	pushes.Floor = append(slices.Clone(r.Floor), command.Finding{Why: "it forces a push"})
	file := *r
	file.Floor = []command.Finding{{Why: "it overwrites a", Loss: &command.Loss{Kinds: []command.Lost{command.File}}, Paths: []string{"/w/a"}}}
	dirty, clean := func(command.Finding) bool { return true }, func(command.Finding) bool { return false }
	for _, c := range []struct {
		name   string
		line   *command.Reading
		mode   permit.Mode
		dirty  func(command.Finding) bool
		open   []string
		effect permit.Effect
		floor  bool
		losses int
		hint   string
	}{
		{"dirty", r, permit.ModeAsk, dirty, nil, permit.Ask, true, 1, "run with --mode yolo, which keeps a snapshot of the work first"},
		{"taken for dirty", r, permit.ModeAutoEdit, nil, nil, permit.Ask, true, 1, "run with --mode yolo, which keeps a snapshot of the work first"},
		{"clean", r, permit.ModeAsk, clean, nil, permit.Allow, false, 0, ""},
		{"yolo", r, permit.ModeYolo, dirty, nil, permit.Allow, false, 1, ""},
		{"yolo, clean", r, permit.ModeYolo, clean, nil, permit.Allow, false, 0, ""},
		{"yolo with another finding", &pushes, permit.ModeYolo, dirty, nil, permit.Ask, true, 1, ""},
		{"with another finding", &pushes, permit.ModeAsk, dirty, nil, permit.Ask, true, 1, ""},
		{"an opened file", &file, permit.ModeAsk, dirty, []string{"a"}, permit.Allow, false, 1, ""},
		{"plan", r, permit.ModePlan, dirty, nil, permit.Deny, false, 0, "run without --mode plan"},
	} {
		t.Run(c.name, func(t *testing.T) {
			p := policy(t, c.mode, "allow bash")
			p.Dirty, p.AllowPaths = c.dirty, c.open
			d := permit.Decide(bash(c.line), p, says(bus.Allow))
			if d.Effect != c.effect || d.Floor != c.floor || len(d.Losses) != c.losses || d.Hint != c.hint {
				t.Errorf("got %+v", d)
			}
		})
	}
	p := policy(t, permit.ModeYolo, "ask bash(git reset *)")
	if d := permit.Decide(bash(r), p, nil); d.Effect != permit.Ask || len(d.Losses) != 1 || d.Floor {
		t.Errorf("a rule that asks holds in yolo: %+v", d)
	}
	p = policy(t, permit.ModeYolo, "deny bash(git reset *)")
	if d := permit.Decide(bash(r), p, nil); d.Effect != permit.Deny || d.Losses != nil {
		t.Errorf("a rule that denies holds in yolo: %+v", d)
	}
}

func TestPlugins(t *testing.T) {
	plain := bash(line(part("make")))
	rewritten := plain
	rewritten.Rewritten = true
	floor := on("write", spec.RiskChange, ".envrc")
	const a, q, d = permit.Allow, permit.Ask, permit.Deny
	for _, c := range []struct {
		name             string
		call             permit.Call
		mode             permit.Mode
		rules            []string
		none, no, yes, x permit.Effect // no opinion, deny, allow, ask
	}{
		{"an ordinary question", plain, permit.ModeAsk, nil, q, d, a, q},
		{"a rewritten call", rewritten, permit.ModeAsk, nil, q, d, q, q},
		{"what a rule allows", plain, permit.ModeAsk, []string{"allow bash(make)"}, a, d, a, q},
		{"a rewritten call a rule allows", rewritten, permit.ModeAsk, []string{"allow bash(make)"}, a, d, a, q},
		{"what a rule asks for", plain, permit.ModeYolo, []string{"ask bash(make)"}, q, d, q, q},
		{"what a rule may deny", bash(line(part("$x"))), permit.ModeYolo, []string{"deny bash(rm *)"}, q, d, q, q},
		{"the floor", floor, permit.ModeYolo, nil, q, d, q, q},
		{"yolo", plain, permit.ModeYolo, nil, a, d, a, q},
		{"a read", on("read", spec.RiskRead, "a"), permit.ModeAsk, nil, a, d, a, q},
	} {
		p := policy(t, c.mode, c.rules...)
		for kind, want := range map[bus.VerdictKind]permit.Effect{bus.NoOpinion: c.none, bus.Deny: c.no, bus.Allow: c.yes, bus.Ask: c.x} {
			asked := 0
			got := permit.Decide(c.call, p, func(floor bool) bus.Verdict { asked++; return says(kind)(floor) })
			if got.Effect != want || asked != 1 {
				t.Errorf("%s, plugin says %s: got %+v after %d questions, want %s", c.name, kind, got, asked, want)
			}
			if said := strings.Join(got.Reasons, "\n"); kind >= bus.Ask && !strings.Contains(said, "because") {
				t.Errorf("%s, plugin says %s: reasons %q do not say why", c.name, kind, got.Reasons)
			}
		}
	}
	// Where nothing can change, nobody is asked.
	never := func(bool) bus.Verdict { t.Error("a plugin was asked"); return bus.Verdict{} }
	permit.Decide(plain, policy(t, permit.ModeYolo, "deny bash"), never)
	permit.Decide(plain, policy(t, permit.ModePlan), never)

	failed := func(bool) bus.Verdict { return bus.Verdict{Kind: bus.Deny, Err: errors.New("boom")} }
	got := permit.Decide(plain, policy(t, permit.ModeYolo), failed)
	if got.Effect != permit.Deny || !strings.Contains(strings.Join(got.Reasons, ""), "boom") {
		t.Errorf("a failed plugin: %+v", got)
	}
}

// What a question and a headless run are told.
func TestWords(t *testing.T) {
	p := func(rules ...string) permit.Policy { return policy(t, permit.ModeAsk, rules...) }
	push := part("git", "push", "origin", "a b")
	push.Text, push.Why = "git push origin 'a b'", "it speaks to another machine"
	for _, c := range []struct {
		name string
		call permit.Call
		p    permit.Policy
		want permit.Decision
	}{
		{"a command", bash(line(push, redirect(">", "out.txt"), push, reads(part("ls")))), p(), permit.Decision{
			Effect: permit.Ask, By: "mode ask",
			Reasons:   []string{"no rule covers git push origin 'a b' (it speaks to another machine)", "no rule covers > out.txt", "no rule covers git push origin 'a b' (it speaks to another machine)"},
			Uncovered: []string{"git push origin 'a b'", "> out.txt", "git push origin 'a b'"},
			Always:    []string{"bash(git push origin 'a b')", "bash(> out.txt)"},
			Hint:      `start with --allow 'bash(git push origin '\''a b'\'')' --allow 'bash(> out.txt)' or add those rules to rules.json`,
		}},
		{"unknown words", bash(line(part("go", "test", "$x"), variable("A=$y"))), p(), permit.Decision{
			Effect: permit.Ask, By: "mode ask",
			Reasons:   []string{"no rule covers go test $x", "no rule covers A=$y"},
			Uncovered: []string{"go test $x", "A=$y"},
			Hint:      "start with --allow 'bash(go test *)' --allow 'bash(A=*)' or add those rules to rules.json",
		}},
		{"nothing to name", bash(line(part("$x"))), p(), permit.Decision{
			Effect: permit.Ask, By: "mode ask", Reasons: []string{"no rule covers $x"}, Uncovered: []string{"$x"},
			Hint: "only the rule bash, which allows every command, covers $x: start with --allow bash",
		}},
		{"an edit", on("edit", spec.RiskChange, "src/[a].go"), p(), permit.Decision{
			Effect: permit.Ask, By: "mode ask", Reasons: []string{"edit changes something, and no rule allows it"},
			Always: []string{"edit(src/[[]a].go)"},
			Hint:   "start with --allow 'edit(src/[[]a].go)' or add that rule to rules.json, or run with --mode auto-edit",
		}},
		{"an edit outside", on("edit", spec.RiskChange, "/h/a"), p("allow edit"), permit.Decision{
			Effect: permit.Ask, By: "mode ask", Reasons: []string{"/h/a is outside the workspace", "edit changes something, and no rule allows it"},
			Always: []string{"edit(~/a)"},
			Hint:   "start with --allow 'edit(~/a)' or add that rule to rules.json",
		}},
		{"a page", with(`{"url":"http://[::1]:8080/x"}`, permit.Call{Tool: "fetch", Risk: spec.RiskNetwork}), p(), permit.Decision{
			Effect: permit.Ask, By: "mode ask", Reasons: []string{"fetch speaks to ::1, and no rule allows it"},
			Always: []string{"fetch([::1]:8080)"},
			Hint:   "start with --allow 'fetch([::1]:8080)' or add that rule to rules.json",
		}},
		{"a plugin's tool", on("deploy", spec.RiskChange), p(), permit.Decision{
			Effect: permit.Ask, By: "mode ask", Reasons: []string{"deploy changes something, and no rule allows it"},
			Always: []string{"deploy"}, Hint: "start with --allow deploy or add that rule to rules.json",
		}},
		{"one that destroys", on("drop", spec.RiskDestructive), p(), permit.Decision{
			Effect: permit.Ask, By: "mode ask", Reasons: []string{"drop can destroy something, and no rule allows it"},
		}},
		{"a rule", bash(line(push)), p("allow bash(git push *)"), permit.Decision{
			Effect: permit.Allow, By: "rule allow bash(git push *)", Reasons: []string{"the rule bash(git push *) allows it (--allow)"},
		}},
		{"a rule that denies", bash(line(push)), p("allow bash", "deny bash(git push *)"), permit.Decision{
			Effect: permit.Deny, By: "rule deny bash(git push *)", Reasons: []string{"the rule bash(git push *) denies it (--deny)"},
			Hint: "start without --deny 'bash(git push *)'",
		}},
		{"a rule that may deny", bash(line(part("git", "$x"))), p("deny bash(git push *)"), permit.Decision{
			Effect: permit.Ask, By: "rule deny bash(git push *)", Reasons: []string{"the rule bash(git push *), which denies (--deny), may be about it"},
			Hint: "start without --deny 'bash(git push *)'",
		}},
	} {
		if diff := cmp.Diff(c.want, permit.Decide(c.call, c.p, nil)); diff != "" {
			t.Errorf("%s: (-want +got)\n%s", c.name, diff)
		}
	}
}

func TestCheckAllowPath(t *testing.T) {
	for glob, want := range map[string]string{".envrc": "", "~/.ssh/config": "", "../x": "..", "": "empty", "a/": "a/**"} {
		err := permit.CheckAllowPath(glob)
		if want == "" && err != nil || want != "" && (err == nil || !strings.Contains(err.Error(), want)) {
			t.Errorf("%q: %v, want %q", glob, err, want)
		}
	}
}

// TestImpossiblePaths: what is wrong with a path is told, and no rule is proposed.
func TestImpossiblePaths(t *testing.T) {
	at := shop(t)
	if err := os.Symlink("loop", filepath.Join(at.Workspace, "loop")); err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]string{
		"": "is empty", " ": "is empty", "loop/x": "links", strings.Repeat("n", 300): "300 bytes", "a/" + strings.Repeat("n", 256) + "/b": "256 bytes",
	} {
		arguments, err := json.Marshal(map[string]string{"path": name})
		if err != nil {
			t.Fatal(err)
		}
		c := permit.Call{Tool: "write", Arguments: arguments, Risk: spec.RiskChange, Origin: "main"}
		d := permit.Decide(c, permit.Policy{Mode: permit.ModeAsk, At: at}, nil)
		if d.Effect != permit.Deny || len(d.Reasons) != 1 || !strings.Contains(d.Reasons[0], want) || d.Hint != "" {
			t.Errorf("%.20q: %+v, want %q", name, d, want)
		}
	}
	c := permit.Call{Tool: "write", Arguments: json.RawMessage(`{"path":"a"}`), Risk: spec.RiskChange, Origin: "main"}
	if d := permit.Decide(c, permit.Policy{Mode: permit.ModeAsk, At: at}, nil); d.Effect != permit.Ask {
		t.Errorf("a possible path: %+v", d)
	}
}

// TestStrangers: a rule of a flag for a tool there is not is told, with the nearest.
func TestStrangers(t *testing.T) {
	var rules permit.Rules
	for text, source := range map[string]permit.Source{"bahs(a=b)": permit.FromFlag, "fetch(example.org)": permit.FromFlag, "git_*": permit.FromFlag, "bash(ls)": permit.FromFlag, "old": permit.FromHome} {
		r, err := permit.ParseRule(text)
		if err != nil {
			t.Fatal(err)
		}
		rules.With(source, permit.Allow, r)
	}
	got := rules.Strangers([]string{"bash", "read", "edit"})
	slices.Sort(got)
	want := []string{
		"--allow bahs(a=b) is about no tool there is; did you mean bash?",
		"--allow fetch(example.org) is about no tool there is; the tools are bash, read, edit",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}
