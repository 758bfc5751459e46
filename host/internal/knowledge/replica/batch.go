package replica

import (
	"context"
	"errors"
	"slices"

	"github.com/easel-canvas/easel/host/internal/knowledge/chunkfile"
	"github.com/easel-canvas/easel/host/internal/knowledge/index"
	"github.com/easel-canvas/easel/host/internal/nats/broker"
	"github.com/easel-canvas/easel/host/internal/store"
)

// Documents are replaced in the index together up to these bounds: a transaction for each would
// cost more than a small document, and a long one keeps others waiting.
const (
	mostReplaced      = 32
	mostReplacedBytes = 2 << 20
)

// batch applies changes of documents of a dataset to the index. The caller flushes it at the end.
type batch struct {
	r   *Replica
	key string
	ds  *store.Dataset

	records []store.Document
	docs    []index.Document // what replaces them
	bytes   int64
}

// add applies the changes of a document after a version, at the latest with the next flush.
func (b *batch) add(ctx context.Context, d *store.Document, version int64) error {
	if slices.ContainsFunc(b.docs, func(other index.Document) bool { return other.ID == d.ID }) {
		// It has changed again since it was added.
		if err := b.flush(ctx); err != nil {
			return err
		}
	}
	out := index.Document{ID: d.ID, Name: d.Name, Meta: d.Meta, Access: d.Access, Version: d.Seq}
	edits, err := b.r.cfg.Store.Documents.ChunkEdits(ctx, d.ID, 0)
	if err != nil {
		return err
	}
	if version >= d.ContentSeq {
		err = b.r.edit(ctx, b.key, b.ds, d, edits, version)
		if err == nil {
			err = b.r.cfg.Index.Describe(ctx, b.key, out)
		}
		if !errors.Is(err, index.ErrNoDocument) {
			return err
		}
	}
	record := *d
	out.Chunks = b.r.chunks(ctx, b.ds, &record, edits)
	b.records, b.docs, b.bytes = append(b.records, record), append(b.docs, out), b.bytes+d.Size
	if len(b.docs) < mostReplaced && b.bytes < mostReplacedBytes {
		return nil
	}
	return b.flush(ctx)
}

// flush replaces the documents that were added.
func (b *batch) flush(ctx context.Context) error {
	if len(b.docs) == 0 {
		return nil
	}
	err := b.r.cfg.Index.Replace(ctx, b.key, b.docs...)
	if isLost(err) {
		err = b.replaceEach(ctx)
	}
	b.records, b.docs, b.bytes = nil, nil, 0
	return err
}

// replaceEach replaces the documents one by one: the chunks of some cannot be read.
func (b *batch) replaceEach(ctx context.Context) error {
	for i := range b.docs {
		err := b.r.cfg.Index.Replace(ctx, b.key, b.docs[i])
		if isLost(err) {
			err = b.r.lose(ctx, b.key, &b.records[i], b.docs[i], err)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

func isLost(err error) bool {
	return errors.Is(err, broker.ErrNotFound) || errors.Is(err, chunkfile.ErrDamaged)
}

// lose empties a document whose chunks cannot be read, so that it does not keep others from being
// found.
func (r *Replica) lose(ctx context.Context, key string, d *store.Document, out index.Document, err error) error {
	now, recordErr := r.cfg.Store.Documents.Of(ctx, d.Dataset, d.ID)
	if recordErr != nil || now.ChunkFile != d.ChunkFile {
		return nil // replaced or deleted concurrently; the next Sync applies it
	}
	r.cfg.Logger.Error("chunks of a document are lost", "dataset", d.Dataset, "document", d.ID, "err", err)
	if r.cfg.Lost != nil {
		if err := r.cfg.Lost(ctx, d); err != nil {
			return err
		}
	}
	out.Chunks = nil
	return r.cfg.Index.Replace(ctx, key, out)
}
