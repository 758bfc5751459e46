package sqlite

import (
	"cmp"
	"iter"
	"maps"
	"slices"

	"github.com/easel-canvas/easel/host/internal/knowledge/index"
	"github.com/easel-canvas/easel/host/internal/knowledge/index/postings"
)

// appender appends chunks to tails of datasets with the same language and stemmer. It finds
// postings by the counter's indexes of terms, which is faster than by the terms.
type appender struct {
	counter *index.Counter
	places  []int32          // by index: 1 + the place in the terms of the chunks that are being added; 0 is none
	kept    []*postings.List // by index: those of the tail of the dataset; nil where they are not known yet
	keptOf  *tail
	free    []byte         // room for the first postings of terms
	spare   []termPostings // of former changes, with the room of their postings
}

// Bounds of the postings of a change that an appender keeps for reuse.
const (
	mostSpare    = 1 << 15 // terms
	largestSpare = 64      // bytes of the postings of a term
)

// termPostings are the postings of a term in the chunks of a change.
type termPostings struct {
	term  string
	index int
	postings.List
}

// appender returns the one of a language and stemmer. Datasets share it, since it holds each word
// that it was given. The caller holds x.writing and calls release for the chunks that it adds.
func (x *Index) appender(s index.Settings) (*appender, error) {
	if a := x.appenders[s.Settings]; a != nil {
		return a, nil
	}
	counter, err := index.NewCounter(s)
	if err != nil {
		return nil, err
	}
	a := &appender{counter: counter}
	x.appenders[s.Settings] = a
	return a, nil
}

// trim bounds the memory for terms. There must be no chunks that are being added.
func (a *appender) trim() {
	if a.counter.Trim() {
		a.places, a.kept, a.keptOf = nil, nil, nil
	}
}

// add appends a chunk of a document of this name to those that are being added. vector has length
// 1, or is nil.
func (a *appender) add(s *segment, row, doc int64, name string, chunk *index.Chunk, vector []float32) {
	length, terms := a.counter.Count(name, chunk)
	local := s.rows.count
	s.rows.add(row)
	s.docs.add(doc)
	s.lengths = append(s.lengths, uint32(length))
	s.tail.vectors = append(s.tail.vectors, vector)
	for i := range terms {
		p := a.list(s.tail, &terms[i])
		before := len(p.Data)
		p.Add(local, terms[i].Count)
		s.tail.size += len(p.Data) - before
	}
	s.tail.size += 24 + 4*len(vector)
	s.live++
	s.words += int64(length)
	if chunk.Disabled {
		s.hidden = s.hidden.with(local)
	}
}

// list returns the postings of a term in the chunks that are being added, until the next call.
func (a *appender) list(t *tail, c *index.TermCount) *postings.List {
	a.places = grown(a.places, c.Index)
	if a.places[c.Index] == 0 {
		term := a.counter.Term(c.Index)
		if t.terms == nil {
			t.terms, a.spare = a.spare, nil
		}
		n := len(t.terms)
		var data []byte
		if n < cap(t.terms) {
			t.terms = t.terms[:n+1]
			data = t.terms[n].Data[:0]
		} else {
			t.terms = append(t.terms, termPostings{})
		}
		if cap(data) == 0 {
			data = a.room()
		}
		t.terms[n] = termPostings{term, c.Index, postings.List{Data: data}}
		t.size += len(term) + 48
		a.places[c.Index] = int32(n + 1)
	}
	return &t.terms[a.places[c.Index]-1].List
}

// release forgets the chunks that were added. The next ones are added where their postings were.
func (a *appender) release(s *segment) {
	terms := s.tail.terms
	s.tail.terms = nil
	for i := range terms {
		t := &terms[i]
		a.places[t.index] = 0
		if t.term = ""; cap(t.Data) > largestSpare {
			t.Data = nil
		}
	}
	if terms != nil && cap(terms) <= mostSpare {
		a.spare = terms[:0]
	}
}

// extend appends the chunks of a change to the tail of a dataset.
func (a *appender) extend(s, added *segment) {
	offset := s.rows.count
	s.rows.extend(&added.rows)
	s.docs.extend(&added.docs)
	s.lengths = append(s.lengths, added.lengths...)
	s.tail.vectors = append(s.tail.vectors, added.tail.vectors...)
	for i := range added.rows.count {
		if added.dead.has(i) {
			s.dead = s.dead.with(offset + i)
		}
		if added.hidden.has(i) {
			s.hidden = s.hidden.with(offset + i)
		}
	}
	if a.keptOf != s.tail {
		clear(a.kept)
		a.keptOf = s.tail
	}
	for i := range added.tail.terms {
		t := &added.tail.terms[i]
		a.kept = grown(a.kept, t.index)
		p := a.kept[t.index]
		if p == nil {
			if p = s.tail.postings[t.term]; p == nil {
				p = &postings.List{Data: a.room()}
				s.tail.postings[t.term] = p
			}
			a.kept[t.index] = p
		}
		p.Join(&t.List, offset)
	}
	s.live += added.live
	s.words += added.words
	s.tail.size += added.tail.size
}

// room is empty, with room for the few bytes that most terms need.
func (a *appender) room() []byte {
	const few, block = 8, 64 << 10
	if len(a.free) < few {
		a.free = make([]byte, block)
	}
	room := a.free[:0:few]
	a.free = a.free[few:]
	return room
}

// grown returns a list that is long enough for an index.
func grown[T any](list []T, index int) []T {
	if more := index + 1 - len(list); more > 0 {
		list = append(list, make([]T, more)...)
	}
	return list
}

// sorted returns the encoded postings of a tail, in the order of the terms.
func (t *tail) sorted() iter.Seq2[string, []byte] {
	if t.postings != nil {
		return sortedLists(t.postings)
	}
	return func(yield func(string, []byte) bool) {
		for _, p := range slices.SortedFunc(slices.Values(t.terms), func(a, b termPostings) int {
			return cmp.Compare(a.term, b.term)
		}) {
			if !yield(p.term, p.Data) {
				return
			}
		}
	}
}

// sortedLists returns encoded postings in the order of the terms.
func sortedLists(lists map[string]*postings.List) iter.Seq2[string, []byte] {
	return func(yield func(string, []byte) bool) {
		for _, term := range slices.Sorted(maps.Keys(lists)) {
			if !yield(term, lists[term].Data) {
				return
			}
		}
	}
}
