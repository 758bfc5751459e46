package app

import (
	"context"
	"encoding/json"
	"io"
	"time"

	"github.com/easel-canvas/easel/host/internal/document"
	"github.com/easel-canvas/easel/host/internal/knowledge/ingest"
	"github.com/easel-canvas/easel/host/internal/record/dataset"
)

// Cut is a way to cut documents into chunks: by a method with its settings, or by a pipeline.
type Cut struct {
	Method   string
	Config   json.RawMessage
	Pipeline string
}

// longestPreview bounds a preview, which somebody waits for.
const longestPreview = time.Minute

// PreviewChunks returns the chunks that a cut would make of a document, at most so many, and stores
// nothing. Errors:
// [ErrNotFound], those of the document and of the cut.
func PreviewChunks(
	ctx context.Context, d *Datasets, p Principal, id, doc string, cut Cut, most int,
) (*ingest.Preview, error) {
	v, err := d.document(ctx, p, id, doc)
	if err != nil {
		return nil, err
	}
	ctx, stop := context.WithTimeoutCause(ctx, longestPreview, document.ErrBusy)
	defer stop()
	out, err := d.ingester.Preview(ctx, ingest.Input{
		Tenant: p.Tenant, Method: cut.Method, Config: cut.Config, Pipeline: cut.Pipeline, PipelineBy: p.User,
		Source: document.Source{Name: v.Name, Size: v.Size, Open: func(ctx context.Context) (io.ReadCloser, error) {
			r, _, err := d.files.Open(ctx, v.File)
			return r, err
		}},
		Report: func(string) {}, Ran: func(dataset.Ran) {},
	}, most)
	if err != nil && ctx.Err() != nil {
		err = context.Cause(ctx)
	}
	if err != nil && !IsPublic(err) && ctx.Err() == nil {
		// A cut fails because of its settings or the document; a parse would log the same text.
		err = BadArgument("%s", err)
	}
	return out, err
}
