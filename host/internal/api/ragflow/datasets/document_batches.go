package datasets

import (
	"context"
	"errors"
	"slices"

	"github.com/easel-canvas/easel/engine"
	"github.com/easel-canvas/easel/host/internal/api"
	"github.com/easel-canvas/easel/host/internal/api/ragflow/envelope"
	"github.com/easel-canvas/easel/host/internal/app"
)

// Requests of version 0.27 about several documents, which report what became of each.

// batch reads the documents of a request.
func (f documentHandlers) batch(ctx context.Context, r *api.Request) (string, named, error) {
	id := r.Params["dataset"]
	if _, err := f.dataset(ctx, r, id, notOwned(id)); err != nil {
		return id, named{}, err
	}
	if err := f.loose(r); err != nil {
		return id, named{}, err
	}
	if v := r.Body.Get("document_ids"); v.Kind() != engine.KindList || v.Len() == 0 {
		return id, named{}, failed("`document_ids` is required")
	}
	ids := r.Body.Texts("document_ids")
	if err := r.Body.Valid(); err != nil {
		return id, named{}, err
	}
	n, err := f.namedDocuments(ctx, r, id, ids)
	return id, n, err
}

// counts answers how many documents a request changed, and what was wrong with the others.
func counts(n int, problems []string) api.Response {
	v := engine.Object("success_count", n)
	if len(problems) > 0 {
		v = v.With("errors", engine.Strings(problems...))
	}
	return envelope.Result(v)
}

// parseEach queues documents. Those that wait or are being parsed already are left to that. Unknown
// ones are refused after the others were queued.
func (f documentHandlers) parseEach(ctx context.Context, r *api.Request) (api.Response, error) {
	id, n, err := f.batch(ctx, r)
	if err != nil {
		return nil, err
	}
	for _, doc := range n.known {
		if err := f.start(ctx, r, id, []string{doc}); err != nil && !errors.Is(err, errParsing) {
			return nil, err
		}
	}
	if len(n.unknown) > 0 {
		return nil, notFound(n.unknown)
	}
	return counts(len(n.known), n.twice), nil
}

// stopEach cancels the parsing of documents. An unknown one refuses the request as a whole; those
// that are not being parsed are reported.
func (f documentHandlers) stopEach(ctx context.Context, r *api.Request) (api.Response, error) {
	id, n, err := f.batch(ctx, r)
	if err != nil {
		return nil, err
	}
	if len(n.unknown) > 0 {
		return nil, notFound(n.unknown)
	}
	stopped, problems := 0, n.twice
	for _, doc := range n.known {
		err := f.data.Stop(ctx, r.Who, id, doc)
		var changed *app.Error
		switch {
		case errors.As(err, &changed) && changed.Code == app.CodeChanged:
			problems = append(problems, f.refusals().notStoppable.Error())
		case err != nil:
			return nil, err
		default:
			stopped++
		}
	}
	return counts(stopped, problems), nil
}

// batchStatus shows documents of a dataset to searches, or hides them.
func (f documentHandlers) batchStatus(ctx context.Context, r *api.Request) (api.Response, error) {
	if err := f.loose(r); err != nil {
		return nil, err
	}
	list, status := r.Body.Get("doc_ids"), r.Body.Get("status").Text()
	ids := textsOf(list)
	if status == "" {
		status = "-1"
	}
	switch {
	case list.Kind() != engine.KindList || len(ids) == 0:
		return nil, api.Failed(api.KindBadArgument, `"doc_ids" must be a non-empty list.`)
	case slices.Contains(ids, ""):
		return nil, api.Failed(api.KindBadArgument, `"doc_ids" must contain non-empty document IDs.`)
	case status != "0" && status != "1":
		return nil, api.Failed(api.KindBadArgument, `"Status" must be either 0 or 1:%.40s!`, status)
	}
	id := r.Params["dataset"]
	if _, err := f.dataset(ctx, r, id, f.say("You don't own the dataset.")); err != nil {
		return nil, err
	}
	enabled, lost := status == "1", false
	b := engine.NewObject(len(ids))
	for _, doc := range ids {
		_, err := f.data.UpdateDocument(ctx, r.Who, id, doc, app.DocumentPatch{Enabled: &enabled})
		if err = orNone(err, failed("Document not found")); err != nil {
			lost = true
			b.Set(doc, engine.Object("error", messageOf(err)))
			continue
		}
		b.Set(doc, engine.Object("status", status))
	}
	if lost {
		return nil, &api.Failure{Kind: api.KindFailed, Message: "Partial failure", Data: b.Value(), HasData: true}
	}
	return envelope.OK(b.Value()), nil
}
