package watch

import (
	"errors"
	"fmt"
	"io/fs"
	"syscall"

	"github.com/fsnotify/fsnotify"
)

// Notifier is a source of file events. Add may be called again for a folder
// it watches already.
type Notifier interface {
	Add(folder string) error
	Remove(folder string) error
	Events() <-chan fsnotify.Event
	Errors() <-chan error
	Close() error
}

type system struct{ *fsnotify.Watcher }

func (s system) Events() <-chan fsnotify.Event { return s.Watcher.Events }
func (s system) Errors() <-chan error          { return s.Watcher.Errors }

func systemNotifier() (Notifier, error) {
	w, err := fsnotify.NewWatcher()
	if err != nil {
		return nil, err
	}
	return system{w}, nil
}

func (w *Watcher) sources() (<-chan fsnotify.Event, <-chan error) {
	if w.notifier == nil {
		return nil, nil
	}
	return w.notifier.Events(), w.notifier.Errors()
}

// watch asks for the events of a real folder. Asking again at every look is
// what finds a folder that was removed and made again.
func (w *Watcher) watch(folder string) {
	if w.notifier == nil {
		return
	}
	switch err := w.notifier.Add(folder); {
	case err == nil:
		w.watched[folder] = true
	case errors.Is(err, fs.ErrNotExist), errors.Is(err, fs.ErrPermission), errors.Is(err, syscall.ENOTDIR):
		// Gone meanwhile, or closed to us as it is to a look.
	default:
		w.degrade(fmt.Errorf("%s: %w", folder, err))
	}
}

// unwatchOthers gives up the folders that the look did not come to.
func (w *Watcher) unwatchOthers(folders map[string]bool) {
	for folder := range w.watched {
		if !folders[folder] {
			delete(w.watched, folder)
			if w.notifier != nil {
				_ = w.notifier.Remove(folder) // it is mostly gone already
			}
		}
	}
}

// degrade gives the events up for good: limits of the system do not go away
// by trying, and others need what is left of them.
func (w *Watcher) degrade(cause error) {
	if w.notifier != nil {
		_ = w.notifier.Close()
		w.notifier = nil
	}
	clear(w.watched)
	w.notice("degraded", fmt.Sprintf("plugin folders cannot be watched: %v; looking for changes every %v instead", cause, w.opt.Poll))
}
