package permit

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"starling/trust"
)

// fileVersion is the version of rules.json this package reads and writes.
const fileVersion = 1

// fileLimit of rules.json, in bytes.
const fileLimit = 1 << 20

// lists are rules by effect.
type lists map[Effect][]Rule

var effects = []Effect{Allow, Ask, Deny}

func (l lists) listed(source Source) []Listed {
	var all []Listed
	for _, e := range effects {
		for _, rule := range l[e] {
			all = append(all, Listed{rule, e, source})
		}
	}
	return all
}

// stored is what rules.json holds.
type stored struct {
	home       lists
	workspaces map[string]lists // by resolved path
}

func (s *stored) of(scope Source, workspace string) lists {
	if scope == FromHome {
		return s.home
	}
	if s.workspaces[workspace] == nil {
		s.workspaces[workspace] = lists{}
	}
	return s.workspaces[workspace]
}

type listsJSON struct {
	Allow []string `json:"allow,omitempty"`
	Ask   []string `json:"ask,omitempty"`
	Deny  []string `json:"deny,omitempty"`
}

type fileJSON struct {
	Version int `json:"version"`
	listsJSON
	Workspaces map[string]listsJSON `json:"workspaces,omitempty"`
}

func (l lists) json() listsJSON {
	texts := func(e Effect) []string {
		var all []string
		for _, r := range l[e] {
			all = append(all, r.String())
		}
		return all
	}
	return listsJSON{texts(Allow), texts(Ask), texts(Deny)}
}

func (s *stored) encode() ([]byte, error) {
	file := fileJSON{Version: fileVersion, listsJSON: s.home.json(), Workspaces: map[string]listsJSON{}}
	for at, l := range s.workspaces {
		if len(l[Allow])+len(l[Ask])+len(l[Deny]) > 0 {
			file.Workspaces[at] = l.json()
		}
	}
	var out bytes.Buffer
	enc := json.NewEncoder(&out)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	err := enc.Encode(file)
	if err == nil && out.Len() > fileLimit {
		err = fmt.Errorf("rules.json would have %d bytes, more than %d: remove rules nobody needs", out.Len(), fileLimit)
	}
	return out.Bytes(), err
}

func readFile(path string) (*stored, error) {
	data, err := trust.ReadRegular(path, fileLimit)
	if errors.Is(err, fs.ErrNotExist) {
		return &stored{lists{}, map[string]lists{}}, nil
	}
	if err != nil {
		return nil, err
	}
	return decode(path, data)
}

// decode reads the whole of a file or nothing of it: with one rule passed over, a
// call could run that a person denied.
func decode(path string, data []byte) (*stored, error) {
	d := &decoder{path: path, data: bytes.TrimPrefix(data, []byte("\xef\xbb\xbf"))}
	if err := d.check(); err != nil {
		return nil, err
	}
	d.dec = json.NewDecoder(bytes.NewReader(d.data))
	d.dec.UseNumber()
	s := &stored{lists{}, map[string]lists{}}
	versioned := false
	err := d.object("rules", "version, allow, ask, deny and workspaces", func(key string, at int) (bool, error) {
		switch key {
		case "version":
			versioned = true
			return true, d.version()
		case "workspaces":
			return true, d.object("workspaces", "absolute paths", func(dir string, at int) (bool, error) {
				if !filepath.IsAbs(dir) || filepath.Clean(dir) != dir {
					return true, d.fail(at, "%q is no absolute path; write the folder whole, without a slash at its end", dir)
				}
				s.workspaces[dir] = lists{}
				return true, d.object("rules of a workspace", "allow, ask and deny", func(key string, _ int) (bool, error) {
					return d.list(s.workspaces[dir], key)
				})
			})
		}
		return d.list(s.home, key)
	})
	if err == nil && !versioned {
		err = d.fail(0, `there is no version; add "version": %d`, fileVersion)
	}
	if err != nil {
		return nil, err
	}
	return s, nil
}

// decoder walks JSON that is known to be valid and names places in it.
type decoder struct {
	path string
	data []byte
	dec  *json.Decoder
}

// fail is an error at a byte offset: PATH:LINE:COL, columns in characters from 1.
func (d *decoder) fail(offset int, format string, args ...any) error {
	before := d.data[:min(max(offset, 0), len(d.data))]
	line := bytes.Count(before, []byte("\n")) + 1
	col := utf8.RuneCount(before[bytes.LastIndexByte(before, '\n')+1:]) + 1
	return fmt.Errorf("%s:%d:%d: %s; correct the file: without it a rule that denies could be lost",
		d.path, line, col, fmt.Sprintf(format, args...))
}

// check refuses what is no JSON, or of a version this starling does not know,
// whose fields it cannot know either.
func (d *decoder) check() error {
	for i := 0; i < len(d.data); {
		r, wide := utf8.DecodeRune(d.data[i:])
		if r == utf8.RuneError && wide == 1 {
			return d.fail(i, "a byte that is no UTF-8")
		}
		i += wide
	}
	var head struct {
		Version json.RawMessage `json:"version"`
	}
	if err := json.Unmarshal(d.data, &head); err != nil {
		offset := len(d.data)
		var syntax *json.SyntaxError
		var kind *json.UnmarshalTypeError
		switch {
		case errors.As(err, &kind):
			return nil // no object; the walk says so
		case errors.As(err, &syntax) && !strings.HasPrefix(err.Error(), "unexpected end"):
			offset = int(syntax.Offset) - 1 // it counts the byte it stumbled over
		}
		return d.fail(offset, "no JSON: %v", err)
	}
	if n, err := strconv.Atoi(string(head.Version)); err == nil && n > fileVersion {
		return fmt.Errorf("%s has version %d, this starling reads version %d: use a newer starling", d.path, n, fileVersion)
	}
	return nil
}

// next is where the next token starts.
func (d *decoder) next() int {
	i := int(d.dec.InputOffset())
	for i < len(d.data) && strings.IndexByte(" \t\r\n,:", d.data[i]) >= 0 {
		i++
	}
	return i
}

// object reads an object; field reads the value of a key it knows.
func (d *decoder) object(what, fields string, field func(key string, at int) (known bool, err error)) error {
	at := d.next()
	if t, err := d.dec.Token(); err != nil || t != json.Delim('{') {
		return d.fail(at, "%s must be an object of %s, as {…}", what, fields)
	}
	seen := map[string]bool{}
	for d.dec.More() {
		at := d.next()
		token, err := d.dec.Token()
		if err != nil {
			return d.fail(at, "%v", err)
		}
		key, _ := token.(string)
		if seen[key] {
			return d.fail(at, "%q is there twice; keep one", key)
		}
		seen[key] = true
		switch known, err := field(key, at); {
		case err != nil:
			return err
		case !known:
			return d.fail(at, "unknown field %q; the fields are %s", key, fields)
		}
	}
	_, err := d.dec.Token()
	return err
}

func (d *decoder) version() error {
	at := d.next()
	token, err := d.dec.Token()
	if n, ok := token.(json.Number); err != nil || !ok || n.String() != strconv.Itoa(fileVersion) {
		return d.fail(at, `the version must be %d; write "version": %[1]d`, fileVersion)
	}
	return nil
}

// list reads the list of rules under allow, ask or deny.
func (d *decoder) list(into lists, key string) (known bool, err error) {
	if !slices.Contains(effects, Effect(key)) {
		return false, nil
	}
	shape := fmt.Sprintf(`%s must be a list of rules, as %q: ["bash(go test *)"]`, key, key)
	at := d.next()
	if t, err := d.dec.Token(); err != nil || t != json.Delim('[') {
		return true, d.fail(at, "%s", shape)
	}
	for d.dec.More() {
		at := d.next()
		token, err := d.dec.Token()
		text, ok := token.(string)
		if err != nil || !ok {
			return true, d.fail(at, "%s", shape)
		}
		rule, err := ParseRule(text)
		if err != nil {
			return true, d.fail(at, "%v", err)
		}
		if !slices.Contains(into[Effect(key)], rule) {
			into[Effect(key)] = append(into[Effect(key)], rule)
		}
	}
	_, err = d.dec.Token()
	return true, err
}
