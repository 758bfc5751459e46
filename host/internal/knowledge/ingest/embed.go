package ingest

import (
	"context"
	"errors"
	"fmt"
	"io"
	"sync"
	"time"

	"github.com/easel-canvas/easel/host/internal/knowledge/chunkfile"
	"github.com/easel-canvas/easel/host/internal/store"
)

// nextEmbedding embeds a document of a dataset whose model changes. found is false without one.
func (in *Ingester) nextEmbedding(ctx context.Context) (found bool, err error) {
	now := time.Now()
	e, err := in.cfg.Store.Ingestion.ClaimEmbedding(ctx, in.claim(now, false))
	if errors.Is(err, store.ErrNotFound) {
		return false, in.switchModels(ctx)
	}
	if err != nil {
		return false, err
	}
	j := &job{in: in, d: e.Document, began: now}
	if err := j.embedAgain(ctx, e); err != nil {
		if ctx.Err() != nil || errors.Is(err, store.ErrConflict) || errors.Is(err, store.ErrNotFound) {
			return true, nil // stopped, or the document has changed: its lease ends
		}
		return false, fmt.Errorf("embed document %s with model %q: %w", e.ID, e.Wanted, err)
	}
	return true, nil
}

// switchModels makes datasets answer by their new models, and brings the index of this host up to
// that while the former one answers.
func (in *Ingester) switchModels(ctx context.Context) error {
	switched, err := in.cfg.Store.Datasets.SwitchModels(ctx)
	for _, id := range switched {
		if _, syncErr := in.cfg.Replica.Sync(ctx, id); syncErr != nil && !errors.Is(syncErr, store.ErrNotFound) {
			err = errors.Join(err, syncErr)
		}
	}
	return err
}

// embedAgain writes the chunks of a document with vectors of the wanted model.
func (j *job) embedAgain(parent context.Context, e store.Embedding) (err error) {
	ctx, stop := context.WithCancelCause(parent)
	defer stop(nil)
	var renewing sync.WaitGroup
	renewing.Go(func() { j.renew(ctx, stop, j.in.cfg.Store.Ingestion.RenewEmbedding) })
	defer renewing.Wait()
	defer stop(nil)
	w := &writing{job: j, model: e.Wanted}
	if err := w.openModel(ctx); err != nil {
		return err
	}
	name := ""
	if e.ChunkFile != "" {
		name = chunkFile(&j.d)
		if err := w.store(ctx, name, w.copyChunks); err != nil {
			return errors.Join(err, j.drop(context.WithoutCancel(parent)))
		}
	}
	edits, err := w.embedEdits(ctx)
	if err == nil {
		err = j.in.cfg.Store.Ingestion.FinishEmbedding(ctx, e, name, edits)
	}
	if err != nil && name != "" {
		err = errors.Join(err, j.drop(context.WithoutCancel(parent)))
	}
	return err
}

// copyChunks writes the chunks of the document with new vectors.
func (w *writing) copyChunks(ctx context.Context, out io.Writer) error {
	w.out = chunkfile.NewWriter(out)
	r, _, err := w.in.cfg.Files.Open(ctx, w.d.ChunkFile)
	if err != nil {
		return err
	}
	defer r.Close() // it was only read
	for c, err := range chunkfile.Read(r) {
		if err == nil {
			err = context.Cause(ctx)
		}
		if err != nil {
			return err
		}
		c.Vector = nil
		if w.batch = append(w.batch, c); len(w.batch) == batchSize {
			if err := w.flush(ctx); err != nil {
				return err
			}
		}
	}
	if err := w.flush(ctx); err != nil {
		return err
	}
	return w.out.Close()
}

// embedEdits computes the vectors of chunks that people have edited.
func (w *writing) embedEdits(ctx context.Context) ([]store.ChunkEdit, error) {
	edits, err := w.in.cfg.Store.Documents.ChunkEdits(ctx, w.d.ID, 0)
	if err != nil || w.embedder == nil {
		return nil, err
	}
	var out []store.ChunkEdit
	for _, e := range edits {
		if e.Put == nil {
			continue
		}
		vectors, err := w.embedder.Embed(ctx, []string{Embedded(e.Put.Content, "", e.Put.Questions)})
		if err != nil {
			return nil, err
		}
		mixed, err := Mix(w.name, vectors[0])
		if err != nil {
			return nil, err
		}
		e.NextVector, e.NextModel = chunkfile.AppendVector(nil, mixed), w.model
		out = append(out, e)
	}
	return out, nil
}
