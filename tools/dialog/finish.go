package dialog

import (
	"context"
	"encoding/json"
	"errors"
	"strings"

	"starling/bus/spec"
	"starling/tools"
)

var finishParameters = json.RawMessage(`{
  "type": "object",
  "properties": {
    "summary": {"type": "string", "minLength": 1, "description": "What was done, how it was checked, and what is left or not certain"}
  },
  "required": ["summary"],
  "additionalProperties": false
}`)

// FinishTool returns the tool finish(summary). It ends nothing by itself: its result
// says to the loop that it is an attempt to finish.
func FinishTool() spec.Tool {
	return spec.Tool{
		Name: "finish",
		Description: "End the task. Call it alone, once the work is done and checked, or when it cannot be done: saying so in " +
			"text does not end the run. The summary is the answer that is read: plain, complete, with what failed or was " +
			"not checked.",
		Parameters: finishParameters,
		Execute:    finish,
		Paths:      noPaths,
		ReadOnly:   true,
		Risk:       spec.RiskRead,
		// In the order asked: calls before it in the same reply still count.
		Sequential: true,
		Builtin:    true,
	}
}

func finish(_ context.Context, call spec.ToolCall) (spec.ToolResult, error) {
	var a struct {
		Summary string `json:"summary"`
	}
	if err := tools.Decode(call.Arguments, &a, "summary"); err != nil {
		return spec.ToolResult{}, err
	}
	summary := strings.TrimSpace(a.Summary)
	if summary == "" {
		return spec.ToolResult{}, errors.New("arguments: the summary is empty; say what was done and how it was checked")
	}
	return spec.ToolResult{Content: summary, Ends: true, Details: tools.Details(map[string]any{"finish": true})}, nil
}
