package input

import (
	"fmt"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"starling/bus/event"
	"starling/bus/view"
	"starling/surfaces/tui/kit"
)

// Told is what a question says, each thing once; a screen and the line mode show the
// same in their own way. All but What is one clean line each.
type Told struct {
	Title   string   // what kind of question it is, and of which tool
	Head    string   // what is asked; "" where What says it
	What    string   // the command, the diff, the text, as it came
	Cut     string   // how much of What is left out
	Floor   string   // that no plugin answers it
	Risk    string   // the class of the call, and who asks
	Reasons []string // why it is asked; of many the first ones
}

// shownBytes is how much of a text a question shows, and how long arguments may be to
// be edited in it: more is nothing a person reads here.
const shownBytes = 256 << 10

const shownReasons = 4

// Tell says what a question does; dot stands between two things on a line.
func Tell(q *event.QuestionEvent, dot string) Told {
	t := Told{Title: titleOf(q), What: q.Detail}
	if len(t.What) > shownBytes {
		n := shownBytes
		for n > shownBytes-utf8.UTFMax && !utf8.RuneStart(t.What[n]) {
			n-- // no character is cut in two; bytes that are none are shown as what they are
		}
		t.Cut = fmt.Sprintf("Too long to show: the last %s bytes are left out.", kit.Grouped(len(t.What)-n))
		t.What = t.What[:n]
	}
	if !repeats(q.Tool, q.Summary, t.What) {
		t.Head = view.RevealLine(q.Summary)
	}
	if q.Floor {
		t.Floor = "Only a person may allow this."
	}
	if q.Risk != "" {
		t.Risk = "risk: " + view.RevealLine(q.Risk) + " " + dot + " from: " + view.RevealLine(q.Origin)
	}
	for _, why := range q.Reasons {
		if why = view.RevealLine(why); !slices.Contains(t.Reasons, why) {
			t.Reasons = append(t.Reasons, why)
		}
	}
	if more := len(t.Reasons) - shownReasons; more > 1 { // one more takes no more room than saying so
		t.Reasons = append(t.Reasons[:shownReasons], fmt.Sprintf("and %d more", more))
	}
	return t
}

func titleOf(q *event.QuestionEvent) string {
	switch q.Kind {
	case "permission":
		return "allow " + view.RevealLine(q.Tool) + "?"
	case "trust":
		return "trust?"
	}
	return "question"
}

// repeats tells whether a summary says no more than how the text below it begins: it
// may name the tool, be cut, and be laid out in one line.
func repeats(tool, summary, text string) bool {
	head := strings.TrimSpace(view.Reveal(summary))
	if rest, ok := strings.CutPrefix(head, tool); ok && strings.TrimLeft(rest, ": ") != rest {
		head = strings.TrimLeft(rest, ": ")
	}
	head = strings.TrimSuffix(head, "…")
	text = view.Reveal(text)
	for _, r := range head {
		if unicode.IsSpace(r) {
			continue
		}
		text = strings.TrimLeftFunc(text, unicode.IsSpace)
		rest, same := strings.CutPrefix(text, string(r))
		if !same {
			return false
		}
		text = rest
	}
	return true
}

// EditsShown tells whether the arguments are short enough to be edited in a question.
func EditsShown(q *event.QuestionEvent) bool { return len(q.Arguments) <= shownBytes }
