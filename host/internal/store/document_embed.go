package store

import (
	"context"
	"fmt"

	"github.com/easel-canvas/easel/host/internal/record/dataset"
)

// When a dataset gets another embedding model its documents are embedded again, one after the
// other, into new files, while searches use the old ones. When all have one the dataset is
// switched.

// unembedded selects documents d of datasets s that lack a file for the wanted model.
const unembedded = `s.wanted <> s.model AND d.chunk_count > 0 AND d.next_model <> s.wanted`

// Embedding is a document to be embedded again.
type Embedding struct {
	Document
	Wanted string // the model
}

// ClaimEmbedding returns a document that is to be embedded with another model. Errors:
// [ErrNotFound] if no document is left.
func (s Ingestion) ClaimEmbedding(ctx context.Context, c Claim) (e Embedding, err error) {
	const query = `SELECT d.id, s.wanted FROM datasets s JOIN documents d ON d.dataset_id = s.id
		WHERE ` + unembedded + ` AND d.state NOT IN ('queued', 'running') AND d.lease_until < $1 LIMIT 1`
	some, err := exists(ctx, s.read, `SELECT 1 FROM datasets WHERE wanted <> model LIMIT 1`)
	if err != nil || !some {
		return e, fail(orNone(err), "claim document")
	}
	err = s.write(ctx, "claim document", func(ctx context.Context, q querier) error {
		found, err := queryAll(ctx, q, func(r row) (e Embedding, err error) { return e, r.Scan(&e.ID, &e.Wanted) },
			query, s.ms())
		if err != nil || len(found) == 0 {
			return orNone(err)
		}
		const update = `UPDATE documents SET lease = $1, lease_until = $2 WHERE id = $3 AND lease_until < $4
			AND state NOT IN ('queued', 'running') RETURNING ` + documentColumns
		rows, err := queryAll(ctx, q, scanDocument, update, c.Lease, c.Until, found[0].ID, s.ms())
		if err != nil || len(rows) == 0 {
			return orNone(err)
		}
		e = Embedding{rows[0], found[0].Wanted}
		return addLooseFile(ctx, q, LooseFile{c.File(&e.Document), e.Tenant}, c.Due)
	})
	return e, err
}

// EmbeddingProgress counts what is embedded with the wanted model of a dataset.
func (s Datasets) EmbeddingProgress(ctx context.Context, id string) (*dataset.EmbeddingProgress, error) {
	const query = `SELECT s.model, COALESCE(SUM(d.chunk_count), 0),
		COALESCE(SUM(CASE WHEN d.next_model = s.wanted THEN d.chunk_count ELSE 0 END), 0)
		FROM datasets s LEFT JOIN documents d ON d.dataset_id = s.id WHERE s.id = $1 GROUP BY s.model`
	var v dataset.EmbeddingProgress
	err := s.read.QueryRowContext(ctx, query, id).Scan(&v.Model, &v.Chunks, &v.Done)
	return &v, fail(err, "embeddings of dataset %q", id)
}

// RenewEmbedding prolongs the lease of a document that is embedded again. Errors: [ErrConflict] if
// the lease is lost.
func (s Ingestion) RenewEmbedding(ctx context.Context, v *Document, until int64) error {
	const update = `UPDATE documents SET lease_until = $1 WHERE id = $2 AND lease = $3 AND chunk_file = $4`
	return s.write(ctx, fmt.Sprintf("renew lease of document %q", v.ID), func(ctx context.Context, q querier) error {
		res, err := q.ExecContext(ctx, update, until, v.ID, v.Lease, v.ChunkFile)
		return changed(res, err, ErrConflict)
	})
}

// FinishEmbedding stores the file with the vectors of another model, and those of edits.
//
// Errors: [ErrConflict] if the lease is lost or the document has other chunks by now.
func (s Ingestion) FinishEmbedding(ctx context.Context, e Embedding, file string, edits []ChunkEdit) error {
	return s.write(ctx, fmt.Sprintf("finish document %q", e.ID), func(ctx context.Context, q querier) error {
		now, err := lockDocument(ctx, q, s.engine, e.Tenant, e.Dataset, e.ID)
		if err != nil {
			return err
		}
		if now.Lease != e.Lease || now.ChunkFile != e.ChunkFile || now.Seq != e.Seq {
			return fmt.Errorf("lease %s is lost: %w", e.Lease, ErrConflict)
		}
		if err := addLooseFile(ctx, q, LooseFile{now.NextFile, e.Tenant}, s.ms()); err != nil {
			return err
		}
		const update = `UPDATE documents SET next_file = $1, next_model = $2, lease_until = 0 WHERE id = $3`
		if _, err := q.ExecContext(ctx, update, file, e.Wanted, e.ID); err != nil {
			return err
		}
		for _, edit := range edits {
			at := now
			at.Seq = edit.Seq
			if err := putChunkEdit(ctx, q, &at, edit); err != nil {
				return err
			}
		}
		return useFile(ctx, q, file)
	})
}

// SwitchModels makes datasets answer by their wanted models when all of their documents have
// vectors of it, and returns their ids.
func (s Datasets) SwitchModels(ctx context.Context) (switched []string, err error) {
	const query = `SELECT s.id FROM datasets s WHERE s.wanted <> s.model
		AND NOT EXISTS (SELECT 1 FROM documents d WHERE d.dataset_id = s.id AND ` + unembedded + `)`
	ready, err := queryAll(ctx, s.read, scanName, query)
	if err != nil {
		return nil, fail(err, "embedded datasets")
	}
	for _, id := range ready {
		err := s.write(ctx, fmt.Sprintf("switch dataset %q", id), func(ctx context.Context, q querier) error {
			if _, err := q.ExecContext(ctx, `UPDATE datasets SET seq = seq WHERE id = $1`, id); err != nil {
				return err
			}
			still, err := queryAll(ctx, q, scanName, query+` AND s.id = $1`, id)
			if err != nil || len(still) == 0 {
				return err
			}
			return switchModel(ctx, q, s.ms(), id)
		})
		if err != nil {
			return switched, err
		}
		switched = append(switched, id)
	}
	return switched, nil
}

// forgetEmbeddings drops what was embedded for a model that is not wanted any more.
func forgetEmbeddings(ctx context.Context, q querier, now int64, id string) error {
	const loose = `INSERT INTO loose_files (name, former_tenant, due_time)
		SELECT next_file, tenant_id, $1 FROM documents WHERE dataset_id = $2 AND next_file <> ''
		ON CONFLICT (name) DO UPDATE SET due_time = excluded.due_time`
	if _, err := q.ExecContext(ctx, loose, now, id); err != nil {
		return err
	}
	const forget = `UPDATE documents SET next_file = '', next_model = '' WHERE dataset_id = $1 AND next_model <> ''`
	_, err := q.ExecContext(ctx, forget, id)
	return err
}

// switchModel makes a dataset answer by its wanted model.
func switchModel(ctx context.Context, q querier, now int64, id string) error {
	const loose = `INSERT INTO loose_files (name, former_tenant, due_time)
		SELECT chunk_file, tenant_id, $1 FROM documents WHERE dataset_id = $2 AND next_model <> '' AND chunk_file <> ''
		ON CONFLICT (name) DO UPDATE SET due_time = excluded.due_time`
	const files = `UPDATE documents SET chunk_file = next_file, model = next_model, next_file = '', next_model = ''
		WHERE dataset_id = $1 AND next_model <> ''`
	const models = `UPDATE datasets SET model = wanted, seq = seq + 1 WHERE id = $1`
	if _, err := q.ExecContext(ctx, loose, now, id); err != nil {
		return err
	}
	if _, err := q.ExecContext(ctx, files, id); err != nil {
		return err
	}
	_, err := q.ExecContext(ctx, models, id)
	return err
}
