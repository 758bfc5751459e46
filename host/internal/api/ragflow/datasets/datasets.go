// Package datasets serves RAGFlow's API of datasets, their documents and their chunks, in the
// dialects of versions 0.23 and 0.27.
//
// Both dialects have the same handlers. Where they disagree on a request, the [Dialect] of its
// route decides: how requests are checked, which code and text refuses them, and which members rows
// have. Datasets of other tenants are answered like unknown ones.
package datasets

import (
	"context"
	"errors"
	"slices"
	"strings"

	"github.com/easel-canvas/easel/engine"
	"github.com/easel-canvas/easel/host/internal/api"
	"github.com/easel-canvas/easel/host/internal/api/ragflow/envelope"
	"github.com/easel-canvas/easel/host/internal/api/ragflow/schema"
	"github.com/easel-canvas/easel/host/internal/app"
	"github.com/easel-canvas/easel/host/internal/record/dataset"
)

// defaultPageSize is the page size of lists.
const defaultPageSize = 30

// Paths of the interface for programs.
const (
	all       = "/api/v1/datasets"
	one       = all + "/{dataset}"
	documents = one + "/documents"
	document  = documents + "/{document}"
	chunks    = document + "/chunks"
	chunk     = chunks + "/{chunk}"
)

// Scopes of routes.
const (
	read = app.ScopeRead
	edit = app.ScopeEdit
)

// Routes returns the routes of one dialect.
func Routes(s *app.Services, d Dialect) []api.Route {
	f := &face{s.Datasets, s, d}
	return slices.Concat(
		datasetRoutes(f), documentRoutes(f), chunkRoutes(f), retrievalRoutes(f), metadataRoutes(f), difyRoutes(f),
		d.ownRoutes(f),
	)
}

// face is shared by the handlers of one dialect.
type face struct {
	data     *app.Datasets
	services *app.Services
	Dialect
}

// route is a route whose handler reads JSON, or nothing, itself.
func route(method, path, scope string, body api.BodyClass, h api.Handler) api.Route {
	return api.Route{Method: method, Path: path, Scope: scope, Body: body, OwnBody: body != api.BodyNone, Handler: h}
}

// bodiless is a route that changes something and takes nothing from a body.
func bodiless(method, path string, h api.Handler) api.Route {
	return api.Route{Method: method, Path: path, Scope: edit, Body: api.BodyTiny, Handler: h}
}

func get(path string, h api.Handler) api.Route { return route("GET", path, read, api.BodyNone, h) }

// dataset finds a dataset of the principal, or refuses the request with a failure.
func (f *face) dataset(ctx context.Context, r *api.Request, id string, none error) (dataset.Dataset, error) {
	v, err := f.data.Get(ctx, r.Who, id)
	return v, orNone(err, none)
}

// pathDataset finds the dataset of the path.
func (f *face) pathDataset(ctx context.Context, r *api.Request) (dataset.Dataset, error) {
	id := r.Params["dataset"]
	return f.dataset(ctx, r, id, f.lacks(r.Who.Tenant, "dataset '"+id+"'"))
}

// document finds a document of a dataset, or refuses the request with a failure.
func (f *face) document(
	ctx context.Context, r *api.Request, id, document string, none error,
) (dataset.Document, error) {
	v, err := f.data.Document(ctx, r.Who, id, document)
	return v, orNone(err, none)
}

// anyDocument finds a document whose dataset the request does not name.
func (f *face) anyDocument(ctx context.Context, r *api.Request, id string) (dataset.Document, error) {
	v, err := f.data.Find(ctx, r.Who, id)
	return v, orNone(err, f.refusals().unauthorized)
}

// orNone replaces the error of something that does not exist.
func orNone(err, none error) error {
	if errors.Is(err, app.ErrNotFound) {
		return none
	}
	return err
}

// notOwned refuses a dataset as most requests do.
func notOwned(id string) error { return failed("You don't own the dataset %s.", id) }

// failed is a failure of data, which has no member data.
func failed(format string, args ...any) *api.Failure {
	return api.Failed(api.KindNotFound, format, args...)
}

// ok answers data in the envelope without a message.
func ok(v engine.Value, err error) (api.Response, error) {
	if err != nil {
		return nil, err
	}
	return envelope.Result(v), nil
}

// jsonOK answers data in the envelope with a message, as the interface of the page has it.
func jsonOK(v engine.Value, err error) (api.Response, error) {
	if err != nil {
		return nil, err
	}
	return envelope.OK(v), nil
}

// strict reads a JSON body that fits a description; more are members that the path adds.
func strict(r *api.Request, o *schema.Object, more ...any) (*schema.Input, error) {
	kind, _, _ := strings.Cut(r.HTTP.Header.Get("Content-Type"), ";")
	if !strings.EqualFold(strings.TrimSpace(kind), "application/json") {
		sent := r.HTTP.Header.Get("Content-Type")
		if sent == "" {
			sent = "None"
		}
		return nil, api.Failed(
			api.KindBadArgument, "Unsupported content type: Expected application/json, got %.80s", sent,
		)
	}
	v, err := api.ReadJSON(r)
	switch {
	case errors.Is(err, api.ErrNoBody), errors.Is(err, api.ErrBadJSON):
		return nil, api.Failed(
			api.KindBadArgument, "Malformed JSON syntax: Missing commas/brackets or invalid encoding",
		)
	case err != nil:
		return nil, err
	}
	if !v.Truthy() {
		v = engine.Object()
	}
	if v.Kind() != engine.KindObject {
		name := schema.TypeName(v)
		return nil, api.Failed(api.KindBadArgument, "Invalid request payload: expected object, got %s", name)
	}
	for i := 0; i+1 < len(more); i += 2 {
		v = v.With(more[i].(string), engine.Object("v", more[i+1]).Get("v"))
	}
	in, err := o.Body(v)
	if err != nil {
		return nil, api.Failed(api.KindBadArgument, "%s", err)
	}
	return in, nil
}

// loose reads a JSON object of any members into r.Body; no body is an empty one.
func (f *face) loose(r *api.Request) error {
	v, err := api.ReadJSON(r)
	switch {
	case errors.Is(err, api.ErrNoBody):
		return nil
	case errors.Is(err, api.ErrBadJSON):
		return api.Failed(api.KindBadRequest, "<BadRequest '400: Bad Request'> %s", err)
	case err == nil && v.Kind() != engine.KindObject && !v.IsNull():
		return f.refusals().body(v)
	}
	return err
}

// has reports whether an object has a member, null among them.
func has(v engine.Value, name string) bool {
	_, found := v.Lookup(name)
	return found
}
