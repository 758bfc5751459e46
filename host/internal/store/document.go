package store

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"path"
	"strings"

	"github.com/easel-canvas/easel/host/internal/record/dataset"
)

// Document is the record of a document of a dataset.
type Document struct {
	dataset.Document
	Tenant string
	// File is the original in the object store, ChunkFile what the last parse made of it; "" for
	// none.
	File, ChunkFile string
	// Digest identifies content and settings of the last parse; Model made its vectors.
	Digest, Model string
	// NextFile has the same chunks with vectors of NextModel; "" for none.
	NextFile, NextModel string
	// Seq is the dataset's Seq at the last change that an index has to follow, ContentSeq at the
	// last one that needs all its chunks indexed again.
	Seq, ContentSeq int64

	Sole bool // refused by Create if the dataset has the same bytes; never stored
	// Bound, unless 0, limits the bytes of all documents of the tenant after a change that makes
	// this one larger. It is not stored.
	Bound int64

	Lease      string // of the worker that parses it
	LeaseUntil int64  // Unix milliseconds
	Attempts   int    // since it was queued
	QueueTime  int64  // Unix milliseconds
}

// Documents has the records of documents and the edits of their chunks.
type Documents struct{ *database }

// documentBody is the part of a document that no query reads.
type documentBody struct {
	Source    string          `json:"source,omitempty"`
	Method    string          `json:"method,omitempty"`
	Config    json.RawMessage `json:"config,omitempty"`
	Pipeline  string          `json:"pipeline,omitempty"`
	Meta      map[string]any  `json:"metadata,omitempty"`
	Thumbnail string          `json:"thumbnail,omitempty"`
	CreatedBy string          `json:"created_by,omitempty"`

	PipelineBy string `json:"pipeline_by,omitempty"`
}

// progressScale is the progress of a document that is done, as stored.
const progressScale = 10_000

const documentColumns = `id, tenant_id, dataset_id, name, name_key, suffix, kind, size, hash, file, body, disabled,
	state, progress, messages, begin_time, duration_ms, queue_time, attempts, lease, lease_until, chunk_file,
	chunk_count, token_count, digest, model, next_file, next_model, seq, content_seq, create_time,
	update_time, access`

func scanDocument(r row) (Document, error) {
	var v Document
	var folded, suffix string
	var body, messages []byte
	var progress int64
	err := r.Scan(&v.ID, &v.Tenant, &v.Dataset, &v.Name, &folded, &suffix, &v.Kind, &v.Size, &v.Hash, &v.File, &body,
		&v.Disabled, &v.State, &progress, &messages, &v.Began, &v.Duration, &v.QueueTime, &v.Attempts, &v.Lease,
		&v.LeaseUntil, &v.ChunkFile, &v.Chunks, &v.Tokens, &v.Digest, &v.Model, &v.NextFile, &v.NextModel, &v.Seq,
		&v.ContentSeq, &v.Created,
		&v.Updated, &v.Access)
	if err != nil {
		return v, err
	}
	var b documentBody
	if err := json.Unmarshal(body, &b); err != nil {
		return v, fmt.Errorf("document %q: %w: %w", v.ID, ErrCorrupt, err)
	}
	v.Source, v.Method, v.Config, v.Pipeline = b.Source, b.Method, b.Config, b.Pipeline
	v.Meta, v.Thumbnail, v.CreatedBy, v.PipelineBy = b.Meta, b.Thumbnail, b.CreatedBy, b.PipelineBy
	v.Progress, v.Messages = float64(progress)/progressScale, string(messages)
	return v, nil
}

func (v *Document) values() ([]any, error) {
	body, err := json.Marshal(documentBody{
		v.Source, v.Method, v.Config, v.Pipeline, v.Meta, v.Thumbnail, v.CreatedBy, v.PipelineBy,
	})
	if err == nil {
		err = checkText("name", v.Name, "kind", v.Kind, "hash", v.Hash, "model", v.Model)
	}
	return []any{
		v.ID, v.Tenant, v.Dataset, v.Name, fold(v.Name), suffixOf(v.Name), v.Kind, v.Size, v.Hash, v.File, body,
		flag(v.Disabled), string(v.State), storedProgress(v.Progress), []byte(v.Messages), v.Began, v.Duration,
		v.QueueTime, v.Attempts, v.Lease, v.LeaseUntil, v.ChunkFile, v.Chunks, v.Tokens, v.Digest, v.Model,
		v.NextFile, v.NextModel, v.Seq,
		v.ContentSeq, v.Created, v.Updated, string(v.Access),
	}, err
}

func storedProgress(p float64) int64 { return int64(math.Round(p * progressScale)) }

// suffixOf is the extension of a name in lower case, without the dot.
func suffixOf(name string) string { return strings.TrimPrefix(fold(path.Ext(name)), ".") }

// Create adds a document to a dataset; its file is not loose any more. A name that the
// dataset has already becomes "name(1).ext". limit bounds the bytes of all documents of the tenant;
// 0 means no bound.
//
// Errors: [ErrNotFound] for the dataset, [ErrQuota], [ErrExists] for the id, [ErrInvalid], [*Copy]
// for a Sole document.
func (s Documents) Create(ctx context.Context, v Document, limit int64) (Document, error) {
	v.Created = s.ms()
	v.Updated = v.Created
	wanted := v.Name
	const insert = `INSERT INTO documents (` + documentColumns + `) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10,
		$11, $12, $13, $14, $15, $16, $17, $18, $19, $20, $21, $22, $23, $24, $25, $26, $27, $28, $29, $30, $31,
		$32, $33)`
	err := s.write(ctx, fmt.Sprintf("create document %q", v.Name), func(ctx context.Context, q querier) error {
		seq, err := nextSeq(ctx, q, v.Dataset, countsOf(&v))
		if err != nil {
			return err
		}
		if limit > 0 {
			use, err := datasetUse(ctx, q, v.Tenant) // with this document
			if err != nil {
				return err
			}
			if use.Bytes > limit {
				return fmt.Errorf("%w: documents have %d of %d bytes, this one %d", ErrQuota, use.Bytes-v.Size, limit,
					v.Size)
			}
		}
		v.Seq, v.ContentSeq = seq, seq
		if v.Sole {
			if err := refuseCopy(ctx, q, &v); err != nil {
				return err
			}
		}
		v.Name, err = freeName(wanted, path.Ext(wanted), func(name string) (bool, error) {
			return exists(ctx, q, `SELECT 1 FROM documents WHERE dataset_id = $1 AND name = $2`, v.Dataset, name)
		})
		if err != nil {
			return err
		}
		values, err := v.values()
		if err != nil {
			return err
		}
		if _, err := q.ExecContext(ctx, insert, values...); err != nil {
			return err
		}
		if err := useFile(ctx, q, v.File); err != nil {
			return err
		}
		return noteChanges(ctx, q, v.Tenant, v.Dataset, v.ID)
	})
	return v, err
}

// Copy refuses a Sole document whose bytes another document of the dataset has.
type Copy struct{ ID, Name string }

func (c *Copy) Error() string { return fmt.Sprintf("the dataset has the same file as %q", c.Name) }

// Is makes a copy an [ErrExists].
func (c *Copy) Is(target error) bool { return target == ErrExists }

func refuseCopy(ctx context.Context, q querier, v *Document) error {
	c := &Copy{}
	const query = `SELECT id, name FROM documents WHERE dataset_id = $1 AND hash = $2 ORDER BY create_time LIMIT 1`
	err := q.QueryRowContext(ctx, query, v.Dataset, v.Hash).Scan(&c.ID, &c.Name)
	if errors.Is(err, sql.ErrNoRows) {
		return nil
	}
	if err != nil {
		return err
	}
	return c
}

// DatasetUse has the totals of a tenant's datasets.
type DatasetUse struct {
	Documents int
	Bytes     int64
	Chunks    int64
}

// Use returns what the datasets of a tenant hold.
func (s Datasets) Use(ctx context.Context, tenant string) (DatasetUse, error) {
	u, err := datasetUse(ctx, s.read, tenant)
	return u, fail(err, "use of datasets")
}

func datasetUse(ctx context.Context, q querier, tenant string) (u DatasetUse, err error) {
	const query = `SELECT CAST(COALESCE(SUM(document_count), 0) AS BIGINT),
		CAST(COALESCE(SUM(byte_count), 0) AS BIGINT), CAST(COALESCE(SUM(chunk_count), 0) AS BIGINT)
		FROM datasets WHERE tenant_id = $1`
	return u, q.QueryRowContext(ctx, query, tenant).Scan(&u.Documents, &u.Bytes, &u.Chunks)
}

// Get returns a document of a dataset. Errors: [ErrNotFound].
func (s Documents) Get(ctx context.Context, tenant, datasetID, id string) (Document, error) {
	v, err := readDocument(ctx, s.read, tenant, datasetID, id)
	return v, fail(err, "document %q", id)
}

func readDocument(ctx context.Context, q querier, tenant, datasetID, id string) (Document, error) {
	const query = `SELECT ` + documentColumns + ` FROM documents WHERE id = $1 AND dataset_id = $2 AND tenant_id = $3`
	return scanDocument(q.QueryRowContext(ctx, query, id, datasetID, tenant))
}

// lockDocument reads a document and holds off other changes of it until the end of the transaction.
func lockDocument(ctx context.Context, q querier, engine, tenant, datasetID, id string) (Document, error) {
	query := `SELECT ` + documentColumns + ` FROM documents WHERE id = $1 AND dataset_id = $2 AND tenant_id = $3`
	if engine == "postgres" {
		query += ` FOR UPDATE`
	}
	return scanDocument(q.QueryRowContext(ctx, query, id, datasetID, tenant))
}

// Affects is the part of an index that a change of a document affects.
type Affects int

const (
	// Nothing that an index holds.
	Nothing Affects = iota
	// Metadata of the document.
	Metadata
	// Content of its chunks, or the name, which is searched with them.
	Content
	// Cleared means that all chunks are gone, with their edits.
	Cleared
)

// Edit changes a document with change, which may be called twice. A file that is dropped becomes
// loose.
//
// Errors: [ErrNotFound], [ErrExists] if the name is taken, [ErrInvalid], [ErrQuota] for Bound,
// those of change.
func (s Documents) Edit(
	ctx context.Context, tenant, datasetID, id string, change func(*Document) (Affects, error),
) (v Document, err error) {
	err = s.write(ctx, fmt.Sprintf("edit document %q", id), func(ctx context.Context, q querier) error {
		if err := lockDataset(ctx, q, tenant, datasetID); err != nil {
			return err
		}
		if v, err = lockDocument(ctx, q, s.engine, tenant, datasetID, id); err != nil {
			return err
		}
		old := v
		affects, err := change(&v)
		if err != nil {
			return err
		}
		if v.Name != old.Name {
			taken, err := exists(ctx, q, `SELECT 1 FROM documents WHERE dataset_id = $1 AND name = $2`, datasetID,
				v.Name)
			if err != nil {
				return err
			}
			if taken {
				return fmt.Errorf("name %q: %w", v.Name, ErrExists)
			}
		}
		if err := s.save(ctx, q, &v, &old, affects); err != nil {
			return err
		}
		return noteChanges(ctx, q, tenant, datasetID, id)
	})
	return v, err
}

// save writes a changed document. The caller notes the change.
func (s Documents) save(ctx context.Context, q querier, v, old *Document, affects Affects) error {
	change := countsOf(v).minus(countsOf(old))
	switch {
	case affects != Nothing:
		seq, err := nextSeq(ctx, q, v.Dataset, change)
		if err != nil {
			return err
		}
		v.Seq = seq
		if affects >= Content {
			v.ContentSeq = seq
		}
	case change != counts{}:
		if _, err := addCounts(ctx, q, v.Dataset, 0, change); err != nil {
			return err
		}
	}
	if v.Bound > 0 && v.Size > old.Size {
		use, err := datasetUse(ctx, q, v.Tenant) // after the change
		if err != nil {
			return err
		}
		if use.Bytes > v.Bound {
			return fmt.Errorf("%w: documents have %d of %d bytes, this one %d", ErrQuota, use.Bytes-v.Size, v.Bound,
				v.Size)
		}
	}
	if v.File != old.File {
		if err := addLooseFile(ctx, q, LooseFile{old.File, v.Tenant}, s.ms()); err != nil {
			return err
		}
		if err := useFile(ctx, q, v.File); err != nil {
			return err
		}
	}
	if v.ChunkFile != old.ChunkFile {
		if err := addLooseFile(ctx, q, LooseFile{old.ChunkFile, v.Tenant}, s.ms()); err != nil {
			return err
		}
		if err := useFile(ctx, q, v.ChunkFile); err != nil {
			return err
		}
		if old.NextFile != v.ChunkFile {
			if err := addLooseFile(ctx, q, LooseFile{old.NextFile, v.Tenant}, s.ms()); err != nil {
				return err
			}
		}
		v.NextFile, v.NextModel = "", ""
	}
	if affects == Cleared {
		if _, err := q.ExecContext(ctx, `DELETE FROM chunk_edits WHERE document_id = $1`, v.ID); err != nil {
			return err
		}
	}
	v.Updated = s.ms()
	values, err := v.values()
	if err != nil {
		return err
	}
	const update = `UPDATE documents SET name = $4, name_key = $5, suffix = $6, kind = $7, size = $8, hash = $9,
		file = $10, body = $11, disabled = $12, state = $13, progress = $14, messages = $15, begin_time = $16,
		duration_ms = $17, queue_time = $18, attempts = $19, lease = $20, lease_until = $21, chunk_file = $22,
		chunk_count = $23, token_count = $24, digest = $25, model = $26, next_file = $27, next_model = $28,
		seq = $29, content_seq = $30, create_time = $31, update_time = $32, access = $33 WHERE id = $1
		AND tenant_id = $2 AND dataset_id = $3`
	_, err = q.ExecContext(ctx, update, values...)
	return err
}

// Delete removes documents of a dataset and returns how many there were; their files
// become loose.
func (s Documents) Delete(ctx context.Context, tenant, datasetID string, ids ...string) (n int, err error) {
	defer s.totals.forget()
	err = s.writeAlways(ctx, fmt.Sprintf("delete documents of dataset %q", datasetID), func(ctx context.Context,
		q querier,
	) error {
		n = 0
		var gone counts
		if err := lockDataset(ctx, q, tenant, datasetID); err != nil {
			return err
		}
		for _, id := range ids {
			if err := loosen(ctx, q, s.ms(), "id = $2 AND dataset_id = $3", id, datasetID); err != nil {
				return err
			}
			const remove = `DELETE FROM documents WHERE id = $1 AND dataset_id = $2
				RETURNING size, chunk_count, token_count`
			removed, err := queryAll(ctx, q, func(r row) (v Document, err error) {
				return v, r.Scan(&v.Size, &v.Chunks, &v.Tokens)
			}, remove, id, datasetID)
			if err != nil {
				return err
			}
			if len(removed) == 0 {
				continue
			}
			n++
			gone = gone.minus(countsOf(&removed[0]))
			if _, err := q.ExecContext(ctx, `DELETE FROM chunk_edits WHERE document_id = $1`, id); err != nil {
				return err
			}
			if err := dropParses(ctx, q, "document_id", id); err != nil {
				return err
			}
		}
		if n == 0 {
			return errUnchanged
		}
		if _, err := nextSeq(ctx, q, datasetID, gone); err != nil {
			return err
		}
		if _, err := q.ExecContext(ctx, `UPDATE datasets SET gone_seq = seq WHERE id = $1`, datasetID); err != nil {
			return err
		}
		return noteChanges(ctx, q, tenant, datasetID)
	})
	return n, orUnchanged(err)
}
