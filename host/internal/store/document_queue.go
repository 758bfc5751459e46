package store

import (
	"cmp"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"slices"

	"github.com/easel-canvas/easel/host/internal/record/dataset"
)

// Ingestion has the queue of documents to parse and of datasets to embed, with the leases of
// workers.
type Ingestion struct{ *database }

// The queue of documents to be parsed is their state. A worker claims the oldest with a lease and
// renews it; a lease that has ended is claimed by another worker. What a worker writes names its
// lease, so that one that was taken for dead changes nothing.

// Queue queues a document. Errors: [ErrNotFound], [ErrConflict] if it is queued or running.
func (s Ingestion) Queue(ctx context.Context, tenant, datasetID, id string) error {
	refused, err := s.QueueAll(ctx, tenant, datasetID, []string{id})
	return cmp.Or(err, refused[id])
}

// notedAtOnce bounds the documents that one statement numbers.
const notedAtOnce = 500

// QueueAll queues documents in one transaction: no worker finishes the first before the last waits,
// so that the dataset does not look idle between them. It returns why documents were refused, each
// with an error of [Ingestion.Queue]; the others are queued.
func (s Ingestion) QueueAll(ctx context.Context, tenant, datasetID string, ids []string) (map[string]error, error) {
	ids = slices.Compact(slices.Sorted(slices.Values(ids)))
	var refused map[string]error
	what := fmt.Sprintf("queue %d documents", len(ids))
	err := s.write(ctx, what, func(ctx context.Context, q querier) error {
		// All writes of several documents lock their dataset first, so that they do not deadlock.
		if err := lockDataset(ctx, q, tenant, datasetID); err != nil {
			return err
		}
		var queued []string
		refused = map[string]error{}
		for _, id := range ids {
			err := s.queue(ctx, q, tenant, datasetID, id)
			switch {
			case err == nil:
				queued = append(queued, id)
			case errors.Is(err, ErrNotFound), errors.Is(err, ErrConflict):
				refused[id] = fail(err, "queue document %q", id)
			default:
				return err
			}
		}
		for some := range slices.Chunk(queued, notedAtOnce) {
			if err := noteChanges(ctx, q, tenant, datasetID, some...); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return nil, err // the write may still run
	}
	return refused, nil
}

// queue queues a document to be parsed from the beginning. The caller notes the change.
func (s Ingestion) queue(ctx context.Context, q querier, tenant, datasetID, id string) error {
	const update = `UPDATE documents SET state = 'queued', progress = 0, messages = $1, begin_time = 0,
		duration_ms = 0, queue_time = $2, attempts = 0, lease_until = 0, update_time = $2
		WHERE id = $3 AND dataset_id = $4 AND tenant_id = $5 AND state NOT IN ('queued', 'running')`
	res, err := q.ExecContext(ctx, update, []byte{}, s.ms(), id, datasetID, tenant)
	err = changed(res, err, ErrConflict)
	if errors.Is(err, ErrConflict) {
		_, err = orConflict(readDocument(ctx, q, tenant, datasetID, id))
	}
	if err != nil {
		return err
	}
	return dropRerun(ctx, q, id)
}

// orConflict is the reason why the state of a document was not changed.
func orConflict(v Document, err error) (Document, error) {
	if err == nil {
		return v, fmt.Errorf("it is %s: %w", v.State, ErrConflict)
	}
	if errors.Is(err, sql.ErrNoRows) {
		return v, ErrNotFound
	}
	return v, err
}

// Cancel stops a document that is queued or running: its worker loses the lease. Errors:
// [ErrNotFound], [ErrConflict] if it is neither.
func (s Ingestion) Cancel(ctx context.Context, tenant, datasetID, id, message string) error {
	return s.writeAlways(ctx, fmt.Sprintf("cancel document %q", id), func(ctx context.Context, q querier) error {
		v, err := lockDocument(ctx, q, s.engine, tenant, datasetID, id)
		if err != nil {
			return err
		}
		const update = `UPDATE documents SET state = 'canceled', progress = 0, messages = $1, lease_until = 0,
			update_time = $2 WHERE id = $3 AND state IN ('queued', 'running')`
		res, err := q.ExecContext(ctx, update, []byte(v.Messages+message), s.ms(), id)
		err = changed(res, err, ErrConflict)
		if errors.Is(err, ErrConflict) {
			_, err = orConflict(v, nil)
		}
		if err != nil {
			return err
		}
		if v.State == dataset.Running {
			v.Duration = max(1, s.ms()-v.Began)
		}
		v.State, v.Progress, v.Messages = dataset.Canceled, 0, v.Messages+message
		if err := addParseLog(ctx, q, &v, dataset.Ran{}, s.now()); err != nil {
			return err
		}
		return noteChanges(ctx, q, tenant, datasetID, id)
	})
}

// Claim requests a document to parse.
type Claim struct {
	Lease string // of the worker, new for each claim
	Until int64  // when the lease ends, Unix milliseconds
	// File is where the worker writes chunks.
	File func(d *Document) string
	// Due is when that file is deleted unless the document is finished with it; Unix milliseconds.
	Due int64
	// Likely is a hint that a document waits. Otherwise a read looks for it before the write.
	Likely bool
}

// Claim returns the document that has waited longest; one whose worker has lost its lease waits
// too. It is running and has one more attempt. Errors: [ErrNotFound] if no document waits.
func (s Ingestion) Claim(ctx context.Context, c Claim) (v Document, err error) {
	if !c.Likely {
		some, err := exists(ctx, s.read, `SELECT 1 FROM documents WHERE state = 'queued'
			OR state = 'running' AND lease_until < $1 LIMIT 1`, s.ms())
		if err != nil || !some {
			return Document{}, fail(orNone(err), "claim document")
		}
	}
	skip := ""
	if s.engine == "postgres" {
		skip = ` FOR UPDATE SKIP LOCKED`
	}
	// Each state is read alone: with OR, all documents would be sorted. A document whose workers
	// died twice waits behind those queued since then: if it takes its worker down, it does not use
	// up the attempts of the same neighbours each time.
	oldest := func(waits, where string) string {
		return `SELECT * FROM (SELECT id, ` + waits + ` AS since FROM documents WHERE ` + where + `
			ORDER BY since, id LIMIT 1` + skip + `) oldest`
	}
	update := `UPDATE documents SET state = 'running', attempts = attempts + 1, lease = $1, lease_until = $2,
		begin_time = $3 WHERE id = (SELECT id FROM (
			` + oldest(`queue_time`, `state = 'queued'`) + ` UNION ALL
			` + oldest(`CASE WHEN attempts > 1 THEN begin_time ELSE queue_time END`,
		`state = 'running' AND lease_until < $3`) + `
		) candidates ORDER BY since, id LIMIT 1) RETURNING ` + documentColumns
	err = s.write(ctx, "claim document", func(ctx context.Context, q querier) error {
		rows, err := queryAll(ctx, q, scanDocument, update, c.Lease, c.Until, s.ms())
		if err != nil || len(rows) == 0 {
			return orNone(err)
		}
		v = rows[0]
		if err := addLooseFile(ctx, q, LooseFile{c.File(&v), v.Tenant}, c.Due); err != nil {
			return err
		}
		return noteChanges(ctx, q, v.Tenant, v.Dataset, v.ID)
	})
	return v, err
}

func orNone(err error) error {
	if err == nil {
		return ErrNotFound
	}
	return err
}

// Renew prolongs the lease of a running document and stores its progress. Errors:
// [ErrConflict] if the lease is lost: the document was canceled, deleted, or taken over.
func (s Ingestion) Renew(ctx context.Context, v *Document, until int64) error {
	const (
		moved  = `SELECT 1 FROM documents WHERE id = $1 AND progress <> $2`
		update = `UPDATE documents SET lease_until = $1, progress = $2, messages = $3
			WHERE id = $4 AND lease = $5 AND state = 'running'`
	)
	return s.write(ctx, fmt.Sprintf("renew lease of document %q", v.ID), func(ctx context.Context, q querier) error {
		progress := storedProgress(v.Progress)
		visible, err := exists(ctx, q, moved, v.ID, progress)
		if err != nil {
			return err
		}
		res, err := q.ExecContext(ctx, update, until, progress, []byte(v.Messages), v.ID, v.Lease)
		if err := changed(res, err, ErrConflict); err != nil || !visible {
			return err
		}
		return noteChanges(ctx, q, v.Tenant, v.Dataset, v.ID)
	})
}

// Release queues a running document again, without the attempt that its worker breaks off. Its
// messages are stored: they may have the reason.
func (s Ingestion) Release(ctx context.Context, v *Document) error {
	const update = `UPDATE documents SET state = 'queued', progress = 0, attempts = attempts - 1, lease_until = 0,
		messages = $3 WHERE id = $1 AND lease = $2 AND state = 'running'`
	return s.writeAlways(ctx, fmt.Sprintf("release document %q", v.ID), func(ctx context.Context, q querier) error {
		return noteIf(ctx, q, v, update, v.ID, v.Lease, []byte(v.Messages))
	})
}

// noteIf runs an update of a document, and notes the change if there is one.
func noteIf(ctx context.Context, q querier, v *Document, update string, args ...any) error {
	n, err := execOn(ctx, q, update, args)
	if err != nil || n == 0 {
		return err
	}
	return noteChanges(ctx, q, v.Tenant, v.Dataset, v.ID)
}

// Requeue queues a document whose chunk file is lost.
func (s Ingestion) Requeue(ctx context.Context, v *Document) error {
	const update = `UPDATE documents SET state = 'queued', progress = 0, attempts = 0, lease_until = 0, digest = '',
		queue_time = $1 WHERE id = $2 AND chunk_file = $3 AND state <> 'running'`
	return s.write(ctx, fmt.Sprintf("queue document %q", v.ID), func(ctx context.Context, q querier) error {
		return noteIf(ctx, q, v, update, s.ms(), v.ID, v.ChunkFile)
	})
}

// EndLeases ends the leases of all workers, when the caller knows that none is alive.
func (s Ingestion) EndLeases(ctx context.Context) error {
	return s.write(ctx, "end leases of documents", func(ctx context.Context, q querier) error {
		_, err := q.ExecContext(ctx, `UPDATE documents SET lease_until = 0 WHERE state = 'running'`)
		return err
	})
}

// Parsed is the result of a parse.
type Parsed struct {
	ChunkFile      string
	Chunks, Tokens int
	Digest, Model  string
	Meta           map[string]any // added to the document's
	// Has reports whether a chunk is in the file.
	Has func(chunk string) bool
	// Limit bounds the chunks of all documents of the tenant; 0 means no bound.
	Limit int64
}

// Finished is the outcome of a parse.
type Finished struct {
	// Document has its state, Done or Failed, and its messages.
	Document Document
	// Result is the output of the parse; nil leaves the chunks as they are.
	Result *Parsed
	// Ran is the pipeline that ran.
	Ran dataset.Ran
}

// Finish publishes the results of parses in one step: the file of each becomes the chunks of its
// document, under the edits that people made. If one cannot be finished, none is.
//
// Errors: [ErrConflict] if a lease is lost, [ErrModel], [ErrQuota].
func (s Ingestion) Finish(ctx context.Context, list ...Finished) (out []Document, err error) {
	ids := make([]string, len(list))
	for i := range list {
		ids[i] = list[i].Document.ID
	}
	err = s.write(ctx, fmt.Sprintf("finish document %q", ids), func(ctx context.Context, q querier) error {
		out = nil
		for i := range list {
			if d := &list[i].Document; i == 0 || d.Dataset != list[i-1].Document.Dataset {
				if err := lockDataset(ctx, q, d.Tenant, d.Dataset); err != nil {
					return err
				}
			}
			v, err := s.finish(ctx, q, &list[i])
			if err != nil {
				return err
			}
			out = append(out, v)
		}
		return noteAll(ctx, q, out)
	})
	return out, err
}

// finish publishes one result. The dataset is locked.
func (s Ingestion) finish(ctx context.Context, q querier, f *Finished) (Document, error) {
	v, p := &f.Document, f.Result
	old, err := lockDocument(ctx, q, s.engine, v.Tenant, v.Dataset, v.ID)
	if err != nil {
		return Document{}, err
	}
	if old.Lease != v.Lease || old.State != dataset.Running {
		return Document{}, fmt.Errorf("lease %s is lost: %w", v.Lease, ErrConflict)
	}
	next := old
	next.State, next.Progress, next.Messages = v.State, v.Progress, v.Messages
	next.Duration, next.LeaseUntil = v.Duration, 0
	affects := Nothing
	if p != nil {
		affects = Content
		same, err := exists(ctx, q, `SELECT 1 FROM datasets WHERE id = $1 AND model = $2`, v.Dataset, p.Model)
		if err == nil && !same {
			err = fmt.Errorf("vectors of model %q: %w", p.Model, ErrModel)
		}
		if err != nil {
			return Document{}, err
		}
		if err := s.adopt(ctx, q, &next, p); err != nil {
			return Document{}, err
		}
	}
	if err := Documents(s).save(ctx, q, &next, &old, affects); err != nil {
		return Document{}, err
	}
	return next, addParseLog(ctx, q, &next, f.Ran, s.now())
}

// adopt makes the result of a parse that of the document.
func (s Ingestion) adopt(ctx context.Context, q querier, v *Document, p *Parsed) error {
	if s.engine == "postgres" { // holds off FinishEmbedding; SQLite has one writer
		_, err := q.ExecContext(ctx, `UPDATE chunk_edits SET seq = seq WHERE document_id = $1`, v.ID)
		if err != nil {
			return err
		}
	}
	edits, err := chunkEdits(ctx, q, v.ID, 0)
	if err != nil {
		return err
	}
	chunks, tokens := p.Chunks, p.Tokens
	for _, e := range edits {
		switch known := p.Has(e.Chunk); {
		case e.Deleted, e.Put == nil && !known: // does not apply to the new chunks
			const remove = `DELETE FROM chunk_edits WHERE document_id = $1 AND chunk_id = $2`
			if _, err := q.ExecContext(ctx, remove, v.ID, e.Chunk); err != nil {
				return err
			}
		case e.Put != nil && !known:
			chunks, tokens = chunks+1, tokens+e.Tokens
		}
	}
	if p.Limit > 0 {
		use, err := datasetUse(ctx, q, v.Tenant)
		if err != nil {
			return err
		}
		if all := use.Chunks - int64(v.Chunks) + int64(chunks); all > p.Limit {
			return fmt.Errorf("%w: the datasets would have %d chunks, at most %d are allowed", ErrQuota, all, p.Limit)
		}
	}
	v.ChunkFile, v.Digest, v.Model, v.Chunks, v.Tokens = p.ChunkFile, p.Digest, p.Model, chunks, tokens
	if len(p.Meta) > 0 {
		meta := map[string]any{}
		for _, from := range []map[string]any{v.Meta, p.Meta} {
			for key, value := range from {
				meta[key] = value
			}
		}
		v.Meta = meta
	}
	return nil
}
