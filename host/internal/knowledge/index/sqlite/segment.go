package sqlite

import (
	"encoding/binary"
	"errors"
	"slices"
)

// segment are chunks that are numbered from 0 in the order of their rows.
type segment struct {
	id      int64    // 0 for a tail
	rows    []int64  // ids of the chunks, ascending
	docs    []int64  // ids of their documents
	lengths []uint32 // in words
	dead    bitmap   // removed
	hidden  bitmap   // not enabled
	live    int      // chunks that are not dead
	words   int64    // sum of the lengths of live chunks
	codes   []codes  // vectors of a segment
	tail    *tail    // of a tail; nil for a segment
}

// tail is what a segment has in the file and a tail in memory.
type tail struct {
	postings map[string]*postings // of a dataset; nil in the chunks of a change, which have terms
	terms    []termPostings       // in the order of their first occurrence
	vectors  [][]float32          // nil for a chunk without
	size     int                  // of all, about, in bytes
}

// newTail returns the tail of a dataset.
func newTail() *segment { return &segment{tail: &tail{postings: map[string]*postings{}}} }

// newAdded returns the chunks of a change, to which an [appender] adds.
func newAdded() *segment { return &segment{tail: &tail{}} }

// local is the number of the chunk with a row, or -1.
func (s *segment) local(row int64) int {
	if i, ok := slices.BinarySearch(s.rows, row); ok {
		return i
	}
	return -1
}

// kill takes a chunk out of the counts. The caller marks it as dead.
func (s *segment) kill(local int) {
	s.live--
	s.words -= int64(s.lengths[local])
}

// visible reports whether a search may find a chunk.
func (s *segment) visible(local int, hidden bool) bool {
	return !s.dead.has(local) && (hidden || !s.hidden.has(local))
}

// encode is what a segment stores about its chunks.
func (s *segment) encode() []byte {
	b := binary.AppendUvarint(nil, uint64(len(s.rows)))
	var row, doc int64
	for i := range s.rows {
		b = binary.AppendVarint(b, s.rows[i]-row)
		b = binary.AppendVarint(b, s.docs[i]-doc)
		b = binary.AppendUvarint(b, uint64(s.lengths[i]))
		row, doc = s.rows[i], s.docs[i]
	}
	return b
}

var errCorrupt = errors.New("index file is damaged; make it again from the documents")

// decodeSegment reads what encode wrote.
func decodeSegment(b []byte) (*segment, error) {
	n, size := binary.Uvarint(b)
	if size <= 0 || n > uint64(len(b)) {
		return nil, errCorrupt
	}
	b = b[size:]
	s := &segment{rows: make([]int64, n), docs: make([]int64, n), lengths: make([]uint32, n), live: int(n)}
	var row, doc int64
	for i := range s.rows {
		r, size1 := binary.Varint(b)
		d, size2 := binary.Varint(b[max(0, size1):])
		l, size3 := binary.Uvarint(b[max(0, size1)+max(0, size2):])
		if size1 <= 0 || size2 <= 0 || size3 <= 0 {
			return nil, errCorrupt
		}
		b = b[size1+size2+size3:]
		row, doc = row+r, doc+d
		s.rows[i], s.docs[i], s.lengths[i] = row, doc, uint32(l)
		s.words += int64(l)
	}
	return s, nil
}

// live is how many chunks a dataset has.
func (d *dataset) live() int {
	n := 0
	for _, s := range d.parts() {
		n += s.live
	}
	return n
}

// words is how many words its chunks have together.
func (d *dataset) words() (n int64) {
	for _, s := range d.parts() {
		n += s.words
	}
	return n
}
