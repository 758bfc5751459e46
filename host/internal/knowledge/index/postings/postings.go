// Package postings encodes the contents of segments of an index: for each term the chunks that hold
// it, and of each chunk its row, its document and its length.
package postings

import (
	"encoding/binary"
	"errors"
	"math"
)

// List is the chunks that hold a term, ascending, with how often they do. Each is a varint of
// the distance to the one before, times 2, plus 1 when the term occurs once; else a varint of how
// often it does follows.
type List struct {
	Data []byte
	Next int // smallest number that may be added
	Len  int
}

// Add appends a chunk; numbers ascend.
func (p *List) Add(local, count int) {
	delta := uint64(local-p.Next) << 1
	if count == 1 {
		p.Data = binary.AppendUvarint(p.Data, delta|1)
	} else {
		p.Data = binary.AppendUvarint(binary.AppendUvarint(p.Data, delta), uint64(count))
	}
	p.Next = local + 1
	p.Len++
}

// Extend appends encoded postings under new numbers; those with a negative one are left out.
func (p *List) Extend(data []byte, renumber func(local int) int) {
	for it := (Iterator{Data: data}); it.Next(); {
		if local := renumber(it.Local); local >= 0 {
			p.Add(local, it.Count)
		}
	}
}

// Join appends another list, whose numbers begin at offset. Only its first entry is encoded again.
func (p *List) Join(more *List, offset int) {
	it := Iterator{Data: more.Data}
	if !it.Next() {
		return
	}
	p.Add(offset+it.Local, it.Count)
	p.Data = append(p.Data, it.Data...)
	p.Next = offset + more.Next
	p.Len += more.Len - 1
}

// Iterator reads encoded postings.
type Iterator struct {
	Data         []byte
	Local, Count int // the entry that Next read
	after        int
}

// Next reads the next entry, or reports false at the end. Damaged data ends early.
func (it *Iterator) Next() bool {
	if len(it.Data) == 0 {
		return false
	}
	v := uint64(it.Data[0])
	if v < 0x80 {
		it.Data = it.Data[1:]
	} else if v = it.long(); len(it.Data) == 0 && v == 0 {
		return false
	}
	if v>>1 > math.MaxInt32 {
		it.Data = nil
		return false
	}
	it.Local = it.after + int(v>>1)
	it.after = it.Local + 1
	it.Count = 1
	if v&1 == 0 {
		it.Count = int(it.long())
	}
	return true
}

// long reads a varint of any size; for damaged data it returns 0 and ends the list.
func (it *Iterator) long() uint64 {
	v, size := binary.Uvarint(it.Data)
	if size <= 0 {
		it.Data = nil
		return 0
	}
	it.Data = it.Data[size:]
	return v
}

// Block is entries that are read at once, which is faster than one by one.
type Block struct {
	Locals, Counts [blockSize]int32
	Len            int
}

const blockSize = 128

// NextBlock reads the next entries, or reports false at the end. Damaged data ends early. A number
// of damaged data that is too large becomes the largest one.
func (it *Iterator) NextBlock(b *Block) bool {
	data, after := it.Data, it.after
	i, n := 0, 0
	for n < blockSize && i < len(data) {
		v, size := uint64(data[i]), 1
		if v >= 0x80 {
			if v, size = binary.Uvarint(data[i:]); size <= 0 || v>>1 > math.MaxInt32 || v == 0 && i+size == len(data) {
				data, i = nil, 0
				break
			}
		}
		i += size
		local, count := after+int(v>>1), int32(1)
		if v&1 == 0 {
			if i < len(data) && data[i] < 0x80 {
				count, i = int32(data[i]), i+1
			} else if v, size = binary.Uvarint(data[i:]); size > 0 {
				count, i = int32(v), i+size
			} else {
				data, i, count = nil, 0, 0
			}
		}
		b.Locals[n], b.Counts[n] = int32(min(local, math.MaxInt32)), count
		n++
		after = local + 1
	}
	b.Len, it.Data, it.after = n, data[i:], after
	return n > 0
}

// Chunks are the chunks of a segment, by their numbers in it.
type Chunks struct {
	Rows    []int64 // ascending
	Docs    []int64
	Lengths []uint32 // in words
}

// Append encodes the chunks.
func (c *Chunks) Append(b []byte) []byte {
	b = binary.AppendUvarint(b, uint64(len(c.Rows)))
	var row, doc int64
	for i := range c.Rows {
		b = binary.AppendVarint(b, c.Rows[i]-row)
		b = binary.AppendVarint(b, c.Docs[i]-doc)
		b = binary.AppendUvarint(b, uint64(c.Lengths[i]))
		row, doc = c.Rows[i], c.Docs[i]
	}
	return b
}

// ErrDamaged means that encoded data is not what [Chunks.Append] makes.
var ErrDamaged = errors.New("index is damaged; make it again from the documents")

// DecodeChunks reads what [Chunks.Append] wrote.
func DecodeChunks(b []byte) (*Chunks, error) {
	n, size := binary.Uvarint(b)
	if size <= 0 || n > uint64(len(b)) {
		return nil, ErrDamaged
	}
	b = b[size:]
	c := &Chunks{Rows: make([]int64, n), Docs: make([]int64, n), Lengths: make([]uint32, n)}
	var row, doc int64
	for i := range c.Rows {
		r, size1 := binary.Varint(b)
		d, size2 := binary.Varint(b[max(0, size1):])
		l, size3 := binary.Uvarint(b[max(0, size1)+max(0, size2):])
		if size1 <= 0 || size2 <= 0 || size3 <= 0 {
			return nil, ErrDamaged
		}
		b = b[size1+size2+size3:]
		row, doc = row+r, doc+d
		c.Rows[i], c.Docs[i], c.Lengths[i] = row, doc, uint32(l)
	}
	return c, nil
}
