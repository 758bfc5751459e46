package sqlite

import (
	"context"
	"slices"

	"github.com/easel-canvas/easel/host/internal/knowledge/index"
)

// search is one query in progress with the data that it reads.
type search struct {
	x        *Index
	q        *index.Query
	datasets []*dataset
	parts    []*part
	only     map[int64]bool // documents that count; nil means all
}

// part is a searched segment or tail with its results.
type part struct {
	*segment
	d      *dataset
	scores []float32       // by words, of every chunk; nil when no term occurs
	cosine map[int]float32 // of chunks whose vectors were compared
}

// Search implements [index.Index].
func (x *Index) Search(ctx context.Context, q *index.Query) (*index.Result, error) {
	q, err := q.Normal()
	if err != nil {
		return nil, err
	}
	if len(q.Datasets) == 0 {
		return &index.Result{}, nil
	}
	s, release, err := x.begin(ctx, q)
	if err != nil {
		return nil, err
	}
	if s == nil {
		return &index.Result{}, nil
	}
	defer release()
	candidates, err := s.candidates(ctx)
	if err != nil {
		return nil, err
	}
	return index.ReadResult(q, index.Rank(q, candidates),
		func(documents []int64) (map[int64]index.Origin, error) { return s.origins(ctx, documents) },
		func(keys []int64) (map[int64]index.Chunk, error) { return s.chunks(ctx, keys) })
}

// begin opens the datasets of a query for a search, until release is called; the search is nil if
// no document can be found.
func (x *Index) begin(ctx context.Context, q *index.Query) (s *search, release func(), err error) {
	datasets, unused, err := x.use(ctx, slices.Compact(slices.Sorted(slices.Values(q.Datasets)))...)
	if err != nil {
		return nil, nil, err
	}
	s = &search{x: x, q: q, datasets: datasets}
	for _, d := range datasets {
		gate, gated := q.Gates[d.key]
		for _, seg := range d.parts() {
			if gated {
				seg = d.seen(seg, gate)
			}
			if seg.live > 0 {
				s.parts = append(s.parts, &part{segment: seg, d: d})
			}
		}
	}
	if none, err := s.restrict(ctx); err != nil || none {
		unused()
		return nil, nil, err
	}
	return s, func() {
		s.release()
		unused()
	}, nil
}

// restrict finds the documents that count; none means that no document does.
func (s *search) restrict(ctx context.Context) (none bool, err error) {
	if s.q.Documents != nil {
		ids, err := s.x.documentIDs(ctx, s.datasets, s.q.Documents)
		if err != nil || len(ids) == 0 {
			return true, err
		}
		s.only = setOf(ids)
	}
	if s.q.Filter == nil {
		return false, nil
	}
	only, all, err := s.q.Filter.Documents(func(key string) (map[string][]int64, error) {
		return s.documentsByValue(ctx, key)
	})
	if err != nil || all {
		return false, err
	}
	fit := setOf(only)
	if s.only != nil {
		for id := range s.only {
			if !fit[id] {
				delete(s.only, id)
			}
		}
	} else {
		s.only = fit
	}
	return len(s.only) == 0, nil
}

func setOf(ids []int64) map[int64]bool {
	set := make(map[int64]bool, len(ids))
	for _, id := range ids {
		set[id] = true
	}
	return set
}

// found reports whether a chunk may be a hit.
func (s *search) found(p *part, local int) bool {
	return p.visible(local, s.q.Hidden) && (s.only == nil || s.only[p.docs.at(local)])
}

// candidates returns the best chunks by words and the best by vector, with both similarities.
func (s *search) candidates(ctx context.Context) ([]index.Candidate, error) {
	var chosen []location
	if s.q.Text != "" {
		if err := s.scoreWords(ctx); err != nil {
			return nil, err
		}
		chosen = s.bestByWords()
	}
	if s.q.Vector != nil {
		nearest, err := s.nearest(ctx, chosen)
		if err != nil {
			return nil, err
		}
		chosen = append(chosen, nearest...)
	}
	slices.SortFunc(chosen, location.compare)
	chosen = slices.Compact(chosen)
	out := make([]index.Candidate, len(chosen))
	for i, at := range chosen {
		p := s.parts[at.part]
		out[i] = index.Candidate{
			Key: p.rows.at(at.local), Document: p.docs.at(at.local), Vector: float64(p.cosine[at.local]),
		}
		if p.scores != nil {
			out[i].Term = float64(p.scores[at.local])
		}
	}
	return out, nil
}
