package harness

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"
	"unicode"
	"unicode/utf8"

	"pgregory.net/rapid"

	"starling/tools/fs"
	"starling/trust"
)

// However output is cut, the pieces are whole characters and together the whole.
func TestPieces(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		data := []byte(rapid.OneOf(
			rapid.String(), rapid.StringOf(rapid.SampledFrom([]rune{'a', 'é', '漢', '👩', '\n'})),
			rapid.Map(rapid.SliceOf(rapid.Byte()), func(b []byte) string { return string(b) }),
		).Draw(t, "output"))
		var p pieces
		var got strings.Builder
		for rest := data; len(rest) > 0; {
			n := rapid.IntRange(1, len(rest)).Draw(t, "cut")
			piece := p.take(rest[:n])
			if !utf8.ValidString(piece) {
				t.Fatalf("%q is cut", piece)
			}
			got.WriteString(piece)
			rest = rest[n:]
		}
		got.WriteString(p.rest())
		if utf8.Valid(data) && got.String() != string(data) {
			t.Fatalf("%q became %q", data, got.String())
		}
		if len(p.held) >= utf8.UTFMax {
			t.Fatalf("%d bytes are held", len(p.held))
		}
	})
}

func TestBestMatches(t *testing.T) {
	paths := []string{
		"README.md", "agent/agent.go", "agent/harness/engine.go", "agent/harness/terminal.go", "docs/agents.md",
		"internal/http/login.go", "internal/http/loginTest.go", "surfaces/tui/app.go", "tools/log_in.txt", "äöü/naïve.go",
	}
	for query, want := range map[string]string{
		"login":    "internal/http/login.go",
		"engine":   "agent/harness/engine.go",
		"readme":   "README.md",
		"agent.go": "agent/agent.go",
		"hlogin":   "internal/http/login.go",
		"naïve":    "äöü/naïve.go",
		"tuiapp":   "surfaces/tui/app.go",
	} {
		if got := bestMatches(paths, query, 3); len(got) == 0 || got[0] != want {
			t.Errorf("%q: %v", query, got)
		}
	}
	if got := bestMatches(paths, "zzz", 3); len(got) != 0 {
		t.Errorf("zzz: %v", got)
	}
	if got := bestMatches(paths, "", 2); len(got) != 2 {
		t.Errorf("nothing typed: %v", got)
	}
	if got := bestMatches([]string{"a\x1b[31mb", "a\nb", "ab"}, "ab", 9); len(got) != 1 || got[0] != "ab" {
		t.Errorf("names that no text can say: %q", got)
	}
	if got := bestMatches(paths, "a", -1); len(got) != 0 {
		t.Errorf("no limit: %v", got)
	}
}

// Whatever is typed and whatever files are called: each match has the letters in
// their order, a path whose letters are in order is found, and one more letter finds
// no more. Capitals count where some were typed.
func TestBestMatchesProperty(t *testing.T) {
	letters := rapid.SampledFrom([]rune("abcABC/_.-éÉİ漢"))
	rapid.Check(t, func(t *rapid.T) {
		paths := rapid.SliceOfDistinct(rapid.StringOfN(letters, 1, 12, -1), func(s string) string { return s }).Draw(t, "paths")
		query := rapid.StringOfN(letters, 0, 4, -1).Draw(t, "query")
		lower := strings.ToLower
		if strings.ContainsFunc(query, unicode.IsUpper) {
			lower = strings.Clone
		}
		found := map[string]bool{}
		for _, p := range bestMatches(paths, query, len(paths)) {
			found[p] = true
		}
		for _, p := range paths {
			if found[p] != inOrder(lower(p), lower(query)) {
				t.Fatalf("%q in %q: found %v", query, p, found[p])
			}
		}
		if more := bestMatches(paths, query+"a", len(paths)); len(more) > len(found) {
			t.Fatalf("%q finds more", query+"a")
		}
	})
}

func inOrder(text, want string) bool {
	rest := []rune(text)
	for _, c := range want {
		i := 0
		for i < len(rest) && rest[i] != c {
			i++
		}
		if i == len(rest) {
			return false
		}
		rest = rest[i+1:]
	}
	return true
}

// The list has no ignored file, and serves while one types.
func TestFileList(t *testing.T) {
	dir := t.TempDir()
	for name, content := range map[string]string{".gitignore": "out/\n", "a.go": "", "sub/b.go": "", "out/c.go": "", ".git/HEAD": ""} {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(content), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	jail, err := trust.NewJail(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer jail.Close()
	tools := fs.New(jail)
	l := fileList{look: func(ctx context.Context) ([]string, error) { return tools.Paths(ctx, fs.MaxTree) }}
	first, err := l.list(t.Context())
	if err != nil || strings.Join(first, " ") != ".gitignore a.go sub/b.go" {
		t.Errorf("%v %v", first, err)
	}
	if err := os.WriteFile(filepath.Join(dir, "new.go"), nil, 0o644); err != nil {
		t.Fatal(err)
	}
	l.at = l.at.Add(-filesKept)
	if later, err := l.list(t.Context()); err != nil || len(later) != 4 {
		t.Errorf("%v %v", later, err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	l.at = l.at.Add(-filesKept)
	if _, err := l.list(ctx); err == nil {
		t.Error("a cancelled look is no error")
	}
}

// fileAnswer is what came of a fileList.
type fileAnswer struct {
	paths []string
	err   error
}

func askFor(ctx context.Context, l *fileList) chan fileAnswer {
	got := make(chan fileAnswer, 1)
	go func() {
		paths, err := l.list(ctx)
		got <- fileAnswer{paths, err}
	}()
	return got
}

// One walk goes, however many ask for the list meanwhile. Each leaves with its own
// context, the walk goes on without them, and whoever still waits has its list.
func TestOneWalk(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		walks, end := 0, make(chan struct{})
		l := fileList{look: func(context.Context) ([]string, error) {
			walks++
			<-end
			return []string{"a.go"}, nil
		}}
		first, leave := context.WithCancel(t.Context())
		gone := askFor(first, &l)
		synctest.Wait()
		stays := askFor(t.Context(), &l)
		synctest.Wait()
		leave()
		if a := <-gone; !errors.Is(a.err, context.Canceled) {
			t.Errorf("who leaves: %v", a)
		}
		close(end)
		if a := <-stays; a.err != nil || len(a.paths) != 1 {
			t.Errorf("who stays: %v", a)
		}
		if a := <-askFor(t.Context(), &l); a.err != nil || len(a.paths) != 1 || walks != 1 {
			t.Errorf("the list of the walk serves: %v, %d walks", a, walks)
		}
	})
}

// A walk ends with the engine, and none begins behind it.
func TestWalkEnds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ended := false
		l := fileList{look: func(ctx context.Context) ([]string, error) {
			<-ctx.Done()
			time.Sleep(time.Second)
			ended = true
			return nil, ctx.Err()
		}}
		asked := askFor(t.Context(), &l)
		synctest.Wait()
		l.close(t.Context())
		if !ended {
			t.Error("close did not wait for the walk")
		}
		if a := <-asked; !errors.Is(a.err, context.Canceled) {
			t.Errorf("the list of a walk that was ended: %v", a)
		}
		if a := <-askFor(t.Context(), &l); !errors.Is(a.err, context.Canceled) {
			t.Errorf("a list behind the end: %v", a)
		}
	})
}

// A disk that does not answer keeps nobody.
func TestWalkStuck(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		stuck := make(chan struct{})
		l := fileList{look: func(context.Context) ([]string, error) {
			<-stuck
			return nil, nil
		}}
		asked := askFor(t.Context(), &l)
		synctest.Wait()
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		l.close(ctx)
		close(stuck)
		<-asked
	})
}
