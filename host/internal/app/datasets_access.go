package app

import (
	"context"
	"fmt"

	"github.com/easel-canvas/easel/host/internal/access"
	"github.com/easel-canvas/easel/host/internal/record/dataset"
	"github.com/easel-canvas/easel/host/internal/store"
)

// gateOf returns the gate of a dataset for a principal; nil means that it may read all documents.
func gateOf(p Principal, ds *store.Dataset) *access.Gate {
	if gate, shut := ds.Policy.Gate(p.Reader()); shut {
		return &gate
	}
	return nil
}

// mayRead reports whether a principal that may use a dataset may read one of its documents.
func mayRead(p Principal, ds *store.Dataset, v *store.Document) bool {
	return ds.Policy.Allows(p.Reader(), v.Access)
}

// readable returns those of some documents that a principal may read; without a gate all of them.
// Errors: [ErrNotFound] for the dataset.
func readable(ctx context.Context, d *Datasets, p Principal, id string, documents []string) ([]string, error) {
	ds, err := d.get(ctx, p, id)
	if err != nil {
		return nil, err
	}
	gate := gateOf(p, &ds)
	if gate == nil || len(documents) == 0 {
		return documents, nil
	}
	f := store.DocumentFilter{Tenant: p.Tenant, Dataset: id, IDs: documents, Gate: gate}
	labels, err := d.store.Documents.Labels(ctx, f, store.Page{})
	out := make([]string, len(labels))
	for i, l := range labels {
		out[i] = l.ID
	}
	return out, err
}

// recount replaces the counts of a dataset by those of the documents that a principal may read.
func recount(ctx context.Context, d *Datasets, p Principal, v *store.Dataset) error {
	gate := gateOf(p, v)
	if gate == nil {
		return nil
	}
	n, err := d.store.Documents.Counts(ctx, v.ID, *gate)
	v.Documents, v.Chunks, v.Tokens = n.Documents, n.Chunks, n.Tokens
	v.Embedding = nil // it counts all
	return err
}

// mayReadLog refuses the log of a document that a principal may not read. Errors: [ErrNotFound].
func mayReadLog(ctx context.Context, d *Datasets, p Principal, v *dataset.ParseLog) error {
	ds, err := d.get(ctx, p, v.Dataset)
	if err != nil || gateOf(p, &ds) == nil {
		return err
	}
	_, err = d.document(ctx, p, v.Dataset, v.Document)
	return err
}

// governs reports whether a principal decides who may read the documents of a dataset: its admins,
// of which its creator is one, and those with the scope admin.
func governs(p Principal, ds *store.Dataset) bool {
	return p.whole || p.May(ScopeAdmin) || p.Viewer().Role(ds.Access()) == access.Admin
}

// errGoverned refuses who may change a dataset and not who reads its documents.
var errGoverned = Forbidden("only the creator of the dataset, and who has the scope admin, decides who reads " +
	"its documents")

// SetPolicy sets who may read the documents of a dataset, from the next search on. Errors:
// [ErrNotFound], those of [Error].
func SetPolicy(
	ctx context.Context, d *Datasets, p Principal, id string, policy access.Policy,
) (dataset.Dataset, error) {
	ds, err := d.get(ctx, p, id)
	if err == nil && !governs(p, &ds) {
		err = errGoverned
	}
	if err != nil {
		return dataset.Dataset{}, err
	}
	ds, err = d.store.Datasets.Edit(ctx, p.Viewer(), id, func(v *store.Dataset) error {
		v.Policy = policy
		return nil
	})
	if err == nil {
		err = recount(ctx, d, p, &ds)
	}
	return ds.Dataset, err
}

// SetAccess sets who may read documents of a dataset, or all of them without any, and returns how
// many there were. Errors: [ErrNotFound], those of [Error].
func SetAccess(
	ctx context.Context, d *Datasets, p Principal, id string, list access.List, documents []string,
) (int, error) {
	ds, err := d.get(ctx, p, id)
	if err == nil && !governs(p, &ds) {
		err = errGoverned
	}
	if err != nil {
		return 0, err
	}
	return d.store.Documents.SetAccess(ctx, p.Tenant, id, list, documents)
}

// AccessList reads the entries of a list; nil for none. Errors: those of [Error].
func AccessList(entries []string) (access.List, error) {
	if entries == nil {
		return "", nil
	}
	list, err := access.ListOf(entries...)
	if err != nil {
		return "", BadArgument("%s", err)
	}
	return list, nil
}

// DatasetFollower is a reader of the events of a dataset, about the documents that its principal
// may read.
type DatasetFollower struct {
	*followed
	p       Principal
	records *store.Store // nil for a dataset of the watched folder
	policy  access.Policy
}

// Next returns the next event; nil means that no event is due. Errors: [ErrDatasetGone], those of
// the store.
func (f *DatasetFollower) Next(ctx context.Context) (*DatasetEvent, error) {
	for {
		e, err := f.followed.Next(ctx)
		if e == nil || err != nil {
			return e, err
		}
		gate, shut := f.policy.Gate(f.p.Reader())
		switch {
		case !shut, e.Document != nil && gate.Open(e.Document.Access):
			return e, nil
		case e.Dataset == nil || f.records == nil:
			continue
		}
		ds := *e.Dataset
		n, err := f.records.Documents.Counts(ctx, ds.ID, gate)
		if err != nil {
			return nil, fmt.Errorf("counts of a followed dataset: %w", err)
		}
		ds.Documents, ds.Chunks, ds.Tokens, ds.Embedding = n.Documents, n.Chunks, n.Tokens, nil
		return &DatasetEvent{Dataset: &ds}, nil
	}
}
