package script

import (
	"fmt"
	"strings"

	"starling/bus/event"
	"starling/bus/spec"
	"starling/script/value"
	"starling/surfaces"
	"starling/trust"
)

// MaxName is the longest name of a plugin, in bytes.
const MaxName = 40

// CheckName tells what is wrong with the name of a plugin: it is made of ASCII
// letters, digits and . _ - and does not begin with a dot.
func CheckName(name string) error {
	switch {
	case name == "":
		return fmt.Errorf("a plugin needs a name")
	case len(name) > MaxName:
		return fmt.Errorf("the name %q is longer than %d characters", value.Clip(name, MaxName), MaxName)
	case name[0] == '.':
		return fmt.Errorf("the name %q begins with a dot", name)
	}
	if i := strings.IndexFunc(name, notNameRune); i >= 0 {
		return fmt.Errorf("the name %q may hold letters, digits, '.', '_' and '-' only", name)
	}
	return nil
}

func notNameRune(r rune) bool {
	letter := r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9'
	return !letter && r != '.' && r != '_' && r != '-'
}

func checkKey(key string) error {
	if key == "" || len(key) > MaxName || strings.IndexFunc(key, notNameRune) >= 0 {
		return fmt.Errorf("%q is no service key: letters, digits, '.', '_' and '-', at most %d", key, MaxName)
	}
	return nil
}

func checkInject(key string) error { return checkKey(strings.TrimSuffix(key, "?")) }

func checkProvides(key string) error {
	if err := checkKey(key); err != nil {
		return err
	}
	for _, host := range spec.HostKeys {
		if key == host {
			return fmt.Errorf("the service %q belongs to the host", key)
		}
	}
	return nil
}

// CheckEventName tells what is wrong with the name of a custom event.
func CheckEventName(name string) error {
	for _, part := range strings.Split(name, "/") {
		if checkKey(part) != nil {
			return fmt.Errorf("%q is no event name: words of letters, digits, '.', '_' and '-' parted by '/', such as \"notes/changed\"", name)
		}
	}
	if event.InFamily(name) {
		return fmt.Errorf("%q lies in a family of the host; only the host announces it", name)
	}
	return nil
}

// checkWord tells what is wrong with one entry of uses.
func checkWord(entry string) error {
	_, err := trust.ParseWord(entry)
	return err
}

func unknown(what, name string, known []string) error {
	if n := surfaces.Nearest(name, known); n != "" {
		return fmt.Errorf("unknown %s %q (did you mean %q?)", what, name, n)
	}
	return fmt.Errorf("unknown %s %q (known: %s)", what, name, strings.Join(known, ", "))
}

func unknownKey(name string, known []string) error { return unknown("key", name, known) }
