package shell

import "sync"

// shared is a reading of the system that many processes want at once. Whoever
// asks gets one that began after it asked, so that it holds for what the asker
// knew; all who ask while another reading goes share the next. Without it the
// end of many processes at once would read the whole table for each.
type shared[T any] struct {
	read func() T

	reading sync.Mutex // held while a reading goes
	mu      sync.Mutex
	next    *reading[T] // has not begun; nil when nobody waits
}

type reading[T any] struct {
	once  sync.Once
	value T
}

// get returns a reading, which nobody may change.
func (s *shared[T]) get() T {
	s.mu.Lock()
	if s.next == nil {
		s.next = &reading[T]{}
	}
	mine := s.next
	s.mu.Unlock()
	mine.once.Do(func() {
		s.reading.Lock()
		defer s.reading.Unlock()
		s.mu.Lock()
		s.next = nil
		s.mu.Unlock()
		mine.value = s.read()
	})
	return mine.value
}

// system is what the engine's trees read of the system.
type system struct {
	table   shared[[]entry]
	writers shared[map[uint64][]int]
	marks   marks
}

func newSystem() *system {
	return &system{table: shared[[]entry]{read: processTable}, writers: shared[map[uint64][]int]{read: pipeWriters}, marks: marks{read: environOf, file: markFileOf}}
}
