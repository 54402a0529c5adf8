package session

import "strings"

// tokenShape is a prefix that only tokens have, with what follows it.
type tokenShape struct {
	prefix string
	min    int  // bytes that follow at least
	exact  bool // no more than min of them
	mixed  bool // letters and digits both: the prefix alone may begin a word
	more   string
}

// tokenShapes are the forms of keys of well-known services. Their bytes are
// letters, digits and more.
var tokenShapes = []tokenShape{
	{prefix: "sk-", min: 20, mixed: true, more: "-_"},
	{prefix: "sk_live_", min: 16},
	{prefix: "sk_test_", min: 16},
	{prefix: "rk_live_", min: 16},
	{prefix: "ghp_", min: 30},
	{prefix: "gho_", min: 30},
	{prefix: "ghu_", min: 30},
	{prefix: "ghs_", min: 30},
	{prefix: "ghr_", min: 30},
	{prefix: "github_pat_", min: 22, more: "_"},
	{prefix: "glpat-", min: 20, more: "-_"},
	{prefix: "AKIA", min: 16, exact: true},
	{prefix: "ASIA", min: 16, exact: true},
	{prefix: "xoxb-", min: 10, mixed: true, more: "-"},
	{prefix: "xoxp-", min: 10, mixed: true, more: "-"},
	{prefix: "xoxa-", min: 10, mixed: true, more: "-"},
	{prefix: "xoxr-", min: 10, mixed: true, more: "-"},
	{prefix: "xoxs-", min: 10, mixed: true, more: "-"},
	{prefix: "xapp-", min: 10, mixed: true, more: "-"},
	{prefix: "AIza", min: 35, more: "-_"},
	{prefix: "ya29.", min: 20, more: "-_"},
	{prefix: "hf_", min: 30},
	{prefix: "npm_", min: 36},
	{prefix: "gsk_", min: 30},
	{prefix: "xai-", min: 40, mixed: true},
	{prefix: "pypi-", min: 50, more: "-_"},
}

// shapes returns where text holds what looks like a token.
func shapes(text string) []span {
	var found []span
	for i := range tokenShapes {
		found = append(found, tokenShapes[i].find(text)...)
	}
	found = append(found, webTokens(text)...)
	found = append(found, bearers(text)...)
	return append(found, privateKeys(text)...)
}

func (s *tokenShape) find(text string) []span {
	var found []span
	for from := 0; ; {
		i := strings.Index(text[from:], s.prefix)
		if i < 0 {
			return found
		}
		begin := from + i
		from = begin + len(s.prefix)
		if begin > 0 && wordByte(text[begin-1], "-_") {
			continue
		}
		end, letters, digits := from, false, false
		for end < len(text) && wordByte(text[end], s.more) {
			digit := '0' <= text[end] && text[end] <= '9'
			digits, letters = digits || digit, letters || !digit
			end++
		}
		n := end - from
		if n < s.min || s.exact && n != s.min || s.mixed && !(letters && digits) {
			continue
		}
		found = append(found, span{begin, end})
		from = end
	}
}

func wordByte(c byte, more string) bool {
	return 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || '0' <= c && c <= '9' || strings.IndexByte(more, c) >= 0
}

// run returns the end of the word bytes from i on.
func run(text string, i int, more string) int {
	for i < len(text) && wordByte(text[i], more) {
		i++
	}
	return i
}

// webTokens finds JSON web tokens: three base64 parts, of which the first two
// begin as an object does.
func webTokens(text string) []span {
	const object, part = "eyJ", 8
	var found []span
	for from := 0; ; {
		i := strings.Index(text[from:], object)
		if i < 0 {
			return found
		}
		begin := from + i
		from = begin + len(object)
		if begin > 0 && wordByte(text[begin-1], "-_") {
			continue
		}
		head := run(text, begin, "-_")
		if head-begin < part || !strings.HasPrefix(text[head:], "."+object) {
			continue
		}
		body := run(text, head+1, "-_")
		if body-head-1 < part || body == len(text) || text[body] != '.' {
			continue
		}
		end := run(text, body+1, "-_")
		if end-body-1 < part {
			continue
		}
		found = append(found, span{begin, end})
		from = end
	}
}

// bearers finds what an Authorization header carries.
func bearers(text string) []span {
	var found []span
	for _, word := range []string{"Bearer ", "bearer "} {
		for from := 0; ; {
			i := strings.Index(text[from:], word)
			if i < 0 {
				break
			}
			begin := from + i + len(word)
			end := run(text, begin, "-._~+/=")
			if token := text[begin:end]; len(token) >= 20 && strings.ContainsAny(token, "0123456789") {
				found = append(found, span{begin, end})
			}
			from = end
		}
	}
	return found
}

// privateKeys finds PEM blocks of private keys, also numbered by line as tools
// show files, and cut ones.
func privateKeys(text string) []span {
	const begins, ends, kind, dashes = "-----BEGIN ", "-----END ", "PRIVATE KEY", "-----"
	const longestKey, leastRun = 16 << 10, 32
	var found []span
	for from := 0; ; {
		i := strings.Index(text[from:], begins)
		if i < 0 {
			return found
		}
		from += i + len(begins)
		label := strings.Index(text[from:min(len(text), from+64)], dashes)
		if label < 0 || !strings.Contains(text[from:from+label], kind) {
			continue
		}
		body := from + label + len(dashes)
		end := strings.Index(text[body:min(len(text), body+longestKey)], ends)
		if end >= 0 {
			end += body
		} else {
			end = body
			for end < len(text) && wordByte(text[end], "+/= \t\r\n:,|") {
				end++
			}
		}
		if longestRun(text[body:end]) >= leastRun {
			found = append(found, span{body, end})
			from = end
		}
	}
}

func longestRun(text string) int {
	longest := 0
	for i := 0; i < len(text); i++ {
		end := run(text, i, "+/=")
		longest = max(longest, end-i)
		i = end
	}
	return longest
}
