package trust

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"
	"unicode/utf8"
)

// trustVersion is the version of trust.json this package reads and writes.
const trustVersion = 1

type trustFile struct {
	Version   int         `json:"version"`
	Decisions []trustLine `json:"decisions"`
}

type trustLine struct {
	Workspace  string     `json:"workspace"`
	Unit       string     `json:"unit"`
	Approved   Digest     `json:"approved,omitempty"`
	ApprovedAt *time.Time `json:"approved_at,omitempty"`
	Refused    Digest     `json:"refused,omitempty"`
	RefusedAt  *time.Time `json:"refused_at,omitempty"`
}

// The most bytes that are read of the trust file, and of the texts of one approval.
const (
	maxTrustFile = 16 << 20
	maxTexts     = 256 << 20
)

// readTrustFile returns the records of a file; none when there is none. One
// wrong line spoils the file: if a refusal were passed over, an approval of a
// folder above would take its place.
func readTrustFile(path string) (map[place]Record, error) {
	data, err := ReadRegular(path, maxTrustFile)
	if errors.Is(err, fs.ErrNotExist) {
		return map[place]Record{}, nil
	}
	if err != nil {
		return nil, fmt.Errorf("trust file: %w", err)
	}
	records, err := decodeTrustFile(data)
	if err != nil {
		return nil, fmt.Errorf("trust file %s: %w", path, err)
	}
	return records, nil
}

func decodeTrustFile(data []byte) (map[place]Record, error) {
	const next = "correct it, or remove it to be asked again"
	data = bytes.TrimPrefix(data, []byte("\xef\xbb\xbf"))
	var head struct {
		Version *int `json:"version"`
	}
	if err := json.Unmarshal(data, &head); err != nil {
		return nil, fmt.Errorf("malformed: %w; %s", err, next)
	}
	switch {
	case head.Version == nil || *head.Version < 1:
		return nil, fmt.Errorf("malformed: no version; %s", next)
	case *head.Version > trustVersion:
		return nil, fmt.Errorf("has version %d, this starling reads version %d: use a newer starling", *head.Version, trustVersion)
	}
	var file trustFile
	dec := json.NewDecoder(bytes.NewReader(data))
	dec.DisallowUnknownFields()
	if err := dec.Decode(&file); err != nil {
		return nil, fmt.Errorf("malformed: %w; %s", err, next)
	}
	if _, err := dec.Token(); !errors.Is(err, io.EOF) {
		return nil, fmt.Errorf("malformed: text after the end; %s", next)
	}
	records := map[place]Record{}
	for i, line := range file.Decisions {
		r, err := line.record()
		at := place{r.Folder, r.Unit}
		if _, twice := records[at]; err == nil && twice {
			err = errors.New("is there twice")
		}
		if err != nil {
			return nil, fmt.Errorf("malformed: decision %d: %w; %s", i+1, err, next)
		}
		records[at] = r
	}
	return records, nil
}

func (l trustLine) record() (Record, error) {
	r := Record{Folder: l.Workspace, Unit: l.Unit, Approved: l.Approved, Refused: l.Refused}
	if !filepath.IsAbs(r.Folder) || filepath.Clean(r.Folder) != r.Folder {
		return r, fmt.Errorf("workspace %q is no absolute path", l.Workspace)
	}
	if l.ApprovedAt != nil {
		r.ApprovedAt = *l.ApprovedAt
	}
	if l.RefusedAt != nil {
		r.RefusedAt = *l.RefusedAt
	}
	if r.All() {
		if r.Approved != "" || r.Refused != "" || r.RefusedAt.IsZero() {
			return r, errors.New("a whole folder can only be refused, with a time")
		}
		return r, nil
	}
	if r.Approved == "" && r.Refused == "" {
		return r, errors.New("says neither approved nor refused")
	}
	for _, d := range []Digest{r.Approved, r.Refused} {
		if d == "" {
			continue
		}
		if _, err := ParseDigest(string(d)); err != nil {
			return r, err
		}
	}
	return r, checkUnit(r.Unit)
}

func encodeTrustFile(records map[place]Record) ([]byte, error) {
	file := trustFile{Version: trustVersion, Decisions: []trustLine{}}
	for _, r := range sortedRecords(records) {
		if !utf8.ValidString(r.Folder) || !utf8.ValidString(r.Unit) {
			return nil, fmt.Errorf("%q: a name that is no UTF-8 cannot be stored", r.Folder)
		}
		l := trustLine{Workspace: r.Folder, Unit: r.Unit, Approved: r.Approved, Refused: r.Refused}
		if !r.ApprovedAt.IsZero() {
			l.ApprovedAt = &r.ApprovedAt
		}
		if !r.RefusedAt.IsZero() {
			l.RefusedAt = &r.RefusedAt
		}
		file.Decisions = append(file.Decisions, l)
	}
	var out bytes.Buffer
	enc := json.NewEncoder(&out)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	err := enc.Encode(file)
	return out.Bytes(), err
}

// approvedText is one file of the folder trust/, named by its digest. Contents
// are base64, as any bytes may be approved.
type approvedText struct {
	Files Bundle `json:"files"`
}

const textSuffix = ".json"

func (s *Store) textFolder() string { return filepath.Join(s.home, "trust") }

func (s *Store) textFile(d Digest) string {
	return filepath.Join(s.textFolder(), strings.TrimPrefix(string(d), digestPrefix)+textSuffix)
}

func (s *Store) writeText(b Bundle) error {
	if err := os.MkdirAll(s.textFolder(), 0o700); err != nil {
		return err
	}
	data, err := json.Marshal(approvedText{Files: b})
	if err != nil {
		return err
	}
	return WritePrivate(s.textFile(b.Digest()), data)
}

// readText returns a text only when it still is what its name says.
func (s *Store) readText(d Digest) (Bundle, bool) {
	if d == "" {
		return nil, false
	}
	data, err := ReadRegular(s.textFile(d), maxTexts)
	if err != nil {
		return nil, false
	}
	var text approvedText
	if err := json.Unmarshal(data, &text); err != nil || text.Files.Digest() != d {
		return nil, false
	}
	if text.Files == nil {
		text.Files = Bundle{}
	}
	return text.Files, true
}

// dropTexts removes the texts no record approves any more. Files it did not make
// are left alone.
func (s *Store) dropTexts(records map[place]Record) error {
	entries, err := os.ReadDir(s.textFolder())
	if err != nil {
		if errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		return err
	}
	wanted := map[Digest]bool{}
	for _, r := range records {
		wanted[r.Approved] = true
	}
	var errs []error
	for _, e := range entries {
		digits, ok := strings.CutSuffix(e.Name(), textSuffix)
		d, err := ParseDigest(digestPrefix + digits)
		if !ok || err != nil || wanted[d] {
			continue
		}
		if err := os.Remove(filepath.Join(s.textFolder(), e.Name())); err != nil && !errors.Is(err, fs.ErrNotExist) {
			errs = append(errs, err)
		}
	}
	return errors.Join(errs...)
}
