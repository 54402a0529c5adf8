package agent

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"starling/agent/provider"
	"starling/bus/chat"
)

// MaxResult is the most bytes one tool result has in the transcript, notes
// included, whichever tool it is of. Of a longer one its start and its end stand
// there, and the whole of it is kept aside; see Options.Aside. What the built-in
// tools return is below it.
const MaxResult = 96 << 10

// What stands of a result above MaxResult, in bytes.
const (
	resultHead = 48 << 10
	resultTail = 16 << 10
)

// tightening is how much of each tool result a request carries, in bytes of its
// start and half as many of its end, after one refusal for its size, after two, and
// so on.
var tightening = []int{8 << 10, 1 << 10, 128}

// bounded is content within MaxResult.
func (a *Agent) bounded(content string) string {
	if len(content) <= MaxResult {
		return content
	}
	where := "the rest is lost"
	if a.o.Aside != nil {
		path, err := a.o.Aside(content)
		if err != nil {
			where = fmt.Sprintf("the rest is lost (%v)", err)
		} else {
			where = "the whole result is in " + path
		}
	}
	return cut(content, resultHead, resultTail, where)
}

// cut leaves head bytes of the start of s and tail of its end, whole characters
// and, where a break is near, whole lines, and says what is missing.
func cut(s string, head, tail int, where string) string {
	for head > 0 && !utf8.RuneStart(s[head]) {
		head--
	}
	if i := strings.LastIndexByte(s[:head], '\n'); i >= 0 && i > head/2 {
		head = i + 1
	}
	from := len(s) - tail
	for from < len(s) && !utf8.RuneStart(s[from]) {
		from++
	}
	if i := strings.IndexByte(s[from:], '\n'); i >= 0 && i < tail/2 {
		from += i + 1
	}
	gap := fmt.Sprintf("[… %d of %d bytes, %d of %d lines, left out; %s …]\n",
		from-head, len(s), strings.Count(s[head:from], "\n"), lines(s), where)
	if head > 0 && s[head-1] != '\n' {
		gap = "\n" + gap
	}
	return s[:head] + gap + s[from:]
}

func lines(s string) int {
	n := strings.Count(s, "\n")
	if s != "" && !strings.HasSuffix(s, "\n") {
		n++
	}
	return n
}

// smaller makes a request that the server refused for its size, or as it is, smaller, and
// those that follow it too. It returns false when that was not the failure, or nothing is
// left to shorten.
func (t *turnState) smaller(req *provider.Request) bool {
	var f *provider.Failure
	a := t.r.a
	if !errors.As(t.err, &f) || len(t.reply.Blocks) > 0 || t.r.ended() {
		return false
	}
	switch f.Kind {
	case provider.TooLong:
	case provider.BadRequest:
		return t.imageless(req)
	default:
		return false
	}
	for a.tight < len(tightening) {
		a.tight++
		shorter := tightened(req.Messages, a.tight)
		if estimate("", shorter, nil) == estimate("", req.Messages, nil) {
			continue
		}
		req.Messages = shorter
		clear(a.sent) // no plugin is to blame for what is no longer alike
		t.r.notice(fmt.Sprintf("the request was too large for the model server: it is sent again with at most %d bytes of each tool result", tightening[a.tight-1]*3/2))
		return true
	}
	return t.imageless(req)
}

// tightened shortens the tool results of a request as far as servers refused longer
// ones. The transcript keeps them whole.
func tightened(messages []chat.Message, tight int) []chat.Message {
	if tight == 0 {
		return messages
	}
	head := tightening[tight-1]
	messages = slices.Clone(messages)
	for i, m := range messages {
		long := func(b chat.Block) bool { return b.Kind == chat.Result && len(b.Text) > 2*head }
		if !slices.ContainsFunc(m.Blocks, long) {
			continue
		}
		messages[i].Blocks = slices.Clone(m.Blocks)
		for j, b := range m.Blocks {
			if long(b) {
				messages[i].Blocks[j].Text = cut(b.Text, head, head/2, "left out because the model server refused a larger request; call the tool again for what you need")
			}
		}
	}
	return messages
}
