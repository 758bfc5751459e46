package app

import (
	"context"
	"errors"
	"fmt"
	"path"
	"strings"

	"github.com/easel-canvas/easel/host/internal/knowledge/ingest"
	"github.com/easel-canvas/easel/host/internal/record/dataset"
	"github.com/easel-canvas/easel/host/internal/store"
)

// ReplaceFile stores another file for a document, which keeps its id, metadata, method and chunks
// until it is parsed again. With another extension the name gets it too. Errors: [ErrNotFound],
// [ErrConflict] while it is parsed, [ErrExists] for the name, those of Upload.
func ReplaceFile(
	ctx context.Context, d *Datasets, p Principal, id, document string, u Upload,
) (dataset.Document, error) {
	old, err := d.document(ctx, p, id, document)
	if err != nil {
		return dataset.Document{}, err
	}
	if err := checkUpload(ctx, d, p, &u, old.Size); err != nil {
		return dataset.Document{}, err
	}
	if err := u.sniff(); err != nil {
		return dataset.Document{}, err
	}
	next := old
	// A parse that began before reads the former file to its end.
	next.File = ingest.File(p.Tenant, id, document) + "-" + store.NewDocumentID()
	info, err := d.putOriginal(ctx, &next, u.Body)
	if err != nil {
		return dataset.Document{}, fmt.Errorf("document %q: %w", u.Name, err)
	}
	hash, err := hexDigest(info.Digest)
	if err != nil {
		return dataset.Document{}, errors.Join(err, d.dropFile(ctx, next.File))
	}
	stored, err := d.store.Documents.Edit(ctx, p.Tenant, id, document, func(v *store.Document) (store.Affects, error) {
		if v.State == dataset.Queued || v.State == dataset.Running {
			return store.Nothing, fmt.Errorf("document %q is %s: %w", v.Name, v.State, ErrConflict)
		}
		v.File, v.Size, v.Hash, v.Bound = next.File, int64(info.Size), hash, d.limits.Bytes
		v.State, v.Progress, v.Messages = dataset.Unparsed, 0, ""
		affects := store.Nothing
		if extension := path.Ext(u.Name); !strings.EqualFold(extension, path.Ext(v.Name)) {
			v.Name = strings.TrimSuffix(v.Name, path.Ext(v.Name)) + extension
			v.Kind = kindOf(v.Name)
			affects = store.Content
		}
		return affects, nil
	})
	if err != nil {
		return dataset.Document{}, errors.Join(err, d.dropFile(ctx, next.File))
	}
	return stored.Document, d.ingester.Sweep(ctx)
}
