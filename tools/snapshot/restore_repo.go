package snapshot

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// history brings stash entries and refs back, with the objects they need.
func (r *restorer) history(ctx context.Context, repo Repo) error {
	if len(repo.Stash)+len(repo.Refs) == 0 {
		return nil
	}
	dir := string(repo.Dir)
	if err := r.unpack(ctx, repo); err != nil {
		for _, e := range repo.Stash {
			r.report.failed("stash", e.Message, err)
		}
		for _, ref := range repo.Refs {
			r.report.failed("branch", ref.Name, err)
		}
		return ctx.Err()
	}
	stands, err := r.git.stashList(ctx, dir)
	if err != nil {
		return err
	}
	for _, e := range slices.Backward(repo.Stash) { // the newest one is stored last
		if slices.ContainsFunc(stands, func(h Stash) bool { return h.Commit == e.Commit }) {
			r.report.add("stash", e.Message, Same, "")
			continue
		}
		if _, err := r.git.run(ctx, dir, nil, r.git.named(ctx, dir, "stash", "store", "-m", string(e.Message), e.Commit)...); err != nil {
			r.report.failed("stash", e.Message, err)
			continue
		}
		r.report.add("stash", e.Message, Restored, "")
	}
	for _, ref := range repo.Refs {
		r.ref(ctx, dir, ref)
	}
	return ctx.Err()
}

// named adds a name for the log of a ref where nobody configured one.
func (g *git) named(ctx context.Context, dir string, args ...string) []string {
	if _, err := g.run(ctx, dir, nil, "var", "GIT_COMMITTER_IDENT"); err == nil {
		return args
	}
	return append([]string{"-c", "user.name=starling", "-c", "user.email=starling@localhost"}, args...)
}

func (r *restorer) unpack(ctx context.Context, repo Repo) error {
	in, err := r.s.openBlob(repo.Pack)
	if err != nil {
		return err
	}
	defer in.Close()
	_, err = r.git.run(ctx, string(repo.Dir), in, "unpack-objects", "-q")
	return err
}

// ref makes a ref again. A name that is taken by other commits is left alone.
func (r *restorer) ref(ctx context.Context, dir string, ref Ref) {
	refs, err := r.git.refs(ctx, dir)
	if err != nil {
		r.report.failed("branch", ref.Name, err)
		return
	}
	at := map[Name]string{}
	for _, h := range refs {
		at[h.Name] = h.Commit
	}
	trees, err := r.git.worktrees(ctx, dir)
	if err != nil {
		r.report.failed("branch", ref.Name, err)
		return
	}
	if ref.Name == "" && slices.ContainsFunc(trees, func(t linked) bool { return t.head == ref.Commit }) {
		r.report.add("branch", "HEAD", Same, "")
		return
	}
	base := ref.Name
	if base == "" {
		base = Name("refs/heads/restored/" + r.snap.ID)
	}
	for n := 1; ; n++ {
		name := base
		if n > 1 || !strings.HasPrefix(string(base), "refs/") {
			name = Name(fmt.Sprintf("%s-restored-%d", base, n-1))
		}
		if at[name] == ref.Commit {
			r.report.add("branch", name, Same, "")
			return
		}
		if at[name] != "" {
			continue
		}
		zero := strings.Repeat("0", len(ref.Commit))
		if _, err := r.git.run(ctx, dir, nil, r.git.named(ctx, dir, "update-ref", "--create-reflog", "-m", "restored", string(name), ref.Commit, zero)...); err != nil {
			r.report.failed("branch", ref.Name, err)
			return
		}
		note := ""
		if name != ref.Name {
			note = "as " + strings.TrimPrefix(string(name), "refs/heads/")
		}
		r.report.add("branch", ref.Name, Restored, note)
		return
	}
}

// populate checks out the tracked files of a working tree that was removed. What
// stands there is left alone.
func (r *restorer) populate(ctx context.Context, repo Repo) {
	dir := string(repo.Dir)
	if !isTop(dir) {
		r.report.failed("tree", repo.Dir, errors.New("its .git could not be brought back; use --to DIR"))
		return
	}
	all, err := r.git.index(ctx, dir, nil)
	if err != nil {
		r.report.failed("tree", repo.Dir, err)
		return
	}
	deleted := map[Name]bool{}
	for _, f := range r.snap.Files {
		deleted[f.Path] = f.Kind == Gone
	}
	var missing bytes.Buffer
	for _, e := range all {
		if deleted[Name(filepath.Join(dir, string(e.Path)))] {
			continue
		}
		if _, err := os.Lstat(filepath.Join(dir, string(e.Path))); gone(err) && e.Stage == 0 && !e.hidden {
			missing.WriteString(string(e.Path) + "\x00")
		}
	}
	if missing.Len() == 0 {
		r.report.add("tree", repo.Dir, Same, "")
		return
	}
	if _, err := r.git.run(ctx, dir, &missing, "checkout-index", "-q", "-z", "--stdin"); err != nil {
		r.report.failed("tree", repo.Dir, err)
		return
	}
	r.report.add("tree", repo.Dir, Restored, "")
}

// index puts staged entries back: all of a path, or nothing.
func (r *restorer) index(ctx context.Context, repo Repo) error {
	if len(repo.Index) == 0 {
		return nil
	}
	dir := string(repo.Dir)
	byPath := map[Name][]Entry{}
	var names []string
	for _, e := range repo.Index {
		if byPath[e.Path] == nil {
			names = append(names, string(e.Path))
		}
		byPath[e.Path] = append(byPath[e.Path], e)
	}
	fail := func(err error) {
		for _, name := range names {
			r.report.failed("staged", Name(name), err)
		}
	}
	if !isTop(dir) {
		fail(fmt.Errorf("%s is no working tree now; --to DIR writes it as a file", dir))
		return nil
	}
	all, err := r.git.index(ctx, dir, names)
	if err != nil {
		fail(err)
		return ctx.Err()
	}
	stands := map[Name][]Entry{}
	for _, e := range all {
		stands[e.Path] = append(stands[e.Path], e.Entry)
	}
	var lines, intents bytes.Buffer
	var digests []string
	for _, name := range slices.Sorted(maps.Keys(byPath)) {
		entries := byPath[name]
		switch {
		case entries[0].Committed && len(stands[name]) > 0:
			continue
		case sameEntries(entries, stands[name]):
			r.report.add("staged", name, Same, "")
			continue
		case entries[0].Intent:
			intents.WriteString(string(name) + "\x00")
			r.report.add("staged", name, Restored, "")
			continue
		}
		fmt.Fprintf(&lines, "0 %s\t%s\x00", strings.Repeat("0", r.idLength(entries, stands[name])), name)
		for _, e := range entries {
			if !e.Gone {
				fmt.Fprintf(&lines, "%s %s %d\t%s\x00", e.Mode, e.Object, e.Stage, name)
				if e.Digest != "" {
					digests = append(digests, e.Digest)
				}
			}
		}
		r.report.add("staged", name, Restored, "")
	}
	if lines.Len()+intents.Len() == 0 {
		return nil
	}
	if err := r.writeIndex(ctx, dir, digests, &lines, &intents); err != nil {
		r.report.Results = slices.DeleteFunc(r.report.Results, func(one Result) bool {
			return one.What == "staged" && byPath[one.Name] != nil
		})
		fail(err)
	}
	return ctx.Err()
}

// idLength is the length of the ids of a repository, in digits.
func (r *restorer) idLength(entries, stands []Entry) int {
	for _, e := range append(slices.Clone(entries), stands...) {
		if e.Object != "" {
			return len(e.Object)
		}
	}
	const sha1Digits = 40
	return sha1Digits
}

func (r *restorer) writeIndex(ctx context.Context, dir string, digests []string, lines, intents *bytes.Buffer) error {
	if len(digests) > 0 {
		var paths bytes.Buffer
		for _, d := range digests {
			if err := r.s.check(d); err != nil {
				return err
			}
			paths.WriteString(r.s.blobPath(d) + "\n")
		}
		if _, err := r.git.run(ctx, dir, &paths, "hash-object", "-w", "--no-filters", "--stdin-paths"); err != nil {
			return err
		}
	}
	if lines.Len() > 0 {
		if _, err := r.git.run(ctx, dir, lines, "update-index", "--replace", "-z", "--index-info"); err != nil {
			return err
		}
	}
	if intents.Len() > 0 {
		if _, err := r.git.run(ctx, dir, intents, "add", "--intent-to-add", "--force", "--pathspec-from-file=-", "--pathspec-file-nul"); err != nil {
			return err
		}
	}
	// Files are compared again with what was put in; that some differ is no fault.
	if _, err := r.git.run(ctx, dir, nil, "update-index", "-q", "--refresh"); err != nil && !failed(err) {
		return err
	}
	return nil
}

func sameEntries(want, have []Entry) bool {
	if want[0].Gone {
		return len(have) == 0
	}
	if want[0].Intent {
		return len(have) > 0
	}
	return slices.EqualFunc(want, have, func(a, b Entry) bool {
		return a.Mode == b.Mode && a.Object == b.Object && a.Stage == b.Stage
	})
}

// head says where the branch stood, when it stands elsewhere now: commits are not
// moved by a restore.
func (r *restorer) head(ctx context.Context, repo Repo) {
	if repo.Head == "" || !isTop(string(repo.Dir)) {
		return
	}
	id, ok, err := r.git.commit(ctx, string(repo.Dir), "HEAD")
	if err != nil || ok && id == repo.Head {
		return
	}
	on := "detached HEAD"
	if repo.Branch != "" {
		on = repo.Branch
	}
	r.report.Notes = append(r.report.Notes, fmt.Sprintf("%s stood at %.12s then: git -C %s branch NAME %.12s keeps those commits",
		on, repo.Head, repo.Dir, repo.Head))
}
