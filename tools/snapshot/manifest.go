package snapshot

import (
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"starling/trust"
)

// version of the manifests this package reads and writes.
const version = 1

const suffix = ".json"

// Snapshot is what stood before a command.
type Snapshot struct {
	Version   int       `json:"version"`
	ID        string    `json:"id"`
	Time      time.Time `json:"time"` // UTC
	Workspace Name      `json:"workspace"`
	Why       Name      `json:"why"` // the command, for people
	Dirs      []Folder  `json:"dirs,omitempty"`
	Files     []File    `json:"files,omitempty"` // sorted by path
	Repos     []Repo    `json:"repos,omitempty"` // sorted by folder
	// Stake is what was at stake: whether the command was worth a question.
	Stake Stake `json:"stake"`
	// Left are files that would have been held without a question and were too
	// large or too many.
	Left int `json:"left,omitempty"`
}

// Name is a text that need not be UTF-8, as names of files are.
type Name string

// MarshalJSON writes a string, or {"base64": …} of what is no UTF-8.
func (n Name) MarshalJSON() ([]byte, error) {
	if utf8.ValidString(string(n)) {
		return json.Marshal(string(n))
	}
	return json.Marshal(map[string]string{"base64": base64.StdEncoding.EncodeToString([]byte(n))})
}

// UnmarshalJSON reads both forms.
func (n *Name) UnmarshalJSON(data []byte) error {
	var text string
	if err := json.Unmarshal(data, &text); err == nil {
		*n = Name(text)
		return nil
	}
	var form struct {
		Base64 []byte `json:"base64"`
	}
	if err := json.Unmarshal(data, &form); err != nil {
		return err
	}
	*n = Name(form.Base64)
	return nil
}

// Mode are permission bits, in octal.
type Mode uint32

// MarshalText writes octal digits.
func (m Mode) MarshalText() ([]byte, error) {
	return []byte(strconv.FormatUint(uint64(m), 8)), nil
}

// UnmarshalText reads octal digits.
func (m *Mode) UnmarshalText(text []byte) error {
	v, err := strconv.ParseUint(string(text), 8, 32)
	*m = Mode(v)
	return err
}

// Folder is a folder and its permission bits.
type Folder struct {
	Path Name `json:"path"` // absolute
	Mode Mode `json:"mode"`
}

// Kind of a File.
type Kind string

// The kinds.
const (
	Regular Kind = "file"
	Link    Kind = "link"
	Gone    Kind = "gone" // a tracked file that was deleted
)

// File is one path of the disk.
type File struct {
	Path   Name   `json:"path"` // absolute, folders resolved
	Kind   Kind   `json:"kind"`
	Mode   Mode   `json:"mode,omitempty"`
	Digest string `json:"digest,omitempty"` // of a Regular: sha256, hex
	Size   int64  `json:"size,omitempty"`   // bytes
	Target Name   `json:"target,omitempty"` // of a Link
}

// Repo is what a repository held besides files.
type Repo struct {
	Dir    Name   `json:"dir"` // the working tree, or the folder git was asked in; absolute
	Head   string `json:"head,omitempty"`
	Branch string `json:"branch,omitempty"` // "" when detached
	// Tree: the working tree itself may vanish; its tracked files are checked out
	// again.
	Tree  bool    `json:"tree,omitempty"`
	Index []Entry `json:"index,omitempty"`
	Stash []Stash `json:"stash,omitempty"` // newest first
	Refs  []Ref   `json:"refs,omitempty"`
	Pack  string  `json:"pack,omitempty"` // digest of a pack with the objects of Stash and Refs
	Size  int64   `json:"size,omitempty"` // of the pack, bytes
}

// Entry is a staged change of one path.
type Entry struct {
	Path   Name `json:"path"`           // relative to the working tree
	Gone   bool `json:"gone,omitempty"` // staged as deleted
	Intent bool `json:"intent,omitempty"`
	// Committed: it is as in HEAD. It comes back only when the index lost the path.
	Committed bool   `json:"committed,omitempty"`
	Mode      string `json:"mode,omitempty"` // as git writes it
	Object    string `json:"object,omitempty"`
	Stage     int    `json:"stage,omitempty"`  // 1 to 3 in a conflict
	Digest    string `json:"digest,omitempty"` // of the content; "" of a submodule and of what is committed
	Size      int64  `json:"size,omitempty"`   // bytes
}

// Stash is an entry of the stash.
type Stash struct {
	Commit  string `json:"commit"`
	Message Name   `json:"message"`
}

// Ref is a ref and where it pointed. Name is "" for a commit that only a detached
// HEAD or the log of a ref knew.
type Ref struct {
	Name   Name   `json:"name"`
	Commit string `json:"commit"`
}

// Bytes the snapshot holds, contents shared with others included.
func (s *Snapshot) Bytes() int64 {
	var n int64
	for _, f := range s.Files {
		n += f.Size
	}
	for _, r := range s.Repos {
		n += r.Size
		for _, e := range r.Index {
			n += e.Size
		}
	}
	return n
}

// Summary says in words what is held, as "3 files, 1 staged entry".
func (s *Snapshot) Summary() string {
	var files, deletions, staged, stashes, refs int
	for _, f := range s.Files {
		if f.Kind == Gone {
			deletions++
		} else {
			files++
		}
	}
	for _, r := range s.Repos {
		for _, e := range r.Index {
			if !e.Committed {
				staged++
			}
		}
		stashes += len(r.Stash)
		refs += len(r.Refs)
	}
	var parts []string
	for _, p := range []struct {
		n    int
		what string
	}{{files, "file"}, {staged, "staged entry"}, {stashes, "stash entry"}, {refs, "branch"}, {deletions, "deletion"}} {
		if p.n > 0 {
			parts = append(parts, count(p.n, p.what))
		}
	}
	if s.Left > 0 {
		parts = append(parts, count(s.Left, "large ignored or untouched file")+" left out")
	}
	return strings.Join(parts, ", ")
}

// digests are the contents a snapshot needs.
func (s *Snapshot) digests() []string {
	var all []string
	for _, f := range s.Files {
		all = append(all, f.Digest)
	}
	for _, r := range s.Repos {
		all = append(all, r.Pack)
		for _, e := range r.Index {
			all = append(all, e.Digest)
		}
	}
	return all
}

func (s *Store) path(id string) string { return filepath.Join(s.Dir, id+suffix) }

// Load reads a snapshot. ref is an id, the beginning of one, or "last".
func (s *Store) Load(ref string) (*Snapshot, error) {
	ids, err := s.ids()
	if err != nil {
		return nil, err
	}
	id, err := pick(ids, ref)
	if err != nil {
		return nil, err
	}
	return s.read(id)
}

func pick(ids []string, ref string) (string, error) {
	if ref == "last" && len(ids) > 0 {
		return ids[len(ids)-1], nil
	}
	var may []string
	for _, id := range ids {
		if id == ref {
			return id, nil
		}
		if strings.HasPrefix(id, ref) && ref != "" {
			may = append(may, id)
		}
	}
	switch len(may) {
	case 1:
		return may[0], nil
	case 0:
		return "", fmt.Errorf("snapshot %s: %w; starling session snapshots lists them", ref, fs.ErrNotExist)
	}
	return "", fmt.Errorf("snapshot %s may be %s or %s; give more of it", ref, may[0], may[1])
}

// maxManifest is the most bytes of a manifest that are read: many times what one of a
// snapshot as large as it may be has.
const maxManifest = 256 << 20

func (s *Store) read(id string) (*Snapshot, error) {
	data, err := trust.ReadRegular(s.path(id), maxManifest)
	if err != nil {
		return nil, fmt.Errorf("snapshot %s: %w", id, err)
	}
	snap, err := decode(data)
	if err == nil && snap.ID != id {
		err = errors.New("its manifest has another id")
	}
	if err != nil {
		return nil, fmt.Errorf("snapshot %s: %w", id, err)
	}
	return snap, nil
}

func decode(data []byte) (*Snapshot, error) {
	var snap Snapshot
	if err := json.Unmarshal(data, &snap); err != nil {
		return nil, fmt.Errorf("malformed: %w", err)
	}
	if snap.Version != version {
		return nil, fmt.Errorf("has version %d, this starling reads version %d", snap.Version, version)
	}
	bad := func(digest string) bool { return digest != "" && !isHex(digest, 64) }
	for _, f := range snap.Files {
		if p := string(f.Path); !filepath.IsAbs(p) || filepath.Clean(p) != p || bad(f.Digest) || f.Kind == Regular && f.Digest == "" {
			return nil, fmt.Errorf("malformed: entry %q", f.Path)
		}
	}
	for _, r := range snap.Repos {
		if !filepath.IsAbs(string(r.Dir)) || bad(r.Pack) {
			return nil, fmt.Errorf("malformed: repository %q", r.Dir)
		}
		for _, e := range r.Index {
			if !filepath.IsLocal(string(e.Path)) || bad(e.Digest) || !e.Gone && !e.Intent && !(isHex(e.Object, len(e.Object)) && isMode(e.Mode)) {
				return nil, fmt.Errorf("malformed: staged entry %q", e.Path)
			}
		}
		for _, e := range r.Stash {
			if !isHex(e.Commit, len(e.Commit)) {
				return nil, fmt.Errorf("malformed: stash entry %q", e.Message)
			}
		}
		for _, ref := range r.Refs {
			if !isHex(ref.Commit, len(ref.Commit)) || ref.Name != "" && !strings.HasPrefix(string(ref.Name), "refs/") {
				return nil, fmt.Errorf("malformed: ref %q", ref.Name)
			}
		}
	}
	return &snap, nil
}

func isMode(text string) bool { return len(text) == 6 && strings.Trim(text, "01234567") == "" }

func isHex(text string, digits int) bool {
	return len(text) == digits && digits > 0 && strings.Trim(text, "0123456789abcdef") == ""
}

// ids of the snapshots, oldest first.
func (s *Store) ids() ([]string, error) {
	entries, err := os.ReadDir(s.Dir)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("snapshots: %w", err)
	}
	var ids []string
	for _, e := range entries {
		if id, ok := strings.CutSuffix(e.Name(), suffix); ok && validID(id) && e.Type().IsRegular() {
			ids = append(ids, id)
		}
	}
	slices.Sort(ids)
	return ids, nil
}

// List returns the snapshots, newest first; those it could not read are errors
// beside the rest.
func (s *Store) List() ([]*Snapshot, error) {
	ids, err := s.ids()
	if err != nil {
		return nil, err
	}
	slices.Reverse(ids)
	var all []*Snapshot
	var errs []error
	for _, id := range ids {
		snap, err := s.read(id)
		if err != nil {
			errs = append(errs, err)
			continue
		}
		all = append(all, snap)
	}
	return all, errors.Join(errs...)
}

// Find returns the folder below home that holds a snapshot, whatever workspace it
// is of; id is a whole id.
func Find(home, id string) (dir string, ok bool) {
	if !validID(id) {
		return "", false
	}
	dirs, err := os.ReadDir(Root(home))
	if err != nil {
		return "", false
	}
	for _, d := range dirs {
		dir := filepath.Join(Root(home), d.Name())
		if info, err := os.Lstat(filepath.Join(dir, id+suffix)); err == nil && info.Mode().IsRegular() {
			return dir, true
		}
	}
	return "", false
}
