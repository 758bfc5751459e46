package host

import (
	"context"
	"errors"
	"fmt"
	"maps"

	"github.com/easel-canvas/easel/engine"
	"github.com/easel-canvas/easel/host/internal/app"
	"github.com/easel-canvas/easel/host/internal/knowledge/folder"
	"github.com/easel-canvas/easel/host/internal/knowledge/ingest"
	"github.com/easel-canvas/easel/host/internal/knowledge/models/searchmodel"
	"github.com/easel-canvas/easel/host/internal/knowledge/retrieval"
)

// openKnowledge starts indexing the folder of documents, if there is one.
func (h *Host) openKnowledge(ctx context.Context, models *searchmodel.Models) error {
	if h.cfg.Knowledge == "" {
		return nil
	}
	cfg := folder.Config{
		Root: h.cfg.Knowledge, Dir: h.cfg.Dir, Cutter: ingest.DocumentCutter{Reader: &h.documents}, Logger: h.cfg.Log,
		Images: h.documents.OCR != nil, Model: models.Configured(),
		Full: h.store.Full,
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

// retriever searches datasets that a run may use, by their ids or names. Sources of other systems
// and the watched folder belong to all tenants.
type retriever struct {
	datasets *app.Datasets
	rights   *rights
}

var (
	_ engine.Retriever      = (*retriever)(nil)
	_ engine.MetadataLister = (*retriever)(nil)
)

// Retrieve implements [engine.Retriever].
func (r *retriever) Retrieve(ctx context.Context, q *engine.RetrievalQuery) (engine.Found, error) {
	who, ids, err := r.resolve(ctx, q.Datasets)
	if err != nil || len(ids) == 0 {
		return engine.Found{}, err
	}
	found, err := r.datasets.Search(ctx, who, app.SearchQuery{
		Datasets: ids, Question: q.Text, Size: max(1, q.TopN), TopK: q.TopK, Threshold: q.SimilarityThreshold,
		VectorWeight: 1 - q.KeywordWeight, WantsVectors: 1-q.KeywordWeight > usualVectorWeight+0.001,
		Rerank: q.Rerank, Filter: retrieval.Filter(q.Filter),
	})
	if err != nil {
		return engine.Found{}, err
	}
	documents := map[string][]string{}
	for i := range found.Hits {
		documents[found.Hits[i].Dataset] = append(documents[found.Hits[i].Dataset], found.Hits[i].Document)
	}
	for id, list := range documents {
		if err := r.note(ctx, who, id, list...); err != nil {
			return engine.Found{}, err
		}
	}
	out := retrieval.Found(found.Hits)
	out.Diagnostics = append(found.Diagnostics, retrieval.Unsupported(q)...)
	return out, nil
}

// note records which documents of a dataset the run reads, all that it may without any, before it
// gets them: its answers are not for readers who may not read them.
func (r *retriever) note(ctx context.Context, who app.Principal, id string, documents ...string) error {
	if r.rights.run == "" {
		return nil // who tries a node alone gets the answer, which is not kept
	}
	return app.NoteReaders(ctx, r.datasets, who, id, r.rights.run, r.rights.session, documents...)
}

// usualVectorWeight is the default of nodes; somebody chose a higher one.
const usualVectorWeight = 0.3

// resolve finds datasets by their ids or names, and on whose behalf they are used.
func (r *retriever) resolve(ctx context.Context, names []string) (who app.Principal, ids []string, err error) {
	viewer, err := r.rights.viewer(ctx)
	if err != nil {
		return who, nil, err
	}
	who = app.For(viewer)
	for _, name := range names {
		list, err := r.datasets.Resolve(ctx, who, name)
		if errors.Is(err, app.ErrNotFound) && r.rights.actor.Unattended() {
			// Without the datasets that there are: readers of the run may not be those who may use
			// them.
			err = r.rights.lacks(fmt.Errorf("dataset %q does not exist", name))
		}
		if err != nil {
			return who, nil, err
		}
		for i := range list {
			ids = append(ids, list[i].ID)
		}
	}
	return who, ids, nil
}

// Metadata implements [engine.MetadataLister].
func (r *retriever) Metadata(ctx context.Context, datasets []string) (engine.Value, error) {
	who, ids, err := r.resolve(ctx, datasets)
	if err != nil {
		return engine.Null, err
	}
	all := map[string]map[string]int{}
	for _, id := range ids {
		if err := r.note(ctx, who, id); err != nil {
			return engine.Null, err
		}
		keys, err := r.datasets.Metadata(ctx, who, id)
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
