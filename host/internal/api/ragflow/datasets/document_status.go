package datasets

import (
	"context"

	"github.com/easel-canvas/easel/engine"
	"github.com/easel-canvas/easel/host/internal/api"
	"github.com/easel-canvas/easel/host/internal/api/ragflow/envelope"
	"github.com/easel-canvas/easel/host/internal/app"
)

// setStatus shows the documents of a body to searches, or hides them.
func (f documentHandlers) setStatus(ctx context.Context, r *api.Request) (api.Response, error) {
	if err := r.Body.Require("doc_ids", "status"); err != nil {
		return nil, err
	}
	ids, status := r.Body.Texts("doc_ids"), r.Body.Text("status")
	if err := r.Body.Valid(); err != nil {
		return nil, err
	}
	if status != "0" && status != "1" {
		return nil, api.Refused(api.KindBadArgument, "\"Status\" must be either 0 or 1!")
	}
	enabled := status == "1"
	b := engine.NewObject(len(ids))
	for _, id := range ids {
		v, err := f.data.Find(ctx, r.Who, id)
		if err == nil {
			_, err = f.data.UpdateDocument(ctx, r.Who, v.Dataset, id, app.DocumentPatch{Enabled: &enabled})
		}
		if err = orNone(err, f.refusals().unauthorized); err != nil {
			b.Set(id, engine.Object("error", messageOf(err)))
			continue
		}
		b.Set(id, engine.Object("status", status))
	}
	return envelope.OK(b.Value()), nil
}

// downloadAny sends a document whose dataset the path does not name.
func (f documentHandlers) downloadAny(ctx context.Context, r *api.Request) (api.Response, error) {
	id := r.Params["document"]
	v, err := f.data.Find(ctx, r.Who, id)
	if err != nil {
		return nil, orNone(err, f.refusals().noDocument(id))
	}
	return f.send(ctx, r, v.Dataset, id)
}

// thumbnails answers the small pictures of documents.
func (f documentHandlers) thumbnails(ctx context.Context, r *api.Request) (api.Response, error) {
	ids := r.Query.Names("doc_ids")
	if len(ids) == 0 {
		return nil, api.Refused(api.KindBadArgument, `Lack of "Document ID"`)
	}
	b := engine.NewObject(len(ids))
	for _, id := range ids {
		v, err := f.data.Find(ctx, r.Who, id)
		if err = orNone(err, nil); err != nil {
			return nil, err
		}
		if v.ID != "" {
			b.Set(id, engine.String(v.Thumbnail))
		}
	}
	return envelope.OK(b.Value()), nil
}
