package store

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/easel-canvas/easel/host/internal/record/dataset"
)

// ChunkEdit is an edit of a document's chunk by a person.
type ChunkEdit struct {
	Chunk string `json:"-"` // its id
	Seq   int64  `json:"-"` // of the dataset
	// Deleted hides the chunk that the parse made.
	Deleted bool `json:"deleted,omitempty"`
	// Disabled, unless nil, replaces that of the chunk.
	Disabled *bool `json:"disabled,omitempty"`
	// Put, unless nil, is the whole chunk, with its vector of Model and its number of tokens.
	Put *dataset.Chunk `json:"put,omitempty"`
	// After is the chunk that this one stood behind when its place was changed last, FirstPlace for
	// none; "" leaves it to the index. Deleted chunks have it too: others may follow them.
	After  string `json:"after,omitempty"`
	Placed int64  `json:"placed,omitempty"` // Seq of that change
	Vector []byte `json:"vector,omitempty"` // little-endian float32
	Model  string `json:"model,omitempty"`
	Tokens int    `json:"tokens,omitempty"`
	// NextVector was made by NextModel, while a dataset is embedded again.
	NextVector []byte `json:"next_vector,omitempty"`
	NextModel  string `json:"next_model,omitempty"`

	Moved bool `json:"-"` // the change sets its place
}

// FirstPlace is the After of a chunk that no other one precedes.
const FirstPlace = "first"

func scanChunkEdit(r row) (ChunkEdit, error) {
	var e ChunkEdit
	var body []byte
	if err := r.Scan(&e.Chunk, &e.Seq, &body); err != nil {
		return e, err
	}
	if err := json.Unmarshal(body, &e); err != nil {
		return e, fmt.Errorf("edit of chunk %q: %w: %w", e.Chunk, ErrCorrupt, err)
	}
	return e, nil
}

// ChunkEdits returns the edits of chunks of a document after a sequence number, in their order.
func (s Documents) ChunkEdits(ctx context.Context, document string, after int64) ([]ChunkEdit, error) {
	out, err := chunkEdits(ctx, s.read, document, after)
	return out, fail(err, "edits of document %q", document)
}

// ChunkEditsOf returns the edits of some chunks of a document.
func (s Documents) ChunkEditsOf(ctx context.Context, document string, chunks []string) (out []ChunkEdit, err error) {
	const query = `SELECT chunk_id, seq, body FROM chunk_edits WHERE document_id = $1 AND chunk_id = $2`
	for _, id := range chunks {
		found, err := queryAll(ctx, s.read, scanChunkEdit, query, document, id)
		if err != nil {
			return nil, fail(err, "edit of chunk %q", id)
		}
		out = append(out, found...)
	}
	return out, nil
}

func chunkEdits(ctx context.Context, q querier, document string, after int64) ([]ChunkEdit, error) {
	const query = `SELECT chunk_id, seq, body FROM chunk_edits WHERE document_id = $1 AND seq > $2 ORDER BY seq,
		chunk_id`
	return queryAll(ctx, q, scanChunkEdit, query, document, after)
}

// EditChunks stores edits of chunks of a document and replaces earlier ones of the same chunks. v
// is the document as the caller has read it, with its new numbers of chunks and tokens. clear
// removes the marks that disable single chunks, when the document was switched as a whole.
//
// Errors: [ErrConflict] if the document has changed since it was read, [ErrNotFound].
func (s Documents) EditChunks(ctx context.Context, v Document, edits []ChunkEdit, clear bool) (Document, error) {
	var out Document
	err := s.write(ctx, fmt.Sprintf("edit chunks of document %q", v.ID), func(ctx context.Context, q querier) error {
		if err := lockDataset(ctx, q, v.Tenant, v.Dataset); err != nil {
			return err
		}
		now, err := lockDocument(ctx, q, s.engine, v.Tenant, v.Dataset, v.ID)
		if err != nil {
			return err
		}
		if now.Seq != v.Seq {
			return fmt.Errorf("change %d, now %d: %w", v.Seq, now.Seq, ErrConflict)
		}
		next := now
		next.Chunks, next.Tokens, next.Disabled, next.Updated = v.Chunks, v.Tokens, v.Disabled, s.ms()
		seq, err := nextSeq(ctx, q, v.Dataset, countsOf(&next).minus(countsOf(&now)))
		if err != nil {
			return err
		}
		next.Seq = seq
		list := edits
		if clear {
			next.ContentSeq = seq
			if list, err = withoutMarks(ctx, q, v.ID); err != nil {
				return err
			}
		}
		for _, e := range list {
			if e.Moved {
				e.Placed = seq
			}
			if err := putChunkEdit(ctx, q, &next, e); err != nil {
				return err
			}
		}
		const update = `UPDATE documents SET seq = $1, content_seq = $2, chunk_count = $3, token_count = $4,
			disabled = $5, update_time = $6 WHERE id = $7`
		_, err = q.ExecContext(ctx, update, seq, next.ContentSeq, next.Chunks, next.Tokens, flag(next.Disabled),
			next.Updated, v.ID)
		if err != nil {
			return err
		}
		out = next
		return noteChanges(ctx, q, v.Tenant, v.Dataset, v.ID)
	})
	return out, err
}

// withoutMarks are the edits of a document that disable single chunks, without that.
func withoutMarks(ctx context.Context, q querier, document string) (out []ChunkEdit, err error) {
	edits, err := chunkEdits(ctx, q, document, 0)
	for _, e := range edits {
		if e.Disabled != nil {
			e.Disabled = nil
			out = append(out, e)
		}
	}
	return out, err
}

// putChunkEdit stores an edit; an empty one is removed.
func putChunkEdit(ctx context.Context, q querier, v *Document, e ChunkEdit) error {
	if !e.Deleted && e.Disabled == nil && e.Put == nil {
		const remove = `DELETE FROM chunk_edits WHERE document_id = $1 AND chunk_id = $2`
		_, err := q.ExecContext(ctx, remove, v.ID, e.Chunk)
		return err
	}
	body, err := json.Marshal(e)
	if err != nil {
		return err
	}
	const upsert = `INSERT INTO chunk_edits (document_id, chunk_id, tenant_id, dataset_id, seq, body)
		VALUES ($1, $2, $3, $4, $5, $6)
		ON CONFLICT (document_id, chunk_id) DO UPDATE SET seq = excluded.seq, body = excluded.body`
	_, err = q.ExecContext(ctx, upsert, v.ID, e.Chunk, v.Tenant, v.Dataset, v.Seq, body)
	return err
}
