package app

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/easel-canvas/easel/host/internal/access"
	"github.com/easel-canvas/easel/host/internal/knowledge/chunkfile"
	"github.com/easel-canvas/easel/host/internal/knowledge/index"
	"github.com/easel-canvas/easel/host/internal/knowledge/replica"
	"github.com/easel-canvas/easel/host/internal/record/dataset"
)

// SearchQuery searches datasets for chunks.
type SearchQuery struct {
	Datasets     []string
	Documents    []string // unless empty, the documents that count
	Question     string
	Filter       *index.Filter // of metadata; nil is none
	Page         int           // from 1
	Size         int           // 0 means 30
	TopK         int           // candidates by vector; 0 means 1024
	Threshold    float64       // the least similarity of a hit
	VectorWeight float64       // share of the vector's similarity, 0 to 1
	WantsVectors bool          // VectorWeight was chosen: a dataset without vectors is a diagnostic
	Rerank       string        // a reranking model; "" is none
	MustRerank   bool          // an unknown reranking model is an error instead of a diagnostic
	Keyword      bool          // add keywords that a model finds
	Languages    []string      // translate the question
	Highlight    bool
	Metadata     []string // keys of metadata that come with hits; nil means all
	Fusion       index.Fusion
	Forgive      Forgiveness // further means when nothing is found
}

// SearchHit is a chunk that was found.
type SearchHit = dataset.Hit

// SearchResult holds the hits of a search.
type SearchResult struct {
	Total     int // hits on all pages
	Hits      []SearchHit
	Documents []index.DocumentCount // of all pages, those with most hits first
	// Diagnostics name the parts of the query that were not honoured.
	Diagnostics []string
	// Suggestion is the question with words that chunks have; "" if it needs no correction.
	Suggestion string
	// Used are the means by which the hits were found besides the words of the question.
	Used []string
}

// rescored bounds the hits that a reranking model or pageranks order again.
const rescored = 256

// Search finds chunks. Errors: [ErrNotFound] for a dataset or a document, [ErrUnknownModel] with
// MustRerank, those of [Error] and of the models.
func (d *Datasets) Search(ctx context.Context, p Principal, q SearchQuery) (*SearchResult, error) {
	for try := 1; ; try++ {
		s := &searching{d: d, p: p, q: q, out: &SearchResult{}}
		out, err := s.run(ctx)
		if errors.Is(err, index.ErrNoDataset) && try < searchTries {
			continue // a dataset got another embedding model, or was deleted
		}
		return out, err
	}
}

// searchTries bounds the attempts of a search whose dataset is gone from the index.
const searchTries = 3

// searching is one search.
type searching struct {
	d   *Datasets
	p   Principal
	q   SearchQuery
	ids map[string]string // of datasets, by their keys in the indexes
	// keys are the datasets in the index of the records, others those of the watched folder.
	keys, others []string
	// bonus is added to similarities for the pagerank of a dataset, by its key.
	bonus map[string]float64
	gates map[string]access.Gate
	model string
	// synonyms of all searched datasets.
	synonyms [][]string
	// phrases are the quoted texts that hits must contain.
	phrases []string
	out     *SearchResult
}

func (s *searching) run(ctx context.Context) (*SearchResult, error) {
	if err := s.open(ctx); err != nil {
		return nil, err
	}
	if s.q.Question == "" {
		return s.out, nil
	}
	if s.q.Rerank != "" && s.q.MustRerank {
		if _, err := s.d.models.Reranker(ctx, s.p.Tenant, s.q.Rerank); err != nil {
			return nil, err
		}
	}
	q := &index.Query{
		Filter: s.q.Filter, Text: s.q.Question, VectorWeight: s.q.VectorWeight, Fusion: s.q.Fusion,
		Threshold: s.q.Threshold, TopK: s.q.TopK, Limit: cmp.Or(s.q.Size, defaultPage), Highlight: s.q.Highlight,
		Gates: s.gates,
	}
	q.Offset = max(0, s.q.Page-1) * q.Limit
	if len(s.q.Documents) > 0 {
		q.Documents = s.q.Documents
	}
	if err := s.embed(ctx, q); err != nil {
		return nil, err
	}
	if s.q.Keyword {
		s.out.Diagnostics = append(s.out.Diagnostics, "keyword: no model is asked for keywords")
	}
	if len(s.q.Languages) > 0 {
		s.out.Diagnostics = append(s.out.Diagnostics, "cross_languages: the question is not translated")
	}
	offset, limit := q.Offset, q.Limit
	again := s.q.Rerank != "" || len(s.bonus) > 0
	if again && offset < rescored {
		q.Offset, q.Limit = 0, max(rescored, offset+limit)
	}
	s.phrases = phrasesOf(s.q.Question)
	found, err := s.findForgiving(ctx, q)
	if err != nil {
		return nil, err
	}
	hits := found.Hits
	if again && offset < rescored {
		if err := s.rescore(ctx, hits); err != nil {
			return nil, err
		}
		hits = hits[min(offset, len(hits)):]
		hits = hits[:min(limit, len(hits))]
	}
	s.out.Total, s.out.Documents = found.Total, found.Documents
	s.out.Diagnostics = append(s.out.Diagnostics, found.Diagnostics...)
	return s.out, s.show(hits)
}

// open checks the datasets and brings the index up to them.
func (s *searching) open(ctx context.Context) error {
	s.ids, s.bonus, s.gates = map[string]string{}, map[string]float64{}, map[string]access.Gate{}
	first, without := "", ""
	for _, id := range s.q.Datasets {
		name, model, err := s.openOne(ctx, id)
		if err != nil {
			return missing(err, fmt.Sprintf("dataset %q", id))
		}
		if model == "" {
			without = name
			continue
		}
		if s.model == "" {
			first, s.model = name, model
		}
		if model != s.model {
			return &Error{
				CodeBadArgument,
				fmt.Sprintf("datasets %q and %q have different embedding models: %q and %q",
					first, name, s.model, model),
				"dataset_ids",
			}
		}
	}
	if s.model != "" && without != "" {
		s.out.Diagnostics = append(s.out.Diagnostics,
			fmt.Sprintf("no_vectors: dataset %q has none; it was searched by words only", without))
	}
	return s.filter()
}

// openOne opens a dataset, and returns its name and the model of its vectors.
func (s *searching) openOne(ctx context.Context, id string) (name, model string, err error) {
	if v, ok := s.d.watched.get(s.p, id); ok {
		if err := s.d.watched.folder.Await(ctx); err != nil {
			return "", "", err
		}
		if key, ok := s.d.watched.folder.Key(s.p.Tenant, id); ok {
			s.others = append(s.others, key)
			s.ids[key] = id
			return v.Name, s.d.watched.folder.Model(), nil
		}
	}
	v, err := s.d.replica.Sync(ctx, id)
	if err == nil {
		err = s.p.Check(s.p.Act, v.Access())
	}
	if err != nil {
		return "", "", err
	}
	if v.Behind != nil {
		s.out.Diagnostics = append(s.out.Diagnostics, fmt.Sprintf(
			"index_behind: the newest chunks of dataset %q are missing: the disk of the index is full", v.Name))
	}
	if v.Key == "" {
		return v.Name, v.Model, nil
	}
	s.synonyms = append(s.synonyms, v.Synonyms...)
	s.keys = append(s.keys, v.Key)
	s.ids[v.Key] = v.ID
	if gate := gateOf(s.p, &v.Dataset); gate != nil {
		s.gates[v.Key] = *gate
	}
	if v.Pagerank > 0 {
		s.bonus[v.Key] = float64(v.Pagerank) / 100
	}
	return v.Name, v.Model, nil
}

// find searches the index of the records, that of the watched folder, or both.
func (s *searching) find(ctx context.Context, q *index.Query) (*index.Result, error) {
	own := *q
	own.Datasets = s.keys
	if len(s.keys)+len(s.others) == 0 {
		return &index.Result{}, nil // none has been indexed yet
	}
	if len(s.others) == 0 {
		return s.d.replica.Index().Search(ctx, &own)
	}
	others := *q
	others.Datasets, others.Gates = s.others, nil
	if len(s.keys) == 0 {
		return s.d.watched.folder.Index().Search(ctx, &others)
	}
	for _, part := range []*index.Query{&own, &others} {
		part.Offset, part.Limit = 0, q.Offset+q.Limit
	}
	a, err := s.d.replica.Index().Search(ctx, &own)
	if err != nil {
		return nil, err
	}
	b, err := s.d.watched.folder.Index().Search(ctx, &others)
	if err != nil {
		return nil, err
	}
	return index.Merge(q, a, b), nil
}

func (s *searching) filter() error {
	if s.q.Filter == nil {
		return nil
	}
	if err := s.q.Filter.Check(); err != nil {
		return BadArgument("%s", err)
	}
	return nil
}

// embed sets the vector of the question on q.
func (s *searching) embed(ctx context.Context, q *index.Query) error {
	if s.model == "" || q.VectorWeight == 0 && q.Fusion != index.RRF {
		if s.model == "" && s.q.WantsVectors {
			s.out.Diagnostics = append(s.out.Diagnostics,
				"no_vectors: no embedding model answers for these datasets; searched by words only")
		}
		q.VectorWeight = 0
		return nil
	}
	model, err := s.d.models.Embedder(ctx, s.p.Tenant, s.model)
	if errors.Is(err, ErrUnknownModel) {
		s.out.Diagnostics = append(s.out.Diagnostics, fmt.Sprintf("unknown_model: %s; searched by words only", err))
		q.VectorWeight = 0
		return nil
	}
	if err != nil {
		return err
	}
	vectors, err := model.Embed(ctx, []string{s.q.Question})
	if err != nil {
		return err
	}
	if hasDirection(vectors[0]) {
		q.Vector = vectors[0]
	} else if s.q.WantsVectors {
		s.out.Diagnostics = append(s.out.Diagnostics, fmt.Sprintf(
			"no_vectors: model %q has no vector for the question; searched by words only", s.model))
	}
	return nil
}

// rescore orders hits by a reranking model and by pageranks.
func (s *searching) rescore(ctx context.Context, hits []index.Hit) error {
	if s.q.Rerank != "" && len(hits) > 0 {
		model, err := s.d.models.Reranker(ctx, s.p.Tenant, s.q.Rerank)
		switch {
		case errors.Is(err, ErrUnknownModel):
			s.out.Diagnostics = append(s.out.Diagnostics,
				fmt.Sprintf("rerank_id: %s; the order is that of the search", err))
		case err != nil:
			return err
		default:
			texts := make([]string, len(hits))
			for i := range hits {
				texts[i] = hits[i].Chunk.Content
			}
			scores, err := model.Rerank(ctx, s.q.Question, texts)
			if err != nil {
				return err
			}
			w := s.q.VectorWeight
			for i, score := range scores {
				hits[i].Vector = score
				hits[i].Similarity = (1-w)*hits[i].Term + w*score
				hits[i].Score = hits[i].Similarity
			}
		}
	}
	for i := range hits {
		bonus := s.bonus[hits[i].Dataset]
		hits[i].Similarity += bonus
		hits[i].Score += bonus
	}
	slices.SortStableFunc(hits, func(a, b index.Hit) int { return cmp.Compare(b.Score, a.Score) })
	return nil
}

// show fills the result. Pieces of a larger chunk are shown as that chunk.
func (s *searching) show(hits []index.Hit) error {
	parents := map[string]int{} // place in the result
	pieces := map[string]int{}
	for i := range hits {
		h := &hits[i]
		c, err := replica.Chunk(&h.Chunk)
		if err != nil {
			return err
		}
		c.Dataset, c.Document, c.Name = s.ids[h.Dataset], h.Document, h.DocumentName
		hit := SearchHit{
			Chunk: c, Similarity: h.Similarity, Term: h.Term, Vector: h.Vector, Highlight: h.Highlight,
			Meta: s.metadata(h.Meta),
		}
		if c.Parent == "" {
			s.out.Hits = append(s.out.Hits, hit)
			continue
		}
		id := chunkfile.ID(c.Parent, c.Document)
		n := float64(pieces[id])
		pieces[id]++
		if at, ok := parents[id]; ok {
			of := &s.out.Hits[at]
			of.Similarity = (of.Similarity*n + hit.Similarity) / (n + 1)
			of.Term, of.Vector = (of.Term*n+hit.Term)/(n+1), (of.Vector*n+hit.Vector)/(n+1)
			continue
		}
		hit.ID, hit.Content, hit.Parent = id, c.Parent, ""
		if s.q.Highlight {
			hit.Highlight = c.Parent
		}
		parents[id] = len(s.out.Hits)
		s.out.Hits = append(s.out.Hits, hit)
	}
	if len(parents) > 0 {
		slices.SortStableFunc(s.out.Hits, func(a, b SearchHit) int { return cmp.Compare(b.Similarity, a.Similarity) })
	}
	return nil
}

// metadata are the keys of a document's metadata that were asked for.
func (s *searching) metadata(all map[string]any) map[string]any {
	if s.q.Metadata == nil {
		return all
	}
	out := map[string]any{}
	for _, key := range s.q.Metadata {
		if v, ok := all[key]; ok {
			out[key] = v
		}
	}
	return out
}
