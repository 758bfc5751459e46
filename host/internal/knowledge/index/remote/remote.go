// Package remote searches datasets of other systems: RAGFlow by its retrieval API, and servers with
// the external knowledge API of Dify. It only reads them.
package remote

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/easel-canvas/easel/host/internal/knowledge/index"
	"github.com/easel-canvas/easel/host/internal/knowledge/models/endpoint"
)

// Source finds chunks in datasets that are named by their ids at the other system. Its results say
// which parts of a query it could not honour.
type Source interface {
	Search(ctx context.Context, q *index.Query) (*index.Result, error)
}

// errNoText is the error of a query without words: the other systems make vectors themselves.
var errNoText = errors.New("a remote source searches by text; the query has none")

// condition is a metadata condition on the wire, in both APIs.
type condition struct {
	Name     string `json:"name"`
	Operator string `json:"comparison_operator"`
	Value    string `json:"value,omitempty"`
}

func conditions(f *index.Filter) (out []condition, logic string) {
	for _, c := range f.Conditions {
		out = append(out, condition{c.Key, c.Operator, c.Value})
	}
	if f.Or {
		return out, "or"
	}
	return out, "and"
}

// RAGFlow is a server of RAGFlow.
type RAGFlow struct{ Endpoint endpoint.Endpoint }

// NewRAGFlow makes a source of the base address of a server, such as http://host:9380.
func NewRAGFlow(base string, e endpoint.Endpoint) *RAGFlow {
	e.URL = strings.TrimRight(base, "/") + "/api/v1/retrieval"
	return &RAGFlow{e}
}

// largestPage is the maximum page size of RAGFlow.
const largestPage = 100

type ragflowQuery struct {
	Question  string         `json:"question"`
	Datasets  []string       `json:"dataset_ids"`
	Documents []string       `json:"document_ids,omitempty"`
	Page      int            `json:"page"`
	PageSize  int            `json:"page_size"`
	Threshold float64        `json:"similarity_threshold"`
	Weight    float64        `json:"vector_similarity_weight"`
	TopK      int            `json:"top_k"`
	Highlight bool           `json:"highlight"`
	Condition map[string]any `json:"metadata_condition,omitempty"`
}

type ragflowAnswer struct {
	Code    int    `json:"code"`
	Message string `json:"message"`
	Data    struct {
		Total     int               `json:"total"`
		Chunks    []json.RawMessage `json:"chunks"`
		Documents json.RawMessage   `json:"doc_aggs"` // a list, or {} for none
	} `json:"data"`
}

type ragflowChunk struct {
	ID         string         `json:"id"`
	Content    string         `json:"content"`
	Dataset    string         `json:"dataset_id"`
	Document   string         `json:"document_id"`
	Name       string         `json:"document_keyword"`
	Keywords   []string       `json:"important_keywords"`
	Similarity float64        `json:"similarity"`
	Term       float64        `json:"term_similarity"`
	Vector     float64        `json:"vector_similarity"`
	Highlight  string         `json:"highlight"`
	Meta       map[string]any `json:"document_metadata"`
}

// Search implements [Source].
func (r *RAGFlow) Search(ctx context.Context, q *index.Query) (*index.Result, error) {
	q, err := q.Normal()
	if err == nil {
		err = q.Ungated()
	}
	if err != nil {
		return nil, err
	}
	if q.Text == "" {
		return nil, errNoText
	}
	size := min(q.Limit, largestPage)
	in := ragflowQuery{
		Question: q.Text, Datasets: q.Datasets, Documents: q.Documents, PageSize: size, Threshold: q.Threshold,
		Weight: q.VectorWeight, TopK: q.TopK, Highlight: q.Highlight,
	}
	out := &index.Result{}
	if q.Filter != nil && len(q.Filter.Conditions) > 0 {
		list, logic := conditions(q.Filter)
		in.Condition = map[string]any{"logic": logic, "conditions": list}
		if len(q.Documents) > 0 {
			out.Diagnostics = append(out.Diagnostics, "RAGFlow ignores metadata conditions when document ids are given")
		}
	}
	if q.Fusion == index.RRF {
		out.Diagnostics = append(out.Diagnostics, "RAGFlow has no fusion by reciprocal ranks; it uses the weighted sum")
	}
	if q.Hidden {
		out.Diagnostics = append(out.Diagnostics, "RAGFlow does not find chunks that are not enabled")
	}
	for at := q.Offset / size * size; at < q.Offset+q.Limit; at += size {
		in.Page = at/size + 1
		n, err := r.page(ctx, in, out)
		if err != nil {
			return nil, err
		}
		if n < size {
			break
		}
	}
	out.Hits = out.Hits[min(len(out.Hits), q.Offset%size):]
	out.Hits = out.Hits[:min(len(out.Hits), q.Limit)]
	return out, nil
}

// page adds a page of chunks to a result, and returns their number.
func (r *RAGFlow) page(ctx context.Context, in ragflowQuery, out *index.Result) (int, error) {
	var answer ragflowAnswer
	if err := r.Endpoint.Post(ctx, in, &answer); err != nil {
		return 0, err
	}
	if answer.Code != 0 {
		return 0, fmt.Errorf("%s: code %d: %s", r.Endpoint.Name(), answer.Code, answer.Message)
	}
	out.Total = answer.Data.Total
	for _, raw := range answer.Data.Chunks {
		var c ragflowChunk
		if err := json.Unmarshal(raw, &c); err != nil {
			return 0, fmt.Errorf("%s: chunk: %w", r.Endpoint.Name(), err)
		}
		out.Hits = append(out.Hits, index.Hit{
			Chunk: index.Chunk{ID: c.ID, Content: c.Content, Keywords: c.Keywords, Extra: raw}, Dataset: c.Dataset,
			Document: c.Document, DocumentName: c.Name, Meta: c.Meta, Similarity: c.Similarity, Term: c.Term,
			Vector: c.Vector, Score: c.Similarity, Highlight: c.Highlight,
		})
	}
	var list []struct {
		ID    string `json:"doc_id"`
		Name  string `json:"doc_name"`
		Count int    `json:"count"`
	}
	if len(answer.Data.Documents) > 0 && answer.Data.Documents[0] == '[' {
		if err := json.Unmarshal(answer.Data.Documents, &list); err != nil {
			return 0, fmt.Errorf("%s: doc_aggs: %w", r.Endpoint.Name(), err)
		}
	}
	out.Documents = nil // of all pages, in every answer
	for _, d := range list {
		out.Documents = append(out.Documents, index.DocumentCount{Document: d.ID, Name: d.Name, Count: d.Count})
	}
	return len(answer.Data.Chunks), nil
}

// Dify is a server with the external knowledge API of Dify. RAGFlow has one, too.
type Dify struct{ Endpoint endpoint.Endpoint }

// NewDify makes a source of the address that Dify would be given: /retrieval is added to it.
func NewDify(base string, e endpoint.Endpoint) *Dify {
	e.URL = strings.TrimRight(base, "/") + "/retrieval"
	return &Dify{e}
}

type difyQuery struct {
	Knowledge string         `json:"knowledge_id"`
	Query     string         `json:"query"`
	Setting   difySetting    `json:"retrieval_setting"`
	Condition map[string]any `json:"metadata_condition,omitempty"`
}

type difySetting struct {
	TopK      int     `json:"top_k"`
	Threshold float64 `json:"score_threshold"`
}

type difyAnswer struct {
	Records *[]struct {
		Content string         `json:"content"`
		Score   float64        `json:"score"`
		Title   string         `json:"title"`
		Meta    map[string]any `json:"metadata"`
	} `json:"records"`
	Code    any    `json:"error_code"`
	Message string `json:"error_msg"`
	Other   string `json:"message"`
}

// Search implements [Source]. Each dataset is asked for itself; the best of all come first.
func (d *Dify) Search(ctx context.Context, q *index.Query) (*index.Result, error) {
	q, err := q.Normal()
	if err == nil {
		err = q.Ungated()
	}
	if err != nil {
		return nil, err
	}
	if q.Text == "" {
		return nil, errNoText
	}
	out := &index.Result{Diagnostics: difyLimits(q)}
	for _, dataset := range q.Datasets {
		in := difyQuery{dataset, q.Text, difySetting{q.Offset + q.Limit, q.Threshold}, nil}
		if q.Filter != nil && len(q.Filter.Conditions) > 0 {
			list, logic := conditions(q.Filter)
			// RAGFlow reads the one name, Dify writes the other.
			in.Condition = map[string]any{"logical_operator": logic, "logic": logic, "conditions": list}
		}
		if err := d.dataset(ctx, in, out); err != nil {
			return nil, err
		}
	}
	slices.SortStableFunc(out.Hits, func(a, b index.Hit) int { return cmp.Compare(b.Score, a.Score) })
	out.Total = len(out.Hits)
	counts := map[string]int{}
	for _, h := range out.Hits {
		if counts[h.Document]++; counts[h.Document] == 1 {
			out.Documents = append(out.Documents, index.DocumentCount{Document: h.Document, Name: h.DocumentName})
		}
	}
	for i := range out.Documents {
		out.Documents[i].Count = counts[out.Documents[i].Document]
	}
	slices.SortStableFunc(out.Documents, func(a, b index.DocumentCount) int { return cmp.Compare(b.Count, a.Count) })
	out.Hits = out.Hits[min(q.Offset, len(out.Hits)):]
	out.Hits = out.Hits[:min(q.Limit, len(out.Hits))]
	return out, nil
}

// difyLimits returns diagnostics for the parts of a query that the API does not support.
func difyLimits(q *index.Query) (out []string) {
	for what, asked := range map[string]bool{
		"weights of words and vectors": q.VectorWeight != 0, "fusion by reciprocal ranks": q.Fusion == index.RRF,
		"document ids": len(q.Documents) > 0, "highlights": q.Highlight, "chunks that are not enabled": q.Hidden,
	} {
		if asked {
			out = append(out, "the external knowledge API of Dify has no "+what)
		}
	}
	slices.Sort(out)
	return out
}

func (d *Dify) dataset(ctx context.Context, in difyQuery, out *index.Result) error {
	var answer difyAnswer
	if err := d.Endpoint.Post(ctx, in, &answer); err != nil {
		return err
	}
	if answer.Records == nil {
		return fmt.Errorf("%s: knowledge %q: the answer has no records: %v %s%s",
			d.Endpoint.URL, in.Knowledge, answer.Code, answer.Message, answer.Other)
	}
	for i, r := range *answer.Records {
		document := r.Title
		for _, key := range []string{"document_id", "doc_id"} {
			if id, ok := r.Meta[key].(string); ok {
				document = id
			}
		}
		out.Hits = append(out.Hits, index.Hit{
			Chunk: index.Chunk{ID: fmt.Sprintf("%s#%d", in.Knowledge, i), Content: r.Content}, Dataset: in.Knowledge,
			Document: document, DocumentName: r.Title, Meta: r.Meta, Similarity: r.Score, Score: r.Score,
		})
	}
	return nil
}
