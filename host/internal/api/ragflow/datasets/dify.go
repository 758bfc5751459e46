package datasets

import (
	"context"
	"net/http"
	"strings"

	"github.com/easel-canvas/easel/engine"
	"github.com/easel-canvas/easel/host/internal/api"
	"github.com/easel-canvas/easel/host/internal/app"
)

// difyVectorWeight is the weight of vectors in searches for Dify, which sends none.
const difyVectorWeight = 0.3

// difyPath is the endpoint of Dify's external knowledge API.
const difyPath = "/api/v1/dify/retrieval"

func difyRoutes(f *face) []api.Route {
	searches := searchHandlers{f}
	return []api.Route{route("POST", difyPath, read, api.BodySmall, searches.difyRetrieve)}
}

// difyRetrieve answers Dify's interface for external knowledge.
func (f searchHandlers) difyRetrieve(ctx context.Context, r *api.Request) (api.Response, error) {
	if err := f.loose(r); err != nil {
		return nil, err
	}
	body := r.Body.Value
	if body.Len() == 0 {
		body = api.FirstValues(r.Query.Values) // of the GET that newer versions have
	}
	var missing []string
	for _, name := range []string{"knowledge_id", "query"} {
		if body.Get(name).IsNull() {
			missing = append(missing, name)
		}
	}
	if len(missing) > 0 {
		return nil, f.difyLacks(missing)
	}
	q, err := difyQuery(body)
	if err != nil {
		return nil, err
	}
	id := body.Get("knowledge_id").Text()
	d, err := f.dataset(ctx, r, id, api.Failed(api.KindNoResource, "Knowledgebase not found!"))
	if err != nil {
		return nil, err
	}
	q.Datasets = []string{d.ID}
	records := []engine.Value{}
	if q.Question != "" && q.Size > 0 {
		found, err := f.search(ctx, r, q)
		if err != nil {
			return nil, err
		}
		for _, h := range found.Hits {
			records = append(records, f.difyRecord(h))
		}
	}
	return api.Sorted(http.StatusOK, engine.Object("records", engine.List(records...))), nil
}

// difyQuery reads a search of Dify's.
func difyQuery(body engine.Value) (q app.SearchQuery, err error) {
	setting := body.Get("retrieval_setting")
	q = app.SearchQuery{
		Question: strings.TrimSpace(body.Get("query").Text()), Page: 1, VectorWeight: difyVectorWeight,
	}
	if q.Size, err = wholeOf(setting, "top_k", defaultTopK); err != nil {
		return q, err
	}
	if q.Threshold, err = numberOf(setting, "score_threshold", 0); err != nil {
		return q, err
	}
	q.Size = min(max(q.Size, 0), defaultTopK)
	q.TopK = max(q.Size, 1)
	q.Filter, err = filterOf(body.Get("metadata_condition"))
	return q, err
}

// difyRecord is a hit. Dify refuses metadata that is null.
func difyRecord(h app.SearchHit) engine.Value {
	meta := metaOf(h.Meta).With("doc_id", engine.String(h.Document))
	return engine.Object("content", h.Content, "score", engine.Float(h.Similarity), "title", h.Name, "metadata", meta)
}
