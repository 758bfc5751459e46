package sqlite

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"sync"

	"github.com/easel-canvas/easel/host/internal/knowledge/index"
	"github.com/easel-canvas/easel/host/internal/knowledge/index/postings"
)

// location is a chunk in the parts of a search.
type location struct{ part, local int }

func (l location) compare(m location) int {
	return cmp.Or(cmp.Compare(l.part, m.part), cmp.Compare(l.local, m.local))
}

// wordQuery is the words of a query for one dataset.
type wordQuery struct {
	counts map[string]int     // of each term in the query
	lists  map[list][]byte    // encoded postings
	idf    map[string]float64 // shared by all datasets of a search
}

// list names postings by the number of the part and the term.
type list struct {
	part int
	term string
}

func (l list) compare(m list) int {
	return cmp.Or(cmp.Compare(l.part, m.part), cmp.Compare(l.term, m.term))
}

// scoreWords fills the scores of all parts: BM25, divided by the score of a chunk of average length
// that has each word of the query once.
func (s *search) scoreWords(ctx context.Context) error {
	queries := make([]wordQuery, len(s.datasets))
	idf := map[string]float64{}
	for i, d := range s.datasets {
		counts, err := index.QueryTerms(d.settings, s.q.Text)
		if err != nil {
			return err
		}
		queries[i] = wordQuery{counts: counts, idf: idf}
		if queries[i].lists, err = s.lists(ctx, d, counts); err != nil {
			return err
		}
	}
	if err := s.inverseFrequencies(queries, idf); err != nil {
		return err
	}
	for i, d := range s.datasets {
		if err := ctx.Err(); err != nil {
			return err
		}
		s.scoreDataset(&queries[i], d)
	}
	return nil
}

// lists reads the postings of terms in the parts of a dataset.
func (s *search) lists(ctx context.Context, d *dataset, counts map[string]int) (map[list][]byte, error) {
	out := map[list][]byte{}
	parts, ids, words := map[int64]int{}, []int64(nil), make([]string, 0, len(counts))
	for term := range counts {
		words = append(words, term)
	}
	for i, p := range s.parts {
		switch {
		case p.d != d:
		case p.tail != nil:
			for _, term := range words {
				if have := p.tail.postings[term]; have != nil {
					out[list{i, term}] = have.Data
				}
			}
		default:
			parts[p.id] = i
			ids = append(ids, p.id)
		}
	}
	if len(ids) == 0 || len(words) == 0 {
		return out, nil
	}
	rows, err := s.x.read.QueryContext(ctx,
		`SELECT p.segment, p.term, p.data FROM json_each(?) s CROSS JOIN json_each(?) t
		CROSS JOIN postings p ON p.segment = s.value AND p.term = t.value`, jsonList(ids), jsonList(words))
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	for rows.Next() {
		var id int64
		var term string
		var data []byte
		if err := rows.Scan(&id, &term, &data); err != nil {
			return nil, err
		}
		out[list{parts[id], term}] = data
	}
	return out, rows.Err()
}

// inverseFrequencies sets the inverse frequency of each term among the live chunks of all datasets.
func (s *search) inverseFrequencies(queries []wordQuery, idf map[string]float64) error {
	all := s.live()
	holding := map[string]int{}
	for _, q := range queries {
		for term := range q.counts {
			holding[term] += 0 // words that no chunk holds are rare ones, too
		}
		for at, data := range q.lists {
			n, err := s.parts[at.part].holding(data)
			if err != nil {
				return fmt.Errorf("term %q: %w", at.term, err)
			}
			holding[at.term] += n
		}
	}
	for term, n := range holding {
		idf[term] = index.InverseFrequency(all, n)
	}
	return nil
}

// holding returns the number of live chunks in encoded postings. It checks that the segment has
// them all.
func (s *segment) holding(data []byte) (n int, err error) {
	last := -1
	var b postings.Block
	for it := (postings.Iterator{Data: data}); it.NextBlock(&b); {
		last = int(b.Locals[b.Len-1])
		n += b.Len
		if s.dead == nil {
			continue
		}
		for _, local := range b.Locals[:b.Len] {
			if s.dead.has(int(local)) {
				n--
			}
		}
	}
	if last >= s.rows.count {
		return 0, errCorrupt
	}
	return n, nil
}

// scoreDataset adds up BM25 in the parts of a dataset.
func (s *search) scoreDataset(q *wordQuery, d *dataset) {
	full := index.FullWeight(d.settings, q.counts, q.idf)
	if full == 0 {
		return
	}
	norms := s.lengthNorms(d)
	k1 := max(0, d.settings.K1)
	// Always in one order, so that sums of floats are equal from search to search.
	for _, at := range slices.SortedFunc(maps.Keys(q.lists), list.compare) {
		p := s.parts[at.part]
		if p.scores == nil {
			p.scores = newScores(p.rows.count)
		}
		worth := float32(float64(q.counts[at.term]) * q.idf[at.term] * (k1 + 1) / full)
		p.add(q.lists[at], worth, norms)
	}
}

// add adds the scores of a term to those of the chunks that hold it.
func (p *part) add(data []byte, worth float32, norms *[longestNorm]float32) {
	scores, lengths := p.scores, p.lengths
	var b postings.Block
	for it := (postings.Iterator{Data: data}); it.NextBlock(&b); {
		for i, local := range b.Locals[:b.Len] {
			n := float32(b.Counts[i])
			scores[local] += worth * n / (n + norms[min(lengths[local], longestNorm-1)])
		}
	}
}

// scoreLists are scores of searches that have ended: a new list for each part of a search would
// keep the garbage collector busy.
var scoreLists = sync.Pool{New: func() any { return new([]float32) }}

// newScores returns a list of n zeros, to be passed to release.
func newScores(n int) []float32 {
	list := *scoreLists.Get().(*[]float32) // the pool has nothing else
	if cap(list) < n {
		return make([]float32, n)
	}
	list = list[:n]
	clear(list)
	return list
}

// release ends the use of the scores.
func (s *search) release() {
	for _, p := range s.parts {
		if list := p.scores; list != nil {
			p.scores = nil
			scoreLists.Put(&list)
		}
	}
}

// longestNorm is the length from which on longer chunks count no less.
const longestNorm = 1 << 14

// lengthNorms returns the parts of BM25's divisor that depend on the length of a chunk.
func (s *search) lengthNorms(d *dataset) *[longestNorm]float32 {
	live, words := 0, int64(0)
	for _, p := range s.parts {
		if p.d == d {
			live, words = live+p.live, words+p.segment.words
		}
	}
	average := float64(words) / float64(max(1, live))
	norms := new([longestNorm]float32)
	for length := range norms {
		norms[length] = float32(d.settings.LengthNorm(length, average))
	}
	return norms
}

// bestByWords returns the chunks with the highest scores.
func (s *search) bestByWords() []location {
	best := newBest(s.q.Words())
	for i, p := range s.parts {
		least := best.least()
		for local, score := range p.scores {
			if score > least && s.found(p, local) {
				best.add(location{i, local}, score)
				least = best.least()
			}
		}
	}
	return best.locations()
}
