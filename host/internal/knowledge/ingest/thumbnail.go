package ingest

import (
	"context"
	"encoding/base64"
	"errors"

	"github.com/easel-canvas/easel/host/internal/document"
	"github.com/easel-canvas/easel/host/internal/store"
)

// addThumbnail stores a picture of an image or a PDF with its record, at its first parse, which may
// fail later, as that of an image does without OCR.
func (j *job) addThumbnail(ctx context.Context) error {
	t, ok := j.in.cfg.Cutter.(Thumbnailer)
	if !ok || j.d.Thumbnail != "" || j.d.Kind != "visual" && j.d.Kind != "pdf" {
		return nil
	}
	data, err := t.Thumbnail(ctx, j.source())
	if _, failed := document.FailureOf(err); failed || errors.Is(err, document.ErrLimit) {
		return nil // too large, damaged or of another format: the parse reports what matters
	}
	if err != nil {
		return err
	}
	j.d.Thumbnail = "data:image/jpeg;base64," + base64.StdEncoding.EncodeToString(data)
	_, err = j.in.cfg.Store.Documents.Edit(ctx, j.d.Tenant, j.d.Dataset, j.d.ID,
		func(d *store.Document) (store.Affects, error) {
			d.Thumbnail = j.d.Thumbnail
			return store.Nothing, nil
		})
	return err
}
