package datasets

import (
	"context"
	"encoding/json"
	"errors"
	"strings"

	"github.com/easel-canvas/easel/engine"
	"github.com/easel-canvas/easel/host/internal/api"
	"github.com/easel-canvas/easel/host/internal/api/ragflow/envelope"
	"github.com/easel-canvas/easel/host/internal/api/ragflow/schema"
	"github.com/easel-canvas/easel/host/internal/app"
	"github.com/easel-canvas/easel/host/internal/record/dataset"
)

// datasetHandlers answer about datasets.
type datasetHandlers struct{ *face }

func datasetRoutes(f *face) []api.Route {
	sets := datasetHandlers{f}
	return []api.Route{
		route("POST", all, edit, api.BodySmall, sets.create),
		get(all, sets.list),
		route("PUT", one, edit, api.BodySmall, sets.update),
		route("DELETE", all, edit, api.BodySmall, sets.remove),
	}
}

// defaultLanguage is used for datasets that set none.
const defaultLanguage = "English"

// datasetRow is a dataset as programs read it.
func datasetRow(v dataset.Dataset) engine.Value {
	return datasetRowOf(v, map[string]string{
		"chunks": "chunk_count", "documents": "document_count", "method": "chunk_method", "model": "embedding_model",
	})
}

// datasetRowOf is a dataset with some of its members under the given names.
func datasetRowOf(v dataset.Dataset, names map[string]string) engine.Value {
	language, permission := v.Language, "me"
	if language == "" {
		language = defaultLanguage
	}
	if v.Team {
		permission = "team"
	}
	b := engine.NewObject(32)
	for name, value := range map[string]engine.Value{
		"id": engine.String(v.ID), "name": engine.String(v.Name), "avatar": api.OrNull(v.Avatar),
		"tenant_id": engine.String(v.Tenant), "created_by": engine.String(v.CreatedBy),
		"description": api.OrNull(v.Description), "language": engine.String(language),
		"permission": engine.String(permission), "status": engine.String("1"),
		"pagerank":  engine.Int(int64(v.Pagerank)),
		"token_num": engine.Int(int64(v.Tokens)), names["chunks"]: engine.Int(int64(v.Chunks)),
		names["documents"]: engine.Int(int64(v.Documents)), names["method"]: engine.String(v.Method),
		names["model"]: engine.String(v.EmbeddingModel), "parser_config": api.DocumentOf(v.Config),
		"pipeline_id": api.OrNull(v.Pipeline), "similarity_threshold": engine.Float(defaultThreshold),
		"vector_similarity_weight": engine.Float(defaultVectorWeight),
	} {
		b.Set(name, value)
	}
	for _, task := range [...]string{"graphrag", "raptor", "mindmap"} {
		b.Set(task+"_task_id", engine.Null).Set(task+"_task_finish_at", engine.Null)
	}
	api.SetTimes(b, v.Created, v.Updated)
	return b.Value()
}

// chatModel is the default model of a tenant, which settings of methods name.
func (f *face) chatModel(ctx context.Context, tenant string) (string, error) {
	choice, err := f.services.Models.Choice(ctx, tenant)
	return choice.Default, err
}

// raw is JSON as records keep it.
func raw(v engine.Value) json.RawMessage { return v.AppendJSON(nil) }

func (f datasetHandlers) create(ctx context.Context, r *api.Request) (api.Response, error) {
	in, err := strict(r, f.requests().create)
	if err != nil {
		return nil, err
	}
	v, err := f.store(ctx, r, in)
	if err != nil {
		return nil, err
	}
	return envelope.Result(f.datasetRow(v)), nil
}

// store creates the dataset of a request.
func (f datasetHandlers) store(ctx context.Context, r *api.Request, in *schema.Input) (dataset.Dataset, error) {
	v := dataset.Dataset{
		Name: in.Get("name").Str(), Avatar: in.Get("avatar").Str(), Description: in.Get("description").Str(),
		EmbeddingModel: in.Get("embedding_model").Str(), Team: in.Get("permission").Str() == "team",
		Method: in.Get("chunk_method").Str(), Pipeline: in.Get("pipeline_id").Str(), Language: in.Get("language").Str(),
	}
	kind, _ := in.Get("parse_type").Int()
	v.ParseType = int(kind)
	if v.Method == "" && v.Pipeline == "" {
		v.Method = "naive"
	}
	if err := f.services.Canvases.CheckPipeline(ctx, r.Who, v.Pipeline); err != nil {
		return v, err
	}
	chat, err := f.chatModel(ctx, r.Who.Tenant)
	if err != nil {
		return v, err
	}
	config := defaultConfig(v.Method, chat)
	if sent := in.Get("parser_config"); !sent.IsNull() {
		config = merge(config, sent)
	}
	v.Config = raw(config)
	if auto := in.Get("auto_metadata_config"); !auto.IsNull() {
		v.AutoMetadata = raw(auto)
	}
	asked := v.EmbeddingModel
	v, err = f.data.Create(ctx, r.Who, v)
	return v, f.refusedModel(err, asked)
}

// refusedModel words the error of an embedding model that the host does not have.
func (f datasetHandlers) refusedModel(err error, model string) error {
	var refused *app.Error
	if errors.As(err, &refused) && refused.Param == "embedding_model" {
		return f.badModel(model)
	}
	return err
}

func (f datasetHandlers) list(ctx context.Context, r *api.Request) (api.Response, error) {
	in, err := f.requests().list.Query(api.FirstValues(r.Query.Values))
	if err != nil {
		return nil, api.Failed(api.KindBadArgument, "%s", err)
	}
	q := app.DatasetList{
		ID: in.Get("id").Str(), Name: in.Get("name").Str(), OrderBy: in.Get("orderby").Str(),
		Ascending: !in.Get("desc").True(), Page: intOf(in.Get("page")), Size: intOf(in.Get("page_size")),
	}
	if ids := in.Get("ids").Str(); ids != "" {
		q.IDs = strings.Split(ids, ",")
	}
	for _, alone := range []app.DatasetList{{ID: q.ID}, {Name: q.Name}} {
		wanted := alone.ID + alone.Name
		if wanted == "" {
			continue
		}
		alone.Page, alone.Size = 1, 1
		if _, n, err := f.data.List(ctx, r.Who, alone); err != nil {
			return nil, err
		} else if n == 0 {
			return nil, f.lacks(r.Who.Tenant, "dataset '"+wanted+"'")
		}
	}
	list, total, err := f.data.List(ctx, r.Who, q)
	if err != nil {
		return nil, err
	}
	rows := make([]engine.Value, len(list))
	for i, v := range list {
		rows[i] = f.datasetRow(v)
	}
	return envelope.Result(engine.List(rows...), "total_datasets", total), nil
}

// intOf is a whole number that has been checked.
func intOf(v engine.Value) int {
	n, _ := v.Int()
	return int(n)
}

func (f datasetHandlers) update(ctx context.Context, r *api.Request) (api.Response, error) {
	in, err := strict(r, f.requests().update, "dataset_id", r.Params["dataset"])
	if err != nil {
		return nil, err
	}
	if in.Given.Len() == 1 { // the id of the path
		return nil, f.nothingModified()
	}
	id := in.Get("dataset_id").Str()
	old, err := f.dataset(ctx, r, id, f.lacks(r.Who.Tenant, "dataset '"+id+"'"))
	if err != nil {
		return nil, err
	}
	patch, err := f.patch(ctx, r, old, in)
	if err != nil {
		return nil, err
	}
	v, err := f.change(ctx, r, old, patch)
	if err != nil {
		return nil, err
	}
	row := f.datasetRow(v)
	if in.Has("connectors") {
		row = row.With("connectors", in.Get("connectors"))
	}
	return envelope.Result(row), nil
}

func (f datasetHandlers) get(ctx context.Context, r *api.Request) (api.Response, error) {
	v, err := f.pathDataset(ctx, r)
	if err != nil {
		return nil, err
	}
	return envelope.Result(f.datasetRow(v)), nil
}

// checkPipelineOf refuses another pipeline that is none. The present one stays, also if it was
// deleted since: clients send whole rows.
func checkPipelineOf(ctx context.Context, f *face, r *api.Request, old string, next *string) error {
	if next == nil || *next == old {
		return nil
	}
	return f.services.Canvases.CheckPipeline(ctx, r.Who, *next)
}

// change writes a patch over a dataset.
func (f datasetHandlers) change(
	ctx context.Context, r *api.Request, old dataset.Dataset, p app.DatasetPatch,
) (dataset.Dataset, error) {
	if m := p.EmbeddingModel; m != nil && *m != old.EmbeddingModel && old.Chunks > 0 {
		if err := f.changesModel(old); err != nil {
			return old, err
		}
	}
	if err := checkPipelineOf(ctx, f.face, r, old.Pipeline, p.Pipeline); err != nil {
		return old, err
	}
	v, err := f.data.Update(ctx, r.Who, old.ID, p)
	switch {
	case errors.Is(err, app.ErrExists) && p.Name != nil:
		return old, failed("Dataset name '%s' already exists", *p.Name)
	case p.EmbeddingModel != nil:
		err = f.refusedModel(err, *p.EmbeddingModel)
	}
	return v, err
}

// patch reads what a request changes of a dataset.
func (f datasetHandlers) patch(
	ctx context.Context, r *api.Request, old dataset.Dataset, in *schema.Input,
) (app.DatasetPatch, error) {
	text := func(name string) *string {
		if !in.Has(name) {
			return nil
		}
		s := in.Get(name).Str()
		return &s
	}
	p := app.DatasetPatch{
		Name: text("name"), Avatar: text("avatar"), Description: text("description"), Language: text("language"),
		Method: text("chunk_method"), Pipeline: text("pipeline_id"),
	}
	if model := text("embedding_model"); model != nil && *model != "" {
		p.EmbeddingModel = model
	}
	if in.Has("permission") {
		team := in.Get("permission").Str() == "team"
		p.Team = &team
	}
	for name, to := range map[string]**int{"pagerank": &p.Pagerank, "parse_type": &p.ParseType} {
		if in.Has(name) {
			n := intOf(in.Get(name))
			*to = &n
		}
	}
	config, err := f.newConfig(ctx, r, in.Given.Get("parser_config"), p.Method, old.Method, old.Config)
	p.Config = config
	if auto := in.Get("auto_metadata_config"); !auto.IsNull() {
		text := raw(auto)
		p.AutoMetadata = &text
	}
	return p, err
}

// newConfig is the settings after a change: those sent over the old ones, or the defaults of
// another method. nil leaves them as they are.
func (f *face) newConfig(
	ctx context.Context, r *api.Request, sent engine.Value, method *string, oldMethod string, old json.RawMessage,
) (*json.RawMessage, error) {
	var config engine.Value
	switch {
	case sent.Len() > 0:
		config = merge(api.DocumentOf(old), sent)
	case method != nil && *method != oldMethod:
		chat, err := f.chatModel(ctx, r.Who.Tenant)
		if err != nil {
			return nil, err
		}
		config = defaultConfig(*method, chat)
	default:
		return nil, nil
	}
	text := raw(config)
	return &text, nil
}

func (f datasetHandlers) remove(ctx context.Context, r *api.Request) (api.Response, error) {
	in, err := strict(r, f.requests().remove)
	if err != nil {
		return nil, err
	}
	ids := textsOf(in.Get("ids"))
	switch {
	case f.deletesAll(in):
		if ids, err = f.all(ctx, r); err != nil {
			return nil, err
		}
	case len(ids) > 0:
		if err := f.ownAll(ctx, r, ids); err != nil {
			return nil, err
		}
	}
	if len(ids) == 0 {
		return f.deletedDatasets(0), nil
	}
	n, problems := f.data.Delete(ctx, r.Who, ids...)
	switch {
	case len(problems) == 0:
		return f.deletedDatasets(n), nil
	case n == 0:
		return nil, failed("%s", messageOf(problems[0]))
	}
	var lines []string
	for _, err := range problems[:min(len(problems), 5)] {
		lines = append(lines, messageOf(err))
	}
	return envelope.Result(engine.Object("success_count", n, "errors", engine.Strings(lines...))), nil
}

// messageOf returns the caller-facing text of err.
func messageOf(err error) string {
	f, _ := api.AsFailure(err)
	return f.Message
}

// pageOfIDs is the page size of reads of all rows.
const pageOfIDs = 1000

// all returns the ids of the datasets that a tenant owns.
func (f datasetHandlers) all(ctx context.Context, r *api.Request) (ids []string, err error) {
	for page := 1; ; page++ {
		list, total, err := f.data.List(ctx, r.Who, app.DatasetList{Page: page, Size: pageOfIDs})
		if err != nil {
			return nil, err
		}
		for _, v := range list {
			ids = append(ids, v.ID)
		}
		if len(list) == 0 || page*pageOfIDs >= total {
			return ids, nil
		}
	}
}

// ownAll refuses ids of datasets that the principal does not have.
func (f datasetHandlers) ownAll(ctx context.Context, r *api.Request, ids []string) error {
	list, _, err := f.data.List(ctx, r.Who, app.DatasetList{IDs: ids, Page: 1, Size: len(ids)})
	if err != nil {
		return err
	}
	own := make(map[string]bool, len(list))
	for _, v := range list {
		own[v.ID] = true
	}
	var foreign []string
	for _, id := range ids {
		if !own[id] {
			foreign = append(foreign, id)
		}
	}
	if len(foreign) > 0 {
		return f.lacks(r.Who.Tenant, "datasets: '"+strings.Join(foreign, ", ")+"'")
	}
	return nil
}

// textsOf are the texts of a list that has been checked.
func textsOf(v engine.Value) []string {
	var out []string
	for _, one := range v.Elements() {
		out = append(out, one.Str())
	}
	return out
}
