package sqlite

import (
	"encoding/binary"
	"math/bits"
	"slices"
)

// bitmap is a set of small numbers. nil is the empty one.
type bitmap []uint64

func (b bitmap) has(i int) bool { return i>>6 < len(b) && b[i>>6]>>(i&63)&1 != 0 }

// with adds a number, in place where there is room.
func (b bitmap) with(i int) bitmap {
	for len(b) <= i>>6 {
		b = append(b, 0)
	}
	b[i>>6] |= 1 << (i & 63)
	return b
}

// without removes a number in place.
func (b bitmap) without(i int) bitmap {
	if i>>6 < len(b) {
		b[i>>6] &^= 1 << (i & 63)
	}
	return b
}

func (b bitmap) clone() bitmap { return slices.Clone(b) }

func (b bitmap) count() (n int) {
	for _, w := range b {
		n += bits.OnesCount64(w)
	}
	return n
}

func (b bitmap) encode() []byte {
	out := make([]byte, 0, 8*len(b))
	for _, w := range b {
		out = binary.LittleEndian.AppendUint64(out, w)
	}
	return out
}

func decodeBitmap(data []byte) bitmap {
	b := make(bitmap, 0, len(data)/8)
	for ; len(data) >= 8; data = data[8:] {
		b = append(b, binary.LittleEndian.Uint64(data))
	}
	return b
}
