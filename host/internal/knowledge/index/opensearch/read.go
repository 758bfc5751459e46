package opensearch

import (
	"cmp"
	"context"
	"encoding/json"
	"strings"

	"github.com/easel-canvas/easel/host/internal/knowledge/index"
)

// Chunks implements [index.Index].
func (x *Index) Chunks(ctx context.Context, l *index.List) (*index.Page, error) {
	page, err := x.chunks(ctx, l)
	return page, index.DatasetError(l.Dataset, err)
}

func (x *Index) chunks(ctx context.Context, l *index.List) (*index.Page, error) {
	d, err := x.open(ctx, l.Dataset)
	if err != nil {
		return nil, err
	}
	var doc documentRow
	ok, err := x.row(ctx, d, documentID(l.Document), &doc)
	if err == nil && !ok {
		err = index.UnknownDocument(l.Document)
	}
	if err != nil {
		return nil, err
	}
	filter := ofKind(chunkKind, is("document", l.Document))
	if l.IDs != nil {
		filter = append(filter, in("chunk", l.IDs))
	}
	if l.Enabled != nil {
		filter = append(filter, is("enabled", *l.Enabled))
	}
	page, limit := &index.Page{}, cmp.Or(l.Limit, index.DefaultLimit)
	source := object{"excludes": []string{"vector", "terms", "counts"}}
	if l.Keys && l.Words == "" {
		source = object{"includes": []string{"chunk"}}
	}
	err = x.each(ctx, d, filter, source, []string{"n"}, func(h *hit) (bool, error) {
		var row chunkRow
		if err := json.Unmarshal(h.Source, &row); err != nil {
			return false, err
		}
		if !strings.Contains(strings.ToLower(row.Body.Content), strings.ToLower(l.Words)) {
			return true, nil
		}
		if page.Total >= l.Offset && len(page.Chunks) < limit {
			c := index.Chunk{ID: row.Chunk}
			if !l.Keys {
				c = row.chunk()
			}
			page.Chunks = append(page.Chunks, c)
		}
		page.Total++
		return true, nil
	})
	return page, err
}

// Metadata implements [index.Index].
func (x *Index) Metadata(ctx context.Context, keys ...string) (map[string]map[string]int, error) {
	s := &search{Index: x, ctx: ctx}
	seen := map[string]bool{}
	for _, key := range keys {
		if seen[key] {
			continue
		}
		seen[key] = true
		d, err := x.open(ctx, key)
		if err != nil {
			return nil, index.DatasetError(key, err)
		}
		s.datasets = append(s.datasets, d)
	}
	out := map[string]map[string]int{}
	err := s.documents(ofKind(documentKind), func(_ int, d *documentRow) {
		for key, v := range d.Body.Meta {
			counted := map[string]bool{}
			for _, value := range index.MetaValues(v) {
				if counted[value] {
					continue
				}
				counted[value] = true
				if out[key] == nil {
					out[key] = map[string]int{}
				}
				out[key][value]++
			}
		}
	})
	return out, err
}

// Stats implements [index.Index].
func (x *Index) Stats(ctx context.Context, key string) (st index.Stats, err error) {
	d, err := x.open(ctx, key)
	if err != nil {
		return st, index.DatasetError(key, err)
	}
	v, err := x.state(ctx, d)
	if err != nil {
		return st, index.DatasetError(key, err)
	}
	st.Chunks, st.Dims = int(v.Chunks), v.Dims
	documents, _, err := x.count(ctx, d, ofKind(documentKind))
	if err != nil {
		return st, index.DatasetError(key, err)
	}
	vectors, _, err := x.count(ctx, d, ofKind(chunkKind, is("embedded", true)))
	st.Documents, st.Vectors = int(documents), int(vectors)
	return st, index.DatasetError(key, err)
}

// Versions implements [index.Index].
func (x *Index) Versions(ctx context.Context, key string, documents ...string) (map[string]int64, error) {
	d, err := x.open(ctx, key)
	if err != nil {
		return nil, index.DatasetError(key, err)
	}
	filter := ofKind(documentKind)
	if len(documents) > 0 {
		filter = append(filter, in("document", documents))
	}
	out := map[string]int64{}
	source := []string{"document", "version"}
	err = x.each(ctx, d, filter, source, []string{"document"}, func(h *hit) (bool, error) {
		var row documentRow
		err := json.Unmarshal(h.Source, &row)
		out[row.Document] = row.Version
		return true, err
	})
	return out, index.DatasetError(key, err)
}
