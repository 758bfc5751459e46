package datasets

import (
	"context"
	"slices"

	"github.com/easel-canvas/easel/engine"
	"github.com/easel-canvas/easel/host/internal/api"
	"github.com/easel-canvas/easel/host/internal/api/ragflow/envelope"
)

// restHandlers serve the routes that only version 0.27 has.
type restHandlers struct{ *face }

// ownRoutes returns the routes that version 0.27 adds. Its page and programs share them.
func (newer) ownRoutes(f *face) []api.Route {
	rest, sets, files, pieces := restHandlers{f}, datasetHandlers{f}, documentHandlers{f}, chunkHandlers{f}
	meta, searches, parses := metadataHandlers{f}, searchHandlers{f}, ingestionHandlers{f}
	config := one + "/metadata/config"
	return append(emptyIDRoutes(newerRefusals),
		get(one, sets.get),
		route("PATCH", document, edit, api.BodySmall, files.update),
		route("PATCH", chunk, edit, api.BodyCanvas, pieces.update),
		route("PATCH", chunks, edit, api.BodySmall, pieces.switchChunks),
		get(chunk, pieces.get),
		route("POST", documents+"/parse", edit, api.BodySmall, files.parseEach),
		route("POST", documents+"/stop", edit, api.BodySmall, files.stopEach),
		route("POST", "/api/v1/documents/ingest", edit, api.BodySmall, files.ingest),
		route("POST", documents+"/batch-update-status", edit, api.BodySmall, files.batchStatus),
		get("/api/v1/documents/{document}", files.downloadAny),
		get("/api/v1/documents/{document}/preview", files.downloadAny),
		get("/api/v1/documents/images/{image}", noImage),
		get("/api/v1/thumbnails", files.thumbnails),
		route("PATCH", documents+"/metadatas", edit, api.BodyCanvas, meta.patch),
		get(config, meta.getConfig),
		route("PUT", config, edit, api.BodySmall, meta.setConfig),
		get(one+"/auto_metadata", meta.getConfig),
		route("PUT", one+"/auto_metadata", edit, api.BodySmall, meta.setConfig),
		route("PUT", document+"/metadata/config", edit, api.BodySmall, meta.setDocumentConfig),
		get(all+"/metadata/flattened", meta.flattened("dataset_ids")),
		get(one+"/tags", rest.tags), get(all+"/tags/aggregation", rest.aggregateTags),
		route("POST", one+"/search", read, api.BodySmall, searches.searchOne),
		route("POST", all+"/search", read, api.BodySmall, searches.searchSeveral),
		get(one+"/ingestions/summary", parses.summarize), get(one+"/ingestions", parses.list),
		get(one+"/ingestions/{log}", parses.get),
		route("POST", one+"/embedding/check", edit, api.BodySmall, parses.checkEmbedding),
		route("POST", one+"/index", edit, api.BodySmall, rest.runIndex), get(one+"/index", rest.traceIndex),
		get(one+"/graph", rest.graph), bodiless("DELETE", one+"/{index}", rest.deleteIndex),
		get(difyPath, searches.difyRetrieve), get(difyPath+"/health", difyHealth),
		bodiless("POST", all+"//documents/parse", refuse(notAllowed)),
		bodiless("POST", all+"//documents/stop", refuse(notAllowed)),
	)
}

// tags answers the tags of the chunks of a dataset: always empty, without tag datasets.
func (f restHandlers) tags(ctx context.Context, r *api.Request) (api.Response, error) {
	if _, err := f.pathDataset(ctx, r); err != nil {
		return nil, err
	}
	return envelope.OK(none), nil
}

func (f restHandlers) aggregateTags(ctx context.Context, r *api.Request) (api.Response, error) {
	ids := r.Query.Names("dataset_ids")
	if len(ids) == 0 {
		return nil, failed("`dataset_ids` is required.")
	}
	for _, id := range ids {
		if _, err := f.dataset(ctx, r, id, f.lacks(r.Who.Tenant, "dataset '"+id+"'")); err != nil {
			return nil, err
		}
	}
	return envelope.OK(none), nil
}

// indexKinds are the indexes that the original builds of a whole dataset.
var indexKinds = []string{"graph", "raptor", "mindmap"}

// noIndex refuses what this host does not make.
func noIndex(kind string) error {
	return failed("This host does not build %s indexes; datasets are searched by words and by vectors.", kind)
}

// indexKind reads which index a request is about.
func (f restHandlers) indexKind(ctx context.Context, r *api.Request, kind string) (string, error) {
	if _, err := f.pathDataset(ctx, r); err != nil {
		return "", err
	}
	if !slices.Contains(indexKinds, kind) {
		return "", api.Failed(api.KindBadArgument, "Invalid index type '%.40s'. Must be one of %v", kind, indexKinds)
	}
	return kind, nil
}

func (f restHandlers) runIndex(ctx context.Context, r *api.Request) (api.Response, error) {
	kind, err := f.indexKind(ctx, r, r.Query.Get("type"))
	if err == nil {
		err = noIndex(kind)
	}
	return nil, err
}

func (f restHandlers) traceIndex(ctx context.Context, r *api.Request) (api.Response, error) {
	_, err := f.indexKind(ctx, r, r.Query.Get("type"))
	return ok(engine.Object(), err)
}

func (f restHandlers) deleteIndex(ctx context.Context, r *api.Request) (api.Response, error) {
	_, err := f.indexKind(ctx, r, r.Params["index"])
	return jsonOK(engine.Bool(true), err)
}

// graph answers the knowledge graph of a dataset: always empty, since this host builds none.
func (f restHandlers) graph(ctx context.Context, r *api.Request) (api.Response, error) {
	_, err := f.pathDataset(ctx, r)
	return ok(engine.Object("graph", engine.Object(), "mind_map", engine.Object()), err)
}

func difyHealth(context.Context, *api.Request) (api.Response, error) {
	return envelope.OK(engine.Object("status", "ok")), nil
}

// pagedQuery reads page and size, which the page calls size, from a body.
func pagedQuery(body engine.Value) (page, size int, err error) {
	if page, err = wholeOf(body, "page", 1); err != nil {
		return 0, 0, err
	}
	if !has(body, "size") {
		size, err = wholeOf(body, "page_size", defaultPageSize)
	} else {
		size, err = wholeOf(body, "size", defaultPageSize)
	}
	return max(page, 1), max(size, 1), err
}
