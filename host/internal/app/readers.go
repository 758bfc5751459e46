package app

import (
	"cmp"
	"context"
	"slices"

	"github.com/easel-canvas/easel/host/internal/access"
	"github.com/easel-canvas/easel/host/internal/store"
)

// mayReadSaid refuses a principal that may not read a document that a run or a session has read:
// answers, traces and references repeat it. Errors: hidden, and those of the store.
func mayReadSaid(ctx context.Context, records *store.Store, p Principal, object string, hidden error) error {
	shut, err := shutFrom(ctx, records, p, object)
	if err == nil && shut[object] {
		err = hidden
	}
	return err
}

// shutFrom returns those of some runs and sessions whose content a principal may not read.
func shutFrom(ctx context.Context, records *store.Store, p Principal, objects ...string) (map[string]bool, error) {
	lists, err := records.Readers.Of(ctx, p.Tenant, objects...)
	out := map[string]bool{}
	for object, of := range lists {
		out[object] = slices.ContainsFunc(of, func(l access.List) bool { return !p.Reader().In(l) })
	}
	return out, err
}

// NoteReaders records who may read the answers of a run that reads documents of a dataset, or all
// that the principal may read without any. Lists that let everyone in restrict nothing.
func NoteReaders(
	ctx context.Context, d *Datasets, p Principal, id, run, session string, documents ...string,
) error {
	if _, ok := d.watched.key(p, id); ok {
		return nil // its documents have no lists
	}
	ds, err := d.get(ctx, p, id)
	if err != nil || !ds.Policy.Enforce {
		return err
	}
	gate, _ := ds.Policy.Gate(p.Reader())
	lists, err := d.store.Documents.Lists(ctx, id, gate, documents...)
	if err != nil {
		return err
	}
	for i := range lists {
		lists[i] = cmp.Or(lists[i], ds.Policy.Default, access.NoReaders)
	}
	lists = slices.DeleteFunc(lists, access.Reader{}.In)
	if len(lists) == 0 {
		return nil
	}
	return d.store.Readers.Add(ctx, p.Tenant, run, session, lists)
}
