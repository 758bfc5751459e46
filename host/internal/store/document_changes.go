package store

import (
	"context"
	"encoding/json"
	"maps"
	"math"
	"slices"

	"github.com/easel-canvas/easel/host/internal/record/dataset"
)

// noteChanges numbers a change of documents of a dataset, which followers of the dataset then read;
// without ids documents were deleted. It must be the last statement of a transaction that takes a
// lock: the number is locked until the commit, so that numbers are committed in their order and a
// follower that has read one misses none before it. Locked before anything else, it would deadlock
// with transactions that lock datasets and documents in another order.
func noteChanges(ctx context.Context, q querier, tenant, datasetID string, ids ...string) error {
	const count = `INSERT INTO dataset_changes (dataset_id, tenant_id, change_seq) VALUES ($1, $2, 1)
		ON CONFLICT (dataset_id) DO UPDATE SET change_seq = dataset_changes.change_seq + 1 RETURNING change_seq`
	seq, err := queryAll(ctx, q, scanNumber, count, datasetID, tenant)
	if err != nil || len(ids) == 0 {
		return err
	}
	w := &where{}
	w.add("change_seq <> ?", seq[0])
	w.in("id", ids)
	_, err = q.ExecContext(ctx, `UPDATE documents SET change_seq = $1`+w.String(), w.args...)
	return err
}

// noteAll is [noteChanges] for documents of any datasets, which it takes in one order so that two
// transactions do not deadlock.
func noteAll(ctx context.Context, q querier, documents []Document) error {
	tenants, ids := map[string]string{}, map[string][]string{}
	for i := range documents {
		v := &documents[i]
		tenants[v.Dataset], ids[v.Dataset] = v.Tenant, append(ids[v.Dataset], v.ID)
	}
	for _, id := range slices.Sorted(maps.Keys(ids)) {
		if err := noteChanges(ctx, q, tenants[id], id, ids[id]...); err != nil {
			return err
		}
	}
	return nil
}

func scanNumber(r row) (n int64, err error) { return n, r.Scan(&n) }

// Changes has the numbered changes of documents, which followers of datasets read.
type Changes struct{ *database }

// mostHeads bounds the heads that one query reads.
const mostHeads = 500

// Heads returns the heads of datasets by their ids. Those that do not exist are left out.
func (s Changes) Heads(ctx context.Context, ids []string) (map[string]dataset.Head, error) {
	out := make(map[string]dataset.Head, len(ids))
	for some := range slices.Chunk(ids, mostHeads) {
		w := &where{}
		w.in("d.id", some)
		query := `SELECT d.id, d.tenant_id, d.created_by, d.team, d.project, d.body, COALESCE(c.change_seq, 0)
			FROM datasets d LEFT JOIN dataset_changes c ON c.dataset_id = d.id` + w.String()
		heads, err := queryAll(ctx, s.read, func(r row) (h dataset.Head, err error) {
			var body []byte
			if err := r.Scan(&h.ID, &h.Tenant, &h.CreatedBy, &h.Team, &h.Project, &body, &h.Changes); err != nil {
				return h, err
			}
			var b datasetBody
			err = json.Unmarshal(body, &b)
			h.Policy = b.Policy
			return h, err
		}, query, w.args...)
		if err != nil {
			return nil, fail(err, "changes of datasets")
		}
		for _, h := range heads {
			out[h.ID] = h
		}
	}
	return out, nil
}

// Dataset returns a dataset of any tenant. Errors: [ErrNotFound].
func (s Changes) Dataset(ctx context.Context, id string) (dataset.Dataset, error) {
	v, err := Datasets(s).Any(ctx, id)
	return v.Dataset, err
}

// After returns the documents of a dataset in the order of their changes, behind the change of a
// document with a number: each once, with its last change. Deleted ones are left out.
func (s Changes) After(
	ctx context.Context, datasetID string, seq int64, document string, limit int,
) ([]dataset.Change, error) {
	const query = `SELECT ` + documentColumns + `, change_seq FROM documents
		WHERE dataset_id = $1 AND (change_seq, id) > ($2, $3) ORDER BY change_seq, id LIMIT $4`
	out, err := queryAll(ctx, s.read, scanChange, query, datasetID, seq, document, limit)
	return out, fail(err, "changes of dataset %q", datasetID)
}

// UnderWay returns documents of a dataset that are queued or running, the newest first, behind the
// one with a creation time and an id; 0 means from the newest.
func (s Changes) UnderWay(
	ctx context.Context, datasetID string, created int64, document string, limit int,
) ([]dataset.Change, error) {
	if created == 0 {
		created = math.MaxInt64
	}
	const query = `SELECT ` + documentColumns + `, change_seq FROM documents WHERE dataset_id = $1
		AND (state = 'queued' OR state = 'running') AND (create_time, id) < ($2, $3)
		ORDER BY create_time DESC, id DESC LIMIT $4`
	out, err := queryAll(ctx, s.read, scanChange, query, datasetID, created, document, limit)
	return out, fail(err, "documents under way in dataset %q", datasetID)
}

// These returns documents of a dataset by their ids, as far as they exist, in no order.
func (s Changes) These(ctx context.Context, datasetID string, documents []string) ([]dataset.Change, error) {
	w := &where{}
	w.add("dataset_id = ?", datasetID)
	w.in("id", documents)
	query := `SELECT ` + documentColumns + `, change_seq FROM documents` + w.String()
	out, err := queryAll(ctx, s.read, scanChange, query, w.args...)
	return out, fail(err, "documents of dataset %q", datasetID)
}

// First returns the documents at the front of the queue of all datasets, in its order and at most
// [MostAhead].
func (s Changes) First(ctx context.Context) ([]dataset.Waiting, error) {
	const query = `SELECT dataset_id, id FROM documents WHERE state = 'queued' ORDER BY queue_time, id LIMIT $1`
	out, err := queryAll(ctx, s.read, func(r row) (v dataset.Waiting, err error) {
		return v, r.Scan(&v.Dataset, &v.Document)
	}, query, MostAhead)
	return out, fail(err, "queue of documents")
}

// scanChange reads a document with the number of its last change.
func scanChange(r row) (dataset.Change, error) {
	var seq int64
	v, err := scanDocument(withTail{r, &seq})
	return dataset.Change{Document: v.Document, Seq: seq}, err
}

// withTail is a row with one more column behind those that are scanned.
type withTail struct {
	row
	tail any
}

// Scan implements row.
func (r withTail) Scan(dest ...any) error { return r.row.Scan(append(dest, r.tail)...) }

// MostAhead bounds the documents that are counted ahead of a queued one.
const MostAhead = 1000

// CountAhead fills in how many documents are ahead of each queued one of a list, at most
// [MostAhead].
func (s Ingestion) CountAhead(ctx context.Context, list []Document) error {
	isQueued := func(v Document) bool { return v.State == dataset.Queued }
	if !slices.ContainsFunc(list, isQueued) {
		return nil
	}
	first, err := Changes(s).First(ctx)
	if err != nil {
		return err
	}
	ahead := make(map[string]int, len(first))
	for i, v := range first {
		ahead[v.Document] = i
	}
	for i := range list {
		if !isQueued(list[i]) {
			continue
		}
		n, among := ahead[list[i].ID]
		if !among {
			n = len(first)
		}
		list[i].Queue = n
	}
	return nil
}
