package datasets

import (
	"context"
	"strings"

	"github.com/easel-canvas/easel/engine"
	"github.com/easel-canvas/easel/host/internal/api"
	"github.com/easel-canvas/easel/host/internal/api/ragflow/envelope"
	"github.com/easel-canvas/easel/host/internal/app"
)

// Searches as the page of the original makes them: with raw member names and no least similarity.

// searchOne searches the dataset of the path.
func (f searchHandlers) searchOne(ctx context.Context, r *api.Request) (api.Response, error) {
	v, err := f.pathDataset(ctx, r)
	if err != nil {
		return nil, err
	}
	if err := f.loose(r); err != nil {
		return nil, err
	}
	return f.test(ctx, r, []string{v.ID})
}

// searchSeveral searches datasets that the body names.
func (f searchHandlers) searchSeveral(ctx context.Context, r *api.Request) (api.Response, error) {
	if err := f.loose(r); err != nil {
		return nil, err
	}
	ids, err := f.searched(ctx, r, r.Body.Get("dataset_ids"))
	if err != nil {
		return nil, err
	}
	return f.test(ctx, r, ids)
}

// retrievalTest is the search of the older page, which names datasets as kb_id.
func (f searchHandlers) retrievalTest(ctx context.Context, r *api.Request) (api.Response, error) {
	if err := f.loose(r); err != nil {
		return nil, err
	}
	if err := r.Body.Require("kb_id", "question"); err != nil {
		return nil, err
	}
	ids := r.Body.Get("kb_id")
	if ids.Kind() == engine.KindString {
		ids = engine.List(ids)
	}
	for _, one := range ids.Elements() {
		none := api.Refused(api.KindNotOwner, "Only owner of dataset authorized for this operation.")
		if _, err := f.dataset(ctx, r, one.Text(), none); err != nil {
			return nil, err
		}
	}
	found, err := f.searched(ctx, r, ids)
	if err != nil {
		return nil, err
	}
	return f.test(ctx, r, found)
}

// test searches datasets and answers with raw member names.
func (f searchHandlers) test(ctx context.Context, r *api.Request, ids []string) (api.Response, error) {
	body := r.Body.Value
	question, given := body.Lookup("question")
	if !given {
		return nil, api.Lacking([]string{"question"})
	}
	q := &query{SearchQuery: app.SearchQuery{Datasets: ids, Question: strings.TrimSpace(question.Text())}}
	for _, name := range [...]string{"doc_ids", "document_ids"} {
		if list := body.Get(name); list.Kind() == engine.KindList {
			body = body.With("document_ids", list)
		}
	}
	for name, to := range map[string]string{"size": "page_size", "similarity_threshold": "similarity_threshold"} {
		if v, ok := body.Lookup(name); ok {
			body = body.With(to, v)
		}
	}
	if !has(body, "similarity_threshold") {
		body = body.With("similarity_threshold", zero)
	}
	if err := f.readSearch(ctx, r, body, q); err != nil {
		return nil, err
	}
	if err := readFilter(r, body.Get("meta_data_filter"), q); err != nil {
		return nil, err
	}
	found := &app.SearchResult{}
	if q.Question != "" {
		var err error
		if found, err = f.search(ctx, r, q.SearchQuery); err != nil {
			return nil, err
		}
	}
	hits := make([]engine.Value, len(found.Hits))
	for i, h := range found.Hits {
		hits[i] = rawHit(h, q)
	}
	return envelope.OK(engine.Object("total", found.Total, "chunks", engine.List(hits...),
		"doc_aggs", documentCounts(found), "labels", none)), nil
}

// readFilter reads the filter of a search as the page sends it. Conditions that need a model to
// write them are not made; a log line reports it.
func readFilter(r *api.Request, v engine.Value, q *query) (err error) {
	switch method := v.Get("method").Str(); method {
	case "", "disabled":
	case "manual":
		q.Filter, err = filterOf(engine.Object("logic", v.Get("logic"), "conditions", v.Get("manual")))
	default:
		r.Logger().Warn("metadata filter ignored: a search test has no model", "method", method)
	}
	return err
}

// rawHit is a hit with the member names of the original's index.
func rawHit(h app.SearchHit, q *query) engine.Value {
	b := engine.NewObject(20)
	b.Set("chunk_id", engine.String(h.ID)).Set("content_with_weight", engine.String(h.Content))
	b.Set("content_ltks", engine.String(strings.ToLower(h.Content)))
	b.Set("doc_id", engine.String(h.Document)).Set("docnm_kwd", engine.String(h.Name))
	b.Set("kb_id", engine.String(h.Dataset)).Set("important_kwd", engine.Strings(h.Keywords...))
	b.Set("image_id", engine.String(h.Image)).Set("positions", positionsOf(h.Chunk))
	b.Set("similarity", engine.Float(h.Similarity)).Set("term_similarity", engine.Float(h.Term))
	b.Set("vector_similarity", engine.Float(h.Vector)).Set("doc_type_kwd", engine.String(typeOf(h.Chunk)))
	if q.Highlight {
		b.Set("highlight", engine.String(h.Highlight))
	}
	return b.Value()
}
