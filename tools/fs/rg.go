package fs

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp/syntax"
	"strings"
	"sync"
	"time"
	"unicode"
	"unicode/utf8"

	"starling/tools/fs/ignore"
)

// rg is used where it helps: for a pattern that has neither a longer text which
// every match holds nor an automaton, it leaves out the files in which no line can
// match. An automaton is faster than a second look at each name. Which files are
// looked at and which lines match is decided here, with it and without.

const (
	// rgFiles is how many files make it worth a process.
	rgFiles = 500
	// rgArguments is how many bytes of names one process gets.
	rgArguments = 512 << 10
	// rgTime ends a process that hangs; its files are searched without it.
	rgTime = 2 * time.Minute
	// weakNeedle is the length below which a text is in too many lines.
	weakNeedle = 3
	// fewFiles are opened one by one instead of by another walk.
	fewFiles = 1000
)

// rgFor returns the program for a pattern that it helps with, and the pattern in
// its words.
func (f *Files) rgFor(p *pattern) (program, words string) {
	if p.prog != nil && !f.rgAll || len(p.needles) > 0 && shortest(p.needles) >= weakNeedle || p.line.MatchString("") {
		return "", ""
	}
	words, ok := byteWords(p.tree)
	if !ok || words == "" {
		return "", ""
	}
	return f.program("rg"), words
}

// program finds a program outside of every folder the tools work on, "" when
// there is none.
func (f *Files) program(name string) string {
	for _, dir := range filepath.SplitList(envValue(f.opt.Env, "PATH")) {
		if !filepath.IsAbs(dir) {
			continue
		}
		path := filepath.Join(dir, name)
		real, err := filepath.EvalSymlinks(path)
		if err != nil {
			continue
		}
		info, err := os.Stat(real)
		if err != nil || !info.Mode().IsRegular() || info.Mode().Perm()&0o111 == 0 {
			continue
		}
		_, given, err1 := f.inside(path)
		_, led, err2 := f.inside(real)
		if err1 == nil && err2 == nil && given.jail == nil && led.jail == nil {
			return real
		}
	}
	return ""
}

// grepWith searches the files of a folder that the program does not leave out.
func (f *Files) grepWith(ctx context.Context, program, words string, at place, p *pattern, glob ignore.Glob, r *results) (*walked, error) {
	var mu sync.Mutex
	var paths []string
	over, err := f.walk(ctx, at, func(e *entry) bool {
		if path := e.path(); e.kind.IsRegular() && (glob == nil || glob.Match(path, false)) {
			mu.Lock()
			defer mu.Unlock()
			paths = append(paths, path)
		}
		return true
	})
	if err != nil {
		return nil, err
	}
	if len(paths) >= f.rgFrom {
		paths = candidates(ctx, program, words, at.abs, paths)
	}
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	if len(paths) > fewFiles {
		want := make(map[string]bool, len(paths))
		for _, path := range paths {
			want[path] = true
		}
		_, err := f.scanWalk(ctx, at, p, r, func(e *entry) bool { return want[e.path()] })
		return over, err
	}
	s := scanner{p: p, limit: r.limit}
	for _, path := range paths {
		file, err := at.jail.Open(filepath.Join(at.rel, path))
		if err != nil {
			continue // it went away, or is none of ours any more
		}
		err = s.scan(ctx, file)
		_ = file.Close()
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		if err == nil {
			r.add(path, s.found, s.count)
		}
	}
	return over, nil
}

// candidates returns the files the program finds something in. Those it could
// not search are among them.
func candidates(ctx context.Context, program, words, dir string, paths []string) []string {
	var out []string
	for len(paths) > 0 {
		n, size := 0, 0
		for n < len(paths) && size < rgArguments {
			size += len(paths[n]) + 16
			n++
		}
		hits, err := runRg(ctx, program, words, dir, paths[:n])
		if err != nil {
			hits = paths[:n]
		}
		out, paths = append(out, hits...), paths[n:]
	}
	return out
}

func runRg(ctx context.Context, program, words, dir string, paths []string) ([]string, error) {
	ctx, cancel := context.WithTimeout(ctx, rgTime)
	defer cancel()
	cmd := exec.CommandContext(ctx, program, "--no-config", "--no-messages", "--no-ignore", "--files-with-matches", "--null",
		"--text", "--no-unicode", "--no-mmap", "--encoding=none", "--regexp="+words, "--")
	cmd.Args[0] = "rg"
	for _, path := range paths {
		cmd.Args = append(cmd.Args, "./"+path)
	}
	cmd.Dir, cmd.Env, cmd.WaitDelay = dir, []string{"LC_ALL=C"}, time.Second
	out, err := cmd.Output()
	var exit *exec.ExitError
	if errors.As(err, &exit) && exit.ExitCode() == 1 && len(out) == 0 {
		return nil, nil // nothing matches
	}
	if err != nil {
		return nil, err
	}
	var hits []string
	for path := range bytes.SplitSeq(bytes.TrimSuffix(out, []byte{0}), []byte{0}) {
		hits = append(hits, strings.TrimPrefix(string(path), "./"))
	}
	return hits, nil
}

// byteWords says a tree in terms of bytes, so that it matches at least in every
// line in which the tree does; false when that cannot be said. Whatever is not
// ASCII is any bytes that are not.
func byteWords(re *syntax.Regexp) (string, bool) {
	const other = `[\x80-\xff]{1,4}`
	switch re.Op {
	case syntax.OpEmptyMatch, syntax.OpBeginLine, syntax.OpEndLine, syntax.OpBeginText, syntax.OpEndText,
		syntax.OpWordBoundary, syntax.OpNoWordBoundary:
		return "", true
	case syntax.OpAnyChar, syntax.OpAnyCharNotNL:
		return `[^\n]{1,4}`, true
	case syntax.OpLiteral:
		var b strings.Builder
		for _, r := range re.Rune {
			b.WriteString(runeWords(r, re.Flags&syntax.FoldCase != 0, other))
		}
		return b.String(), true
	case syntax.OpCharClass:
		var b strings.Builder
		wide := false
		for i := 0; i+1 < len(re.Rune); i += 2 {
			wide = wide || re.Rune[i+1] >= utf8.RuneSelf
			for r := re.Rune[i]; r <= min(re.Rune[i+1], unicode.MaxASCII); r++ {
				if r != '\n' {
					fmt.Fprintf(&b, `\x%02x`, r)
				}
			}
		}
		switch {
		case b.Len() > 0 && wide:
			return "(?:[" + b.String() + "]|" + other + ")", true
		case b.Len() > 0:
			return "[" + b.String() + "]", true
		}
		return other, wide
	case syntax.OpCapture, syntax.OpStar, syntax.OpPlus, syntax.OpQuest, syntax.OpRepeat:
		sub, ok := byteWords(re.Sub[0])
		return "(?:" + sub + ")" + repeatWords(re), ok
	case syntax.OpConcat, syntax.OpAlternate:
		parts := make([]string, len(re.Sub))
		for i, sub := range re.Sub {
			var ok bool
			if parts[i], ok = byteWords(sub); !ok {
				return "", false
			}
		}
		if re.Op == syntax.OpAlternate {
			return "(?:" + strings.Join(parts, "|") + ")", true
		}
		return strings.Join(parts, ""), true
	}
	return "", false
}

func runeWords(r rune, fold bool, other string) string {
	if r >= utf8.RuneSelf {
		return other
	}
	if !fold {
		return fmt.Sprintf(`\x%02x`, r)
	}
	class := ""
	wide := false
	for at := unicode.SimpleFold(r); ; at = unicode.SimpleFold(at) {
		if at < utf8.RuneSelf {
			class += fmt.Sprintf(`\x%02x`, at)
		} else {
			wide = true
		}
		if at == r {
			break
		}
	}
	if wide {
		return "(?:[" + class + "]|" + other + ")"
	}
	return "[" + class + "]"
}

func repeatWords(re *syntax.Regexp) string {
	switch {
	case re.Op == syntax.OpStar:
		return "*"
	case re.Op == syntax.OpPlus:
		return "+"
	case re.Op == syntax.OpQuest:
		return "?"
	case re.Op == syntax.OpRepeat && re.Max < 0:
		return fmt.Sprintf("{%d,}", re.Min)
	case re.Op == syntax.OpRepeat:
		return fmt.Sprintf("{%d,%d}", re.Min, re.Max)
	}
	return ""
}
