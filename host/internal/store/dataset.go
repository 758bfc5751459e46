package store

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/easel-canvas/easel/host/internal/access"
	"github.com/easel-canvas/easel/host/internal/record/dataset"
)

// Dataset is the record of a dataset.
type Dataset struct {
	dataset.Dataset
	// Model is the embedding model whose vectors answer searches. It follows EmbeddingModel when
	// all documents have vectors of that one.
	Model string
	// Seq grows with each change of documents or chunks that an index has to follow, GoneSeq is its
	// value at the last deletion of a document.
	Seq, GoneSeq int64
}

// Access returns whose the dataset is, for [access.Viewer.Check].
func (v *Dataset) Access() access.Object {
	return access.Object{
		Tenant: v.Tenant, Owner: v.CreatedBy, Team: v.Team, Kind: access.Dataset, ID: v.ID, Project: v.Project,
	}
}

// Datasets has the records of datasets.
type Datasets struct{ *database }

// datasetBody is the part of a dataset that no query reads.
type datasetBody struct {
	Description  string          `json:"description,omitempty"`
	Avatar       string          `json:"avatar,omitempty"`
	Language     string          `json:"language,omitempty"`
	Method       string          `json:"method"`
	Config       json.RawMessage `json:"config,omitempty"`
	Pipeline     string          `json:"pipeline,omitempty"`
	ParseType    int             `json:"parse_type,omitempty"`
	Pagerank     int             `json:"pagerank,omitempty"`
	AutoMetadata json.RawMessage `json:"auto_metadata,omitempty"`
	PipelineBy   string          `json:"pipeline_by,omitempty"`
	Synonyms     [][]string      `json:"synonyms,omitempty"`
	Policy       access.Policy   `json:"policy,omitzero"`
}

// datasetRecord are the columns of a new dataset; datasetColumns adds what is counted of documents.
const (
	datasetRecord = `id, tenant_id, created_by, team, name, name_key, body, model, wanted, seq, gone_seq, create_time,
		update_time, project`
	datasetColumns = datasetRecord + `, document_count, chunk_count, token_count`
)

func scanDataset(r row) (Dataset, error) {
	var v Dataset
	var folded string
	var text []byte
	err := r.Scan(&v.ID, &v.Tenant, &v.CreatedBy, &v.Team, &v.Name, &folded, &text, &v.Model, &v.EmbeddingModel,
		&v.Seq, &v.GoneSeq,
		&v.Created, &v.Updated, &v.Project, &v.Documents, &v.Chunks, &v.Tokens)
	if err != nil {
		return v, err
	}
	var b datasetBody
	if err := json.Unmarshal(text, &b); err != nil {
		return v, fmt.Errorf("dataset %q: %w: %w", v.ID, ErrCorrupt, err)
	}
	v.Description, v.Avatar, v.Language = b.Description, b.Avatar, b.Language
	v.Method, v.Config, v.Pipeline, v.ParseType = b.Method, b.Config, b.Pipeline, b.ParseType
	v.Pagerank, v.AutoMetadata, v.PipelineBy = b.Pagerank, b.AutoMetadata, b.PipelineBy
	v.Synonyms, v.Policy = b.Synonyms, b.Policy
	return v, nil
}

func (v *Dataset) body() ([]byte, error) {
	return json.Marshal(datasetBody{
		v.Description, v.Avatar, v.Language, v.Method, v.Config, v.Pipeline, v.ParseType,
		v.Pagerank, v.AutoMetadata, v.PipelineBy, v.Synonyms, v.Policy,
	})
}

// flag is a bool as a column.
func flag(b bool) int64 {
	if b {
		return 1
	}
	return 0
}

// nameTaken reports whether a viewer may use a dataset with a name, in any case of letters, other
// than the one with an id. Names of datasets that it may not use are free: a refusal would reveal
// them.
func nameTaken(ctx context.Context, q querier, v access.Viewer, name, except string) (bool, error) {
	w := &where{}
	w.equal("tenant_id", v.Tenant)
	w.add("name_key = ?", fold(name))
	w.add("id <> ?", except)
	w.usable(v, access.ViewerRole, datasetRights)
	return exists(ctx, q, `SELECT 1 FROM datasets`+w.String(), w.args...)
}

// Create adds a dataset. A name that its creator uses already, in any case of letters, becomes
// "name(1)". Errors: [ErrExists] for the id, [ErrNotFound] for the project, [ErrInvalid].
func (s Datasets) Create(ctx context.Context, v Dataset) (Dataset, error) {
	AuditObject(ctx, v.ID)
	v.Created = s.ms()
	v.Updated, v.Seq, v.GoneSeq = v.Created, 0, 0
	body, err := v.body()
	if err == nil {
		err = checkText("id", v.ID, "name", v.Name, "created_by", v.CreatedBy, "model", v.Model)
	}
	if err != nil {
		return Dataset{}, fail(err, "create dataset")
	}
	const insert = `INSERT INTO datasets (` + datasetRecord + `)
		VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, 0, 0, $10, $10, $11)`
	wanted := v.Name
	defer s.totals.forget()
	err = s.write(ctx, fmt.Sprintf("create dataset %q", v.Name), func(ctx context.Context, q querier) (err error) {
		if err := inProject(ctx, q, s.engine, v.Tenant, v.Project); err != nil {
			return err
		}
		v.Name, err = freeName(wanted, "", func(name string) (bool, error) {
			return nameTaken(ctx, q, access.Viewer{Tenant: v.Tenant, User: v.CreatedBy}, name, "")
		})
		if err != nil {
			return err
		}
		_, err = q.ExecContext(ctx, insert, v.ID, v.Tenant, v.CreatedBy, flag(v.Team), v.Name, fold(v.Name), body,
			v.Model, v.EmbeddingModel, v.Created, v.Project)
		return err
	})
	return v, err
}

// freeName is the first of name, "name(1)", "name(2)"... that is not taken. The number stands
// before the extension.
func freeName(name, extension string, taken func(string) (bool, error)) (string, error) {
	stem := name[:len(name)-len(extension)]
	for n := 1; ; n++ {
		used, err := taken(name)
		if err != nil || !used {
			return name, err
		}
		name = fmt.Sprintf("%s(%d)%s", stem, n, extension)
	}
}

// exists reports whether a query returns a row.
func exists(ctx context.Context, q querier, query string, args ...any) (bool, error) {
	found, err := queryAll(ctx, q, func(r row) (n int, err error) { return n, r.Scan(&n) }, query, args...)
	return len(found) > 0, err
}

// Get returns a dataset of a tenant. Errors: [ErrNotFound].
func (s Datasets) Get(ctx context.Context, tenant, id string) (Dataset, error) {
	const query = `SELECT ` + datasetColumns + ` FROM datasets WHERE id = $1 AND tenant_id = $2`
	v, err := scanDataset(s.read.QueryRowContext(ctx, query, id, tenant))
	return v, fail(err, "dataset %q", id)
}

// Any is [Datasets.Get] without a tenant, for what follows changes. Errors: [ErrNotFound].
func (s Datasets) Any(ctx context.Context, id string) (Dataset, error) {
	const query = `SELECT ` + datasetColumns + ` FROM datasets WHERE id = $1`
	v, err := scanDataset(s.read.QueryRowContext(ctx, query, id))
	return v, fail(err, "dataset %q", id)
}

// Epoch changes when records are loaded from a dump: sequence numbers may then come again with
// other content.
func (s Datasets) Epoch(ctx context.Context) (string, error) {
	found, err := queryAll(ctx, s.read, scanName, `SELECT value FROM meta WHERE name = 'epoch'`)
	if err != nil || len(found) == 0 {
		return "", fail(err, "epoch")
	}
	return found[0], nil
}

func newEpoch(ctx context.Context, q querier) error {
	const upsert = `INSERT INTO meta (name, value) VALUES ('epoch', $1)
		ON CONFLICT (name) DO UPDATE SET value = excluded.value`
	_, err := q.ExecContext(ctx, upsert, NewID())
	return err
}

// IDs lists the ids of all datasets of all tenants, in no order.
func (s Datasets) IDs(ctx context.Context) ([]string, error) {
	out, err := queryAll(ctx, s.read, scanName, `SELECT id FROM datasets`)
	return out, fail(err, "list datasets")
}

// DatasetFilter selects datasets; other empty fields match all.
type DatasetFilter struct {
	Viewer access.Viewer // who may use them; required
	IDs    []string
	Name   string // whatever the case of letters
	// Words is a substring of the name, whatever the case of letters.
	Words   string
	Project *string // nil matches all
}

var datasetList = listing[Dataset]{
	table: "datasets", columns: datasetColumns, scan: scanDataset,
	order: map[string]string{"create_time": "create_time", "update_time": "update_time"},
}

// List returns a page of datasets and the number of all matching ones.
func (s Datasets) List(ctx context.Context, f DatasetFilter, p Page) ([]Dataset, int, error) {
	if f.Viewer.Tenant == "" {
		return nil, 0, fail(ErrInvalid, "list datasets: no tenant")
	}
	w := &where{changing: true}
	w.equal("tenant_id", f.Viewer.Tenant)
	w.usable(f.Viewer, access.ViewerRole, datasetRights)
	w.in("id", f.IDs)
	w.equal("name_key", fold(f.Name))
	w.contains("name_key", f.Words)
	if f.Project != nil {
		w.add("project = ?", *f.Project)
	}
	if len(f.IDs) == 0 && f.Name == "" && f.Words == "" {
		of := groups{table: "datasets", rights: datasetRights, viewer: f.Viewer, also: func(w *where, _ bool) {
			if f.Project != nil {
				w.add("project = ?", *f.Project)
			}
		}}
		w.count = of.count
	}
	return list(ctx, s.database, &datasetList, w, p)
}

// Edit changes a dataset on behalf of a viewer with change, which may be called twice. What is
// counted, and what indexes follow, is not written.
//
// Errors: [ErrNotFound], [ErrExists] for a new name if another dataset has it that the
// viewer may use, [ErrInvalid], those of change.
func (s Datasets) Edit(
	ctx context.Context, by access.Viewer, id string, change func(*Dataset) error,
) (v Dataset, err error) {
	err = s.write(ctx, fmt.Sprintf("edit dataset %q", id), func(ctx context.Context, q querier) error {
		if err := lockDataset(ctx, q, by.Tenant, id); err != nil {
			return err
		}
		const query = `SELECT ` + datasetColumns + ` FROM datasets WHERE id = $1`
		if v, err = scanDataset(q.QueryRowContext(ctx, query, id)); err != nil {
			return err
		}
		former, name, project := v.EmbeddingModel, fold(v.Name), v.Project
		if err := change(&v); err != nil {
			return err
		}
		if v.Project != project {
			if err := inProject(ctx, q, s.engine, v.Tenant, v.Project); err != nil {
				return err
			}
		}
		if v.EmbeddingModel != former {
			if err := forgetEmbeddings(ctx, q, s.ms(), id); err != nil {
				return err
			}
		}
		if err := checkText("name", v.Name, "model", v.Model, "embedding model", v.EmbeddingModel); err != nil {
			return err
		}
		if fold(v.Name) != name {
			taken, err := nameTaken(ctx, q, by, v.Name, id)
			if err != nil {
				return err
			}
			if taken {
				return fmt.Errorf("name %q: %w", v.Name, ErrExists)
			}
		}
		body, err := v.body()
		if err != nil {
			return err
		}
		v.Updated = s.ms()
		const update = `UPDATE datasets SET name = $1, name_key = $2, team = $3, body = $4, model = $5, wanted = $6,
			update_time = $7, project = $9 WHERE id = $8`
		_, err = q.ExecContext(ctx, update, v.Name, fold(v.Name), flag(v.Team), body, v.Model, v.EmbeddingModel,
			v.Updated, id, v.Project)
		return err
	})
	return v, err
}

// lockDataset holds off other changes of a dataset until the end of the transaction.
func lockDataset(ctx context.Context, q querier, tenant, id string) error {
	res, err := q.ExecContext(ctx, `UPDATE datasets SET seq = seq WHERE id = $1 AND tenant_id = $2`, id, tenant)
	return changed(res, err, ErrNotFound)
}

// counts are totals of the documents of a dataset, or the difference that a change makes to them.
type counts struct {
	documents             int
	bytes, chunks, tokens int64
}

// countsOf returns the counts of one document.
func countsOf(v *Document) counts { return counts{1, v.Size, int64(v.Chunks), int64(v.Tokens)} }

func (c counts) minus(d counts) counts {
	return counts{c.documents - d.documents, c.bytes - d.bytes, c.chunks - d.chunks, c.tokens - d.tokens}
}

// nextSeq counts a change of a dataset. Changes of one dataset follow each other: the count is
// committed in its order.
func nextSeq(ctx context.Context, q querier, dataset string, change counts) (int64, error) {
	return addCounts(ctx, q, dataset, 1, change)
}

// addCounts changes the counts of a dataset and adds to its sequence number, which it returns.
func addCounts(ctx context.Context, q querier, dataset string, changes int, c counts) (seq int64, err error) {
	const update = `UPDATE datasets SET seq = seq + $2, document_count = document_count + $3,
		byte_count = byte_count + $4, chunk_count = chunk_count + $5, token_count = token_count + $6
		WHERE id = $1 RETURNING seq`
	found, err := queryAll(ctx, q, func(r row) (n int64, err error) { return n, r.Scan(&n) }, update, dataset,
		changes, c.documents, c.bytes, c.chunks, c.tokens)
	switch {
	case err != nil:
		return 0, err
	case len(found) == 0:
		return 0, ErrNotFound
	}
	return found[0], nil
}

// Delete removes a dataset with its documents; their files become loose. Errors:
// [ErrNotFound].
func (s Datasets) Delete(ctx context.Context, tenant, id string) error {
	defer s.totals.forget()
	return s.writeAlways(ctx, fmt.Sprintf("delete dataset %q", id), func(ctx context.Context, q querier) error {
		res, err := q.ExecContext(ctx, `DELETE FROM datasets WHERE id = $1 AND tenant_id = $2`, id, tenant)
		if err := changed(res, err, ErrNotFound); err != nil {
			return err
		}
		if err := loosen(ctx, q, s.ms(), "dataset_id = $2", id); err != nil {
			return err
		}
		_, err1 := q.ExecContext(ctx, `DELETE FROM chunk_edits WHERE dataset_id = $1`, id)
		_, err2 := q.ExecContext(ctx, `DELETE FROM documents WHERE dataset_id = $1`, id)
		_, err3 := q.ExecContext(ctx, `DELETE FROM dataset_changes WHERE dataset_id = $1`, id)
		return errors.Join(err1, err2, dropParses(ctx, q, "dataset_id", id), err3,
			dropGrants(ctx, q, tenant, access.Object{Kind: access.Dataset, ID: id}))
	})
}
