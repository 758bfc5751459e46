package app

import (
	"context"
	"fmt"

	"github.com/easel-canvas/easel/host/internal/record/dataset"
)

// Find returns a document of any dataset that the principal sees. Errors: [ErrNotFound].
func (d *Datasets) Find(ctx context.Context, p Principal, document string) (dataset.Document, error) {
	if d.watched.folder != nil {
		for _, ds := range d.watched.folder.Datasets(p.Tenant) {
			if v, _, err := d.watched.document(p, ds.ID, document); err == nil {
				return v, nil
			}
		}
	}
	v, err := d.store.Documents.Find(ctx, p.Tenant, document)
	if err == nil {
		v, err = d.document(ctx, p, v.Dataset, document)
	}
	if err != nil {
		return dataset.Document{}, missing(err, fmt.Sprintf("document %q", document))
	}
	return v.Document, nil
}
