package jsonplace

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"unicode/utf8"
)

// File is the content of a JSON file a person edits.
type File struct {
	Path string // as errors name it
	Data []byte
	Errs []error // what Fail recorded
	// Depth is how many values may stand inside each other; 0 is 32.
	Depth int
}

// defaultDepth of values inside each other.
const defaultDepth = 32

// Value is a JSON value with its place. Its Content is nil, bool, string,
// json.Number, []Value or []Member.
type Value struct {
	At      int // byte offset
	Content any
	// Doubtful: a key in it is there twice, so nobody knows what was meant.
	Doubtful bool
}

// Member is one key of an object with its value.
type Member struct {
	Key   string
	At    int // byte offset of the key
	Value Value
	// Again: the key came before in this object; that is a fault already.
	Again bool
}

// Fail records a fault at a byte offset.
func (f *File) Fail(at int, format string, args ...any) {
	f.Errs = append(f.Errs, fmt.Errorf("%s: %s", f.Place(at), fmt.Sprintf(format, args...)))
}

// Place is PATH:LINE:COL of a byte offset; columns count characters from 1.
func (f *File) Place(at int) string {
	before := f.Data[:min(max(at, 0), len(f.Data))]
	line := bytes.Count(before, []byte("\n")) + 1
	column := utf8.RuneCount(before[bytes.LastIndexByte(before, '\n')+1:]) + 1
	return f.Path + ":" + strconv.Itoa(line) + ":" + strconv.Itoa(column)
}

// Parse reads the whole file as one value; a byte order mark is passed over. It is
// false when the file is no JSON; the fault is recorded. A key that is there twice is
// recorded too, and the value is returned all the same.
func (f *File) Parse() (Value, bool) {
	f.Data = bytes.TrimPrefix(f.Data, []byte("\xef\xbb\xbf"))
	if bad := invalidUTF8(f.Data); bad >= 0 {
		f.Fail(bad, "a byte that is no UTF-8")
		return Value{}, false
	}
	var whole json.RawMessage
	if err := json.Unmarshal(f.Data, &whole); err != nil {
		at := len(f.Data)
		var syntax *json.SyntaxError
		if errors.As(err, &syntax) && !strings.HasPrefix(err.Error(), "unexpected end") {
			at = int(syntax.Offset) - 1 // it counts the byte it stumbled over
		}
		f.Fail(at, "no JSON: %v", err)
		return Value{}, false
	}
	dec := json.NewDecoder(bytes.NewReader(f.Data))
	dec.UseNumber()
	v, err := f.value(dec, 0)
	if err != nil {
		f.Errs = append(f.Errs, err)
		return Value{}, false
	}
	return v, true
}

func invalidUTF8(data []byte) int {
	for i := 0; i < len(data); {
		r, wide := utf8.DecodeRune(data[i:])
		if r == utf8.RuneError && wide == 1 {
			return i
		}
		i += wide
	}
	return -1
}

// next is where the next token starts: the decoder tells only where one ended.
func (f *File) next(dec *json.Decoder) int {
	at := int(dec.InputOffset())
	for at < len(f.Data) && strings.IndexByte(" \t\r\n,:", f.Data[at]) >= 0 {
		at++
	}
	return at
}

// value reads one value of a file that is known to be JSON.
func (f *File) value(dec *json.Decoder, depth int) (Value, error) {
	v := Value{At: f.next(dec)}
	most := f.Depth
	if most == 0 {
		most = defaultDepth
	}
	if depth > most {
		return v, fmt.Errorf("%s: more than %d values inside each other", f.Place(v.At), most)
	}
	token, err := dec.Token()
	if err != nil {
		return v, fmt.Errorf("%s: %w", f.Place(v.At), err)
	}
	switch token {
	case json.Delim('['):
		return f.items(dec, v, depth)
	case json.Delim('{'):
		return f.members(dec, v, depth)
	}
	v.Content = token
	return v, nil
}

func (f *File) items(dec *json.Decoder, v Value, depth int) (Value, error) {
	list := []Value{}
	for dec.More() {
		item, err := f.value(dec, depth+1)
		if err != nil {
			return v, err
		}
		v.Doubtful = v.Doubtful || item.Doubtful
		list = append(list, item)
	}
	v.Content = list
	_, err := dec.Token()
	return v, err
}

func (f *File) members(dec *json.Decoder, v Value, depth int) (Value, error) {
	list := []Member{}
	seen := map[string]bool{}
	for dec.More() {
		m := Member{At: f.next(dec)}
		token, err := dec.Token()
		if err != nil {
			return v, err
		}
		m.Key, _ = token.(string)
		if m.Value, err = f.value(dec, depth+1); err != nil {
			return v, err
		}
		if m.Again = seen[m.Key]; m.Again {
			f.Fail(m.At, "%q is there twice; keep one", m.Key)
		}
		seen[m.Key] = true
		v.Doubtful = v.Doubtful || m.Again || m.Value.Doubtful
		list = append(list, m)
	}
	v.Content = list
	_, err := dec.Token()
	return v, err
}

// Kind names the type of a value for people.
func (v Value) Kind() string {
	switch v.Content.(type) {
	case nil:
		return "null"
	case bool:
		return "true or false"
	case string:
		return "text"
	case []Value:
		return "a list"
	case []Member:
		return "an object"
	}
	return "a number"
}
