package app

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/easel-canvas/easel/host/internal/knowledge/chunkfile"
	"github.com/easel-canvas/easel/host/internal/knowledge/chunking"
	"github.com/easel-canvas/easel/host/internal/record/dataset"
	"github.com/easel-canvas/easel/host/internal/store"
)

// ChunkCheck may refuse the change of a chunk as it is now.
type ChunkCheck = func(c *dataset.Chunk) error

// SplitChunk replaces the text of a chunk, whose id stays, and adds a chunk with the rest behind
// it, which has no keywords and questions. It is one change: no search finds a text twice or not at
// all. It returns the id of the second one. Errors: [ErrNotFound], those of check, of [Error] and
// of the embedding model.
func SplitChunk(
	ctx context.Context, d *Datasets, p Principal, id, document, chunk string, texts [2]string, check ChunkCheck,
) (string, error) {
	if _, err := d.document(ctx, p, id, document); err != nil {
		return "", err
	}
	if err := spareChunk(ctx, d, p); err != nil {
		return "", err
	}
	rest := chunkfile.ID(texts[1], document)
	_, err := d.editChunks(ctx, p, id, document, func(v *store.Document, key string) ([]store.ChunkEdit, bool, error) {
		c, e, err := patchedBy(ctx, d, v, key, chunk, &ChunkPatch{Content: &texts[0], Check: check})
		if err != nil {
			return nil, false, err
		}
		if _, known, err := d.chunk(ctx, key, v, rest); err != nil || known {
			if err == nil {
				err = Refuse(CodeExists, "the document has a chunk with the text of the second part already")
			}
			return nil, false, err
		}
		second := c
		second.ID, second.Content, second.Keywords, second.Questions = rest, texts[1], nil, nil
		second.Edited, second.Created = true, time.Now().UnixMilli()
		second.Disabled = e.Disabled != nil && *e.Disabled // not by the whole document
		if err := checkChunk(&second); err != nil {
			return nil, false, err
		}
		added, err := d.written(ctx, v, second)
		if err != nil {
			return nil, false, err
		}
		others, err := refollow(ctx, d, key, v, rest, chunk)
		added.After, added.Moved = chunk, true
		v.Chunks++
		v.Tokens = max(0, v.Tokens+added.Tokens+e.Tokens-chunking.Count(c.Content))
		return append(replacing(others, e), added), false, err
	})
	return rest, err
}

// MergeChunks sets the text of a chunk, adds the keywords and questions of another one, and removes
// that one. Errors: [ErrNotFound], those of the checks, of [Error] and of the embedding model.
func MergeChunks(
	ctx context.Context, d *Datasets, p Principal, id, document string, chunks [2]string, text string,
	checks [2]ChunkCheck,
) error {
	if chunks[0] == chunks[1] {
		return BadArgument("a chunk cannot be merged with itself")
	}
	if _, err := d.document(ctx, p, id, document); err != nil {
		return err
	}
	_, err := d.editChunks(ctx, p, id, document, func(v *store.Document, key string) ([]store.ChunkEdit, bool, error) {
		gone, known, err := d.chunk(ctx, key, v, chunks[1])
		if err == nil && !known {
			err = Missing("the second chunk")
		}
		if err == nil {
			err = checks[1](&gone)
		}
		if err != nil {
			return nil, false, err
		}
		var keywords, questions []string
		into, e, err := patchedBy(ctx, d, v, key, chunks[0], &ChunkPatch{
			Content: &text, Keywords: &keywords, Questions: &questions,
			Check: func(c *dataset.Chunk) error {
				keywords, questions = union(c.Keywords, gone.Keywords), union(c.Questions, gone.Questions)
				return checks[0](c)
			},
		})
		if err != nil {
			return nil, false, err
		}
		v.Chunks = max(1, v.Chunks-1)
		v.Tokens = max(0, v.Tokens+e.Tokens-chunking.Count(into.Content)-chunking.Count(gone.Content))
		at, err := placesIn(ctx, d, key, v)
		if err != nil {
			return nil, false, err
		}
		tomb := store.ChunkEdit{Chunk: gone.ID, Deleted: true, After: at.before(gone.ID), Moved: true}
		return []store.ChunkEdit{e, tomb}, false, nil
	})
	return err
}

// replacing adds an edit to a list and drops that of the same chunk.
func replacing(edits []store.ChunkEdit, e store.ChunkEdit) []store.ChunkEdit {
	edits = slices.DeleteFunc(edits, func(other store.ChunkEdit) bool { return other.Chunk == e.Chunk })
	return append(edits, e)
}

// patchedBy returns a chunk before a patch, and the edit that the patch makes.
func patchedBy(
	ctx context.Context, d *Datasets, v *store.Document, key, chunk string, patch *ChunkPatch,
) (c dataset.Chunk, e store.ChunkEdit, err error) {
	c, known, err := d.chunk(ctx, key, v, chunk)
	if err == nil && !known {
		err = Missing(fmt.Sprintf("chunk %q", chunk))
	}
	if err == nil && patch.Check != nil {
		err = patch.Check(&c)
	}
	if err != nil {
		return c, e, err
	}
	old, err := d.store.Documents.ChunkEditsOf(ctx, v.ID, []string{chunk})
	if err != nil {
		return c, e, err
	}
	before := ""
	if patch.writes() {
		at, err := placesIn(ctx, d, key, v)
		if err != nil {
			return c, e, err
		}
		before = at.before(chunk)
	}
	e, err = d.patched(ctx, v, old, c, patch, before)
	return c, e, err
}

// union is two lists as one, each text once.
func union(a, b []string) []string {
	out := slices.Clone(a)
	for _, text := range b {
		if !slices.Contains(out, text) {
			out = append(out, text)
		}
	}
	return out
}
