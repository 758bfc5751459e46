package eval

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"iter"
	"slices"
	"strconv"
	"time"

	"github.com/easel-canvas/easel/host/internal/knowledge/index"
	"github.com/easel-canvas/easel/host/internal/knowledge/models/embed"
)

// Evaluation is a corpus with queries and judgements. Its indexes are kept until Close, so that
// several settings can be tried.
type Evaluation struct {
	Corpus     iter.Seq2[Document, error] // read once for each index
	Queries    []Query
	Judgements Judgements
	Depths     []int // of recall
	// Open makes an empty index.
	Open func(ctx context.Context) (index.Index, error)
	// Embed makes vectors; nil allows only settings without.
	Embed embed.Embedder
	// Progress, unless nil, is called now and then with the present step and its progress; of is 0
	// if unknown.
	Progress func(what string, done, of int)

	indexes map[built]*corpus
}

// built are the settings that an index depends on.
type built struct {
	settings index.Settings
	chunk    string
	vectors  bool
}

// corpus is an index with all documents.
type corpus struct {
	index.Index
	ids    map[string]bool
	chunks int
	took   time.Duration
}

// Run has the results of one choice of settings.
type Run struct {
	Settings  Settings      `json:"settings"`
	Model     string        `json:"embedding_model,omitempty"`
	Documents int           `json:"documents"`
	Chunks    int           `json:"chunks"`
	Judged    int           `json:"queries"` // with a relevant document
	Mean      Measures      `json:"mean"`
	Queries   []QueryRun    `json:"per_query"`
	Indexing  time.Duration `json:"indexing_ns"`
	Median    time.Duration `json:"search_p50_ns"`
	P99       time.Duration `json:"search_p99_ns"`

	found map[string][]Found
}

// QueryRun has the results of one query.
type QueryRun struct {
	ID string `json:"id"`
	Measures
}

const (
	// Depth is the number of documents that are retrieved for a query.
	Depth = 100
	// batch is the number of documents that are stored in one step.
	batch   = 500
	dataset = "eval"
)

// Close removes the indexes.
func (e *Evaluation) Close() error {
	var errs []error
	for _, c := range e.indexes {
		errs = append(errs, c.Close())
	}
	return errors.Join(errs...)
}

// Run tries settings.
func (e *Evaluation) Run(ctx context.Context, s Settings) (*Run, error) {
	if s.UsesVectors() && e.Embed == nil {
		return nil, fmt.Errorf("mode %s needs an embedding model", s.Mode)
	}
	c, err := e.corpus(ctx, built{s.Index, s.Chunk, s.UsesVectors()})
	if err != nil {
		return nil, err
	}
	if err := e.check(c); err != nil {
		return nil, err
	}
	r := &Run{Settings: s, Documents: len(c.ids), Chunks: c.chunks, Indexing: c.took, found: map[string][]Found{}}
	if s.UsesVectors() {
		r.Model = e.Embed.Model()
	}
	var all []Measures
	var times []time.Duration
	for i, q := range e.Queries {
		e.progress("searching", i, len(e.Queries))
		began := time.Now()
		found, err := e.search(ctx, c, s, q)
		if err != nil {
			return nil, fmt.Errorf("query %q: %w", q.ID, err)
		}
		times = append(times, time.Since(began))
		r.found[q.ID] = found
		if m, ok := measure(found, e.Judgements[q.ID], e.Depths); ok {
			all = append(all, m)
			r.Queries = append(r.Queries, QueryRun{q.ID, m})
		}
	}
	if r.Judged = len(all); r.Judged == 0 {
		return nil, errors.New("no query has a judgement of a relevant document; are the files of one collection?")
	}
	r.Mean = mean(all, e.Depths)
	slices.Sort(times)
	r.Median, r.P99 = times[len(times)/2], times[len(times)*99/100]
	return r, nil
}

// check reports judgements of documents that the corpus does not have, when all are like that.
func (e *Evaluation) check(c *corpus) error {
	for _, grades := range e.Judgements {
		for document := range grades {
			if c.ids[document] {
				return nil
			}
		}
	}
	return errors.New("no judged document is in the corpus; are the files of one collection?")
}

func (e *Evaluation) progress(what string, done, of int) {
	if e.Progress != nil {
		e.Progress(what, done, of)
	}
}

// corpus returns an index with all documents.
func (e *Evaluation) corpus(ctx context.Context, b built) (*corpus, error) {
	if c := e.indexes[b]; c != nil {
		return c, nil
	}
	ix, err := e.Open(ctx)
	if err != nil {
		return nil, err
	}
	c := &corpus{Index: ix, ids: map[string]bool{}}
	if err := e.fill(ctx, c, b); err != nil {
		return nil, errors.Join(err, ix.Close())
	}
	if e.indexes == nil {
		e.indexes = map[built]*corpus{}
	}
	e.indexes[b] = c
	return c, nil
}

// fill stores the documents.
func (e *Evaluation) fill(ctx context.Context, c *corpus, b built) error {
	if err := c.Create(ctx, dataset, b.settings); err != nil {
		return err
	}
	began := time.Now()
	var waiting []Document
	store := func() error {
		docs, err := e.documents(ctx, c, b, waiting)
		if err != nil {
			return err
		}
		waiting = waiting[:0]
		e.progress("indexing", len(c.ids), 0)
		return c.Replace(ctx, dataset, docs...)
	}
	for d, err := range e.Corpus {
		if err != nil {
			return err
		}
		c.ids[d.ID] = true
		if waiting = append(waiting, d); len(waiting) == batch {
			if err := store(); err != nil {
				return err
			}
		}
	}
	c.took = time.Since(began)
	if len(c.ids) == 0 {
		return errors.New("the corpus has no documents")
	}
	err := store()
	c.took = time.Since(began)
	return err
}

// documents cuts documents into chunks with their vectors.
func (e *Evaluation) documents(ctx context.Context, c *corpus, b built, docs []Document) ([]index.Document, error) {
	var chunks []index.Chunk
	ends := make([]int, len(docs))
	for i, d := range docs {
		for n, text := range cut(b.chunk, d) {
			chunks = append(chunks, index.Chunk{ID: strconv.Itoa(n), Content: text})
		}
		ends[i] = len(chunks)
	}
	c.chunks += len(chunks)
	if b.vectors {
		texts := make([]string, len(chunks))
		for i := range chunks {
			texts[i] = chunks[i].Content
		}
		vectors, err := e.Embed.Embed(ctx, texts)
		if err != nil {
			return nil, err
		}
		for i, v := range vectors {
			if !isZero(v) { // a text without a known word is not found by meaning
				chunks[i].Vector = v
			}
		}
	}
	out := make([]index.Document, len(docs))
	from := 0
	for i, d := range docs {
		out[i] = index.Document{ID: d.ID, Chunks: sequence(chunks[from:ends[i]])}
		from = ends[i]
	}
	return out, nil
}

func isZero(v []float32) bool {
	return !slices.ContainsFunc(v, func(x float32) bool { return x != 0 })
}

func sequence(chunks []index.Chunk) iter.Seq2[index.Chunk, error] {
	return func(yield func(index.Chunk, error) bool) {
		for _, c := range chunks {
			if !yield(c, nil) {
				return
			}
		}
	}
}

// search finds documents for a query: each by its best chunk.
func (e *Evaluation) search(ctx context.Context, c *corpus, s Settings, q Query) ([]Found, error) {
	in := &index.Query{
		Datasets: []string{dataset}, VectorWeight: s.VectorWeight, Fusion: s.Fusion, TopK: s.TopK, Limit: Depth,
	}
	if s.Chunk != None {
		in.Limit = 10 * Depth // several chunks may be of one document
	}
	if s.Mode != Vectors {
		in.Text = q.Text
	}
	if s.UsesVectors() {
		vectors, err := e.Embed.Embed(ctx, []string{q.Text})
		if err != nil {
			return nil, err
		}
		if !isZero(vectors[0]) {
			in.Vector = vectors[0]
		}
	}
	if in.Text == "" && in.Vector == nil {
		return nil, nil
	}
	r, err := c.Search(ctx, in)
	if err != nil {
		return nil, err
	}
	seen := map[string]bool{}
	var out []Found
	for _, h := range r.Hits {
		if !seen[h.Document] && len(out) < Depth {
			seen[h.Document] = true
			out = append(out, Found{h.Document, h.Score})
		}
	}
	return out, nil
}

// Differences returns the queries whose discounted gain differs most between two runs, the largest
// losses first.
func Differences(from, to *Run) []Difference {
	before := map[string]Measures{}
	for _, q := range from.Queries {
		before[q.ID] = q.Measures
	}
	var out []Difference
	for _, q := range to.Queries {
		if d := q.NDCG - before[q.ID].NDCG; d != 0 {
			out = append(out, Difference{q.ID, before[q.ID].NDCG, q.NDCG, d})
		}
	}
	slices.SortStableFunc(out, func(a, b Difference) int {
		return cmp.Or(cmp.Compare(a.Change, b.Change), cmp.Compare(a.ID, b.ID))
	})
	return out
}

// Difference is a query in two runs, by its discounted gain.
type Difference struct {
	ID     string  `json:"id"`
	Before float64 `json:"before"`
	After  float64 `json:"after"`
	Change float64 `json:"change"`
}
