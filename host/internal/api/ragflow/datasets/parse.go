package datasets

import (
	"context"
	"errors"

	"github.com/easel-canvas/easel/engine"
	"github.com/easel-canvas/easel/host/internal/api"
	"github.com/easel-canvas/easel/host/internal/api/ragflow/envelope"
	"github.com/easel-canvas/easel/host/internal/api/ragflow/schema"
	"github.com/easel-canvas/easel/host/internal/app"
	"github.com/easel-canvas/easel/host/internal/record/dataset"
)

// ids reads the documents that a request parses, or stops to parse.
func (f documentHandlers) ids(ctx context.Context, r *api.Request) (id string, ids []string, err error) {
	id = r.Params["dataset"]
	if _, err := f.dataset(ctx, r, id, notOwned(id)); err != nil {
		return "", nil, err
	}
	if err := f.loose(r); err != nil {
		return "", nil, err
	}
	if !r.Body.Get("document_ids").Truthy() {
		return "", nil, failed("`document_ids` is required")
	}
	ids = r.Body.Texts("document_ids")
	return id, ids, r.Body.Valid()
}

// notFound refuses ids of documents, in the form of a Python list.
func notFound(ids []string) error {
	return failed("Documents not found: %s", schema.Repr(engine.Strings(ids...)))
}

// isActive reports whether a document is being parsed, or waits for that.
func isActive(v dataset.Document) bool {
	return v.State == dataset.Running || v.State == dataset.Queued
}

// parse starts to parse documents. Unknown ones are refused after the others were started.
func (f documentHandlers) parse(ctx context.Context, r *api.Request) (api.Response, error) {
	id, ids, err := f.ids(ctx, r)
	if err != nil {
		return nil, err
	}
	n, err := f.namedDocuments(ctx, r, id, ids)
	if err != nil {
		return nil, err
	}
	if err := f.start(ctx, r, id, n.known); err != nil {
		return nil, err
	}
	if len(n.unknown) > 0 {
		return nil, notFound(n.unknown)
	}
	return f.partly(len(n.known), n.twice), nil
}

// start queues documents. Those that wait already are left to wait.
func (f documentHandlers) start(ctx context.Context, r *api.Request, id string, documents []string) error {
	var idle []string
	for _, doc := range documents {
		v, err := f.data.Document(ctx, r.Who, id, doc)
		switch {
		case err != nil:
			return err
		case f.refusesParse(v):
			return errParsing
		case !isActive(v):
			idle = append(idle, doc)
		}
	}
	err := f.data.Parse(ctx, r.Who, id, idle...)
	var changed *app.Error
	if errors.As(err, &changed) && changed.Code == app.CodeChanged {
		return errParsing // another request was faster
	}
	return err
}

// errParsing refuses to parse a document twice at once.
var errParsing = failed("Can't parse document that is currently being processed")

// stop cancels the parsing of documents.
func (f documentHandlers) stop(ctx context.Context, r *api.Request) (api.Response, error) {
	id, ids, err := f.ids(ctx, r)
	if err != nil {
		return nil, err
	}
	unique, twice := distinct(ids, "document")
	for _, doc := range unique {
		v, err := f.document(ctx, r, id, doc, f.noDocument(doc))
		if err != nil {
			return nil, err
		}
		if !isActive(v) {
			return nil, f.refusals().notStoppable
		}
		if err := f.cancel(ctx, r, id, doc); err != nil {
			return nil, err
		}
	}
	return f.partly(len(unique), twice), nil
}

// cancel stops one document; it refuses one that has ended since it was read.
func (f documentHandlers) cancel(ctx context.Context, r *api.Request, id, doc string) error {
	err := f.data.Stop(ctx, r.Who, id, doc)
	var changed *app.Error
	if errors.As(err, &changed) && changed.Code == app.CodeChanged {
		return f.refusals().notStoppable
	}
	return err
}

// ingest starts or stops to parse documents of any datasets.
func (f documentHandlers) ingest(ctx context.Context, r *api.Request) (api.Response, error) {
	if err := f.loose(r); err != nil {
		return nil, err
	}
	return f.run(ctx, r)
}

// run starts or stops to parse the documents of a body: run is 1 or 2.
func (f documentHandlers) run(ctx context.Context, r *api.Request) (api.Response, error) {
	if err := r.Body.Require("doc_ids", "run"); err != nil {
		return nil, err
	}
	ids, run := r.Body.Texts("doc_ids"), r.Body.Text("run")
	if err := r.Body.Valid(); err != nil {
		return nil, err
	}
	for _, id := range ids {
		v, err := f.anyDocument(ctx, r, id)
		switch {
		case err != nil:
			return nil, err
		case run == "1":
			err = f.start(ctx, r, v.Dataset, []string{id})
		case !isActive(v):
			err = failed("Cannot cancel a task that is not in RUNNING status")
		default:
			err = f.cancel(ctx, r, v.Dataset, id)
		}
		if err != nil {
			return nil, err
		}
	}
	return envelope.OK(engine.Bool(true)), nil
}
