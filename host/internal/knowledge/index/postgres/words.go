package postgres

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"slices"

	"github.com/jackc/pgx/v5"

	"github.com/easel-canvas/easel/host/internal/knowledge/index"
	"github.com/easel-canvas/easel/host/internal/knowledge/index/postings"
)

// wordQuery is the words of a query in one dataset.
type wordQuery struct {
	*dataset
	terms    []string // sorted, so that sums of floats are equal from search to search
	times    []int    // that each is in the query
	segments []*segment
	lists    map[listKey][]byte // encoded postings
}

// listKey names postings by the segment and the place of the term in the query.
type listKey struct {
	segment int64
	term    int
}

// words adds the best chunks by BM25 to found.
func (s *search) words(found map[int64]*index.Candidate) error {
	var queries []*wordQuery
	holding, all := map[string]int{}, 0
	for _, d := range s.datasets {
		q, err := s.wordQuery(d)
		if err != nil {
			return err
		}
		queries = append(queries, q)
		all += int(d.chunks)
		if err := q.holding(holding); err != nil {
			return err
		}
	}
	idf := map[string]float64{}
	for term, n := range holding {
		idf[term] = index.InverseFrequency(all, n)
	}
	best := newBest(s.q.Words())
	for _, q := range queries {
		if err := s.ctx.Err(); err != nil {
			return err
		}
		s.score(q, idf, best)
	}
	for _, c := range best.cut() {
		found[c.key] = &index.Candidate{Key: c.key, Document: c.document, Term: c.score}
	}
	return nil
}

// wordQuery reads the segments of a dataset and the postings of the words of the query.
func (s *search) wordQuery(d *dataset) (*wordQuery, error) {
	counts, err := index.QueryTerms(d.settings, s.q.Text)
	if err != nil {
		return nil, err
	}
	q := &wordQuery{dataset: d, terms: slices.Sorted(maps.Keys(counts)), lists: map[listKey][]byte{}}
	hashes, places := make([]int64, len(q.terms)), map[int64]int{}
	for i, t := range q.terms {
		q.times = append(q.times, counts[t])
		hashes[i] = d.hash(t)
		places[hashes[i]] = i
	}
	var batch pgx.Batch
	batch.Queue(`SELECT `+segmentColumns+` FROM segments WHERE dataset = $1 ORDER BY first`, d.id)
	// The segments are read first, whatever statistics the planner has.
	batch.Queue(`SELECT segment, term, data FROM postings
		WHERE segment = ANY(ARRAY(SELECT id FROM segments WHERE dataset = $1)) AND term = ANY($2)`, d.id, hashes)
	results := s.SendBatch(s.ctx, &batch)
	defer results.Close()
	rows, err := results.Query()
	if err != nil {
		return nil, err
	}
	segments, err := pgx.CollectRows(rows, pgx.RowToStructByPos[segmentRow])
	if err != nil {
		return nil, err
	}
	if rows, err = results.Query(); err != nil {
		return nil, err
	}
	var segment, term int64
	var data []byte
	_, err = pgx.ForEachRow(rows, []any{&segment, &term, &data}, func() error {
		q.lists[listKey{segment, places[term]}] = data
		return nil
	})
	if err != nil {
		return nil, err
	}
	if err := results.Close(); err != nil {
		return nil, err
	}
	q.segments, err = s.x.segments(s.ctx, s.Tx, segments)
	s.gate(d, q.segments)
	s.segments[d.id] = q.segments
	return q, err
}

// holding counts the chunks that have each term. It checks that their segments have them all.
func (q *wordQuery) holding(counts map[string]int) error {
	for i, term := range q.terms {
		n := 0
		for _, seg := range q.segments {
			last := -1
			var b postings.Block
			for it := (postings.Iterator{Data: q.lists[listKey{seg.id, i}]}); it.NextBlock(&b); {
				for _, local := range b.Locals[:b.Len] {
					if last = int(local); !seg.dead.has(last) {
						n++
					}
				}
			}
			if last >= seg.size {
				return fmt.Errorf("term %q: %w", term, errDamaged)
			}
		}
		counts[term] += n // words that no chunk has are rare ones, too
	}
	return nil
}

// score adds up BM25 over the postings of a dataset, divided by the score of a chunk of average
// length that has each word of the query once.
func (s *search) score(q *wordQuery, idf map[string]float64, best *best) {
	counts := map[string]int{}
	for i, t := range q.terms {
		counts[t] = q.times[i]
	}
	full := index.FullWeight(q.settings, counts, idf)
	if full == 0 {
		return
	}
	k1, average := max(0, q.settings.K1), float64(q.dataset.words)/float64(max(1, q.chunks))
	norm := q.settings.LengthNorm(0, average)
	perWord := q.settings.LengthNorm(1, average) - norm
	var scores []float64
	for _, seg := range q.segments {
		scores = slices.Grow(scores[:0], seg.size)[:seg.size]
		clear(scores)
		scored := false
		for i, t := range q.terms {
			worth := float64(q.times[i]) * idf[t] * (k1 + 1) / full
			var b postings.Block
			for it := (postings.Iterator{Data: q.lists[listKey{seg.id, i}]}); it.NextBlock(&b); {
				for at, local := range b.Locals[:b.Len] {
					n := float64(b.Counts[at])
					scores[local] += worth * n / (n + norm + perWord*float64(seg.Lengths[local]))
				}
				scored = true
			}
		}
		if scored {
			s.takeBest(seg, scores, best)
		}
	}
}

// takeBest adds the chunks of a segment that may be hits.
func (s *search) takeBest(seg *segment, scores []float64, best *best) {
	for local, score := range scores {
		if score > 0 && best.takes(score) && s.hit(seg, local) {
			best.add(scored{seg.Rows[local], seg.Docs[local], score})
		}
	}
}

// best keeps the chunks with the highest scores; of equal ones those with lower keys.
type best struct {
	most  int
	list  []scored // up to twice as many
	least float64  // score below which none is kept
}

// scored is a chunk with its score.
type scored struct {
	key, document int64
	score         float64
}

// newBest returns one that keeps so many.
func newBest(most int) *best { return &best{most: most, least: math.Inf(-1)} }

// takes reports whether a chunk with this score may be kept.
func (b *best) takes(score float64) bool { return score >= b.least }

func (b *best) add(c scored) {
	if b.list = append(b.list, c); len(b.list) >= 2*b.most {
		b.cut()
	}
}

// cut drops all but the best, and returns them.
func (b *best) cut() []scored {
	slices.SortFunc(b.list, func(a, b scored) int {
		switch {
		case a.score > b.score:
			return -1
		case a.score < b.score:
			return 1
		}
		return cmp.Compare(a.key, b.key)
	})
	if len(b.list) >= b.most {
		b.list = b.list[:b.most]
		b.least = b.list[b.most-1].score
	}
	return b.list
}
