package sqlite

import (
	"encoding/binary"
	"math"
)

// postings list the chunks that hold a term, ascending, with how often they do. Each is a varint of
// the distance to the one before, times 2, plus 1 when the term occurs once; else a varint of how
// often it does follows.
type postings struct {
	data []byte
	next int // smallest number that may be added
	n    int
}

func (p *postings) add(local, count int) {
	delta := uint64(local-p.next) << 1
	if count == 1 {
		p.data = binary.AppendUvarint(p.data, delta|1)
	} else {
		p.data = binary.AppendUvarint(binary.AppendUvarint(p.data, delta), uint64(count))
	}
	p.next = local + 1
	p.n++
}

// extend adds encoded postings under new numbers; those with a negative one are left out.
func (p *postings) extend(data []byte, renumber func(local int) int) {
	for it := (iterator{data: data}); it.next(); {
		if local := renumber(it.local); local >= 0 {
			p.add(local, it.count)
		}
	}
}

// join adds another list, whose numbers begin at offset. Only its first entry is encoded again.
func (p *postings) join(more *postings, offset int) {
	it := iterator{data: more.data}
	if !it.next() {
		return
	}
	p.add(offset+it.local, it.count)
	p.data = append(p.data, it.data...)
	p.next = offset + more.next
	p.n += more.n - 1
}

// iterator reads encoded postings.
type iterator struct {
	data         []byte
	after        int
	local, count int
}

// next reads the next entry; false means that there is none. Damaged data ends early.
func (it *iterator) next() bool {
	if len(it.data) == 0 {
		return false
	}
	v := uint64(it.data[0])
	if v < 0x80 {
		it.data = it.data[1:]
	} else if v = it.long(); len(it.data) == 0 && v == 0 {
		return false
	}
	if v>>1 > math.MaxInt32 {
		it.data = nil
		return false
	}
	it.local = it.after + int(v>>1)
	it.after = it.local + 1
	it.count = 1
	if v&1 == 0 {
		it.count = int(it.long())
	}
	return true
}

// long reads a varint of any size; damaged data gives 0 and ends the list.
func (it *iterator) long() uint64 {
	v, size := binary.Uvarint(it.data)
	if size <= 0 {
		it.data = nil
		return 0
	}
	it.data = it.data[size:]
	return v
}
