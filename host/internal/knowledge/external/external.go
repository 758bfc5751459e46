// Package external lets canvases search datasets of other systems in addition to those of the host:
// of RAGFlow by its retrieval API, and of servers with the external knowledge API of Dify.
// Retrieval nodes name a source where they name a dataset.
package external

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strings"

	"github.com/easel-canvas/easel/engine"
	"github.com/easel-canvas/easel/host/internal/egress/redact"
	"github.com/easel-canvas/easel/host/internal/knowledge/index"
	"github.com/easel-canvas/easel/host/internal/knowledge/index/remote"
	"github.com/easel-canvas/easel/host/internal/knowledge/models/endpoint"
	"github.com/easel-canvas/easel/host/internal/knowledge/retrieval"
	"github.com/easel-canvas/easel/host/internal/record/dataset"
)

// Kinds of sources.
const (
	RAGFlow = "ragflow"
	Dify    = "dify"
)

// Setting describes a source.
type Setting struct {
	Name    string // by which Retrieval nodes name it
	Kind    string // RAGFlow or Dify
	URL     string // base address: http://HOST:9380 of RAGFlow; what Dify would be given
	Dataset string // id of the dataset or knowledge there
	Key     string // sent as a bearer token; "" sends none
}

// form is a setting as flags have it.
const form = "NAME=ragflow:URL#DATASET or NAME=dify:URL#KNOWLEDGE"

var namePattern = regexp.MustCompile(`^[A-Za-z][A-Za-z0-9_]*$`)

// Parse reads settings, [form], with commas between them, without keys.
func Parse(text string) ([]Setting, error) {
	var list []Setting
	for part := range strings.SplitSeq(text, ",") {
		if part = strings.TrimSpace(part); part == "" {
			continue
		}
		s, err := parse(part)
		if err != nil {
			return nil, err
		}
		if slices.ContainsFunc(list, func(other Setting) bool { return other.Name == s.Name }) {
			return nil, fmt.Errorf("source %q is there twice", s.Name)
		}
		list = append(list, s)
	}
	return list, nil
}

func parse(text string) (s Setting, err error) {
	name, rest, named := strings.Cut(text, "=")
	kind, rest, typed := strings.Cut(rest, ":")
	address, id, chosen := strings.Cut(rest, "#")
	u, err := url.Parse(address)
	switch {
	case !named || !typed || !chosen || id == "" || err != nil:
		return s, fmt.Errorf("unknown source %.40q (want %s)", redact.Address(name), form)
	case !namePattern.MatchString(name):
		return s, fmt.Errorf("source %.40q: a name has letters, digits and _, and begins with a letter", name)
	case kind != RAGFlow && kind != Dify:
		return s, fmt.Errorf("source %q: unknown kind %.40q (one of %s, %s)", name, kind, RAGFlow, Dify)
	case u.Scheme != "http" && u.Scheme != "https" || u.Host == "":
		return s, fmt.Errorf("source %q: the address is not a URL such as https://HOST", name)
	}
	return Setting{Name: name, Kind: kind, URL: address, Dataset: id}, nil
}

// Sources are opened sources by their names.
type Sources map[string]*opened

type opened struct {
	Setting
	remote remote.Source
}

// Open makes the sources of settings; no request is sent. A nil client is http.DefaultClient.
func Open(list []Setting, client *http.Client) Sources {
	out := Sources{}
	for _, s := range list {
		e := endpoint.Endpoint{Key: s.Key, Client: client}
		o := &opened{Setting: s}
		if s.Kind == Dify {
			o.remote = remote.NewDify(s.URL, e)
		} else {
			o.remote = remote.NewRAGFlow(s.URL, e)
		}
		out[s.Name] = o
	}
	return out
}

// Names returns the names of the sources, sorted.
func (s Sources) Names() []string { return slices.Sorted(maps.Keys(s)) }

// Retriever searches the sources that a query names, and passes its other datasets to next. Without
// sources it is next, which may be nil.
func (s Sources) Retriever(next engine.Retriever) engine.Retriever {
	if len(s) == 0 {
		return next
	}
	return &retriever{s, next}
}

type retriever struct {
	sources Sources
	next    engine.Retriever
}

var (
	_ engine.Retriever      = (*retriever)(nil)
	_ engine.MetadataLister = (*retriever)(nil)
)

// split divides names into sources and datasets of the host.
func (r *retriever) split(names []string) (sources []*opened, others []string, err error) {
	for _, name := range names {
		if s := r.sources[name]; s != nil {
			sources = append(sources, s)
		} else {
			others = append(others, name)
		}
	}
	if len(others) > 0 && r.next == nil {
		return nil, nil, fmt.Errorf("dataset %q not found (one of the sources %s)", others[0],
			strings.Join(slices.Sorted(maps.Keys(r.sources)), ", "))
	}
	return sources, others, nil
}

// Retrieve implements [engine.Retriever]. A source that fails is the error of the search.
func (r *retriever) Retrieve(ctx context.Context, q *engine.RetrievalQuery) (engine.Found, error) {
	sources, others, err := r.split(q.Datasets)
	if err != nil {
		return engine.Found{}, err
	}
	if len(sources) == 0 {
		if r.next == nil {
			return engine.Found{}, errors.New("memories are not available here")
		}
		return r.next.Retrieve(ctx, q)
	}
	var all []engine.Found
	if len(others) > 0 {
		own := *q
		own.Datasets = others
		found, err := r.next.Retrieve(ctx, &own)
		if err != nil {
			return engine.Found{}, err
		}
		all = append(all, found)
	}
	for _, s := range sources {
		found, err := s.search(ctx, q)
		if err != nil {
			return engine.Found{}, fmt.Errorf("source %q: %w", s.Name, err)
		}
		all = append(all, found)
	}
	return merge(all, max(1, q.TopN)), nil
}

// Metadata implements [engine.MetadataLister]. The other systems do not list theirs.
func (r *retriever) Metadata(ctx context.Context, datasets []string) (engine.Value, error) {
	_, others, err := r.split(datasets)
	lister, ok := r.next.(engine.MetadataLister)
	if err != nil || len(others) == 0 || !ok {
		return engine.Object(), err
	}
	return lister.Metadata(ctx, others)
}

// keywordWeight is the default of Retrieval nodes.
const keywordWeight = 0.7

// search queries a source.
func (s *opened) search(ctx context.Context, q *engine.RetrievalQuery) (engine.Found, error) {
	query := &index.Query{
		Datasets: []string{s.Dataset}, Text: q.Text, Limit: max(1, q.TopN), TopK: q.TopK,
		Threshold: q.SimilarityThreshold, VectorWeight: 1 - q.KeywordWeight, Filter: retrieval.Filter(q.Filter),
	}
	if s.Kind == Dify && q.KeywordWeight == keywordWeight {
		query.VectorWeight = 0 // the default of nodes: the server uses its own weight
	}
	result, err := s.remote.Search(ctx, query)
	if err != nil {
		return engine.Found{}, err
	}
	hits := make([]dataset.Hit, len(result.Hits))
	for i := range result.Hits {
		hits[i] = s.hit(&result.Hits[i])
	}
	out := retrieval.Found(hits)
	lacking := append(result.Diagnostics, retrieval.Unsupported(q)...)
	if q.Rerank != "" {
		lacking = append(lacking, "rerank_id: the other system orders its hits itself")
	}
	for _, text := range lacking {
		out.Diagnostics = append(out.Diagnostics, fmt.Sprintf("source %q: %s", s.Name, text))
	}
	return out, nil
}

// hit returns a hit of the other system. What only RAGFlow sends is in Extra.
func (s *opened) hit(h *index.Hit) dataset.Hit {
	out := dataset.Hit{
		Chunk: dataset.Chunk{
			ID: h.Chunk.ID, Dataset: s.Name, Document: h.Document, Name: h.DocumentName, Content: h.Chunk.Content,
			Keywords: h.Chunk.Keywords,
		},
		Similarity: h.Similarity, Term: h.Term, Vector: h.Vector, Highlight: h.Highlight, Meta: h.Meta,
	}
	var more struct {
		Positions [][]float64 `json:"positions"`
	}
	if json.Unmarshal(h.Chunk.Extra, &more) == nil { // other forms of positions are not shown
		out.Positions = more.Positions
	}
	return out
}

// merge returns the best n of several searches, by similarity.
func merge(all []engine.Found, n int) engine.Found {
	var out engine.Found
	for _, found := range all {
		out.Chunks = append(out.Chunks, found.Chunks...)
		out.Diagnostics = append(out.Diagnostics, found.Diagnostics...)
	}
	similarity := func(v engine.Value) float64 {
		f, _ := v.Get("similarity").Float() // 0 for a chunk without one
		return f
	}
	slices.SortStableFunc(out.Chunks, func(a, b engine.Value) int { return cmp.Compare(similarity(b), similarity(a)) })
	out.Chunks = out.Chunks[:min(n, len(out.Chunks))]
	counts := map[string]int{}
	var documents []engine.Value
	for _, c := range out.Chunks {
		id := c.Get("doc_id").Text()
		if counts[id]++; counts[id] == 1 {
			documents = append(documents, c)
		}
	}
	for _, c := range documents {
		id := c.Get("doc_id").Text()
		out.DocAggs = append(out.DocAggs, engine.Object("doc_name", c.Get("docnm_kwd"), "doc_id", id,
			"count", counts[id]))
	}
	return out
}
