package fs

import (
	"context"
	"errors"
	iofs "io/fs"
	"os"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"

	"golang.org/x/sys/unix"

	"starling/tools/fs/ignore"
)

const (
	// maxDepth is how many folders below each other a walk goes down.
	maxDepth = 200
	// batch is how many files of one folder a worker takes at once.
	batch = 64
)

// folder is a directory that a walk has open.
type folder struct {
	fd    int
	path  string // from where the walk began, "" for there
	from  string // from the top of the rules
	depth int
	rules *ignore.Rules
	up    *folder
	used  atomic.Int32 // what still needs fd, itself among it
}

func (d *folder) release() {
	if d.used.Add(-1) > 0 {
		return
	}
	_ = unix.Close(d.fd)
	if d.up != nil {
		d.up.release()
	}
}

// entry is one file that a walk found: a regular file, a link, or something
// else that is no directory. It is valid while visit runs.
type entry struct {
	dir  *folder
	name string
	kind iofs.FileMode // type bits
}

func (e *entry) path() string { return join(e.dir.path, e.name) }

// open opens a regular file and nothing else: no link is followed, no pipe
// waited for.
func (e *entry) open() (int, error) {
	return unix.Openat(e.dir.fd, e.name, unix.O_RDONLY|unix.O_NOFOLLOW|unix.O_NONBLOCK|unix.O_CLOEXEC, 0)
}

func join(dir, name string) string {
	if dir == "" {
		return name
	}
	return dir + "/" + name
}

// walked counts what a walk could not look into.
type walked struct {
	unreadable atomic.Int64
	deep       atomic.Int64
}

// walk visits every file below a folder of a jail, from several goroutines at
// once and in no order, but neither .git nor what git ignores. It follows no
// link. visit returns false to end the walk.
func (f *Files) walk(ctx context.Context, at place, visit func(e *entry) bool) (*walked, error) {
	file, err := at.jail.Folder(at.rel)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	root, err := unix.FcntlInt(file.Fd(), unix.F_DUPFD_CLOEXEC, 0)
	if err != nil {
		return nil, &os.PathError{Op: "dup", Path: at.name, Err: err}
	}
	who := ignore.Person{Home: f.opt.Home, Config: envValue(f.opt.Env, "XDG_CONFIG_HOME")}
	rules, from := ignore.Load(at.abs, at.jail.Dir(), who)
	w := &walker{visit: visit, who: who, abs: at.abs, ctx: ctx}
	w.more.L = &w.mu
	top := &folder{fd: root, from: from, rules: rules}
	top.used.Store(1)
	w.tasks = []task{{dir: top}}
	stop := context.AfterFunc(ctx, w.end)
	defer stop()
	var workers sync.WaitGroup
	for range max(2, min(8, runtime.GOMAXPROCS(0))) {
		workers.Go(w.work)
	}
	workers.Wait()
	for _, t := range w.tasks { // left when the walk was ended
		t.dir.release()
	}
	return &w.walked, ctx.Err()
}

// task is a directory to list, or some files of one to visit. It holds dir.
type task struct {
	dir   *folder
	child string // a directory below dir, not opened yet
	files []entry
}

type walker struct {
	walked
	visit func(e *entry) bool
	who   ignore.Person
	abs   string
	ctx   context.Context

	mu    sync.Mutex
	more  sync.Cond
	tasks []task // last in, first out: few directories are open at once
	busy  int
	ended bool
}

func (w *walker) end() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.ended = true
	w.more.Broadcast()
}

func (w *walker) work() {
	w.mu.Lock()
	defer w.mu.Unlock()
	for {
		for len(w.tasks) == 0 && w.busy > 0 && !w.ended {
			w.more.Wait()
		}
		if len(w.tasks) == 0 || w.ended {
			w.more.Broadcast()
			return
		}
		t := w.tasks[len(w.tasks)-1]
		w.tasks = w.tasks[:len(w.tasks)-1]
		w.busy++
		w.mu.Unlock()
		w.do(t)
		w.mu.Lock()
		w.busy--
	}
}

func (w *walker) do(t task) {
	switch {
	case t.files != nil:
		for i := range t.files {
			if w.ctx.Err() != nil || !w.visit(&t.files[i]) {
				w.end()
				break
			}
		}
		t.dir.release()
	case t.child != "":
		if d := w.descend(t.dir, t.child); d != nil {
			w.list(d)
		} else {
			t.dir.release()
		}
	default:
		w.list(t.dir)
	}
}

// descend opens a directory; it holds the one above until it is released.
func (w *walker) descend(up *folder, name string) *folder {
	if up.depth >= maxDepth {
		w.deep.Add(1)
		return nil
	}
	fd, err := unix.Openat(up.fd, name, unix.O_RDONLY|unix.O_NOFOLLOW|unix.O_DIRECTORY|unix.O_CLOEXEC, 0)
	if err != nil {
		if !errors.Is(err, unix.ENOENT) {
			w.unreadable.Add(1)
		}
		return nil
	}
	d := &folder{fd: fd, path: join(up.path, name), from: join(up.from, name), depth: up.depth + 1, rules: up.rules, up: up}
	d.used.Store(1)
	return d
}

// list queues the content of a directory.
func (w *walker) list(d *folder) {
	defer d.release()
	entries, err := listing(d.fd)
	if err != nil {
		w.unreadable.Add(1)
		return
	}
	for _, e := range entries {
		switch e.name {
		case ".git":
			if d.up != nil { // a repository inside of this one has rules of its own
				abs := w.abs + "/" + d.path
				if ignore.Repository(abs) == abs {
					d.rules, d.from = ignore.Top(abs, w.who), ""
				}
			}
		case ".gitignore":
			if e.kind.IsRegular() {
				d.rules = d.rules.With(d.from, w.ignoreFile(d, e.name))
			}
		}
	}
	w.queue(d, entries)
}

func (w *walker) ignoreFile(d *folder, name string) []byte {
	e := entry{dir: d, name: name}
	fd, err := e.open()
	if err != nil {
		return nil
	}
	file := os.NewFile(uintptr(fd), name)
	defer file.Close()
	return ignore.Content(file)
}

func (w *walker) queue(d *folder, entries []entry) {
	var tasks []task
	var files []entry
	flush := func() {
		if len(files) > 0 {
			d.used.Add(1)
			tasks = append(tasks, task{dir: d, files: files})
			files = nil
		}
	}
	for _, e := range entries {
		if e.name == ".git" || d.rules.Ignored(join(d.from, e.name), e.kind.IsDir()) {
			continue
		}
		if e.kind.IsDir() {
			d.used.Add(1)
			tasks = append(tasks, task{dir: d, child: e.name})
			continue
		}
		e.dir = d
		if files = append(files, e); len(files) == batch {
			flush()
		}
	}
	flush()
	w.mu.Lock()
	defer w.mu.Unlock()
	w.tasks = append(w.tasks, tasks...)
	w.more.Broadcast()
}

// listing reads the names and kinds of a directory.
func listing(fd int) ([]entry, error) {
	dup, err := unix.FcntlInt(uintptr(fd), unix.F_DUPFD_CLOEXEC, 0)
	if err != nil {
		return nil, err
	}
	dir := os.NewFile(uintptr(dup), "")
	defer dir.Close()
	names, err := dir.ReadDir(-1)
	out := make([]entry, 0, len(names))
	for _, n := range names {
		out = append(out, entry{name: n.Name(), kind: n.Type()})
	}
	return out, err
}

func envValue(env []string, name string) string {
	value := ""
	for _, kv := range env {
		if v, ok := strings.CutPrefix(kv, name+"="); ok {
			value = v
		}
	}
	return value
}
