package replica

import (
	"context"
	"encoding/json"
	"fmt"
	"iter"

	"github.com/easel-canvas/easel/host/internal/knowledge/chunkfile"
	"github.com/easel-canvas/easel/host/internal/knowledge/index"
	"github.com/easel-canvas/easel/host/internal/record/dataset"
	"github.com/easel-canvas/easel/host/internal/store"
)

// edit applies the edits of chunks after a version.
func (r *Replica) edit(
	ctx context.Context, key string, ds *store.Dataset, d *store.Document, edits []store.ChunkEdit, version int64,
) error {
	var put []index.Chunk
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
			if put = append(put, written(ds, d, e)); i+1 < len(edits) && edits[i+1].Put != nil &&
				edits[i+1].Seq == e.Seq {
				continue // in one step with those of the same change
			}
			err = r.cfg.Index.Put(ctx, key, d.ID, put...)
			put = nil
		case e.Disabled != nil:
			_, err = r.cfg.Index.Enable(ctx, key, d.ID, !*e.Disabled && !d.Disabled, e.Chunk)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// chunks yields the chunks of a document: the parsed ones with the edits applied.
func (r *Replica) chunks(
	ctx context.Context, ds *store.Dataset, d *store.Document, edits []store.ChunkEdit,
) iter.Seq2[index.Chunk, error] {
	return func(yield func(index.Chunk, error) bool) {
		left := map[string]*store.ChunkEdit{}
		for i := range edits {
			left[edits[i].Chunk] = &edits[i]
		}
		for c, err := range r.parsed(ctx, d) {
			if err != nil {
				yield(index.Chunk{}, err)
				return
			}
			e := left[c.ID]
			delete(left, c.ID)
			if e != nil && e.Deleted {
				continue
			}
			out := indexed(ds, d, &c)
			switch {
			case e != nil && e.Put != nil:
				out = written(ds, d, e)
			case e != nil && e.Disabled != nil:
				out.Disabled = *e.Disabled || d.Disabled
			}
			if !yield(out, nil) {
				return
			}
		}
		for i := range edits { // in their order
			e := &edits[i]
			if left[e.Chunk] != nil && e.Put != nil && !yield(written(ds, d, e), nil) {
				return
			}
		}
	}
}

// parsed returns the chunks in the file of a document.
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

// Extra holds fields of a chunk that an index returns unchanged.
type Extra struct {
	Image     string      `json:"image,omitempty"`
	Kind      string      `json:"kind,omitempty"`
	Tags      []string    `json:"tags,omitempty"`
	Positions [][]float64 `json:"positions,omitempty"`
	Parent    string      `json:"parent,omitempty"`
	Edited    bool        `json:"edited,omitempty"`
	Created   int64       `json:"created,omitempty"`
}

// Indexed returns a parsed chunk for the index.
func Indexed(c *chunkfile.Chunk) index.Chunk {
	return index.Chunk{
		ID: c.ID, Content: c.Content, Text: c.Text, Keywords: c.Keywords, Questions: c.Questions,
		Disabled: c.Hidden, Vector: c.Vector,
		Extra: extra(Extra{c.Image, c.Kind, c.Tags, c.Positions, c.Parent, false, c.Created}),
	}
}

// indexed returns a parsed chunk of a document for the index. Vectors of another model than the
// dataset's are left out.
func indexed(ds *store.Dataset, d *store.Document, c *chunkfile.Chunk) index.Chunk {
	out := Indexed(c)
	out.Disabled = out.Disabled || d.Disabled
	if d.Model != ds.Model {
		out.Vector = nil
	}
	return out
}

// written returns a chunk that was added or changed by hand, for the index.
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

// Chunk returns a chunk of the index as callers see it.
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
