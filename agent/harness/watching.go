package harness

import (
	"context"
	"path/filepath"
	"sync"
	"time"

	"starling/bus"
	"starling/bus/compose"
	"starling/bus/event"
	"starling/bus/view"
	"starling/script/watch"
	"starling/trust"
)

// watchAfter is how long an engine lives before it watches: a run that is over
// sooner pays nothing for it. What changed before is seen by the first look.
const watchAfter = 300 * time.Millisecond

// watching follows the plugin folders while the engine lives.
type watching struct {
	engine *Engine
	timer  *time.Timer
	life   context.Context // until close
	end    context.CancelFunc
	others sync.WaitGroup // what runs as long

	mu      sync.Mutex
	watcher *watch.Watcher
	closed  bool
	done    chan struct{} // closed when the loop ended; nil before it began
}

func newWatching(e *Engine) *watching {
	w := &watching{engine: e}
	w.life, w.end = context.WithCancel(context.Background())
	e.beginProving(w.life)
	if e.options.Host == "eval" {
		return w // a trial runs what it was started with
	}
	w.timer = time.AfterFunc(watchAfter, w.begin)
	return w
}

// begin starts the watcher and its loop.
func (w *watching) begin() {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.closed {
		return
	}
	e := w.engine
	watcher, err := watch.New(watch.Options{
		Dirs: e.options.pluginDirs(), Files: e.watchedFiles,
		Log: func(text string) { e.say(context.Background(), view.Notice{Text: text, Warn: true}) },
	})
	if err != nil {
		e.say(context.Background(), view.Notice{Text: "plugins are not watched: " + err.Error(), Warn: true})
		return
	}
	w.watcher, w.done = watcher, make(chan struct{})
	go w.loop(w.life)
}

// while runs f beside the engine: its context ends when the engine does, which
// waits for it.
func (w *watching) while(f func(life context.Context)) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if !w.closed {
		w.others.Go(func() { f(w.life) })
	}
}

func (w *watching) loop(ctx context.Context) {
	defer close(w.done)
	// Between reading the files and watching them something may have changed.
	w.engine.changed(ctx)
	for range w.watcher.Changes() {
		w.engine.changed(ctx)
		w.watcher.Rescan() // a load may have changed which files count
	}
}

func (w *watching) close() {
	if w.timer != nil {
		w.timer.Stop()
	}
	w.mu.Lock()
	w.closed = true
	watcher, done := w.watcher, w.done
	w.mu.Unlock()
	w.end()
	w.engine.endProving()
	w.others.Wait()
	if watcher == nil {
		return
	}
	watcher.Close()
	<-done
}

// pluginDirs are the folders in which every .star file may be a plugin.
func (o Options) pluginDirs() []string {
	var dirs []string
	if o.NoPlugins {
		return dirs
	}
	if o.Home != "" {
		dirs = append(dirs, filepath.Join(o.Home, "plugins"))
	}
	return append(dirs, filepath.Join(o.Workspace, ".starling", "plugins"))
}

// compositionFiles are the plugins.json of home and workspace.
func (o Options) compositionFiles() []string {
	var files []string
	for _, dir := range o.pluginDirs() {
		files = append(files, filepath.Join(filepath.Dir(dir), "plugins.json"))
	}
	return files
}

// watchedFiles are the other files that decide what runs: those of --plugin, what
// they load, plugins.json and settings files.
func (e *Engine) watchedFiles() []string {
	files := e.options.compositionFiles()
	for _, u := range e.current.Load().units {
		for _, name := range u.bundle.Names() {
			if u.name == trust.UnitText {
				files = append(files, filepath.Join(filepath.Dir(u.path), filepath.FromSlash(name)))
			}
		}
	}
	for _, pl := range e.current.Load().plugins {
		files = append(files, pl.file.Path)
		if pl.file.Dir != "" {
			for name := range pl.bundle {
				files = append(files, filepath.Join(pl.file.Dir, filepath.FromSlash(name)))
			}
		}
		for _, dir := range e.options.pluginDirs() {
			files = append(files, filepath.Join(dir, pl.file.Name+".json"))
		}
	}
	return files
}

// turns loads trusted edits between the turns of a run: no guard changes in the
// middle of one.
func (e *Engine) turns() compose.Component {
	return compose.Component{
		Name: "reload", Origin: "host", Position: bus.At(bus.ClassHost, 2, "reload"),
		Apply: func(s *compose.Scope) error {
			compose.On(s, bus.PortOf(e.bus, event.TurnStart), bus.Listener[event.TurnStartEvent, bus.None]{
				Do: func(ctx context.Context, _ *event.TurnStartEvent) (*bus.None, error) {
					e.edits(ctx)
					return nil, nil
				},
			})
			return nil
		},
	}
}
