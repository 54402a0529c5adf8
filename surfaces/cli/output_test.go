package cli_test

import (
	"encoding/json"
	"reflect"
	"strings"

	"github.com/rogpeppe/go-internal/testscript"
)

// jsonlines checks that every line of the last stdout is a JSON object with a
// version and a type, that nothing in it steers a terminal, and that the types
// come in the order named: jsonlines TYPE…
func jsonlines(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) == 0 {
		ts.Fatalf("usage: jsonlines TYPE…")
	}
	var types []string
	for _, line := range readLines(ts) {
		types = append(types, line["type"].(string))
	}
	at := 0
	for _, t := range types {
		if at < len(args) && t == args[at] {
			at++
		}
	}
	if at < len(args) {
		ts.Fatalf("no %s (in this order) in %s", args[at], strings.Join(types, " "))
	}
	if last := types[len(types)-1]; last != "result" {
		ts.Fatalf("the last line is %s", last)
	}
}

// field checks a field of the last line of stdout: field NAME VALUE, the value as
// JSON or else as plain text; NAME may be a path such as denied.0.tool. With !,
// the field is not there.
func field(ts *testscript.TestScript, neg bool, args []string) {
	if neg && len(args) != 1 || !neg && len(args) != 2 {
		ts.Fatalf("usage: field NAME VALUE or ! field NAME")
	}
	lines := readLines(ts)
	got, ok := find(lines[len(lines)-1], strings.Split(args[0], "."))
	if neg {
		if ok {
			ts.Fatalf("%s is %v", args[0], got)
		}
		return
	}
	var want any = args[1]
	if err := json.Unmarshal([]byte(args[1]), &want); err != nil {
		want = args[1]
	}
	if !ok || !reflect.DeepEqual(got, want) {
		ts.Fatalf("%s is %#v, want %#v", args[0], got, want)
	}
}

func find(v any, path []string) (any, bool) {
	for _, key := range path {
		switch x := v.(type) {
		case map[string]any:
			next, ok := x[key]
			if !ok {
				return nil, false
			}
			v = next
		case []any:
			if len(key) != 1 || int(key[0]-'0') >= len(x) {
				return nil, false
			}
			v = x[key[0]-'0']
		default:
			return nil, false
		}
	}
	return v, true
}

func readLines(ts *testscript.TestScript) []map[string]any {
	out := ts.ReadFile("stdout")
	if !strings.HasSuffix(out, "\n") {
		ts.Fatalf("stdout does not end with a line end: %q", out[max(0, len(out)-100):])
	}
	if i := strings.IndexFunc(out, func(r rune) bool { return r < ' ' && r != '\n' || r >= 0x7f && r < 0xa0 }); i >= 0 {
		ts.Fatalf("stdout steers a terminal at byte %d", i)
	}
	var lines []map[string]any
	for _, text := range strings.Split(strings.TrimSuffix(out, "\n"), "\n") {
		var line map[string]any
		if err := json.Unmarshal([]byte(text), &line); err != nil {
			ts.Fatalf("%v in %q", err, text)
		}
		if _, ok := line["type"].(string); !ok || line["version"] != float64(1) {
			ts.Fatalf("no type or version in %q", text)
		}
		lines = append(lines, line)
	}
	return lines
}
