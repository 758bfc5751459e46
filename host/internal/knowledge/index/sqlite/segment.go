package sqlite

import (
	"errors"

	"github.com/easel-canvas/easel/host/internal/knowledge/index/codes"
	"github.com/easel-canvas/easel/host/internal/knowledge/index/postings"
)

// segment are chunks that are numbered from 0 in the order of their rows.
type segment struct {
	id      int64         // 0 for a tail
	rows    ids           // of the chunks, ascending
	docs    ids           // of their documents
	lengths []uint32      // in words
	dead    bitmap        // removed
	hidden  bitmap        // not enabled
	live    int           // chunks that are not dead
	words   int64         // sum of the lengths of live chunks
	codes   []codes.Group // vectors of a segment
	tail    *tail         // of a tail; nil for a segment
}

// tail holds in memory what a written segment has in the file.
type tail struct {
	postings map[string]*postings.List // of a dataset; nil in the chunks of a change, which have terms
	terms    []termPostings            // in the order of their first occurrence
	vectors  [][]float32               // nil for a chunk without
	size     int                       // of all, about, in bytes
}

// newTail returns the tail of a dataset.
func newTail() *segment {
	s := newAdded()
	s.tail.postings = map[string]*postings.List{}
	return s
}

// newAdded returns the chunks of a change, to which an [appender] adds.
func newAdded() *segment {
	s := newSegment()
	s.tail = &tail{}
	return s
}

// newSegment returns one without chunks.
func newSegment() *segment { return &segment{rows: ids{step: 1}} }

// local returns the number of the chunk with a row, or -1.
func (s *segment) local(row int64) int { return s.rows.find(row) }

// kill takes a chunk out of the counts. The caller marks it as dead.
func (s *segment) kill(local int) {
	s.live--
	s.words -= int64(s.lengths[local])
}

// visible reports whether a search may find a chunk.
func (s *segment) visible(local int, hidden bool) bool {
	return !s.dead.has(local) && (hidden || !s.hidden.has(local))
}

// encode returns the stored form of the chunks of a segment.
func (s *segment) encode() []byte {
	return (&postings.Chunks{Rows: s.rows.list(), Docs: s.docs.list(), Lengths: s.lengths}).Append(nil)
}

var errCorrupt = errors.New("index file is damaged; make it again from the documents")

// decodeSegment reads what encode wrote.
func decodeSegment(b []byte) (*segment, error) {
	c, err := postings.DecodeChunks(b)
	if err != nil {
		return nil, errCorrupt
	}
	s := newSegment()
	s.lengths, s.live = c.Lengths, len(c.Rows)
	for i, n := range c.Lengths {
		s.rows.add(c.Rows[i])
		s.docs.add(c.Docs[i])
		s.words += int64(n)
	}
	return s, nil
}

// live returns the number of chunks of a dataset.
func (d *dataset) live() int {
	n := 0
	for _, s := range d.parts() {
		n += s.live
	}
	return n
}
