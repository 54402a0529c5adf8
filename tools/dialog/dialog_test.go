package dialog

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"starling/bus/chat"
	"starling/bus/spec"
	"starling/tools"
)

func call(t *testing.T, tool spec.Tool, arguments string) (spec.ToolResult, error) {
	t.Helper()
	return tool.Execute(t.Context(), spec.ToolCall{ID: "c", Name: tool.Name, Arguments: json.RawMessage(arguments), Progress: func(string) {}})
}

// What the schema lets through and what the tool takes are the same, but for texts
// that are blank.
func TestArguments(t *testing.T) {
	ask := func(context.Context, Question) (Answer, error) { return Answer{Text: "x"}, nil }
	todo, question, finish := new(Todos).Tool(), QuestionTool(ask), FinishTool()
	check := new(tools.Registry)
	long := strings.Repeat("x", MaxText)
	many := strings.TrimSuffix(strings.Repeat(`{"text": "a", "status": "done"},`, MaxItems), ",")
	for _, c := range []struct {
		tool      spec.Tool
		arguments string
		want      string // in the error; "" when it runs
	}{
		{todo, `{"items": []}`, ""},
		{todo, `{"items": [{"text": "a", "status": "cancelled"}]}`, ""},
		{todo, `{"items": [{"text": "` + long + `", "status": "done"}]}`, ""},
		{todo, `{"items": [` + many + `]}`, ""},
		{todo, `{"items": [` + many + `,{"text": "a", "status": "done"}]}`, "at most 100"},
		{todo, `{}`, `missing "items"`},
		{todo, `{"items": null}`, `missing "items"`},
		{todo, `{"Items": []}`, `unknown "Items"`},
		{todo, `{"items": [{"text": "a", "status": "open"}]}`, `items[0].status "open"`},
		{todo, `{"items": [{"text": "a", "status": "done"}, {"text": "", "status": "done"}]}`, "items[1].text is empty"},
		{question, `{"question": "which?"}`, ""},
		{question, `{"question": "which?", "options": ["a", "b"]}`, ""},
		{question, `{"question": ""}`, "question is empty"},
		{question, `{"question": "which?", "options": ["a", ""]}`, "options[1] is empty"},
		{question, `{"question": "which?", "options": ["1","2","3","4","5","6","7","8","9","10"]}`, "at most 9"},
		{question, `{"question": "which?", "option": ["a"]}`, `unknown "option"`},
		{finish, `{"summary": "done"}`, ""},
		{finish, `{"summary": ""}`, "summary is empty"},
		{finish, `{}`, "summary is empty"},
	} {
		raw, refused := check.Check(c.tool, c.arguments)
		if (refused == nil) != (c.want == "") {
			t.Errorf("%s %.60s: schema says %v", c.tool.Name, c.arguments, refused)
		}
		if raw == nil {
			raw = json.RawMessage(c.arguments)
		}
		r, err := call(t, c.tool, string(raw))
		if c.want == "" && (err != nil || r.IsError || r.Content == "") || c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)) {
			t.Errorf("%s %.60s: %+v %v, want %q", c.tool.Name, c.arguments, r, err, c.want)
		}
	}
	for _, c := range []struct {
		tool            spec.Tool
		arguments, want string
	}{
		{todo, `{"items": [{"text": " \n", "status": "done"}]}`, "items[0].text is empty"},
		{question, `{"question": " \t"}`, "question is empty"},
		{question, `{"question": "q", "options": ["a", " a "]}`, "offered twice"},
		{finish, `{"summary": " "}`, "summary is empty"},
		{todo, `{"items": [{"text": "` + strings.Repeat("€", 4*MaxText) + `", "status": "done"}]}`, "longer than"},
		{todo, ``, "arguments"},
		{todo, `{"items": 3}`, "arguments"},
	} {
		if _, err := call(t, c.tool, c.arguments); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s %.40s: %v, want %q", c.tool.Name, c.arguments, err, c.want)
		}
	}
}

func TestTools(t *testing.T) {
	for _, tool := range []spec.Tool{new(Todos).Tool(), QuestionTool(nil), FinishTool()} {
		if err := tools.ValidateSchema(tool.Parameters); err != nil {
			t.Errorf("%s: %v", tool.Name, err)
		}
		if !tool.Builtin || !tool.ReadOnly || tool.Risk != spec.RiskRead || tool.Sequential != (tool.Name != "todo") {
			t.Errorf("%+v", tool)
		}
		if paths, all := tool.Paths(nil); len(paths) != 0 || !all {
			t.Errorf("%s touches %q", tool.Name, paths)
		}
	}
}

func TestTodoShowsTheList(t *testing.T) {
	var told [][]Item
	list := &Todos{Changed: func(items []Item) { told = append(told, items) }}
	r, err := call(t, list.Tool(), `{"items": [{"text": "read", "status": "done"}, {"text": "write\n\tit", "status": "in_progress"},
		{"text": "check", "status": "pending"}, {"text": "ship\u001b[31m", "status": "cancelled"}]}`)
	want := "[x] read\n[>] write  it\n[ ] check\n[-] ship\n2 of 4 still open."
	if err != nil || r.Content != want || r.IsError {
		t.Errorf("%q %v", r.Content, err)
	}
	items := []Item{{"read", Done}, {"write  it", InProgress}, {"check", Pending}, {"ship", Cancelled}}
	if diff := cmp.Diff([][]Item{items}, told); diff != "" {
		t.Error(diff)
	}
	list.Items()[0].Text = "somebody else's copy"
	if _, err := call(t, list.Tool(), `{"items": [{"text": "", "status": "done"}]}`); err == nil {
		t.Error("an empty text was taken")
	}
	if diff := cmp.Diff(items, list.Items()); diff != "" {
		t.Errorf("after a refused call: %s", diff)
	}
	if r, err := call(t, list.Tool(), `{"items": []}`); err != nil || r.Content != "The list is empty." || len(list.Items()) != 0 {
		t.Errorf("%+v %v", r, err)
	}
}

// Calls beside each other: the list is always that of one of them, and Changed
// hears them in the order in which they came to stand.
func TestTodoBesideEachOther(t *testing.T) {
	var told []Item
	list := &Todos{}
	list.Changed = func(items []Item) {
		if diff := cmp.Diff(list.Items(), items); diff != "" {
			t.Errorf("told of another list than stands: %s", diff)
		}
		told = items
	}
	var all sync.WaitGroup
	for i := range 20 {
		all.Go(func() {
			if _, err := call(t, list.Tool(), fmt.Sprintf(`{"items": [{"text": "%d", "status": "done"}]}`, i)); err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
	if diff := cmp.Diff(told, list.Items()); diff != "" || len(told) != 1 {
		t.Errorf("%v %s", told, diff)
	}
}

// However a conversation went, its list is that of the last call that changed it.
func TestRestore(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var transcript []chat.Message
		var want []Item
		for i := range rapid.IntRange(0, 8).Draw(t, "messages") {
			id := fmt.Sprint("call", i)
			items := []Item{{Text: fmt.Sprint("step ", i), Status: Pending}}
			arguments, err := json.Marshal(map[string]any{"items": items})
			if err != nil {
				t.Fatal(err)
			}
			kind := rapid.SampledFrom([]string{"todo", "no details", "rewritten", "blocked", "no result", "other tool", "text"}).Draw(t, "kind")
			call := chat.Block{Kind: chat.Call, ID: id, Name: "todo", Arguments: string(arguments)}
			result := chat.Block{Kind: chat.Result, ID: id, Name: "todo", Text: "x", Details: arguments}
			switch kind {
			case "no details":
				result.Details = nil
			case "rewritten":
				call.Arguments = `{"items": [{"text": "what the model sent", "status": "done"}]}`
			case "blocked":
				result.IsError, result.Details = true, nil
			case "other tool":
				call.Name, result.Name = "read", "read"
			case "text":
				transcript = append(transcript, chat.TextMessage(chat.User, string(arguments)))
				continue
			}
			transcript = append(transcript, chat.Message{Role: chat.Assistant, Blocks: []chat.Block{call}})
			if kind != "no result" {
				transcript = append(transcript, chat.Message{Role: chat.ToolRole, Blocks: []chat.Block{result}})
			}
			if kind == "todo" || kind == "no details" || kind == "rewritten" {
				want = items
			}
		}
		told := []Item{{Text: "never told"}}
		list := &Todos{Changed: func(items []Item) { told = items }}
		list.replace([]Item{{Text: "of another conversation", Status: Done}})
		list.Restore(transcript)
		if diff := cmp.Diff(want, list.Items()); diff != "" {
			t.Fatal(diff)
		}
		if diff := cmp.Diff(want, told); diff != "" {
			t.Fatal(diff)
		}
	})
}

// What a call leaves in a transcript is what Restore finds there.
func TestRestoreOfACall(t *testing.T) {
	list := &Todos{}
	arguments := `{"items": [{"text": " a ", "status": "done"}]}`
	r, err := call(t, list.Tool(), arguments)
	if err != nil {
		t.Fatal(err)
	}
	other := &Todos{}
	other.Restore([]chat.Message{
		{Role: chat.Assistant, Blocks: []chat.Block{{Kind: chat.Call, ID: "c", Name: "todo", Arguments: arguments}}},
		{Role: chat.ToolRole, Blocks: []chat.Block{{Kind: chat.Result, ID: "c", Name: "todo", Text: r.Content, Details: r.Details}}},
	})
	if diff := cmp.Diff([]Item{{"a", Done}}, other.Items()); diff != "" {
		t.Error(diff)
	}
}

func TestQuestion(t *testing.T) {
	for _, c := range []struct {
		name      string
		arguments string
		answer    Answer
		err       error
		want      string
		isError   bool
	}{
		{"free", `{"question": " which? "}`, Answer{Text: " blue\n"}, nil, "The person answered: blue", false},
		{"option", `{"question": "which?", "options": ["red", "blue"]}`, Answer{Option: 2}, nil, "The person answered: blue", false},
		{"option and words", `{"question": "which?", "options": ["red", "blue"]}`, Answer{Option: 1, Text: "but dark"}, nil, "The person answered: red\nbut dark", false},
		{"something else", `{"question": "which?", "options": ["red"]}`, Answer{Text: "none"}, nil, "The person answered: none", false},
		{"no answer", `{"question": "which?"}`, Answer{}, nil, "The person gave no answer. " + instead, false},
		{"nobody", `{"question": "which?"}`, Answer{}, fmt.Errorf("headless: %w", ErrNobody), "Nobody can answer: no person is at this run. " + instead, true},
		{"broken", `{"question": "which?"}`, Answer{}, errors.New("the screen is gone"), "The question could not be asked: the screen is gone. " + instead, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			var asked Question
			r, err := call(t, QuestionTool(func(_ context.Context, q Question) (Answer, error) {
				asked = q
				return c.answer, c.err
			}), c.arguments)
			if err != nil || r.Content != c.want || r.IsError != c.isError {
				t.Errorf("%+v %v", r, err)
			}
			if asked.Text != "which?" {
				t.Errorf("asked %+v", asked)
			}
		})
	}
	// Headless: bug report H-01, a question nobody can answer is answered at once.
	if r, err := call(t, QuestionTool(nil), `{"question": "which?"}`); err != nil || !r.IsError || !strings.Contains(r.Content, "Nobody can answer") {
		t.Errorf("%+v %v", r, err)
	}
	for _, option := range []int{-1, 2} {
		ask := func(context.Context, Question) (Answer, error) { return Answer{Option: option}, nil }
		if r, err := call(t, QuestionTool(ask), `{"question": "which?", "options": ["a"]}`); err == nil {
			t.Errorf("option %d: %+v", option, r)
		}
	}
}

func TestQuestionIsCancelled(t *testing.T) {
	ctx, cancel := context.WithCancelCause(t.Context())
	why := errors.New("the person pressed Esc")
	tool := QuestionTool(func(ctx context.Context, _ Question) (Answer, error) {
		cancel(why)
		<-ctx.Done()
		return Answer{}, ctx.Err()
	})
	if r, err := tool.Execute(ctx, spec.ToolCall{Arguments: json.RawMessage(`{"question": "which?"}`)}); !errors.Is(err, why) {
		t.Errorf("%+v %v", r, err)
	}
}

func TestFinish(t *testing.T) {
	r, err := call(t, FinishTool(), `{"summary": " all done\n"}`)
	if err != nil || r.Content != "all done" || r.IsError || !r.Ends || string(r.Details) != `{"finish":true}` {
		t.Errorf("%+v %v", r, err)
	}
}
