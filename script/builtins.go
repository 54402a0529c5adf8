package script

import (
	"fmt"
	"strings"

	"go.starlark.net/starlark"

	"starling/script/value"
)

// printBytes is the longest text of one print or fail.
const printBytes = 64 << 10

// hostName tells whether a name is predeclared by this package: print and fail,
// whose originals print any value whole.
func hostName(name string) bool { return name == "print" || name == "fail" }

func hostBuiltins(show func(string)) starlark.StringDict {
	return starlark.StringDict{
		"print": starlark.NewBuiltin("print", func(_ *starlark.Thread, _ *starlark.Builtin, args starlark.Tuple, kwargs []starlark.Tuple) (starlark.Value, error) {
			text, err := joined("print", args, kwargs)
			if err == nil && show != nil {
				show(text)
			}
			return starlark.None, err
		}),
		"fail": starlark.NewBuiltin("fail", func(_ *starlark.Thread, _ *starlark.Builtin, args starlark.Tuple, kwargs []starlark.Tuple) (starlark.Value, error) {
			text, err := joined("fail", args, kwargs)
			if err == nil {
				err = fmt.Errorf("fail: %s", text)
			}
			return nil, err
		}),
	}
}

func joined(name string, args starlark.Tuple, kwargs []starlark.Tuple) (string, error) {
	sep := " "
	if err := starlark.UnpackArgs(name, nil, kwargs, "sep?", &sep); err != nil {
		return "", err
	}
	var b strings.Builder
	for i, v := range args {
		if i > 0 {
			b.WriteString(sep)
		}
		b.WriteString(value.Text(v, printBytes-b.Len()))
		if b.Len() > printBytes {
			break
		}
	}
	return value.Clip(b.String(), printBytes), nil
}
