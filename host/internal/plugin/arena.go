package plugin

import (
	"encoding/binary"
	"slices"
)

// arena is the memory of the Extism kernel: blocks a guest allocates outside its
// own memory to exchange bytes with the host. Addresses start at 8, because 0
// means nothing. It is emptied between calls.
type arena struct {
	bytes  []byte
	blocks map[uint64]uint64 // start -> length of live blocks
	spare  []extent          // freed, for reuse
	most   int               // largest number of live blocks since the last reset
}

type extent struct{ at, size uint64 }

const (
	arenaBase = 8
	// blockCost is the memory of a block outside the arena, which counts towards maxKernel: an
	// entry of the map, which doubles when it grows.
	blockCost = 64
	smallMap  = 1024
)

// reset forgets all blocks. Storage up to a megabyte is reused, and a small map, since clearing one
// keeps its memory and takes time in proportion to it.
func (a *arena) reset() {
	if len(a.blocks) == 0 && len(a.bytes) == 0 {
		return
	}
	if a.most > smallMap {
		a.blocks = nil
	}
	clear(a.blocks)
	a.most = 0
	a.spare = a.spare[:0]
	if cap(a.bytes) > 1<<20 {
		a.bytes = nil
	}
	a.bytes = a.bytes[:0]
}

// alloc returns a zeroed block of n bytes, or 0 when the arena is full.
func (a *arena) alloc(n uint64) uint64 {
	if n == 0 || n > maxKernel {
		return 0
	}
	if a.blocks == nil {
		a.blocks = map[uint64]uint64{}
	}
	size := (n + 7) &^ 7
	for i, s := range a.spare {
		if s.size >= size && s.size <= 2*size {
			a.spare = slices.Delete(a.spare, i, i+1)
			clear(a.bytes[s.at-arenaBase : s.at-arenaBase+s.size])
			a.add(s.at, n)
			return s.at
		}
	}
	from := uint64(len(a.bytes))
	if from+size+blockCost*uint64(len(a.blocks)+1) > maxKernel+blockCost {
		return 0
	}
	a.bytes = slices.Grow(a.bytes, int(size))[:from+size]
	clear(a.bytes[from:])
	a.add(from+arenaBase, n)
	return from + arenaBase
}

func (a *arena) add(at, n uint64) {
	a.blocks[at] = n
	a.most = max(a.most, len(a.blocks))
}

func (a *arena) free(at uint64) {
	n, ok := a.blocks[at]
	if !ok {
		return
	}
	delete(a.blocks, at)
	size := (n + 7) &^ 7
	if at-arenaBase+size == uint64(len(a.bytes)) {
		a.bytes = a.bytes[:at-arenaBase]
		return
	}
	if len(a.spare) < 64 {
		a.spare = append(a.spare, extent{at, size})
	}
}

// block returns the bytes of the live block that starts at at.
func (a *arena) block(at uint64) []byte {
	b, _ := a.span(at, a.blocks[at])
	return b
}

// span returns n bytes at at.
func (a *arena) span(at, n uint64) ([]byte, bool) {
	size := uint64(len(a.bytes))
	if at < arenaBase || at-arenaBase > size || n > size-(at-arenaBase) {
		return nil, false
	}
	return a.bytes[at-arenaBase : at-arenaBase+n], true
}

func (a *arena) loadU64(at uint64) uint64 {
	b, ok := a.span(at, 8)
	if !ok {
		return 0
	}
	return binary.LittleEndian.Uint64(b)
}

func (a *arena) storeU64(at, v uint64) {
	if b, ok := a.span(at, 8); ok {
		binary.LittleEndian.PutUint64(b, v)
	}
}

func (a *arena) loadU8(at uint64) uint64 {
	b, ok := a.span(at, 1)
	if !ok {
		return 0
	}
	return uint64(b[0])
}

func (a *arena) storeU8(at uint64, v byte) {
	if b, ok := a.span(at, 1); ok {
		b[0] = v
	}
}
