package datasets

import (
	"cmp"
	"context"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/easel-canvas/easel/engine"
	"github.com/easel-canvas/easel/host/internal/api"
	"github.com/easel-canvas/easel/host/internal/api/ragflow/envelope"
	"github.com/easel-canvas/easel/host/internal/api/ragflow/schema"
	"github.com/easel-canvas/easel/host/internal/app"
	"github.com/easel-canvas/easel/host/internal/knowledge/index"
	"github.com/easel-canvas/easel/host/internal/record/dataset"
)

// metadataHandlers answer about the metadata of documents.
type metadataHandlers struct{ *face }

func metadataRoutes(f *face) []api.Route {
	meta := metadataHandlers{f}
	return []api.Route{
		get(one+"/metadata/summary", meta.summarize),
		route("POST", one+"/metadata/update", edit, api.BodyCanvas, meta.update),
	}
}

// summarize answers which values the metadata of a dataset has, and how often.
func (f metadataHandlers) summarize(ctx context.Context, r *api.Request) (api.Response, error) {
	id := r.Params["dataset"]
	if _, err := f.dataset(ctx, r, id, foreignDataset(id)); err != nil {
		return nil, err
	}
	var docs []string
	if ids := r.Query.Get("doc_ids"); ids != "" {
		docs = strings.Split(ids, ",")
	}
	values, err := f.data.Metadata(ctx, r.Who, id, docs...)
	if err != nil {
		return nil, err
	}
	b := engine.NewObject(len(values))
	for _, key := range slices.Sorted(maps.Keys(values)) {
		b.Set(key, f.summary(values[key]))
	}
	return envelope.Result(engine.Object("summary", b.Value())), nil
}

// valueCounts are pairs of a value and how many documents have it, most of them first.
func valueCounts(counts map[string]int) engine.Value {
	names := slices.SortedFunc(maps.Keys(counts), func(a, b string) int {
		return cmp.Or(cmp.Compare(counts[b], counts[a]), strings.Compare(a, b))
	})
	pairs := make([]engine.Value, len(names))
	for i, name := range names {
		pairs[i] = engine.List(engine.String(name), engine.Int(int64(counts[name])))
	}
	return engine.List(pairs...)
}

// typedCounts adds the type of the values.
func typedCounts(counts map[string]int) engine.Value {
	kind := "string"
	for name, holds := range map[string]func(string) bool{"number": isNumber, "time": isTime} {
		fits := len(counts) > 0
		for value := range counts {
			fits = fits && holds(value)
		}
		if fits {
			kind = name
		}
	}
	return engine.Object("type", kind, "values", valueCounts(counts))
}

func isNumber(v string) bool {
	_, err := strconv.ParseFloat(v, 64)
	return err == nil
}

func isTime(v string) bool {
	for _, layout := range []string{time.DateOnly, time.DateTime, "2006-01-02T15:04:05"} {
		if _, err := time.Parse(layout, v); err == nil {
			return true
		}
	}
	return false
}

// update changes metadata of many documents at once.
func (f metadataHandlers) update(ctx context.Context, r *api.Request) (api.Response, error) {
	return f.updateOf(ctx, r, foreignDataset(r.Params["dataset"]))
}

// patch is update under its newer path, which words the refusal of the dataset differently.
func (f metadataHandlers) patch(ctx context.Context, r *api.Request) (api.Response, error) {
	return f.updateOf(ctx, r, notOwned(r.Params["dataset"]))
}

func (f metadataHandlers) updateOf(ctx context.Context, r *api.Request, foreign error) (api.Response, error) {
	id := r.Params["dataset"]
	if _, err := f.dataset(ctx, r, id, foreign); err != nil {
		return nil, err
	}
	if err := f.loose(r); err != nil {
		return nil, err
	}
	u, err := f.readUpdate(ctx, r, id, r.Body.Value)
	if err != nil {
		return nil, err
	}
	return ok(f.write(ctx, r, id, u))
}

// write writes an update and answers how many documents it changed.
func (f metadataHandlers) write(
	ctx context.Context, r *api.Request, id string, u app.MetadataUpdate,
) (engine.Value, error) {
	if u.Documents != nil && len(u.Documents) == 0 {
		return engine.Object("updated", 0, "matched_docs", 0), nil // an empty list was named
	}
	updated, matched, err := f.data.UpdateMetadata(ctx, r.Who, id, u)
	return engine.Object("updated", updated, "matched_docs", matched), err
}

// readUpdate reads an update.
func (f metadataHandlers) readUpdate(
	ctx context.Context, r *api.Request, id string, body engine.Value,
) (u app.MetadataUpdate, err error) {
	selector, updates, deletes := body.Get("selector"), body.Get("updates"), body.Get("deletes")
	if selector.Truthy() && selector.Kind() != engine.KindObject {
		return u, failed("selector must be an object.")
	}
	for _, list := range []engine.Value{updates, deletes} {
		if list.Truthy() && list.Kind() != engine.KindList {
			return u, failed("updates and deletes must be lists.")
		}
	}
	if u.Filter, err = filterOf(selector.Get("metadata_condition")); err != nil {
		return u, err
	}
	ids := selector.Get("document_ids")
	if ids.Truthy() && ids.Kind() != engine.KindList {
		return u, failed("document_ids must be a list.")
	}
	for _, one := range updates.Elements() {
		value, given := one.Lookup("value")
		if !one.Get("key").Truthy() || !given {
			return u, failed("Each update requires key and value.")
		}
		u.Updates = append(u.Updates, app.MetadataSet{
			Key: one.Get("key").Text(), Value: plain(value), Match: plain(one.Get("match")),
		})
	}
	for _, one := range deletes.Elements() {
		if !one.Get("key").Truthy() {
			return u, failed("Each delete requires key.")
		}
		u.Deletes = append(u.Deletes, app.MetadataSet{Key: one.Get("key").Text(), Value: plain(one.Get("value"))})
	}
	n, err := f.namedDocuments(ctx, r, id, textsOf(ids))
	if err != nil {
		return u, err
	}
	if len(n.unknown) > 0 {
		return u, failed("These documents do not belong to dataset %s: %s", id, strings.Join(n.unknown, ", "))
	}
	if u.Documents = n.known; ids.Kind() == engine.KindList && n.known == nil {
		u.Documents = []string{}
	}
	return u, nil
}

// plain is a value as records keep metadata.
func plain(v engine.Value) any {
	switch v.Kind() {
	case engine.KindNull:
		return nil
	case engine.KindNumber:
		n, _ := v.Float()
		return n
	case engine.KindBool:
		return v.True()
	case engine.KindList:
		list := make([]any, 0, v.Len())
		for _, one := range v.Elements() {
			list = append(list, plain(one))
		}
		return list
	}
	return v.Text()
}

// metadataField describes a field that a model fills in.
var metadataField = &schema.Field{Type: schema.Model, Object: &schema.Object{
	Name: "AutoMetadataField", Loose: true, Fields: []schema.Field{
		{Name: "key", Required: true, Trim: true, Least: bound(1), Most: bound(255)},
		oneOf("type", "string", "string", "list", "time", "number"),
		{Name: "description", Null: true, Most: bound(longestText)},
		{Name: "enum", Type: schema.List, Null: true, Items: &schema.Field{Type: schema.String}},
	},
}}

// autoMetadata describes the fields that a model fills in.
var autoMetadata = &schema.Object{Name: "AutoMetadataConfig", Loose: true, Fields: []schema.Field{
	{Name: "metadata", Type: schema.List, Items: metadataField, Default: none},
	{Name: "built_in_metadata", Type: schema.List, Items: metadataField, Default: none},
	{Name: "enabled", Type: schema.Boolean},
}}

// metadataConfig is the fields that a model fills in, as clients read them.
func metadataConfig(v engine.Value) engine.Value {
	list := func(name string) engine.Value {
		if v.Get(name).Kind() == engine.KindList {
			return v.Get(name)
		}
		return none
	}
	enabled := v.Get("enabled")
	if enabled.IsNull() {
		enabled = engine.Bool(list("metadata").Len() > 0)
	}
	return engine.Object(
		"metadata", list("metadata"), "built_in_metadata", list("built_in_metadata"), "enabled", enabled,
	)
}

func (f metadataHandlers) getConfig(ctx context.Context, r *api.Request) (api.Response, error) {
	id := r.Params["dataset"]
	v, err := f.dataset(ctx, r, id, f.lacks(r.Who.Tenant, "dataset '"+id+"'"))
	return ok(metadataConfig(api.DocumentOf(v.AutoMetadata)), err)
}

func (f metadataHandlers) setConfig(ctx context.Context, r *api.Request) (api.Response, error) {
	in, err := strict(r, autoMetadata)
	if err != nil {
		return nil, err
	}
	id := r.Params["dataset"]
	old, err := f.dataset(ctx, r, id, f.lacks(r.Who.Tenant, "dataset '"+id+"'"))
	if err != nil {
		return nil, err
	}
	config := raw(metadataConfig(in.Value))
	v, err := f.data.Update(ctx, r.Who, old.ID, app.DatasetPatch{AutoMetadata: &config})
	return ok(metadataConfig(api.DocumentOf(v.AutoMetadata)), err)
}

// setDocumentConfig stores the fields of one document among its settings.
func (f metadataHandlers) setDocumentConfig(ctx context.Context, r *api.Request) (api.Response, error) {
	id, doc := r.Params["dataset"], r.Params["document"]
	if _, err := f.dataset(ctx, r, id, f.say("You don't own the dataset.")); err != nil {
		return nil, err
	}
	old, err := f.document(ctx, r, id, doc, failed("document %s not found in dataset %s", doc, id))
	if err != nil {
		return nil, err
	}
	if err := f.loose(r); err != nil {
		return nil, err
	}
	if !has(r.Body.Value, "metadata") {
		return nil, api.Failed(api.KindBadArgument, "metadata is required")
	}
	config := raw(merge(api.DocumentOf(old.Config), engine.Object("metadata", r.Body.Get("metadata"))))
	v, err := f.data.UpdateDocument(ctx, r.Who, old.Dataset, old.ID, app.DocumentPatch{Config: &config})
	if err != nil {
		return nil, err
	}
	return envelope.Result(documentRow(v)), nil
}

// flattened answers which documents of datasets have each value of their metadata.
func (f metadataHandlers) flattened(name string) api.Handler {
	return func(ctx context.Context, r *api.Request) (api.Response, error) {
		ids := r.Query.Names(name)
		if len(ids) == 0 {
			return nil, failed("`%s` is required.", name)
		}
		keys := map[string]map[string][]string{}
		for _, id := range ids {
			if _, err := f.dataset(ctx, r, id, f.lacks(r.Who.Tenant, "dataset '"+id+"'")); err != nil {
				return nil, err
			}
			if err := f.add(ctx, r, id, keys); err != nil {
				return nil, err
			}
		}
		b := engine.NewObject(len(keys))
		for _, key := range slices.Sorted(maps.Keys(keys)) {
			values := engine.NewObject(len(keys[key]))
			for _, value := range slices.Sorted(maps.Keys(keys[key])) {
				values.Set(value, engine.Strings(keys[key][value]...))
			}
			b.Set(key, values.Value())
		}
		return envelope.OK(b.Value()), nil
	}
}

// add adds the values of a dataset with their documents.
func (f metadataHandlers) add(
	ctx context.Context, r *api.Request, id string, keys map[string]map[string][]string,
) error {
	return f.eachDocument(ctx, r, id, app.DocumentList{}, func(v dataset.Document) {
		for key, value := range v.Meta {
			if keys[key] == nil {
				keys[key] = map[string][]string{}
			}
			for _, text := range index.MetaValues(value) {
				keys[key][text] = append(keys[key][text], v.ID)
			}
		}
	})
}
