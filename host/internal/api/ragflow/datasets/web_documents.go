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

// webDocuments answer the page about documents.
type webDocuments struct {
	*face
	documents documentHandlers
	metadata  metadataHandlers
}

// Documents in the form of version 0.23's page.

func webDocumentRoutes(f *face) []api.Route {
	w := webDocuments{f, documentHandlers{f}, metadataHandlers{f}}
	post := func(name, scope string, h api.Handler) api.Route {
		return route("POST", "/v1/document/"+name, scope, api.BodySmall, h)
	}
	return []api.Route{
		{Method: "POST", Path: "/v1/document/upload", Scope: edit, Body: api.BodyUpload, Handler: w.upload},
		{Method: "POST", Path: "/v1/document/web_crawl", Scope: edit, Body: api.BodyUpload, Handler: w.crawl},
		post("create", edit, w.create), post("list", read, w.list),
		post("filter", read, w.count), post("infos", read, w.byIDs),
		get("/v1/document/thumbnails", w.documents.thumbnails), post("change_status", edit, w.setStatus),
		post(
			"rm", edit, w.remove,
		), post("run", edit, w.documents.ingest), post("rename", edit, w.rename),
		get("/v1/document/get/{document}", w.documents.downloadAny), post("change_parser", edit, w.changeMethod),
		get("/v1/document/image/{document}", noImage), post("set_meta", edit, w.setMeta),
		post("metadata/summary", read, w.summarize), post("metadata/update", edit, w.updateMetadata),
	}
}

// rawDocumentNames are the member names of the original's table.
var rawDocumentNames = map[string]string{
	"dataset": "kb_id", "chunks": "chunk_num", "tokens": "token_num", "method": "parser_id",
}

// rawDocument is a document with the member names of the original's table.
func rawDocument(v dataset.Document) engine.Value {
	_, digit := stateName(v.State)
	return documentRowOf(v, rawDocumentNames, digit)
}

// upload stores the files of a form, in which a field kb_id comes before them.
func (f webDocuments) upload(ctx context.Context, r *api.Request) (api.Response, error) {
	id := r.Query.Get("kb_id")
	if id != "" {
		if _, err := f.dataset(ctx, r, id, failed("Can't find this dataset!")); err != nil {
			return nil, err
		}
	}
	u := &uploads{face: f.face, r: r, id: id}
	if err := u.readForm(ctx); err != nil {
		return nil, err
	}
	rows := make([]engine.Value, len(u.stored))
	for i, v := range u.stored {
		rows[i] = rawDocument(v)
	}
	if len(u.refused) > 0 {
		return nil, &api.Failure{
			Kind: api.KindFailed, Message: strings.Join(u.refused, "\n"), Data: engine.List(rows...), HasData: true,
		}
	}
	return envelope.OK(engine.List(rows...)), nil
}

// bodyDataset reads the body and finds the dataset that it names.
func (f webDocuments) bodyDataset(ctx context.Context, r *api.Request, more ...string) (string, error) {
	if err := f.loose(r); err != nil {
		return "", err
	}
	if err := r.Body.Require(append([]string{"kb_id"}, more...)...); err != nil {
		return "", err
	}
	v, err := f.dataset(ctx, r, r.Body.Text("kb_id"), failed("Can't find this dataset!"))
	return v.ID, err
}

// bodyDocument reads the body and finds the document that it names.
func (f *face) bodyDocument(ctx context.Context, r *api.Request, more ...string) (dataset.Document, error) {
	if err := f.loose(r); err != nil {
		return dataset.Document{}, err
	}
	if err := r.Body.Require(append([]string{"doc_id"}, more...)...); err != nil {
		return dataset.Document{}, err
	}
	return f.anyDocument(ctx, r, r.Body.Text("doc_id"))
}

func (f webDocuments) create(ctx context.Context, r *api.Request) (api.Response, error) {
	id, err := f.bodyDataset(ctx, r, "name")
	if err != nil {
		return nil, err
	}
	name := strings.TrimSpace(r.Body.Text("name"))
	switch {
	case name == "":
		return nil, api.Failed(api.KindBadArgument, "File name can't be empty.")
	case len(name) > longestFileName:
		return nil, nameTooLong()
	}
	v, err := f.documents.uploadEmpty(ctx, r, id, name)
	return jsonOK(rawDocument(v), err)
}

// filter reads the page's filter of documents: the dataset from the query, the rest from the body.
func (f webDocuments) filter(ctx context.Context, r *api.Request, id string) (string, app.DocumentList, error) {
	q := app.DocumentList{OrderBy: "create_time", Ascending: !r.Query.Asked("desc", true)}
	q.Words = r.Query.Get("keywords")
	if q.Words == "" {
		q.Words = r.Body.Text("keywords")
	}
	if order := r.Query.Get("orderby"); order == "update_time" || order == "name" {
		q.OrderBy = order
	}
	if id == "" {
		return id, q, api.Refused(api.KindBadArgument, `Lack of "KB ID"`)
	}
	if _, err := f.dataset(ctx, r, id, notDatasetOwner()); err != nil {
		return id, q, err
	}
	q.Suffixes = r.Body.Texts("suffix")
	states, err := f.documents.statesOf(r.Body.Texts("run_status"))
	if err != nil {
		return id, q, err
	}
	q.States = states
	return id, q, r.Body.Valid()
}

func (f webDocuments) list(ctx context.Context, r *api.Request) (api.Response, error) {
	if err := f.loose(r); err != nil {
		return nil, err
	}
	id, q, err := f.filter(ctx, r, r.Query.Get("kb_id"))
	if err != nil {
		return nil, err
	}
	if q.Page, q.Size, err = f.page(r.Query); err != nil {
		return nil, err
	}
	if q.Size == 0 {
		q.Size = -1 // the page means everything
	}
	list, total, err := f.documents.documentsOf(ctx, r, id, q)
	if err != nil {
		return nil, err
	}
	rows := make([]engine.Value, len(list))
	for i, v := range list {
		rows[i] = rawDocument(v)
	}
	return envelope.OK(engine.Object("total", total, "docs", engine.List(rows...))), nil
}

// count counts documents by suffix and by state, for lists of filters.
func (f webDocuments) count(ctx context.Context, r *api.Request) (api.Response, error) {
	if err := f.loose(r); err != nil {
		return nil, err
	}
	id, q, err := f.filter(ctx, r, r.Body.Text("kb_id"))
	if err != nil {
		return nil, err
	}
	return f.countDocuments(ctx, r, id, q)
}

// counted is an object of counts.
func counted(counts map[string]int) engine.Value {
	b := engine.NewObject(len(counts))
	for _, pair := range valueCounts(counts).Elements() {
		b.Set(pair.At(0).Str(), pair.At(1))
	}
	return b.Value()
}

func (f webDocuments) byIDs(ctx context.Context, r *api.Request) (api.Response, error) {
	if err := f.loose(r); err != nil {
		return nil, err
	}
	ids := r.Body.Texts("doc_ids")
	if err := r.Body.Valid(); err != nil {
		return nil, err
	}
	rows := make([]engine.Value, len(ids))
	for i, id := range ids {
		v, err := f.anyDocument(ctx, r, id)
		if err != nil {
			return nil, err
		}
		rows[i] = rawDocument(v)
	}
	return envelope.OK(engine.List(rows...)), nil
}

func (f webDocuments) setStatus(ctx context.Context, r *api.Request) (api.Response, error) {
	if err := f.loose(r); err != nil {
		return nil, err
	}
	return f.documents.setStatus(ctx, r)
}

func (f webDocuments) remove(ctx context.Context, r *api.Request) (api.Response, error) {
	if err := f.loose(r); err != nil {
		return nil, err
	}
	if err := r.Body.Require("doc_id"); err != nil {
		return nil, err
	}
	ids := []string{r.Body.Get("doc_id").Text()}
	if v := r.Body.Get("doc_id"); v.Kind() == engine.KindList {
		ids = textsOf(v)
	}
	var found []dataset.Document
	for _, id := range ids {
		v, err := f.anyDocument(ctx, r, id)
		if err != nil {
			return nil, err
		}
		found = append(found, v)
	}
	for _, v := range found {
		if _, err := f.data.DeleteDocuments(ctx, r.Who, v.Dataset, v.ID); err != nil {
			return nil, err
		}
	}
	return envelope.OK(engine.Bool(true)), nil
}

func (f webDocuments) rename(ctx context.Context, r *api.Request) (api.Response, error) {
	old, err := f.bodyDocument(ctx, r, "name")
	if err != nil {
		return nil, err
	}
	name, err := f.documents.newName(old, r.Body.Get("name"))
	if err != nil {
		return nil, err
	}
	_, err = f.documents.change(ctx, r, old, app.DocumentPatch{Name: name})
	return jsonOK(engine.Bool(true), err)
}

// changeMethod sets how a document is cut.
func (f webDocuments) changeMethod(ctx context.Context, r *api.Request) (api.Response, error) {
	old, err := f.bodyDocument(ctx, r)
	if err != nil {
		return nil, err
	}
	body := engine.NewObject(2)
	if v, ok := r.Body.Lookup("parser_id"); ok && v.Truthy() {
		body.Set("chunk_method", v)
	}
	if v, ok := r.Body.Lookup("parser_config"); ok {
		body.Set("parser_config", v)
	}
	patch, err := f.documents.patch(ctx, r, old, body.Value())
	if err != nil {
		return nil, err
	}
	if v, ok := r.Body.Lookup("pipeline_id"); ok {
		text := v.Str()
		patch.Pipeline = &text
	}
	_, err = f.documents.change(ctx, r, old, patch)
	return jsonOK(engine.Bool(true), err)
}

// noImage answers for pictures of chunks: this host makes none.
func noImage(context.Context, *api.Request) (api.Response, error) {
	return nil, failed("Image not found.")
}

// setMeta replaces the metadata of a document, which the page sends as JSON text.
func (f webDocuments) setMeta(ctx context.Context, r *api.Request) (api.Response, error) {
	old, err := f.bodyDocument(ctx, r, "meta")
	if err != nil {
		return nil, err
	}
	v := r.Body.Get("meta")
	if v.Kind() == engine.KindString {
		if v, err = r.Parse(v.Str()); err != nil {
			return nil, api.Refused(api.KindBadArgument, "Json syntax error: %s", err)
		}
	}
	meta, err := metaPatch(v)
	if err != nil {
		return nil, api.Refused(api.KindBadArgument, "Only dictionary type supported.")
	}
	_, err = f.data.UpdateDocument(ctx, r.Who, old.Dataset, old.ID, app.DocumentPatch{Meta: meta})
	return jsonOK(engine.Bool(true), err)
}

func (f webDocuments) summarize(ctx context.Context, r *api.Request) (api.Response, error) {
	id, err := f.bodyDataset(ctx, r)
	if err != nil {
		return nil, err
	}
	docs := r.Body.Texts("doc_ids")
	if err := r.Body.Valid(); err != nil {
		return nil, err
	}
	values, err := f.data.Metadata(ctx, r.Who, id, docs...)
	b := engine.NewObject(len(values))
	for key, counts := range values {
		b.Set(key, typedCounts(counts))
	}
	return jsonOK(engine.Object("summary", b.Value()), err)
}

// updateMetadata changes metadata of the documents that the page has selected.
func (f webDocuments) updateMetadata(ctx context.Context, r *api.Request) (api.Response, error) {
	id, err := f.bodyDataset(ctx, r)
	if err != nil {
		return nil, err
	}
	body := r.Body.Value
	if ids := body.Get("doc_ids"); !ids.IsNull() {
		body = body.With("selector", engine.Object("document_ids", ids))
	}
	u, err := f.metadata.readUpdate(ctx, r, id, body)
	if err != nil {
		return nil, err
	}
	return jsonOK(f.metadata.write(ctx, r, id, u))
}
