package store

import (
	"context"
	"fmt"
	"slices"

	"github.com/easel-canvas/easel/host/internal/access"
	"github.com/easel-canvas/easel/host/internal/record/dataset"
)

// DocumentFilter selects documents; empty fields match all.
type DocumentFilter struct {
	Tenant, Dataset string // required
	IDs             []string
	Name            string
	Words           string // substring of the name, whatever the case of letters
	Suffixes        []string
	States          []dataset.State
	From, To        int64 // create_time, Unix milliseconds, inclusive
	// Gate leaves out documents that it does not open; nil leaves out none.
	Gate *access.Gate
}

var documentList = listing[Document]{
	table: "documents", columns: documentColumns, scan: scanDocument,
	order: map[string]string{"create_time": "create_time", "update_time": "update_time", "name": "name_key"},
}

// List returns a page of documents and the number of all matching ones.
func (s Documents) List(ctx context.Context, f DocumentFilter, p Page) ([]Document, int, error) {
	if f.Tenant == "" || f.Dataset == "" {
		return nil, 0, fail(ErrInvalid, "list documents: no tenant or no dataset")
	}
	return list(ctx, s.database, &documentList, f.where(), p)
}

// Find returns a document of any dataset of a tenant. Errors: [ErrNotFound].
func (s Documents) Find(ctx context.Context, tenant, id string) (Document, error) {
	const query = `SELECT ` + documentColumns + ` FROM documents WHERE id = $1 AND tenant_id = $2`
	v, err := scanDocument(s.read.QueryRowContext(ctx, query, id, tenant))
	return v, fail(err, "document %q", id)
}

// DocumentLabel is a document with its metadata.
type DocumentLabel struct {
	ID, Name string
	Meta     map[string]any
}

// Labels returns the metadata of all documents that match a filter, in the order of a page.
func (s Documents) Labels(ctx context.Context, f DocumentFilter, p Page) ([]DocumentLabel, error) {
	order, err := documentList.orderOf(p)
	if err != nil {
		return nil, fail(err, "list metadata")
	}
	w := f.where()
	query := `SELECT ` + documentColumns + ` FROM documents` + w.String() + order.by(p.Asc)
	out, err := queryAll(ctx, s.read, func(r row) (DocumentLabel, error) {
		v, err := scanDocument(r)
		return DocumentLabel{v.ID, v.Name, v.Meta}, err
	}, query, w.args...)
	return out, fail(err, "list metadata")
}

func (f *DocumentFilter) where() *where {
	w := &where{changing: true}
	w.equal("dataset_id", f.Dataset)
	w.in("id", f.IDs)
	w.equal("name", f.Name)
	w.contains("name_key", f.Words)
	w.in("suffix", f.Suffixes)
	w.in("state", texts(f.States))
	w.between("create_time", f.From, f.To)
	w.opened(f.Gate, "access")
	if len(f.States) > 0 && len(w.conds) == 2 {
		w.count = f.countStates
	}
	if len(w.conds) == 1 { // all documents of the dataset, which may be deleted
		w.known = `SELECT COALESCE(MAX(document_count), 0) FROM datasets WHERE id = $1`
	}
	return w
}

// fewDocuments is the number of documents up to which those of states, or those of all others, are
// counted one by one.
const fewDocuments = 1000

// countStates returns the number of documents of some states. If they are many and the others few,
// it is the rest of all documents.
func (f *DocumentFilter) countStates(ctx context.Context, q querier) (n int, err error) {
	some := &where{}
	some.equal("dataset_id", f.Dataset)
	some.in("state", texts(f.States))
	few := fmt.Sprintf(`SELECT COUNT(*) FROM (SELECT 1 FROM documents%s LIMIT %d) AS few`, some, fewDocuments+1)
	if err = q.QueryRowContext(ctx, few, some.args...).Scan(&n); err != nil || n <= fewDocuments {
		return n, err
	}
	var others []dataset.State
	for _, state := range dataset.States {
		if !slices.Contains(f.States, state) {
			others = append(others, state)
		}
	}
	rest := &where{}
	rest.equal("dataset_id", f.Dataset)
	rest.in("state", texts(others))
	none := "0"
	if len(others) > 0 {
		none = fmt.Sprintf(`(SELECT COUNT(*) FROM (SELECT 1 FROM documents%s LIMIT %d) AS few)`, rest, fewDocuments+1)
	}
	var all, left int
	query := `SELECT COALESCE(MAX(document_count), 0), ` + none + ` FROM datasets WHERE id = $1`
	args := rest.args
	if len(others) == 0 {
		args = []any{f.Dataset}
	}
	if err = q.QueryRowContext(ctx, query, args...).Scan(&all, &left); err != nil || left <= fewDocuments {
		return all - left, err
	}
	err = q.QueryRowContext(ctx, `SELECT COUNT(*) FROM documents`+some.String(), some.args...).Scan(&n)
	return n, err
}

// Counts returns the numbers of documents, chunks and tokens of a dataset behind a gate.
func (s Documents) Counts(ctx context.Context, datasetID string, gate access.Gate) (v dataset.Dataset, err error) {
	w := &where{}
	w.equal("dataset_id", datasetID)
	w.opened(&gate, "access")
	query := `SELECT COUNT(*), CAST(COALESCE(SUM(chunk_count), 0) AS BIGINT),
		CAST(COALESCE(SUM(token_count), 0) AS BIGINT) FROM documents` + w.String()
	err = s.read.QueryRowContext(ctx, query, w.args...).Scan(&v.Documents, &v.Chunks, &v.Tokens)
	return v, fail(err, "count documents of dataset %q", datasetID)
}

// Lists returns the lists that documents of a dataset have, each once; without ids those of all
// that the gate opens.
func (s Documents) Lists(
	ctx context.Context, datasetID string, gate access.Gate, ids ...string,
) ([]access.List, error) {
	w := &where{}
	w.equal("dataset_id", datasetID)
	w.in("id", ids)
	if len(ids) == 0 {
		w.opened(&gate, "access")
	}
	query := `SELECT DISTINCT access FROM documents` + w.String()
	scan := func(r row) (l access.List, err error) { return l, r.Scan(&l) }
	out, err := queryAll(ctx, s.read, scan, query, w.args...)
	return out, fail(err, "access to documents of dataset %q", datasetID)
}

// SetAccess sets the lists of documents of a dataset, of all without ids, and returns how many
// there were. Indexes follow with their next search, without new vectors.
func (s Documents) SetAccess(
	ctx context.Context, tenant, datasetID string, list access.List, ids []string,
) (n int, err error) {
	what := fmt.Sprintf("access to documents of dataset %q", datasetID)
	err = s.writeAlways(ctx, what, func(ctx context.Context, q querier) error {
		if err := lockDataset(ctx, q, tenant, datasetID); err != nil {
			return err
		}
		w := &where{}
		w.add("dataset_id = ?", datasetID)
		w.in("id", ids)
		changed, err := queryAll(ctx, q, scanName, `SELECT id FROM documents`+w.String()+` ORDER BY id`, w.args...)
		if err != nil {
			return err
		}
		if n = len(changed); n == 0 {
			return errUnchanged
		}
		seq, err := nextSeq(ctx, q, datasetID, counts{})
		if err != nil {
			return err
		}
		set := &where{}
		set.add("dataset_id = ?", datasetID)
		set.in("id", ids)
		args := append(set.args, string(list), seq)
		update := fmt.Sprintf(`UPDATE documents SET access = $%d, seq = $%d`, len(args)-1, len(args)) + set.String()
		if _, err := q.ExecContext(ctx, update, args...); err != nil {
			return err
		}
		for some := range slices.Chunk(changed, mostHeads) {
			if err := noteChanges(ctx, q, tenant, datasetID, some...); err != nil {
				return err
			}
		}
		return nil
	})
	return n, orUnchanged(err)
}

// Changed returns documents of a dataset that changed after a sequence number, in the
// order of their changes.
func (s Documents) Changed(
	ctx context.Context, datasetID string, after int64, limit int,
) ([]Document, error) {
	const query = `SELECT ` + documentColumns + ` FROM documents WHERE dataset_id = $1 AND seq > $2
		ORDER BY seq LIMIT $3`
	out, err := queryAll(ctx, s.read, scanDocument, query, datasetID, after, limit)
	return out, fail(err, "changes of dataset %q", datasetID)
}

// Seqs returns the sequence numbers of all documents of a dataset.
func (s Documents) Seqs(ctx context.Context, datasetID string) (map[string]int64, error) {
	const query = `SELECT id, seq FROM documents WHERE dataset_id = $1`
	out := map[string]int64{}
	_, err := queryAll(ctx, s.read, func(r row) (struct{}, error) {
		var id string
		var seq int64
		err := r.Scan(&id, &seq)
		out[id] = seq
		return struct{}{}, err
	}, query, datasetID)
	return out, fail(err, "documents of dataset %q", datasetID)
}

// Of returns a document of a dataset of any tenant, for what follows changes. Errors:
// [ErrNotFound].
func (s Documents) Of(ctx context.Context, datasetID, id string) (Document, error) {
	const query = `SELECT ` + documentColumns + ` FROM documents WHERE id = $1 AND dataset_id = $2`
	v, err := scanDocument(s.read.QueryRowContext(ctx, query, id, datasetID))
	return v, fail(err, "document %q", id)
}
