package session

import (
	"bytes"
	"net/url"
	"slices"
	"strings"
	"sync"
	"unicode/utf16"
	"unicode/utf8"
)

const (
	// Masked stands where a secret stood.
	Masked = "[masked]"
	// MinSecret is the length in bytes from which on a value is masked: shorter
	// ones are words of ordinary text too.
	MinSecret = 8

	minSecretLine = 20 // of a secret of several lines, each of which is masked too
	escapeLevels  = 4  // JSON text within a JSON text within …
	maskRounds    = 8
)

// Masker replaces secrets in text: exact values it was given, and what has the
// shape of a token. It finds them through JSON escapes too, also of JSON within
// JSON. The zero value knows the shapes only; a nil one masks nothing. It may be
// used by several goroutines.
type Masker struct {
	mu      sync.RWMutex
	secrets []string // longest first
}

// Add makes values secret from now on. Values shorter than MinSecret are left
// out. The lines of a value of several, and the form a value has in a URL, are
// secret too.
func (m *Masker) Add(values ...string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	all := slices.Clone(m.secrets)
	add := func(v string) {
		if len(v) >= MinSecret && !strings.Contains(Masked+Masked, v) && !slices.Contains(all, v) {
			all = append(all, v)
		}
	}
	for _, v := range values {
		v = strings.ToValidUTF8(strings.TrimSpace(v), "\uFFFD")
		add(v)
		add(url.QueryEscape(v))
		add(url.PathEscape(v))
		if lines := strings.Split(v, "\n"); len(lines) > 1 {
			for _, line := range lines {
				if line = strings.TrimSpace(line); len(line) >= minSecretLine {
					add(line)
				}
			}
		}
	}
	slices.SortStableFunc(all, func(a, b string) int { return len(b) - len(a) })
	m.secrets = all
}

// Text returns text with Masked in place of every secret; text itself when
// there is none. Other bytes are not changed. Masking what was masked changes
// nothing.
func (m *Masker) Text(text string) string { return m.text(text, true) }

// Opaque is Text for what must stay exact to be of use, like signatures: it
// masks exact values only, as chance may give such a text the shape of a token.
func (m *Masker) Opaque(text string) string { return m.text(text, false) }

func (m *Masker) text(text string, shaped bool) string {
	if m == nil || len(text) < MinSecret {
		return text
	}
	m.mu.RLock()
	secrets := m.secrets
	m.mu.RUnlock()
	// A replacement may complete another secret with what stands around it, so
	// this ends only when nothing is found.
	for range maskRounds {
		spans := find(text, secrets, shaped)
		if len(spans) == 0 {
			return text
		}
		text = replace(text, spans)
	}
	return Masked
}

// JSON masks a JSON text within its strings and returns valid JSON: where a
// secret is more than a part of a string, the whole is masked.
func (m *Masker) JSON(raw []byte) []byte {
	if m == nil || len(raw) == 0 {
		return raw
	}
	text := string(raw)
	masked := m.Text(text)
	switch {
	case masked == text:
		return raw
	case !validJSON([]byte(masked)):
		return []byte(`"` + Masked + `"`)
	}
	return []byte(masked)
}

// span is a range of bytes.
type span struct{ from, to int }

// find returns where text holds secrets, at any level of escapes, in order and
// without overlaps.
func find(text string, secrets []string, shaped bool) []span {
	var spans []span
	v := view{text: text}
	for level := 0; ; level++ {
		found := exact(v.text, secrets)
		if shaped {
			found = append(found, shapes(v.text)...)
		}
		for _, s := range found {
			spans = append(spans, v.source(s))
		}
		if level == escapeLevels || strings.IndexByte(v.text, '\\') < 0 {
			break
		}
		next, changed := v.unescape()
		if !changed {
			break
		}
		v = next
	}
	return merge(spans)
}

func exact(text string, secrets []string) []span {
	var found []span
	for _, s := range secrets {
		for from := 0; ; {
			i := strings.Index(text[from:], s)
			if i < 0 {
				break
			}
			found = append(found, span{from + i, from + i + len(s)})
			from += i + 1
		}
	}
	return found
}

func merge(spans []span) []span {
	if len(spans) < 2 {
		return spans
	}
	slices.SortFunc(spans, func(a, b span) int {
		if a.from != b.from {
			return a.from - b.from
		}
		return a.to - b.to
	})
	out := spans[:1]
	for _, s := range spans[1:] {
		if last := &out[len(out)-1]; s.from < last.to {
			last.to = max(last.to, s.to)
		} else {
			out = append(out, s)
		}
	}
	return out
}

func replace(text string, spans []span) string {
	var b strings.Builder
	b.Grow(len(text))
	at := 0
	for _, s := range spans {
		b.WriteString(text[at:s.from])
		b.WriteString(Masked)
		at = s.to
	}
	b.WriteString(text[at:])
	return b.String()
}

// view is a text with its JSON escapes taken back, and where its bytes come
// from: runs of plain bytes move by a constant, so only the escapes are kept.
type view struct {
	text    string
	escapes []escape // in order
}

// escape says that bytes [at, at+n) of a view stand for [from, to) of the source.
type escape struct{ at, n, from, to int }

// source returns the range of the source that a range of the view comes from,
// with whole escapes.
func (v view) source(s span) span {
	return span{v.sourceOf(s.from).from, v.sourceOf(s.to - 1).to}
}

// sourceOf returns the source of one byte.
func (v view) sourceOf(i int) span {
	k, _ := slices.BinarySearchFunc(v.escapes, i, func(e escape, i int) int {
		if e.at <= i {
			return -1
		}
		return 1
	})
	if k == 0 {
		return span{i, i + 1}
	}
	e := v.escapes[k-1]
	if i < e.at+e.n {
		return span{e.from, e.to}
	}
	from := e.to + i - (e.at + e.n)
	return span{from, from + 1}
}

// unescape takes one level of escapes back.
func (v view) unescape() (view, bool) {
	var out bytes.Buffer
	out.Grow(len(v.text))
	var escapes []escape
	changed := false
	// An escape of this level may hold escapes of the level before; those that
	// it does not hold are carried over, moved.
	held := v.escapes
	carry := func(until, shift int) {
		for len(held) > 0 && held[0].at < until {
			e := held[0]
			held = held[1:]
			e.at += shift
			escapes = append(escapes, e)
		}
	}
	text := v.text
	for i := 0; i < len(text); {
		j := strings.IndexByte(text[i:], '\\')
		if j < 0 {
			j = len(text) - i
		}
		carry(i+j, out.Len()-i)
		out.WriteString(text[i : i+j])
		i += j
		if i == len(text) {
			break
		}
		decoded, n := unescapeOne(text[i:])
		if n == 0 { // no escape: a byte like others
			carry(i+1, out.Len()-i)
			out.WriteByte(text[i])
			i++
			continue
		}
		src := v.source(span{i, i + n})
		for len(held) > 0 && held[0].at < i+n {
			held = held[1:]
		}
		escapes = append(escapes, escape{at: out.Len(), n: len(decoded), from: src.from, to: src.to})
		out.WriteString(decoded)
		i += n
		changed = true
	}
	return view{text: out.String(), escapes: escapes}, changed
}

// unescapeOne decodes the escape text begins with; n is its length, 0 for none.
func unescapeOne(text string) (decoded string, n int) {
	if len(text) < 2 {
		return "", 0
	}
	switch text[1] {
	case '"', '\\', '/', '\'':
		return text[1:2], 2
	case 'b':
		return "\b", 2
	case 'f':
		return "\f", 2
	case 'n':
		return "\n", 2
	case 'r':
		return "\r", 2
	case 't':
		return "\t", 2
	case 'u':
		r, ok := hex4(text)
		if !ok {
			return "", 0
		}
		if utf16.IsSurrogate(r) {
			low, ok := hex4(text[6:])
			if pair := utf16.DecodeRune(r, low); ok && pair != utf8.RuneError {
				return string(pair), 12
			}
			return "\uFFFD", 6
		}
		return string(r), 6
	}
	return "", 0
}

// hex4 reads \uXXXX.
func hex4(text string) (rune, bool) {
	if len(text) < 6 || text[0] != '\\' || text[1] != 'u' {
		return 0, false
	}
	r := rune(0)
	for _, c := range []byte(text[2:6]) {
		switch {
		case '0' <= c && c <= '9':
			c -= '0'
		case 'a' <= c && c <= 'f':
			c -= 'a' - 10
		case 'A' <= c && c <= 'F':
			c -= 'A' - 10
		default:
			return 0, false
		}
		r = r<<4 | rune(c)
	}
	return r, true
}
