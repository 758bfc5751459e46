package host

import (
	"context"
	"maps"

	"github.com/easel-canvas/easel/engine"
	"github.com/easel-canvas/easel/engine/component"
	"github.com/easel-canvas/easel/host/internal/app"
	"github.com/easel-canvas/easel/host/internal/knowledge/folder"
	"github.com/easel-canvas/easel/host/internal/knowledge/ingest"
	"github.com/easel-canvas/easel/host/internal/knowledge/retrieval"
	"github.com/easel-canvas/easel/host/internal/knowledge/searchmodel"
	"github.com/easel-canvas/easel/host/internal/runs"
)

// openKnowledge starts indexing the folder of documents, if there is one.
func (h *Host) openKnowledge(ctx context.Context, models *searchmodel.Models) error {
	if h.cfg.Knowledge == "" {
		return nil
	}
	cfg := folder.Config{
		Root: h.cfg.Knowledge, Dir: h.cfg.Dir, Cutter: ingest.DocumentCutter{Reader: &h.documents}, Logger: h.cfg.Log,
		Images: h.documents.OCR != nil, Model: models.DefaultEmbedding(""),
	}
	var err error
	if cfg.Model != "" {
		if cfg.Embedder, err = models.Embedder(ctx, "", cfg.Model); err != nil {
			return err
		}
	}
	h.knowledge, err = folder.Open(ctx, cfg)
	return err
}

// retriever finds passages in the datasets of a tenant and in the sources of the host.
func (p *ports) retriever(j *runs.Job) engine.Retriever {
	return p.sources.Retriever(&retriever{p.datasets, app.Principal{Tenant: j.Tenant}})
}

// retriever searches datasets by their ids or names.
type retriever struct {
	datasets *app.Datasets
	who      app.Principal
}

var (
	_ engine.Retriever         = (*retriever)(nil)
	_ component.MetadataLister = (*retriever)(nil)
)

// Retrieve implements [engine.Retriever].
func (r *retriever) Retrieve(ctx context.Context, q *engine.RetrievalQuery) (engine.Found, error) {
	ids, err := r.resolve(ctx, q.Datasets)
	if err != nil || len(ids) == 0 {
		return engine.Found{}, err
	}
	found, err := r.datasets.Search(ctx, r.who, app.SearchQuery{
		Datasets: ids, Question: q.Text, Size: max(1, q.TopN), TopK: q.TopK, Threshold: q.SimilarityThreshold,
		VectorWeight: 1 - q.KeywordWeight, Rerank: q.Rerank, Filter: retrieval.Filter(q.Filter),
	})
	if err != nil {
		return engine.Found{}, err
	}
	out := retrieval.Found(found.Hits)
	out.Diagnostics = append(found.Diagnostics, retrieval.Unsupported(q)...)
	return out, nil
}

// resolve finds datasets by their ids or names.
func (r *retriever) resolve(ctx context.Context, names []string) (ids []string, err error) {
	for _, name := range names {
		list, err := r.datasets.Resolve(ctx, r.who, name)
		if err != nil {
			return nil, err
		}
		for i := range list {
			ids = append(ids, list[i].ID)
		}
	}
	return ids, nil
}

// Metadata implements [component.MetadataLister].
func (r *retriever) Metadata(ctx context.Context, datasets []string) (engine.Value, error) {
	ids, err := r.resolve(ctx, datasets)
	if err != nil {
		return engine.Null, err
	}
	all := map[string]map[string]int{}
	for _, id := range ids {
		keys, err := r.datasets.Metadata(ctx, r.who, id)
		if err != nil {
			return engine.Null, err
		}
		for key, values := range keys {
			if all[key] == nil {
				all[key] = map[string]int{}
			}
			maps.Copy(all[key], values)
		}
	}
	return retrieval.Metadata(all), nil
}
