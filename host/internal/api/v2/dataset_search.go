package v2

import (
	"context"
	"errors"
	"time"

	"github.com/easel-canvas/easel/host/internal/app"
	"github.com/easel-canvas/easel/host/internal/knowledge/index"
)

type searchInput struct {
	Datasets     []string     `json:"datasets" jsonschema:"ids of the datasets to search"`
	Documents    []string     `json:"documents,omitempty" jsonschema:"only these documents; if absent, all; an empty list is refused"`
	Question     string       `json:"question"`
	Filter       *filterInput `json:"filter,omitempty" jsonschema:"conditions on the metadata of documents"`
	Page         int          `json:"page,omitempty" jsonschema:"from 1"`
	PageSize     int          `json:"page_size,omitempty" jsonschema:"default 30"`
	TopK         int          `json:"top_k,omitempty" jsonschema:"number of candidates by vector; default 1024"`
	Threshold    *float64     `json:"threshold,omitempty" jsonschema:"lowest similarity of a hit; default 0.2"`
	VectorWeight *float64     `json:"vector_weight,omitempty" jsonschema:"weight of vector similarity, 0 to 1; default 0.3"`
	Fusion       string       `json:"fusion,omitempty" jsonschema:"weighted or rrf"`
	Rerank       string       `json:"rerank,omitempty" jsonschema:"a reranking model, name@provider"`
	Highlight    bool         `json:"highlight,omitempty"`
	Forgive      *bool        `json:"forgive,omitempty" jsonschema:"see the call"`
}

type filterInput struct {
	Or         bool             `json:"or,omitempty" jsonschema:"match any condition instead of all"`
	Conditions []conditionInput `json:"conditions"`
}

type conditionInput struct {
	Key      string `json:"key"`
	Operator string `json:"operator" jsonschema:"such as contains, start with, empty, =, ≠, > or ≤"`
	Value    string `json:"value,omitempty"`
}

// selects checks the selection of a request. An empty list is often the result of a selection that
// found nothing; read as no restriction, it would select everything.
func selects(documents []string, filter *filterInput) error {
	switch {
	case documents != nil && len(documents) == 0:
		return badMember("documents", "documents is empty; name one at least, or leave it out for all documents")
	case filter != nil && len(filter.Conditions) == 0:
		return badMember("filter", "filter has no conditions; name one at least, or leave filter out for all documents")
	}
	return nil
}

// filter returns the filter of a request; may be nil.
func (in *filterInput) filter() *index.Filter {
	if in == nil {
		return nil
	}
	f := &index.Filter{Or: in.Or}
	for _, c := range in.Conditions {
		f.Conditions = append(f.Conditions, index.Condition(c))
	}
	return f
}

type searchView struct {
	Hits        []hitView       `json:"hits" jsonschema:"hits, best first"`
	Total       int             `json:"total" jsonschema:"number of hits on all pages"`
	Documents   []documentCount `json:"documents" jsonschema:"number of hits by document, highest first"`
	Diagnostics []string        `json:"diagnostics,omitempty" jsonschema:"settings that were ignored, with the reason"`
	Suggestion  string          `json:"suggestion,omitempty" jsonschema:"the question with its unknown words corrected"`
	Used        []string        `json:"used,omitempty" jsonschema:"correction, any_word, synonyms, phrase"`
	TookMS      int64           `json:"took_ms"`
}

type hitView struct {
	chunkView
	Dataset      string         `json:"dataset"`
	Document     string         `json:"document"`
	DocumentName string         `json:"document_name"`
	Similarity   float64        `json:"similarity"`
	Words        float64        `json:"words" jsonschema:"similarity by words, 0 to 1"`
	Vector       float64        `json:"vector" jsonschema:"similarity by vectors, -1 to 1"`
	Highlight    string         `json:"highlight,omitempty" jsonschema:"content with matched words in <em>"`
	Metadata     map[string]any `json:"metadata,omitempty" jsonschema:"id of the document"`
}

type documentCount struct {
	Document string `json:"document"`
	Name     string `json:"name"`
	Hits     int    `json:"hits"`
}

type searchDatasets struct {
	Who  app.Principal
	Body searchInput
}

// Defaults of searches.
const (
	searchThreshold    = 0.2
	searchVectorWeight = 0.3
)

// query is the search of a request.
func (in *searchInput) query() (app.SearchQuery, error) {
	q := app.SearchQuery{
		Datasets: in.Datasets, Documents: in.Documents, Question: in.Question, Filter: in.Filter.filter(),
		Page: in.Page, Size: in.PageSize, TopK: in.TopK, Threshold: searchThreshold, VectorWeight: searchVectorWeight,
		Rerank: in.Rerank, MustRerank: true, Highlight: in.Highlight, Fusion: index.Fusion(in.Fusion),
	}
	if in.Threshold != nil {
		q.Threshold = *in.Threshold
	}
	if in.VectorWeight != nil {
		q.VectorWeight = *in.VectorWeight
	}
	q.WantsVectors = in.VectorWeight != nil && *in.VectorWeight > 0 || in.Fusion == string(index.RRF)
	switch {
	case in.Forgive != nil && !*in.Forgive:
		q.Forgive = app.Strict
	case in.Forgive != nil || in.Threshold == nil:
		q.Forgive = app.Forgiving
	default:
		q.Forgive = app.Correcting
	}
	if err := selects(in.Documents, in.Filter); err != nil {
		return q, err
	}
	switch {
	case len(q.Datasets) == 0:
		return q, badMember("datasets", "datasets must name one at least")
	case q.VectorWeight < 0 || q.VectorWeight > 1:
		return q, badMember("vector_weight", "vector_weight must be 0 to 1, not %v", q.VectorWeight)
	case q.TopK < 0 || q.TopK > index.MostCandidates:
		return q, badMember("top_k", "top_k must be 1 to %d, not %d", index.MostCandidates, q.TopK)
	case q.Page < 0 || q.Size < 0 || q.Page > index.MostCandidates || q.Size > largestPage:
		return q, badMember("page", "page must be 1 or more, and page_size 1 to %d", largestPage)
	case max(q.Page, 1)*max(q.Size, 1) > index.MostCandidates:
		return q, badMember("page", "page and page_size reach hit %d at most", index.MostCandidates)
	case in.Fusion != "" && q.Fusion != index.Weighted && q.Fusion != index.RRF:
		return q, badMember("fusion", "fusion must be %s or %s, not %.40q", index.Weighted, index.RRF, in.Fusion)
	}
	if q.Filter != nil {
		if err := q.Filter.Check(); err != nil {
			return q, badMember("filter", "filter: %s", err)
		}
	}
	return q, nil
}

func (d datasets) search(ctx context.Context, in searchDatasets) (searchView, error) {
	began := time.Now()
	q, err := in.Body.query()
	if err != nil {
		return searchView{}, err
	}
	found, err := d.Search(ctx, in.Who, q)
	if errors.Is(err, app.ErrUnknownModel) {
		err = badMember("rerank", "rerank: %s", err)
	}
	if err != nil {
		return searchView{}, err
	}
	out := searchView{
		Hits: make([]hitView, len(found.Hits)), Documents: make([]documentCount, len(found.Documents)),
		Total: found.Total, Diagnostics: found.Diagnostics, Suggestion: found.Suggestion, Used: found.Used,
		TookMS: time.Since(began).Milliseconds(),
	}
	for i, h := range found.Hits {
		out.Hits[i] = hitView{
			chunkViewOf(h.Chunk), h.Dataset, h.Document, h.Name, h.Similarity, h.Term, h.Vector, h.Highlight, h.Meta,
		}
	}
	for i, c := range found.Documents {
		out.Documents[i] = documentCount{c.Document, c.Name, c.Count}
	}
	return out, nil
}
