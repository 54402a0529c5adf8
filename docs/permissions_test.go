package docs_test

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"starling/trust/permit"
)

// TestPermissionsPage: every rule of docs/permissions.md is one, its rules.json is
// read, and it names every mode.
func TestPermissionsPage(t *testing.T) {
	text := page(t, "docs/permissions.md")
	shown := 0
	for _, cells := range rows(section(t, text, "Rules")) {
		for _, rule := range spans(cells[0]) {
			shown++
			if r, err := permit.ParseRule(rule); err != nil || r.String() != rule {
				t.Errorf("rule %q: read as %q, %v", rule, r, err)
			}
		}
	}
	if shown < 10 {
		t.Errorf("the table shows %d rules", shown)
	}
	flag := regexp.MustCompile(`--(?:allow|ask|deny) '([^']+)'`)
	flags := flag.FindAllStringSubmatch(text, -1)
	for _, m := range flags {
		if _, err := permit.ParseRule(m[1]); err != nil {
			t.Errorf("%s: %v", m[0], err)
		}
	}
	if len(flags) < 3 {
		t.Errorf("the page shows %d flags", len(flags))
	}

	var modes []string
	for _, cells := range rows(section(t, text, "Modes")) {
		modes = append(modes, strings.Trim(cells[0], "`"))
	}
	for _, m := range permit.Modes {
		if !slices.Contains(modes, string(m)) {
			t.Errorf("mode %s is not in the table", m)
		}
	}
	if len(modes) != len(permit.Modes) {
		t.Errorf("the table has the modes %q", modes)
	}

	for _, b := range blocks(text) {
		if b.lang != "json" {
			continue
		}
		file := filepath.Join(t.TempDir(), "rules.json")
		if err := os.WriteFile(file, []byte(b.text), 0o600); err != nil {
			t.Fatal(err)
		}
		r, err := permit.Load(file, "/home/me/project")
		if err != nil {
			t.Fatalf("line %d: %v", b.line, err)
		}
		if got := len(r.List()); got != 5 {
			t.Errorf("line %d: %d rules", b.line, got)
		}
	}
}
