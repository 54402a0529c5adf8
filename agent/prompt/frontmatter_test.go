package prompt

import (
	"reflect"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

func TestFrontMatter(t *testing.T) {
	for name, c := range map[string]struct {
		in   string
		want map[string]string
		body string
	}{
		"plain":         {"---\nname: pdf\ndescription: Reads: PDF files.\n---\nbody\n", map[string]string{"name": "pdf", "description": "Reads: PDF files."}, "body\n"},
		"quotes":        {"---\na: \"x # y \\\"z\\\"\"\nb: 'it''s' # why\n---\n", map[string]string{"a": `x # y "z"`, "b": "it's"}, ""},
		"remarks":       {"---\n# one\na: b # c\nd: #e\n---\n", map[string]string{"a": "b", "d": ""}, ""},
		"folded":        {"---\ndescription: >-\n  one\n  two\n\n  three\nname: x\n---\n", map[string]string{"description": "one two three", "name": "x"}, ""},
		"literal":       {"---\na: |\n  # not a remark\n  'x'\n---\nb", map[string]string{"a": "# not a remark 'x'"}, "b"},
		"goes on":       {"---\na: one\n  two\nb: c\n---\n", map[string]string{"a": "one two", "b": "c"}, ""},
		"nested":        {"---\nmeta:\n  a: b\nlist:\n- x: y\nname: n\n---\n", map[string]string{"meta": "a: b", "list": "", "name": "n"}, ""},
		"twice":         {"---\na: 1\na: 2\n---\n", map[string]string{"a": "1"}, ""},
		"line ends":     {"\n---\r\na: b\r\n---\r\nc\r\n", map[string]string{"a": "b"}, "c\n"},
		"ends with ...": {"---\na: b\n...\nc", map[string]string{"a": "b"}, "c"},
		"rule in body":  {"---\na: b\n---\nc\n---\nd", map[string]string{"a": "b"}, "c\n---\nd"},
		"empty":         {"---\n---\n", map[string]string{}, ""},
	} {
		got, body, err := frontMatter(c.in)
		if err != nil || !reflect.DeepEqual(got, c.want) || body != c.body {
			t.Errorf("%s: got %q, %q, %v", name, got, body, err)
		}
	}
	for _, in := range []string{"", "---", "text", "----\na: b\n---\n", "---\na: b", "--- \x00\n"} {
		if fields, body, err := frontMatter(in); err == nil || fields != nil || body != in {
			t.Errorf("%q: %q, %q, %v", in, fields, body, err)
		}
	}
}

// What is written plainly is read back.
func TestFrontMatterProperty(t *testing.T) {
	word := rapid.StringMatching(`[a-zA-Z0-9ä漢.,:/()]{1,12}`)
	rapid.Check(t, func(t *rapid.T) {
		want := map[string]string{}
		var b strings.Builder
		b.WriteString("---\n")
		for key, words := range rapid.MapOfN(rapid.StringMatching(`[a-z_]{1,8}`), rapid.SliceOfN(word, 0, 5), 0, 5).Draw(t, "fields") {
			want[key] = strings.Join(words, " ")
			b.WriteString(key + ": " + strings.Join(words, rapid.SampledFrom([]string{" ", "\n  "}).Draw(t, "gap")) + "\n")
		}
		body := rapid.StringMatching(`[a-z \n]*`).Draw(t, "body")
		got, rest, err := frontMatter(b.String() + "---\n" + body)
		if err != nil || !reflect.DeepEqual(got, want) || rest != strings.TrimLeft(body, "\n") {
			t.Fatalf("got %q, %q, %v; want %q, %q", got, rest, err, want, body)
		}
	})
}

// FuzzFrontMatter: whatever a file holds, values are single trimmed lines.
func FuzzFrontMatter(f *testing.F) {
	for _, s := range []string{
		"---\nname: a\ndescription: b\n---\nbody", "---\na: |\n  x\n---", "---\na: \"\n---\n", "---\n:\n--- \n", "---\r\na: '\r\n...\r\n",
	} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, in string) {
		fields, body, err := frontMatter(in)
		if err != nil && (fields != nil || body == "" && in != "" && strings.Trim(in, "\r\n") != "") {
			t.Fatalf("%q: %q, %q with %v", in, fields, body, err)
		}
		for key, value := range fields {
			if key == "" || strings.Contains(key, "\n") || strings.Contains(value, "\n") {
				t.Fatalf("%q: field %q is %q", in, key, value)
			}
		}
	})
}
