package opensearch

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"net/http"
	"slices"
	"strings"

	"github.com/google/uuid"

	"github.com/easel-canvas/easel/host/internal/knowledge/index"
)

// change is a write to a dataset.
type change struct {
	*Index
	ctx     context.Context
	d       *dataset
	st      values
	rev     string
	counter *index.Counter
	rows    *bulk
	written []string // ids of the rows that were added
}

// change writes to documents of a dataset, in one step for searches.
func (x *Index) change(ctx context.Context, key string, documents []string, f func(c *change) error) error {
	defer x.writing(x.name(key))()
	return index.DatasetError(key, x.changeLocked(ctx, key, documents, f))
}

func (x *Index) changeLocked(ctx context.Context, key string, documents []string, f func(c *change) error) error {
	d, err := x.open(ctx, key)
	if err != nil {
		return err
	}
	c := &change{
		Index: x, ctx: ctx, d: d, rev: strings.ReplaceAll(uuid.NewString(), "-", ""),
		rows: &bulk{client: &x.client, ctx: ctx, index: d.index},
	}
	if c.counter, err = index.NewCounter(d.settings); err != nil {
		return err
	}
	if c.st, err = x.state(ctx, d); err != nil {
		return err
	}
	if err := c.repair(); err != nil {
		return err
	}
	former := c.st
	c.st.Writing = documents
	if err := x.setState(ctx, d, c.st); err != nil {
		return err
	}
	if err := f(c); err != nil {
		return c.undo(former, err)
	}
	if err := c.rows.send(); err != nil {
		return c.undo(former, err)
	}
	c.st.Writing = nil
	if err := x.setState(ctx, d, c.st); err != nil {
		return err
	}
	return x.refresh(ctx, d)
}

// undo removes the rows that were added, which were never visible. When that fails, the next write
// removes the documents.
func (c *change) undo(former values, cause error) error {
	ctx := context.WithoutCancel(c.ctx)
	rows := &bulk{client: &c.client, ctx: ctx, index: c.d.index}
	var err error
	for _, id := range c.written {
		err = errors.Join(err, rows.add("delete", id, nil))
	}
	if err = errors.Join(err, rows.send()); err == nil {
		err = c.setState(ctx, c.d, former)
	}
	return errors.Join(cause, err)
}

// repair removes the documents of a write that was broken off.
func (c *change) repair() error {
	if len(c.st.Writing) == 0 {
		return nil
	}
	if err := c.refresh(c.ctx, c.d); err != nil {
		return err
	}
	if err := c.remove(c.ctx, c.d, []object{in("document", c.st.Writing)}); err != nil {
		return err
	}
	if err := c.refresh(c.ctx, c.d); err != nil {
		return err
	}
	var err error
	c.st.Chunks, c.st.Words, err = c.count(c.ctx, c.d, ofKind(chunkKind))
	c.st.Writing = nil
	return err
}

// Replace implements [index.Index].
func (x *Index) Replace(ctx context.Context, key string, docs ...index.Document) error {
	ids := make([]string, len(docs))
	for i := range docs {
		ids[i] = docs[i].ID
	}
	return x.change(ctx, key, ids, func(c *change) error {
		if err := index.EachDocument(docs, c.insert); err != nil {
			return err
		}
		if err := c.rows.send(); err != nil {
			return err
		}
		// The rows that were just added are not visible and stay.
		if err := c.clear(in("document", ids)); err != nil {
			return err
		}
		for i := range docs {
			if err := c.rows.add("index", documentID(docs[i].ID), documentRowOf(&docs[i])); err != nil {
				return err
			}
		}
		return nil
	})
}

// clear removes the visible chunks that a filter lets through.
func (c *change) clear(filter object) error {
	filters := ofKind(chunkKind, filter)
	n, words, err := c.count(c.ctx, c.d, filters)
	if err != nil || n == 0 {
		return err
	}
	c.st.Chunks, c.st.Words = c.st.Chunks-n, c.st.Words-words
	return c.remove(c.ctx, c.d, filters)
}

// insert adds the chunks of a document.
func (c *change) insert(d *index.Document) error {
	if d.Chunks == nil {
		return nil
	}
	return c.add(d.ID, d.Name, 0, d.Chunks)
}

// add adds chunks, numbered from n. Equal pieces of one document have one id and are stored once.
func (c *change) add(document, name string, n int64, chunks iter.Seq2[index.Chunk, error]) error {
	seen := map[string]bool{}
	for chunk, err := range chunks {
		if err != nil {
			return err
		}
		if seen[chunk.ID] {
			continue
		}
		seen[chunk.ID] = true
		if err := c.addChunk(document, name, n, &chunk); err != nil {
			return fmt.Errorf("chunk %q: %w", chunk.ID, err)
		}
		n++
	}
	return nil
}

func (c *change) addChunk(document, name string, n int64, chunk *index.Chunk) error {
	c.counter.Trim()
	length, counts := c.counter.Count(name, chunk)
	row := chunkRow{
		Kind: chunkKind, Document: document, Chunk: chunk.ID, Rev: c.rev, N: n, Length: length,
		Enabled: !chunk.Disabled, Counts: make(map[string]int, len(counts)),
		Body: chunkBody{chunk.Content, chunk.Text, chunk.Keywords, chunk.Questions, chunk.Extra},
	}
	var text strings.Builder
	slices.SortFunc(counts, func(a, b index.TermCount) int {
		return cmp.Compare(c.counter.Term(a.Index), c.counter.Term(b.Index))
	})
	for _, t := range counts {
		h := hash(c.counter.Term(t.Index))
		row.Counts[h] += t.Count
		for range t.Count {
			text.WriteString(h)
			text.WriteByte(' ')
		}
	}
	row.Terms = text.String()
	var err error
	if row.Vector, err = c.vector(chunk); err != nil {
		return err
	}
	row.Embedded = row.Vector != nil
	c.st.Chunks++
	c.st.Words += int64(length)
	id := chunkID(document, chunk.ID, c.rev)
	c.written = append(c.written, id)
	return c.rows.add("index", id, row)
}

// vector returns the vector of a chunk with length 1. The first one of a dataset creates the field.
func (c *change) vector(chunk *index.Chunk) ([]float32, error) {
	dims := c.st.Dims
	unit, err := chunk.UnitVector(&dims)
	if err != nil || dims == c.st.Dims {
		return unit, err
	}
	err = c.client.do(c.ctx, http.MethodPut, "/"+c.d.index+"/_mapping", object{
		"properties": object{"vector": c.vectorField(dims)},
	}, nil)
	if err != nil {
		return nil, err
	}
	c.st.Dims = dims
	return unit, nil
}

func (x *Index) vectorField(dims int) object {
	if x.elastic {
		return object{"type": "dense_vector", "dims": dims, "index": true, "similarity": "cosine"}
	}
	return object{
		"type": "knn_vector", "dimension": dims,
		"method": object{"name": "hnsw", "engine": "lucene", "space_type": "cosinesimil"},
	}
}

// Delete implements [index.Index].
func (x *Index) Delete(ctx context.Context, key string, documents ...string) error {
	return x.change(ctx, key, documents, func(c *change) error {
		if err := c.clear(in("document", documents)); err != nil {
			return err
		}
		return c.remove(ctx, c.d, ofKind(documentKind, in("document", documents)))
	})
}

// Describe implements [index.Index].
func (x *Index) Describe(ctx context.Context, key string, docs ...index.Document) error {
	return x.change(ctx, key, nil, func(c *change) error {
		for i := range docs {
			var old documentRow
			ok, err := c.row(ctx, c.d, documentID(docs[i].ID), &old)
			if err != nil {
				return err
			}
			if !ok {
				continue
			}
			row := documentRowOf(&docs[i])
			row.Body.Name = old.Body.Name
			if err := c.rows.add("index", documentID(docs[i].ID), row); err != nil {
				return err
			}
		}
		return nil
	})
}

// Put implements [index.Index].
func (x *Index) Put(ctx context.Context, key, document string, chunks ...index.Chunk) error {
	return x.change(ctx, key, []string{document}, func(c *change) error {
		var d documentRow
		ok, err := c.row(ctx, c.d, documentID(document), &d)
		if err == nil && !ok {
			err = index.UnknownDocument(document)
		}
		if err != nil {
			return err
		}
		chunks := index.LastOfEach(chunks)
		ids := make([]string, len(chunks))
		for i := range chunks {
			ids[i] = chunks[i].ID
		}
		next, err := c.next(document)
		if err != nil {
			return err
		}
		if err := c.clear(chunksOf(document, ids)); err != nil {
			return err
		}
		return c.add(document, d.Body.Name, next, func(yield func(index.Chunk, error) bool) {
			for _, chunk := range chunks {
				if !yield(chunk, nil) {
					return
				}
			}
		})
	})
}

// chunksOf returns the filter of chunks of a document.
func chunksOf(document string, chunks []string) object {
	return object{"bool": object{"filter": []object{is("document", document), in("chunk", chunks)}}}
}

// next returns the number behind the last chunk of a document.
func (c *change) next(document string) (int64, error) {
	r, err := c.query(c.ctx, c.d, object{
		"size": 1, "query": object{"bool": object{"filter": ofKind(chunkKind, is("document", document))}},
		"sort": []object{{"n": "desc"}}, "_source": []string{"n"},
	})
	if err != nil || len(r.Hits.Hits) == 0 {
		return 0, err
	}
	var last chunkRow
	err = json.Unmarshal(r.Hits.Hits[0].Source, &last)
	return last.N + 1, err
}

// Remove implements [index.Index].
func (x *Index) Remove(ctx context.Context, key, document string, chunks ...string) (n int, err error) {
	if len(chunks) == 0 {
		_, err := x.open(ctx, key)
		return 0, index.DatasetError(key, err)
	}
	err = x.change(ctx, key, []string{document}, func(c *change) error {
		before := c.st.Chunks
		if err := c.clear(chunksOf(document, chunks)); err != nil {
			return err
		}
		n = int(before - c.st.Chunks)
		return nil
	})
	return n, err
}

// Enable implements [index.Index].
func (x *Index) Enable(ctx context.Context, key, document string, on bool, chunks ...string) (n int, err error) {
	err = x.change(ctx, key, nil, func(c *change) error {
		filter := ofKind(chunkKind, is("document", document))
		if len(chunks) > 0 {
			filter = append(filter, in("chunk", chunks))
		}
		return x.each(ctx, c.d, filter, false, []string{"n"}, func(h *hit) (bool, error) {
			n++
			return true, c.rows.add("update", h.ID, object{"doc": object{"enabled": on}})
		})
	})
	return n, err
}
