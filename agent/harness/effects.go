package harness

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"

	"starling/script/discover"
	"starling/trust"
)

// effects says what a configuration file does, in the order it says so. All of it
// comes from the bytes that are asked about: the file may be another by now.
// words are those of the plugins there are, by name.
func effects(u unit, words map[string][]string) []string {
	if u.name == trust.UnitText {
		return textEffects(u.bundle)
	}
	data := u.bundle[filepath.Base(u.path)]
	if u.name == trust.UnitComposition {
		return rowEffects(u.path, data, words)
	}
	name := strings.TrimSuffix(filepath.Base(u.path), ".json")
	config, ok, errs := discover.ReadObject(u.path, data)
	var all []string
	if ok {
		all = configEffects(name, config, words)
	}
	return append(all, faults(errs)...)
}

func rowEffects(path string, data []byte, words map[string][]string) []string {
	rows, errs := discover.ReadRows(path, data)
	var all []string
	for _, row := range rows {
		if row.Disabled != nil && *row.Disabled {
			all = append(all, "switches off the plugin "+row.ID)
		}
		if row.Disabled != nil && !*row.Disabled {
			all = append(all, "switches on the plugin "+row.ID)
		}
		if row.URL != "" {
			all = append(all, "loads the plugin "+row.ID+" from "+row.URL)
		}
		if row.Config != nil {
			all = append(all, configEffects(row.ID, row.Config, words)...)
		}
		for _, key := range slices.Sorted(maps.Keys(row.Isolate)) {
			all = append(all, isolateEffect(row.ID, key, row.Isolate[key]))
		}
	}
	return append(all, faults(errs)...)
}

// configEffects shows every value: a command in the settings of a plugin that may
// start any is as good as code.
func configEffects(name string, config map[string]any, words map[string][]string) []string {
	head := "sets the settings of the plugin " + name
	have, known := words[name]
	have = slices.Compact(slices.Sorted(slices.Values(have)))
	switch {
	case !known:
		head += ", which is not there"
	case len(have) == 0:
		head += ", which touches nothing"
	default:
		head += ", which may use " + strings.Join(have, ", ")
	}
	all := []string{head}
	for _, key := range slices.Sorted(maps.Keys(config)) {
		all = append(all, fmt.Sprintf("  %s.%s = %s", name, key, jsonText(config[key])))
	}
	return all
}

func isolateEffect(id, key string, is discover.Isolation) string {
	switch {
	case is.Off:
		return fmt.Sprintf("takes the plugin %s out of its own realm of %s", id, key)
	case is.Realm == "":
		return fmt.Sprintf("isolates the plugin %s: it has %s to itself", id, key)
	}
	return fmt.Sprintf("isolates the plugin %s: it has %s in the realm %s", id, key, is.Realm)
}

// jsonText is a value on one line, as a person would write it.
func jsonText(v any) string {
	var out bytes.Buffer
	enc := json.NewEncoder(&out)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		return fmt.Sprintf("%v (no JSON: %v)", v, err)
	}
	return strings.TrimSuffix(out.String(), "\n")
}

func faults(errs []error) []string {
	var all []string
	for _, err := range errs {
		all = append(all, "does not apply: "+err.Error())
	}
	return all
}
