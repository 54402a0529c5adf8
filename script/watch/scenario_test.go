package watch

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"
)

// Each way of saving that a person, an editor or a tool has ends with the
// receiver knowing what lies on disk. Only events help here: there is no
// polling, except where the name says so.
func TestScenarios(t *testing.T) {
	one := "mkdir p; echo 'x=1' >p/a.star"
	vim := func(o string) string {
		return "vim -u NONE -N -es -c 'set " + o + "' -c 'normal Ofoo' -c wq p/a.star </dev/null"
	}
	slow := `python3 -c "
import time
f=open('p/a.star','w')
for i in range(100):
  f.write('x=%d\n'%i*50); f.flush(); time.sleep(0.005)
"`
	mmap := `python3 -c "
import mmap
f=open('p/a.star','r+b')
m=mmap.mmap(f.fileno(),0)
m[0:1]=b'y'
m.flush()
m.close()
"`
	for _, s := range []struct {
		name, setup, act string
		poll             bool
	}{
		{"truncate and write", one, "echo y=2 >p/a.star", false},
		{"vim, by renaming", one, vim("backupcopy=no writebackup backup"), false},
		{"vim, in place", one, vim("backupcopy=yes writebackup"), false},
		{"atomic rename", one, "echo y=2 >p/.t; mv p/.t p/a.star", false},
		{"sed -i three times", one, "for i in 1 2 3; do sed -i s/x/xx/ p/a.star; done", false},
		{"unlink and create", one, "rm p/a.star; echo y=3 >p/a.star", false},
		{"git checkout", "git init -q .; mkdir p; echo 1 >p/a.star; git add .; git commit -qm 1; git checkout -qb two; echo 2 >p/a.star; echo b >p/b.star; git add .; git commit -qm 2", "git checkout -q -", false},
		{"100 slow writes", one, slow, false},
		{"folder made later", "true", "mkdir p; echo x >p/a.star", false},
		{"folder above made later", "true", "mkdir -p p; sleep 0.1; mkdir p/deep; echo x >p/deep/a.star", false},
		{"folder removed and remade", one, "rm -r p; sleep 0.05; mkdir p; echo z >p/a.star; sleep 0.1; echo w >p/a.star", false},
		{"folder renamed away, new one", one, "mv p q; mkdir p; echo z >p/a.star; sleep 0.1; echo w >p/a.star", false},
		{"folder removed", one, "rm -r p", false},
		{"linked folder, target edited", "mkdir real; echo x >real/a.star; ln -s real p", "echo y >real/a.star", false},
		{"linked folder, target remade", "mkdir real; echo x >real/a.star; ln -s real p", "rm -r real; sleep 0.2; mkdir real; echo y >real/a.star", false},
		{"linked folder retargeted, then edited", "mkdir r1 r2; echo x >r1/a.star; echo y >r2/a.star; ln -s r1 p", "ln -sfn r2 p; sleep 0.2; echo z >r2/a.star", false},
		{"linked file, target edited", "mkdir p real; echo x >real/a.star; ln -s ../real/a.star p/a.star", "echo y >real/a.star", false},
		{"linked file retargeted", "mkdir p real; echo x >real/a.star; echo y >real/b.star; ln -s ../real/a.star p/a.star", "ln -sf ../real/b.star p/a.star; sleep 0.1; echo z >real/b.star", false},
		{"new folder with a file at once", "mkdir p", "mkdir p/sub; echo x >p/sub/a.star; sleep 0.2; echo y >p/sub/a.star", false},
		{"folder moved in", "mkdir p q; echo x >q/main.star", "mv q p/q; sleep 0.1; echo y >p/q/main.star", false},
		{"renamed inside", one, "mv p/a.star p/b.star", false},
		{"500 files", "mkdir p", "for i in $(seq 500); do echo $i >p/f$i.star; done", false},
		{"mapped write (polling only)", one + "; touch -d '1 hour ago' p/a.star", mmap, true},
		{"other content, same size and time", one + "; touch -d '1 hour ago' p/a.star", "echo 'y=1' >t; touch -r p/a.star t; mv t p/a.star", false},
	} {
		t.Run(s.name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			sh(t, dir, s.setup)
			o := Options{Dirs: []string{filepath.Join(dir, "p")}}
			if s.poll {
				o.Poll = 50 * time.Millisecond
			}
			r := receive(t, o)
			before := disk(t, filepath.Join(dir, "p"))
			sh(t, dir, s.act)
			r.sync(filepath.Join(dir, "p"))
			if len(r.loads)+len(r.gone) == 0 {
				t.Errorf("nothing was reported; on disk before %d files", len(before))
			}
		})
	}
}

// What changes no content reloads nothing. The file written after it proves
// that a look came behind it.
func TestNoChange(t *testing.T) {
	for _, c := range []struct{ name, act string }{
		{"touched", "touch p/a.star"},
		{"mode", "chmod 600 p/a.star"},
		{"the same bytes again", "cat p/a.star >t; mv t p/a.star"},
		{"other names", "echo 1 >p/.hidden.star; echo 1 >p/a.star~; echo 1 >p/4913; echo 1 >p/notes.md; mkdir p/.git; echo 1 >p/.git/b.star"},
		{"no file", "mkfifo p/pipe.star; mkdir p/dir.star; ln -s nowhere p/dangling.star"},
		{"links in a circle", "ln -s . p/self; ln -s ../p p/back"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			sh(t, dir, "mkdir p; echo 'x=1' >p/a.star")
			r := receive(t, Options{Dirs: []string{filepath.Join(dir, "p")}})
			sh(t, dir, c.act)
			replace(t, filepath.Join(dir, "p", "z.star"), "z")
			r.next()
			if len(r.loads) != 1 || r.loads["z.star"] != 1 || len(r.gone) != 0 {
				t.Errorf("loads %v, gone %v", r.loads, r.gone)
			}
		})
	}
}

// Bug report I-01: folders are watched, not files, so every save counts, and
// counts once.
func TestEverySaveIsOneChange(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "p", "a.star")
	write(t, path, "0")
	r := receive(t, Options{Dirs: []string{filepath.Dir(path)}})
	saves := 0
	save := func(how func(text string)) {
		saves++
		how(fmt.Sprint(saves))
		r.sync(filepath.Dir(path))
		if r.loads["a.star"] != saves {
			t.Errorf("after %d saves: loads %v", saves, r.loads)
		}
	}
	for range 3 {
		save(func(text string) { replace(t, path, text) })
	}
	for range 3 {
		save(func(text string) { // by renaming the old one away
			write(t, filepath.Dir(path)+"/new~", text)
			if err := os.Rename(path, path+"~"); err != nil {
				t.Fatal(err)
			}
			if err := os.Rename(filepath.Dir(path)+"/new~", path); err != nil {
				t.Fatal(err)
			}
		})
	}
	for range 3 {
		save(func(text string) { // in place, in one write
			f, err := os.OpenFile(path, os.O_WRONLY, 0)
			if err != nil {
				t.Fatal(err)
			}
			defer f.Close()
			if _, err := f.WriteString(text); err != nil {
				t.Fatal(err)
			}
		})
	}
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	if c := r.next(); len(c.Removed) != 1 || len(c.Added)+len(c.Changed) != 0 {
		t.Errorf("change %+v after the delete", c)
	}
	replace(t, path, "back")
	if c := r.next(); len(c.Added) != 1 {
		t.Errorf("change %+v after the file came back", c)
	}
}

func TestExtraFiles(t *testing.T) {
	dir := t.TempDir()
	rows, extra := filepath.Join(dir, ".starling", "plugins.json"), filepath.Join(dir, "elsewhere", "lib.star")
	write(t, extra, "1")
	list := make(chan []string, 1)
	list <- []string{rows, extra}
	r := receive(t, Options{Dirs: []string{filepath.Join(dir, ".starling", "plugins")}, Files: func() []string {
		l := <-list
		list <- l
		return l
	}})
	expect := func(what, path string, got []string) {
		t.Helper()
		if len(got) != 1 || got[0] != path {
			t.Errorf("%s: %v", what, got)
		}
	}
	write(t, filepath.Join(dir, ".starling", "other.json"), "{}") // never counts
	replace(t, rows, "[]")
	expect("made", rows, r.next().Added)
	replace(t, extra, "2")
	expect("saved", extra, r.next().Changed)
	replace(t, rows, "[1]")
	expect("saved", rows, r.next().Changed)
	if err := os.Remove(rows); err != nil {
		t.Fatal(err)
	}
	expect("removed", rows, r.next().Removed)
	// No longer named: forgotten, not removed.
	<-list
	list <- []string{rows}
	replace(t, extra, "3")
	replace(t, rows, "[2]")
	c := r.next()
	expect("made again", rows, c.Added)
	if len(c.Removed)+len(c.Changed) != 0 {
		t.Errorf("change %+v", c)
	}
	if _, ok := r.w.Known()[extra]; ok {
		t.Error("a file that nobody names is still known")
	}
}

// A receiver that is busy gets everything that happened meanwhile as one
// change, and nothing that came and went.
func TestBusyReceiver(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "p")
	write(t, dir+"/a.star", "0")
	write(t, dir+"/b.star", "0")
	looked := make(chan struct{}, 1000)
	r := receive(t, Options{Dirs: []string{dir}, Files: func() []string { looked <- struct{}{}; return nil }})
	step := func(what func()) {
		for len(looked) > 0 {
			<-looked
		}
		what()
		for range 3 { // looks before the save, at most one in progress, after it
			r.w.Rescan()
			<-looked
		}
	}
	step(func() { replace(t, dir+"/a.star", "1") })
	step(func() { replace(t, dir+"/a.star", "2"); replace(t, dir+"/c.star", "1") })
	step(func() { sh(t, dir, "rm c.star b.star") })
	r.sync(dir)
	if r.loads["a.star"] != 1 || r.loads["c.star"] != 0 || r.gone["b.star"] != 1 || r.gone["c.star"] != 0 {
		t.Errorf("loads %v, gone %v", r.loads, r.gone)
	}
}

func TestTools(t *testing.T) {
	for _, tool := range []string{"bash", "vim", "git", "python3", "sed"} {
		if _, err := exec.LookPath(tool); err != nil {
			t.Errorf("the scenarios need %s: %v", tool, err)
		}
	}
}

func TestRelativeFolder(t *testing.T) {
	if _, err := New(Options{Dirs: []string{"plugins"}}); err == nil {
		t.Error("a relative folder was taken")
	}
}
