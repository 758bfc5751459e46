// Package retrieval translates between searches of datasets and the engine's retriever port: the
// filters of Retrieval nodes, and results in the form that a canvas gets.
package retrieval

import (
	"maps"
	"slices"
	"strings"

	"github.com/easel-canvas/easel/engine"
	"github.com/easel-canvas/easel/host/internal/knowledge/index"
	"github.com/easel-canvas/easel/host/internal/record/dataset"
)

// Filter reads a meta_data_filter. Conditions that a model chose do not restrict a search that
// would find nothing with them.
func Filter(v engine.Value) *index.Filter {
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

// Found returns hits in the form of the engine, with their number for each document.
func Found(hits []dataset.Hit) engine.Found {
	var out engine.Found
	counts := map[string]int{}
	var documents []*dataset.Hit
	for i := range hits {
		h := &hits[i]
		out.Chunks = append(out.Chunks, passage(h))
		if counts[h.Document]++; counts[h.Document] == 1 {
			documents = append(documents, h)
		}
	}
	for _, h := range documents {
		out.DocAggs = append(out.DocAggs, engine.Object("doc_name", h.Name, "doc_id", h.Document, "count",
			counts[h.Document]))
	}
	return out
}

// Unsupported returns diagnostics for the parts of a query that datasets do not support.
func Unsupported(q *engine.RetrievalQuery) (out []string) {
	if q.KnowledgeGraph {
		out = append(out, "use_kg: the datasets have no knowledge graph")
	}
	if q.TOC {
		out = append(out, "toc_enhance: the datasets have no tables of contents")
	}
	return out
}

// passage returns a hit as a canvas gets it.
func passage(h *dataset.Hit) engine.Value {
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

// Metadata returns metadata in the form of the engine's MetadataLister: a list of values for each
// key.
func Metadata(keys map[string]map[string]int) engine.Value {
	out := engine.NewObject(len(keys))
	for _, key := range sorted(keys) {
		out.Set(key, engine.Strings(sorted(keys[key])...))
	}
	return out.Value()
}

func sorted[V any](m map[string]V) []string { return slices.Sorted(maps.Keys(m)) }
