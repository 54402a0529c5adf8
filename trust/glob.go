package trust

import (
	"errors"
	"fmt"
	"path"
	"strings"
	"unicode/utf8"
)

// Globs of capability words: * is any text within one part of a path, ? one
// character, [a-z] one of a class ([!a-z] one outside it), and a part that is
// ** any number of parts; at the end, at least one. A leading dot is nothing
// special. Without escapes, [*] is a star that means itself.

const wildcards = "*?["

func hasWildcard(s string) bool { return strings.ContainsAny(s, wildcards) }

// quoteGlob makes a glob that matches name alone.
func quoteGlob(name string) string {
	return strings.NewReplacer("[", "[[]", "*", "[*]", "?", "[?]").Replace(name)
}

// matchPath matches a slash-separated path against a checked glob.
func matchPath(glob, name string) bool {
	if name == "" {
		return glob == ""
	}
	parts, names := strings.Split(glob, "/"), strings.Split(name, "/")
	// reached[j]: the parts so far match the first j names.
	reached := make([]bool, len(names)+1)
	reached[0] = true
	for i, part := range parts {
		next := make([]bool, len(names)+1)
		for j := range next {
			switch {
			case part == "**" && i == len(parts)-1:
				next[j] = j > 0 && (reached[j-1] || next[j-1])
			case part == "**":
				next[j] = reached[j] || j > 0 && next[j-1]
			default:
				next[j] = j > 0 && reached[j-1] && matchPart(part, names[j-1])
			}
		}
		reached = next
	}
	return reached[len(names)]
}

// matchPart matches one part. It goes back to the last star only, so its time
// is at most the product of both lengths.
func matchPart(glob, name string) bool {
	g, n := 0, 0
	star, from := -1, 0
	for n < len(name) {
		if g < len(glob) && glob[g] == '*' {
			star, from = g, n
			g++
			continue
		}
		if wideG, wideN, ok := matchOne(glob[g:], name[n:]); ok {
			g, n = g+wideG, n+wideN
			continue
		}
		if star < 0 {
			return false
		}
		_, wide := utf8.DecodeRuneInString(name[from:])
		from += wide
		g, n = star+1, from
	}
	return strings.Trim(glob[g:], "*") == ""
}

// matchOne matches the first character of name and returns how many bytes of
// both that took.
func matchOne(glob, name string) (wideGlob, wideName int, ok bool) {
	if glob == "" {
		return 0, 0, false
	}
	if c := glob[0]; c < utf8.RuneSelf && c != '?' && c != '[' {
		return 1, 1, name[0] == c
	}
	r, wide := utf8.DecodeRuneInString(name)
	switch glob[0] {
	case '?':
		return 1, wide, true
	case '[':
		c, size, err := parseClass(glob)
		return size, wide, err == nil && c.holds(r)
	}
	_, want := utf8.DecodeRuneInString(glob)
	return want, wide, glob[:want] == name[:wide]
}

// class is the set between brackets.
type class struct {
	not    bool
	ranges [][2]rune
}

func (c class) holds(r rune) bool {
	for _, pair := range c.ranges {
		if pair[0] <= r && r <= pair[1] {
			return !c.not
		}
	}
	return c.not
}

var errClass = errors.New(`"[" opens a class such as [a-z] that is not closed or is empty; "[[]" means the bracket itself`)

// parseClass reads a class at the start of glob and returns its length in bytes.
// A closing bracket that comes first belongs to the class.
func parseClass(glob string) (c class, size int, err error) {
	rest := glob[1:]
	if strings.HasPrefix(rest, "!") || strings.HasPrefix(rest, "^") {
		c.not, rest = true, rest[1:]
	}
	for first := true; ; first = false {
		if rest == "" {
			return c, 0, errClass
		}
		if rest[0] == ']' && !first {
			return c, len(glob) - len(rest) + 1, nil
		}
		low, wide := utf8.DecodeRuneInString(rest)
		rest = rest[wide:]
		high := low
		if len(rest) >= 2 && rest[0] == '-' && rest[1] != ']' {
			high, wide = utf8.DecodeRuneInString(rest[1:])
			rest = rest[1+wide:]
		}
		if high < low {
			return c, 0, fmt.Errorf("[%c-%c] runs backwards", low, high)
		}
		c.ranges = append(c.ranges, [2]rune{low, high})
	}
}

// checkPathGlob vets the scope of a path word. Errors say what to write.
func checkPathGlob(scope string) error {
	rest := scope
	switch {
	case scope == "~" || scope == "~/" || scope == "/":
		return fmt.Errorf("for everything below it write %q", strings.TrimSuffix(scope, "/")+"/**")
	case strings.HasPrefix(scope, "~/"):
		rest = scope[2:]
	case strings.HasPrefix(scope, "~"):
		return errors.New(`only "~/", your own home, can be named`)
	case strings.HasPrefix(scope, "/"):
		rest = scope[1:]
	}
	if strings.Contains(scope, `\`) {
		return errors.New(`parts of a path are parted by "/"; "[*]" is a star that means itself`)
	}
	if strings.HasSuffix(rest, "/") {
		return fmt.Errorf("for everything below it write %q", strings.TrimRight(scope, "/")+"/**")
	}
	for _, part := range strings.Split(rest, "/") {
		switch {
		case part == "..":
			return errors.New(`".." is refused: name the place with "~/" or "/"`)
		case part == "" || part == ".":
			return fmt.Errorf("write %q", cleanScope(scope))
		case part != "**" && strings.Contains(part, "**"):
			return errors.New(`"**" stands for whole parts of a path, as in "docs/**"`)
		}
		if err := checkPart(part); err != nil {
			return err
		}
	}
	return nil
}

func cleanScope(scope string) string {
	if cleaned := path.Clean(scope); cleaned != "." {
		return cleaned
	}
	return "**"
}

func checkPart(part string) error {
	for part != "" {
		size := 1
		if part[0] == '[' {
			var err error
			if _, size, err = parseClass(part); err != nil {
				return err
			}
		}
		part = part[size:]
	}
	return nil
}
