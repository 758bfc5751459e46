package datasets

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"path"
	"strconv"
	"strings"

	"github.com/easel-canvas/easel/engine"
	"github.com/easel-canvas/easel/host/internal/api"
	"github.com/easel-canvas/easel/host/internal/api/ragflow/envelope"
	"github.com/easel-canvas/easel/host/internal/app"
	"github.com/easel-canvas/easel/host/internal/record/dataset"
)

// documentHandlers answer about documents.
type documentHandlers struct{ *face }

func documentRoutes(f *face) []api.Route {
	files := documentHandlers{f}
	return []api.Route{
		{Method: "POST", Path: documents, Scope: edit, Body: api.BodyUpload, Handler: files.upload},
		get(documents, files.list),
		route("DELETE", documents, edit, api.BodySmall, files.remove),
		route("PUT", document, edit, api.BodySmall, files.update),
		get(document, files.download),
		route("POST", one+"/chunks", edit, api.BodySmall, files.parse),
		route("DELETE", one+"/chunks", edit, api.BodySmall, files.stop),
	}
}

// states are the names of a document's states, and their digits.
var states = []struct {
	state       dataset.State
	name, digit string
}{
	{dataset.Unparsed, "UNSTART", "0"},
	{dataset.Running, "RUNNING", "1"},
	{dataset.Queued, "RUNNING", "1"},
	{dataset.Canceled, "CANCEL", "2"},
	{dataset.Done, "DONE", "3"},
	{dataset.Failed, "FAIL", "4"},
}

// stateName is a state as programs read it, and as the page does.
func stateName(s dataset.State) (name, digit string) {
	for _, one := range states {
		if one.state == s {
			return one.name, one.digit
		}
	}
	return "UNSTART", "0"
}

// suffix is the extension of a name, without its dot, in small letters.
func suffix(name string) string { return strings.ToLower(strings.TrimPrefix(path.Ext(name), ".")) }

// documentNames are the members of a document as programs read them; those of the page differ.
var documentNames = map[string]string{
	"dataset": "dataset_id", "chunks": "chunk_count", "tokens": "token_count", "method": "chunk_method",
}

// documentRow is a document as programs read it.
func documentRow(v dataset.Document) engine.Value {
	name, _ := stateName(v.State)
	return documentRowOf(v, documentNames, name)
}

// documentRowOf is a document with some of its members under the given names.
func documentRowOf(v dataset.Document, names map[string]string, state string) engine.Value {
	b := newDocument(v, names, state)
	status := "1"
	if v.Disabled {
		status = "0"
	}
	began := engine.Null
	if v.Began > 0 {
		began = api.HTTPDate(v.Began)
	}
	b.Set(names["chunks"], engine.Int(int64(v.Chunks))).Set(names["tokens"], engine.Int(int64(v.Tokens)))
	b.Set("status", engine.String(status)).Set("progress", engine.Float(v.Progress))
	b.Set("progress_msg", engine.String(v.Messages)).Set("process_begin_at", began)
	b.Set("process_duration", engine.Float(float64(v.Duration)/1000)).Set("meta_fields", metaOf(v.Meta))
	api.SetTimes(b, v.Created, v.Updated)
	return b.Value()
}

// newDocument is the response row of an uploaded document.
func newDocument(v dataset.Document, names map[string]string, state string) *engine.ObjectBuilder {
	b := engine.NewObject(32)
	b.Set("id", engine.String(v.ID)).Set(names["dataset"], engine.String(v.Dataset))
	b.Set(names["method"], engine.String(v.Method)).Set("pipeline_id", api.OrNull(v.Pipeline))
	b.Set("parser_config", api.DocumentOf(v.Config)).Set("created_by", engine.String(v.CreatedBy))
	b.Set("type", engine.String(v.Kind)).Set("name", engine.String(v.Name)).Set("source_type", engine.String(v.Source))
	b.Set("suffix", engine.String(suffix(v.Name))).Set("location", engine.String(v.Name))
	b.Set("size", engine.Int(v.Size)).Set("thumbnail", engine.String(v.Thumbnail)).Set("run", engine.String(state))
	return b
}

// metaOf is the metadata of a document.
func metaOf(meta map[string]any) engine.Value {
	text, err := json.Marshal(meta)
	if err != nil || meta == nil {
		return engine.Object()
	}
	return api.DocumentOf(text)
}

// list answers the documents of a dataset.
func (f documentHandlers) list(ctx context.Context, r *api.Request) (api.Response, error) {
	id := r.Params["dataset"]
	if _, err := f.dataset(ctx, r, id, foreignDataset(id)); err != nil {
		return nil, err
	}
	q, err := f.documentList(r)
	if err != nil {
		return nil, err
	}
	if r.Query.Get("type") == "filter" && f.countsInLists() {
		return f.countDocuments(ctx, r, id, q)
	}
	for _, wanted := range []app.DocumentList{{ID: q.ID}, {Name: q.Name}} {
		if wanted.ID+wanted.Name == "" {
			continue
		}
		wanted.Page, wanted.Size = 1, 1
		if _, n, err := f.data.Documents(ctx, r.Who, id, wanted); err != nil {
			return nil, err
		} else if n == 0 {
			return nil, f.noDocument(wanted.ID + wanted.Name)
		}
	}
	list, total, err := f.documentsOf(ctx, r, id, q)
	if err != nil {
		return nil, err
	}
	rows := make([]engine.Value, len(list))
	for i, v := range list {
		rows[i] = documentRow(v)
	}
	return envelope.Result(engine.Object("total", total, "docs", engine.List(rows...))), nil
}

// documentsOf reads a page of documents. The total counts those outside the bounds of time as well:
// clients read it as the size of the dataset.
func (f documentHandlers) documentsOf(
	ctx context.Context, r *api.Request, id string, q app.DocumentList,
) ([]dataset.Document, int, error) {
	var list []dataset.Document
	total, empty := 0, q.Size == 0
	if empty {
		q.Size = 1
	}
	list, total, err := f.data.Documents(ctx, r.Who, id, q)
	if err != nil {
		return nil, 0, err
	}
	if q.From > 0 || q.To > 0 {
		whole := q
		whole.From, whole.To, whole.Page, whole.Size = 0, 0, 1, 1
		if _, total, err = f.data.Documents(ctx, r.Who, id, whole); err != nil {
			return nil, 0, err
		}
	}
	if empty {
		list = nil
	}
	return list, total, nil
}

// documentList reads the filter, order and page of a list of documents.
func (f documentHandlers) documentList(r *api.Request) (app.DocumentList, error) {
	q := app.DocumentList{
		ID: r.Query.Get("id"), Name: r.Query.Get("name"), Words: r.Query.Get("keywords"),
		Suffixes: r.Query.Values["suffix"], OrderBy: r.Query.Get("orderby"),
		Ascending: strings.EqualFold(strings.TrimSpace(r.Query.Get("desc")), "false"),
	}
	var err error
	if q.Page, q.Size, err = f.page(r.Query); err != nil {
		return q, err
	}
	if q.OrderBy, err = f.documentOrder(q.OrderBy); err != nil {
		return q, err
	}
	for name, to := range map[string]*int64{"create_time_from": &q.From, "create_time_to": &q.To} {
		n, err := number(r.Query, name, 0)
		if err != nil {
			return q, err
		}
		*to = int64(n)
	}
	if q.States, err = f.statesOf(r.Query.Values["run"]); err != nil {
		return q, err
	}
	if text := r.Query.Get("metadata_condition"); text != "" {
		v, err := r.Parse(text)
		if f := (*api.Failure)(nil); errors.As(err, &f) {
			return q, err
		}
		if err != nil {
			return q, failed("metadata_condition must be valid JSON.")
		}
		if q.Filter, err = filterOf(v); err != nil {
			return q, err
		}
	}
	return q, nil
}

// statesOf are states by name or digit.
func (f documentHandlers) statesOf(names []string) (out []dataset.State, err error) {
	var unknown []string
	for _, name := range names {
		known := false
		for _, one := range states {
			if strings.EqualFold(one.name, name) || one.digit == name {
				out, known = append(out, one.state), true
			}
		}
		if !known {
			unknown = append(unknown, name)
		}
	}
	if len(unknown) > 0 {
		return nil, failed("Invalid filter run status conditions: %s", strings.Join(unknown, ", "))
	}
	return out, nil
}

// number is a whole number of a query.
func number(q api.Query, name string, absent int) (int, error) {
	text := q.Get(name)
	if text == "" {
		return absent, nil
	}
	n, err := strconv.Atoi(strings.TrimSpace(text))
	if err != nil || n > math.MaxInt32 && name != "create_time_from" && name != "create_time_to" {
		return 0, notNumber(text)
	}
	return n, nil
}

// notNumber refuses a text that should be a whole number.
func notNumber(text string) error {
	return api.Failed(api.KindBadRequest, `ValueError("invalid literal for int() with base 10: '%.40s'")`, text)
}

// remove deletes documents of a dataset.
func (f documentHandlers) remove(ctx context.Context, r *api.Request) (api.Response, error) {
	return f.deleteDocuments(ctx, f.face, r, r.Params["dataset"])
}

// foreignDataset refuses the dataset of a list. Clients compare the text, which ends in a blank.
func foreignDataset(id string) error { return failed("You don't own the dataset %s. ", id) }

// eachDocument calls a function with the documents that a list selects, page after page.
func (f *face) eachDocument(
	ctx context.Context, r *api.Request, id string, q app.DocumentList, each func(v dataset.Document),
) error {
	q.Size = pageOfIDs
	for q.Page = 1; ; q.Page++ {
		list, total, err := f.data.Documents(ctx, r.Who, id, q)
		if err != nil {
			return err
		}
		for _, v := range list {
			each(v)
		}
		if len(list) == 0 || q.Page*pageOfIDs >= total {
			return nil
		}
	}
}

// allDocuments are the ids of the documents of a dataset.
func (f *face) allDocuments(ctx context.Context, r *api.Request, id string) (ids []string, err error) {
	err = f.eachDocument(ctx, r, id, app.DocumentList{}, func(v dataset.Document) { ids = append(ids, v.ID) })
	return ids, err
}

// named are the ids of a request: each once, with those that are in a dataset apart, and a line for
// each that was named twice.
type named struct {
	known, unknown []string
	twice          []string
}

// namedDocuments sorts ids of documents.
func (f *face) namedDocuments(ctx context.Context, r *api.Request, id string, ids []string) (named, error) {
	n := named{}
	unique, twice := distinct(ids, "document")
	n.twice = twice
	for _, one := range unique {
		_, err := f.data.Document(ctx, r.Who, id, one)
		switch {
		case errors.Is(err, app.ErrNotFound):
			n.unknown = append(n.unknown, one)
		case err != nil:
			return n, err
		default:
			n.known = append(n.known, one)
		}
	}
	return n, nil
}

// distinct are texts without repetitions, and a line for each that was repeated.
func distinct(ids []string, what string) (unique, twice []string) {
	seen := make(map[string]int, len(ids))
	for _, id := range ids {
		switch seen[id]++; seen[id] {
		case 1:
			unique = append(unique, id)
		case 2:
			twice = append(twice, fmt.Sprintf("Duplicate %s ids: %s", what, id))
		}
	}
	return unique, twice
}

// partly answers a request that named something twice, or nothing special.
func (f *face) partly(n int, twice []string) api.Response {
	if len(twice) == 0 {
		return envelope.Result(engine.Null)
	}
	return envelope.Result(engine.Object("success_count", n, "errors", engine.Strings(twice...)))
}

// download sends the file of a document.
func (f documentHandlers) download(ctx context.Context, r *api.Request) (api.Response, error) {
	id, doc := r.Params["dataset"], r.Params["document"]
	if _, err := f.dataset(ctx, r, id, f.refusals().noDataset(id)); err != nil {
		return nil, err
	}
	return f.send(ctx, r, id, doc)
}

// send sends the file of a document.
func (f documentHandlers) send(ctx context.Context, r *api.Request, id, doc string) (api.Response, error) {
	file, v, err := f.data.Open(ctx, r.Who, id, doc)
	if err != nil {
		return nil, orNone(err, f.refusals().noFile(doc))
	}
	if v.Size == 0 {
		file.Close()
		return nil, failed("This file is empty.")
	}
	return api.File{Name: v.Name, Size: v.Size, Content: file}, nil
}
