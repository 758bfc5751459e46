package datasets

import (
	"context"
	"strings"

	"github.com/easel-canvas/easel/engine"
	"github.com/easel-canvas/easel/host/internal/api"
	"github.com/easel-canvas/easel/host/internal/api/ragflow/envelope"
	"github.com/easel-canvas/easel/host/internal/app"
	"github.com/easel-canvas/easel/host/internal/record/dataset"
)

// webChunks answer the page about chunks.
type webChunks struct {
	*face
	chunks chunkHandlers
}

// Chunks in the form of version 0.23's page.

func webChunkRoutes(f *face) []api.Route {
	w, searches := webChunks{f, chunkHandlers{f}}, searchHandlers{f}
	post := func(name, scope string, h api.Handler) api.Route {
		return route("POST", "/v1/chunk/"+name, scope, api.BodyCanvas, h)
	}
	return []api.Route{
		post("list", read, w.list), get("/v1/chunk/get", w.get), post("set", edit, w.set),
		post("switch", edit, w.switchAll), post("rm", edit, w.remove),
		post("create", edit, w.create), post("retrieval_test", read, searches.retrievalTest),
	}
}

// rawChunk is a chunk with the member names of the original's index.
func rawChunk(v dataset.Chunk) engine.Value {
	on := 1
	if v.Disabled {
		on = 0
	}
	return engine.Object("chunk_id", v.ID, "content_with_weight", v.Content, "doc_id", v.Document,
		"docnm_kwd", v.Name, "kb_id", v.Dataset, "important_kwd", engine.Strings(v.Keywords...),
		"question_kwd", engine.Strings(v.Questions...), "tag_kwd", engine.Strings(v.Tags...), "image_id", v.Image,
		"available_int", on, "positions", positionsOf(v), "doc_type_kwd", typeOf(v))
}

func (f webChunks) list(ctx context.Context, r *api.Request) (api.Response, error) {
	doc, err := f.bodyDocument(ctx, r)
	if err != nil {
		return nil, err
	}
	q := app.ChunkList{Search: r.Body.Text("keywords")}
	if q.Page, q.Size, err = pagedQuery(r.Body.Value); err != nil {
		return nil, err
	}
	if on, ok := r.Body.Lookup("available_int"); ok && !on.IsNull() {
		enabled := isOn(on)
		q.Enabled = &enabled
	}
	if err := r.Body.Valid(); err != nil {
		return nil, err
	}
	list, total, err := f.data.Chunks(ctx, r.Who, doc.Dataset, doc.ID, q)
	rows := make([]engine.Value, len(list))
	for i, v := range list {
		rows[i] = rawChunk(v)
	}
	return jsonOK(engine.Object("total", total, "chunks", engine.List(rows...), "doc", rawDocument(doc)), err)
}

// get finds a chunk by its id, and by its document when the query names it.
func (f webChunks) get(ctx context.Context, r *api.Request) (api.Response, error) {
	doc, id := r.Query.Get("doc_id"), r.Query.Get("chunk_id")
	if id == "" {
		return nil, api.Lacking([]string{"chunk_id"})
	}
	if doc == "" {
		return nil, api.Lacking([]string{"doc_id"})
	}
	owner, err := f.anyDocument(ctx, r, doc)
	if err != nil {
		return nil, err
	}
	list, _, err := f.data.Chunks(ctx, r.Who, owner.Dataset, owner.ID, app.ChunkList{ID: id, Page: 1, Size: 1})
	if err != nil {
		return nil, err
	}
	if len(list) == 0 {
		return nil, failed("Chunk not found!")
	}
	return envelope.OK(rawChunk(list[0])), nil
}

// webChunk is a chunk of the page with the member names of programs.
func webChunk(body engine.Value) engine.Value {
	for name, known := range map[string]string{
		"content_with_weight": "content", "important_kwd": "important_keywords", "question_kwd": "questions",
		"available_int": "available",
	} {
		if v, ok := body.Lookup(name); ok {
			body = body.With(known, v)
		}
	}
	return body
}

func (f webChunks) set(ctx context.Context, r *api.Request) (api.Response, error) {
	doc, err := f.bodyDocument(ctx, r, "chunk_id", "content_with_weight")
	if err != nil {
		return nil, err
	}
	patch, err := f.chunks.patch(doc, webChunk(r.Body.Value))
	if err != nil {
		return nil, err
	}
	id := r.Body.Text("chunk_id")
	err = f.data.UpdateChunk(ctx, r.Who, doc.Dataset, doc.ID, id, patch)
	return jsonOK(engine.Bool(true), orNone(err, failed("Chunk not found!")))
}

func (f webChunks) switchAll(ctx context.Context, r *api.Request) (api.Response, error) {
	doc, err := f.bodyDocument(ctx, r, "chunk_ids", "available_int")
	if err != nil {
		return nil, err
	}
	ids, on := r.Body.Texts("chunk_ids"), isOn(r.Body.Get("available_int"))
	if err := r.Body.Valid(); err != nil {
		return nil, err
	}
	return jsonOK(engine.Bool(true), f.chunks.enable(ctx, r, doc.Dataset, doc.ID, ids, on))
}

// remove deletes the named chunks. The original deletes all of a document when some of the
// names are not known; here those stay.
func (f webChunks) remove(ctx context.Context, r *api.Request) (api.Response, error) {
	doc, err := f.bodyDocument(ctx, r, "chunk_ids")
	if err != nil {
		return nil, err
	}
	ids := r.Body.Texts("chunk_ids")
	if err := r.Body.Valid(); err != nil {
		return nil, err
	}
	n, err := f.data.DeleteChunks(ctx, r.Who, doc.Dataset, doc.ID, ids...)
	if err == nil && n == 0 {
		err = failed("Chunk deleting failure")
	}
	return jsonOK(engine.Bool(true), err)
}

func (f webChunks) create(ctx context.Context, r *api.Request) (api.Response, error) {
	doc, err := f.bodyDocument(ctx, r, "content_with_weight")
	if err != nil {
		return nil, err
	}
	body := webChunk(r.Body.Value)
	content, err := f.chunks.newContent(body)
	if err != nil {
		return nil, err
	}
	c := dataset.Chunk{Content: strings.TrimSpace(content)}
	if err := f.chunks.readLists(body, &c); err != nil {
		return nil, err
	}
	v, err := app.CountedChunks{Datasets: f.data}.Add(ctx, r.Who, doc.Dataset, doc.ID, c)
	return jsonOK(engine.Object("chunk_id", v.ID), err)
}
