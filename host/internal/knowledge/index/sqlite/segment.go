package sqlite

import (
	"errors"
	"slices"

	"github.com/easel-canvas/easel/host/internal/knowledge/index/codes"
	"github.com/easel-canvas/easel/host/internal/knowledge/index/postings"
)

// segment are chunks that are numbered from 0 in the order of their rows.
type segment struct {
	id      int64         // 0 for a tail
	rows    []int64       // ids of the chunks, ascending
	docs    []int64       // ids of their documents
	lengths []uint32      // in words
	dead    bitmap        // removed
	hidden  bitmap        // not enabled
	live    int           // chunks that are not dead
	words   int64         // sum of the lengths of live chunks
	codes   []codes.Group // vectors of a segment
	tail    *tail         // of a tail; nil for a segment
}

// tail is what a segment has in the file and a tail in memory.
type tail struct {
	postings map[string]*postings.List // of a dataset; nil in the chunks of a change, which have terms
	terms    []termPostings            // in the order of their first occurrence
	vectors  [][]float32               // nil for a chunk without
	size     int                       // of all, about, in bytes
}

// newTail returns the tail of a dataset.
func newTail() *segment { return &segment{tail: &tail{postings: map[string]*postings.List{}}} }

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
	return (&postings.Chunks{Rows: s.rows, Docs: s.docs, Lengths: s.lengths}).Append(nil)
}

var errCorrupt = errors.New("index file is damaged; make it again from the documents")

// decodeSegment reads what encode wrote.
func decodeSegment(b []byte) (*segment, error) {
	c, err := postings.DecodeChunks(b)
	if err != nil {
		return nil, errCorrupt
	}
	s := &segment{rows: c.Rows, docs: c.Docs, lengths: c.Lengths, live: len(c.Rows)}
	for _, n := range c.Lengths {
		s.words += int64(n)
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
