package prompt

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"starling/trust"
)

// Places are the folders texts come from, absolute; "" for none.
type Places struct {
	Home      string // starling's own
	UserHome  string // of the person
	Workspace string
	Cwd       string
}

// Texts is everything the places hold.
type Texts struct {
	Instructions []Instruction // the most specific last
	Skills       []Skill       // sorted by name
	Notices      []string      // what was left out, and why
}

// Gather reads the instruction files of the home and the workspace, and finds
// the skills of the workspace, then those of the home: in .starling/skills
// first, then in .agents/skills.
func Gather(p Places) Texts {
	var t Texts
	home, workspace := folderOf(p.Home), folderOf(p.Workspace)
	t.Instructions, t.Notices = Instructions(home, workspace, p.Cwd)
	folders := []SkillFolder{
		{Folder: workspace, Rel: ".starling/skills", Project: true},
		{Folder: workspace, Rel: ".agents/skills", Project: true},
		{Folder: home, Rel: "skills"},
	}
	if p.UserHome != "" {
		folders = append(folders, SkillFolder{Folder: folderOf(filepath.Join(p.UserHome, ".agents")), Rel: "skills"})
	}
	var notices []string
	t.Skills, notices = Skills(folders...)
	t.Notices = append(t.Notices, notices...)
	return t
}

// Listed names what is used, for people; "" when there is nothing.
func (t Texts) Listed() string {
	var parts []string
	if len(t.Instructions) > 0 {
		var paths []string
		for _, i := range t.Instructions {
			paths = append(paths, i.Path)
		}
		parts = append(parts, "instructions: "+strings.Join(paths, ", "))
	}
	if len(t.Skills) > 0 {
		var names []string
		for _, s := range t.Skills {
			names = append(names, s.Name)
		}
		parts = append(parts, "skills: "+strings.Join(names, ", "))
	}
	return strings.Join(parts, "; ")
}

func folderOf(dir string) Folder {
	if dir == "" {
		return Folder{}
	}
	return Folder{Dir: dir, Files: onDisk(dir)}
}

// onDisk opens a folder for one look at a time: there is nothing to close, and a
// folder that comes later is seen.
type onDisk string

func inside[T any](dir onDisk, look func(*trust.Jail) (T, error)) (T, error) {
	jail, err := trust.NewJail(string(dir))
	if err != nil {
		var none T
		return none, fmt.Errorf("folder %s: %w", string(dir), err)
	}
	defer jail.Close()
	return look(jail)
}

// Open opens a regular file.
func (d onDisk) Open(path string) (*os.File, error) {
	return inside(d, func(j *trust.Jail) (*os.File, error) { return j.Open(path) })
}

// List returns the entries of a folder, sorted by name.
func (d onDisk) List(path string) ([]fs.DirEntry, error) {
	return inside(d, func(j *trust.Jail) ([]fs.DirEntry, error) { return j.List(path) })
}

// Stat describes what path leads to. Most of what is asked for is not there: one look
// at the first part says so.
func (d onDisk) Stat(path string) (fs.FileInfo, error) {
	first, _, _ := strings.Cut(filepath.ToSlash(filepath.Clean(path)), "/")
	if _, err := os.Lstat(filepath.Join(string(d), first)); errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	return inside(d, func(j *trust.Jail) (fs.FileInfo, error) { return j.Stat(path) })
}

// Resolve follows the links of a path.
func (d onDisk) Resolve(path string) (string, error) {
	return inside(d, func(j *trust.Jail) (string, error) { return j.Resolve(path) })
}
