package cli_test

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// result is the last line of --output json.
type result struct {
	ExitCode int `json:"exit_code"`
	Stop     string
	Why      string
	Text     string
	Turns    int
	Session  string
	Unsaved  string
	Usage    struct {
		Input, Output int
		Cost          float64
	}
	Denied  []struct{ ID, By, Why string }
	Notices []struct{ From, Text string }
}

// json runs starling with --output json and returns its result.
func (l *lab) json(args ...string) (result, ended) {
	l.t.Helper()
	e := l.run(append([]string{"--quiet", "--output", "json"}, args...)...)
	return l.result(e), e
}

// result reads the last line of stdout.
func (l *lab) result(e ended) result {
	l.t.Helper()
	lines := strings.Split(strings.TrimSuffix(e.stdout, "\n"), "\n")
	var r result
	if err := json.Unmarshal([]byte(lines[len(lines)-1]), &r); err != nil || r.ExitCode != e.code {
		l.t.Fatalf("%v: %v", err, e)
	}
	return r
}

// blocks are the blocks of one kind in the session, in order.
func (l *lab) blocks(kind string) []string {
	l.t.Helper()
	lines, rest := finished(l.t, l.sessionFile())
	if rest != "" {
		l.t.Errorf("the session ends with %q", rest)
	}
	var texts []string
	for _, line := range decoded(l.t, lines) {
		for _, b := range line.Blocks {
			if b.Kind == kind {
				texts = append(texts, strings.TrimSpace(b.Name+" "+b.Arguments+b.Text))
			}
		}
	}
	return texts
}

// E-01: an argument of 3 MB in one line reaches the tool whole; a line above the
// documented limit ends the turn as failed.
func TestE01OneVeryLongLine(t *testing.T) {
	long := strings.Repeat("漢字 x ", 340_000)
	l := newLab(t, func(w *reply, n int, _ string) {
		switch n {
		case 0:
			w.send(data(toolCall(0, "c1", "write", `{"path":"long.txt","content":`+quote(long)+`}`), finish("tool_calls")))
		case 1:
			w.send(says("written"))
		default:
			w.send(events(content("half")) + `data: {"choices":[{"delta":{"content":"`)
			line := strings.Repeat("x", 1<<20)
			for range 20 {
				w.send(line)
			}
			w.send("\"}}]}\n\n" + data(finish("stop")))
		}
	})
	if r, e := l.json("write it"); r.Text != "written" || l.read("ws/long.txt") != long {
		t.Errorf("%d bytes of %d\n%v", len(l.read("ws/long.txt")), len(long), e)
	}
	r, e := l.json("--continue", "now too long")
	if r.Stop != "error" || e.code != 1 || !strings.Contains(r.Why, "limit of 16777216 bytes") {
		t.Errorf("%+v\n%v", r, e)
	}
	if got := l.blocks("text"); got[len(got)-1] != "half" {
		t.Errorf("kept %.100q", got)
	}
	if len(l.sent()) != 3 {
		t.Errorf("%d requests", len(l.sent()))
	}
}

// E-02: comments, bare fields, line ends of any kind and no [DONE] are no error.
func TestE02KeepAliveAndBareFields(t *testing.T) {
	const pause = ": keepalive\n\n: keepalive\n\n: keepalive\n\n"
	stream := pause + "event: ping\n\nid: 1\n\nretry: 100\n\ndata:" + content("one ") + "\n\n" + pause +
		"event: message\nid: 2\ndata: {\"choices\":[{\"index\":0,\ndata: \"delta\":{\"content\":\"two\"}}]}\n\n" +
		"data: " + finish("stop") + "\n\n"
	for name, text := range map[string]string{"LF": stream, "CRLF": strings.ReplaceAll(stream, "\n", "\r\n")} {
		l := newLab(t, func(w *reply, _ int, _ string) { w.by(5, text) })
		if r, e := l.json("go"); r.Text != "one two" || r.Stop != "end" || e.stderr != "" || r.Turns != 1 {
			t.Errorf("%s: %+v %v", name, r, e)
		}
	}
}

// E-03: characters cut by chunk borders are whole in the answer, in the session
// and in the argument a tool got.
func TestE03CharactersCutByBorders(t *testing.T) {
	const odd = "漢字 שלום 🦜 é"
	l := newLab(t, func(w *reply, n int, _ string) {
		if n == 0 {
			w.by(1, data(content(odd), toolCall(0, "c1", "write", `{"path":"odd.txt","content":"`+odd+`"}`), finish("tool_calls")))
			return
		}
		w.by(1, data(delta(`"content":"\u6f22\u5b57 \ud83e\udd9c "`), content(odd), finish("stop")))
	})
	e := l.run("--quiet", "go")
	if e.stdout != "漢字 🦜 "+odd+"\n" || l.read("ws/odd.txt") != odd {
		t.Errorf("file %q\n%v", l.read("ws/odd.txt"), e)
	}
	if got := strings.Join(l.blocks("text"), "|"); got != "go|"+odd+"|漢字 🦜 "+odd {
		t.Errorf("session %q", got)
	}
	if got := l.blocks("tool_call"); len(got) != 1 || got[0] != `write {"path":"odd.txt","content":"`+odd+`"}` {
		t.Errorf("session %q", got)
	}
	if sent := messages(t, l.sent()[1].body); sent[2].text() != odd || !strings.Contains(sent[2].ToolCalls[0].Function.Arguments, odd) {
		t.Errorf("sent back %v", sent[2])
	}
}

// E-04: each of five ways to leave out ids and indexes gives two calls, each run
// once with its own arguments.
func TestE04CallsWithoutIDOrIndex(t *testing.T) {
	tc := func(pieces string) string { return delta(`"tool_calls":[` + pieces + `]`) }
	first := func(n int, name string) string {
		return fmt.Sprintf(`"id":"c%d","type":"function","function":{"name":%q,"arguments":"{\"path\":"}`, n, name)
	}
	rest := func(n int) string { return fmt.Sprintf(`"function":{"arguments":"\"%d.txt\"}"}`, n) }
	for name, chunks := range map[string][]string{
		"id only in the first delta": {tc(`{"index":0,` + first(0, "read") + `}`), tc(`{"index":0,` + rest(0) + `}`), tc(`{"index":1,` + first(1, "read") + `}`), tc(`{"index":1,` + rest(1) + `}`)},
		"index absent, ids present":  {tc(`{` + first(0, "read") + `}`), tc(`{"id":"c0",` + rest(0) + `}`), tc(`{` + first(1, "read") + `}`), tc(`{"id":"c1",` + rest(1) + `}`)},
		"neither after the first":    {tc(`{"index":0,` + first(0, "read") + `}`), tc(`{` + rest(0) + `}`), tc(`{"index":1,` + first(1, "read") + `}`), tc(`{` + rest(1) + `}`)},
		"id repeated every time":     {tc(`{"index":0,` + first(0, "read") + `}`), tc(`{"index":0,"id":"c0",` + rest(0) + `}`), tc(`{"index":1,` + first(1, "read") + `}`), tc(`{"index":1,"id":"c1",` + rest(1) + `}`)},
		"name after the arguments": {
			tc(`{"index":0,"id":"c0","function":{"arguments":"{\"path\":"}}`), tc(`{"index":0,` + rest(0) + `}`), tc(`{"index":0,"function":{"name":"read"}}`),
			tc(`{"index":1,"id":"c1","function":{"arguments":"{\"path\":"}}`), tc(`{"index":1,` + rest(1) + `}`), tc(`{"index":1,"function":{"name":"read"}}`),
		},
	} {
		t.Run(name, func(t *testing.T) {
			l := newLab(t, func(w *reply, n int, _ string) {
				if n == 0 {
					w.by(11, data(append(chunks, finish("tool_calls"))...))
					return
				}
				w.send(says("read"))
			})
			l.write("ws/0.txt", "zero\n")
			l.write("ws/1.txt", "one\n")
			if r, e := l.json("go"); r.Text != "read" {
				t.Fatal(e)
			}
			if got := strings.Join(l.blocks("tool_call"), ";"); got != `read {"path":"0.txt"};read {"path":"1.txt"}` {
				t.Errorf("calls %s", got)
			}
			if sent := messages(t, l.sent()[1].body); len(sent) != 5 || !strings.Contains(sent[3].text(), "zero") || !strings.Contains(sent[4].text(), "one") {
				t.Errorf("sent %v", sent)
			}
		})
	}
}

// E-05: chunks without choices are passed over, and the usage counts once.
func TestE05ChunksWithoutChoices(t *testing.T) {
	l := newLab(t, func(w *reply, _ int, _ string) {
		w.send(data(`{"choices":[]}`, content("a"), `{"choices":null}`, `{"choices":[{"index":0}]}`,
			`{"choices":[{"index":1,"delta":{"content":"other"}}]}`, content("b"), `{"choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}`,
			`{"choices":[],"usage":{"prompt_tokens":100,"completion_tokens":20}}`))
	})
	r, e := l.json("go")
	if r.Text != "ab" || r.Usage.Input != 100 || r.Usage.Output != 20 || e.stderr != "" {
		t.Errorf("%+v %v", r, e)
	}
	if cost := r.Usage.Cost - 140e-6; cost > 1e-12 || cost < -1e-12 {
		t.Errorf("cost %v", r.Usage.Cost)
	}
}

// E-06: a server that refuses a request without the thoughts of the reply before
// is content, also after a restart; one whose profile forbids them never gets
// them; and they are not part of the answer.
func TestE06ReasoningTravelsBack(t *testing.T) {
	const thought = `I think "so"`
	for profile, want := range map[string]string{"compatible": thought, "deepseek": thought, "none": "", "openai": ""} {
		t.Run(profile, func(t *testing.T) {
			l := newLab(t, func(w *reply, n int, body string) {
				var sent struct{ Messages []map[string]any }
				if err := json.Unmarshal([]byte(body), &sent); err != nil {
					t.Error(err)
				}
				for _, m := range sent.Messages {
					got, _ := m["reasoning_content"].(string)
					if _, calls := m["tool_calls"]; calls && got != want {
						w.WriteHeader(400)
						w.send(`{"error":{"message":"reasoning_content must be passed back as ` + strings.ReplaceAll(want, `"`, "'") + `"}}`)
						return
					}
				}
				if n == 0 {
					w.send(data(delta(`"reasoning_content":"I think"`), delta(`"reasoning_content":" \"so\""`), toolCall(0, "c1", "read", `{"path":"a.txt"}`), finish("tool_calls")))
					return
				}
				w.send(says("answer"))
			})
			l.models(`"reasoning": true, "compat": {"profile": "` + profile + `"}`)
			l.write("ws/a.txt", "hello\n")
			for i, args := range [][]string{{"go"}, {"--continue", "again"}} {
				if r, e := l.json(args...); e.code != 0 || r.Text != "answer" || len(l.sent()) != 2+i {
					t.Errorf("run %d: %v", i, e)
				}
			}
		})
	}
}

// E-07: the waiting time a server asks for is kept by one layer of retries, what
// cannot be waited for ends at once, and an interrupt ends the wait.
func TestE07RetryAfter(t *testing.T) {
	l := newLab(t, func(w *reply, n int, _ string) {
		if n < 2 {
			w.Header().Set("Retry-After", "1")
			w.WriteHeader(429)
			w.send(`{"error":{"message":"slow down"}}`)
			return
		}
		w.send(says("fine"))
	})
	r, e := l.json("go")
	sent := l.sent()
	if r.Text != "fine" || len(sent) != 3 || r.Turns != 1 || r.Usage.Input != 100 {
		t.Fatalf("%d requests %+v %v", len(sent), r, e)
	}
	for i := 1; i < 3; i++ {
		if gap := sent[i].at.Sub(sent[i-1].at); gap < time.Second {
			t.Errorf("gap %d is %v", i, gap)
		}
	}
	if n := strings.Count(e.stderr, "slow down"); n != 2 || len(r.Notices) != 2 {
		t.Errorf("%d waits are shown: %v", n, e)
	}
	for name, c := range map[string]struct {
		status      int
		after, body string
		want        string
	}{
		"16 days": {429, "1382400", `{"error":{"message":"much too fast"}}`, "429: much too fast (it asks to wait 16 days"},
		"quota":   {429, "1", `{"error":{"message":"You exceeded your quota","code":"insufficient_quota"}}`, "You exceeded your quota"},
		"400":     {400, "1", `{"error":{"message":"bad role"}}`, "400: bad role"},
	} {
		l := newLab(t, func(w *reply, _ int, _ string) {
			w.Header().Set("Retry-After", c.after)
			w.WriteHeader(c.status)
			w.send(c.body)
		})
		r, e := l.json("go")
		if e.code != 1 || r.Stop != "error" || !strings.Contains(r.Why, c.want) || len(l.sent()) != 1 {
			t.Errorf("%s: %d requests, %v", name, len(l.sent()), e)
		}
	}
}

// E-07: an interrupt ends a wait of 100 seconds.
func TestE07InterruptEndsTheWait(t *testing.T) {
	l := newLab(t, func(w *reply, _ int, _ string) {
		w.Header().Set("Retry-After", "100")
		w.WriteHeader(429)
	})
	p := l.start("--output", "stream-json", "go")
	p.until(`"type":"notice"`)
	p.signal(os.Interrupt)
	if e := p.wait(); e.code != 130 || !strings.Contains(e.stderr, "the run was interrupted") || len(l.sent()) != 1 {
		t.Error(e)
	}
}

// E-08: two calls in one reply, a kill behind the first result, and a prompt
// more. The orphan is answered right behind its call, in every later request and
// by another provider too, and no line of the file is rewritten.
func TestE08KilledBetweenTwoResults(t *testing.T) {
	l := newLab(t, func(w *reply, n int, _ string) {
		if n == 0 {
			w.send(data(toolCall(0, "c1", "write", `{"path":"a.txt","content":"x"}`), toolCall(1, "c2", "sleep", ""), finish("tool_calls")))
			return
		}
		w.send(says("fine"))
	})
	l.write("home/plugins/sleep.star", `inject = ["tools"]
uses = ["exec", "fs.write"]
def apply(ctx):
    def sleep(args):
        fs.write("started", "")
        return exec("exec sleep 600", timeout_ms = 600000).output
    tool("sleep", "Sleeps.", {}, sleep)
`)
	p := l.start("--quiet", "go")
	l.eventually("the second call", func() bool { return exists(l.ws, "started") })
	p.signal(os.Kill)
	p.wait()
	before, rest := finished(t, l.sessionFile())
	if got := l.blocks("tool_result"); rest != "" || len(got) != 1 || !strings.HasPrefix(got[0], "write ") {
		t.Fatalf("results on disk %q, %q", got, rest)
	}

	e := l.run("--quiet", "--continue", "continue")
	if e.code != 0 || strings.Count(e.stderr, "its last run was cut off: a tool call has no result") != 1 {
		t.Error(e)
	}
	l.models(`"compat": {"profile": "deepseek"}`) // another provider
	if e := l.run("--quiet", "--continue", "and more"); e.code != 0 || strings.Contains(e.stderr, "its last run") {
		t.Error(e)
	}
	for i, r := range l.sent()[1:] { // sent refuses what is not valid
		m := messages(t, r.body)
		if m[3].ToolCallID != "c1" || m[4].ToolCallID != "c2" || !strings.Contains(m[4].text(), "interrupted") || !strings.Contains(m[4].text(), "effect is unknown") {
			t.Errorf("request %d: %v", i+1, m)
		}
		if m[5].Role != "user" || m[5].text() != "continue" {
			t.Errorf("request %d: behind the results stands %v", i+1, m[5])
		}
	}
	after, _ := finished(t, l.sessionFile())
	for i, line := range before {
		if after[i] != line {
			t.Errorf("line %d was rewritten", i+1)
		}
	}
}

// E-08: an orphan in the middle of an old file, prompts of the user behind it.
func TestE08OrphanMidHistory(t *testing.T) {
	l := newLab(t, func(w *reply, _ int, _ string) { w.send(says("fine")) })
	const id = "20260301-120000-000-00000001"
	message := func(n int, role, blocks string) string {
		return fmt.Sprintf(`{"kind":"message","id":"%d","parent":"%s","ts":"2026-03-01T12:00:00Z","role":%q,"blocks":[%s]}`+"\n", n, strings.TrimPrefix(fmt.Sprint(n-1), "0"), role, blocks)
	}
	old := fmt.Sprintf(`{"kind":"session","version":1,"id":%q,"cwd":%q,"workspace":%q,"started":"2026-03-01T12:00:00Z"}`+"\n", id, l.ws, l.ws) +
		message(1, "user", `{"kind":"text","text":"go"}`) +
		message(2, "assistant", `{"kind":"tool_call","id":"c1","name":"read","arguments":"{}"},{"kind":"tool_call","id":"c2","name":"read","arguments":"{\"path\":"}`) +
		message(3, "tool", `{"kind":"tool_result","id":"c1","name":"read","text":"one"}`) +
		message(4, "user", `{"kind":"text","text":"hello?"}`) +
		message(5, "user", `{"kind":"text","text":"are you there?"}`) +
		message(6, "assistant", `{"kind":"text","text":"yes"}`)
	l.write("home/sessions/"+id+".jsonl", old)
	if e := l.run("--quiet", "--resume", id, "continue"); e.code != 0 || e.stderr != "" {
		t.Error(e)
	}
	if now := l.read("home/sessions/" + id + ".jsonl"); !strings.HasPrefix(now, old) || len(now) == len(old) {
		t.Errorf("the file is now %s", now)
	}
	var roles []string
	for _, m := range messages(t, l.sent()[0].body) {
		roles = append(roles, m.Role)
	}
	if got := strings.Join(roles, " "); got != "system user assistant tool tool user user assistant user" {
		t.Errorf("sent %s", got)
	}
}

// E-09: nothing as arguments is {}: stored, sent back and run so, once; a tool
// that needs fields gives the model an error it can read.
func TestE09EmptyArguments(t *testing.T) {
	for name, args := range map[string]string{
		"empty": `"arguments":""`, "absent": `"x":1`, "blank": `"arguments":"  \n"`, "null": `"arguments":null`, "an object": `"arguments":{}`,
	} {
		t.Run(name, func(t *testing.T) {
			l := newLab(t, func(w *reply, n int, _ string) {
				if n == 0 {
					w.send(data(delta(`"tool_calls":[{"index":0,"id":"c1","function":{"name":"count",`+args+`}},{"index":1,"id":"c2","function":{"name":"read",`+args+`}}]`), finish("tool_calls")))
					return
				}
				w.send(says("fine"))
			})
			l.write("home/plugins/count.star", `inject = ["tools"]
def apply(ctx):
    runs = {"n": 0}
    def count(args):
        runs["n"] += 1
        return "run %d with %r" % (runs["n"], args)
    tool("count", "Counts.", {}, count)
`)
			if r, e := l.json("go"); r.Text != "fine" {
				t.Fatal(e)
			}
			if got := strings.Join(l.blocks("tool_call"), ";"); got != "count {};read {}" {
				t.Errorf("stored %s", got)
			}
			sent := messages(t, l.sent()[1].body)
			if sent[3].text() != "run 1 with {}" || !strings.Contains(sent[4].text(), `missing "path"`) {
				t.Errorf("sent %v", sent)
			}
			for _, c := range sent[2].ToolCalls {
				if c.Function.Arguments != "{}" {
					t.Errorf("sent back %q", c.Function.Arguments)
				}
			}
		})
	}
}

func exists(parts ...string) bool {
	_, err := os.Stat(filepath.Join(parts...))
	return err == nil
}
