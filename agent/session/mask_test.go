package session_test

import (
	"encoding/json"
	"os"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"starling/agent/session"
	"starling/bus/chat"
)

const canary = "canary-0123456789"

func TestMaskShapes(t *testing.T) {
	m := masker()
	pem := "-----BEGIN RSA PRIVATE KEY-----\n" + strings.Repeat("MIIEpAIBAAKCAQEA0123456789abcdefghij+/ABCD\n", 4) + "-----END RSA PRIVATE KEY-----"
	for _, c := range []struct{ text, want string }{
		{"key=sk-proj-abcdefghij0123456789_x.", "key=[masked]."},
		{"sk-ant-" + "api03-" + strings.Repeat("aB3-_", 8), "[masked]"},
		{"ghp_abcdefghijklmnopqrstuvwxyz0123456789", "[masked]"},
		{"github_pat_11ABCDEFG0abcdefghijkl_mnop", "[masked]"},
		{"https://x:gho_abcdefghijklmnopqrstuvwxyz0123456789@github.com", "https://x:[masked]@github.com"},
		{"AWS AKIAIOSFODNN7EXAMPLE", "AWS [masked]"},
		{"xoxb-123456789012-abcdefABCDEF", "[masked]"},
		{"AIza" + strings.Repeat("aB3_-", 7), "[masked]"},
		{"hf_abcdefghijklmnopqrstuvwxyzABCDEFGH", "[masked]"},
		{"t eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0In0.dozjgNryP4J3jVmNHl0w5N t", "t [masked] t"},
		{"Authorization: Bearer abcdefghij0123456789==\n", "Authorization: Bearer [masked]\n"},
		{pem, "-----BEGIN RSA PRIVATE KEY-----[masked]-----END RSA PRIVATE KEY-----"},
		{strings.Replace(pem[:120], "\n", "\n  2\t", 1), "-----BEGIN RSA PRIVATE KEY-----[masked]"},
		{`{"k":"\u0073k-abcdefghij0123456789"}`, `{"k":"[masked]"}`},
		{`{"a":"{\"k\":\"\\u0073k-abcdefghij0123456789\"}"}`, `{"a":"{\"k\":\"[masked]\"}"}`},
		{`"-----BEGIN PRIVATE KEY-----\nMIIEpAIBAAKCAQEA0123456789abcdefghij\n-----END PRIVATE KEY-----\n"`, `"-----BEGIN PRIVATE KEY-----[masked]-----END PRIVATE KEY-----\n"`},
		// What only looks like it.
		{"risk-assessment-of-the-whole-thing-2026", ""},
		{"a sk-loading-spinner-container-large", ""},
		{"sk-short1", ""},
		{"AKIAIOSFODNN7EXAMPLEXX", ""},
		{"eyJhbGciOiJIUzI1NiJ9.not.a", ""},
		{"grep -r -- '-----BEGIN RSA PRIVATE KEY-----' . # finds keys in the work tree", ""},
		{"-----BEGIN CERTIFICATE-----\n" + strings.Repeat("A", 64), ""},
		{`C:\users\new \d+ \u12 \`, ""},
		{"Bearer of this letter is my brother", ""},
	} {
		if c.want == "" {
			c.want = c.text
		}
		if got := m.Text(c.text); got != c.want {
			t.Errorf("%q\n got %q\nwant %q", c.text, got, c.want)
		}
	}
}

func TestMaskValues(t *testing.T) {
	var none *session.Masker
	if none.Text(canary) != canary {
		t.Error("a nil masker masks")
	}
	multi := "first line of it, long enough\nsecond line of it, long enough\nend"
	m := masker(canary, "short", " \n", "[masked]", `with"quote\and/slash`, "pass word&more", multi)
	for _, c := range []struct{ text, want string }{
		{"a" + canary + canary + "b", "a[masked][masked]b"},
		{"short", "short"},
		{"[masked]", "[masked]"},
		{`{"x":"with\"quote\\and\/slash"}`, `{"x":"[masked]"}`},
		{`{"x":"{\"y\":\"with\\\"quote\\\\and/slash\"}"}`, `{"x":"{\"y\":\"[masked]\"}"}`},
		{"?q=pass+word%26more", "?q=[masked]"},
		{"  1\tfirst line of it, long enough\n  2\tend", "  1\t[masked]\n  2\tend"},
		{`\ud83d\ude00` + `c\u0061nary-\u0030123456789` + `\ud83d`, `\ud83d\ude00[masked]\ud83d`},
	} {
		if got := m.Text(c.text); got != c.want {
			t.Errorf("%q\n got %q\nwant %q", c.text, got, c.want)
		}
	}
	if got := masker("abcdefghijkl", "bcdefghi", "ghijklmno").Text("xabcdefghijklmnoy"); got != "x[masked]y" {
		t.Errorf("secrets within and across others: %q", got)
	}
	if got := masker("abcdefghijkl", "bcdefghi").Text("xabcdefghijkly"); got != "x[masked]y" {
		t.Errorf("a secret within another: %q", got)
	}
	if got := string(masker("12345678").JSON([]byte(`{"n":12345678}`))); got != `"[masked]"` {
		t.Errorf("a number that is secret: %s", got)
	}
	clean := strings.Repeat("plain text and \\n escapes. ", 100)
	if n := testing.AllocsPerRun(10, func() { m.Text(strings.ReplaceAll(clean, "\\", "/")) }); n > 3 {
		t.Errorf("%v allocations where nothing matches", n)
	}
}

// Whatever is secret and however it is escaped, it is in no decoding of what is
// written; masking twice changes nothing; without a secret nothing changes.
func TestMaskProperty(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		letters := rapid.SampledFrom([]string{"a", "b", `"`, `\`, "/", "\n", "ä", "😀", "[", "masked]", "u0061", "<"})
		part := func(least, most int, name string) string {
			return strings.Join(rapid.SliceOfN(letters, least, most).Draw(t, name), "")
		}
		var secrets []string
		for range rapid.IntRange(1, 3).Draw(t, "count") {
			s := strings.TrimSpace(part(session.MinSecret, 12, "secret"))
			if len(s) >= session.MinSecret && !strings.Contains(session.Masked+session.Masked, s) {
				secrets = append(secrets, s)
			}
		}
		m := masker(secrets...)
		text := part(0, 6, "before")
		for range rapid.IntRange(0, 3).Draw(t, "times") {
			if len(secrets) > 0 {
				text += rapid.SampledFrom(secrets).Draw(t, "which")
			}
			text += part(0, 4, "between")
		}
		levels := rapid.IntRange(0, 3).Draw(t, "levels")
		for range levels {
			text = escaped(t, text)
		}
		masked := m.Text(text)
		if again := m.Text(masked); again != masked {
			t.Fatalf("masked twice: %q, then %q", masked, again)
		}
		decoded := masked
		for level := 0; ; level++ {
			found := false
			for _, s := range secrets {
				if strings.Contains(decoded, s) {
					t.Fatalf("secret %q of text %q is in level %d of %q", s, text, level, masked)
				}
				found = found || strings.Contains(text, s)
			}
			if level == 0 && levels == 0 && !found && !strings.Contains(text, `\`) && masked != text {
				t.Fatalf("without a secret %q became %q", text, masked)
			}
			if level == levels {
				break
			}
			if json.Unmarshal([]byte(`"`+decoded+`"`), &decoded) != nil {
				t.Fatalf("level %d of %q is no JSON", level, masked)
			}
		}
	})
}

// escaped makes text the inside of a JSON string, now and then with escapes
// where none is needed.
func escaped(t *rapid.T, text string) string {
	var b strings.Builder
	for _, r := range text {
		quoted, _ := json.Marshal(string(r))
		switch {
		case r < 0x80 && rapid.IntRange(0, 3).Draw(t, "escape") == 0:
			b.WriteString(`\u00` + string("0123456789abcdef"[r>>4]) + string("0123456789ABCDEF"[r&15]))
		case r == '/' && rapid.Bool().Draw(t, "slash"):
			b.WriteString(`\/`)
		default:
			b.Write(quoted[1 : len(quoted)-1])
		}
	}
	return b.String()
}

// B-05: no file of a session holds a secret, wherever it came from.
func TestB05NoSecretInAnyFile(t *testing.T) {
	st := store(t)
	st.Mask = masker(canary)
	s := must[*session.Session](t)(st.Create(session.Meta{Cwd: "/home/" + canary, Workspace: "/" + canary, Model: canary}))
	ok(t, s.Append(
		user("my key is "+canary),
		chat.Message{
			Role: chat.Assistant, Model: canary, Error: "401: " + canary, Blocks: []chat.Block{
				{Kind: chat.Thinking, Text: canary, Signature: "x" + canary},
				{Kind: chat.Call, ID: canary, Name: canary, Arguments: `{"command":"echo c\u0061nary-0123456789"}`},
			},
		},
		chat.Message{Role: chat.ToolRole, Blocks: []chat.Block{
			{Kind: chat.Result, ID: "c", Text: "KEY=" + canary, Details: json.RawMessage(`{"env":["c\u0061nary-0123456789"],"n":1}`)},
		}},
	))
	ok(t, s.Label("", canary))
	r := must[*session.Recorder](t)(s.Recorder())
	ok(t, r.Record("p", "call "+canary, "exec", 0, json.RawMessage(`{"out":"`+canary+`"}`)))
	ok(t, r.Record("p", "c", "exec", 1, json.RawMessage(`"`+canary+strings.Repeat("x", 9000)+`"`)))
	ok(t, s.Close())
	texts := 0
	ok(t, os.CopyFS(t.TempDir(), os.DirFS(st.Dir))) // every file can be read
	for _, path := range walk(t, st.Dir) {
		for _, line := range strings.Split(string(must[[]byte](t)(os.ReadFile(path))), "\n") {
			var plain any
			if json.Unmarshal([]byte(line), &plain) == nil {
				again, _ := json.Marshal(plain)
				line += string(again)
			}
			if strings.Contains(line, canary) || strings.Contains(line, `nary-0123456789`) {
				t.Errorf("%s: %s", path, line)
			}
			texts += strings.Count(line, session.Masked)
		}
	}
	if texts < 15 {
		t.Errorf("only %d masks: something was not written", texts)
	}
}

func FuzzMask(f *testing.F) {
	m := masker(canary, `a"b\c/d e`)
	f.Add("x" + canary)
	f.Add(`{"a":"c\u0061nary-0123456789 a\"b\\c/d e"}`)
	f.Add("-----BEGIN PRIVATE KEY-----\nMIIEpAIBAAKCAQEA0123456789abcdefghij")
	f.Add(`\ud83d\ude0\\u0061\`)
	f.Fuzz(func(t *testing.T, text string) {
		masked := m.Text(text)
		if strings.Contains(masked, canary) || m.Text(masked) != masked {
			t.Errorf("%q became %q", text, masked)
		}
		if json.Valid([]byte(text)) && !json.Valid(m.JSON([]byte(text))) {
			t.Errorf("%q is no JSON any more: %q", text, m.JSON([]byte(text)))
		}
	})
}
