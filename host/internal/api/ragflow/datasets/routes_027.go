package datasets

import (
	"context"
	"maps"
	"slices"
	"strings"

	"github.com/easel-canvas/easel/engine"
	"github.com/easel-canvas/easel/host/internal/api"
	"github.com/easel-canvas/easel/host/internal/app"
	"github.com/easel-canvas/easel/host/internal/knowledge/dataset"
)

// restHandlers answer what only one version asks.
type restHandlers struct{ *face }

// ownRoutes are those that version 0.27 adds. Its page and programs share them.
func (newer) ownRoutes(f *face) []api.Route {
	rest, files, pieces := restHandlers{f}, documentHandlers{f}, chunkHandlers{f}
	meta, searches := metadataHandlers{f}, searchHandlers{f}
	config := one + "/metadata/config"
	return []api.Route{
		get(one, rest.getDataset),
		route("PATCH", document, edit, api.BodySmall, files.updateDocument),
		route("PATCH", chunk, edit, api.BodyCanvas, pieces.updateChunk),
		route("PATCH", chunks, edit, api.BodySmall, pieces.switchChunks),
		get(chunk, rest.getChunk),
		route("POST", documents+"/parse", edit, api.BodySmall, files.parse),
		route("POST", documents+"/stop", edit, api.BodySmall, files.stop),
		route("POST", "/api/v1/documents/ingest", edit, api.BodySmall, rest.ingest),
		route("POST", documents+"/batch-update-status", edit, api.BodySmall, rest.batchStatus),
		get("/api/v1/documents/{document}", rest.downloadAny),
		get("/api/v1/documents/{document}/preview", rest.downloadAny),
		get("/api/v1/thumbnails", rest.thumbnails),
		route("PATCH", documents+"/metadatas", edit, api.BodyCanvas, meta.updateMetadata),
		get(config, meta.getMetadataConfig),
		route("PUT", config, edit, api.BodySmall, meta.setMetadataConfig),
		get(one+"/auto_metadata", meta.getMetadataConfig),
		route("PUT", one+"/auto_metadata", edit, api.BodySmall, meta.setMetadataConfig),
		route("PUT", document+"/metadata/config", edit, api.BodySmall, meta.setDocumentMetadataConfig),
		get(all+"/metadata/flattened", meta.flattenedMetadata("dataset_ids")),
		get(one+"/tags", rest.tags), get(all+"/tags/aggregation", rest.aggregateTags),
		route("POST", one+"/search", read, api.BodySmall, searches.searchDataset),
		route("POST", all+"/search", read, api.BodySmall, searches.searchDatasets),
		get(one+"/ingestions/summary", rest.ingestionSummary), get(one+"/ingestions", rest.ingestions),
		get(one+"/ingestions/{log}", rest.ingestion),
		route("POST", one+"/embedding/check", edit, api.BodySmall, f.checkEmbedding),
		route("POST", one+"/index", edit, api.BodySmall, rest.runIndex), get(one+"/index", rest.traceIndex),
		get(one+"/graph", rest.graph), bodiless("DELETE", one+"/{index}", rest.deleteIndex),
		get(difyPath, searches.difyRetrieve), get(difyPath+"/health", difyHealth),
	}
}

func (f restHandlers) getDataset(ctx context.Context, r *api.Request) (api.Response, error) {
	v, err := f.pathDataset(ctx, r)
	if err != nil {
		return nil, err
	}
	return api.Result(f.datasetRow(v)), nil
}

// pathDataset finds the dataset of the path.
func (f *face) pathDataset(ctx context.Context, r *api.Request) (dataset.Dataset, error) {
	id := r.Params["dataset"]
	return f.dataset(ctx, r, id, f.lacks(r.Who.Tenant, "dataset '"+id+"'"))
}

func (f restHandlers) getChunk(ctx context.Context, r *api.Request) (api.Response, error) {
	doc, err := f.owner(ctx, r)
	if err != nil {
		return nil, err
	}
	id := r.Params["chunk"]
	list, _, err := f.data.Chunks(ctx, r.Who, doc.Dataset, doc.ID, app.ChunkList{ID: id, Page: 1, Size: 1})
	if err != nil {
		return nil, err
	}
	if len(list) == 0 {
		return nil, f.noChunk(doc.Dataset + "/" + id)
	}
	return api.Result(f.chunkRow(list[0])), nil
}

// ingest starts or stops to parse documents of any datasets.
func (f restHandlers) ingest(ctx context.Context, r *api.Request) (api.Response, error) {
	if err := loose(r); err != nil {
		return nil, err
	}
	return f.runDocuments(ctx, r)
}

// runDocuments starts or stops to parse the documents of a body: run is 1 or 2.
func (f restHandlers) runDocuments(ctx context.Context, r *api.Request) (api.Response, error) {
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
	return api.OK(engine.Bool(true)), nil
}

// noAuthorization refuses what belongs to others, as the interface of the page does.
func noAuthorization() error { return api.Refused(api.CodeAuth, "No authorization.") }

// anyDocument finds a document whose dataset the request does not name.
func (f *face) anyDocument(ctx context.Context, r *api.Request, id string) (dataset.Document, error) {
	v, err := f.data.Find(ctx, r.Who, id)
	return v, orNone(err, noAuthorization())
}

func (f restHandlers) batchStatus(ctx context.Context, r *api.Request) (api.Response, error) {
	if _, err := f.pathDataset(ctx, r); err != nil {
		return nil, err
	}
	if err := loose(r); err != nil {
		return nil, err
	}
	return f.setStatus(ctx, r)
}

// setStatus shows the documents of a body to searches, or hides them.
func (f *face) setStatus(ctx context.Context, r *api.Request) (api.Response, error) {
	if err := r.Body.Require("doc_ids", "status"); err != nil {
		return nil, err
	}
	ids, status := r.Body.Texts("doc_ids"), r.Body.Text("status")
	if err := r.Body.Valid(); err != nil {
		return nil, err
	}
	if status != "0" && status != "1" {
		return nil, api.Refused(api.CodeArgument, "\"Status\" must be either 0 or 1!")
	}
	enabled := status == "1"
	b := engine.NewObject(len(ids))
	for _, id := range ids {
		v, err := f.data.Find(ctx, r.Who, id)
		if err == nil {
			_, err = f.data.UpdateDocument(ctx, r.Who, v.Dataset, id, app.DocumentPatch{Enabled: &enabled})
		}
		if err = orNone(err, noAuthorization()); err != nil {
			b.Set(id, engine.Object("error", messageOf(err)))
			continue
		}
		b.Set(id, engine.Object("status", status))
	}
	return api.OK(b.Value()), nil
}

// downloadAny sends a document whose dataset the path does not name.
func (f restHandlers) downloadAny(ctx context.Context, r *api.Request) (api.Response, error) {
	id := r.Params["document"]
	v, err := f.data.Find(ctx, r.Who, id)
	if err != nil {
		return nil, orNone(err, failed("The dataset not own the document %s.", id))
	}
	return f.send(ctx, r, v.Dataset, id)
}

// thumbnails answers the small pictures of documents.
func (f restHandlers) thumbnails(ctx context.Context, r *api.Request) (api.Response, error) {
	ids := r.Query.Names("doc_ids")
	if len(ids) == 0 {
		return nil, api.Refused(api.CodeArgument, `Lack of "Document ID"`)
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
	return api.OK(b.Value()), nil
}

// tags answers the tags of the chunks of a dataset: there are none without tag datasets.
func (f restHandlers) tags(ctx context.Context, r *api.Request) (api.Response, error) {
	if _, err := f.pathDataset(ctx, r); err != nil {
		return nil, err
	}
	return api.OK(none), nil
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
	return api.OK(none), nil
}

// ingestionSummary counts what a dataset holds, and its documents by state.
func (f restHandlers) ingestionSummary(ctx context.Context, r *api.Request) (api.Response, error) {
	v, err := f.pathDataset(ctx, r)
	if err != nil {
		return nil, err
	}
	counts, err := f.countStates(ctx, r, v.ID)
	return jsonOK(engine.Object("doc_num", v.Documents, "chunk_num", v.Chunks, "token_num", v.Tokens,
		"status", counts), err)
}

// countStates counts the documents of a dataset by state.
func (f *face) countStates(ctx context.Context, r *api.Request, id string) (engine.Value, error) {
	counts := map[string]int{}
	for _, one := range states {
		q := app.DocumentList{States: []dataset.State{one.state}, Page: 1, Size: 1}
		_, n, err := f.data.Documents(ctx, r.Who, id, q)
		if err != nil {
			return engine.Null, err
		}
		counts[one.name] += n
	}
	b := engine.NewObject(len(counts))
	for _, name := range slices.Sorted(maps.Keys(counts)) {
		b.Set(strings.ToLower(name), engine.Int(int64(counts[name])))
	}
	return b.Value(), nil
}

// ingestions lists the last parse of each document as a log.
func (f restHandlers) ingestions(ctx context.Context, r *api.Request) (api.Response, error) {
	v, err := f.pathDataset(ctx, r)
	if err != nil {
		return nil, err
	}
	return f.parseLogs(ctx, r, v.ID, r.Query.Get("log_type") == "dataset")
}

// parseLogs answers the last parses of documents. Tasks over a whole dataset are none: this host
// has no knowledge graphs.
func (f *face) parseLogs(ctx context.Context, r *api.Request, id string, whole bool) (api.Response, error) {
	from, to := r.Query.Get("create_date_from"), r.Query.Get("create_date_to")
	if whole || from != "" && to != "" && from > to {
		return api.OK(engine.Object("total", 0, "logs", none)), nil
	}
	q := app.DocumentList{
		Words: r.Query.Get("keywords"),
		States: []dataset.State{
			dataset.Queued, dataset.Running, dataset.Done, dataset.Failed, dataset.Canceled,
		},
	}
	var err error
	if q.Page, q.Size, err = f.page(r.Query); err != nil {
		return nil, err
	}
	list, total, err := f.documentsOf(ctx, r, id, q)
	if err != nil {
		return nil, err
	}
	rows := make([]engine.Value, len(list))
	for i, v := range list {
		rows[i] = parseLog(v)
	}
	return api.OK(engine.Object("total", total, "logs", engine.List(rows...))), nil
}

// parseLog is the last parse of a document. Its id is that of the document.
func parseLog(v dataset.Document) engine.Value {
	_, digit := stateName(v.State)
	b := engine.NewObject(20)
	b.Set("id", engine.String(v.ID)).Set("document_id", engine.String(v.ID))
	b.Set("document_name", engine.String(v.Name)).Set("document_suffix", engine.String(suffix(v.Name)))
	b.Set("document_type", engine.String(v.Kind)).Set("kb_id", engine.String(v.Dataset))
	b.Set("parser_id", engine.String(v.Method)).Set("pipeline_id", api.OrNull(v.Pipeline))
	b.Set("pipeline_title", engine.String(v.Method)).Set("task_type", engine.String("Parse"))
	b.Set("source_from", engine.String(v.Source)).Set("operation_status", engine.String(digit))
	b.Set("progress", engine.Float(v.Progress)).Set("progress_msg", engine.String(v.Messages))
	b.Set("process_duration", engine.Float(float64(v.Duration)/1000)).Set("dsl", engine.Object())
	began := engine.Null
	if v.Began > 0 {
		began = api.HTTPDate(v.Began)
	}
	b.Set("process_begin_at", began).Set("status", engine.String("1"))
	api.SetTimes(b, max(v.Began, v.Created), v.Updated)
	return b.Value()
}

func (f restHandlers) ingestion(ctx context.Context, r *api.Request) (api.Response, error) {
	if _, err := f.pathDataset(ctx, r); err != nil {
		return nil, err
	}
	v, err := f.document(ctx, r, r.Params["dataset"], r.Params["log"], failed("Pipeline log not found!"))
	if err != nil {
		return nil, err
	}
	return api.OK(parseLog(v)), nil
}

// checkEmbedding reports whether another embedding model may be chosen: chunks are embedded again,
// so any may.
func (f *face) checkEmbedding(ctx context.Context, r *api.Request) (api.Response, error) {
	v, err := f.pathDataset(ctx, r)
	if err != nil {
		return nil, err
	}
	summary := engine.Object("kb_id", v.ID, "sampled", 0, "avg_cos_sim", 1)
	return api.OK(engine.Object("summary", summary, "results", none)), nil
}

// indexKinds are what the original makes of a whole dataset.
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
		return "", api.Failed(api.CodeArgument, "Invalid index type '%.40s'. Must be one of %v", kind, indexKinds)
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

// graph answers the knowledge graph of a dataset: there is none.
func (f restHandlers) graph(ctx context.Context, r *api.Request) (api.Response, error) {
	_, err := f.pathDataset(ctx, r)
	return ok(engine.Object("graph", engine.Object(), "mind_map", engine.Object()), err)
}

func difyHealth(context.Context, *api.Request) (api.Response, error) {
	return api.OK(engine.Object("status", "ok")), nil
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
