package discover

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/big"
	"os"
	"strconv"
	"strings"
	"unicode/utf8"
)

// jsonLimit of one file, in bytes; jsonDepth of its values; integerDigits of a
// number, as long as the integers of plugins may get (64 Kbit).
const (
	jsonLimit     = 1 << 20
	jsonDepth     = 200
	integerDigits = 19728
)

// jsonFile is a JSON file a person edits: errors name line and column.
type jsonFile struct {
	path string
	data []byte // without a byte order mark
	errs []error
}

// node is a value with its place. Its content is nil, bool, string, json.Number,
// []node or []member.
type node struct {
	at      int // byte offset
	content any
	// doubtful: a key in it is there twice, so nobody knows what was meant.
	doubtful bool
}

type member struct {
	key   string
	at    int
	value node
	// again: the key came before.
	again bool
}

// fail records an error at a byte offset.
func (f *jsonFile) fail(offset int, format string, args ...any) {
	f.errs = append(f.errs, fmt.Errorf("%s: %s", f.place(offset), fmt.Sprintf(format, args...)))
}

// place is PATH:LINE:COL of a byte offset; columns count characters from 1.
func (f *jsonFile) place(offset int) string {
	before := f.data[:min(max(offset, 0), len(f.data))]
	line := bytes.Count(before, []byte("\n")) + 1
	col := utf8.RuneCount(before[bytes.LastIndexByte(before, '\n')+1:]) + 1
	return f.path + ":" + strconv.Itoa(line) + ":" + strconv.Itoa(col)
}

// parse reads the whole file as one value. It is false when the file is no JSON;
// the error is recorded.
func (f *jsonFile) parse() (node, bool) {
	f.data = bytes.TrimPrefix(f.data, []byte("\xef\xbb\xbf"))
	if bad := invalidUTF8(f.data); bad >= 0 {
		f.fail(bad, "a byte that is no UTF-8")
		return node{}, false
	}
	var whole json.RawMessage
	if err := json.Unmarshal(f.data, &whole); err != nil {
		offset := len(f.data)
		var syntax *json.SyntaxError
		if errors.As(err, &syntax) && !strings.HasPrefix(err.Error(), "unexpected end") {
			offset = int(syntax.Offset) - 1 // it counts the byte it stumbled over
		}
		f.fail(offset, "no JSON: %v", err)
		return node{}, false
	}
	dec := json.NewDecoder(bytes.NewReader(f.data))
	dec.UseNumber()
	value, err := f.value(dec, 0)
	if err != nil {
		f.errs = append(f.errs, err)
		return node{}, false
	}
	return value, true
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

// next returns where the next token starts: the decoder tells only where one
// ended.
func (f *jsonFile) next(dec *json.Decoder) int {
	i := int(dec.InputOffset())
	for i < len(f.data) && strings.IndexByte(" \t\r\n,:", f.data[i]) >= 0 {
		i++
	}
	return i
}

// value reads one value of a file that is known to be JSON.
func (f *jsonFile) value(dec *json.Decoder, depth int) (node, error) {
	n := node{at: f.next(dec)}
	if depth > jsonDepth {
		return n, fmt.Errorf("%s: more than %d values inside each other", f.place(n.at), jsonDepth)
	}
	token, err := dec.Token()
	if err != nil {
		return n, fmt.Errorf("%s: %w", f.place(n.at), err)
	}
	switch token {
	case json.Delim('['):
		return f.list(dec, n, depth)
	case json.Delim('{'):
		return f.object(dec, n, depth)
	}
	n.content = token
	return n, nil
}

func (f *jsonFile) list(dec *json.Decoder, n node, depth int) (node, error) {
	items := []node{}
	for dec.More() {
		item, err := f.value(dec, depth+1)
		if err != nil {
			return n, err
		}
		n.doubtful = n.doubtful || item.doubtful
		items = append(items, item)
	}
	n.content = items
	_, err := dec.Token()
	return n, err
}

func (f *jsonFile) object(dec *json.Decoder, n node, depth int) (node, error) {
	members := []member{}
	seen := map[string]bool{}
	for dec.More() {
		m := member{at: f.next(dec)}
		token, err := dec.Token()
		if err != nil {
			return n, err
		}
		m.key, _ = token.(string)
		if m.value, err = f.value(dec, depth+1); err != nil {
			return n, err
		}
		if m.again = seen[m.key]; m.again {
			f.fail(m.at, "%q is there twice; keep one", m.key)
		}
		seen[m.key] = true
		n.doubtful = n.doubtful || m.again || m.value.doubtful
		members = append(members, m)
	}
	n.content = members
	_, err := dec.Token()
	return n, err
}

// kind names the type of a value for people.
func (n node) kind() string {
	switch n.content.(type) {
	case nil:
		return "null"
	case bool:
		return "true or false"
	case string:
		return "text"
	case []node:
		return "a list"
	case []member:
		return "an object"
	}
	return "a number"
}

// plain makes the plain data of bus/spec from a value.
func (f *jsonFile) plain(n node) (any, bool) {
	switch content := n.content.(type) {
	case json.Number:
		return f.number(n.at, content.String())
	case []node:
		list := make([]any, 0, len(content))
		for _, item := range content {
			value, ok := f.plain(item)
			if !ok {
				return nil, false
			}
			list = append(list, value)
		}
		return list, true
	case []member:
		return f.plainObject(content)
	}
	return n.content, true
}

func (f *jsonFile) plainObject(members []member) (map[string]any, bool) {
	object := make(map[string]any, len(members))
	for _, m := range members {
		value, ok := f.plain(m.value)
		if !ok {
			return nil, false
		}
		object[m.key] = value
	}
	return object, true
}

func (f *jsonFile) number(at int, text string) (any, bool) {
	if strings.ContainsAny(text, ".eE") {
		value, err := strconv.ParseFloat(text, 64)
		if err != nil {
			f.fail(at, "a number this large does not fit")
			return nil, false
		}
		return value, true
	}
	if value, err := strconv.ParseInt(text, 10, 64); err == nil {
		return value, true
	}
	value, ok := new(big.Int).SetString(text, 10)
	if !ok || len(text) > integerDigits {
		f.fail(at, "a number of more than %d digits does not fit", integerDigits)
		return nil, false
	}
	return value, true
}

// readRegular returns the bytes of a regular file of at most limit bytes; a
// device or pipe is refused without being read. An absent one is os.ErrNotExist.
func readRegular(path string, limit int64) ([]byte, error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() {
		return nil, fmt.Errorf("%s: not a regular file", path)
	}
	file, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	data, err := io.ReadAll(io.LimitReader(file, limit+1))
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	if int64(len(data)) > limit {
		return nil, fmt.Errorf("%s: more than %d bytes", path, limit)
	}
	return data, nil
}
