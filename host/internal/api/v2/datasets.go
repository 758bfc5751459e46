package v2

import (
	"context"
	"encoding/json"
	"slices"
	"time"

	"github.com/easel-canvas/easel/engine"
	"github.com/easel-canvas/easel/host/internal/api"
	"github.com/easel-canvas/easel/host/internal/app"
	"github.com/easel-canvas/easel/host/internal/record/dataset"
)

// datasets are collections of documents that are searched.
type datasets struct {
	*app.Datasets
	canvases *app.Canvases // of which some are pipelines, and some search datasets
}

// datasetEdits changes documents and chunks by hand and in bulk.
type datasetEdits struct{ in datasets }

// Paths of datasets.
const (
	allDatasets = "/api/v2/datasets"
	oneDataset  = allDatasets + "/{dataset}"
)

func (d datasets) operations() []operation {
	const read, edit = app.ScopeRead, app.ScopeEdit
	list := []operation{
		handle(operation{
			method: "GET", path: allDatasets, body: api.BodyNone, scope: read, name: "listDatasets",
			about: "List the datasets that the caller can see, newest first.",
		}, d.list),
		handle(operation{
			method: "POST", path: allDatasets, body: api.BodySmall, scope: edit, name: "createDataset", status: created,
			about: "Create a dataset. If the name is taken, it is named name(1).",
		}, d.add),
		handle(operation{
			method: "GET", path: oneDataset, body: api.BodyNone, scope: read, name: "getDataset",
			about: "Get a dataset.",
		}, d.get),
		handle(operation{
			method: "PATCH", path: oneDataset, body: api.BodySmall, scope: edit, name: "updateDataset",
			about: "Update the given members of a dataset. If embedding_model changes, the documents are embedded " +
				"again in the background, and searches use the former model until all are done.",
		}, d.update),
		handle(operation{
			method: "DELETE", path: oneDataset, body: api.BodyTiny, scope: edit, name: "deleteDataset",
			about: "Delete a dataset with its documents and chunks.",
		}, d.remove),
		handle(operation{
			method: "GET", path: oneDataset + "/canvases", body: api.BodyNone, scope: read, name: "listUsingCanvases",
			about: "List the canvases of the caller that search the dataset, newest first.",
		}, datasetEdits{d}.using),
		handle(operation{
			method: "GET", path: oneDataset + "/metadata", body: api.BodyNone, scope: read, name: "getMetadata",
			about: "Summarize the metadata of a dataset: the values of each key, and how many documents have them.",
		}, d.metadata),
		handle(operation{
			method: "PATCH", path: oneDataset + "/metadata", body: api.BodyCanvas, scope: edit, name: "updateMetadata",
			about: "Update the metadata of many documents in one step.",
		}, d.updateMetadata),
		handle(operation{
			method: "GET", path: "/api/v2/chunk-methods", body: api.BodyNone, scope: read, name: "listChunkMethods",
			about: "List the chunk methods that a dataset can use.",
		}, d.methods),
		handle(operation{
			method: "POST", path: "/api/v2/search", body: api.BodySmall, scope: read, name: "search",
			about: "Search datasets for chunks by words, by vectors, or both. A search that finds nothing corrects " +
				"words that no chunk has. Then it ignores the threshold, if that is the default or forgive is true; " +
				"with forgive false it does neither. Texts in quotes must stand in the hits.",
		}, d.search),
	}
	return slices.Concat(list, d.documentOperations(), d.chunkOperations(), d.parseOperations(),
		datasetAccess{d}.operations())
}

type datasetView struct {
	ID             string       `json:"id"`
	Name           string       `json:"name"`
	Description    string       `json:"description"`
	Language       string       `json:"language,omitempty"`
	EmbeddingModel string       `json:"embedding_model" jsonschema:"name@provider; if empty, searches use words only"`
	Team           bool         `json:"team" jsonschema:"whether others with a role in its project can use it"`
	Project        string       `json:"project" jsonschema:"id of the project that holds it; empty for the default project"`
	Method         string       `json:"method" jsonschema:"chunk method; empty if a pipeline is used"`
	Config         engine.Value `json:"config,omitzero" jsonschema:"settings of the chunk method"`
	Pipeline       string       `json:"pipeline,omitempty" jsonschema:"id of the pipeline canvas that parses documents"`
	Embedding      *embedding   `json:"embedding,omitempty" jsonschema:"while documents get embedding_model"`
	Pagerank       int          `json:"pagerank" jsonschema:"0 to 100; raises the rank of hits in this dataset"`
	Synonyms       [][]string   `json:"synonyms,omitempty" jsonschema:"groups of words that mean the same"`
	ReadOnly       bool         `json:"read_only" jsonschema:"documents of a folder of the host; they change with its files"`
	Access         policyView   `json:"access" jsonschema:"who reads its documents"`
	Documents      int          `json:"documents"`
	Chunks         int          `json:"chunks"`
	Tokens         int          `json:"tokens"`
	CreatedBy      string       `json:"created_by"`
	Created        time.Time    `json:"created"`
	Updated        time.Time    `json:"updated"`
}

type embedding struct {
	Model  string `json:"model" jsonschema:"model that searches use until then; empty means words only"`
	Done   int    `json:"done" jsonschema:"number of chunks with vectors of embedding_model"`
	Chunks int    `json:"chunks"`
}

type datasetList struct {
	Items []datasetView `json:"items"`
	Total int           `json:"total" jsonschema:"number of matches on all pages"`
}

type datasetInput struct {
	Name           *string     `json:"name,omitempty" jsonschema:"1 to 128 characters"`
	Description    *string     `json:"description,omitempty"`
	Avatar         *string     `json:"avatar,omitempty" jsonschema:"data URL of an image"`
	Language       *string     `json:"language,omitempty"`
	EmbeddingModel *string     `json:"embedding_model,omitempty" jsonschema:"name@provider; empty means the default of the host, none means words only"`
	Team           *bool       `json:"team,omitempty"`
	Project        *string     `json:"project,omitempty" jsonschema:"id of its project; empty for the default project"`
	Method         *string     `json:"method,omitempty" jsonschema:"chunk method; default structure"`
	Config         *object     `json:"config,omitempty" jsonschema:"settings of the chunk method; replaces all"`
	Pipeline       *string     `json:"pipeline,omitempty" jsonschema:"id of the pipeline canvas that parses documents"`
	Pagerank       *int        `json:"pagerank,omitempty" jsonschema:"0 to 100"`
	Synonyms       *[][]string `json:"synonyms,omitempty" jsonschema:"groups of 2 to 20 words that mean the same"`
}

func datasetViewOf(v dataset.Dataset) datasetView {
	return datasetView{
		ID: v.ID, Name: v.Name, Description: v.Description, Language: v.Language, EmbeddingModel: v.EmbeddingModel,
		Team: v.Team, Project: v.Project, Method: v.Method, Config: api.DocumentOf(v.Config),
		Pipeline: v.Pipeline, Pagerank: v.Pagerank,
		Synonyms: v.Synonyms, ReadOnly: v.ReadOnly, Documents: v.Documents, Chunks: v.Chunks, Tokens: v.Tokens,
		CreatedBy: v.CreatedBy, Access: policyViewOf(v.Policy),
		Created: timeOf(v.Created), Updated: timeOf(v.Updated),
	}
}

// patch is a change of a dataset, or what a new one has.
func (in *datasetInput) patch() app.DatasetPatch {
	return app.DatasetPatch{
		Name: in.Name, Description: in.Description, Avatar: in.Avatar, Language: in.Language,
		EmbeddingModel: in.EmbeddingModel, Method: in.Method, Pipeline: in.Pipeline, Team: in.Team, Project: in.Project,
		Config: rawOf(in.Config), Pagerank: in.Pagerank, Synonyms: in.Synonyms,
	}
}

// rawOf is an object as records keep it; nil when it was not sent.
func rawOf(v *object) *json.RawMessage {
	if v == nil {
		return nil
	}
	text := json.RawMessage(v.AppendJSON(nil))
	return &text
}

// pageNumber is the number of a page; bindPage has made an offset of it.
func pageNumber(p app.Page) int { return p.Offset/max(p.Limit, 1) + 1 }

type listDatasets struct {
	Who     app.Principal
	Name    string   `query:"name" jsonschema:"only the dataset with this name"`
	Words   string   `query:"words" jsonschema:"only datasets with these words in the name"`
	Project *string  `query:"project" jsonschema:"only datasets of the project with this id; empty for the default project"`
	Page    app.Page `order:"create_time"`
}

func (d datasets) list(ctx context.Context, in listDatasets) (datasetList, error) {
	rows, total, err := d.List(ctx, in.Who, app.DatasetList{
		Name: in.Name, Words: in.Words, Project: in.Project, Page: pageNumber(in.Page), Size: in.Page.Limit,
		OrderBy: in.Page.Order, Ascending: in.Page.Asc,
	})
	out := datasetList{Items: make([]datasetView, len(rows)), Total: total}
	for i, v := range rows {
		out.Items[i] = datasetViewOf(v)
	}
	return out, err
}

type chunkMethod struct {
	Name string `json:"name" jsonschema:"method of a dataset or a document"`
}

func (d datasets) methods(context.Context, byTenant) (list[chunkMethod], error) {
	out := list[chunkMethod]{Items: []chunkMethod{}}
	for _, name := range d.Methods() {
		out.Items = append(out.Items, chunkMethod{name})
	}
	return out, nil
}

type addDataset struct {
	Who  app.Principal
	Body datasetInput
}

func (d datasets) add(ctx context.Context, in addDataset) (datasetView, error) {
	p := in.Body.patch()
	if p.Name == nil {
		return datasetView{}, badMember("name", "name is empty; expected the name of the dataset")
	}
	v := dataset.Dataset{
		Name: *p.Name, Description: valueOf(p.Description), Avatar: valueOf(p.Avatar), Language: valueOf(p.Language),
		EmbeddingModel: valueOf(p.EmbeddingModel), Method: valueOf(p.Method), Pipeline: valueOf(p.Pipeline),
		Team: valueOf(p.Team), Project: valueOf(p.Project), Config: valueOf(p.Config),
		Pagerank: valueOf(p.Pagerank), Synonyms: valueOf(p.Synonyms),
	}
	if err := checkCut(ctx, d, in.Who, p.Method, p.Pipeline); err != nil {
		return datasetView{}, err
	}
	v, err := d.Create(ctx, in.Who, v)
	return datasetViewOf(v), err
}

type usingCanvas struct {
	ID    string `json:"id"`
	Title string `json:"title"`
}

type usingCanvases struct {
	Items []usingCanvas `json:"items"`
	All   bool          `json:"all" jsonschema:"false if the caller has more canvases than are looked at"`
}

func (e datasetEdits) using(ctx context.Context, in datasetByID) (usingCanvases, error) {
	out := usingCanvases{Items: []usingCanvas{}}
	v, err := e.in.Get(ctx, in.Who, in.ID)
	if err != nil {
		return out, err
	}
	list, all, err := e.in.canvases.Using(ctx, in.Who, v.ID, v.Name)
	for _, c := range list {
		out.Items = append(out.Items, usingCanvas{c.ID, c.Title})
	}
	out.All = all
	return out, err
}

// valueOf dereferences p; nil is the zero value.
func valueOf[T any](p *T) (v T) {
	if p != nil {
		v = *p
	}
	return v
}

// badMember refuses a member of a body.
func badMember(name, format string, args ...any) error {
	err := app.BadArgument(format, args...)
	err.Param = name
	return err
}

type datasetByID struct {
	Who app.Principal
	ID  string `path:"dataset"`
}

func (d datasets) get(ctx context.Context, in datasetByID) (datasetView, error) {
	v, err := d.Get(ctx, in.Who, in.ID)
	out := datasetViewOf(v)
	if now := v.Embedding; now != nil {
		out.Embedding = &embedding{now.Model, now.Done, now.Chunks}
	}
	return out, err
}

type updateDataset struct {
	Who  app.Principal
	ID   string `path:"dataset"`
	Body datasetInput
}

func (d datasets) update(ctx context.Context, in updateDataset) (datasetView, error) {
	if err := checkCut(ctx, d, in.Who, in.Body.Method, in.Body.Pipeline); err != nil {
		return datasetView{}, err
	}
	v, err := d.Update(ctx, in.Who, in.ID, in.Body.patch())
	return datasetViewOf(v), nameTaken(err, "dataset")
}

// nameTaken words the error of a name that something else has.
func nameTaken(err error, what string) error {
	if isExists(err) {
		return app.Refuse(app.CodeExists, "another %s has this name", what)
	}
	return err
}

func (d datasets) remove(ctx context.Context, in datasetByID) (empty, error) {
	if _, errs := d.Delete(ctx, in.Who, in.ID); len(errs) > 0 {
		return empty{}, errs[0]
	}
	return empty{}, nil
}

type metadataView struct {
	Keys map[string]map[string]int `json:"keys" jsonschema:"number of documents by key and value"`
}

func (d datasets) metadata(ctx context.Context, in datasetByID) (metadataView, error) {
	keys, err := d.Metadata(ctx, in.Who, in.ID)
	if keys == nil {
		keys = map[string]map[string]int{}
	}
	return metadataView{keys}, err
}

type metadataInput struct {
	Documents []string      `json:"documents,omitempty" jsonschema:"document ids; if absent, all documents of the dataset; an empty list is refused"`
	Filter    *filterInput  `json:"filter,omitempty" jsonschema:"only documents that match"`
	Set       []metadataSet `json:"set,omitempty"`
	Delete    []metadataSet `json:"delete,omitempty" jsonschema:"keys to delete, or with value only that value"`
}

type metadataSet struct {
	Key   string `json:"key"`
	Value any    `json:"value,omitempty" jsonschema:"string, number or a list of those"`
	Match any    `json:"match,omitempty" jsonschema:"only replace this value"`
}

type metadataChanged struct {
	Updated int `json:"updated" jsonschema:"number of documents that changed"`
	Matched int `json:"matched" jsonschema:"number of documents that were selected"`
}

type updateMetadata struct {
	Who  app.Principal
	ID   string `path:"dataset"`
	Body metadataInput
}

func (d datasets) updateMetadata(ctx context.Context, in updateMetadata) (metadataChanged, error) {
	if err := selects(in.Body.Documents, in.Body.Filter); err != nil {
		return metadataChanged{}, err
	}
	u := app.MetadataUpdate{Documents: in.Body.Documents, Filter: in.Body.Filter.filter()}
	for _, s := range in.Body.Set {
		if err := app.CheckMeta(map[string]any{s.Key: s.Value}); err != nil {
			return metadataChanged{}, err
		}
		u.Updates = append(u.Updates, app.MetadataSet(s))
	}
	for _, s := range in.Body.Delete {
		u.Deletes = append(u.Deletes, app.MetadataSet(s))
	}
	var out metadataChanged
	var err error
	out.Updated, out.Matched, err = d.UpdateMetadata(ctx, in.Who, in.ID, u)
	return out, err
}
