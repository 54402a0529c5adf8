package docs_test

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
	"testing"

	"starling/agent/model"
)

const modelsPage = "docs/models.md"

// TestModelsFile: the file the page shows is read without a fault.
func TestModelsFile(t *testing.T) {
	seen := 0
	for _, b := range blocks(page(t, modelsPage)) {
		if b.lang != "json" {
			continue
		}
		seen++
		models, err := model.Parse("models.json", []byte(b.text))
		if err != nil {
			t.Errorf("line %d: %v", b.line, err)
		}
		if want := strings.Count(b.text, `"id"`); len(models) != want {
			t.Errorf("line %d: %d models of %d", b.line, len(models), want)
		}
	}
	if seen == 0 {
		t.Fatal("the page shows no file")
	}
}

// known asks the reader of models.json which fields there are: it names them to
// who writes another one.
func known(t *testing.T, file string) []string {
	t.Helper()
	_, err := model.Parse("models.json", []byte(file))
	if err == nil {
		t.Fatal("a field that is not there was accepted")
	}
	_, list, ok := strings.Cut(err.Error(), "there are ")
	if !ok {
		t.Fatalf("the error names no fields: %v", err)
	}
	names := strings.Split(list, ", ")
	slices.Sort(names)
	return names
}

// named returns the code spans of the first column below a header.
func named(t *testing.T, header string) []string {
	t.Helper()
	_, text, ok := strings.Cut(page(t, modelsPage), "| "+header+" |")
	if !ok {
		t.Fatalf("there is no table %q", header)
	}
	text, _, _ = strings.Cut(text, "\n\n")
	var names []string
	for _, cells := range rows(text) {
		names = append(names, spans(cells[0])...)
	}
	slices.Sort(names)
	return names
}

// TestModelFields: the tables have every field of models.json, and none besides.
func TestModelFields(t *testing.T) {
	const with = `{"version": 1, "models": [{"id": "m", "base_url": "http://h/v1", %s}]}`
	if got, want := named(t, "field"), known(t, fmt.Sprintf(with, `"zz": 1`)); !slices.Equal(got, want) {
		t.Errorf("fields %q, want %q", got, want)
	}
	if got, want := named(t, "field of compat"), known(t, fmt.Sprintf(with, `"compat": {"zz": 1}`)); !slices.Equal(got, want) {
		t.Errorf("fields of compat %q, want %q", got, want)
	}
}

// TestCompatValues: every value the page names is one.
func TestCompatValues(t *testing.T) {
	word := regexp.MustCompile(`^[a-z_]+$`)
	checked := 0
	_, text, _ := strings.Cut(page(t, modelsPage), "| field of compat |")
	for _, cells := range rows(text) {
		for _, value := range spans(cells[1]) {
			if name := spans(cells[0])[0]; word.MatchString(value) && value != "reasoning_details" {
				checked++
				file := fmt.Sprintf(`{"version": 1, "models": [{"id": "m", "base_url": "http://h/v1", "compat": {%q: %q}}]}`, name, value)
				if _, err := model.Parse("models.json", []byte(file)); err != nil {
					t.Error(err)
				}
			}
		}
	}
	if checked < 15 {
		t.Fatalf("only %d values were seen", checked)
	}
	for _, profile := range model.Profiles() {
		if !slices.Contains(spans(section(t, page(t, modelsPage), "models.json")), profile) {
			t.Errorf("the profile %s is not mentioned", profile)
		}
	}
}

// TestKnownProviders: with all variables set the table is the order of choice: each
// row is chosen once those above it are not set.
func TestKnownProviders(t *testing.T) {
	vars := map[string]string{}
	var order [][]string
	text, _, _ := strings.Cut(page(t, modelsPage), "\n## ")
	for _, cells := range rows(text) {
		row := spans(strings.Join(cells, " "))
		order = append(order, row)
		vars[row[1]] = "key"
	}
	if len(order) < 3 {
		t.Fatalf("only %d providers were seen", len(order))
	}
	for _, row := range order {
		left := maps.Clone(vars)
		m, _, ok := model.FromEnvironment(func(name string) string { return left[name] })
		if !ok || m.FullName() != row[0]+"/"+row[2] {
			t.Errorf("%q: got %s", row, m.FullName())
		}
		delete(vars, row[1])
	}
	if m, _, ok := model.FromEnvironment(func(name string) string {
		if strings.HasSuffix(name, "_API_KEY") && !slices.ContainsFunc(order, func(row []string) bool { return row[1] == name }) {
			return "key"
		}
		return ""
	}); ok {
		t.Errorf("%s is known and is not in the table", m.FullName())
	}
}
