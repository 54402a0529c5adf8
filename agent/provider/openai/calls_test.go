package openai_test

import (
	"testing"

	"starling/agent/provider"
	"starling/bus/chat"
)

// The five streams of E-04, and more that servers send.
func TestE04CallsWithoutIDOrIndex(t *testing.T) {
	tc := func(pieces string) string { return delta(`"tool_calls":[` + pieces + `]`) }
	const want = `a:read{"path":"x"};b:grep{"pattern":"y"};`
	for name, c := range map[string]struct {
		chunks []string
		want   string
	}{
		"id only in the first delta": {[]string{
			tc(`{"index":0,"id":"a","type":"function","function":{"name":"read","arguments":""}}`),
			tc(`{"index":0,"function":{"arguments":"{\"path\":"}}`), tc(`{"index":0,"function":{"arguments":"\"x\"}"}}`),
			tc(`{"index":1,"id":"b","function":{"name":"grep","arguments":""}}`),
			tc(`{"index":1,"function":{"arguments":"{\"pattern\":\"y\"}"}}`),
		}, want},
		"index absent, ids present": {[]string{
			tc(`{"id":"a","function":{"name":"read","arguments":"{\"path\":"}}`), tc(`{"id":"a","function":{"arguments":"\"x\"}"}}`),
			tc(`{"id":"b","function":{"name":"grep","arguments":"{\"pattern\":"}}`), tc(`{"id":"b","function":{"arguments":"\"y\"}"}}`),
		}, want},
		"neither after the first": {[]string{
			tc(`{"index":0,"id":"a","function":{"name":"read","arguments":""}}`), tc(`{"function":{"arguments":"{\"path\":"}}`), tc(`{"function":{"arguments":"\"x\"}"}}`),
			tc(`{"index":1,"id":"b","function":{"name":"grep","arguments":""}}`), tc(`{"function":{"arguments":"{\"pattern\":\"y\"}"}}`),
		}, want},
		"id repeated every time": {[]string{
			tc(`{"index":0,"id":"a","function":{"name":"read","arguments":"{\"path\":"}}`), tc(`{"index":0,"id":"a","function":{"name":"read","arguments":"\"x\"}"}}`),
			tc(`{"index":1,"id":"b","function":{"name":"grep","arguments":"{\"pattern\":"}}`), tc(`{"index":1,"id":"b","function":{"name":"grep","arguments":"\"y\"}"}}`),
			tc(`{"index":1,"id":"b","function":{"name":"grep","arguments":""}}`),
		}, want},
		"name after the first arguments": {[]string{
			tc(`{"index":0,"id":"a","function":{"arguments":"{\"path\":"}}`), tc(`{"index":0,"function":{"name":"read","arguments":"\"x\"}"}}`),
			tc(`{"index":1,"id":"b","function":{"arguments":"{\"pattern\":"}}`), tc(`{"index":1,"function":{"arguments":"\"y\"}"}}`), tc(`{"index":1,"function":{"name":"grep"}}`),
		}, want},
		"whole calls in one delta, nothing but names": {[]string{
			tc(`{"function":{"name":"read","arguments":"{\"path\":\"x\"}"}},{"function":{"name":"read","arguments":"{}"}}`),
			tc(`{"function":{"name":"grep","arguments":{"pattern":"y"}}}`),
		}, `:read{"path":"x"};:read{};:grep{"pattern":"y"};`},
		"ids late": {[]string{
			tc(`{"index":0,"function":{"name":"read","arguments":"{\"path\":"}}`), tc(`{"index":0,"id":"a","function":{"arguments":"\"x\"}"}}`),
			tc(`{"index":1,"function":{"name":"grep","arguments":"{\"pattern\":\"y\"}"}}`), tc(`{"index":1,"id":"b"}`),
		}, want},
		"ids late, no index": {[]string{
			tc(`{"function":{"name":"read","arguments":"{\"path\":"}}`), tc(`{"id":"a","function":{"arguments":"\"x\"}"}}`),
			tc(`{"id":"b","function":{"name":"grep","arguments":"{\"pattern\":\"y\"}"}}`),
		}, want},
		"interleaved": {[]string{
			tc(`{"index":0,"id":"a","function":{"name":"read","arguments":"{\"pa"}},{"index":1,"id":"b","function":{"name":"grep","arguments":"{\"pat"}}`),
			tc(`{"index":1,"function":{"arguments":"tern\":\"y\"}"}},{"index":0,"function":{"arguments":"th\":\"x\"}"}}`),
		}, want},
		"index 0 for every call": {[]string{
			tc(`{"index":0,"id":"a","function":{"name":"read","arguments":"{\"path\":\"x\"}"}}`), tc(`{"index":0,"id":"b","function":{"name":"grep","arguments":"{\"pattern\":\"y\"}"}}`),
		}, want},
		"a new id for each piece": {[]string{
			tc(`{"index":0,"id":"a","function":{"name":"read","arguments":""}}`), tc(`{"index":0,"id":"r1","function":{"arguments":"{\"path\":"}}`), tc(`{"index":0,"id":"r2","function":{"arguments":"\"x\"}"}}`),
			tc(`{"index":1,"id":"b","function":{"name":"grep","arguments":""}}`), tc(`{"index":1,"id":"r3","function":{"arguments":"{\"pattern\":\"y\"}"}}`),
		}, want},
		"a new index for each piece": {[]string{
			tc(`{"index":0,"id":"a","function":{"name":"read","arguments":"{\"path\":"}}`), tc(`{"index":1,"id":"a","function":{"arguments":"\"x\"}"}}`),
			tc(`{"index":2,"id":"b","function":{"name":"grep","arguments":"{\"pattern\":\"y\"}"}}`),
		}, want},
		"indexes from 1, null id and name": {[]string{
			tc(`{"index":1,"id":"a","function":{"name":"read","arguments":"{\"path\":"}}`), tc(`{"index":1,"id":null,"function":{"name":null,"arguments":"\"x\"}"}}`),
			tc(`{"index":2,"id":"b","function":{"name":"grep","arguments":"{\"pattern\":\"y\"}"}}`),
		}, want},
		"null index": {[]string{
			tc(`{"index":null,"id":"a","function":{"name":"read","arguments":"{\"path\":\"x\"}"}}`), tc(`{"index":null,"id":"b","function":{"name":"grep","arguments":"{\"pattern\":\"y\"}"}}`),
		}, want},
		"a name in pieces": {[]string{
			tc(`{"index":0,"id":"a","function":{"name":"re"}}`), tc(`{"index":0,"function":{"name":"ad","arguments":"{\"path\":\"x\"}"}}`),
			tc(`{"index":1,"id":"b","function":{"name":"gr"}}`), tc(`{"index":1,"function":{"name":"grep"}}`), tc(`{"index":1,"function":{"arguments":"{\"pattern\":\"y\"}"}}`),
		}, want},
		"the first call has no arguments": {[]string{
			tc(`{"index":0,"id":"a","function":{"name":"ls"}}`), tc(`{"index":1,"id":"b","function":{"name":"grep","arguments":"{\"pattern\":\"y\"}"}}`),
		}, `a:ls{};b:grep{"pattern":"y"};`},
		"one id for two calls": {[]string{
			tc(`{"id":"a","function":{"name":"read","arguments":"{\"path\":\"x\"}"}}`), tc(`{"id":"a","function":{"name":"grep","arguments":"{\"pattern\":\"y\"}"}}`),
		}, `a:read{"path":"x"};a:grep{"pattern":"y"};`},
		"the first tool protocol": {[]string{
			delta(`"function_call":{"name":"read","arguments":""}`), delta(`"function_call":{"arguments":"{\"path\":"}`), delta(`"function_call":{"arguments":"\"x\"}"}`),
		}, `:read{"path":"x"};`},
		"braces in strings": {[]string{
			tc(`{"id":"a","function":{"name":"read","arguments":"{\"path\":\"}\\\"{\""}}`), tc(`{"id":"r","function":{"arguments":"}"}}`),
		}, `a:read{"path":"}\"{"};`},
		"no name at all": {[]string{tc(`{"index":0,"id":"a","function":{"arguments":"{}"}}`)}, "a:{};"},
		"no objects":     {[]string{tc(`null,5,"x",{"function":null},{"function":{"name":5,"arguments":5}}`)}, ":5;"},
	} {
		l := newLab(t)
		for _, size := range []int{0, 1} {
			m := sound(t, l.reply(data(append(append([]string{delta(`"role":"assistant","content":null`)}, c.chunks...), finish("tool_calls"))...), size))
			if got := calls(m); got != c.want || m.Stop != chat.StopTools || m.Text() != "" {
				t.Errorf("%s: got %s (%s), want %s", name, got, m.Stop, c.want)
			}
		}
	}
}

func TestE09EmptyArguments(t *testing.T) {
	l := newLab(t)
	for _, args := range []string{`"arguments":""`, `"x":1`, `"arguments":"  \n"`, `"arguments":null`, `"arguments":"null"`, `"arguments":{}`, `"arguments":"\"\""`} {
		m := sound(t, l.reply(data(delta(`"tool_calls":[{"index":0,"id":"a","function":{"name":"ls",`+args+`}}]`), finish("tool_calls")), 0))
		if calls(m) != "a:ls{};" {
			t.Errorf("%s: got %s", args, calls(m))
		}
		// Sent back as the text {}.
		l.ask(provider.Request{Messages: []chat.Message{chat.TextMessage(chat.User, "x"), m}})
		sent := l.body()["messages"].([]any)[1].(map[string]any)["tool_calls"].([]any)[0].(map[string]any)["function"].(map[string]any)["arguments"]
		if sent != "{}" {
			t.Errorf("%s: sent back as %v", args, sent)
		}
	}
	m := sound(t, l.reply(data(delta(`"tool_calls":[{"index":0,"id":"a","function":{"name":"ls","arguments":{"a": {"b":[1,"}"]}}}}]`), finish("stop")), 0))
	if calls(m) != `a:ls{"a": {"b":[1,"}"]}};` || m.Stop != chat.StopTools {
		t.Errorf("an object: %s, %s", calls(m), m.Stop)
	}
}
