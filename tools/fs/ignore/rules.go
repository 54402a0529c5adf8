package ignore

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"syscall"

	"starling/trust"
)

// maxFile is how many bytes of an ignore file are read.
const maxFile = 4 << 20

// Rules are the patterns that hold in one folder and below it. The zero value,
// and nil, ignore nothing.
type Rules struct {
	up       *Rules // of what is above, and weaker
	base     string // the folder of these, relative to the top; "" for the top
	patterns []pattern
}

// Person is where git keeps what somebody never wants to see.
type Person struct {
	Home   string // for ~/.gitconfig; "" for nobody
	Config string // the folder of configurations; "" for ~/.config
}

// Ignored tells about a file by its path from the top (slashes between parts):
// the last pattern of the nearest ignore file that names it decides. It says
// nothing about the folders above it: in an ignored one nothing is looked at.
func (r *Rules) Ignored(path string, isDir bool) bool {
	base := path[strings.LastIndexByte(path, '/')+1:]
	for ; r != nil; r = r.up {
		below := path
		if r.base != "" {
			rest, ok := strings.CutPrefix(path, r.base+"/")
			if !ok {
				continue
			}
			below = rest
		}
		for i := len(r.patterns) - 1; i >= 0; i-- {
			if p := &r.patterns[i]; p.matches(below, base, isDir) {
				return !p.negated
			}
		}
	}
	return false
}

// With returns the rules together with those of the ignore file of a folder,
// named by its path from the top, "" for the top.
func (r *Rules) With(dir string, content []byte) *Rules {
	patterns := parseFile(content)
	if len(patterns) == 0 {
		return r
	}
	return &Rules{up: r, base: dir, patterns: patterns}
}

// Load returns the rules that hold in dir, an absolute path with its links
// followed, and the path of dir from the top. The top is the repository dir lies
// in; where there is none it is fallback, a folder at or above dir. The ignore
// file of dir itself is not among them.
func Load(dir, fallback string, who Person) (rules *Rules, path string) {
	top := Repository(dir)
	if top == "" {
		top = fallback
	}
	rel, err := filepath.Rel(top, dir)
	if err != nil || rel == ".." || strings.HasPrefix(rel, "../") {
		top, rel = dir, "."
	}
	rules = Top(top, who)
	if rel == "." {
		return rules, ""
	}
	at := ""
	for _, part := range strings.Split(rel, "/") {
		rules = rules.With(at, read(filepath.Join(top, at, ".gitignore")))
		at = strings.TrimPrefix(at+"/"+part, "/")
	}
	return rules, at
}

// Top returns the rules of a repository that are in none of its folders.
func Top(dir string, who Person) *Rules {
	var rules *Rules
	git := gitDir(dir)
	if file := who.excludes(git); file != "" {
		rules = rules.With("", read(file))
	}
	if git != "" {
		rules = rules.With("", read(filepath.Join(git, "info", "exclude")))
	}
	return rules
}

// Repository returns the nearest folder at or above dir that is the top of a
// repository, "" for none.
func Repository(dir string) string {
	for {
		if gitDir(dir) != "" {
			return dir
		}
		up := filepath.Dir(dir)
		if up == dir {
			return ""
		}
		dir = up
	}
}

// gitDir returns the folder where a repository with its top at dir keeps what its
// work trees share; "" when dir is no top.
func gitDir(dir string) string {
	git := filepath.Join(dir, ".git")
	info, err := os.Lstat(git)
	if err != nil {
		return ""
	}
	if !info.IsDir() {
		to, ok := strings.CutPrefix(string(read(git)), "gitdir: ")
		if !ok {
			return ""
		}
		git = strings.TrimRight(to, "\r\n")
		if !filepath.IsAbs(git) {
			git = filepath.Join(dir, git)
		}
	}
	if _, err := os.Lstat(filepath.Join(git, "HEAD")); err != nil {
		return ""
	}
	if common := strings.TrimRight(string(read(filepath.Join(git, "commondir"))), "\r\n"); common != "" {
		if !filepath.IsAbs(common) {
			common = filepath.Join(git, common)
		}
		return common
	}
	return git
}

// excludes is the person's own ignore file, as the configuration names it.
func (p Person) excludes(git string) string {
	config := p.Config
	if config == "" && p.Home != "" {
		config = filepath.Join(p.Home, ".config")
	}
	file := ""
	if config != "" {
		file = filepath.Join(config, "git", "ignore")
	}
	var places []string
	if config != "" {
		places = append(places, filepath.Join(config, "git", "config"))
	}
	if p.Home != "" {
		places = append(places, filepath.Join(p.Home, ".gitconfig"))
	}
	if git != "" {
		places = append(places, filepath.Join(git, "config"))
	}
	for _, place := range places {
		if value, ok := excludesFile(string(read(place))); ok {
			file = value
		}
	}
	if rest, ok := strings.CutPrefix(file, "~/"); ok {
		if p.Home == "" {
			return ""
		}
		return filepath.Join(p.Home, rest)
	}
	if !filepath.IsAbs(file) {
		return ""
	}
	return file
}

// excludesFile looks for core.excludesFile in a configuration.
func excludesFile(config string) (value string, ok bool) {
	core := false
	for line := range strings.Lines(config) {
		line = strings.TrimSpace(line)
		if strings.HasPrefix(line, "[") {
			name, rest, _ := strings.Cut(line[1:], "]")
			core = strings.EqualFold(strings.TrimSpace(name), "core")
			line = strings.TrimSpace(rest)
		}
		key, v, has := strings.Cut(line, "=")
		if core && has && strings.EqualFold(strings.TrimSpace(key), "excludesfile") {
			value, ok = unquote(strings.TrimSpace(v)), true
		}
	}
	return value, ok
}

// unquote reads a value of a configuration: quotes, escapes, comments.
func unquote(v string) string {
	var b strings.Builder
	quoted := false
	for i := 0; i < len(v); i++ {
		switch c := v[i]; {
		case c == '"':
			quoted = !quoted
		case c == '\\' && i+1 < len(v):
			i++
			b.WriteByte(v[i])
		case (c == '#' || c == ';') && !quoted:
			return strings.TrimRight(b.String(), " \t")
		default:
			b.WriteByte(c)
		}
	}
	return b.String()
}

// read returns the content of a regular file that is no link, nil when there is
// none. git takes no link for an ignore file either.
func read(path string) []byte {
	f, err := trust.OpenRegular(path, os.O_RDONLY|syscall.O_NOFOLLOW, 0)
	if err != nil {
		return nil
	}
	defer f.Close()
	return Content(f)
}

// Content reads an open ignore file, nil when it is no regular file.
func Content(f *os.File) []byte {
	info, err := f.Stat()
	if err != nil || !info.Mode().IsRegular() {
		return nil
	}
	content, err := io.ReadAll(io.LimitReader(f, maxFile))
	if err != nil {
		return nil
	}
	return content
}

// Glob is a list of patterns as an ignore file has them, of which one must match.
type Glob []pattern

// CompileGlob reads a glob: one with a slash is about the whole path, one without
// about its last part; ** stands for any folders, {a,b} for one or the other.
func CompileGlob(text string) (Glob, error) {
	if text == "" {
		return nil, errors.New("the glob is empty")
	}
	const most = 256
	all, ok := braces(text, most)
	if !ok {
		return nil, fmt.Errorf("glob %q: more than %d alternatives in braces", text, most)
	}
	var out Glob
	for _, one := range all {
		negated := strings.HasPrefix(one, "!")
		if negated {
			one = `\` + one // a name that starts with one; not an exception
		}
		p, ok := parse(strings.TrimPrefix(one, "./"))
		if !ok {
			return nil, fmt.Errorf(`glob %q: an open bracket or a last backslash; escape it with \`, text)
		}
		out = append(out, p)
	}
	return out, nil
}

// Match tells about a path with slashes between its parts.
func (g Glob) Match(path string, isDir bool) bool {
	base := path[strings.LastIndexByte(path, '/')+1:]
	for i := range g {
		if g[i].matches(path, base, isDir) {
			return true
		}
	}
	return false
}

// braces expands {a,b}; false when that makes more than most. What is no list of
// alternatives is left as it is.
func braces(text string, most int) ([]string, bool) {
	out := []string{text}
	for i := 0; i < len(out); {
		if len(out) > most {
			return nil, false
		}
		from, to, options := firstBraces(out[i])
		if options == nil {
			i++
			continue
		}
		expanded := make([]string, len(options))
		for n, o := range options {
			expanded[n] = out[i][:from] + o + out[i][to:]
		}
		out = append(append(append([]string{}, out[:i]...), expanded...), out[i+1:]...)
	}
	return out, true
}

// firstBraces finds the first list of alternatives and its parts.
func firstBraces(text string) (from, to int, options []string) {
	for i := 0; i < len(text); i++ {
		if text[i] == '\\' {
			i++
			continue
		}
		if text[i] != '{' {
			continue
		}
		depth, start := 0, i+1
		var parts []string
		for j := i; j < len(text); j++ {
			switch text[j] {
			case '\\':
				j++
			case '{':
				depth++
			case ',':
				if depth == 1 {
					parts = append(parts, text[start:j])
					start = j + 1
				}
			case '}':
				if depth--; depth == 0 {
					if parts == nil {
						j = len(text)
						break
					}
					return i, j + 1, append(parts, text[start:j])
				}
			}
		}
	}
	return 0, 0, nil
}
