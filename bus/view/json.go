package view

import "strings"

// ReadableJSON writes out the characters that encoders escape for web pages: < is no
// \u003c for a person. What is no JSON comes back with the same replacements.
func ReadableJSON(text string) string {
	if !strings.Contains(text, `\u00`) {
		return text
	}
	var b strings.Builder
	for i := 0; i < len(text); i++ {
		if text[i] != '\\' || i+1 == len(text) {
			b.WriteByte(text[i])
			continue
		}
		if i+6 <= len(text) {
			if c := escaped[strings.ToLower(text[i:i+6])]; c != "" {
				b.WriteString(c)
				i += 5
				continue
			}
		}
		b.WriteString(text[i : i+2]) // a backslash that is escaped begins nothing
		i++
	}
	return b.String()
}

var escaped = map[string]string{`\u003c`: "<", `\u003e`: ">", `\u0026`: "&"}
