package datasets

import (
	"context"
	"slices"
	"strings"

	"github.com/easel-canvas/easel/engine"
	"github.com/easel-canvas/easel/host/internal/api"
	"github.com/easel-canvas/easel/host/internal/api/ragflow/envelope"
	"github.com/easel-canvas/easel/host/internal/api/ragflow/schema"
	"github.com/easel-canvas/easel/host/internal/app"
	"github.com/easel-canvas/easel/host/internal/record/dataset"
)

// webDatasets answer the page about datasets.
type webDatasets struct {
	*face
	datasets   datasetHandlers
	ingestions ingestionHandlers
}

// Datasets in the form of version 0.23's page: raw member names, ids in bodies.

func webDatasetRoutes(f *face) []api.Route {
	w := webDatasets{f, datasetHandlers{f}, ingestionHandlers{f}}
	meta, rest := metadataHandlers{f}, restHandlers{f}
	post := func(name, scope string, h api.Handler) api.Route {
		return route("POST", "/v1/kb/"+name, scope, api.BodySmall, h)
	}
	return []api.Route{
		post("create", edit, w.create), post("update", edit, w.update), post("rm", edit, w.remove),
		post("list", read, w.list), get("/v1/kb/detail", w.detail), get("/v1/kb/basic_info", w.basicInfo),
		get("/v1/kb/get_meta", meta.flattened("kb_ids")),
		get("/v1/kb/{dataset}/tags", rest.tags), get("/v1/kb/tags", w.tags),
		post("list_pipeline_logs", read, w.logs(false)), post("list_pipeline_dataset_logs", read, w.logs(true)),
		get("/v1/kb/pipeline_log_detail", w.log), post("check_embedding", edit, w.checkEmbedding),
		get("/v1/kb/{dataset}/knowledge_graph", rest.graph),
	}
}

// rawDataset is a dataset with the member names of the original's table.
func rawDataset(v dataset.Dataset) engine.Value {
	return datasetRowOf(v, map[string]string{
		"chunks": "chunk_num", "documents": "doc_num", "method": "parser_id", "model": "embd_id",
	})
}

// notDatasetOwner refuses a dataset that the principal does not have.
func notDatasetOwner() error {
	return api.Refused(api.KindNotOwner, "Only owner of dataset authorized for this operation.")
}

// webNames are members of the page's requests with their names in those of programs.
var webNames = map[string]string{"parser_id": "chunk_method", "embd_id": "embedding_model"}

// webBody checks a request of the page like one of a program; what is not known is ignored.
func webBody(r *api.Request, o *schema.Object, more ...any) (*schema.Input, error) {
	b := engine.NewObject(r.Body.Len())
	for name, v := range r.Body.Fields() {
		if known, ok := webNames[name]; ok {
			name = known
		}
		b.Set(name, v)
	}
	body := b.Value()
	for i := 0; i+1 < len(more); i += 2 {
		body = body.With(more[i].(string), engine.String(more[i+1].(string)))
	}
	lenient := *o
	lenient.Loose = true
	in, err := lenient.Body(body)
	if err != nil {
		return nil, api.Refused(api.KindBadArgument, "%s", err)
	}
	return in, nil
}

func (f webDatasets) create(ctx context.Context, r *api.Request) (api.Response, error) {
	if err := f.loose(r); err != nil {
		return nil, err
	}
	if err := r.Body.Require("name"); err != nil {
		return nil, err
	}
	in, err := webBody(r, f.requests().create)
	if err != nil {
		return nil, err
	}
	v, err := f.datasets.store(ctx, r, in)
	return jsonOK(engine.Object("kb_id", v.ID), err)
}

func (f webDatasets) update(ctx context.Context, r *api.Request) (api.Response, error) {
	if err := f.loose(r); err != nil {
		return nil, err
	}
	if err := r.Body.Require("kb_id", "name"); err != nil {
		return nil, err
	}
	id := r.Body.Text("kb_id")
	old, err := f.dataset(ctx, r, id, f.refusals().unauthorized)
	if err != nil {
		return nil, err
	}
	in, err := webBody(r, f.requests().update, "dataset_id", id)
	if err != nil {
		return nil, err
	}
	patch, err := f.datasets.patch(ctx, r, old, in)
	if err != nil {
		return nil, err
	}
	v, err := f.datasets.change(ctx, r, old, patch)
	return jsonOK(rawDataset(v), err)
}

func (f webDatasets) remove(ctx context.Context, r *api.Request) (api.Response, error) {
	if err := f.loose(r); err != nil {
		return nil, err
	}
	if err := r.Body.Require("kb_id"); err != nil {
		return nil, err
	}
	id := r.Body.Text("kb_id")
	if _, err := f.dataset(ctx, r, id, f.refusals().unauthorized); err != nil {
		return nil, err
	}
	if _, problems := f.data.Delete(ctx, r.Who, id); len(problems) > 0 {
		return nil, problems[0]
	}
	return envelope.OK(engine.Bool(true)), nil
}

func (f webDatasets) detail(ctx context.Context, r *api.Request) (api.Response, error) {
	v, err := f.queryDataset(ctx, r)
	return jsonOK(rawDataset(v), err)
}

// queryDataset finds the dataset that a query names.
func (f webDatasets) queryDataset(ctx context.Context, r *api.Request) (dataset.Dataset, error) {
	id := r.Query.Get("kb_id")
	if id == "" {
		return dataset.Dataset{}, api.Refused(api.KindBadArgument, `Lack of "KB ID"`)
	}
	return f.dataset(ctx, r, id, notDatasetOwner())
}

// list lists datasets for the page and for the form of retrieval nodes.
func (f webDatasets) list(ctx context.Context, r *api.Request) (api.Response, error) {
	if err := f.loose(r); err != nil {
		return nil, err
	}
	page, size, err := f.page(r.Query)
	if err != nil {
		return nil, err
	}
	words, method := strings.ToLower(r.Query.Get("keywords")), r.Query.Get("parser_id")
	q := app.DatasetList{Page: 1, Size: -1, OrderBy: r.Query.Get("orderby"), Ascending: !r.Query.Asked("desc", true)}
	if q.OrderBy != "update_time" {
		q.OrderBy = "create_time"
	}
	list, _, err := f.data.List(ctx, r.Who, q)
	if err != nil {
		return nil, err
	}
	list = slices.DeleteFunc(list, func(v dataset.Dataset) bool {
		return !strings.Contains(strings.ToLower(v.Name), words) || method != "" && v.Method != method
	})
	total := len(list)
	if r.Query.Has("page") && size > 0 {
		from := min((page-1)*size, total)
		list = list[from:min(from+size, total)]
	}
	rows := make([]engine.Value, len(list))
	for i, v := range list {
		rows[i] = rawDataset(v).With("nickname", engine.String(f.services.Accounts.Nickname(ctx, v.CreatedBy)))
	}
	return envelope.OK(engine.Object("kbs", engine.List(rows...), "total", total)), nil
}

// basicInfo counts the documents of a dataset by what became of their parses.
func (f webDatasets) basicInfo(ctx context.Context, r *api.Request) (api.Response, error) {
	v, err := f.queryDataset(ctx, r)
	if err != nil {
		return nil, err
	}
	counts, err := f.ingestions.countStates(ctx, r, v.ID)
	return jsonOK(engine.Object("processing", counts.Get("running"), "finished", counts.Get("done"),
		"failed", counts.Get("fail"), "cancelled", counts.Get("cancel"), "downloaded", 0), err)
}

func (f webDatasets) tags(ctx context.Context, r *api.Request) (api.Response, error) {
	for _, id := range r.Query.Names("kb_ids") {
		if _, err := f.dataset(ctx, r, id, f.refusals().unauthorized); err != nil {
			return nil, err
		}
	}
	return envelope.OK(none), nil
}

func (f webDatasets) logs(whole bool) api.Handler {
	return func(ctx context.Context, r *api.Request) (api.Response, error) {
		v, err := f.queryDataset(ctx, r)
		if err != nil {
			return nil, err
		}
		return f.ingestions.parseLogs(ctx, r, v.ID, whole)
	}
}

func (f webDatasets) log(ctx context.Context, r *api.Request) (api.Response, error) {
	id := r.Query.Get("log_id")
	if id == "" {
		return nil, api.Refused(api.KindBadArgument, `Lack of "Pipeline log ID"`)
	}
	return f.ingestions.anyLog(ctx, r, id, failed("Invalid pipeline log ID"))
}

func (f webDatasets) checkEmbedding(ctx context.Context, r *api.Request) (api.Response, error) {
	if err := f.loose(r); err != nil {
		return nil, err
	}
	if err := r.Body.Require("kb_id"); err != nil {
		return nil, err
	}
	r.Params = map[string]string{"dataset": r.Body.Text("kb_id")}
	return f.ingestions.checkEmbedding(ctx, r)
}
