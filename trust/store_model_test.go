package trust_test

import (
	"path/filepath"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"starling/trust"
)

// naive is the store as its documentation tells it: a list of answers.
type naive []answer

type answer struct {
	folder, unit string
	digest       trust.Digest
	verdict      trust.Verdict // or "revoked"
	all          bool
}

// says walks up from the folder; at each the last answer about the unit there is
// looked for.
func (n naive) says(folder, unit string, digest trust.Digest) trust.Verdict {
	for ; ; folder = filepath.Dir(folder) {
		verdict, asked, all := trust.Unknown, map[trust.Digest]bool{}, false
		approved, refused := trust.Digest(""), trust.Digest("")
		for _, a := range n {
			switch {
			case a.all && (a.folder == folder || strings.HasPrefix(folder, a.folder+"/")):
				delete(asked, approved)
				approved = ""
				all = all || a.folder == folder
			case a.all || a.folder != folder:
			case a.verdict == "revoked":
				approved, refused, all, asked = "", "", false, map[trust.Digest]bool{}
			case a.unit != unit:
			case a.verdict == trust.Approved:
				delete(asked, approved)
				if approved = a.digest; refused == approved {
					refused = ""
				}
				asked[approved] = true
			case a.verdict == trust.Refused:
				delete(asked, refused)
				if refused = a.digest; approved == refused {
					approved = ""
				}
				asked[refused] = true
			}
		}
		switch {
		case approved == digest:
			verdict = trust.Approved
		case refused == digest || all:
			verdict = trust.Refused
		}
		if verdict != trust.Unknown || len(asked) > 0 || folder == filepath.Dir(folder) {
			return verdict
		}
	}
}

func TestDecideAgainstAModel(t *testing.T) {
	tree := []string{"", "/a", "/a/b", "/a/b/c", "/ab", "/a/c"}
	var names []string
	for _, f := range tree {
		names = append(names, "ws"+f)
	}
	root := folders(t, names...) + "/ws"
	counts := map[trust.Verdict]int{}
	rapid.Check(t, func(t *rapid.T) {
		s := open(t, "") // the file is not what is looked at here
		var model naive
		folder := rapid.SampledFrom(tree)
		unit := rapid.SampledFrom([]string{"plugin/a", "plugin/b"})
		version := rapid.SampledFrom([]string{"1", "2", "3"})
		for range rapid.IntRange(1, 10).Draw(t, "answers") {
			a := answer{folder: root + folder.Draw(t, "folder"), unit: unit.Draw(t, "unit")}
			b := text(version.Draw(t, "version"))
			a.digest = b.Digest()
			switch rapid.IntRange(0, 6).Draw(t, "kind") {
			case 0:
				a.all = true
				noError(t, s.RefuseAll(a.folder))
			case 1:
				a.verdict = "revoked"
				_, err := s.Revoke(a.folder, "")
				noError(t, err)
			case 2, 3:
				a.verdict = trust.Refused
				noError(t, s.Refuse(a.folder, a.unit, b))
			default:
				a.verdict = trust.Approved
				noError(t, s.Approve(a.folder, a.unit, b))
			}
			model = append(model, a)
		}
		for _, f := range tree {
			for _, u := range []string{"plugin/a", "plugin/b"} {
				for _, v := range []string{"1", "2", "3"} {
					d := text(v).Digest()
					got, want := s.Decide(root+f, u, d), model.says(root+f, u, d)
					if got.Verdict != want {
						t.Fatalf("%s %s version %s: got %+v, want %s", f, u, v, got, want)
					}
					counts[got.Verdict]++
				}
			}
		}
	})
	for _, v := range []trust.Verdict{trust.Approved, trust.Refused, trust.Unknown} {
		if counts[v] == 0 {
			t.Errorf("never %s; the comparison proves too little", v)
		}
	}
}
