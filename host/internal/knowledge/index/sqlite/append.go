package sqlite

import "github.com/easel-canvas/easel/host/internal/knowledge/index"

// appender adds chunks to tails. It remembers words, and the postings of the tail it last added to
// by the numbers of terms, which is faster than by the terms.
type appender struct {
	counter *index.Counter
	to      *tail
	list    []*postings // by number; nil where it is not known yet
	known   []int32     // numbers in list
}

// newAppender returns one for a dataset.
func newAppender(s index.Settings) (*appender, error) {
	counter, err := index.NewCounter(s)
	return &appender{counter: counter}, err
}

// use chooses the tail; nil releases the one before.
func (a *appender) use(t *tail) {
	if a.to == t {
		return
	}
	for _, number := range a.known {
		a.list[number] = nil
	}
	a.to, a.known = t, a.known[:0]
}

// add appends a chunk of a document of this name to a tail. vector has length 1, or is nil.
func (a *appender) add(s *segment, row, doc int64, name string, chunk *index.Chunk, vector []float32) {
	if a.counter.Trim() {
		a.to, a.list, a.known = nil, nil, nil
	}
	a.use(s.tail)
	length, terms := a.counter.Count(name, chunk)
	local := len(s.rows)
	s.rows, s.docs = append(s.rows, row), append(s.docs, doc)
	s.lengths = append(s.lengths, uint32(length))
	s.tail.vectors = append(s.tail.vectors, vector)
	for i := range terms {
		p := a.postings(&terms[i])
		before := len(p.data)
		p.add(local, terms[i].Count)
		s.tail.size += len(p.data) - before
	}
	s.tail.size += 24 + 4*len(vector)
	s.live++
	s.words += int64(length)
	if chunk.Disabled {
		s.hidden = s.hidden.with(local)
	}
}

// postings are those of a term, which are made when there are none.
func (a *appender) postings(t *index.TermCount) *postings {
	if more := int(t.Number) + 1 - len(a.list); more > 0 {
		a.list = append(a.list, make([]*postings, more)...)
	}
	p := a.list[t.Number]
	if p == nil {
		if p = a.to.postings[t.Term]; p == nil {
			p = &postings{}
			a.to.postings[t.Term] = p
			a.to.size += len(t.Term) + 48
		}
		a.list[t.Number] = p
		a.known = append(a.known, t.Number)
	}
	return p
}
