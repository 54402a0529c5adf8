package journal

import (
	"encoding/binary"
	"hash/crc32"
	"sync"
	"sync/atomic"
	"unicode/utf8"
	"unsafe"
)

// The file is nothing but slots. One that is in use:
//
//	 0  seq    of the entry; 0 is an empty slot. Stored last, cleared first
//	 8  sum    over all that follows, begun with seq
//	12  length of the plugin's name, length of what, two bytes unused
//	16  outer  seq of the entry it came from, 0 for none
//	24  chain  seq of the first entry of the chain
//	32  when   it was entered, nanoseconds since 1970
//	40  the name, then what
//
// Numbers are in the order of the machine; a file of another one fails its sums.
const (
	slots    = 64
	slotSize = 256
	fileSize = slots * slotSize

	atSum    = 8
	atLength = 12
	atOuter  = 16
	atChain  = 24
	atWhen   = 32
	atText   = 40

	// maxName leaves room for what. A name cut short could be another plugin's.
	maxName = 160
)

// castagnoli is made at the first entry: the table costs a tenth of the start of a
// process without plugins.
var castagnoli = sync.OnceValue(func() *crc32.Table { return crc32.MakeTable(crc32.Castagnoli) })

// record is what a slot holds.
type record struct {
	seq, outer, chain uint64
	when              int64
	plugin, what      string
}

// write fills an empty slot that the caller has claimed.
func (r *record) write(slot []byte) {
	name := copy(slot[atText:], r.plugin)
	what := copy(slot[atText+name:], fitting(r.what, slotSize-atText-name))
	slot[atLength], slot[atLength+1] = byte(name), byte(what)
	order := binary.NativeEndian
	order.PutUint64(slot[atOuter:], r.outer)
	order.PutUint64(slot[atChain:], r.chain)
	order.PutUint64(slot[atWhen:], uint64(r.when))
	order.PutUint32(slot[atSum:], sum(slot, r.seq, atText+name+what))
	atomic.StoreUint64(seqOf(slot), r.seq)
}

// read returns what a slot holds; false when it is empty or torn.
func read(slot []byte) (record, bool) {
	order := binary.NativeEndian
	r := record{seq: order.Uint64(slot)}
	name, what := int(slot[atLength]), int(slot[atLength+1])
	end := atText + name + what
	if r.seq == 0 || end > slotSize || order.Uint32(slot[atSum:]) != sum(slot, r.seq, end) {
		return record{}, false
	}
	r.outer, r.chain = order.Uint64(slot[atOuter:]), order.Uint64(slot[atChain:])
	r.when = int64(order.Uint64(slot[atWhen:]))
	r.plugin, r.what = string(slot[atText:atText+name]), string(slot[atText+name:end])
	return r, true
}

// leave empties the slot when it still holds the entry seq.
func leave(slot []byte, seq uint64) bool { return atomic.CompareAndSwapUint64(seqOf(slot), seq, 0) }

func wipe(slot []byte) { atomic.StoreUint64(seqOf(slot), 0) }

func seqOf(slot []byte) *uint64 { return (*uint64)(unsafe.Pointer(&slot[0])) }

func sum(slot []byte, seq uint64, end int) uint32 {
	return crc32.Update(uint32(seq)^uint32(seq>>32), castagnoli(), slot[atLength:end])
}

// fitting cuts s to at most n bytes of whole characters.
func fitting(s string, n int) string {
	if len(s) <= n {
		return s
	}
	for n > 0 && !utf8.RuneStart(s[n]) {
		n--
	}
	return s[:n]
}
