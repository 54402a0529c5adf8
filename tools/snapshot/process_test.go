package snapshot_test

import (
	"bufio"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"starling/tools/snapshot"
	"starling/trust/command"
)

// children are what the test binary does as another process, on a folder.
var children = map[string]func(root string){
	"take": func(root string) {
		for i := range 1000 {
			s := storeAt(root)
			file := filepath.Join(root, "repo", fmt.Sprintf("own-%d", os.Getpid()))
			// Each snapshot has contents of its own and some of others.
			must(os.WriteFile(file, []byte(strings.Repeat(fmt.Sprintln(os.Getpid(), i), 5000)), 0o644))
			snap, err := s.Take(context.Background(), everything(root), fmt.Sprint(i))
			must(err)
			fmt.Println(snap.ID)
			must(os.Remove(file))
		}
	},
}

func must(err error) {
	if err != nil {
		panic(err)
	}
}

func storeAt(root string) *snapshot.Store {
	return &snapshot.Store{
		Dir: filepath.Join(root, "state", "w"), Workspace: filepath.Join(root, "repo"),
		Environ: []string{"PATH=" + os.Getenv("PATH"), "HOME=" + filepath.Join(root, "home"), "GIT_CONFIG_NOSYSTEM=1"},
	}
}

func everything(root string) []command.Loss {
	return []command.Loss{{
		Dir:   filepath.Join(root, "repo"),
		Kinds: []command.Lost{command.Worktree, command.Index, command.Untracked, command.Ignored, command.Stash},
	}}
}

// TestKilled ends processes at random moments: whatever is listed is whole, every
// id that was said is listed, and others go on.
func TestKilled(t *testing.T) {
	l := small(t)
	l.run("git stash -q && git stash apply -q --index")
	said := map[string]bool{}
	pause := 40 * time.Millisecond
	for round := range 12 {
		var wg sync.WaitGroup
		var mu sync.Mutex
		for i := range 2 {
			cmd := exec.Command(os.Args[0], "--", l.root)
			cmd.Env = append(os.Environ(), "SNAPSHOT_CHILD=take")
			out := &strings.Builder{}
			cmd.Stdout = out
			ok(t, cmd.Start())
			wg.Go(func() {
				time.Sleep(time.Duration(round*3+i*2) * pause)
				_ = cmd.Process.Kill()
				_ = cmd.Wait()
				mu.Lock()
				defer mu.Unlock()
				lines := strings.Split(out.String(), "\n")
				for _, id := range lines[:len(lines)-1] {
					said[id] = true
				}
			})
		}
		if round%3 == 2 {
			_, err := storeAt(l.root).Prune(context.Background(), snapshot.Keep{})
			ok(t, err)
		}
		wg.Wait()
	}
	// One more, killed right after it said an id.
	cmd := exec.Command(os.Args[0], "--", l.root)
	cmd.Env = append(os.Environ(), "SNAPSHOT_CHILD=take")
	out, err := cmd.StdoutPipe()
	ok(t, err)
	ok(t, cmd.Start())
	id, err := bufio.NewReader(out).ReadString('\n')
	ok(t, err)
	said[strings.TrimSpace(id)] = true
	ok(t, cmd.Process.Kill())
	_ = cmd.Wait() // it was killed
	s := storeAt(l.root)
	// Even one that removes leftovers.
	_, err = s.Prune(context.Background(), snapshot.Keep{Newest: 1 << 20})
	ok(t, err)
	list, err := s.List()
	ok(t, err)
	listed := map[string]bool{}
	for _, snap := range list {
		listed[snap.ID] = true
		whole(t, s, snap)
	}
	for id := range said {
		if !listed[id] {
			t.Errorf("%s was said and is not there", id)
		}
	}
}
