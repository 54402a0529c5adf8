package model

import (
	"encoding/json"
	"errors"
	"net/url"
	"os"
	"slices"
	"strconv"
	"strings"

	"starling/trust"
	"starling/trust/jsonplace"
)

// Version of models.json that Parse reads.
const Version = 1

// maxFile is the most bytes of models.json.
const maxFile = 4 << 20

// ReadFile reads models.json. A file that is not there holds no models.
func ReadFile(path string) ([]Model, error) {
	data, err := trust.ReadRegular(path, maxFile)
	if errors.Is(err, os.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	return Parse(path, data)
}

// Parse reads the content of models.json; path stands in its errors. It returns
// the models without a fault and all faults joined, one a line, each with line
// and column. A newer version is refused whole.
func Parse(path string, data []byte) ([]Model, error) {
	d := &document{jsonplace.File{Path: path, Data: data}}
	root, ok := d.Parse()
	var models []Model
	if ok && len(d.Errs) == 0 {
		models = d.root(root)
	}
	return models, errors.Join(d.Errs...)
}

// document is models.json with the faults found in it.
type document struct{ jsonplace.File }

type (
	value  = jsonplace.Value
	member = jsonplace.Member
)

func (d *document) root(v value) []Model {
	members, ok := v.Content.([]member)
	if !ok {
		d.Fail(v.At, `want {"version": %d, "models": [...]}, not %s`, Version, v.Kind())
		return nil
	}
	list, found := value{}, false
	versioned := false
	for _, m := range members {
		switch m.Key {
		case "version":
			number, _ := m.Value.Content.(json.Number)
			n, err := strconv.Atoi(number.String())
			switch {
			case err != nil || n < 1:
				d.Fail(m.Value.At, "version: want %d", Version)
				return nil
			case n > Version:
				d.Fail(m.Value.At, "version %d is newer than this starling, which reads %d: update starling", n, Version)
				return nil
			}
			versioned = true
		case "models":
			list, found = m.Value, true
		default:
			d.Fail(m.At, "unknown field %q; there are version and models", m.Key)
		}
	}
	if !versioned {
		d.Fail(v.At, `"version": %d is missing`, Version)
		return nil
	}
	if !found {
		return nil
	}
	return d.models(list)
}

func (d *document) models(v value) []Model {
	items, ok := v.Content.([]value)
	if !ok {
		d.Fail(v.At, "models: want a list, not %s", v.Kind())
		return nil
	}
	var models []Model
	for _, item := range items {
		before := len(d.Errs)
		m := d.model(item)
		if len(d.Errs) > before {
			continue
		}
		if slices.ContainsFunc(models, func(o Model) bool { return o.FullName() == m.FullName() }) {
			d.Fail(item.At, "model %q is there twice; keep one or give them different providers", m.FullName())
			continue
		}
		models = append(models, m)
	}
	return models
}

func (d *document) model(v value) Model {
	m := Model{API: OpenAICompletions}
	members, ok := v.Content.([]member)
	if !ok {
		d.Fail(v.At, "a model: want an object, not %s", v.Kind())
		return m
	}
	for _, f := range members {
		read, ok := modelFields[f.Key]
		if !ok {
			d.Fail(f.At, "unknown field %q of a model; there are %s", f.Key, keys(modelFields))
			continue
		}
		read(d, &m, f)
	}
	for _, need := range []struct{ name, text string }{{"id", m.ID}, {"base_url", m.BaseURL}} {
		if need.text == "" && !slices.ContainsFunc(members, func(f member) bool { return f.Key == need.name }) {
			d.Fail(v.At, "a model: %q is missing", need.name)
		}
	}
	return m
}

// modelFields reads each field of a model.
var modelFields = map[string]func(*document, *Model, member){
	"id":       func(d *document, m *Model, f member) { m.ID = d.word(f) },
	"name":     func(d *document, m *Model, f member) { m.Name = d.text(f) },
	"provider": func(d *document, m *Model, f member) { m.Provider = d.word(f) },
	"api": func(d *document, m *Model, f member) {
		m.API = API(d.text(f))
		if !slices.Contains(apis, m.API) {
			d.Fail(f.Value.At, "api %q: there is no such wire format; write one of %s", m.API, joined(apis))
		}
	},
	"base_url": func(d *document, m *Model, f member) { m.BaseURL = d.baseURL(f) },
	"api_key_env": func(d *document, m *Model, f member) {
		m.KeyEnv = d.text(f)
		if !isVariable(m.KeyEnv) {
			// The value may be a key put here by mistake: it is not shown.
			d.Fail(f.Value.At, "api_key_env: want the name of a variable, such as OPENAI_API_KEY, not a key")
		}
	},
	"api_key_command": func(d *document, m *Model, f member) { m.KeyCommand = d.word(f) },
	"reasoning":       func(d *document, m *Model, f member) { m.Reasoning = d.flag(f) },
	"input": func(d *document, m *Model, f member) {
		for _, w := range d.texts(f) {
			if w != "text" && w != "image" {
				d.Fail(f.Value.At, "input %q: want text or image", w)
			}
			m.Input = append(m.Input, w)
		}
	},
	"context_window": func(d *document, m *Model, f member) { m.ContextWindow = d.count(f) },
	"max_tokens":     func(d *document, m *Model, f member) { m.MaxTokens = d.count(f) },
	"cost":           func(d *document, m *Model, f member) { m.Cost = d.cost(f) },
	"compat":         func(d *document, m *Model, f member) { m.Compat = d.compat(f) },
	"thinking_levels": func(d *document, m *Model, f member) {
		for _, w := range d.texts(f) {
			l, err := ParseLevel(w)
			if err != nil {
				d.Fail(f.Value.At, "%v", err)
			}
			m.ThinkingLevels = append(m.ThinkingLevels, l)
		}
	},
	"headers": func(d *document, m *Model, f member) { m.Headers = d.headers(f) },
}

func keys[V any](table map[string]V) string {
	var names []string
	for name := range table {
		names = append(names, name)
	}
	slices.Sort(names)
	return strings.Join(names, ", ")
}

func isVariable(name string) bool {
	for i, r := range name {
		letter := r == '_' || r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z'
		if !letter && (i == 0 || r < '0' || r > '9') {
			return false
		}
	}
	// A name longer than any in use is more likely a key.
	return name != "" && len(name) <= 100
}

func (d *document) text(f member) string {
	s, ok := f.Value.Content.(string)
	if !ok {
		d.Fail(f.Value.At, "%s: want text, not %s", f.Key, f.Value.Kind())
	}
	return s
}

// word is text with something in it, on one line.
func (d *document) word(f member) string {
	s := d.text(f)
	if _, ok := f.Value.Content.(string); ok && (strings.TrimSpace(s) != s || s == "" || strings.ContainsAny(s, "\r\n\x00")) {
		d.Fail(f.Value.At, "%s: want one line of text without blanks around it", f.Key)
	}
	return s
}

func (d *document) baseURL(f member) string {
	s := d.word(f)
	u, err := url.Parse(s)
	switch {
	case s == "":
	case err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https":
		d.Fail(f.Value.At, "base_url: want an address such as https://api.example.com/v1")
	case u.User != nil || u.RawQuery != "" || u.Fragment != "":
		d.Fail(f.Value.At, "base_url: want an address without a user, ? or #; a key belongs into api_key_env or headers")
	}
	return strings.TrimRight(s, "/")
}

func (d *document) flag(f member) bool {
	b, ok := f.Value.Content.(bool)
	if !ok {
		d.Fail(f.Value.At, "%s: want true or false, not %s", f.Key, f.Value.Kind())
	}
	return b
}

func (d *document) texts(f member) []string {
	items, ok := f.Value.Content.([]value)
	if !ok {
		d.Fail(f.Value.At, "%s: want a list of texts, not %s", f.Key, f.Value.Kind())
		return nil
	}
	var out []string
	for _, item := range items {
		out = append(out, d.text(member{Key: f.Key, At: item.At, Value: item}))
	}
	return out
}

func (d *document) count(f member) int {
	number, _ := f.Value.Content.(json.Number)
	n, err := strconv.Atoi(number.String())
	if err != nil || n < 0 {
		d.Fail(f.Value.At, "%s: want a whole number of tokens", f.Key)
	}
	return n
}

func (d *document) cost(f member) Cost {
	var c Cost
	fields := map[string]*float64{
		"input": &c.Input, "output": &c.Output, "cache_read": &c.CacheRead, "cache_write": &c.CacheWrite,
	}
	members, ok := f.Value.Content.([]member)
	if !ok {
		d.Fail(f.Value.At, "cost: want an object, not %s", f.Value.Kind())
	}
	for _, m := range members {
		to, ok := fields[m.Key]
		if !ok {
			d.Fail(m.At, "unknown field %q of cost; there are %s, in US dollars of a million tokens", m.Key, keys(fields))
			continue
		}
		number, _ := m.Value.Content.(json.Number)
		price, err := strconv.ParseFloat(number.String(), 64)
		if err != nil || price < 0 {
			d.Fail(m.Value.At, "cost.%s: want US dollars of a million tokens", m.Key)
		}
		*to = price
	}
	return c
}

func (d *document) headers(f member) map[string]string {
	members, ok := f.Value.Content.([]member)
	if !ok {
		d.Fail(f.Value.At, "headers: want an object, not %s", f.Value.Kind())
		return nil
	}
	out := map[string]string{}
	for _, m := range members {
		text := d.text(member{Key: "headers." + m.Key, At: m.At, Value: m.Value})
		if strings.ContainsAny(text, "\r\n\x00") || !isHeader(m.Key) {
			d.Fail(m.At, "headers: %q is no header of one line", m.Key)
		}
		out[m.Key] = text
	}
	return out
}

func isHeader(name string) bool {
	for _, r := range name {
		if r <= ' ' || r >= 0x7f || strings.ContainsRune(`()<>@,;:\"/[]?={}`, r) {
			return false
		}
	}
	return name != ""
}

func (d *document) compat(f member) Compat {
	var c Compat
	members, ok := f.Value.Content.([]member)
	if name, isText := f.Value.Content.(string); isText {
		members, ok = []member{{Key: "profile", At: f.Value.At, Value: value{At: f.Value.At, Content: name}}}, true
	}
	if !ok {
		d.Fail(f.Value.At, "compat: want the name of a profile or an object, not %s", f.Value.Kind())
	}
	for _, m := range members {
		if m.Key == "profile" {
			c.Profile = d.text(m)
			if !isProfile(c.Profile) {
				d.Fail(m.Value.At, "compat: there is no profile %q; write one of %s", c.Profile, strings.Join(Profiles(), ", "))
			}
			continue
		}
		d.compatField(&c, m)
	}
	return c
}

func (d *document) compatField(c *Compat, m member) {
	i := slices.IndexFunc(compatFields, func(f compatField) bool { return f.name == m.Key })
	if i < 0 {
		names := []string{"profile"}
		for _, f := range compatFields {
			names = append(names, f.name)
		}
		d.Fail(m.At, "unknown field %q of compat; there are %s", m.Key, strings.Join(names, ", "))
		return
	}
	f := compatFields[i]
	if f.flag != nil {
		b := d.flag(m)
		change, _ := f.flag(c, &Profile{})
		*change = &b
		return
	}
	s := d.text(m)
	if !slices.Contains(f.words, s) {
		d.Fail(m.Value.At, "compat.%s: want one of %s", m.Key, strings.Join(f.words, ", "))
	}
	change, _ := f.text(c, &Profile{})
	*change = &s
}
