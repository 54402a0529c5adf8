package session

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"math"
	"strconv"
	"time"
	"unicode/utf8"
)

// The lines of every session are written by hand, to the byte as encoding/json would:
// that works out how to write a type at its first use, a fiftieth of a short run.

func (h headerLine) line() []byte {
	b := append(make([]byte, 0, 512), `{"kind":`...)
	b = appendString(b, h.Kind)
	b = strconv.AppendInt(append(b, `,"version":`...), int64(h.Version), 10)
	b = appendField(b, "id", h.ID)
	b = appendField(b, "cwd", h.Cwd)
	b = appendOptional(b, "workspace", h.Workspace)
	b = appendOptional(b, "model", h.Model)
	b = appendTime(b, "started", h.Started)
	b = appendOptional(b, "forked", h.Forked)
	b = appendOptional(b, "owner", h.Owner)
	return append(b, "}\n"...)
}

// line fails for details that are no JSON and for a cost that is no number.
func (l messageLine) line() ([]byte, error) {
	b := append(make([]byte, 0, size(l.Message)+512), `{"kind":`...)
	b = appendString(b, l.Kind)
	b = appendField(b, "id", l.ID)
	b = appendOptional(b, "parent", l.Parent)
	b = appendTime(b, "ts", l.TS)
	b = appendField(b, "role", string(l.Role))
	b = append(b, `,"blocks":`...)
	if l.Blocks == nil {
		b = append(b, "null"...)
	} else {
		b = append(b, '[')
		for i, block := range l.Blocks {
			if i > 0 {
				b = append(b, ',')
			}
			b = appendField(append(b, '{'), "kind", string(block.Kind))
			b = appendOptional(b, "text", block.Text)
			b = appendOptional(b, "signature", block.Signature)
			b = appendOptional(b, "id", block.ID)
			b = appendOptional(b, "name", block.Name)
			b = appendOptional(b, "arguments", block.Arguments)
			if block.IsError {
				b = append(b, `,"is_error":true`...)
			}
			if len(block.Details) > 0 {
				var compact bytes.Buffer
				if err := json.Compact(&compact, block.Details); err != nil {
					return nil, err
				}
				b = append(append(b, `,"details":`...), compact.Bytes()...)
			}
			b = appendOptional(b, "mime", block.MIME)
			if len(block.Data) > 0 {
				b = append(b, `,"data":"`...)
				b = append(base64.StdEncoding.AppendEncode(b, block.Data), '"')
			}
			b = append(b, '}')
		}
		b = append(b, ']')
	}
	b = appendOptional(b, "stop", string(l.Stop))
	if u := l.Usage; u != nil {
		b = strconv.AppendInt(append(b, `,"usage":{"input":`...), int64(u.Input), 10)
		b = strconv.AppendInt(append(b, `,"output":`...), int64(u.Output), 10)
		if u.CacheRead != 0 {
			b = strconv.AppendInt(append(b, `,"cache_read":`...), int64(u.CacheRead), 10)
		}
		if u.CacheWrite != 0 {
			b = strconv.AppendInt(append(b, `,"cache_write":`...), int64(u.CacheWrite), 10)
		}
		if u.Cost != 0 {
			cost, err := number(u.Cost)
			if err != nil {
				return nil, err
			}
			b = append(append(b, `,"cost":`...), cost...)
		}
		b = append(b, '}')
	}
	b = appendOptional(b, "model", l.Model)
	b = appendOptional(b, "error", l.Error)
	return append(b, "}\n"...), nil
}

// number is a cost as JSON. Those that are not written with an exponent, which is all
// there are, need no encoder.
func number(f float64) ([]byte, error) {
	if abs := math.Abs(f); 1e-6 <= abs && abs < 1e21 {
		return strconv.AppendFloat(nil, f, 'f', -1, 64), nil
	}
	return json.Marshal(f)
}

// appendField puts a comma before all but the first field of an object.
func appendField(b []byte, name, value string) []byte {
	if b[len(b)-1] != '{' {
		b = append(b, ',')
	}
	b = append(append(append(b, '"'), name...), `":`...)
	return appendString(b, value)
}

func appendOptional(b []byte, name, value string) []byte {
	if value == "" {
		return b
	}
	return appendField(b, name, value)
}

// appendTime takes times of years with four digits, which a clock has.
func appendTime(b []byte, name string, at time.Time) []byte {
	return appendField(b, name, at.Format(time.RFC3339Nano))
}

// appendString adds a JSON string. What is no UTF-8 becomes the replacement mark.
func appendString(b []byte, s string) []byte {
	const hex = "0123456789abcdef"
	b = append(b, '"')
	from := 0
	for i := 0; i < len(s); {
		c := s[i]
		if c >= utf8.RuneSelf {
			r, n := utf8.DecodeRuneInString(s[i:])
			switch {
			case r == utf8.RuneError && n == 1:
				b = append(append(b, s[from:i]...), `\ufffd`...)
				from = i + n
			case r == '\u2028', r == '\u2029': // line breaks to some readers
				b = append(append(b, s[from:i]...), `\u202`...)
				b = append(b, hex[r&0xf])
				from = i + n
			}
			i += n
			continue
		}
		if c >= ' ' && c != '"' && c != '\\' {
			i++
			continue
		}
		b = append(b, s[from:i]...)
		switch c {
		case '"', '\\':
			b = append(b, '\\', c)
		case '\b':
			b = append(b, `\b`...)
		case '\f':
			b = append(b, `\f`...)
		case '\n':
			b = append(b, `\n`...)
		case '\r':
			b = append(b, `\r`...)
		case '\t':
			b = append(b, `\t`...)
		default:
			b = append(b, '\\', 'u', '0', '0', hex[c>>4], hex[c&0xf])
		}
		i++
		from = i
	}
	return append(append(b, s[from:]...), '"')
}
