package host

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/easel-canvas/easel/engine"
	"github.com/easel-canvas/easel/engine/component"
	"github.com/easel-canvas/easel/host/internal/app"
	"github.com/easel-canvas/easel/host/internal/knowledge"
	"github.com/easel-canvas/easel/host/internal/knowledge/index"
	"github.com/easel-canvas/easel/host/internal/runs"
)

// openKnowledge begins to index the folder of documents, when there is one.
func (h *Host) openKnowledge(ctx context.Context) (err error) {
	if h.cfg.Knowledge == "" {
		return nil
	}
	cfg := knowledge.Config{Root: h.cfg.Knowledge, Reader: &h.documents, Log: h.cfg.Log}
	if h.cfg.Dir != "" {
		cfg.Index = filepath.Join(h.cfg.Dir, "knowledge.db")
	}
	h.knowledge, err = knowledge.Open(ctx, cfg)
	return err
}

// retriever finds passages in the datasets of a tenant and in the host's folder of documents.
func (p *ports) retriever(j *runs.Job) engine.Retriever {
	r := &retriever{datasets: p.datasets, tenant: j.Tenant}
	if p.knowledge != nil {
		r.folder = p.knowledge.Of(j.Tenant)
	}
	return r
}

// retriever searches datasets of a tenant, by their ids or names, and folders of documents that are
// named like none of them.
type retriever struct {
	datasets *app.Datasets
	folder   engine.Retriever // nil without a folder
	tenant   string
}

var (
	_ engine.Retriever         = (*retriever)(nil)
	_ component.MetadataLister = (*retriever)(nil)
)

// Retrieve implements [engine.Retriever].
func (r *retriever) Retrieve(ctx context.Context, q *engine.RetrievalQuery) (engine.Found, error) {
	ids, folders, err := r.resolve(ctx, q.Datasets)
	if err != nil {
		return engine.Found{}, err
	}
	var out engine.Found
	if len(ids) > 0 {
		if out, err = r.search(ctx, q, ids); err != nil {
			return engine.Found{}, err
		}
	}
	if len(folders) == 0 {
		return out, nil
	}
	in := *q
	in.Datasets = folders
	more, err := r.folder.Retrieve(ctx, &in)
	if err != nil || len(ids) == 0 {
		return more, err
	}
	out.Chunks = append(out.Chunks, more.Chunks...)
	slices.SortStableFunc(out.Chunks, func(a, b engine.Value) int {
		return cmp.Compare(similarity(b), similarity(a))
	})
	out.Chunks = out.Chunks[:min(len(out.Chunks), max(1, q.TopN))]
	out.DocAggs = append(out.DocAggs, more.DocAggs...)
	return out, nil
}

func similarity(chunk engine.Value) float64 {
	f, _ := chunk.Get("similarity").Float()
	return f
}

// resolve finds datasets by their ids or names. What is left must be folders.
func (r *retriever) resolve(ctx context.Context, names []string) (ids, folders []string, err error) {
	who := app.Principal{Tenant: r.tenant}
	for _, name := range names {
		ds, err := r.datasets.Get(ctx, who, name)
		if errors.Is(err, app.ErrNotFound) {
			list, _, listErr := r.datasets.List(ctx, who, app.DatasetList{Name: name, Size: 1})
			if err = listErr; err == nil && len(list) == 0 {
				folders = append(folders, name)
				continue
			}
			if err == nil {
				ds = list[0]
			}
		}
		if err != nil {
			return nil, nil, err
		}
		ids = append(ids, ds.ID)
	}
	if r.folder == nil && len(folders) > 0 {
		return nil, nil, r.unknown(ctx, folders[0])
	}
	return ids, folders, nil
}

// shownDatasets is how many datasets an error names.
const shownDatasets = 20

// unknown is the error of a dataset that does not exist.
func (r *retriever) unknown(ctx context.Context, name string) error {
	list, total, err := r.datasets.List(ctx, app.Principal{Tenant: r.tenant}, app.DatasetList{Size: shownDatasets})
	if err != nil {
		return err
	}
	if total == 0 {
		return fmt.Errorf("dataset %q does not exist; there are no datasets", name)
	}
	known := make([]string, len(list))
	for i := range list {
		known[i] = list[i].Name
	}
	if total > len(list) {
		known = append(known, fmt.Sprintf("%d more", total-len(list)))
	}
	return fmt.Errorf("dataset %q does not exist; there are %s", name, strings.Join(known, ", "))
}

// search asks the datasets.
func (r *retriever) search(ctx context.Context, q *engine.RetrievalQuery, ids []string) (engine.Found, error) {
	found, err := r.datasets.Search(ctx, app.Principal{Tenant: r.tenant}, app.SearchQuery{
		Datasets: ids, Question: q.Text, Size: max(1, q.TopN), TopK: q.TopK, Threshold: q.SimilarityThreshold,
		VectorWeight: 1 - q.KeywordWeight, Rerank: q.Rerank, Filter: filterOf(q.Filter),
	})
	if err != nil {
		return engine.Found{}, err
	}
	out := engine.Found{Diagnostics: found.Diagnostics}
	if q.KnowledgeGraph {
		out.Diagnostics = append(out.Diagnostics, "use_kg: the datasets have no knowledge graph")
	}
	if q.TOC {
		out.Diagnostics = append(out.Diagnostics, "toc_enhance: the datasets have no tables of contents")
	}
	counts := map[string]int{}
	var documents []*app.SearchHit
	for i := range found.Hits {
		h := &found.Hits[i]
		out.Chunks = append(out.Chunks, passage(h))
		if counts[h.Document]++; counts[h.Document] == 1 {
			documents = append(documents, h)
		}
	}
	for _, h := range documents {
		out.DocAggs = append(out.DocAggs, engine.Object("doc_name", h.Name, "doc_id", h.Document, "count",
			counts[h.Document]))
	}
	return out, nil
}

// passage is a hit as a canvas gets it.
func passage(h *app.SearchHit) engine.Value {
	b := engine.NewObject(12)
	b.Set("chunk_id", engine.String(h.ID)).Set("content_with_weight", engine.String(h.Content))
	b.Set("doc_id", engine.String(h.Document)).Set("docnm_kwd", engine.String(h.Name))
	b.Set("kb_id", engine.String(h.Dataset)).Set("similarity", engine.Float(h.Similarity))
	b.Set("term_similarity", engine.Float(h.Term)).Set("vector_similarity", engine.Float(h.Vector))
	if len(h.Positions) > 0 {
		b.Set("positions", positions(h.Positions))
	}
	if h.Image != "" {
		b.Set("image_id", engine.String(h.Image))
	}
	if len(h.Meta) > 0 {
		b.Set("document_metadata", engine.FromGo(h.Meta))
		if u, ok := h.Meta["url"].(string); ok {
			b.Set("url", engine.String(u))
		}
	}
	return b.Value()
}

func positions(list [][]float64) engine.Value {
	out := make([]any, len(list))
	for i, at := range list {
		numbers := make([]any, len(at))
		for k, n := range at {
			numbers[k] = n
		}
		out[i] = numbers
	}
	return engine.FromGo(out)
}

// filterOf reads a meta_data_filter. Conditions that a model chose do not restrict a search that
// would find nothing with them.
func filterOf(v engine.Value) *index.Filter {
	list := v.Get("manual")
	if list.Len() == 0 {
		return nil
	}
	f := &index.Filter{
		Or: strings.EqualFold(v.Get("logic").Str(), "or"), Lenient: v.Get("method").Str() != "manual",
	}
	for _, c := range list.Elements() {
		f.Conditions = append(f.Conditions, index.Condition{
			Key: c.Get("key").Str(), Operator: c.Get("op").Str(), Value: c.Get("value").Text(),
		})
	}
	return f
}

// Metadata implements [component.MetadataLister].
func (r *retriever) Metadata(ctx context.Context, datasets []string) (engine.Value, error) {
	ids, folders, err := r.resolve(ctx, datasets)
	if err != nil {
		return engine.Null, err
	}
	all := map[string]map[string]bool{}
	add := func(key, value string) {
		if all[key] == nil {
			all[key] = map[string]bool{}
		}
		all[key][value] = true
	}
	for _, id := range ids {
		meta, err := r.datasets.Metadata(ctx, app.Principal{Tenant: r.tenant}, id)
		if err != nil {
			return engine.Null, err
		}
		for key, values := range meta {
			for value := range values {
				add(key, value)
			}
		}
	}
	if lister, ok := r.folder.(component.MetadataLister); ok && len(folders) > 0 {
		meta, err := lister.Metadata(ctx, folders)
		if err != nil {
			return engine.Null, err
		}
		for key, values := range meta.Fields() {
			for _, value := range values.Elements() {
				add(key, value.Text())
			}
		}
	}
	out := engine.NewObject(len(all))
	for _, key := range sorted(all) {
		out.Set(key, engine.Strings(sorted(all[key])...))
	}
	return out.Value(), nil
}

func sorted[V any](m map[string]V) []string {
	keys := make([]string, 0, len(m))
	for k := range m {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	return keys
}
