package prompt

import (
	"errors"
	"strings"
)

// frontMatter returns the top-level text fields between the --- lines a Markdown
// file begins with, and what stands behind them. It reads the part of YAML that
// such files use, leniently: KEY: VALUE, quotes, blocks (| and >) and values that
// go on in indented lines. Lists and nested fields are passed over, and of a key
// given twice the first one counts.
func frontMatter(text string) (fields map[string]string, body string, err error) {
	text = strings.ReplaceAll(text, "\r\n", "\n")
	rest, ok := strings.CutPrefix(strings.TrimLeft(text, "\n"), "---")
	line, rest, more := strings.Cut(rest, "\n")
	if !ok || strings.TrimSpace(line) != "" || !more {
		return nil, text, errors.New("it has no front matter: begin it with ---, name:, description: and ---")
	}
	lines := strings.Split(rest, "\n")
	end := -1
	for i, line := range lines {
		if l := strings.TrimRight(line, " \t"); l == "---" || l == "..." {
			end = i
			break
		}
	}
	if end < 0 {
		return nil, text, errors.New("its front matter has no end: put a line --- behind it")
	}
	fields = map[string]string{}
	for i := 0; i < end; {
		line := lines[i]
		i++
		next := i
		for next < end && (strings.TrimSpace(lines[next]) == "" || indented(lines[next])) {
			next++
		}
		key, value, ok := strings.Cut(line, ":")
		if key = strings.TrimSpace(key); !ok || key == "" || indented(line) || strings.HasPrefix(key, "#") || strings.HasPrefix(key, "-") {
			continue
		}
		if _, twice := fields[key]; !twice {
			fields[key] = scalar(strings.TrimSpace(value), lines[i:next])
		}
		i = next
	}
	return fields, strings.TrimLeft(strings.Join(lines[end+1:], "\n"), "\n"), nil
}

func indented(line string) bool { return strings.HasPrefix(line, " ") || strings.HasPrefix(line, "\t") }

// scalar is a value with the indented lines below it.
func scalar(first string, below []string) string {
	block := strings.HasPrefix(first, "|") || strings.HasPrefix(first, ">")
	if block {
		first = ""
	}
	words := []string{first}
	for _, line := range below {
		line = strings.TrimSpace(line)
		if !block && strings.HasPrefix(line, "#") {
			continue
		}
		words = append(words, line)
	}
	// Every text read here is shown in one line, so that line ends of a block are
	// as good as spaces.
	value := strings.Join(strings.Fields(strings.Join(words, " ")), " ")
	if block {
		return value
	}
	return unquoted(value)
}

// unquoted takes off quotes, or the remark behind a value without any.
func unquoted(value string) string {
	if len(value) > 1 {
		switch quote := value[0]; quote {
		case '"':
			if end := strings.LastIndexByte(value, quote); end > 0 {
				return strings.NewReplacer(`\"`, `"`, `\\`, `\`, `\n`, " ").Replace(value[1:end])
			}
		case '\'':
			if end := strings.LastIndexByte(value, quote); end > 0 {
				return strings.ReplaceAll(value[1:end], "''", "'")
			}
		}
	}
	if strings.HasPrefix(value, "#") {
		return ""
	}
	before, _, _ := strings.Cut(value, " #")
	return strings.TrimSpace(before)
}
