package fs

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	iofs "io/fs"
	"syscall"

	"starling/tools/fs/match"
)

// previewWrite is the diff that a call of write would make; a sentence where there is
// none or the call would be refused.
func (f *Files) previewWrite(ctx context.Context, arguments json.RawMessage) string {
	a, err := writeArguments(arguments)
	if err != nil {
		return "" // the arguments are shown
	}
	at, done, err := f.look(ctx, a.Path)
	if err != nil {
		return "the call would be refused: " + err.Error()
	}
	defer done()
	file, err := at.jail.Open(at.rel)
	if errors.Is(err, iofs.ErrNotExist) || errors.Is(err, syscall.ENOTDIR) {
		return f.shown(at, diffWhole(at.name, true, "", a.Content), len(a.Content))
	}
	if err != nil {
		return "the call would be refused: " + err.Error()
	}
	defer file.Close()
	info, err := file.Stat()
	if err != nil {
		return "the call would be refused: " + err.Error()
	}
	old, err := readAll(ctx, file, info.Size(), maxDiffInput)
	if err != nil {
		return fmt.Sprintf("replaces all %d bytes of %s by %d bytes", info.Size(), at.name, len(a.Content))
	}
	content := mannerOfText(string(old)).of(a.Content)
	return f.shown(at, diffWhole(at.name, false, string(old), content), len(content))
}

// previewEdit is the diff that a call of edit would make.
func (f *Files) previewEdit(ctx context.Context, arguments json.RawMessage) string {
	path, edits, err := editArguments(arguments)
	if err != nil {
		return ""
	}
	at, done, err := f.look(ctx, path)
	if err != nil {
		return "the call would be refused: " + err.Error()
	}
	defer done()
	old, _, err := load(ctx, at, path)
	if err != nil {
		return "the call would be refused: " + err.Error()
	}
	plan, err := match.Find(at.name, old, edits)
	if err != nil {
		return fmt.Sprintf("the call would be refused: %s: %v", at.name, err)
	}
	return f.shown(at, diffPlan(at.name, string(old), plan), len(plan.Apply(old)))
}

// look opens the place of a call that nobody permitted yet, for the eyes of the person
// who is asked. Nothing is remembered as read.
func (f *Files) look(ctx context.Context, path string) (place, func(), error) {
	at, err := f.locate(path)
	if err != nil {
		return place{}, nil, err
	}
	return f.open(Permit(ctx, at.name), path)
}

// shown is a difference as a person reads it; size is that of the new content in bytes.
func (f *Files) shown(at place, d difference, size int) string {
	switch {
	case d.text == "" && d.cut:
		return fmt.Sprintf("%s would have %s; there is no diff of files so large", at.name, plural(size, "byte"))
	case d.text == "" && size == 0:
		return at.name + " would be there, empty"
	case d.text == "":
		return at.name + " would stay as it is"
	case d.cut:
		return d.text + fmt.Sprintf("[the diff goes on; all of it: +%d -%d lines]\n", d.added, d.removed)
	}
	return d.text
}
