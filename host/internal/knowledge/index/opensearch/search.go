package opensearch

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/easel-canvas/easel/host/internal/knowledge/index"
)

// search is one query at work.
type search struct {
	*Index
	ctx      context.Context
	q        *index.Query
	datasets []*dataset
	states   []values
	only     []string // documents that count; nil means all
	found    map[rowKey]*candidate
}

// rowKey is a row of one of the datasets.
type rowKey struct {
	dataset int
	id      string
}

// candidate is a chunk that may become a hit.
type candidate struct {
	rowKey
	Document     string         `json:"document"`
	N            int64          `json:"n"`
	Length       int            `json:"length"`
	Counts       map[string]int `json:"counts"`
	term, vector float64
}

// errMoved means that a row was replaced during a search.
var errMoved = errors.New("documents changed during the search")

// searchTries bounds the attempts of a search that conflicts with changes.
const searchTries = 20

// Search implements [index.Index].
func (x *Index) Search(ctx context.Context, q *index.Query) (out *index.Result, err error) {
	if q, err = q.Normal(); err == nil {
		err = q.Ungated()
	}
	if err != nil {
		return nil, err
	}
	if len(q.Datasets) == 0 {
		return &index.Result{}, nil
	}
	for try := 1; ; try++ {
		s := &search{Index: x, ctx: ctx, q: q, found: map[rowKey]*candidate{}}
		out, err = s.run()
		if !errors.Is(err, errMoved) || try == searchTries {
			return out, err
		}
	}
}

func (s *search) run() (*index.Result, error) {
	seen := map[string]bool{}
	for _, key := range s.q.Datasets {
		if seen[key] {
			continue
		}
		seen[key] = true
		d, err := s.open(s.ctx, key)
		if err != nil {
			return nil, index.DatasetError(key, err)
		}
		st, err := s.state(s.ctx, d)
		if err != nil {
			return nil, index.DatasetError(key, err)
		}
		if err := s.q.CheckVector(key, st.Dims); err != nil {
			return nil, err
		}
		s.datasets, s.states = append(s.datasets, d), append(s.states, st)
	}
	if none, err := s.restrict(); err != nil || none {
		return &index.Result{}, err
	}
	if s.q.Text != "" {
		if err := s.words(); err != nil {
			return nil, fmt.Errorf("index: search words: %w", err)
		}
	}
	if s.q.Vector != nil {
		if err := s.vectors(); err != nil {
			return nil, fmt.Errorf("index: search vectors: %w", err)
		}
	}
	return s.result()
}

// restrict finds the documents that count; none means that no document does.
func (s *search) restrict() (none bool, err error) {
	s.only = s.q.Documents
	if s.only != nil && len(s.only) == 0 {
		return true, nil
	}
	var names []string // of documents, by the numbers that the filter works with
	numbers := map[string]int64{}
	fit, all, err := s.q.Filter.Documents(func(key string) (map[string][]int64, error) {
		out := map[string][]int64{}
		err := s.documents(ofKind(documentKind, is("keys", key)), func(_ int, d *documentRow) {
			n, known := numbers[d.Document]
			if !known {
				n = int64(len(names))
				numbers[d.Document] = n
				names = append(names, d.Document)
			}
			for _, value := range index.MetaValues(d.Body.Meta[key]) {
				out[value] = append(out[value], n)
			}
		})
		for _, list := range out {
			slices.Sort(list)
		}
		return out, err
	})
	if err != nil || all {
		return false, err
	}
	asked := s.only
	s.only = []string{}
	for _, n := range fit {
		if asked == nil || slices.Contains(asked, names[n]) {
			s.only = append(s.only, names[n])
		}
	}
	return len(s.only) == 0, nil
}

// documents reads documents of all datasets.
func (s *search) documents(filter []object, f func(dataset int, d *documentRow)) error {
	for i, d := range s.datasets {
		err := s.each(s.ctx, d, filter, true, []string{"document"}, func(h *hit) (bool, error) {
			var row documentRow
			if err := json.Unmarshal(h.Source, &row); err != nil {
				return false, err
			}
			f(i, &row)
			return true, nil
		})
		if err != nil {
			return index.DatasetError(d.key, err)
		}
	}
	return nil
}

// visible returns the filter of the chunks that count.
func (s *search) visible() []object {
	filter := ofKind(chunkKind)
	if !s.q.Hidden {
		filter = append(filter, is("enabled", true))
	}
	if s.only != nil {
		filter = append(filter, in("document", s.only))
	}
	return filter
}

// wordQuery is the terms of the query in one dataset.
type wordQuery struct {
	counts  map[string]int // by term
	matches []*candidate
}

// words finds the best chunks by the server's BM25 and computes their exact scores.
func (s *search) words() error {
	queries := make([]wordQuery, len(s.datasets))
	holding, all := map[string]int{}, 0
	for i, d := range s.datasets {
		counts, err := index.QueryTerms(d.settings, s.q.Text)
		if err != nil {
			return err
		}
		queries[i].counts = counts
		for term := range counts {
			holding[term] += 0 // words that no chunk has are rare ones, too
		}
		all += int(s.states[i].Chunks)
		if queries[i].matches, err = s.matches(i, counts, holding); err != nil {
			return index.DatasetError(d.key, err)
		}
	}
	idf := map[string]float64{}
	for term, n := range holding {
		idf[term] = index.InverseFrequency(all, n)
	}
	var scored []*candidate
	for i, q := range queries {
		s.score(i, &q, idf)
		scored = append(scored, q.matches...)
	}
	slices.SortFunc(scored, func(a, b *candidate) int { return cmp.Or(cmp.Compare(b.term, a.term), a.compare(b)) })
	for _, c := range scored[:min(len(scored), s.q.Words())] {
		s.found[c.rowKey] = c
	}
	return nil
}

// compare orders candidates by their places in the datasets.
func (c *candidate) compare(o *candidate) int {
	return cmp.Or(cmp.Compare(c.dataset, o.dataset), strings.Compare(c.Document, o.Document), cmp.Compare(c.N, o.N))
}

// matches returns the best chunks of a dataset by the server's scores. holding counts the chunks
// that have each term.
func (s *search) matches(at int, counts map[string]int, holding map[string]int) ([]*candidate, error) {
	if len(counts) == 0 {
		return nil, nil
	}
	source, should, having := []string{"document", "n", "length"}, []object{}, object{}
	for term, n := range counts {
		h := hash(term)
		source = append(source, "counts."+h)
		should = append(should, object{"term": object{"terms": object{"value": h, "boost": n}}})
		having[h] = is("terms", h)
	}
	r, err := s.query(s.ctx, s.datasets[at], object{
		"size": s.q.Words(), "_source": source, "query": object{"bool": object{
			"filter": s.visible(), "should": should, "minimum_should_match": 1,
		}},
		"aggs": object{"all": object{"global": object{}, "aggs": object{
			"holding": object{"filters": object{"filters": having}},
		}}},
	})
	if err != nil {
		return nil, err
	}
	var counted struct {
		All struct {
			Holding struct {
				Buckets map[string]struct {
					Count int `json:"doc_count"`
				}
			}
		}
	}
	if err := json.Unmarshal(r.Aggregations, &counted); err != nil {
		return nil, err
	}
	for term := range counts {
		holding[term] += counted.All.Holding.Buckets[hash(term)].Count
	}
	return s.candidates(at, r)
}

// candidates reads the hits of a dataset.
func (s *search) candidates(at int, r *found) ([]*candidate, error) {
	out := make([]*candidate, len(r.Hits.Hits))
	for i, h := range r.Hits.Hits {
		out[i] = &candidate{rowKey: rowKey{at, h.ID}}
		if err := json.Unmarshal(h.Source, out[i]); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// score sets the BM25 of the matches of a dataset, relative to a chunk of average length that has
// each word of the query once.
func (s *search) score(at int, q *wordQuery, idf map[string]float64) {
	settings, st := s.datasets[at].settings, s.states[at]
	average := float64(st.Words) / float64(max(1, st.Chunks))
	full := index.FullWeight(settings, q.counts, idf)
	for _, c := range q.matches {
		length := settings.LengthNorm(c.Length, average)
		for term, times := range q.counts {
			if n := float64(c.Counts[hash(term)]); n > 0 {
				c.term += float64(times) * idf[term] * (max(0, settings.K1) + 1) / full * n / (n + length)
			}
		}
	}
}

// mostNear bounds the chunks that the servers choose by vector.
const mostNear = 10_000

// vectors finds the nearest chunks and compares all candidates with the query.
func (s *search) vectors() error {
	for i, d := range s.datasets {
		if s.states[i].Dims == 0 {
			continue
		}
		r, err := s.query(s.ctx, d, s.nearest())
		if err != nil {
			return index.DatasetError(d.key, err)
		}
		near, err := s.candidates(i, r)
		if err != nil {
			return index.DatasetError(d.key, err)
		}
		for _, c := range near {
			if s.found[c.rowKey] == nil {
				s.found[c.rowKey] = c
			}
		}
		if err := s.compare(i); err != nil {
			return index.DatasetError(d.key, err)
		}
	}
	return nil
}

// nearest returns the request for the nearest chunks.
func (s *search) nearest() object {
	k := min(s.q.TopK, mostNear)
	filter := object{"bool": object{"filter": s.visible()}}
	out := object{"size": k, "_source": []string{"document", "n"}}
	if s.elastic {
		out["knn"] = object{
			"field": "vector", "query_vector": s.q.Vector, "k": k, "num_candidates": min(mostNear, k+k/2),
			"filter": filter,
		}
		return out
	}
	out["query"] = object{"knn": object{"vector": object{"vector": s.q.Vector, "k": k, "filter": filter}}}
	return out
}

// compare sets the cosines of the candidates of a dataset.
func (s *search) compare(at int) error {
	var ids []string
	for key := range s.found {
		if key.dataset == at {
			ids = append(ids, key.id)
		}
	}
	field := "doc['vector']"
	if s.elastic {
		field = "'vector'"
	}
	r, err := s.query(s.ctx, s.datasets[at], object{
		"size": len(ids), "_source": false, "query": object{"script_score": object{
			"query": object{"bool": object{"filter": []object{{"ids": object{"values": ids}}, is("embedded", true)}}},
			"script": object{
				"source": "cosineSimilarity(params.v, " + field + ") + 1.0", "params": object{"v": s.q.Vector},
			},
		}},
	})
	if err != nil {
		return err
	}
	for _, h := range r.Hits.Hits {
		s.found[rowKey{at, h.ID}].vector = h.Score - 1
	}
	return nil
}
