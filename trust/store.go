package trust

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sort"
	"strings"
	"sync"
	"time"
	"unicode"
)

// Units that have one name in every workspace; a plugin's is PluginUnit, a
// settings file's SettingsUnit.
const (
	UnitComposition = "plugins.json"
	UnitMCP         = "mcp.json"
	UnitHooks       = "hooks.json"
	// UnitText is the text that steers: prompts, commands, agents, memory.
	UnitText = "text"
)

// unitAll is the unit of a folder refused as a whole.
const unitAll = "*"

// PluginUnit is the unit of a plugin: its file and everything it loads.
func PluginUnit(name string) string { return "plugin/" + name }

// SettingsUnit is the unit of the settings file NAME.json of a plugin.
func SettingsUnit(name string) string { return "settings/" + name + ".json" }

// Verdict is what is known about exact bytes in a folder.
type Verdict string

// The verdicts. Only approved lets a file count; unknown is worth a question.
const (
	Approved Verdict = "approved"
	Refused  Verdict = "refused"
	Unknown  Verdict = "unknown"
)

// Decision is the answer of Decide.
type Decision struct {
	Verdict Verdict
	// Folder is the resolved path whose record decided; empty for none.
	Folder string
	// Reason is a sentence for people.
	Reason string
}

// Record is what is stored about one unit of one folder.
type Record struct {
	Folder string // resolved, absolute
	Unit   string
	// Approved and Refused are the last versions answered so; empty for none.
	Approved   Digest
	ApprovedAt time.Time
	Refused    Digest
	RefusedAt  time.Time
}

// All tells whether the record refuses its folder as a whole.
func (r Record) All() bool { return r.Unit == unitAll }

type place struct{ folder, unit string }

// Store holds the answers of a person: trust.json in the home, and beside it in
// trust/ the approved texts by digest.
//
// The file is read once, by Open. What another program writes to it later
// counts from the next start only, so that nothing a run does can approve
// itself; answers given through this Store count at once. Its methods are safe
// for concurrent use, also of several processes; those that write wait for each
// other, at most ten seconds.
type Store struct {
	home string
	now  func() time.Time

	mu      sync.Mutex
	records map[place]Record
}

// Open reads the answers in the home folder of starling. The store is never nil:
// with an error, which is for people, it holds no answers and every question is
// open. Without a home ("") answers count until exit.
func Open(home string, now func() time.Time) (*Store, error) {
	s := &Store{home: home, now: now, records: map[place]Record{}}
	if home == "" {
		return s, nil
	}
	records, err := readTrustFile(s.file())
	if err != nil {
		return s, fmt.Errorf("%w; until then nothing of a workspace counts as approved", err)
	}
	s.records = records
	return s, nil
}

func (s *Store) file() string { return filepath.Join(s.home, "trust.json") }

// Decide tells whether exactly these bytes of a unit were approved or refused
// for a workspace. The longest resolved path at or above it that has a record
// of the unit decides, so a refusal below an approved folder stands.
func (s *Store) Decide(workspace, unit string, digest Digest) Decision {
	folder, err := resolveFolder(workspace)
	if err != nil {
		return Decision{Verdict: Unknown, Reason: err.Error()}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	for ; ; folder = filepath.Dir(folder) {
		one, asked := s.records[place{folder, unit}]
		all, refused := s.records[place{folder, unitAll}]
		switch {
		case asked && digest != "" && one.Approved == digest:
			return Decision{Approved, folder, "approved " + on(one.ApprovedAt) + " for " + folder}
		case asked && digest != "" && one.Refused == digest:
			return Decision{Refused, folder, "refused " + on(one.RefusedAt) + " for " + folder}
		case refused:
			return Decision{Refused, folder, "everything in " + folder + " was refused " + on(all.RefusedAt)}
		case asked:
			return Decision{Unknown, folder, one.changed()}
		case folder == filepath.Dir(folder):
			return Decision{Verdict: Unknown, Reason: "not decided yet"}
		}
	}
}

func (r Record) changed() string {
	if r.Approved != "" && !r.RefusedAt.After(r.ApprovedAt) {
		return "changed since it was approved " + on(r.ApprovedAt) + " for " + r.Folder
	}
	return "changed since it was refused " + on(r.RefusedAt) + " for " + r.Folder
}

func on(t time.Time) string { return "on " + t.Format("2006-01-02") }

// ApprovedText returns what was last approved of a unit, by the same rule as
// Decide: the old side of a diff. It is false when nothing was, or when the text
// is gone or altered.
func (s *Store) ApprovedText(workspace, unit string) (Bundle, bool) {
	folder, err := resolveFolder(workspace)
	if err != nil || s.home == "" {
		return nil, false
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	for ; ; folder = filepath.Dir(folder) {
		if r, ok := s.records[place{folder, unit}]; ok {
			return s.readText(r.Approved)
		}
		if folder == filepath.Dir(folder) {
			return nil, false
		}
	}
}

// Approve records that a person approved exactly this bundle as a unit of a
// workspace, and keeps its text. Also after an error the answer counts until
// exit; the error says why it is not stored.
func (s *Store) Approve(workspace, unit string, b Bundle) error {
	digest, at := b.Digest(), s.stamp()
	return s.answer(workspace, unit, b, func(r *Record) {
		r.Approved, r.ApprovedAt = digest, at
		if r.Refused == digest {
			r.Refused, r.RefusedAt = "", time.Time{}
		}
	})
}

// Refuse records that a person refused exactly this bundle. Errors as Approve.
func (s *Store) Refuse(workspace, unit string, b Bundle) error {
	digest, at := b.Digest(), s.stamp()
	return s.answer(workspace, unit, nil, func(r *Record) {
		r.Refused, r.RefusedAt = digest, at
		if r.Approved == digest {
			r.Approved, r.ApprovedAt = "", time.Time{}
		}
	})
}

// RefuseAll records that a person refused a folder as a whole: what was approved
// for it or for folders below is taken back, and nothing there counts that is
// not approved later for it, or for a folder below, itself. Errors as Approve.
func (s *Store) RefuseAll(workspace string) error {
	folder, err := resolveFolder(workspace)
	if err != nil {
		return err
	}
	now := s.stamp()
	return s.update(nil, func(records map[place]Record) {
		for at, r := range records {
			if _, inside := below(at.folder, folder); !inside || r.Approved == "" {
				continue
			}
			if r.Approved, r.ApprovedAt = "", (time.Time{}); r.Refused == "" {
				delete(records, at)
				continue
			}
			records[at] = r
		}
		records[place{folder, unitAll}] = Record{Folder: folder, Unit: unitAll, RefusedAt: now}
	})
}

// Revoke takes the answers back that were given for exactly this workspace: of
// one unit, or with unit "" all. It returns how many records that were; the
// answers of folders above it stand.
func (s *Store) Revoke(workspace, unit string) (int, error) {
	folder, err := resolveFolder(workspace)
	if err != nil {
		return 0, err
	}
	count := 0
	err = s.update(nil, func(records map[place]Record) {
		gone := 0
		for at := range records {
			if at.folder == folder && (unit == "" || at.unit == unit) {
				delete(records, at)
				gone++
			}
		}
		count = max(count, gone)
	})
	return count, err
}

// List returns every record, by folder and unit.
func (s *Store) List() []Record {
	s.mu.Lock()
	defer s.mu.Unlock()
	return sortedRecords(s.records)
}

func sortedRecords(records map[place]Record) []Record {
	list := make([]Record, 0, len(records))
	for _, r := range records {
		list = append(list, r)
	}
	sort.Slice(list, func(i, j int) bool {
		if list[i].Folder != list[j].Folder {
			return list[i].Folder < list[j].Folder
		}
		return list[i].Unit < list[j].Unit
	})
	return list
}

// stamp is the time of an answer as the file keeps it.
func (s *Store) stamp() time.Time { return s.now().UTC().Truncate(time.Second) }

func (s *Store) answer(workspace, unit string, text Bundle, change func(*Record)) error {
	if err := checkUnit(unit); err != nil {
		return err
	}
	folder, err := resolveFolder(workspace)
	if err != nil {
		return err
	}
	return s.update(text, func(records map[place]Record) {
		at := place{folder, unit}
		r, ok := records[at]
		if !ok {
			r = Record{Folder: folder, Unit: unit}
		}
		change(&r)
		records[at] = r
	})
}

// update makes one change to what this process holds, and the same change to
// what the file holds now: the answers of other processes stay in the file, and
// do not get into this one.
func (s *Store) update(text Bundle, change func(map[place]Record)) error {
	s.mu.Lock()
	change(s.records)
	s.mu.Unlock() // a decision does not wait for the file
	if s.home == "" {
		return nil
	}
	if err := s.store(text, change); err != nil {
		return fmt.Errorf("the answer counts until exit but is not stored: %w", err)
	}
	return nil
}

func (s *Store) store(text Bundle, change func(map[place]Record)) (err error) {
	if err := os.MkdirAll(s.home, 0o700); err != nil {
		return err
	}
	lock, err := LockFile(filepath.Join(s.home, "trust.lock"))
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, lock.Close()) }()
	records, err := readTrustFile(s.file())
	if err != nil {
		return err
	}
	if text != nil {
		if err := s.writeText(text); err != nil {
			return err
		}
	}
	change(records)
	data, err := encodeTrustFile(records)
	if err != nil {
		return err
	}
	if err := WritePrivate(s.file(), data); err != nil {
		return err
	}
	return s.dropTexts(records)
}

// resolveFolder follows every link of an absolute path. Of a folder that is
// gone, what still stands is resolved, so that its answers can be revoked.
func resolveFolder(path string) (string, error) {
	if !filepath.IsAbs(path) {
		return "", fmt.Errorf("workspace %q: not an absolute path", path)
	}
	// Not cleaned first: behind a link, ".." is the parent of where it leads.
	real, err := filepath.EvalSymlinks(path)
	if err == nil {
		return real, nil
	}
	if !errors.Is(err, os.ErrNotExist) {
		return "", fmt.Errorf("workspace %q: %w", path, err)
	}
	return Resolved(path), nil
}

func checkUnit(unit string) error {
	bad := unit == "" || unit == unitAll || strings.IndexFunc(unit, unicode.IsControl) >= 0
	if bad {
		return fmt.Errorf("unit %q: is no name of something to approve", unit)
	}
	return nil
}
