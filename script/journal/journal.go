package journal

import (
	"errors"
	"fmt"
	"io/fs"
	"math/bits"
	"os"
	"runtime/debug"
	"sync/atomic"
	"time"
)

// Journal is the file of this process. All methods are safe for concurrent use
// and for a nil Journal, which does nothing.
type Journal struct {
	pages *pages
	seq   atomic.Uint64 // of the latest entry
	free  atomic.Uint64 // one bit a slot
	// off: closed, or its pages cannot be written.
	off    atomic.Bool
	closed atomic.Bool
}

// allFree has a bit for every slot.
const allFree = ^uint64(0)

// Open begins the journal of this process in dir, which is made when it is not
// there, and returns what processes that died left in it: the newest first, and
// each only once, since their files are removed. Journals of living processes are
// left alone. Without a dir, and where files cannot be mapped, the Journal is nil.
//
// The Journal and the deaths are to be used even with an error: it says what
// could not be read, or why there is no Journal.
func Open(dir string) (*Journal, []Death, error) {
	if dir == "" {
		return nil, nil, nil
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, nil, fmt.Errorf("journal of running plugins: %w", err)
	}
	deaths, err := gather(dir, true)
	p, failed := create(dir)
	if err = errors.Join(err, failed); err != nil {
		err = fmt.Errorf("journal of running plugins: %w", err)
	}
	if p == nil {
		return nil, deaths, err
	}
	j := &Journal{pages: p}
	j.free.Store(allFree)
	return j, deaths, err
}

// Peek returns what Open would return, and leaves it to Open. The error says what
// could not be read; the rest is returned with it. For the moment in which a file
// is looked at, an Open takes its owner for alive.
func Peek(dir string) ([]Death, error) {
	if dir == "" {
		return nil, nil
	}
	deaths, err := gather(dir, false)
	if errors.Is(err, fs.ErrNotExist) {
		err = nil // nothing ran here yet
	}
	if err != nil {
		err = fmt.Errorf("journal of running plugins: %w", err)
	}
	return deaths, err
}

// Entry is a call that was entered. The zero Entry is none.
type Entry struct {
	journal *Journal // nil: not journalled, but seq and chain are those it came from
	slot    int
	seq     uint64
	chain   uint64 // seq of the first entry of the chain
}

// Enter notes that plugin handles what, such as "agent/tool-call", and begins a
// chain of calls. The returned Entry must be left.
func (j *Journal) Enter(plugin, what string) Entry {
	return j.EnterFrom(Entry{}, plugin, what)
}

// EnterFrom is Enter for a call that came out of another one, which waits for it
// and is not to be blamed meanwhile. A zero outer begins a chain. A name that
// does not fit is not journalled; of what, the rest that does not fit is cut.
func (j *Journal) EnterFrom(outer Entry, plugin, what string) Entry {
	none := Entry{seq: outer.seq, chain: outer.chain}
	if j == nil || len(plugin) > maxName || j.off.Load() {
		return none
	}
	slot, ok := j.claim()
	if !ok {
		return none
	}
	e := Entry{journal: j, slot: slot, seq: j.seq.Add(1), chain: outer.chain}
	if e.chain == 0 {
		e.chain = e.seq
	}
	r := record{seq: e.seq, outer: outer.seq, chain: e.chain, when: time.Now().UnixNano(), plugin: plugin, what: what}
	if !j.guarded(func() { r.write(j.slot(slot)) }) {
		return none
	}
	return e
}

// Leave notes that the call ended. Leaving again does nothing.
func (e Entry) Leave() {
	j := e.journal
	if j == nil || j.off.Load() {
		return
	}
	left := false
	if j.guarded(func() { left = leave(j.slot(e.slot), e.seq) }) && left && !j.off.Load() {
		j.free.Or(1 << e.slot)
	}
}

// Close clears the journal and removes its file: nothing that still runs will be
// blamed. Closing again does nothing.
func (j *Journal) Close() error {
	if j == nil || j.closed.Swap(true) {
		return nil
	}
	j.off.Store(true)
	// Nobody can claim a slot from here on, and whoever holds one may still write
	// to it: then the pages stay until the process ends.
	idle := j.free.Swap(0) == allFree
	j.guarded(func() {
		for i := range slots {
			wipe(j.slot(i))
		}
	})
	if err := j.pages.remove(idle); err != nil {
		return fmt.Errorf("journal of running plugins: %w", err)
	}
	return nil
}

// claim takes a free slot.
func (j *Journal) claim() (int, bool) {
	for {
		free := j.free.Load()
		if free == 0 {
			return 0, false
		}
		slot := bits.TrailingZeros64(free)
		if j.free.CompareAndSwap(free, free&^(1<<slot)) {
			return slot, true
		}
	}
}

func (j *Journal) slot(i int) []byte { return j.pages.mem[i*slotSize : (i+1)*slotSize] }

// guarded runs f, which touches the pages. A file that somebody cut short or a
// full disk makes that a fault; it must not end the process, so it only ends the
// journal.
func (j *Journal) guarded(f func()) (ok bool) {
	defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
	defer func() {
		if r := recover(); r != nil {
			if _, fault := r.(interface{ Addr() uintptr }); !fault {
				panic(r)
			}
			j.off.Store(true)
			ok = false
		}
	}()
	f()
	return true
}
