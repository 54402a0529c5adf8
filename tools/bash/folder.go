package bash

import (
	"encoding/json"
	"fmt"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"

	"golang.org/x/sys/unix"

	"starling/bus/chat"
	"starling/tools/shell"
)

// judge returns the folder a line would run in now, and holds the call that follows
// to it: what Read was asked about is what runs, also when a call beside it, which
// was judged with it, moves on first.
func (b *Bash) judge(line string) string {
	b.mu.Lock()
	defer b.mu.Unlock()
	// A judgement after calls ended is of the next reply.
	if b.ran && b.running == 0 || len(b.judged) >= mostJudged {
		b.judged, b.ran = nil, false
	}
	if b.judged == nil {
		b.judged = map[string]string{}
	}
	dir := b.where()
	b.judged[line] = dir
	return dir
}

// mostJudged bounds the lines that are remembered; more are in no reply.
const mostJudged = 1 << 10

// where is the kept folder, or the workspace root when that cannot be used.
func (b *Bash) where() string {
	if b.usable(b.cwd) {
		return b.cwd
	}
	return b.roots[0]
}

// usable tells whether a command can run in a folder: it is there, still leads where
// it did, and can be entered.
func (b *Bash) usable(dir string) bool {
	return resolved(dir) == dir && b.inside(dir) && isDir(dir) && unix.Access(dir, unix.X_OK) == nil
}

// start returns the folder a command runs in. A kept folder that is gone, was made
// a link out of the workspace or cannot be entered any more is given up: a note
// says so. Without a workspace root nothing can run. After a start without an error
// comes end.
func (b *Bash) start(line string) (dir, note string, err error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	dir, judged := b.judged[line]
	if !judged {
		dir = b.where()
	}
	if b.cwd != b.roots[0] && !b.usable(b.cwd) {
		if dir == b.roots[0] {
			note = fmt.Sprintf("the folder %s is gone: this ran in the workspace root, and so does the next", b.shown(b.cwd))
		}
		b.cwd = b.roots[0]
	}
	switch {
	case dir == b.roots[0] && !isDir(dir):
		return "", "", fmt.Errorf("the workspace folder %s is gone, so no command can run: make it again, or start starling in a folder that exists", dir)
	case dir != b.roots[0] && !b.usable(dir):
		return "", "", fmt.Errorf("the folder %s went away after this call was checked, so it did not run: call it again and it runs in %s", b.shown(dir), b.shown(b.cwd))
	}
	b.ran = true
	b.running++
	return dir, note, nil
}

func (b *Bash) end() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.running--
}

// Restore makes the folder that a transcript's last moving call ended in the kept one;
// the workspace root when there was none, or that folder is not inside any more.
func (b *Bash) Restore(transcript []chat.Message) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.cwd = b.roots[0]
	var last string // of a transcript that begins after the last move
	defer func() {
		// A folder that is gone is kept: the next command says so.
		if filepath.IsAbs(last) && b.inside(filepath.Clean(last)) {
			b.cwd = filepath.Clean(last)
		}
	}()
	for _, m := range slices.Backward(transcript) {
		for _, block := range slices.Backward(m.Blocks) {
			var d Details
			if block.Kind != chat.Result || block.Name != name || json.Unmarshal(block.Details, &d) != nil || d.Cwd == "" {
				continue
			}
			if last == "" || d.Moved {
				last = d.Cwd
			}
			if d.Moved {
				return
			}
		}
	}
}

// changesFolder finds the words that change the folder of a shell.
var changesFolder = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`(^|[\s;&|({!])(cd|pushd|popd)($|[\s;&|)])`) })

// plain is a line of bare words: nothing in it is quoted, expanded, grouped or
// defined. moves finds what changes the folder in such a line, or runs a text that
// may.
var (
	plain = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[\w \t\n./:=,+@%;|&<>-]*$`) })
	moves = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`cd|pushd|popd|eval|source|trap|mapfile|readarray|(^|[\s;&|])\.($|\s)`)
	})
)

// stays tells that a line is sure to end in the folder it starts in, so that nobody
// has to ask its shell, which costs a quarter of a short command. Another folder than
// the root may itself be moved.
func (b *Bash) stays(line, dir string) bool {
	return dir == b.roots[0] && plain().MatchString(line) && !moves().MatchString(line)
}

// keep makes the folder a command ended in that of the next, and returns it. The note
// is for the model: where it is now, or why it is not.
func (b *Bash) keep(line, from string, o shell.Outcome) (cwd, note string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	ended := o.TimedOut || o.Stopped || o.Cancelled || o.Signal != ""
	switch {
	case o.Dir == from:
		// A command beside this one may have moved on; one that stayed does not
		// take it back.
		return from, ""
	case o.Dir == "" && (ended || !changesFolder().MatchString(line)):
		return from, ""
	case o.Dir == "":
		return from, fmt.Sprintf("the folder this ended in was not kept: it is gone, or the shell could not say because of exec or a trap on EXIT; the next command runs in %s", b.shown(b.cwd))
	case !b.inside(o.Dir):
		return from, fmt.Sprintf("the folder %s is outside the workspace and was not kept; the next command runs in %s", o.Dir, b.shown(b.cwd))
	}
	b.cwd = o.Dir
	return b.cwd, fmt.Sprintf("the next command runs in %s", b.shown(b.cwd))
}

func (b *Bash) inside(dir string) bool {
	for _, root := range b.roots {
		if below(root, dir) {
			return true
		}
	}
	return false
}

func below(root, dir string) bool {
	rel, err := filepath.Rel(root, dir)
	return err == nil && rel != ".." && !strings.HasPrefix(rel, "../")
}

// shown is a folder as the model names it.
func (b *Bash) shown(dir string) string {
	switch rel, err := filepath.Rel(b.roots[0], dir); {
	case err != nil || !below(b.roots[0], dir):
		return dir
	case rel == ".":
		return "the workspace root"
	default:
		return rel
	}
}
