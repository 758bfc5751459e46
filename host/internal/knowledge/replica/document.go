package replica

import (
	"context"
	"encoding/json"
	"fmt"
	"iter"

	"github.com/easel-canvas/easel/host/internal/knowledge/chunkfile"
	"github.com/easel-canvas/easel/host/internal/knowledge/dataset"
	"github.com/easel-canvas/easel/host/internal/knowledge/index"
	"github.com/easel-canvas/easel/host/internal/store"
)

// edit applies the edits of chunks after a version.
func (r *Replica) edit(
	ctx context.Context, key string, ds *store.Dataset, d *store.Document, edits []store.ChunkEdit, version int64,
) error {
	for i := range edits {
		e := &edits[i]
		if e.Seq <= version {
			continue
		}
		var err error
		switch {
		case e.Deleted:
			_, err = r.cfg.Index.Remove(ctx, key, d.ID, e.Chunk)
		case e.Put != nil:
			err = r.cfg.Index.Put(ctx, key, d.ID, written(ds, d, e))
		case e.Disabled != nil:
			_, err = r.cfg.Index.Enable(ctx, key, d.ID, !*e.Disabled && !d.Disabled, e.Chunk)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// chunks are those of a document: what the parse made, under the edits.
func (r *Replica) chunks(
	ctx context.Context, ds *store.Dataset, d *store.Document, edits []store.ChunkEdit,
) iter.Seq2[index.Chunk, error] {
	return func(yield func(index.Chunk, error) bool) {
		w := editedChunks{ds: ds, d: d, yield: yield, left: map[string]*store.ChunkEdit{}}
		w.after, w.out = map[string][]*store.ChunkEdit{}, map[string]bool{}
		for i := range edits {
			e := &edits[i]
			w.left[e.Chunk] = e
			if e.After != "" && e.Put != nil {
				w.after[e.After] = append(w.after[e.After], e)
			}
		}
		for c, err := range r.parsed(ctx, d) {
			if err != nil {
				yield(index.Chunk{}, err)
				return
			}
			if !w.parsed(&c) {
				return
			}
		}
		for i := range edits { // in their order
			if !w.added(&edits[i]) {
				return
			}
		}
	}
}

// editedChunks yields the chunks of a document under their edits. Its methods return false once the
// caller wants no more.
type editedChunks struct {
	ds    *store.Dataset
	d     *store.Document
	yield func(index.Chunk, error) bool
	left  map[string]*store.ChunkEdit   // edits of chunks that were not yielded yet
	after map[string][]*store.ChunkEdit // added chunks by the chunk that they follow
	out   map[string]bool               // added chunks that were yielded
}

// parsed yields a chunk that the parse made, and those added behind it.
func (w *editedChunks) parsed(c *chunkfile.Chunk) bool {
	if w.out[c.ID] {
		return true
	}
	e := w.left[c.ID]
	delete(w.left, c.ID)
	if e != nil && e.Deleted {
		return w.follow(c.ID)
	}
	out := indexed(w.ds, w.d, c)
	switch {
	case e != nil && e.Put != nil:
		out = written(w.ds, w.d, e)
	case e != nil && e.Disabled != nil:
		out.Disabled = *e.Disabled || w.d.Disabled
	}
	return w.yield(out, nil) && w.follow(c.ID)
}

// added yields a chunk that was added by hand, and those added behind it.
func (w *editedChunks) added(e *store.ChunkEdit) bool {
	if w.left[e.Chunk] == nil || e.Put == nil {
		return true
	}
	delete(w.left, e.Chunk)
	w.out[e.Chunk] = true
	return w.yield(written(w.ds, w.d, e), nil) && w.follow(e.Chunk)
}

// follow yields the chunks that were added behind a chunk.
func (w *editedChunks) follow(chunk string) bool {
	for _, e := range w.after[chunk] {
		if !w.added(e) {
			return false
		}
	}
	return true
}

// parsed are the chunks in the file of a document.
func (r *Replica) parsed(ctx context.Context, d *store.Document) iter.Seq2[chunkfile.Chunk, error] {
	return func(yield func(chunkfile.Chunk, error) bool) {
		if d.ChunkFile == "" {
			return
		}
		in, err := r.open(ctx, d.ChunkFile)
		if err != nil {
			yield(chunkfile.Chunk{}, err)
			return
		}
		defer in.Close() // it was only read
		n := 0
		for c, err := range chunkfile.Read(in) {
			if err != nil {
				err = fmt.Errorf("chunk %d of file %s: %w", n, d.ChunkFile, err)
			}
			n++
			if !yield(c, err) {
				return
			}
		}
	}
}

// Extra is what an index gives back about a chunk as it is.
type Extra struct {
	Image     string      `json:"image,omitempty"`
	Kind      string      `json:"kind,omitempty"`
	Tags      []string    `json:"tags,omitempty"`
	Positions [][]float64 `json:"positions,omitempty"`
	Parent    string      `json:"parent,omitempty"`
	Edited    bool        `json:"edited,omitempty"`
	Created   int64       `json:"created,omitempty"`
}

// Indexed is a parsed chunk for the index.
func Indexed(c *chunkfile.Chunk) index.Chunk {
	return index.Chunk{
		ID: c.ID, Content: c.Content, Text: c.Text, Keywords: c.Keywords, Questions: c.Questions,
		Disabled: c.Hidden, Vector: c.Vector,
		Extra: extra(Extra{c.Image, c.Kind, c.Tags, c.Positions, c.Parent, false, c.Created}),
	}
}

// indexed is a parsed chunk of a document for the index. Vectors of another model than the
// dataset's are left out.
func indexed(ds *store.Dataset, d *store.Document, c *chunkfile.Chunk) index.Chunk {
	out := Indexed(c)
	out.Disabled = out.Disabled || d.Disabled
	if d.Model != ds.Model {
		out.Vector = nil
	}
	return out
}

// written is a chunk that was added or changed by hand, for the index.
func written(ds *store.Dataset, d *store.Document, e *store.ChunkEdit) index.Chunk {
	c := e.Put
	out := index.Chunk{
		ID: e.Chunk, Content: c.Content, Keywords: c.Keywords, Questions: c.Questions,
		Disabled: d.Disabled || e.Disabled != nil && *e.Disabled,
		Extra:    extra(Extra{c.Image, c.Kind, c.Tags, c.Positions, c.Parent, true, c.Created}),
	}
	switch ds.Model {
	case e.Model:
		out.Vector = chunkfile.Vector(e.Vector)
	case e.NextModel:
		out.Vector = chunkfile.Vector(e.NextVector)
	}
	return out
}

func extra(x Extra) []byte {
	text, err := json.Marshal(x)
	if err != nil {
		panic(err) // numbers and strings always can be encoded
	}
	return text
}

// Chunk is a chunk of the index as callers see it.
func Chunk(c *index.Chunk) (dataset.Chunk, error) {
	var x Extra
	if len(c.Extra) > 0 {
		if err := json.Unmarshal(c.Extra, &x); err != nil {
			return dataset.Chunk{}, fmt.Errorf("chunk %q: %w", c.ID, err)
		}
	}
	return dataset.Chunk{
		ID: c.ID, Content: c.Content, Keywords: c.Keywords, Questions: c.Questions, Tags: x.Tags,
		Disabled: c.Disabled, Image: x.Image, Kind: x.Kind, Positions: x.Positions, Parent: x.Parent,
		Edited: x.Edited, Created: x.Created,
	}, nil
}
