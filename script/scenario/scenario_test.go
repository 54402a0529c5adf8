package scenario

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"starling/bus/spec"
)

const whole = `"""All of it."""
expect("what is in")
expect(["a.txt", "please"])
call("read", path = "a.txt", depth = 1.0)
say("It says hello.", thinking = "short", delay_ms = 20)
expect("both")
calls([say("Both.", thinking = "t"), call("read", path = "a"), call("list", {"max-depth": 2})])
fail_turn("overloaded")
[say("line %d" % i) for i in range(2)]
def answer(last):
    if "tool" in last:
        return calls([call("x"), call("y", n = None)])
    return say("You said: " + last)
reply(answer)
`

func TestLoad(t *testing.T) {
	got, err := Load("s.star", []byte(whole))
	if err != nil {
		t.Fatal(err)
	}
	want := []spec.Step{
		{MatchText: `text with "what is in" and "a.txt" and "please"`, Calls: []spec.StepCall{{Name: "read", Arguments: json.RawMessage(`{"path":"a.txt","depth":1.0}`)}}},
		{Text: "It says hello.", Thinking: "short", DelayMS: 20},
		{MatchText: `text with "both"`, Text: "Both.", Thinking: "t", Calls: []spec.StepCall{
			{Name: "read", Arguments: json.RawMessage(`{"path":"a"}`)},
			{Name: "list", Arguments: json.RawMessage(`{"max-depth":2}`)},
		}},
		{Error: "overloaded"},
		{Text: "line 0"},
		{Text: "line 1"},
		{},
	}
	if d := cmp.Diff(want, got, cmpopts.IgnoreFields(spec.Step{}, "Match", "Reply")); d != "" {
		t.Errorf("-want +got\n%s", d)
	}
	for last, ok := range map[string]bool{
		"please, what is in a.txt": true, "what is in a.txt": false, "": false,
	} {
		if got[0].Match(last) != ok {
			t.Errorf("Match(%q) = %v", last, !ok)
		}
	}
	if got[1].Match != nil {
		t.Error("a step without expect has a guard")
	}
	reply := got[6].Reply
	step, err := reply(context.Background(), "hi")
	if err != nil || step.Text != "You said: hi" {
		t.Errorf("reply: %+v, %v", step, err)
	}
	step, err = reply(context.Background(), "a tool said")
	if err != nil || len(step.Calls) != 2 || string(step.Calls[1].Arguments) != `{"n":null}` {
		t.Errorf("reply: %+v, %v", step, err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := reply(ctx, "hi"); !errors.Is(err, context.Canceled) {
		t.Errorf("a cancelled reply: %v", err)
	}
}

func TestErrors(t *testing.T) {
	for _, c := range []struct{ src, want string }{
		{"", "s.star: no answer in it"},
		{"say(\n", "s.star:2:1: got end of file"},
		{"say('a')\nsya('b')\n", "s.star:2:1: undefined: sya (did you mean say?)"},
		{"say(1)\n", "s.star:1:4: say: for parameter text: got int, want string"},
		{"say('a', delay_ms = -1)\n", "s.star:1:4: say: delay_ms must be from 0"},
		{"say('a')\nexpect('b')\n", "s.star:2:7: expect needs an answer after it"},
		{"expect([])\n", "s.star:1:7: expect: the list is empty"},
		{"expect(['a', 1])\n", "s.star:1:7: expect: want a text or a list of texts that are not empty, got 1"},
		{"call('t', {'a': 1}, b = 2)\n", "s.star:1:5: call: arguments come as one dict or as keywords, not both"},
		{"call('t', f = len)\n", "s.star:1:5: call: arguments.f: a function has no JSON form"},
		{"call('')\n", "call: the name of the tool is empty"},
		{"calls([])\n", "calls: the list holds no call"},
		{"calls([call('a'), say('b')])\n", "calls: item 1 must come from call"},
		{"fail_turn('')\n", "cannot be empty"},
		{"reply(1)\n", "reply: for parameter fn: got int, want callable"},
		{"x = [0] * 100000000\n", "s.star:1:"},
		{"def f():\n    for i in range(10000):\n        for j in range(10000): pass\nf()\n", "stopped after 5000000 steps"},
	} {
		_, err := Load("s.star", []byte(c.src))
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%q: %v\nwant %s", c.src, err, c.want)
		}
	}
}

func TestReplyErrors(t *testing.T) {
	for _, c := range []struct{ src, want string }{
		{"reply(lambda last: None)\n", "reply: the function must return what say"},
		{"reply(lambda last: reply(len))\n", "s.star:1:25: reply: a reply cannot answer with another reply"},
		{"reply(lambda last: expect('x'))\n", "expect: a reply sees the last message itself"},
		{"reply(lambda last: fail('why', last))\n", "s.star:1:24: fail: why hi"},
		{"L = []\nreply(lambda last: L.append(last))\n", "module globals are frozen"},
	} {
		steps, err := Load("s.star", []byte(c.src))
		if err != nil {
			t.Errorf("%q: %v", c.src, err)
			continue
		}
		if _, err := steps[0].Reply(context.Background(), "hi"); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%q: %v\nwant %s", c.src, err, c.want)
		}
	}
}
