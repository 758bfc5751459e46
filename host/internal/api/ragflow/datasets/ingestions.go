package datasets

import (
	"context"
	"maps"
	"slices"
	"strings"

	"github.com/easel-canvas/easel/engine"
	"github.com/easel-canvas/easel/host/internal/api"
	"github.com/easel-canvas/easel/host/internal/api/ragflow/envelope"
	"github.com/easel-canvas/easel/host/internal/app"
	"github.com/easel-canvas/easel/host/internal/knowledge/dataset"
)

// ingestionHandlers answer about the parses of documents, and about the embedding of datasets.
type ingestionHandlers struct {
	*face
	documents documentHandlers
}

// ingestionSummary counts what a dataset holds, and its documents by state.
func (f ingestionHandlers) ingestionSummary(ctx context.Context, r *api.Request) (api.Response, error) {
	v, err := f.pathDataset(ctx, r)
	if err != nil {
		return nil, err
	}
	counts, err := f.countStates(ctx, r, v.ID)
	return jsonOK(engine.Object("doc_num", v.Documents, "chunk_num", v.Chunks, "token_num", v.Tokens,
		"status", counts), err)
}

// countStates counts the documents of a dataset by state.
func (f ingestionHandlers) countStates(ctx context.Context, r *api.Request, id string) (engine.Value, error) {
	counts := map[string]int{}
	for _, one := range states {
		q := app.DocumentList{States: []dataset.State{one.state}, Page: 1, Size: 1}
		_, n, err := f.data.Documents(ctx, r.Who, id, q)
		if err != nil {
			return engine.Null, err
		}
		counts[one.name] += n
	}
	b := engine.NewObject(len(counts))
	for _, name := range slices.Sorted(maps.Keys(counts)) {
		b.Set(strings.ToLower(name), engine.Int(int64(counts[name])))
	}
	return b.Value(), nil
}

// ingestions lists the last parse of each document as a log.
func (f ingestionHandlers) ingestions(ctx context.Context, r *api.Request) (api.Response, error) {
	v, err := f.pathDataset(ctx, r)
	if err != nil {
		return nil, err
	}
	return f.parseLogs(ctx, r, v.ID, r.Query.Get("log_type") == "dataset")
}

// parseLogs answers the last parses of documents. Tasks over a whole dataset are none: this host
// has no knowledge graphs.
func (f ingestionHandlers) parseLogs(ctx context.Context, r *api.Request, id string, whole bool) (api.Response, error) {
	from, to := r.Query.Get("create_date_from"), r.Query.Get("create_date_to")
	if whole || from != "" && to != "" && from > to {
		return envelope.OK(engine.Object("total", 0, "logs", none)), nil
	}
	q := app.DocumentList{
		Words: r.Query.Get("keywords"),
		States: []dataset.State{
			dataset.Queued, dataset.Running, dataset.Done, dataset.Failed, dataset.Canceled,
		},
	}
	var err error
	if q.Page, q.Size, err = f.page(r.Query); err != nil {
		return nil, err
	}
	list, total, err := f.documents.documentsOf(ctx, r, id, q)
	if err != nil {
		return nil, err
	}
	rows := make([]engine.Value, len(list))
	for i, v := range list {
		rows[i] = parseLog(v)
	}
	return envelope.OK(engine.Object("total", total, "logs", engine.List(rows...))), nil
}

// parseLog is the last parse of a document. Its id is that of the document.
func parseLog(v dataset.Document) engine.Value {
	_, digit := stateName(v.State)
	b := engine.NewObject(20)
	b.Set("id", engine.String(v.ID)).Set("document_id", engine.String(v.ID))
	b.Set("document_name", engine.String(v.Name)).Set("document_suffix", engine.String(suffix(v.Name)))
	b.Set("document_type", engine.String(v.Kind)).Set("kb_id", engine.String(v.Dataset))
	b.Set("parser_id", engine.String(v.Method)).Set("pipeline_id", api.OrNull(v.Pipeline))
	b.Set("pipeline_title", engine.String(v.Method)).Set("task_type", engine.String("Parse"))
	b.Set("source_from", engine.String(v.Source)).Set("operation_status", engine.String(digit))
	b.Set("progress", engine.Float(v.Progress)).Set("progress_msg", engine.String(v.Messages))
	b.Set("process_duration", engine.Float(float64(v.Duration)/1000)).Set("dsl", engine.Object())
	began := engine.Null
	if v.Began > 0 {
		began = api.HTTPDate(v.Began)
	}
	b.Set("process_begin_at", began).Set("status", engine.String("1"))
	api.SetTimes(b, max(v.Began, v.Created), v.Updated)
	return b.Value()
}

func (f ingestionHandlers) ingestion(ctx context.Context, r *api.Request) (api.Response, error) {
	if _, err := f.pathDataset(ctx, r); err != nil {
		return nil, err
	}
	v, err := f.document(ctx, r, r.Params["dataset"], r.Params["log"], failed("Pipeline log not found!"))
	if err != nil {
		return nil, err
	}
	return envelope.OK(parseLog(v)), nil
}

// checkEmbedding reports whether another embedding model may be chosen: chunks are embedded again,
// so any may.
func (f ingestionHandlers) checkEmbedding(ctx context.Context, r *api.Request) (api.Response, error) {
	v, err := f.pathDataset(ctx, r)
	if err != nil {
		return nil, err
	}
	summary := engine.Object("kb_id", v.ID, "sampled", 0, "avg_cos_sim", 1)
	return envelope.OK(engine.Object("summary", summary, "results", none)), nil
}
