// Package docs_test keeps the pages of this folder true: what they show is loaded,
// what they name exists, and what exists is named.
package docs_test

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// page returns the text of a page, by its path from the root of the repository.
func page(t *testing.T, path string) string {
	t.Helper()
	data, err := os.ReadFile(filepath.Join("..", filepath.FromSlash(path)))
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

// section returns the text below a heading of level two, up to the next one.
func section(t *testing.T, text, heading string) string {
	t.Helper()
	_, rest, ok := strings.Cut(text, "\n## "+heading+"\n")
	if !ok {
		t.Fatalf("there is no section %q", heading)
	}
	body, _, _ := strings.Cut(rest, "\n## ")
	return body
}

// rows returns the cells of every table row in text, headers and rules left out.
func rows(text string) [][]string {
	var all [][]string
	lines := strings.Split(text, "\n")
	for i, line := range lines {
		header := i+1 < len(lines) && strings.HasPrefix(lines[i+1], "| ---")
		if !strings.HasPrefix(line, "| ") || strings.HasPrefix(line, "| ---") || header {
			continue
		}
		var cells []string
		for _, cell := range strings.Split(strings.Trim(line, "|"), "|") {
			cells = append(cells, strings.TrimSpace(cell))
		}
		all = append(all, cells)
	}
	return all
}

var codeSpan = regexp.MustCompile("`([^`]+)`")

// prose is a text without its fenced blocks, line breaks as spaces: a code span may
// be broken over two lines.
func prose(text string) string {
	var lines []string
	inside := false
	for _, line := range strings.Split(text, "\n") {
		if strings.HasPrefix(line, "```") {
			inside = !inside
		} else if !inside {
			lines = append(lines, strings.TrimSpace(line))
		}
	}
	return strings.Join(lines, " ")
}

// spans returns the code spans of a text.
func spans(text string) []string {
	var all []string
	for _, m := range codeSpan.FindAllStringSubmatch(prose(text), -1) {
		all = append(all, m[1])
	}
	return all
}

// block is one fenced block of a page.
type block struct {
	lang, text string
	line       int // of its first line, from 1
}

// blocks returns the fenced blocks of a text.
func blocks(text string) []block {
	var all []block
	inside := false
	for i, line := range strings.Split(text, "\n") {
		lang, fence := strings.CutPrefix(line, "```")
		switch {
		case fence && inside:
			inside = false
		case fence:
			inside = true
			all = append(all, block{lang: lang, line: i + 2})
		case inside:
			all[len(all)-1].text += line + "\n"
		}
	}
	return all
}

var link = regexp.MustCompile(`\]\(([^)#\s]+)(#[^)\s]*)?\)`)

// pages are every page a person reads, by path from the root.
func pages(t *testing.T) []string {
	t.Helper()
	list := []string{"README.md", "AGENTS.md", "CHANGELOG.md"}
	for _, pattern := range []string{"*.md", "decisions/*.md"} {
		found, err := filepath.Glob(pattern)
		if err != nil {
			t.Fatal(err)
		}
		for _, p := range found {
			list = append(list, "docs/"+filepath.ToSlash(p))
		}
	}
	return list
}

// TestLinks: a page links only to what is there.
func TestLinks(t *testing.T) {
	checked := 0
	for _, name := range pages(t) {
		for _, m := range link.FindAllStringSubmatch(page(t, name), -1) {
			if strings.Contains(m[1], "://") {
				continue
			}
			checked++
			if _, err := os.Stat(filepath.Join("..", filepath.Dir(filepath.FromSlash(name)), filepath.FromSlash(m[1]))); err != nil {
				t.Errorf("%s links to %s: %v", name, m[1], err)
			}
		}
	}
	if checked < 5 {
		t.Fatalf("only %d links were seen", checked)
	}
}

// TestDecisions: one page each, at most, with context, choice and cost.
func TestDecisions(t *testing.T) {
	number := regexp.MustCompile(`^docs/decisions/(\d{4})-[a-z0-9-]+\.md$`)
	seen := map[string]bool{}
	for _, name := range pages(t) {
		if !strings.HasPrefix(name, "docs/decisions/") {
			continue
		}
		m := number.FindStringSubmatch(name)
		if m == nil {
			t.Errorf("%s: a decision is called NNNN-words.md", name)
			continue
		}
		if seen[m[1]] {
			t.Errorf("%s: the number is taken", name)
		}
		seen[m[1]] = true
		text := page(t, name)
		if !strings.HasPrefix(text, "# "+m[1]+" ") {
			t.Errorf("%s does not begin with its number", name)
		}
		for _, part := range []string{"**Context.**", "**Choice.**", "**Cost.**"} {
			if !strings.Contains(text, part) {
				t.Errorf("%s has no %s", name, part)
			}
		}
		if n := strings.Count(text, "\n"); n > 60 {
			t.Errorf("%s has %d lines, more than a page", name, n)
		}
	}
	if len(seen) < 3 {
		t.Fatalf("only %d decisions were seen", len(seen))
	}
}

// TestDependencies: every direct dependency has its line in decision 0004.
func TestDependencies(t *testing.T) {
	text := page(t, "docs/decisions/0004-dependencies.md")
	for _, line := range strings.Split(page(t, "go.mod"), "\n") {
		fields := strings.Fields(strings.TrimPrefix(line, "require "))
		if len(fields) < 2 || !strings.Contains(fields[0], ".") || !strings.HasPrefix(fields[1], "v") || strings.Contains(line, "// indirect") {
			continue
		}
		if !strings.Contains(text, "`"+fields[0]+"`") {
			t.Errorf("%s has no line in decision 0004", fields[0])
		}
	}
}
