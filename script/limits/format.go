package limits

import (
	"strings"

	"go.starlark.net/starlark"
	"go.starlark.net/syntax"
)

// interpolate is x % y.
func (r *rules) interpolate(x, y starlark.Value) (starlark.Value, error) {
	if f, ok := x.(starlark.String); ok {
		if err := r.checkInterpolation(string(f), y); err != nil {
			return nil, err
		}
		return r.text("%")(starlark.Binary(syntax.PERCENT, x, y))
	}
	return starlark.Binary(syntax.PERCENT, x, y)
}

// text checks the exact length of a string that was made: what is measured before
// may be a few bytes too little.
func (r *rules) text(what string) func(starlark.Value, error) (starlark.Value, error) {
	return func(v starlark.Value, err error) (starlark.Value, error) {
		if err != nil {
			return nil, err
		}
		switch s := v.(type) {
		case starlark.String:
			err = r.checkString(what, len(s))
		case starlark.Bytes:
			err = r.checkString(what, len(s))
		}
		return v, err
	}
}

// checkInterpolation measures the text of format % y before any of it is made. A
// format that does not fit its operand is left for the operator to refuse.
func (r *rules) checkInterpolation(format string, y starlark.Value) error {
	// A conversion such as %s leaves nothing of itself.
	m := r.meter("%", r.stringRoom()-max(0, len(format)-2*strings.Count(format, "%")))
	m.float = 330 // %f writes all digits
	quoted := strings.Contains(format, "%r")
	if dict, ok := y.(starlark.Mapping); ok && strings.Contains(format, "%(") {
		return m.namedFields(format, dict)
	}
	if args, ok := y.(starlark.Tuple); ok {
		for _, v := range args {
			if err := m.text(v, quoted); err != nil {
				return err
			}
		}
		return nil
	}
	return m.text(y, quoted)
}

// namedFields measures each %(name)s, which may name one value many times.
func (m *meter) namedFields(format string, dict starlark.Mapping) error {
	for {
		_, rest, ok := strings.Cut(format, "%(")
		if !ok {
			return nil
		}
		key, rest, ok := strings.Cut(rest, ")")
		if !ok {
			return nil
		}
		v, found, err := dict.Get(starlark.String(key))
		if err != nil || !found {
			return nil
		}
		m.bytes += len(key) + len("()")
		if err := m.text(v, strings.HasPrefix(rest, "r")); err != nil {
			return err
		}
		format = rest
	}
}

// format is s.format(…).
func (r *rules) format(thread *starlark.Thread, s starlark.String, native *starlark.Builtin, args starlark.Tuple, kwargs []starlark.Tuple) (starlark.Value, error) {
	m := r.meter("format", r.stringRoom()-len(s))
	if err := m.fields(string(s), args, kwargs); err != nil {
		return nil, err
	}
	return r.text("format")(native.CallInternal(thread, args, kwargs))
}

// fields measures each {field}. It stops at what format itself will refuse.
func (m *meter) fields(format string, args starlark.Tuple, kwargs []starlark.Tuple) error {
	next := 0
	for {
		_, rest, ok := strings.Cut(format, "{")
		if !ok {
			return nil
		}
		if strings.HasPrefix(rest, "{") {
			format = rest[1:]
			continue
		}
		field, rest, ok := strings.Cut(rest, "}")
		if !ok {
			return nil
		}
		name, conv, _ := strings.Cut(field, "!")
		name, _, _ = strings.Cut(name, ":")
		v := argument(name, &next, args, kwargs)
		if v == nil {
			return nil
		}
		m.bytes += len(field) + len("{}")
		if err := m.text(v, strings.HasPrefix(conv, "r")); err != nil {
			return err
		}
		format = rest
	}
}

// argument finds what a field of that name prints, or nil.
func argument(name string, next *int, args starlark.Tuple, kwargs []starlark.Tuple) starlark.Value {
	i, digits := 0, name != ""
	for _, c := range name {
		if c < '0' || c > '9' || i > len(args) {
			digits = false
			break
		}
		i = i*10 + int(c-'0')
	}
	if name == "" {
		i = *next
		*next++
		digits = true
	}
	if digits {
		if i < len(args) {
			return args[i]
		}
		return nil
	}
	for _, kv := range kwargs {
		if k, ok := starlark.AsString(kv[0]); ok && k == name {
			return kv[1]
		}
	}
	return nil
}
