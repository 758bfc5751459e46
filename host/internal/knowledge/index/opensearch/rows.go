package opensearch

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"strconv"

	"github.com/cespare/xxhash/v2"

	"github.com/easel-canvas/easel/host/internal/knowledge/index"
)

// Kinds of rows.
const (
	documentKind = "document"
	chunkKind    = "chunk"
)

// documentRow is a document.
type documentRow struct {
	Kind     string       `json:"kind"`
	Document string       `json:"document"`
	Version  int64        `json:"version"`
	Keys     []string     `json:"keys"` // of its metadata
	Body     documentBody `json:"body"`
}

type documentBody struct {
	Name string         `json:"name"`
	Meta map[string]any `json:"meta,omitempty"`
}

func documentID(document string) string { return "d:" + document }

func documentRowOf(d *index.Document) documentRow {
	row := documentRow{
		Kind: documentKind, Document: d.ID, Version: d.Version, Keys: []string{}, Body: documentBody{d.Name, d.Meta},
	}
	for key := range d.Meta {
		row.Keys = append(row.Keys, key)
	}
	return row
}

// chunkRow is a chunk of a document.
type chunkRow struct {
	Kind     string `json:"kind"`
	Document string `json:"document"`
	Chunk    string `json:"chunk"`
	// Rev is the write that made the row.
	Rev      string         `json:"rev"`
	N        int64          `json:"n"` // place in the document
	Length   int            `json:"length"`
	Enabled  bool           `json:"enabled"`
	Embedded bool           `json:"embedded"`
	Terms    string         `json:"terms"`  // each as often as it counts
	Counts   map[string]int `json:"counts"` // of the same
	Vector   []float32      `json:"vector,omitempty"`
	Body     chunkBody      `json:"body"`
}

// chunkBody holds the fields of a chunk that searches return.
type chunkBody struct {
	Content   string   `json:"content"`
	Text      string   `json:"text,omitempty"`
	Keywords  []string `json:"keywords,omitempty"`
	Questions []string `json:"questions,omitempty"`
	Extra     []byte   `json:"extra,omitempty"`
}

// chunk returns the row as callers see it.
func (r *chunkRow) chunk() index.Chunk {
	return index.Chunk{
		ID: r.Chunk, Content: r.Body.Content, Text: r.Body.Text, Keywords: r.Body.Keywords,
		Questions: r.Body.Questions, Disabled: !r.Enabled, Extra: r.Body.Extra,
	}
}

// chunkID returns the id of a row: writes do not overwrite the rows of others.
func chunkID(document, chunk, rev string) string {
	return "c:" + rev + ":" + strconv.FormatUint(xxhash.Sum64String(document+"\x00"+chunk), 36)
}

// hash returns the form of a term in the rows.
func hash(term string) string { return strconv.FormatUint(xxhash.Sum64String(term), 36) }

// found is the answer to a search.
type found struct {
	Hits struct {
		Total struct{ Value int }
		Hits  []hit
	}
	Aggregations json.RawMessage
}

type hit struct {
	ID     string          `json:"_id"`
	Score  float64         `json:"_score"`
	Source json.RawMessage `json:"_source"`
	Sort   []any           `json:"sort"`
}

// query searches the rows of a dataset.
func (x *Index) query(ctx context.Context, d *dataset, q object) (*found, error) {
	var out found
	err := x.client.do(ctx, http.MethodPost, "/"+d.index+"/_search", q, &out)
	if isStatus(err, http.StatusNotFound) {
		err = index.ErrNoDataset // dropped concurrently
	}
	return &out, err
}

// perQuery is the number of rows that are read at once.
const perQuery = 1000

// each reads all rows that a filter lets through, in the order of fields that identify them, until
// f returns false.
func (x *Index) each(
	ctx context.Context, d *dataset, filter []object, source any, order []string, f func(h *hit) (bool, error),
) error {
	sort := make([]object, len(order))
	for i, field := range order {
		sort[i] = object{field: "asc"}
	}
	q := object{
		"size": perQuery, "query": object{"bool": object{"filter": filter}}, "sort": sort, "_source": source,
	}
	for {
		r, err := x.query(ctx, d, q)
		if err != nil {
			return err
		}
		for i := range r.Hits.Hits {
			if more, err := f(&r.Hits.Hits[i]); err != nil || !more {
				return err
			}
		}
		if len(r.Hits.Hits) < perQuery {
			return nil
		}
		q["search_after"] = r.Hits.Hits[len(r.Hits.Hits)-1].Sort
	}
}

// is is the filter of rows with a value, in with one of several.
func is(field string, value any) object           { return object{"term": object{field: value}} }
func in[T any](field string, values []T) object   { return object{"terms": object{field: values}} }
func ofKind(kind string, more ...object) []object { return append([]object{is("kind", kind)}, more...) }

// count counts the rows that a filter lets through, and adds up their lengths.
func (x *Index) count(ctx context.Context, d *dataset, filter []object) (n, words int64, err error) {
	r, err := x.query(ctx, d, object{
		"size": 0, "track_total_hits": true, "query": object{"bool": object{"filter": filter}},
		"aggs": object{"words": object{"sum": object{"field": "length"}}},
	})
	if err != nil {
		return 0, 0, err
	}
	var sums struct{ Words struct{ Value float64 } }
	if err := json.Unmarshal(r.Aggregations, &sums); err != nil {
		return 0, 0, err
	}
	return int64(r.Hits.Total.Value), int64(sums.Words.Value), nil
}

// refresh makes written rows visible.
func (x *Index) refresh(ctx context.Context, d *dataset) error {
	return x.client.do(ctx, http.MethodPost, "/"+d.index+"/_refresh", nil, nil)
}

// remove deletes the rows that a filter lets through and that are visible.
func (x *Index) remove(ctx context.Context, d *dataset, filter []object) error {
	var answer struct {
		Failures []json.RawMessage
	}
	err := x.client.do(ctx, http.MethodPost, "/"+d.index+"/_delete_by_query?conflicts=proceed&refresh=false",
		object{"query": object{"bool": object{"filter": filter}}}, &answer)
	if err == nil && len(answer.Failures) > 0 {
		err = errors.New("delete rows: " + string(answer.Failures[0]))
	}
	return err
}
