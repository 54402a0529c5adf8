package prompt

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// The most that is read of instruction files, in bytes: of one, and of all.
const (
	MaxInstruction  = 64 << 10
	MaxInstructions = 256 << 10
)

// instructionNames are the names of an instruction file; in one folder the first
// that is there counts.
var instructionNames = []string{"AGENTS.md", "CLAUDE.md"}

// Instruction is one instruction file.
type Instruction struct {
	Path string // absolute
	Text string // ends with a note when the file was too large
}

// Instructions reads the instruction file of the home, then those of the
// workspace and of every folder from there down to cwd: the most specific last.
// A file met twice counts once, an empty one not at all. Notices say what was
// left out or cut.
func Instructions(home, workspace Folder, cwd string) (list []Instruction, notices []string) {
	type found struct {
		folder Folder
		rel    string
	}
	var files []found
	for _, f := range []Folder{home, workspace} {
		dirs := []string{"."}
		if f.Dir == workspace.Dir {
			dirs = downTo(workspace.Dir, cwd)
		}
		for _, dir := range dirs {
			if name := instructionIn(f, dir); name != "" {
				files = append(files, found{f, name})
			}
		}
	}
	// From the most specific on, so that the size limit takes from the general.
	var seen []fs.FileInfo
	left := MaxInstructions
	for _, file := range slices.Backward(files) {
		path := file.folder.path(file.rel)
		c, err := file.folder.read(file.rel, max(0, min(left, MaxInstruction)))
		if err != nil {
			notices = append(notices, err.Error())
			continue
		}
		if slices.ContainsFunc(seen, func(i fs.FileInfo) bool { return os.SameFile(i, c.info) }) {
			continue
		}
		if c.cut && left < MaxInstruction {
			notices = append(notices, fmt.Sprintf("%s is left out: the instruction files together have more than %d KiB", path, MaxInstructions>>10))
			continue
		}
		seen = append(seen, c.info)
		text := strings.TrimSpace(c.text)
		if text == "" {
			continue
		}
		left -= len(text)
		if c.cut {
			note := fmt.Sprintf("%s has %d bytes: only the first %d are used", path, c.size, len(c.text))
			notices = append(notices, note+"; shorten it or split it into skills")
			text += "\n\n[" + note + "]"
		}
		list = append(list, Instruction{Path: path, Text: text})
	}
	slices.Reverse(list)
	slices.Reverse(notices)
	return list, notices
}

func instructionIn(f Folder, dir string) string {
	for _, name := range instructionNames {
		if rel := filepath.Join(dir, name); f.has(rel) {
			return rel
		}
	}
	return ""
}

// downTo lists the folders from root down to cwd, relative to root; only root
// when cwd lies elsewhere.
func downTo(root, cwd string) []string {
	dirs := []string{"."}
	rel, err := filepath.Rel(root, cwd)
	if err != nil || !filepath.IsLocal(rel) || rel == "." {
		return dirs
	}
	at := "."
	for _, part := range strings.Split(rel, string(filepath.Separator)) {
		at = filepath.Join(at, part)
		dirs = append(dirs, at)
	}
	return dirs
}
