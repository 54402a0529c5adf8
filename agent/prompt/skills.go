package prompt

import (
	"errors"
	"fmt"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"starling/bus/view"
)

// Limits of skills.
const (
	MaxSkills      = 200
	MaxDescription = 1024 // bytes, shown in the prompt
	MaxSkillName   = 64   // bytes
	MaxSkillFile   = 64 << 10
)

// Skill is a description of special work. Name and description stand in the
// prompt; the text is read when a task needs it.
type Skill struct {
	Name        string
	Description string // one line
	Path        string // of SKILL.md, absolute
	Project     bool   // of the workspace

	folder Folder
	rel    string // of SKILL.md in folder
}

// SkillFolder is where skills are looked for: NAME/SKILL.md or NAME.md below
// Rel.
type SkillFolder struct {
	Folder
	Rel     string
	Project bool
}

// Skills lists the skills of the folders, sorted by name. The first folder that
// has a name keeps it. Notices say what is wrong with the others.
func Skills(folders ...SkillFolder) (list []Skill, notices []string) {
	taken := map[string]bool{}
	for _, f := range folders {
		if dir, there := f.look(f.Rel); !dir {
			if there {
				notices = append(notices, fmt.Sprintf("%s holds no skills: it is no folder that can be read", f.path(f.Rel)))
			}
			continue
		}
		entries, err := f.Files.List(f.Rel)
		if err != nil {
			notices = append(notices, f.say(f.Rel, err).Error())
			continue
		}
		for _, e := range entries {
			rel := f.skillFile(e.Name())
			if rel == "" {
				continue
			}
			s, notes, ok := f.skill(rel)
			notices = append(notices, notes...)
			if ok && !taken[s.Name] {
				taken[s.Name] = true
				list = append(list, s)
			}
		}
	}
	if len(list) > MaxSkills {
		notices = append(notices, fmt.Sprintf("there are %d skills: only the first %d are used", len(list), MaxSkills))
		list = list[:MaxSkills]
	}
	slices.SortFunc(list, func(a, b Skill) int { return strings.Compare(a.Name, b.Name) })
	return list, notices
}

// skillFile returns the file of a skill that an entry of the folder is; "" when
// it is none.
func (f SkillFolder) skillFile(entry string) string {
	rel := path.Join(f.Rel, entry)
	switch {
	case strings.HasPrefix(entry, "."), strings.EqualFold(entry, "README.md"):
		return ""
	case f.isDir(rel):
		if rel = path.Join(rel, "SKILL.md"); !f.has(rel) {
			return ""
		}
		return rel
	case strings.HasSuffix(entry, ".md"):
		return rel
	}
	return ""
}

// skill reads name and description of a skill's file.
func (f SkillFolder) skill(rel string) (s Skill, notices []string, ok bool) {
	c, err := f.read(rel, MaxSkillFile)
	if err != nil {
		return s, []string{err.Error()}, false
	}
	s = Skill{Path: f.path(rel), Project: f.Project, folder: f.Folder, rel: rel}
	bad := func(format string, args ...any) {
		notices = append(notices, "skill "+s.Path+": "+fmt.Sprintf(format, args...))
	}
	fields, _, err := frontMatter(c.text)
	if err != nil {
		bad("%v; it is left out", err)
		return s, notices, false
	}
	s.Name = strings.TrimSuffix(path.Base(rel), ".md")
	if path.Base(rel) == "SKILL.md" {
		s.Name = path.Base(path.Dir(rel))
	}
	if given := fields["name"]; given != "" && !wellNamed(given) {
		bad("the name %q may hold letters, digits, . _ and - only; it is listed as %q", view.CleanLine(given), s.Name)
	} else if given != "" {
		s.Name = given
	}
	if !wellNamed(s.Name) {
		bad("the name %q may hold letters, digits, . _ and - only; it is left out", view.CleanLine(s.Name))
		return s, notices, false
	}
	s.Description = view.CleanLine(fields["description"])
	if s.Description == "" {
		bad("it has no description; it is left out")
		return s, notices, false
	}
	if len(s.Description) > MaxDescription {
		bad("the description has more than %d bytes; the rest is left out", MaxDescription)
		s.Description = strings.ToValidUTF8(s.Description[:MaxDescription], "") + "…"
	}
	return s, notices, true
}

func wellNamed(name string) bool {
	for _, r := range name {
		letter := r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z'
		if !letter && (r < '0' || r > '9') && r != '.' && r != '_' && r != '-' {
			return false
		}
	}
	return name != "" && len(name) <= MaxSkillName && strings.Trim(name, ".") != ""
}

// Text reads a file of the skill: SKILL.md when name is empty, else the file of
// that name beside or below it. A file that lies elsewhere is an error; of one
// that is larger than MaxSkillFile the text ends with a note.
func (s Skill) Text(name string) (string, error) {
	rel, err := s.file(name)
	if err != nil {
		return "", fmt.Errorf("skill %s: %w", s.Name, err)
	}
	c, err := s.folder.read(rel, MaxSkillFile)
	if err != nil {
		return "", fmt.Errorf("skill %s: %w", s.Name, err)
	}
	if c.cut {
		c.text += fmt.Sprintf("\n[%s has %d bytes: only the first %d are shown]", s.folder.path(rel), c.size, len(c.text))
	}
	return c.text, nil
}

// file returns the path of a file of the skill in its folder, with its links
// followed. They must not lead out of the skill: a guard over other files must
// not be passed by on this way.
func (s Skill) file(name string) (string, error) {
	if name == "" {
		return s.rel, nil
	}
	if path.Base(s.rel) != "SKILL.md" {
		return "", errors.New("it is one file: leave out file to read it")
	}
	if !filepath.IsLocal(name) {
		return "", fmt.Errorf("file %q does not lie in its folder", name)
	}
	dir, err := s.folder.Files.Resolve(path.Dir(s.rel))
	if err != nil {
		return "", err
	}
	rel, err := s.folder.Files.Resolve(path.Join(path.Dir(s.rel), filepath.ToSlash(name)))
	if err != nil {
		return "", err
	}
	if !strings.HasPrefix(rel, dir+"/") {
		return "", fmt.Errorf("file %q is a link that leads out of its folder", name)
	}
	return rel, nil
}
